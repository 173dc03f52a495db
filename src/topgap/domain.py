"""The public list of items: who takes part, and what is said if the data made the list."""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from topgap.answers import Array, check_enough, is_of, read, read_chosen
from topgap.errors import DomainError, DomainWarning, ItemsError
from topgap.exact import read_flag
from topgap.items import choose_names, listed, usable_names
from topgap.payment import level_of_the_user
from topgap.sealing import sealed

MOST_ITEMS = 10_000_000
"""So many items may be on the list."""

NOT_PROTECTED = (
    "Not protected: the list of items was taken from the data, so that an item is named here "
    "shows that somebody has it, whatever ε is."
)
"""What is said of a release whose list of items was taken from the data."""

_SEEMS_TAKEN = (
    "The items seem to be taken from the data, and then it is not protected that somebody has one. "
    "Give the public list by domain=; or domain=FROM_DATA, if that is no secret; or pass dict(…), "
    "or a Series with another name, if these items are the public list."
)


class FromData:
    """The type of `FROM_DATA`."""

    def __repr__(self) -> str:
        return "topgap.counting.FROM_DATA"


FROM_DATA: Final = FromData()
"""Take the items from the data. That somebody has an item is then not protected."""


class Counts(dict[Any, int]):
    """The count of each item: a dict that knows where its list of items is from.

    Attributes:
        domain_from_data: Whether the list was taken from the data; what is released from it says so
            then, unless another list is given.

    >>> Counts({"flu": 2}, domain_from_data=True).copy().domain_from_data
    True
    """

    __slots__ = ("domain_from_data",)

    domain_from_data: bool

    def __init__(self, counts: Any = (), *, domain_from_data: bool = False) -> None:
        super().__init__(counts)
        self.domain_from_data = read_flag(domain_from_data, "domain_from_data")

    def copy(self) -> "Counts":
        """The same counts, from the same list."""
        return Counts(self, domain_from_data=self.domain_from_data)

    def __or__(self, other: Any) -> Any:
        return self._joined(super().__or__(other), other)

    def __ror__(self, other: Any) -> Any:
        return self._joined(super().__ror__(other), other)

    def __ior__(self, other: Any) -> "Counts":  # type: ignore[override]
        self.update(other)
        return self

    def update(self, other: Any = (), /, **more: int) -> None:
        """Take over counts, and the mark if they have it."""
        super().update(other, **more)
        self.domain_from_data |= getattr(other, "domain_from_data", False)

    def _joined(self, both: Any, other: Any) -> Any:
        marked = self.domain_from_data or getattr(other, "domain_from_data", False)
        return both if both is NotImplemented else Counts(both, domain_from_data=marked)


class Entrants(NamedTuple):
    """Who takes part.

    Attributes:
        numbers: Their answers.
        names: Their names, or None.
        domain_from_data: Whether their list is known to be from the data.
    """

    numbers: "Array | list[Any]"
    names: Any
    domain_from_data: bool


@sealed
def entrants(answers: object, items: object, domain: object, k: int) -> Entrants:
    """The answers that take part in a release of k winners, with their names.

    Args:
        answers: As `topgap.top_k` takes them.
        items: Their names, if they have none of their own.
        domain: The public list; None if the answers are of all items of one.
        k: There must be more than so many.

    Raises:
        DomainError: The list cannot be used, by what it is alone.
        AnswersError, AnswersTypeError, ItemsError: The answers or their names cannot be used. With
            a domain, none of this is because of an item that is not on the list.

    >>> entrants({"flu": 2, "gout": None}, None, ["cold", "flu"], 1)
    Entrants(numbers=[0, 2], names=['cold', 'flu'], domain_from_data=False)
    """
    if domain is not None and type(domain) is not FromData:
        return _of_domain(answers, items, domain, k)
    numbers, names = read(answers)
    check_enough(len(numbers), k)
    names = choose_names(answers, names, items, len(numbers))
    if domain is not None:
        if names is None:
            raise _unnamed()
        return Entrants(numbers, names, True)
    if isinstance(answers, Counts):
        return Entrants(numbers, names, answers.domain_from_data)
    if names is not None and _seem_taken_from_data(answers):
        warnings.warn(_SEEMS_TAKEN, DomainWarning, stacklevel=level_of_the_user())
    return Entrants(numbers, names, False)


def _of_domain(answers: object, items: object, domain: object, k: int) -> Entrants:
    """As the domain has them: 0 for who has no answer, and without those that are not on it."""
    members, places = _members(domain)
    if len(members) <= k:
        raise DomainError(
            f"With k = {k} the domain must have at least {k + 1} items; it has {len(members)}."
        )
    found: dict[int, int] = {}  # the place of each answer on the list, and among the answers

    def find(own: Any, count: int) -> list[int]:
        names = _names(own, items)
        if len(names) != count:
            raise ItemsError("There is not one item for each answer; give each one.")
        for position, name in enumerate(names):
            try:
                place = places.get(name)
            except Exception:  # noqa: S112 - what cannot be compared is no member
                continue
            if place is not None:
                if place in found:
                    raise ItemsError("An item of the domain has two answers; give each one.")
                found[place] = position
        return [*found.values()]

    numbers = read_chosen(answers, find)
    return Entrants(_with_zeros(numbers, [*found], len(members)), members, False)


def _names(own: Any, given: object) -> Any:
    if own is not None and given is not None:
        raise ItemsError("The answers already name their items; give no items with them.")
    names = given if own is None else own
    if names is None:
        raise _unnamed()
    return listed(usable_names(names))


def _with_zeros(numbers: "Array | list[Any]", places: list[int], count: int) -> Any:
    """So many numbers: these at their places, and 0 at all others."""
    if isinstance(numbers, np.ndarray):
        array = np.zeros(count, dtype=numbers.dtype)
        array[places] = numbers
        return array
    whole: list[Any] = [0] * count
    for place, number in zip(places, numbers, strict=True):
        whole[place] = number
    return whole


def _members(domain: Any) -> tuple[Any, dict[Any, int]]:
    """The members of the list in its order, and the place of each.

    Raises:
        DomainError: It is no list of different items.
    """
    try:
        members = _listed(domain)
        if len(members) > MOST_ITEMS:
            raise DomainError(
                f"The domain has {len(members):,} items; at most {MOST_ITEMS:,} can take part."
            )
        places = dict(zip(members, range(len(members)), strict=True))
        has_missing = any(member is None or member != member for member in members)
    except DomainError:
        raise
    except Exception:  # whose text is not ours
        raise DomainError(
            "Each item of the domain must be of a type that cannot change, such as a string."
        ) from None
    if has_missing:
        raise DomainError("The domain has an item that is missing, as None and NaN are.")
    if len(places) < len(members):
        raise DomainError("The domain has an item more than once; 1, 1.0 and True are the same.")
    return members, places


def _listed(domain: Any) -> Any:
    no_list = isinstance(domain, str | bytes | Mapping) or hasattr(domain, "columns")
    if no_list or not isinstance(domain, Iterable):
        raise DomainError(
            f"A {type(domain).__name__} is no list of items; give a list, a range or one column, "
            f"or read a file by topgap.counting.read_domain."
        )
    if isinstance(domain, set | frozenset):
        raise DomainError("The domain must have an order; make a sorted list of it.")
    if getattr(domain, "ndim", 1) != 1:
        raise DomainError("The domain must be one-dimensional: a list of items.")
    return domain if type(domain) is range else [*listed(domain)]


def _seem_taken_from_data(answers: Any) -> bool:
    """Whether they look as if the data alone said which items there are."""
    if isinstance(answers, Counter):
        return True
    if not is_of(answers, "pandas"):
        return False
    try:
        counted = type(answers.name) is str and answers.name in ("count", "proportion")
        listed_before = str(answers.index.dtype) == "category"  # which has what nobody has, too
        return counted and not listed_before and bool(answers.is_monotonic_decreasing)
    except Exception:
        return False


def _unnamed() -> ItemsError:
    return ItemsError(
        "domain needs answers that name their items: a dict, a pandas Series, or items=."
    )
