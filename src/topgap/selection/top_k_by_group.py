"""Noisy Top-k with Gap for each of many groups, as users call it: `top_k_by_group`."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple, Unpack, overload

import numpy as np

from topgap._core import Stream
from topgap.grouped_parameters import TopKByGroup
from topgap.ledger.charging import LedgerLike, prepare_charge
from topgap.numbers.parse import Number, read_flag
from topgap.parameters import NoiseKind
from topgap.release import GroupedRelease, Lists
from topgap.release.construction import PackedUnits, pack_units
from topgap.selection.answers import floor_answers
from topgap.selection.check import Check, describe_check
from topgap.selection.drawing import Drawn, Units, draw, read_drawn, unpack_places
from topgap.selection.grouped_answers import NameListed, PreparedGroups, read_groups
from topgap.selection.options import GroupOptions


@overload
def top_k_by_group(
    answers: object,
    k: int | None,
    epsilon: "Number",
    *,
    check: Literal[False] = False,
    **options: Unpack[GroupOptions],
) -> GroupedRelease: ...


@overload
def top_k_by_group(
    answers: object,
    k: int | None,
    epsilon: "Number",
    *,
    check: Literal[True],
    **options: Unpack[GroupOptions],
) -> Check: ...


def top_k_by_group(
    answers: object,
    k: int | None,
    epsilon: "Number",
    *,
    groups_per_person: int = 1,
    groups: object = None,
    by: object = None,
    item: object = None,
    count: object = None,
    resolution: "Number | None" = None,
    sensitivity: "Number" = 1,
    monotonic: bool = False,
    items_per_person: int | None = None,
    threshold: "Number | None" = None,
    noise: NoiseKind | None = None,
    items: object = None,
    domain: object = None,
    gaps: bool = True,
    threads: int | None = None,
    constant_work: bool = False,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
    check: bool = False,
) -> GroupedRelease | Check:
    """Name the k largest answers of each group under ε-differential privacy, for one ε.

    Each group's list has the law of `topgap.top_k` with its part of ε, and the noise of different
    groups is independent. If every person is in at most `groups_per_person` groups, all lists
    together cost ε, however many groups there are.

    Args:
        answers: The answers of each group: a mapping from the group to whatever `topgap.top_k`
            takes; `GroupedCounts` of `topgap.counting`; a two-dimensional NumPy array with a row
            for each group and a column for each item; or a data frame of pandas, polars or Arrow in
            long form.
        k: How many winners are named in each group; with a threshold, at most.
        epsilon: The privacy loss ε of all lists together. Each group gets ε/groups_per_person.
        groups_per_person: c, in how many groups one person is at most. This is your word; counts
            that topgap made know it, and are refused if it is larger.
        groups: The public groups: a list, or a `topgap.Domain` that can be listed. Each gets a
            list, also if it has no answers, and answers of other groups are left out without a
            word. Unless given, the groups of a mapping are the public list. Of an array, the names
            of its rows.
        by: The column of a data frame with the groups, or several in a list.
        item: Its column with the items, or several.
        count: Its column with the answers.
        resolution: As of `topgap.top_k`, and so are the others.
        sensitivity: As there.
        monotonic: As there. If it is False, ε holds between replace-one neighbours, too, whose
            person leaves some groups and enters others; see `TopKByGroup`.
        items_per_person: L, the most answers in any one group that one person can move; see
            `topgap.top_k`.
        threshold: As there.
        noise: As there.
        items: The names of the columns of an array.
        domain: The public items, which all take part in each group, with 0 if they have no answer.
            It is never written out. A data frame needs one. Without it, the answers of each group
            must be those of all items of a public list, more than k.
        gaps: As there.
        threads: How many groups are drawn at once; all cores, if there is much work, unless given.
        constant_work: As there, for an array of integers without a domain.
        ledger: The budget ledger, charged once with all of ε; as there.
        dataset: The data set in it.
        check: Read and check everything, and stop, as there.

    Returns:
        A mapping from each group to its `Release`. With `check`, a `Check`.

    Raises:
        ParameterError, ParameterTypeError, AnswersError, AnswersTypeError: As of `topgap.top_k`.
        ItemsError, DomainError, BudgetExceeded, LedgerError, KernelError: As of `topgap.top_k`.

    >>> regions = {"North": {"flu": 10**9, "cold": 0}, "South": {"flu": 0, "cold": 10**9}}
    >>> lists = top_k_by_group(regions, k=1, epsilon=1)
    >>> lists["North"].items, lists["South"].items, lists.epsilon
    (('flu',), ('cold',), Fraction(1, 1))
    """
    parameters = TopKByGroup(
        k, epsilon, groups_per_person=groups_per_person, resolution=resolution,
        sensitivity=sensitivity, monotonic=monotonic, items_per_person=items_per_person,
        threshold=threshold, noise=noise,
    )  # fmt: skip
    gaps, check = read_flag(gaps, "gaps"), read_flag(check, "check")
    pending = prepare_charge(ledger, dataset, "topgap.top_k_by_group", parameters, gaps=gaps)
    data = read_groups(
        parameters, answers, groups=groups, by=by, item=item, count=count, items=items,
        domain=domain, threads=threads, constant_work=constant_work,
    )  # fmt: skip
    if check:
        return describe_check(
            parameters.each, pending, data.size, data.count_occurring(),
            domain_from_data=data.domain_from_data, by=parameters, groups=len(data.groups),
            has_gaps=gaps,
        )  # fmt: skip
    pending.note_groups(len(data.groups))
    return pending.charge_then_run(lambda: select_groups(parameters, data, gaps=gaps))


def select_groups(parameters: TopKByGroup, data: PreparedGroups, *, gaps: bool) -> GroupedRelease:
    """The release of prepared groups."""
    return build_release(parameters, data, draw_groups(parameters, data), gaps=gaps)


class DrawnGroups(NamedTuple):
    """What was drawn for all groups, one after the other.

    Attributes:
        sizes: How many winners each group has.
        places: Their positions among the answers of their group, as int64 in bytes.
        gap_units: Their gaps, packed.
        value_units: Their noisy answers, packed; None but with Laplace noise.
        unlisted: For each group the names of the winners that have no answer, whose positions go on
            from those of its answers; empty without a domain.
    """

    sizes: tuple[int, ...]
    places: bytes
    gap_units: PackedUnits
    value_units: PackedUnits = None
    unlisted: Sequence[Sequence[Any]] = ()


def draw_groups(
    parameters: TopKByGroup, data: PreparedGroups, stream: Stream | None = None
) -> DrawnGroups:
    """Draw the winners of each group; the noise of different groups is independent.

    With a stream all noise comes from it, which needs answers that the kernel takes.
    """
    each, array = parameters.each, data.array
    kernel = each.kernel
    if array is None or kernel is None:
        return _join([draw(each, single) for single in data.singles])
    asked: list[list[Any]] = [[] for _ in data.groups] if data.run_size is not None else []
    find_places = data.find_places

    def find_listed(group: int, ranks: list[bytes]) -> Sequence[int]:
        return find_places(group, asked[group], ranks) if find_places is not None else ()

    floor, sentinel = (None, data.cut) if each.has_sentinel else (data.cut, None)
    winners, places, counts, numbers = kernel.release_groups(
        array.numbers,
        data.ends,
        in_steps=array.in_steps,
        threads=data.threads,
        floor=floor,
        sentinel=sentinel,
        run=None if data.run_size is None else (0, data.run_size),
        find_listed=None if data.run_size is None else find_listed,
        constant_work=data.constant_work,
        stream=stream,
    )
    sizes = tuple(unpack_places(winners).tolist())
    if each.noise == "exponential":
        units = pack_units(numbers) if isinstance(numbers, list) else numbers
        return DrawnGroups(sizes, places, units, None, asked)
    drawn = [
        read_drawn(each, array, *one)
        for one in zip(_split(places, sizes), _split_numbers(numbers, counts), strict=True)
    ]
    return _join(drawn)._replace(unlisted=asked)


def build_release(
    parameters: TopKByGroup, data: PreparedGroups, drawn: DrawnGroups, *, gaps: bool
) -> GroupedRelease:
    """Name the winners of all groups."""
    return GroupedRelease.from_mechanism(
        parameters,
        data.groups,
        list_winners(data, drawn, gaps=gaps),
        domain=data.domain,
        domain_from_data=data.domain_from_data,
    )


def list_winners(data: PreparedGroups, drawn: DrawnGroups, *, gaps: bool = True) -> Lists:
    """The lists of all groups, with the names of their winners."""
    return Lists(
        drawn.sizes,
        drawn.places if data.domain is None and data.run_size is None else None,
        _name_winners(data, drawn),
        drawn.gap_units if gaps else None,
        drawn.value_units if gaps else None,
    )


def read_winner_steps(
    parameters: TopKByGroup, data: PreparedGroups, drawn: DrawnGroups
) -> list[int]:
    """Each winner's own answer in steps, rounded down, group after group; they are secret."""
    steps_per_unit = parameters.each.resolution.denominator
    places, array = unpack_places(drawn.places), data.array
    if array is None:
        ends = pairwise([0, *accumulate(drawn.sizes)])
        answers = [
            single.numbers[place] if place < len(single.numbers) else 0
            for single, (start, end) in zip(data.singles, ends, strict=True)
            for place in places[start:end].tolist()
        ]
        return floor_answers(answers, steps_per_unit)
    ends_of_answers = np.repeat(data.ends, drawn.sizes)
    at = places + np.repeat(np.concatenate([[0], data.ends[:-1]]), drawn.sizes)
    listed = at < ends_of_answers
    numbers = iter(array.numbers[at[listed]].tolist())
    times = 1 if array.in_steps else steps_per_unit
    # What has no answer has 0.
    return [(next(numbers) + array.shift) * times if has else 0 for has in listed.tolist()]


def _split(packed: bytes, sizes: Sequence[int]) -> Iterator[bytes]:
    """Split numbers as int64 in bytes into so many for each group."""
    ends = [0, *accumulate(sizes)]
    return (packed[8 * start : 8 * end] for start, end in pairwise(ends))


def _split_numbers(numbers: bytes | list[int], counts: bytes) -> Iterator[bytes | list[int]]:
    """Split noisy answers likewise, of which one may not fit."""
    sizes = unpack_places(counts).tolist()
    if isinstance(numbers, bytes):
        return _split(numbers, sizes)
    ends = [0, *accumulate(sizes)]
    return (numbers[start:end] for start, end in pairwise(ends))


def _join(drawn: Sequence[Drawn]) -> DrawnGroups:
    """Put what was drawn for each group one after the other."""
    return DrawnGroups(
        tuple(len(each.places) // 8 for each in drawn),
        b"".join([each.places for each in drawn]),
        _join_units([each.gap_units for each in drawn]),
        _join_units([each.value_units for each in drawn]),
        [each.unlisted for each in drawn],
    )


def _join_units(units: Sequence[Units | None]) -> PackedUnits:
    """The units of all groups; None if there are none."""
    found = [each for each in units if each is not None]
    if len(found) < len(units):
        return None
    if all(type(each) is bytes for each in found):
        return b"".join(found)  # type: ignore[arg-type]  # as was seen
    listed = [unpack_places(each).tolist() if isinstance(each, bytes) else each for each in found]
    return pack_units([unit for each in listed for unit in each])


def _name_winners(data: PreparedGroups, drawn: DrawnGroups) -> tuple[Any, ...] | None:
    """The names of all winners, or None if items go by their positions."""
    if data.shared_names is None and data.name is None:
        return None
    places = unpack_places(drawn.places).tolist()
    if data.name is None:
        return tuple(map(data.shared_names.__getitem__, places))
    listed = np.diff(data.ends, prepend=0).tolist()
    ends = pairwise([0, *accumulate(drawn.sizes)])
    unlisted = drawn.unlisted or [()] * len(listed)
    return tuple(
        name
        for group, (start, end) in enumerate(ends)
        for name in _name_of_group(
            data.name, group, places[start:end], listed[group], unlisted[group]
        )
    )


def _name_of_group(
    name: NameListed, group: int, places: list[int], listed: int, unlisted: Sequence[Any]
) -> list[Any]:
    """The names of a group's winners; positions go on from its answers to the unlisted."""
    if not unlisted:
        return name(group, places)
    named = iter(name(group, [place for place in places if place < listed]))
    return [next(named) if place < listed else unlisted[place - listed] for place in places]
