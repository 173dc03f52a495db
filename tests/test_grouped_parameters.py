"""What a list for each group costs, held against the exact law of all groups together."""

import copy
import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import FrozenInstanceError
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from typing import Any

import pytest

from tests.checking import cached_law as law
from tests.checking.mutants import Mutant, mutated
from tests.law.test_privacy import Answers
from tests.law.test_threshold_privacy import NARROW, largest_ratios
from topgap import ParameterError, ParameterTypeError, TopKByGroup, grouped_parameters
from topgap.law import Bounds

NOBODY, COMES, LEAVES, BOTH = (0,), (0, 1), (-1, 0), (-1, 0, 1)
"""How answers of a group may move: those of somebody who comes, leaves, or is replaced in it."""

EACH_ANSWERS: list[Any] = [(0, 0), pytest.param((1, 0), marks=pytest.mark.deep)]


def moved(answers: Answers, moves: tuple[int, ...]) -> Iterator[Answers]:
    for each in product(moves, repeat=len(answers)):
        yield tuple(answer + move for answer, move in zip(answers, each, strict=True))


@cache
def ratios(each: Any, moves: tuple[int, ...], answers: Answers) -> dict[int, Bounds]:
    """The largest P(before)/P(after) in one group, for each number of winners."""
    found = [largest_ratios(answers, after, each) for after in moved(answers, moves)]
    return {
        j: Bounds(max(one[j].low for one in found), max(one[j].high for one in found))
        for j in found[0]
    }


def neighbours(groups: int, most: int, *, replaced: bool) -> Iterator[tuple[tuple[int, ...], ...]]:
    """How the answers of each group may move from one data set to a neighbouring one."""
    if not replaced:
        for moves in ((NOBODY, COMES), (NOBODY, LEAVES)):
            for each in product(moves, repeat=groups):
                if groups - each.count(NOBODY) <= most:
                    yield each
        return
    for each in product((NOBODY, COMES, LEAVES, BOTH), repeat=groups):
        shared = each.count(BOTH)
        if max(each.count(COMES), each.count(LEAVES)) + shared <= most:
            yield each


def largest_excess(parameters: TopKByGroup, sizes: Sequence[int], answers: Answers) -> Bounds:
    """Bounds of the largest ratio of an output with such lists, over e^cost.

    Groups are independent, so that the ratio of all of it is the product of those of the groups.
    """
    each, replaced = parameters.each, not parameters.monotonic
    found = [
        [ratios(each, moves, answers)[j] for moves, j in zip(chosen, sizes, strict=True)]
        for chosen in neighbours(len(sizes), parameters.groups_per_person, replaced=replaced)
    ]
    down = law.exp_minus(parameters.cost(sizes), 128)
    return Bounds(
        max(prod((ratio.low for ratio in one), start=down.low) for one in found),
        max(prod((ratio.high for ratio in one), start=down.high) for one in found),
    )


def with_threshold(most: int, *, monotonic: bool, k: int = 2, **more: Any) -> TopKByGroup:
    return TopKByGroup(
        k, "1/2", groups_per_person=most, resolution=1, monotonic=monotonic, threshold=0, **more
    )


MOSTS = [1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("most", MOSTS)
@pytest.mark.parametrize("answers", EACH_ANSWERS)
def test_no_output_tells_more_than_it_costs(answers: Answers, most: int, monotonic: bool) -> None:
    parameters = with_threshold(most, monotonic=monotonic)
    for sizes in product(range(3), repeat=3):
        assert largest_excess(parameters, sizes, answers).high <= NARROW**3
        assert parameters.cost(sizes) <= parameters.epsilon


@pytest.mark.slow
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("most", MOSTS)
def test_and_with_lists_that_the_threshold_ended_it_costs_no_less(
    most: int, monotonic: bool
) -> None:
    """With j < k winners in each group, the ratio is reached that the cost bounds."""
    parameters = with_threshold(most, monotonic=monotonic)
    for sizes in product(range(2), repeat=3):
        assert largest_excess(parameters, sizes, (0, 0)).low >= 1 / NARROW**3


# --- Lists that are full cost all of it


def largest_loss(parameters: TopKByGroup, moves: Sequence[tuple[int, ...]]) -> Bounds:
    """Bounds of the largest ratio over e^ε where the answers of these groups move so."""
    down = law.exp_minus(parameters.epsilon, 128)
    (k,) = {parameters.each.k}
    found = [ratios(parameters.each, each, (0,) * (k + 1))[k] for each in moves]
    return Bounds(
        prod((ratio.low for ratio in found), start=down.low),
        prod((ratio.high for ratio in found), start=down.high),
    )


@pytest.mark.parametrize("most", [1, 2])
def test_a_person_who_replaces_one_of_other_groups_costs_epsilon(most: int) -> None:
    parameters = TopKByGroup(1, "1/2", groups_per_person=most, resolution=1)
    for moves in ([COMES, LEAVES] * most, [BOTH] * most, [COMES, LEAVES] * (most - 1) + [BOTH]):
        loss = largest_loss(parameters, moves)
        assert 1 / NARROW**4 <= loss.low <= loss.high <= NARROW**4


@pytest.mark.parametrize("most", [1, 2])
def test_where_one_person_moves_answers_both_ways_twice_the_groups_are_needed(most: int) -> None:
    """Of 2c groups all answers move both ways, if c are left and c entered."""
    parameters = TopKByGroup(1, "1/2", groups_per_person=most, resolution=1)
    twice = TopKByGroup(1, "1/2", groups_per_person=2 * most, resolution=1)
    assert largest_loss(parameters, [BOTH] * 2 * most).low > 1
    assert largest_loss(twice, [BOTH] * 2 * most).high <= NARROW**4


def test_noise_for_one_who_comes_is_too_little_for_one_who_replaces_another() -> None:
    parameters = TopKByGroup(1, "1/2", resolution=1, monotonic=True)
    assert largest_loss(parameters, [COMES]).high <= NARROW
    assert largest_loss(parameters, [COMES, LEAVES]).low > 1


# --- Broken on purpose

CHOICE = "sum(nlargest(self.groups_per_person, costs), Fraction(0))"
TOO_LITTLE = [
    Mutant("the mean of all groups", CHOICE,
           "self.groups_per_person * sum(costs, Fraction(0)) / len(costs)"),
    Mutant("the costliest group alone", CHOICE, "max(costs)"),
    Mutant("the cheapest groups", CHOICE, "sum(sorted(costs)[: self.groups_per_person])"),
    Mutant("one group too few", CHOICE, "sum(nlargest(self.groups_per_person - 1, costs))"),
    Mutant("nothing for an empty list", CHOICE,
           "sum(self.each.cost(j) for j in nlargest(self.groups_per_person, winners) if j)"),
    Mutant("half where persons are replaced", CHOICE,
           "sum(nlargest(self.groups_per_person, costs)) / (1 if self.monotonic else 2)"),
    Mutant("all of epsilon for each group", "share = self.epsilon / self.groups_per_person",
           "share = self.epsilon"),
]  # fmt: skip
TOO_MUCH = [
    Mutant("one group too many", CHOICE, "sum(nlargest(self.groups_per_person + 1, costs))"),
    Mutant("all groups", CHOICE, "sum(costs)"),
    Mutant("all of epsilon", CHOICE, "self.epsilon"),
    Mutant("both who leaves and who comes in groups of their own", CHOICE,
           "sum(nlargest((1 if self.monotonic else 2) * self.groups_per_person, costs))"),
]  # fmt: skip


def broken(mutant: Mutant) -> Any:
    return mutated(grouped_parameters, mutant).TopKByGroup


def excesses(mutant: Mutant) -> Iterator[Bounds]:
    for monotonic in (True, False):
        parameters = broken(mutant)(
            2, "1/2", groups_per_person=2, resolution=1, monotonic=monotonic, threshold=0
        )
        for sizes in ((0, 0, 0), (1, 0, 0), (1, 1, 0)):
            yield largest_excess(parameters, sizes, (0, 0))


@pytest.mark.parametrize("mutant", TOO_LITTLE, ids=lambda mutant: mutant.name)
def test_a_cost_that_is_too_small_is_found(mutant: Mutant) -> None:
    if "share" in mutant.old:  # the noise is too small, and not its cost
        made = broken(mutant)(1, "1/2", groups_per_person=2, resolution=1, monotonic=True)
        assert largest_loss(made, [COMES, COMES]).low > NARROW**2
        return
    assert any(excess.low > NARROW**3 for excess in excesses(mutant))


@pytest.mark.parametrize("mutant", TOO_MUCH, ids=lambda mutant: mutant.name)
def test_a_cost_that_is_too_large_is_found(mutant: Mutant) -> None:
    assert any(excess.high < 1 / NARROW**3 for excess in excesses(mutant))


# --- The parameters themselves


def test_each_group_gets_its_part() -> None:
    parameters = TopKByGroup(10, 1, groups_per_person=3, monotonic=True, threshold=7)
    assert parameters.each.epsilon == Fraction(1, 3)
    assert parameters.each.scale == 30
    assert parameters.least_cost == Fraction(1, 10)
    assert parameters.cost([]) == 0
    assert TopKByGroup(2, 1, groups_per_person=10**18, threshold=7).least_cost == Fraction(1, 4)
    assert parameters.cost([0, 0]) == Fraction(2, 30)
    assert parameters.cost(iter([9, 10, 4, 10])) == 1


def test_without_a_sentinel_all_outputs_cost_the_same() -> None:
    for parameters, sizes in (
        (TopKByGroup(3, 1, groups_per_person=2), [3, 3]),
        (TopKByGroup(3, 1, items_per_person=1, threshold=2), [0, 3, 1]),
    ):
        assert parameters.cost(sizes) == parameters.least_cost == 1


@pytest.mark.parametrize(
    ("sizes", "error"),
    [
        ([4], ParameterError),
        ([-1], ParameterError),
        ([1.5], ParameterTypeError),
        ([True], ParameterTypeError),
    ],
)
@pytest.mark.parametrize("threshold", [None, 5])
def test_sizes_that_cannot_be_are_refused(
    sizes: list[Any], error: type[Exception], threshold: int | None
) -> None:
    parameters = TopKByGroup(3, 1, threshold=threshold)
    with pytest.raises(error):
        parameters.cost(sizes)


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"groups_per_person": 0}, ParameterError, "groups_per_person"),
    ({"groups_per_person": 1.0}, ParameterTypeError, "groups_per_person"),
    ({"groups_per_person": True}, ParameterTypeError, "groups_per_person"),
    ({"groups_per_person": None}, ParameterTypeError, "groups_per_person"),
    ({"groups_per_person": 10**2000}, ParameterError, "groups_per_person must be smaller"),
    ({"epsilon": 0}, ParameterError, "epsilon"),
    ({"k": None}, ParameterError, "k is missing"),
    ({"noise": "laplace"}, ParameterError, "items_per_person"),
]


@pytest.mark.parametrize(("given", "error", "word"), REFUSED)
def test_what_cannot_be_used_is_refused(
    given: dict[str, Any], error: type[Exception], word: str
) -> None:
    with pytest.raises(error, match=word) as caught:
        TopKByGroup(**{"k": 1, "epsilon": 1, **given})
    assert str(caught.value).endswith(".")


MADE = [
    TopKByGroup(10, 1),
    TopKByGroup(10, "1/3", groups_per_person=7, monotonic=True, resolution="1/2", sensitivity=2),
    TopKByGroup(10, 1, items_per_person=2, threshold="1/2"),
    TopKByGroup(10, 1, threshold=-3, groups_per_person=2),
]


@pytest.mark.parametrize("parameters", MADE, ids=str)
def test_they_come_back_from_what_is_written(parameters: TopKByGroup) -> None:
    written = parameters.to_dict()
    assert TopKByGroup.from_dict(json.loads(json.dumps(written))) == parameters
    assert pickle.loads(pickle.dumps(parameters)) == parameters  # noqa: S301
    assert eval(repr(parameters), {"TopKByGroup": TopKByGroup}) == parameters  # noqa: S307
    assert len({*MADE, parameters, copy.copy(parameters)}) == len(MADE)
    with pytest.raises(ParameterError, match="group_epsilon"):
        TopKByGroup.from_dict({**written, "group_epsilon": "1/1000"})
    with pytest.raises(FrozenInstanceError):
        parameters.epsilon = Fraction(1)  # type: ignore[misc]
