"""The answers of many groups, read and checked, as one array for the kernel: `read_groups`."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from topgap.domains import FROM_DATA, Counts, Domain, DomainDescription, FromData, GroupedCounts
from topgap.domains.groups import to_groups
from topgap.errors import (
    AnswersError,
    AnswersTypeError,
    DomainError,
    ItemsError,
    ParameterError,
)
from topgap.grouped_parameters import TopKByGroup
from topgap.numbers.parse import read_flag, read_threads
from topgap.sealing import seal_errors
from topgap.selection.answers import Array, KernelArray, check_enough, read, to_kernel_array
from topgap.selection.grouped_tables import Table, choose_groups, split_frame
from topgap.selection.item_names import check_names, look_up, to_indexable_names, to_list
from topgap.selection.preparation import (
    Prepared,
    check_constant_work,
    find_cut,
    has_room,
    prepare,
)
from topgap.selection.unlisted import check_domain

FindPlaces = Callable[[int, list[Any], list[bytes]], list[int]]
"""Given a group, the members that it was asked about, and a few ranks of the domain: appends the
members of these ranks, and returns the places of those that have an answer in this group."""

NameListed = Callable[[int, list[int]], list[Any]]
"""Names items of a group by their positions among its answers."""


class PreparedGroups(NamedTuple):
    """The answers of all groups: nothing is wrong with them from here on.

    Attributes:
        groups: The groups, in their public order.
        array: All answers, group after group, as the kernel takes them; None if they are too large
            for it, or differ in form, and then each group is drawn by itself.
        ends: Where the answers of each group end.
        name: Names winners of a group; None if items go by their position, or have shared names.
        threads: How many threads are to draw.
        constant_work: Whether the work is to be the same whatever the answers are.
        cut: The threshold in steps, shifted as the array.
        singles: Each group by itself, where the array is None.
        shared_names: The names of the items in each group, if they are the same in all.
        domain: The domain that was given, if one was.
        run_size: How many members the domain has; None if no domain was given.
        find_places: Looks up which of them have an answer.
        domain_from_data: Whether the list of items is known to be from the data.
    """

    groups: Sequence[Any]
    array: KernelArray | None
    ends: "np.ndarray[tuple[int], np.dtype[np.int64]]"
    name: NameListed | None
    threads: int
    constant_work: bool = False
    cut: int | None = None
    singles: Sequence[Prepared] = ()
    shared_names: Any = None
    domain: DomainDescription | None = None
    run_size: int | None = None
    find_places: FindPlaces | None = None
    domain_from_data: bool = False

    @property
    def size(self) -> int:
        """The number of items, in all groups together."""
        if self.domain is not None:
            return self.domain.size * len(self.groups)
        return int(self.ends[-1])

    def count_occurring(self) -> int:
        """How many answers are not 0; it is secret."""
        numbers = [each.numbers for each in self.singles]
        if self.array is not None:
            numbers = [self.array.numbers != -self.array.shift]
        return sum(int(np.count_nonzero(np.asarray(each) != 0)) for each in numbers)


def read_groups(
    parameters: TopKByGroup,
    answers: object,
    *,
    groups: object = None,
    by: object = None,
    item: object = None,
    count: object = None,
    items: object = None,
    domain: object = None,
    threads: int | None = None,
    constant_work: bool = False,
) -> PreparedGroups:
    """Read the answers of all groups and check all of it; see `topgap.top_k_by_group`.

    Raises:
        ParameterError, ParameterTypeError, AnswersError, AnswersTypeError, ItemsError, DomainError:
            Something cannot be used; by public facts, and types and shapes, alone.
    """
    threads = read_threads(threads)
    constant_work = read_flag(constant_work, "constant_work")
    if constant_work and (domain is not None or not isinstance(answers, np.ndarray)):
        raise ParameterError(
            "constant_work needs the answers of all items in order, in a two-dimensional array and "
            "without a domain."
        )
    if domain is not None and not isinstance(domain, FromData):
        domain = _to_rule(domain)
    if isinstance(answers, GroupedCounts):
        _refuse(items, by, item, count)
        check_bounds(parameters, answers)
        if domain is None and groups is None:
            return prepare_counts(parameters, answers, threads)
        if domain is None:
            domain = FROM_DATA if answers.domain_from_data else answers.domain
    if isinstance(answers, np.ndarray):
        _refuse(None, by, item, count)
        return _prepare_array(
            parameters, answers, groups, items, domain, threads, constant_work=constant_work
        )
    if isinstance(answers, Mapping):
        _refuse(items, by, item, count)
        return _prepare_mapping(parameters, choose_groups(answers, groups, domain), domain, threads)
    if hasattr(answers, "columns") and not isinstance(answers, type):
        _refuse(items)
        table = split_frame(answers, by, item, count, groups, domain)
        return _prepare_mapping(parameters, table, domain, threads)
    raise AnswersTypeError(
        f"The answers must be a mapping from groups to their answers, a data frame, or a "
        f"two-dimensional array, not {type(answers).__name__}."
    )


def _refuse(
    items: object = None, by: object = None, item: object = None, count: object = None
) -> None:
    """Refuse names where the answers have their own, and columns of what is no data frame."""
    if items is not None:
        raise ItemsError("The answers already name their items; give no items with them.")
    if not (by is None and item is None and count is None):
        raise ParameterError("by, item and count are only for a data frame; leave them out.")


def prepare_counts(
    parameters: TopKByGroup, counts: GroupedCounts, threads: int, *, in_steps: bool = False
) -> PreparedGroups:
    """What occurs in each group, as counting found it, in units or in steps of the resolution."""
    domain = counts.domain
    check_domain(domain, parameters.each)
    array = KernelArray(np.ascontiguousarray(counts.counts, dtype=np.int64), in_steps)
    cut = find_cut(parameters.each, array)
    if cut is not None and not has_room(parameters.each, cut):
        table: Table = {group: (counts[group], None) for group in counts}
        if in_steps:
            table = {group: (_to_units(own, parameters), None) for group, (own, _) in table.items()}
        taken = FROM_DATA if counts.domain_from_data else domain
        return _prepare_singles(parameters, table, taken, threads)

    def find_places(group: int, asked: list[Any], ranks: list[bytes]) -> list[int]:
        names = domain.unrank_all(map(int.from_bytes, ranks))
        asked += names
        return counts.find(group, names)

    def name(group: int, places: list[int]) -> list[Any]:
        start = int(counts.ends[group - 1]) if group else 0
        return [counts.names[counts.places[start + place]] for place in places]

    return PreparedGroups(
        counts.groups, array, counts.ends, name, threads, cut=cut,
        domain=None if counts.domain_from_data else domain.description,
        run_size=domain.size, find_places=find_places, domain_from_data=counts.domain_from_data,
    )  # fmt: skip


def _to_units(steps: Mapping[Any, int], parameters: TopKByGroup) -> dict[Any, Fraction]:
    steps_per_unit = parameters.each.resolution.denominator
    return {name: Fraction(each, steps_per_unit) for name, each in steps.items()}


def check_bounds(parameters: TopKByGroup, counts: GroupedCounts) -> None:
    """Refuse counts whose noise relies on bounds that they do not have."""
    _check_groups_per_person(parameters, counts)
    bound, items = parameters.each.items_per_person, counts.items_per_person
    if parameters.each.noise == "laplace" and bound is not None and (items or bound + 1) > bound:
        counted = "any number of" if items is None else f"up to {items}"
        raise ParameterError(
            f"These counts are of {counted} items of each person, and the noise is for {bound}; "
            f"count with items_per_person={bound}, or set items_per_person = {bound} of the counts "
            f"to state that bound yourself."
        )


def _check_groups_per_person(parameters: TopKByGroup, counts: Counts | GroupedCounts) -> None:
    known, most = counts.groups_per_person, parameters.groups_per_person
    if known is not None and known > most:
        raise ParameterError(
            f"These counts have each person in up to {known} groups, and the noise is for {most}; "
            f"give groups_per_person={known}, or count with {most}."
        )


def _prepare_array(
    parameters: TopKByGroup,
    answers: "np.ndarray[Any, Any]",
    groups: object,
    items: object,
    domain: object,
    threads: int,
    *,
    constant_work: bool,
) -> PreparedGroups:
    """A row for each group, and a column for each item."""
    if answers.ndim != 2:
        raise AnswersError(
            "An array of answers must be two-dimensional, with a row for each group."
        )
    numbers = _flatten(answers)
    rows, columns = answers.shape
    names = [*range(rows)] if groups is None else [*to_groups(groups)]
    if len(names) != rows or rows == 0:
        raise DomainError(f"There are {len(names)} groups for {rows} rows; give one for each row.")
    if items is not None:
        items = to_list(check_names(items, columns))
    if domain is not None:
        if items is None:
            raise ItemsError("domain needs the names of the columns; give items.")
        table = _split_rows(names, numbers, columns, items)
        return _prepare_mapping(parameters, table, domain, threads)
    each = parameters.each
    check_enough(columns, each.fewest_winners)
    if constant_work:
        check_constant_work(each, threads, numbers)
    array = to_kernel_array(numbers, each.resolution.denominator)
    cut = None if array is None else find_cut(each, array)
    ends = np.arange(1, rows + 1, dtype=np.int64) * columns
    if array is None or (cut is not None and not has_room(each, cut)) or each.kernel is None:
        table = _split_rows(names, numbers, columns, items)
        return _prepare_singles(parameters, table, None, threads, constant_work=constant_work)
    return PreparedGroups(names, array, ends, None, threads, constant_work, cut, shared_names=items)


def _flatten(answers: "np.ndarray[Any, Any]") -> "Array | list[Any]":
    """All numbers of an array, row after row."""
    is_whole = not np.ma.is_masked(answers)
    return read(np.asarray(answers).reshape(-1) if is_whole else answers)[0]


def _split_rows(names: list[Any], numbers: "Array | list[Any]", columns: int, items: Any) -> Table:
    """The rows of an array, by group."""
    starts = range(0, len(names) * columns, columns)
    return {
        group: (numbers[start : start + columns], items)
        for group, start in zip(names, starts, strict=True)
    }


def _prepare_mapping(
    parameters: TopKByGroup,
    table: Table,
    domain: object,
    threads: int,
) -> PreparedGroups:
    """Groups that were handed over one by one, put together for the kernel."""
    for own, _ in table.values():
        if isinstance(own, Counts):
            _check_groups_per_person(parameters, own)
    whole = _prepare_singles(parameters, table, domain, threads)
    arrays = [single.kernel_array for single in whole.singles]
    together = [array for array in arrays if array is not None and array.shift == 0]
    forms = {array.in_steps for array in together if len(array.numbers)}
    if len(together) < len(arrays) or len(forms) > 1 or parameters.each.kernel is None:
        return whole
    ends = np.cumsum([len(array.numbers) for array in together], dtype=np.int64)
    array = KernelArray(
        np.concatenate([each.numbers for each in together]), in_steps=forms == {True}
    )
    unlisted = [single.unlisted for single in whole.singles]

    def find_places(group: int, asked: list[Any], ranks: list[bytes]) -> list[int]:
        run = unlisted[group]
        return [] if run is None else run.find_places(asked, 0, ranks)

    return whole._replace(
        array=array,
        ends=ends,
        cut=whole.singles[0].cut,
        singles=(),
        find_places=None if whole.run_size is None else find_places,
    )


def _prepare_singles(
    parameters: TopKByGroup,
    table: Table,
    domain: object,
    threads: int,
    *,
    constant_work: bool = False,
) -> PreparedGroups:
    """Each group by itself."""
    each, from_data = parameters.each, isinstance(domain, FromData)
    public = None
    if domain is not None:
        public = _read_all_items(table) if isinstance(domain, FromData) else _to_rule(domain)
    singles = [
        prepare(
            each, own, items, threads=threads or None, constant_work=constant_work,
            domain=public, as_run=True,
        )
        for own, items in table.values()
    ]  # fmt: skip
    names = [single.names for single in singles]
    names_given = {single.names is not None for single in singles if single.size}
    if len(names_given) > 1:
        raise ItemsError("Some groups name their items and others do not; name all or none.")
    domains = {single.unlisted and single.unlisted.domain for single in singles}
    if len(domains) > 1:
        raise DomainError("The groups have different domains; give one domain for all of them.")
    (common,) = domains
    from_data = from_data or any(single.domain_from_data for single in singles)
    ends = np.cumsum([len(single.numbers) for single in singles], dtype=np.int64)

    def name(group: int, places: list[int]) -> list[Any]:
        return look_up(names[group], places)

    return PreparedGroups(
        [*table], None, ends, None if names[0] is None else name, threads, constant_work,
        singles=singles, run_size=None if common is None else common.size,
        domain=None if from_data else singles[0].domain, domain_from_data=from_data,
    )  # fmt: skip


def _to_rule(domain: object) -> Domain:
    return domain if isinstance(domain, Domain) else Domain(domain)  # type: ignore[arg-type]


@seal_errors
def _read_all_items(table: Table) -> Domain:
    """The items of all groups, where the data are the domain."""
    found: dict[Any, None] = {}
    for own, items in table.values():
        names = read(own)[1] if items is None else items
        if names is None:
            raise ItemsError("domain needs answers that name their items, such as dicts.")
        found |= dict.fromkeys(to_list(to_indexable_names(names)))
    return Domain(found)
