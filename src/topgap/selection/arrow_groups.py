"""From the rows of a partition that has whole groups, as Arrow's batches, to the list of each.

This runs where the rows are. What is wrong with them is no error here, or a cluster would try again
and log what it saw: it is a row without an item, as of `topgap.selection.arrow_partition`.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topgap._core import Streams
from topgap.domains import ABSENT, Domain, GroupedCounts
from topgap.errors import AnswersError, ItemsError, TopgapError
from topgap.grouped_parameters import TopKByGroup
from topgap.release import Lists
from topgap.release.construction import list_units, unpack_units
from topgap.selection.answers import KernelArray, read, to_kernel_array
from topgap.selection.arrow_partition import (
    Batches,
    build_error_row,
    build_rows,
    to_names,
)
from topgap.selection.candidate_columns import combine
from topgap.selection.column_names import GROUP, ITEM, VALUE
from topgap.selection.grouped_answers import PreparedGroups, prepare_counts
from topgap.selection.item_names import TWICE
from topgap.selection.top_k_by_group import draw_groups, list_winners, read_winner_steps

_CODE = "code"


class Winners(NamedTuple):
    """The list of one group: the winners' ranks in the domain, and what comes with them, in steps.

    Attributes:
        ranks: The ranks.
        gap_units: The gaps.
        value_units: The noisy answers; none but with Laplace noise.
        answer_units: The plain answers, rounded down; none but where the winners are measured.
    """

    ranks: list[int]
    gap_units: list[int]
    value_units: list[int]
    answer_units: Sequence[int] = ()


class Columns(NamedTuple):
    """The lists of many groups, one after the other: int64, or objects if a number is too large.

    Attributes:
        sizes: How many winners each group has.
        ranks: As of `Winners`, and so are the others.
        gap_units: The gaps.
        value_units: The noisy answers.
        answer_units: The plain answers.
    """

    sizes: Any
    ranks: Any
    gap_units: Any
    value_units: Any
    answer_units: Any


def release_groups(
    batches: Batches,
    partition: int,
    parameters: TopKByGroup,
    streams: Streams | None,
    domain: Domain,
    keep_answers: bool = False,  # noqa: FBT001, FBT002 - it comes in a tuple
) -> Batches:
    """The list of each group of this partition, which has all rows of its groups.

    A row is a group, by its number, and its list as text. All attempts at a partition have the same
    noise: it comes from the partition's own stream, which is opened from its beginning, once, and
    used up group after group; and its rows come in one order, by group and item.

    Args:
        batches: Columns group, item and value. Items that are not members are left out.
        partition: Its number.
        parameters: What is released of each group.
        streams: Where the noise comes from. With None nothing is drawn or handed over: it is only
            seen whether all rows can be used.
        domain: The domain of the items.
        keep_answers: Whether the winners' plain answers are handed over, too.
    """
    try:
        data = _read_groups(batches, parameters, domain)
        if data is None or streams is None:
            return
        drawn = draw_groups(parameters, data, streams.open(partition))
        winners = split_lists(list_winners(data, drawn), domain)
        if keep_answers:
            winners = _add_answers(winners, drawn.sizes, read_winner_steps(parameters, data, drawn))
        row = build_rows(pa.array(data.groups, pa.string()), [*map(write_list, winners)])
    except TopgapError as error:
        row = build_error_row(pa.string(), error)
    yield row


def split_lists(lists: Lists, domain: Domain) -> Iterator[Winners]:
    """The list of each group, of those of all, in which items are named."""
    items = lists.items or ()
    gaps, values = (
        list_units(unpack_units(packed)) or [] for packed in (lists.gap_units, lists.value_units)
    )
    start = 0
    for size in lists.sizes:
        own = slice(start, start + size)
        yield Winners([*map(domain.rank, items[own])], gaps[own], values[own])
        start += size


def _add_answers(
    winners: Iterator[Winners], sizes: Sequence[int], steps: list[int]
) -> Iterator[Winners]:
    """The same lists, with the steps of each."""
    ends = pairwise([0, *accumulate(sizes)])
    for own, (start, end) in zip(winners, ends, strict=True):
        yield own._replace(answer_units=steps[start:end])


def write_list(winners: Winners) -> str:
    """Write the list of a group as text.

    >>> write_list(Winners([10, 0], [125, 3], [], [-1, 255]))
    '10 0;125 3;;-1 255'
    """
    return ";".join(" ".join(map(str, part)) for part in winners)


def read_lists(texts: Any) -> Columns:
    """Read the lists of many groups, which `write_list` wrote, one after the other.

    >>> read = read_lists(pa.array(["10 0;125 3;;", ";;;", "7;1;;"]))
    >>> read.sizes.tolist(), read.ranks.tolist(), read.gap_units.tolist()
    ([2, 0, 1], [10, 0, 7], [125, 3, 1])
    """
    parts = pc.split_pattern(combine(texts), ";")
    columns = [pc.list_element(parts, place) for place in range(len(Winners._fields))]
    numbers = [_read_numbers(pc.split_pattern(column, " ")) for column in columns]
    spaces = pc.count_substring(columns[0], " ")
    sizes = pc.if_else(pc.equal(columns[0], ""), 0, pc.add(spaces, 1))
    return Columns(sizes.to_numpy(zero_copy_only=False), *numbers)


def _read_numbers(tokens: Any) -> Any:
    flat = tokens.flatten()
    flat = flat.filter(pc.not_equal(flat, ""))
    try:
        return flat.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:  # one is too large
        return np.array([*map(int, flat.to_pylist())], dtype=object)


def _read_groups(
    batches: Batches, parameters: TopKByGroup, domain: Domain
) -> PreparedGroups | None:
    """The answers of the members of each group that is here; None if there are none."""
    rows = [*batches]
    if not rows:
        return None
    table = pa.Table.from_batches(rows)
    table, members = _number_members(table.filter(pc.is_valid(table[ITEM])), domain)
    if not len(table):
        return None
    table = table.sort_by([(GROUP, "ascending"), (_CODE, "ascending")])
    numbers, _ = read(table[VALUE])
    array = _without_shift(to_kernel_array(numbers, parameters.each.resolution.denominator))
    codes = table[_CODE].to_numpy()
    groups = pc.run_end_encode(table[GROUP].combine_chunks(), run_end_type=pa.int64())
    same_group = np.diff(table[GROUP].to_numpy()) == 0
    if (same_group & (np.diff(codes) == 0)).any():
        raise ItemsError(TWICE)
    counts = GroupedCounts(
        [*map(str, groups.values.to_pylist())], domain, members,
        ends=groups.run_ends.to_numpy(), places=codes, counts=array.numbers,
    )  # fmt: skip
    return prepare_counts(parameters, counts, 1, in_steps=array.in_steps)


def _number_members(table: pa.Table, domain: Domain) -> tuple[pa.Table, list[Any]]:
    """The rows of members, each with the place of its item among these members."""
    items = table[ITEM]
    if pa.types.is_struct(items.type):  # which Arrow does not number
        names = to_names(items.combine_chunks())
        places = {name: place for place, name in enumerate(dict.fromkeys(names))}
        distinct, codes = [*places], pa.array([*map(places.get, names)], pa.int64())
    else:
        encoded = items.dictionary_encode().combine_chunks()
        distinct, codes = to_names(encoded.dictionary), encoded.indices.cast(pa.int64())
    found = domain.find(distinct)
    are_members = pa.array([member is not ABSENT for member in found], pa.bool_())
    members = [member for member in found if member is not ABSENT]
    if len({*members}) < len(members):
        raise ItemsError(TWICE)
    table = table.append_column(_CODE, codes)
    if len(members) < len(found):
        # The places of members go up by one from each to the next.
        places_of_members = pc.subtract(pc.cumulative_sum(are_members.cast(pa.int64())), 1)
        table = table.filter(are_members.take(codes))
        table = table.set_column(
            table.column_names.index(_CODE), _CODE, places_of_members.take(table[_CODE])
        )
    return table, members


def _without_shift(array: KernelArray | None) -> KernelArray:
    """The same answers, none of them shifted: the members without an answer have 0.

    Raises:
        AnswersError: The kernel's integers are too short for them.
    """
    if array is not None and array.shift == 0:
        return array
    if array is not None:
        numbers, shift = array.numbers, array.shift
        ends = int(numbers.min()) + shift, int(numbers.max()) + shift
        if ends[0] >= -(2**63) and ends[1] < 2**63:
            return KernelArray(numbers + np.int64(shift), array.in_steps)
    raise AnswersError(
        "The counts of the groups are too large for the kernel; give whole numbers, or use a "
        "coarser resolution."
    )
