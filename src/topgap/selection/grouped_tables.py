"""The answers of each public group, taken out of a mapping or a data frame."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from topgap.domains import ABSENT, Domain, FromData
from topgap.domains.groups import to_groups
from topgap.domains.structure import find_sets
from topgap.errors import AnswersError, DomainError, ParameterError
from topgap.sealing import seal_library_errors
from topgap.selection.answers import read_chosen
from topgap.selection.item_names import to_indexable_names, to_list

Table: TypeAlias = dict[Any, tuple[Any, Any]]
"""The answers of each group, and their names if they have none of their own."""


@seal_library_errors(AnswersError, "The mapping of groups")
def choose_groups(answers: Mapping[Any, Any], groups: object, domain: object) -> Table:
    """The answers of each public group: none for those that have none.

    Raises:
        DomainError: The groups cannot be used, or there is none; or one has no answers, and
            there is no domain.
        AnswersError: The mapping cannot be read.

    >>> choose_groups({"North": [3, 1], "East": [2, 5]}, ["North", "South"], ["flu"])
    {'North': ([3, 1], None), 'South': ({}, None)}
    """
    if groups is None:
        chosen = {group: (each, None) for group, each in answers.items()}
        if any(map(_is_missing, chosen)):
            raise DomainError("A group is missing (None or NaN); give each a name.")
    else:
        public = to_groups(groups)
        known = [*answers]
        own = dict(zip(public.find(known), known, strict=True))
        if domain is None and any(group not in own for group in public):
            raise DomainError("A group without answers needs the public items; give domain.")
        chosen = {group: (answers[own[group]] if group in own else {}, None) for group in public}
    if not chosen:
        raise DomainError("There is no group; give the answers of at least one.")
    return chosen


def _is_missing(group: Any) -> bool:
    return group is None or type(group).__name__ == "NAType" or group != group


@seal_library_errors(AnswersError, "The data frame")
def split_frame(
    frame: Any,
    by: object,
    item: object,
    count: object,
    groups: object,
    domain: "Domain | FromData | None",
) -> Table:
    """The answers of each public group of a data frame in long form.

    Rows of other groups, and of items that are not in the domain, do not matter.

    Raises:
        ParameterError: Columns, groups or the domain are not named, or a column twice.
        DomainError: The groups or the domain are not of so many columns.
        AnswersError, AnswersTypeError, ItemsError: The frame has no such column, or it cannot be
            read.
    """
    if any(column is None or column in ([], ()) for column in (by, item, count)):
        raise ParameterError(
            "A data frame needs by, item and count; name the columns of the groups, the items and "
            "the answers."
        )
    if groups is None or domain is None:
        raise ParameterError(
            "The rows of a data frame do not say which groups and items there could be; give the "
            "public ones with groups and domain."
        )
    public = to_groups(groups)
    by_columns, item_columns = _to_columns(by), _to_columns(item)
    named = [*by_columns, *item_columns, *_to_columns(count)]
    if any(named.count(each) > 1 for each in named):
        raise ParameterError("by, item and count must name each column once.")
    _check_width("groups have", public, "they", by_columns)
    if isinstance(domain, Domain):
        _check_width("domain has", domain, "the items", item_columns)
    places: dict[Any, list[int]] = {group: [] for group in public}
    own, items = public.find(_read_names(frame, by_columns)), _read_names(frame, item_columns)
    if isinstance(domain, Domain):
        items = domain.find(items)
    chosen: list[int] = []
    for row, (group, name) in enumerate(zip(own, items, strict=True)):
        if group is not ABSENT and name is not ABSENT:
            places[group].append(len(chosen))
            chosen.append(row)
    numbers = read_chosen(_read_column(frame, count), lambda _names, _count: chosen)
    names = [items[row] for row in chosen]
    if isinstance(numbers, np.ndarray):
        return {group: (numbers[at], [names[i] for i in at]) for group, at in places.items()}
    return {
        group: ([numbers[i] for i in at], [names[i] for i in at]) for group, at in places.items()
    }


def _to_columns(named: object) -> Sequence[Any]:
    return named if isinstance(named, list | tuple) else [named]


def _check_width(subject: str, domain: Domain, told: str, columns: Sequence[Any]) -> None:
    """Refuse a domain that is not of so many columns, of which nothing would be found."""
    sets = find_sets(domain)
    width = domain.columns if sets is None else sets.together
    # A set is in a column of tuples, too.
    if len(columns) != width and not (sets is not None and len(columns) == 1):
        raise DomainError(
            f"The {subject} {_count_columns(width)}, and {told} have "
            f"{_count_columns(len(columns))}; give a Domain.product with a part for each column, "
            f"or a list of tuples."
        )


def _count_columns(number: int) -> str:
    return "1 column" if number == 1 else f"{number} columns"


def _read_names(frame: Any, columns: Sequence[Any]) -> list[Any]:
    """The names in a column, or tuples of those in several."""
    parts = [to_list(to_indexable_names(_read_column(frame, each))) for each in columns]
    return [*parts[0]] if len(parts) == 1 else [*zip(*parts, strict=True)]


def _read_column(frame: Any, column: object) -> Any:
    try:
        found = frame[column]
        if not hasattr(found, "columns"):
            return found
    except Exception:  # noqa: S110 - whose text is not ours
        pass
    raise AnswersError("The data frame does not have all of these columns.")
