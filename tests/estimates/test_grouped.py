"""Estimates by group: what they cost, their law, whose answers are measured, and their forms."""

import json
import pickle
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from tests.selection.test_measurement import joint_law
from topgap import (
    AnswersError,
    Domain,
    EstimatesError,
    GroupedEstimates,
    GroupedRelease,
    Ledger,
    ParameterError,
    ReleaseError,
    TopKByGroup,
    grouped_parameters,
    law,
    top_k_by_group_with_estimates,
)
from topgap.selection import top_k_by_group
from topgap.selection import top_k_by_group_with_estimates as module
from topgap.selection.measurement import GroupedShares, Shares

REGIONS = {"North": {"flu": 900, "cold": 300, "gout": 2}, "South": {"flu": 1, "cold": 700}}
DISEASES = Domain(["flu", "cold", "gout", "rash"])


def estimated(k: int = 2, epsilon: Any = 1, **others: Any) -> GroupedEstimates:
    made: GroupedEstimates = top_k_by_group_with_estimates(
        REGIONS, k, epsilon, domain=DISEASES, **others
    )
    return made


# What it costs.
@pytest.mark.parametrize("c", [1, 3])
@pytest.mark.parametrize("share", ["1/2", "2/7"])
@pytest.mark.parametrize("monotonic", [True, False])
def test_the_parts_sum_to_epsilon_exactly(c: int, share: str, monotonic: bool) -> None:
    """Between replace-one neighbours there are measurements in c groups and in c others."""
    made = estimated(2, "3/7", groups_per_person=c, monotonic=monotonic, selection_share=share)
    select, each = made.parameters.each.epsilon, made.noise.epsilon
    assert each is not None
    sides = 1 if monotonic else 2
    assert c * (select + sides * 2 * each) == made.epsilon == Fraction(3, 7)
    assert made.release.epsilon == c * select == Fraction(share) * Fraction(3, 7)
    for group in made:
        assert (made[group].release.epsilon, made[group].noise) == (select, made.noise)


def test_the_ledger_is_charged_once_with_all_of_it(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.add_dataset("visits", epsilon=2, neighbours="replace")
    estimated(ledger=ledger, dataset="visits")
    [charge] = ledger.history("visits")
    assert charge.epsilon == 1
    assert charge.parameters["measurement_epsilon"] == "1/8"


def is_violated(shares: GroupedShares, epsilon: Fraction) -> bool:
    """Whether an output betrays who moved from one group to another by more than ε.

    In the one the person has the first item, and in the other all items. An output is what came of
    both groups, whose noise is independent.
    """
    each = Shares(shares.selection.each, shares.measurement_epsilon)
    step = each.selection.resolution

    def likeliest(with_person: list[int], without: list[int]) -> Fraction:
        ratios = []
        for winner, gap, measured in product(range(2), range(40), [0, 8]):
            outcome = (winner,), (gap,), (measured * step,)
            one, other = (
                joint_law([Fraction(n) for n in answers], each, outcome)
                for answers in (with_person, without)
            )
            ratios.append(one.low / other.high)
        return max(ratios)

    left = likeliest([4, 3], [3, 3])
    entered = likeliest([3, 3], [4, 4])
    return left * entered * law.exp_minus(epsilon, 128).low > 1


@pytest.mark.parametrize("share", ["1/4", "1/2"])
def test_no_output_betrays_a_person_who_moved_to_another_group(share: str) -> None:
    whole = TopKByGroup(1, 3, resolution=1)
    assert not is_violated(GroupedShares.of(whole, share), whole.epsilon)


@pytest.mark.mutant
def test_measurements_that_are_charged_once_are_found() -> None:
    broken = mutated(
        grouped_parameters,
        Mutant("charged once", "sides = 1 if self.monotonic else 2\n        return sides",
               "sides = 1\n        return sides"),
    )  # fmt: skip
    shares = GroupedShares.of(broken.TopKByGroup(1, 3, resolution=1), "1/2")
    assert is_violated(shares, Fraction(3))


# Whose answers are measured.
BIG = 10**30
SOURCES: dict[str, tuple[Any, dict[str, Any], dict[Any, dict[Any, Any]]]] = {}


def add_source(name: str, answers: Any, table: dict[Any, dict[Any, Any]], **others: Any) -> None:
    SOURCES[name] = answers, others, table


ROWS = np.array([[7, 50, 900], [31, -4, 2], [6, 12, 5]])
NAMED = {g: dict(enumerate(row.tolist())) for g, row in enumerate(ROWS)}
add_source("an array", ROWS, NAMED)
add_source("unsigned", ROWS.astype(np.uint64) + np.uint64(2**40),
           {g: dict(enumerate((row.astype(np.uint64) + np.uint64(2**40)).tolist()))
            for g, row in enumerate(ROWS)})  # fmt: skip
add_source("floats", ROWS / 8, {g: dict(enumerate((row / 8).tolist())) for g, row in
                                enumerate(ROWS)})  # fmt: skip
add_source("a mapping", REGIONS, {g: dict.fromkeys([*DISEASES], 0) | REGIONS[g] for g in REGIONS},
           domain=DISEASES)  # fmt: skip
LENGTHS = {"a": [5, 900, 7], "b": [30, 2, 1, 0], "c": [3, 71, 8]}
add_source("of different lengths", LENGTHS, {g: dict(enumerate(LENGTHS[g])) for g in LENGTHS})
FEW = {group: {"cold": 700} for group in range(9)}
add_source("that few have", FEW,
           {g: dict.fromkeys([*DISEASES], 0) | {"cold": 700} for g in FEW},
           domain=DISEASES)  # fmt: skip
add_source("fractions", {"a": [Decimal("-0.25"), Decimal("7.35"), Decimal("3.75")]},
           {"a": {0: Decimal("-0.25"), 1: Decimal("7.35"), 2: Decimal("3.75")}})  # fmt: skip
add_source("too large", {"a": [0, BIG, -BIG], "b": [3, BIG + 7, 5]},
           {"a": {0: 0, 1: BIG, 2: -BIG}, "b": {0: 3, 1: BIG + 7, 2: 5}})  # fmt: skip
add_source("too large, with a domain", {"a": {"flu": BIG}, "b": {}},
           {"a": dict.fromkeys([*DISEASES], 0) | {"flu": BIG},
            "b": dict.fromkeys([*DISEASES], 0)}, domain=DISEASES)  # fmt: skip


def mismeasured(name: str) -> list[Any]:
    """Where a measurement is not the winner's own answer, with noise below one step.

    Half a step of noise or more has a probability of about e^−2500.
    """
    answers, others, table = SOURCES[name]
    made = module.top_k_by_group_with_estimates(answers, 2, 10**5, monotonic=True, **others)
    assert [*made] == [*table]
    step = Fraction(1, 10)
    return [
        (group, item)
        for group, each in made.items()
        for item, measured in zip(each.items, each.measurements, strict=True)
        if measured != Fraction(table[group][item]) // step * step
    ]


@pytest.mark.statistical(false_alarm=1e-300)
@pytest.mark.parametrize("name", SOURCES)
def test_each_measurement_is_of_the_winner_in_its_own_group(name: str) -> None:
    assert mismeasured(name) == []


MISMEASURED = [
    ("an array", Mutant("of the next group", "[[0], data.ends[:-1]]", "[[0], data.ends[1:]]")),
    ("of different lengths", Mutant("of groups of one size", "[[0], data.ends[:-1]]",
                                    "[[0], data.ends[:1] * np.arange(1, len(data.ends))]")),
    ("floats", Mutant("in units", "1 if array.in_steps else steps_per_unit", "steps_per_unit")),
    ("an array", Mutant("in steps", "1 if array.in_steps else steps_per_unit", "1")),
    ("unsigned", Mutant("not shifted", "next(numbers) + array.shift", "next(numbers)")),
    ("that few have", Mutant("without an answer", "listed = at < ends_of_answers",
                         "listed = at < len(array.numbers)")),
    ("too large", Mutant("of the first group", "zip(data.singles, ends, strict=True)",
                         "zip(data.singles[:1] * len(data.singles), ends, strict=True)")),
]  # fmt: skip


@pytest.mark.statistical(false_alarm=1e-300)
@pytest.mark.parametrize(("name", "mutant"), MISMEASURED, ids=lambda each: str(each[0]))
def test_the_answers_of_others_are_found(
    monkeypatch: pytest.MonkeyPatch, name: str, mutant: Mutant
) -> None:
    broken = mutated(top_k_by_group, mutant)
    monkeypatch.setattr(module, "read_winner_steps", broken.read_winner_steps)
    assert mismeasured(name) != []


# The law: winner, gap and measurement in each of two kinds of groups.
SMALL = {"a": [2, 0], "b": [5, 6]}
GROUPS = 40_000


def joint_law_of(answers: list[Fraction], shares: Shares, outcome: Any) -> law.Bounds:
    return joint_law(answers, shares, outcome)


@pytest.mark.statistical(false_alarm=1e-9)
@pytest.mark.parametrize("monotonic", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_winners_and_measurements_have_the_law_of_their_own_group(
    monotonic: bool, false_alarm: float
) -> None:
    rows = np.array([*SMALL.values()] * (GROUPS // 2))
    made = top_k_by_group_with_estimates(rows, 1, 4, resolution=1, monotonic=monotonic)
    whole = TopKByGroup(1, 4, resolution=1, monotonic=monotonic)
    shares = GroupedShares.of(whole, "1/2").each
    seen: dict[str, list[Any]] = {name: [] for name in SMALL}
    for place, each in enumerate(made.values()):
        units = each.release.gap_units
        assert units is not None
        outcome = tuple(each.items), tuple(units.tolist()), each.measurements
        seen[[*SMALL][place % 2]].append(outcome)
    for name, outcomes in seen.items():
        answers = [Fraction(n) for n in SMALL[name]]
        cells = [o for o, _ in Counter(outcomes[: GROUPS // 20]).most_common(30)]
        rest = Counter(outcomes[GROUPS // 20 :])
        assert misfits(rest, cells, partial(joint_law_of, answers, shares), false_alarm / 2) == []


# Its forms.
def test_a_mapping_from_each_group_to_its_estimates() -> None:
    made = estimated(epsilon=10**5, groups_per_person=2, monotonic=True)
    assert [*made] == ["North", "South"]
    assert "West" not in made
    assert [(item, round(n)) for item, n in made["North"]] == [("flu", 900), ("cold", 300)]
    assert [(item, round(n)) for item, n in made["South"]] == [("cold", 700), ("flu", 1)]
    assert isinstance(made.release, GroupedRelease)
    assert made["South"].release == made.release["South"]
    assert made.cost == (
        "ε = 100000 for all 2 groups together: 50000 to select and 12500 for each measurement, at "
        "most 4 of which are about one person"
    )
    with pytest.raises(AttributeError, match="frozen"):
        made.epsilon = 1  # type: ignore


@pytest.mark.parametrize("answers", [REGIONS, {(1, "a"): {"flu": BIG}, (2, "b"): {"cold": 1}}])
def test_json_pickles_and_copies_are_equal(answers: Any) -> None:
    made = top_k_by_group_with_estimates(answers, 2, "1/3", domain=DISEASES, groups_per_person=2)
    for again in (
        GroupedEstimates.from_json(made.to_json()),
        GroupedEstimates.from_json(made.to_json(level="0.5", indent=1).encode()),
        pickle.loads(pickle.dumps(made)),  # noqa: S301
        GroupedEstimates(made.parameters, dict(made)),
    ):
        assert again == made
        assert hash(again) == hash(made)
        assert again["South" if "South" in again else (2, "b")].to_json()
    assert made != top_k_by_group_with_estimates(answers, 2, "1/3", domain=DISEASES)
    assert made != 1


def test_frames_in_long_form() -> None:
    made = estimated()
    frame = made.to_pandas()
    assert frame["group"].tolist() == ["North"] * 2 + ["South"] * 2
    assert frame["rank"].tolist() == [1, 2, 1, 2]
    assert frame["item"].tolist() == [item for each in made.values() for item in each.items]
    assert frame["estimate"].tolist() == [n for each in made.values() for n in each.estimates]
    assert [*frame] == ["group", "rank", "item", *[*made["North"].to_pandas()][1:]]
    assert made.to_polars().to_dicts() == made.to_arrow().to_pylist()


BREAKS: dict[str, Any] = {
    "format": lambda d: d.update(format="topgap.estimates/1"),
    "epsilon": lambda d: d.update(epsilon="2"),
    "noise": lambda d: d.update(noise={"kind": "discrete laplace", "epsilon_each": "1"}),
    "another noise": lambda d: d.update(noise={"kind": "laplace", "variances": ["1"], "step": "0"}),
    "no noise": lambda d: d.pop("noise"),
    "level": lambda d: d.update(level="2"),
    "a group twice": lambda d: d["groups"].append(d["groups"][0]),
    "no group": lambda d: d.update(groups=[]),
    "a measurement": lambda d: d["groups"][0]["measurements"].pop(),
    "a finer measurement": lambda d: d["groups"][0]["measurements"].__setitem__(0, "0.05"),
    "an estimate": lambda d: d["groups"][1]["estimates"].pop(),
    "a winner": lambda d: d["groups"][1]["winners"].pop(),
    "another entry": lambda d: d["groups"][1].update(more=1),
    "parameters": lambda d: d["parameters"].update(epsilon="1"),
    "no list": lambda d: d.update(groups=7),
}


@pytest.mark.parametrize("name", BREAKS)
def test_what_is_no_json_of_estimates_is_refused(name: str) -> None:
    read = json.loads(estimated().to_json())
    BREAKS[name](read)
    with pytest.raises((EstimatesError, ReleaseError), match=r"\.$"):
        GroupedEstimates.from_json(json.dumps(read))


def test_what_does_not_belong_together_is_refused() -> None:
    made, other = estimated(), estimated(epsilon=2)
    one = made["North"]
    with pytest.raises(ReleaseError):
        GroupedEstimates(made.parameters, {"North": one, "South": other["South"]})
    with pytest.raises(EstimatesError):
        GroupedEstimates(made.parameters, [one])  # type: ignore[arg-type]
    with pytest.raises(ReleaseError):
        GroupedEstimates(made.parameters, {})


def test_a_share_and_too_few_items_are_refused() -> None:
    with pytest.raises(ParameterError, match="selection_share must be below 1"):
        estimated(selection_share=1)
    with pytest.raises(AnswersError):
        top_k_by_group_with_estimates(np.array([[1, 2]]), 2, 1)


def test_a_check_draws_nothing_and_says_what_all_would_cost() -> None:
    check = top_k_by_group_with_estimates(REGIONS, 2, 1, domain=DISEASES, check=True)
    assert check.measured
    assert check.epsilon == 1
    assert check.parameters.epsilon == Fraction(1, 2) + Fraction(1, 4)
    assert "Each of 2 groups" in str(check)
