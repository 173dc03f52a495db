"""Domains of what goes together: unordered pairs, triples and larger sets of a domain's items."""

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, islice
from math import comb, factorial
from typing import Any

from topgap.domains.kind import ABSENT, Kind
from topgap.domains.limits import check_size
from topgap.domains.products import describe_inner
from topgap.errors import DomainError, ParameterError
from topgap.numbers.parse import read_whole

LARGEST_SUBSET = 8
"""So many items may go together."""

_NOUNS = {2: "pairs of", 3: "triples of"}


class Subsets(Kind):
    """The sets of so many items, as tuples in the order of the inner domain.

    They are ordered as `itertools.combinations` orders them: by the first item, then the next.
    """

    __slots__ = ("count", "inner", "size")

    inner: Kind

    def __init__(self, inner: Kind, count: int) -> None:
        self.count = read_whole(count, "size", least=1)
        if self.count > LARGEST_SUBSET:
            raise ParameterError(f"size must be at most {LARGEST_SUBSET}; use smaller sets.")
        if inner.size < self.count:
            raise DomainError(
                f"The domain has {inner.size} items, too few for sets of {self.count}; use "
                f"smaller sets."
            )
        self.inner = inner
        self.size = check_size(comb(inner.size, self.count))

    @property
    def columns(self) -> int:  # type: ignore[override]
        """How many columns each of the items takes."""
        return self.inner.columns

    @property
    def words(self) -> str:
        """The domain in words."""
        sets = _NOUNS.get(self.count, f"sets of {self.count} of")
        return f"all {sets} ({describe_inner(self.inner)})"

    @property
    def identity(self) -> Hashable:
        """The inner domain and the number."""
        return type(self.inner), self.inner.identity, self.count

    def find(self, names: Sequence[Any]) -> list[Any]:
        """For each tuple or frozenset of items, in any order, the set that it is, or ABSENT."""
        return self._find(names, self.inner.find)

    def find_texts(self, texts: Sequence[Any]) -> list[Any]:
        """For each tuple of texts, in any order, the set that it means, or ABSENT."""
        return self._find(texts, self.inner.find_texts)

    def _find(self, names: Sequence[Any], find: Any) -> list[Any]:
        sets = [_read_set(name, self.count) for name in names]
        found = iter(find([item for each in sets if each is not None for item in each]))
        return [
            ABSENT if each is None else self._arrange([*islice(found, self.count)]) for each in sets
        ]

    def _arrange(self, items: list[Any]) -> Any:
        """The items in their order; ABSENT if one of them is, or if two are the same."""
        different = {*items}
        if ABSENT in different or len(different) < self.count:
            return ABSENT
        items.sort(key=self.inner.sort_key)
        return tuple(items)

    # The places c₁ < … < c_k of n, read as n − 1 − cᵢ, are the digits of a number in the
    # combinatorial number system, which counts the sets that come after.

    def rank(self, member: Any) -> int:
        """How many sets come before."""
        last = self.inner.size - 1
        places = enumerate(map(self.inner.rank, member))
        after = sum(comb(last - place, self.count - index) for index, place in places)
        return self.size - 1 - after

    def unrank(self, rank: int) -> tuple[Any, ...]:
        """The set at a place."""
        after, places, above = self.size - 1 - rank, [], self.inner.size
        for chosen in range(self.count, 0, -1):
            above = _largest_digit(after, chosen, above)
            after -= comb(above, chosen)
            places.append(self.inner.size - 1 - above)
        return tuple(map(self.inner.unrank, places))

    def sort_key(self, member: Any) -> Any:
        """The keys of its items, one after the other."""
        return tuple(map(self.inner.sort_key, member))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return combinations(self.inner, self.count)


def _largest_digit(value: int, chosen: int, above: int) -> int:
    """The largest number below `above` that has at most `value` subsets of so many items."""
    # (d − j + 1)^j ≤ j!·C(d, j) ≤ d^j, so it is at most j − 1 above the j-th root.
    low = min(_root(value * factorial(chosen), chosen), above - 1)
    above = min(low + chosen, above)
    while low + 1 < above:
        middle = (low + above) // 2
        if comb(middle, chosen) <= value:
            low = middle
        else:
            above = middle
    return low


def _root(value: int, degree: int) -> int:
    """The root, rounded down, by Newton's method from above."""
    if degree == 1 or value < 2:
        return value
    root = 1 << -(-value.bit_length() // degree)
    while (lower := ((degree - 1) * root + value // root ** (degree - 1)) // degree) < root:
        root = lower
    return root


def _read_set(name: Any, count: int) -> list[Any] | None:
    """The items of a tuple or frozenset of this size, in any order; None if it is none."""
    for kind in (tuple, frozenset):
        if issubclass(type(name), kind) and kind.__len__(name) == count:
            return [*kind.__iter__(name)]
    return None
