"""Which answers are in a release, and by which names."""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from topgap.display.text import name_type
from topgap.domains import ABSENT, MOST_ITEMS, Counts, Domain, DomainDescription, FromData
from topgap.errors import DomainError, DomainWarning, ItemsError, ParameterError
from topgap.parameters import TopK
from topgap.sealing import seal_errors
from topgap.selection.answers import Array, check_enough, is_from_library, read, read_chosen
from topgap.selection.item_names import choose_names, to_indexable_names, to_list
from topgap.selection.unlisted import Unlisted, check_domain, check_domain_size
from topgap.user_stacklevel import find_user_stacklevel

_SEEMS_TAKEN = (
    "The items seem to be taken from the data, so naming one would reveal that somebody has it; "
    "give the public list by domain=, or domain=FROM_DATA, if that is not a secret, or pass "
    "dict(…), or a Series with another name, if these items are the public list."
)


_TWO_ANSWERS = "An item of the domain has two answers; give one for each item."


class Participants(NamedTuple):
    """The items of a release.

    Attributes:
        numbers: Their answers.
        names: Their names, or None.
        domain_from_data: Whether their list is known to be from the data.
        domain: The domain that they are members of, if one was given.
        unlisted: All other members of a domain given by a rule; None otherwise.
    """

    numbers: "Array | list[Any]"
    names: Any
    domain_from_data: bool = False
    domain: DomainDescription | None = None
    unlisted: Unlisted | None = None


def read_part(
    answers: object, items: object, domain: Domain | None = None
) -> "tuple[Array | list[Any], Any]":
    """The answers of some items of a larger whole, with their names or None.

    With a domain these are the answers of its members, named as it names them.

    Raises:
        AnswersError, AnswersTypeError, ItemsError: The answers or their names cannot be used.

    >>> read_part([3, 5], ["ash", "oak"])
    ([3, 5], ['ash', 'oak'])
    >>> read_part([3, 5], ["ash", "oak"], Domain(["elm", "oak"]))
    ([5], ['oak'])
    """
    if domain is not None:
        numbers, members, _ = _choose_members(answers, items, domain)
        return numbers, members
    numbers, names = read(answers)
    return numbers, choose_names(answers, names, items, len(numbers))


def check_bound(answers: object, parameters: TopK, before: int = 0) -> int:
    """Refuse counts whose noise relies on a bound on the items of one person that they do not have.

    Of counts that topgap made the bound is known; of other answers it is the caller's word.

    Args:
        answers: The answers.
        parameters: Of the release.
        before: How many items of each person the counts of earlier parts have; a person may be in
            all of them.

    Returns:
        How many items of each person the counts have now, as far as topgap knows.

    Raises:
        ParameterError: They have no known bound, or a larger one.

    >>> parameters = TopK(k=2, epsilon=1, items_per_person=1)
    >>> check_bound(Counts({"flu": 2}, items_per_person=1), parameters)
    1
    >>> check_bound({"flu": 2}, parameters)
    0
    >>> check_bound(Counts({"flu": 2}, items_per_person=3), parameters)
    Traceback (most recent call last):
    topgap.errors.ParameterError: These counts are of up to 3 items of each person, and the noise \
is for 1; count with items_per_person=1, or pass Counts(counts, items_per_person=1) to state \
that bound yourself.
    """
    bound = parameters.items_per_person
    if parameters.noise != "laplace" or bound is None or not isinstance(answers, Counts):
        return before
    known = answers.items_per_person
    if known is not None and before + known <= bound:
        return before + known
    counted = "any number of" if known is None else f"up to {before + known}"
    raise ParameterError(
        f"These counts are of {counted} items of each person, and the noise is for {bound}; count "
        f"with items_per_person={bound}, or pass Counts(counts, items_per_person={bound}) to state "
        f"that bound yourself."
    )


@seal_errors
def find_participants(
    answers: object,
    items: object,
    domain: object,
    parameters: TopK,
    *,
    as_run: bool = False,
) -> Participants:
    """The answers of a release, with their names.

    Args:
        answers: As `topgap.top_k` takes them.
        items: Their names, if they have none of their own.
        domain: The public list; None if the answers are of all items of one.
        parameters: There must be more than k of them.
        as_run: Whether the other members of a `Domain` are drawn as a run, also if it is a list.

    Raises:
        ParameterError: The noise relies on a bound that they do not have.
        DomainError: The list cannot be used, by what it is alone.
        AnswersError, AnswersTypeError, ItemsError: The answers or their names cannot be used. With
            a domain, none of this is because of an item that is not on the list.

    >>> answers = {"flu": 2, "gout": None}
    >>> found = find_participants(answers, None, ["cold", "flu"], TopK(k=1, epsilon=1))
    >>> found.numbers, found.names
    ([0, 2], ['cold', 'flu'])
    """
    check_bound(answers, parameters)
    if isinstance(domain, Domain) and (as_run or not domain.is_listed):
        return _match_rule(answers, items, domain, parameters)
    k = parameters.fewest_winners
    if domain is not None and type(domain) is not FromData:
        return _match_domain(answers, items, domain, k)
    numbers, names = read(answers)
    check_enough(len(numbers), k)
    names = choose_names(answers, names, items, len(numbers))
    if domain is not None:
        if names is None:
            raise _unnamed_error()
        return Participants(numbers, names, domain_from_data=True)
    if isinstance(answers, Counts):
        return Participants(numbers, names, domain_from_data=answers.domain_from_data)
    if names is not None and _seem_taken_from_data(answers):
        warnings.warn(_SEEMS_TAKEN, DomainWarning, stacklevel=find_user_stacklevel())
    return Participants(numbers, names)


def _match_domain(answers: object, items: object, domain: object, k: int) -> Participants:
    """As the domain has them: 0 for who has no answer, and without those that are not on it."""
    members, places = _read_members(domain)
    check_domain_size(len(members), k)
    found: dict[int, int] = {}  # the place of each answer on the list, and among the answers

    def find(own: Any, count: int) -> list[int]:
        names = _read_names(own, items)
        if len(names) != count:
            raise ItemsError(
                "The numbers of items and answers differ; give one item for each answer."
            )
        for position, name in enumerate(names):
            try:
                place = places.get(name)
            except Exception:  # noqa: S112 - what cannot be compared is no member
                continue
            if place is not None:
                if place in found:
                    raise ItemsError(_TWO_ANSWERS)
                found[place] = position
        return [*found.values()]

    numbers = read_chosen(answers, find)
    whole = _with_zeros(numbers, [*found], len(members))
    description = DomainDescription.of_list(len(members))
    return Participants(whole, members, domain=description)


def _match_rule(answers: object, items: object, domain: Domain, parameters: TopK) -> Participants:
    """Those that have an answer, and all other members of a domain given by a rule."""
    check_domain(domain, parameters)
    numbers, names, distinct = _choose_members(answers, items, domain)
    unlisted = Unlisted(domain, len(names), distinct.intersection)
    return Participants(numbers, names, domain=domain.description, unlisted=unlisted)


def _choose_members(
    answers: object, items: object, domain: Domain
) -> "tuple[Array | list[Any], list[Any], set[Any]]":
    """The answers of those that are members, and their names as the domain has them, twice.

    Raises:
        AnswersError, AnswersTypeError, ItemsError: The answers or their names cannot be used; none
            of this is because of an item that is not a member.
    """
    members: list[Any] = []
    distinct: set[Any] = set()

    def find(own: Any, count: int) -> Sequence[int]:
        found = domain.find(_read_names(own, items))
        if len(found) != count:
            raise ItemsError(
                "The numbers of items and answers differ; give one item for each answer."
            )
        distinct.update(found)
        if ABSENT in distinct:
            distinct.remove(ABSENT)
            places: Sequence[int] = [i for i in range(count) if found[i] is not ABSENT]
            members.extend(found[i] for i in places)
        else:
            places = range(count)
            members.extend(found)
        if len(distinct) < len(members):
            raise ItemsError(_TWO_ANSWERS)
        return places

    return read_chosen(answers, find), members, distinct


def _read_names(own: Any, given: object) -> Any:
    if own is not None and given is not None:
        raise ItemsError("The answers already name their items; give no items with them.")
    names = given if own is None else own
    if names is None:
        raise _unnamed_error()
    return to_list(to_indexable_names(names))


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


def _read_members(domain: Any) -> tuple[Any, dict[Any, int]]:
    """The members of the list in its order, and the place of each.

    Raises:
        DomainError: It is not a list of different items.
    """
    try:
        members = _to_member_list(domain)
        if len(members) > MOST_ITEMS:
            raise DomainError(
                f"The domain has {len(members):,} items; at most {MOST_ITEMS:,} are possible."
            )
        places = dict(zip(members, range(len(members)), strict=True))
        has_missing = any(member is None or member != member for member in members)
    except DomainError:
        raise
    except Exception:  # whose text is not ours
        raise DomainError(
            "Each item of the domain must be of an immutable type, such as a string."
        ) from None
    if has_missing:
        raise DomainError("The domain has an item that is missing (None or NaN).")
    if len(places) < len(members):
        raise DomainError("The domain has an item more than once; 1, 1.0 and True are the same.")
    return members, places


def _to_member_list(domain: Any) -> Any:
    if isinstance(domain, Domain):
        return domain.names
    no_list = isinstance(domain, str | bytes | Mapping) or hasattr(domain, "columns")
    if no_list or not isinstance(domain, Iterable):
        raise DomainError(
            f"{name_type(domain)} is not a list of items; give a list, a range or one column, "
            f"or read a file by topgap.counting.read_domain."
        )
    if isinstance(domain, set | frozenset):
        raise DomainError("The domain must have an order; make a sorted list of it.")
    if getattr(domain, "ndim", 1) != 1:
        raise DomainError("The domain must be one-dimensional: a list of items.")
    return domain if type(domain) is range else [*to_list(domain)]


def _seem_taken_from_data(answers: Any) -> bool:
    """Whether they look as if the data alone said which items there are."""
    if isinstance(answers, Counter):
        return True
    if not is_from_library(answers, "pandas"):
        return False
    try:
        counted = type(answers.name) is str and answers.name in ("count", "proportion")
        listed_before = str(answers.index.dtype) == "category"  # which has what nobody has, too
        return counted and not listed_before and bool(answers.is_monotonic_decreasing)
    except Exception:
        return False


def _unnamed_error() -> ItemsError:
    return ItemsError(
        "domain needs answers that name their items: a dict, a pandas Series, or items=."
    )
