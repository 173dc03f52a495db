"""Public counts with a contribution bound, beside those of all items of each person."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from topgap.domains import Counts, Domain
from topgap.errors import AnswersError, ItemsError, ParameterError
from topgap.numbers.format import to_float
from topgap.numbers.parse import ratio, read_whole
from topgap.parameters import TopK
from topgap.planning.public_counts import PublicCounts
from topgap.planning.validation import to_list
from topgap.selection.answers import Array, read
from topgap.selection.item_names import choose_names
from topgap.selection.item_names import to_list as to_name_list
from topgap.selection.participants import read_part

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Numbers: TypeAlias = "Array | list[Any]"


class BoundedCounts(NamedTuple):
    """Counts with a contribution bound.

    Attributes:
        counts: The counts of at most L items of each person.
        missing: How much each of them is below the count of all items.
    """

    counts: PublicCounts
    missing: Floats

    @classmethod
    def of(cls, numbers: Numbers, all_of_them: PublicCounts, parameters: TopK) -> "BoundedCounts":
        """Prepare counts with a bound, in the order of those of all items.

        Args:
            numbers: Them.
            all_of_them: The counts of all items, with the domain if there is one.
            parameters: The parameters of the release.

        Raises:
            AnswersError, AnswersTypeError: They are not finite numbers, or one is too large.

        >>> few = TopK(k=2, epsilon=1, items_per_person=1)
        >>> BoundedCounts.of([3, 2, 0], PublicCounts.of([5, 2, 1], few), few).missing
        array([2., 0., 1.])
        """
        counts = PublicCounts.of(numbers, parameters, all_of_them.domain_size)
        missing = _subtract(all_of_them.numbers, counts.numbers)
        if (missing < 0).any():
            raise AnswersError(
                "A count with a bound on the items of a person is larger than that of all items; "
                "count both from the same public data."
            )
        return cls(counts, missing)


def read_bounds(items_per_person: object) -> tuple[list[int], dict[int, object] | None]:
    """Read contribution bounds, each once, from the smallest up.

    Returns:
        The bounds; and the counts with each of them, if there are any.

    Raises:
        ParameterError, ParameterTypeError: There is none, or one that cannot be used.

    >>> read_bounds([5, 1, 5]), read_bounds(2), read_bounds({2: [4, 3]})
    (([1, 5], None), ([2], None), ([2], {2: [4, 3]}))
    """
    if items_per_person is None:
        return [], None
    counts: dict[int, object] | None = None
    if isinstance(items_per_person, Mapping):
        counts = {_read_bound(bound): each for bound, each in items_per_person.items()}
        for bound, each in counts.items():
            if isinstance(each, Counts) and each.items_per_person not in (None, bound):
                raise ParameterError(
                    f"The counts for a bound of {bound} were counted with another one; count with "
                    f"items_per_person={bound}."
                )
        bounds = sorted(counts)
    else:
        bounds = sorted({*map(_read_bound, to_list(items_per_person, "items_per_person"))})
    if not bounds:
        raise ParameterError("items_per_person must have a bound to plan for.")
    return bounds, counts


def match_counts(
    bounded: object, domain: object, names: Iterable[Any] | None, count: int
) -> Numbers:
    """The counts of the same items in the same order, with 0 for those that are not there.

    Args:
        bounded: Counts with a contribution bound, as `topgap.plan` takes counts.
        domain: The domain of the plan, if there is one.
        names: The names of the items that the counts of all items have, or None.
        count: How many these are.

    Raises:
        AnswersError, AnswersTypeError, ItemsError: They cannot be used, or are of other items.

    >>> match_counts({"oak": 3}, None, ["ash", "oak"], 2)
    [0, 3]
    """
    if isinstance(domain, Domain):
        numbers, own = read_part(bounded, None, domain)
    else:
        numbers, own = read(bounded)
        own = choose_names(bounded, own, None, len(numbers))
    if (own is None) != (names is None):
        raise ItemsError("Give all counts with the names of their items, or none.")
    if names is None or own is None:
        if len(numbers) != count:
            raise AnswersError("Counts with a bound must be of as many items as those without.")
        return numbers
    places = {name: place for place, name in enumerate(to_name_list(own))}
    wanted = to_name_list(names)
    return [numbers[places[name]] if name in places else 0 for name in wanted]


def _read_bound(bound: Any) -> int:
    return read_whole(bound, "items_per_person", least=1)


def _subtract(all_of_them: Any, bounded: Any) -> Floats:
    """The differences; exact before they are rounded to floats."""
    pairs = zip(_to_exact(all_of_them), _to_exact(bounded), strict=True)
    return np.array([to_float(Fraction(a - b)) for a, b in pairs])


def _to_exact(numbers: Any) -> Iterable[Any]:
    values = numbers.tolist() if isinstance(numbers, np.ndarray) else numbers
    return (value if type(value) is int else Fraction(*ratio(value)) for value in values)
