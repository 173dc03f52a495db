"""Each group's list has the law of `top_k`, and groups are independent, by every way to release."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import topgap
from tests.checking.cached_law import gap_top_k
from tests.checking.frequencies import misfits_of
from tests.checking.mutants import Mutant
from tests.checking.noisy_answers import released
from tests.selection.selector_walks import modules_on, pairs
from tests.selection.test_noisy_answers_law import published
from topgap import Domain, GroupedRelease, KernelError, Release, TopKByGroup
from topgap.domains import GroupedCounts
from topgap.law import Bounds
from topgap.selection import (
    drawing,
    grouped_answers,
    grouped_tables,
    preparation,
    top_k_by_group,
)

FIRST, SECOND = (2, 0, 1), (0, 0, 3)
"""The answers of two groups to the same three items."""

# Noise so small that what both groups tell together is often the same.
KINDS: dict[str, dict[str, Any]] = {
    "gaps": {"k": 1, "epsilon": 4, "resolution": 1, "groups_per_person": 2},
    "monotonic": {"k": 2, "epsilon": 6, "resolution": 1, "monotonic": True},
    "threshold": {"k": 2, "epsilon": 6, "resolution": 1, "monotonic": True, "threshold": 1},
    "noisy answers": {"k": 2, "epsilon": 12, "items_per_person": 1, "groups_per_person": 2},
    "noisy answers, threshold": {"k": 2, "epsilon": 3, "items_per_person": 1, "monotonic": True,
                                 "threshold": 2},
}  # fmt: skip
ARRAY = np.array([FIRST, SECOND])
DOMAIN = Domain.range(0, 3)
OCCURRING = {
    group: {i: answer for i, answer in enumerate(answers) if answer}
    for group, answers in enumerate((FIRST, SECOND))
}
FRAME = pd.DataFrame(
    [(g, i, n) for g, own in OCCURRING.items() for i, n in own.items()], columns=["g", "i", "n"]
)


def as_counts(items_per_person: int | None) -> GroupedCounts:
    """What counting gives: of each group what occurs, by the places of all names that do."""
    names = [0, 2]
    found = [sorted((names.index(i), n) for i, n in own.items()) for own in OCCURRING.values()]
    return GroupedCounts(
        [0, 1], DOMAIN, names,
        ends=np.cumsum([len(each) for each in found]),
        places=np.array([place for each in found for place, _ in each]),
        counts=np.array([count for each in found for _, count in each]),
        items_per_person=items_per_person,
    )  # fmt: skip


Way = Callable[[Any, dict[str, Any]], GroupedRelease]

WAYS: dict[str, Way] = {
    "array": lambda call, kind: call(ARRAY, **kind),
    "threads": lambda call, kind: call(ARRAY, threads=2, **kind),
    "constant work": lambda call, kind: call(ARRAY, constant_work=True, **kind),
    "uint64": lambda call, kind: call(ARRAY.astype(np.uint64), **kind),
    "floats": lambda call, kind: call(ARRAY + 0.25, **kind),
    "array with a domain": lambda call, kind: call(ARRAY, items=[0, 1, 2], domain=DOMAIN, **kind),
    "lists": lambda call, kind: call({0: FIRST, 1: SECOND}, **kind),
    "dicts with a domain": lambda call, kind: call(OCCURRING, domain=DOMAIN, **kind),
    "counts": lambda call, kind: call(as_counts(kind.get("items_per_person")), **kind),
    "frame": lambda call, kind: call(
        FRAME, by="g", item="i", count="n", groups=[0, 1], domain=DOMAIN, **kind
    ),
    # One by one: lists of ints beside floats, and numbers that the kernel takes shifted.
    "different kinds": lambda call, kind: call({0: FIRST, 1: [n + 0.5 for n in SECOND]}, **kind),
    "fractions": lambda call, kind: call(
        {0: [Fraction(3 * n + 1, 3) for n in FIRST], 1: SECOND}, **kind
    ),
}


def tell(release: Release) -> Any:
    return pairs(release) if release.value_units is None else published(release)


@cache
def law_of(kind: str, group: int, told: Any) -> Bounds:
    """What one group's release alone tells, by the law of the list with its part of ε."""
    each = TopKByGroup(**KINDS[kind]).each
    answers = (FIRST, SECOND)[group]
    if each.noise == "laplace":
        return released(dict(enumerate(answers)), each, told)
    return gap_top_k(answers, each, told)


def product_law(kind: str, told: Sequence[Any]) -> Bounds:
    low = high = Fraction(1)
    for group, each in enumerate(told):
        bounds = law_of(kind, group, each)
        low, high = low * bounds.low, high * bounds.high
    return Bounds(low, high)


def misfitting(kind: str, way: Way, call: Any, alarm: float, runs: int = 3_000) -> list[str]:
    """How what both groups tell together misses the product of their laws.

    The releases are independent, and `misfits_of` errs no more often than it is told.
    """

    def run() -> Any:
        made = way(call, KINDS[kind])
        assert [*made] == [0, 1]
        return tuple(map(tell, made.values()))

    return misfits_of(run, runs, lambda told: product_law(kind, told), alarm)


QUICK = {("monotonic", "array"), ("monotonic", "counts"), ("noisy answers", "threads")}
CASES = [
    pytest.param(kind, way, marks=() if (kind, way) in QUICK else pytest.mark.slow)
    for kind in KINDS
    for way in WAYS
]


@pytest.mark.statistical(false_alarm=1e-10)
@pytest.mark.parametrize(("kind", "way"), CASES)
def test_lists_of_groups_have_the_product_of_their_laws(
    kind: str, way: str, false_alarm: float
) -> None:
    assert misfitting(kind, WAYS[way], topgap.top_k_by_group, false_alarm) == []


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-10)
@pytest.mark.parametrize("kind", ["gaps", "monotonic", "threshold"])
def test_so_they_have_where_numbers_are_too_large_for_the_kernel(
    kind: str, false_alarm: float
) -> None:
    """One more item each, so far below that it wins with a probability below e^−(2^60)."""
    low = np.array([[*FIRST, -(2**70)], [*SECOND, -(2**70)]], dtype=object)
    assert misfitting(
        kind, lambda call, kind: call(low, **kind), topgap.top_k_by_group, false_alarm, 1_000
    ) == []  # fmt: skip


# --- Broken on purpose

MODULES = [preparation, drawing, grouped_tables, grouped_answers, top_k_by_group]


def broken(mutant: Mutant) -> Any:
    return modules_on(mutant, MODULES)[top_k_by_group.__name__].top_k_by_group


BROKEN = [
    ("monotonic", "array", Mutant("the rows one item off",
     "ends = np.arange(1, rows + 1, dtype=np.int64) * columns",
     "ends = np.arange(1, rows + 1, dtype=np.int64) * columns\n    ends[0] += 1")),
    ("monotonic", "counts", Mutant("names of the first group for all",
     "counts.names[counts.places[start + place]]",
     "counts.names[counts.places[place % len(counts.places)]]")),
    ("monotonic", "counts", Mutant("the first group asked who is listed",
     "return counts.find(group, names)", "return counts.find(0 * group, names)")),
    ("monotonic", "counts", Mutant("nobody is listed",
     "return find_places(group, asked[group], ranks) if",
     "find_places(group, asked[group], ranks)\n        return () if")),
    ("monotonic", "dicts with a domain", Mutant("the domain's other members have 1",
     "run=None if data.run_size is None else (0, data.run_size)",
     "run=None if data.run_size is None else (1, data.run_size)")),
    ("monotonic", "dicts with a domain", Mutant("a run of one member less",
     "run_size=None if common is None else common.size",
     "run_size=None if common is None else common.size - 1")),
    ("threshold", "array", Mutant("no sentinel",
     "floor, sentinel = (None, data.cut) if each.has_sentinel else (data.cut, None)\n"
     "    winners", "floor, sentinel = None, None\n    winners")),
    ("threshold", "uint64", Mutant("the sentinel not shifted with the answers",
     "None if units is None else units - shift_in_steps(parameters, array)", "units")),
    ("noisy answers", "uint64", Mutant("noisy answers not shifted back",
     "[each + shift for each in noisy]", "noisy")),
    ("noisy answers", "array", Mutant("the next noisy answer goes to the next group",
     "_split_numbers(numbers, counts)", "_split_numbers(numbers, winners)")),
    ("gaps", "array", Mutant("each group with all of epsilon",
     "each, array = parameters.each, data.array\n    kernel = each.kernel",
     "each, array = parameters.each, data.array\n"
     "    kernel = type(each)(each.k, parameters.epsilon, resolution=each.resolution).kernel")),
    ("gaps", "different kinds", Mutant("the first group drawn for all",
     "_join([draw(each, single) for single in data.singles])",
     "_join([draw(each, data.singles[0]) for _ in data.singles])")),
    ("gaps", "different kinds", Mutant("one draw for all groups",
     "_join([draw(each, single) for single in data.singles])",
     "_join([draw(each, data.singles[0])] * len(data.singles))")),
]  # fmt: skip


@pytest.mark.statistical(false_alarm=1e-10)
@pytest.mark.parametrize(
    ("kind", "way", "mutant"), BROKEN, ids=lambda each: getattr(each, "name", each)
)
def test_broken_groups_are_found(kind: str, way: str, mutant: Mutant, false_alarm: float) -> None:
    try:
        assert misfitting(kind, WAYS[way], broken(mutant), false_alarm) != []
    except (KernelError, ValueError, TypeError, IndexError):  # as the kernel refuses it
        return


# --- Threads


def lists_of(ways: GroupedRelease) -> list[tuple[Any, ...]]:
    return [release.items for release in ways.values()]


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("kind", [{}, {"items_per_person": 1}, {"constant_work": True}], ids=str)
def test_no_two_groups_share_noise_whichever_thread_draws_them(
    kind: dict[str, Any], threads: int
) -> None:
    """Of 64 equal items 32 are named, in an order that is uniform among more than 10^53.

    So two of these 40 lists are the same with a probability below 10^−50.
    """
    if "constant_work" in kind:
        kind = kind if threads == 1 else {}
    made = topgap.top_k_by_group(np.zeros((40, 64), dtype=int), 32, 1, threads=threads, **kind)
    assert len({*lists_of(made)}) == 40


def test_noise_that_is_shared_would_be_seen() -> None:
    """Groups that are drawn one after the other from the beginning of one stream."""
    each = TopKByGroup(32, 1).each
    assert each.kernel is not None
    streams = topgap._core.Streams()
    drawn = {
        each.kernel.release_groups(
            np.zeros(64, dtype=np.int64), np.array([64]), in_steps=False, threads=1,
            stream=streams.open(number),
        )[1]
        for number in (7, 7, 8)
    }  # fmt: skip
    assert len(drawn) == 2
