"""Plans for contribution bounds: Laplace noise by its law, and what a bound leaves out."""

import json
import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure as Chart

from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from topgap import (
    AnswersError,
    ItemsError,
    ParameterError,
    ParameterTypeError,
    Plan,
    TopgapError,
    TopK,
    plan,
)
from topgap.domains import Counts, Domain
from topgap.law import Bounds
from topgap.margins import people_needed
from topgap.planning import Figure, simulation
from topgap.planning.advice import advise
from topgap.planning.bounded_counts import BoundedCounts, match_counts
from topgap.planning.public_counts import PublicCounts
from topgap.planning.rows import BoundRow, Lists, ReleasedErrors, Row
from topgap.planning.statistics import Median

SURE = 1000  # at this ε noise is not 0 with a probability below 10^−400

# --- The noise


def laplace(x: int, rate: float) -> Bounds:
    """The probability of x steps: (1 − t)/(1 + t)·t^|x| with t = e^−rate, to 10 digits."""
    t = math.exp(-rate)
    exact = Fraction((1 - t) / (1 + t) * t ** abs(x))
    return Bounds(exact * (1 - Fraction(1, 10**10)), exact * (1 + Fraction(1, 10**10)))


WINNERS: dict[str, Any] = {
    "int64": np.array([10**6, 10**5, 0]),
    "uint64, which is shifted": np.array([2**63 + 10**6, 2**63 + 10**5, 5], dtype=np.uint64),
    "steps": [10**6 + 0.5, 10**5 + 0.5, -1.0],
    "too large for the kernel": [10**30, 10**29, 0],
}


def unlikely_noise(module: Any, name: str, parameters: TopK, false_alarm: float) -> list[str]:
    """Whether noise of clear winners is the law's: of the first, and of the second."""
    counts = PublicCounts.of(WINNERS[name], parameters)
    batches = module.simulate_releases(counts, parameters, 4_000, lambda _: None)
    noise = np.concatenate([drawn.gaps for drawn in batches])
    law, found = partial(laplace, rate=float(parameters.rate)), []
    for column in noise.T:
        seen = Counter(column.tolist())
        found += misfits(seen, [*range(-3, 4)], law, false_alarm / 2)
    return found


@pytest.mark.parametrize("name", WINNERS)
@pytest.mark.statistical(false_alarm=1e-9)
def test_the_noise_is_laplace_noise_however_counts_are_stored(
    name: str, false_alarm: float
) -> None:
    # Noise of scale 2 steps; two winners are looked at, each at half of the rate.
    few = TopK(2, "1/2", monotonic=True, items_per_person=1)
    assert unlikely_noise(simulation, name, few, false_alarm) == []


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-9)
def test_noise_too_large_for_the_kernel_goes_the_slow_way(
    false_alarm: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = TopK(2, "1/2", monotonic=True, items_per_person=1)
    monkeypatch.setattr(TopK, "kernel", None)
    for name in ("int64", "uint64, which is shifted"):
        assert unlikely_noise(simulation, name, few, false_alarm / 2) == []


@pytest.mark.parametrize(("mutant", "name"), [
    (Mutant("values for noise", "- counts.steps(winners, parameters, gaps.dtype)", ""), "int64"),
    (Mutant("the next for the winner", "gaps[:, : parameters.k] -", "gaps[:, 1 : parameters.k + 1] -"), "int64"),  # noqa: E501
    (Mutant("a step too many", "gaps[:, : parameters.k] -", "gaps[:, : parameters.k] + 1 -"), "int64"),  # noqa: E501
], ids=lambda each: getattr(each, "name", ""))  # fmt: skip
def test_other_noise_is_found(mutant: Mutant, name: str) -> None:
    # Of 4,000, half are 0 in place of none; or none, in place of half.
    few = TopK(2, "1/2", monotonic=True, items_per_person=1)
    assert unlikely_noise(mutated(simulation, mutant), name, few, 1e-9) != []


def probability_right(ahead: int, rate: float) -> Bounds:
    """That the second of three is ahead of the third, which is so many steps behind, or ties."""
    t = math.exp(-rate)
    noise = [(1 - t) / (1 + t) * t ** abs(x) for x in range(-400, 401)]
    difference = np.convolve(noise, noise)  # from −800 on
    middle = 800 - ahead
    exact = Fraction(float(difference[middle + 1 :].sum() + difference[middle] / 2))
    return Bounds(exact - Fraction(1, 10**9), exact + Fraction(1, 10**9))


@pytest.mark.parametrize(("parameters", "ahead"), [
    ({"epsilons": "1/4", "monotonic": True}, 3), ({"epsilons": 1}, 2),
    ({"epsilons": 1, "sensitivity": 2, "monotonic": True}, 5),
])  # fmt: skip
@pytest.mark.statistical(false_alarm=1e-9)
def test_lists_are_right_as_often_as_the_law_says(
    parameters: dict[str, Any], ahead: int, false_alarm: float
) -> None:
    (row,) = plan(
        [10**6, 50 + ahead, 50], 2, releases=20_000, items_per_person=1, **parameters
    ).rows
    (bound,) = row.bounds
    sides = 1 if parameters.get("monotonic") else 2
    scale = sides * Fraction(parameters.get("sensitivity", 1)) / Fraction(parameters["epsilons"])
    assert (bound.scale, bound.noise, bound.items_per_person) == (scale, "laplace", 1)
    happened = round(bound.lists.right.value * 20_000)
    seen = Counter({True: happened, False: 20_000 - happened})
    law = probability_right(ahead, float(1 / scale))
    assert misfits(seen, [True], lambda _: law, false_alarm) == []
    assert bound.lists.overlap.value == pytest.approx(1 + bound.lists.right.value)


# --- What a bound leaves out


def off_by(bound: BoundRow) -> tuple[float, float]:
    """The median error and the bias of a bound with Laplace noise."""
    assert bound.errors is not None
    return bound.errors.median.value, bound.errors.bias.value


COUNTS = {"ash": 1_000, "elm": 700, "oak": 400, "yew": 10}


@pytest.mark.parametrize("bounded", [
    {"elm": 690, "oak": 100, "ash": 600, "yew": 0}, {"oak": 100, "elm": 690, "ash": 600},
    {"oak": 100.0, "elm": Fraction(690), "ash": 600},
    pd.Series({"yew": 0, "ash": 600, "elm": 690, "oak": 100}),
])  # fmt: skip
@pytest.mark.parametrize("given", [COUNTS, pd.Series(COUNTS)])
def test_what_is_left_out_is_in_the_errors(given: Any, bounded: Any) -> None:
    (row,) = plan(given, 3, SURE, releases=50, items_per_person={2: bounded}).rows
    (bound,) = row.bounds
    assert off_by(bound) == pytest.approx((300, -710 / 3))
    assert (bound.lists.right.value, bound.lists.in_order.value) == (1, 0)  # elm before ash


def test_lists_are_compared_with_the_largest_of_all_items() -> None:
    kept = {"ash": 1_000, "elm": 2, "oak": 400, "yew": 10}
    made = plan(COUNTS, 2, SURE, releases=50, items_per_person={1: kept, 2: COUNTS})
    one, two = made.rows[0].bounds
    assert (one.lists.right.value, one.lists.overlap) == (0, Figure(1, 0))
    assert off_by(one) == pytest.approx((0, 0))
    assert (two.noise, two.errors, two.lists.overlap) == ("exponential", None, Figure(2, 0))
    assert made.is_truncated
    assert made.items_per_person == (1, 2)


def test_counts_alone_have_the_effect_of_noise_alone() -> None:
    made = plan([9, 8, 0, 0], 3, SURE, releases=50, items_per_person=[2, 1, 2])
    assert not made.is_truncated
    assert made.items_per_person == (1, 2)
    for bound in made.rows[0].bounds:
        assert off_by(bound) == pytest.approx((0, 0))
        assert bound.lists.right.value == 1
    (row,) = plan([9, 8, 0, 0], 3, SURE, releases=50, items_per_person={1: [7, 8, 0, 0]}).rows
    assert off_by(row.bounds[0]) == pytest.approx((0, -2 / 3))


@pytest.mark.parametrize("domain", [
    10**12, ["ash", "elm", "oak", "lime"], Domain(["lime", "oak", "elm", "ash"]),
    Domain.pattern("[a-z]{3,4}"),
])  # fmt: skip
@pytest.mark.statistical(false_alarm=1e-12)
def test_with_a_domain_its_members_take_part(domain: Any) -> None:
    # Of noise of scale 1/10, 100 draws have a sum of 100, or one of them 5 steps, with a
    # probability below 10^−18.
    kept = {"elm": 690, "ash": 600}
    (row,) = plan(
        COUNTS, 2, 10, releases=50, monotonic=True, domain=domain, items_per_person={1: kept}
    ).rows
    (bound,) = row.bounds
    median, bias = off_by(bound)
    assert median == pytest.approx(10, abs=4)
    assert bias == pytest.approx(-205, abs=1)
    assert bound.lists.empty == Figure(0, 0)
    parameters = TopK(2, 10, monotonic=True, items_per_person=1)
    size = getattr(domain, "size", domain)
    size = size if isinstance(size, int) else len(size)
    assert bound.lists.people_needed == people_needed(parameters, size)
    counts = Counts(COUNTS, domain=Domain.pattern("[a-z]{3}"))
    made = plan(counts, 2, 10, releases=5, items_per_person={1: Counts(kept)})
    assert (made.domain_size, made.items) == (26**3, 4)


@pytest.mark.statistical(false_alarm=1e-12)
def test_items_that_nobody_has_can_be_named() -> None:
    # One of 10^12 noises of mean 100 exceeds 500 with a probability of 1 − 10^−2,900.
    (row,) = plan(
        COUNTS, 3, "1/100", releases=50, monotonic=True, domain=10**12, items_per_person=1
    ).rows
    empty = row.bounds[0].lists.empty
    assert empty is not None
    assert empty.value >= 1


@pytest.mark.parametrize(("bounds", "kind", "said"), [
    ([], ParameterError, "must have a bound"), ({}, ParameterError, "must have a bound"),
    (0, ParameterError, "items_per_person must be at least 1"),
    ([1, 2.5], ParameterTypeError, "items_per_person must be a whole number"),
    ({"2": COUNTS}, ParameterTypeError, "items_per_person must be a whole number"),
    ({1: COUNTS | {"ash": 1_001}}, AnswersError, "is larger than that of all items"),
    ({1: [1, 1, 1, 1]}, ItemsError, "names of their items, or none"),
    ({1: "abc"}, TopgapError, "not str"), ({1: None}, TopgapError, "not NoneType"),
    ({1: COUNTS | {"ash": float("nan")}}, AnswersError, "finite"),
    ({1: Counts(COUNTS, items_per_person=2)}, ParameterError, "count with items_per_person=1"),
])  # fmt: skip
def test_bounds_that_cannot_be_planned(bounds: Any, kind: type[TopgapError], said: str) -> None:
    with pytest.raises(kind, match=said) as error:
        plan(COUNTS, 2, 1, releases=2, items_per_person=bounds)
    assert str(error.value).endswith(".")
    assert "1001" not in str(error.value)


def test_counts_without_names_are_of_as_many_items() -> None:
    for bounded, kind in (([3, 2], AnswersError), ({"ash": 3, "elm": 2, "oak": 1}, ItemsError)):
        with pytest.raises(kind):
            plan([3, 2, 1], 2, 1, releases=2, items_per_person={1: bounded})
    assert match_counts([3, 2], None, None, 2) == [3, 2]


def test_differences_are_exact() -> None:
    few = TopK(2, 1, items_per_person=1)
    large = [2**62, 2**53 + 1, 2**53]
    of_all = PublicCounts.of(np.array(large), few)
    bounded = BoundedCounts.of([2**62 - 1, 2**53, 0], of_all, few)
    assert bounded.missing.tolist() == [1, 1, 2**53]


def test_there_are_fewer_releases_unless_their_number_is_given() -> None:
    assert plan([3, 2, 1], 2, 1, items_per_person=1).releases == 2_000
    assert plan([3, 2, 1], 2, 1).releases == 10_000
    reported: list[float | None] = []
    plan(
        [3, 2, 1], 2, [1, 2], releases=10, items_per_person=[1, 2],
        progress=lambda _, share: reported.append(share),
    )  # fmt: skip
    assert reported == pytest.approx([i / 8 for i in range(1, 9)])


def test_errors_of_any_size_are_told() -> None:
    (row,) = plan([5, 4, 3], 2, "1e-99", releases=5, sensitivity=10**300, items_per_person=1).rows
    assert math.isinf(off_by(row.bounds[0])[0])
    (row,) = plan([5, 4, 3], 2, "1e-99", releases=5, items_per_person=1).rows
    assert 1e98 < off_by(row.bounds[0])[0] < 1e101
    (row,) = plan([5, 4, 3], 2, 100, releases=50, resolution="1/10", items_per_person=1).rows
    assert off_by(row.bounds[0])[0] in (0, 0.1)


# --- Medians


def test_a_median_is_that_of_all_numbers() -> None:
    median = Median()
    for part in ([[1.0, 9.0, 2.0]], [[5.0, 1.0, 7.0], [3.0, 3.0, 8.0]]):
        median.add(np.array(part))
    assert median.figure(Fraction(1)).value == 3
    assert median.figure(Fraction(1, 2)).value == 1.5


@pytest.mark.statistical(false_alarm=1e-10)
def test_its_standard_error_is_that_of_the_median() -> None:
    # The median of 4,000 numbers between 0 and 1 has the standard error 1/√16,000 = 0.0079. Whole
    # releases of 4 equal numbers tell no more than one number: 0.0158. The shares below the median
    # are known to 1/√4,000, so an estimate is off by a half with a probability below 10^−10 by
    # Hoeffding's inequality for the numbers between the two quantiles.
    numbers = np.random.default_rng(5).random((1_000, 4))
    for values, error in ((numbers, 0.0079), (numbers[:, :1].repeat(4, axis=1), 0.0158)):
        median = Median()
        median.add(values)
        assert error / 1.5 < median.figure(Fraction(1)).standard_error < error * 1.5


# --- Advice


def make_row(
    names: float, estimates: tuple[float, float], bounds: Iterable[tuple[int, float, float]]
) -> Row:
    """A row with so many right without a bound; with counts, and how far these are off; and so
    with each bound. A negative error stands for exponential noise.
    """

    def lists(overlap: float) -> Lists:
        return Lists(Figure(0, 0), Figure(0, 0), Figure(overlap, 0))

    def errors(median: float) -> ReleasedErrors:
        return ReleasedErrors(Figure(median, 0), Figure(0, 0))

    rows = tuple(
        BoundRow(bound, "laplace", Fraction(1), Fraction(1), lists(overlap), errors(median))
        if median >= 0
        else BoundRow(bound, "exponential", Fraction(1), Fraction(1), lists(overlap), None)
        for bound, overlap, median in bounds
    )
    zero = Figure(0, 0)
    of_estimates = errors(estimates[1])
    return Row(
        Fraction(1), lists(names), lists(estimates[0]), zero, zero, 0, 0, of_estimates, rows
    )  # fmt: skip


@pytest.mark.parametrize(("rows", "truncated", "said"), [
    # The most are right with 2; of 2 and 5, which are close, 5 has the better counts.
    ([(21, (18, 40), [(1, 22, 9), (2, 24.1, 3), (5, 23.0, 1)])], True,
     ["With at most 2 items per person, Laplace noise names 24.10 of 25 right and counts have an "
      "error of 3; without a bound 21.00 are right, or 18.00 with counts that have an error of "
      "40."]),
    ([(21, (18, 40), [(2, 24.1, 3), (5, 24.0, 1)])], True, ["With at most 5 items"]),
    ([(21, (18, 40), [(2, 20, 3)])], True, ["Without a bound 21.00 are right, or 18.00 with"]),
    ([(21, (21, 2), [(2, 21, 3)])], True, ["Without a bound 21.00 are right"]),
    # Of counts, the largest bound that is as good as none.
    ([(21, (18, 40), [(1, 25, 1), (2, 22, 3), (5, 20, 9)])], False,
     ["With at most 2 items per person, if that leaves out little, Laplace noise names 22.00"]),
    ([(21, (18, 40), [(1, 20, 1), (2, 19, 3)])], False, ["Without a bound 21.00 are right"]),
    # Values of ε that agree share a sentence.
    ([(9, (8, 40), [(1, 20, 3)]), (10, (9, 30), [(1, 25, 2)])], True,
     ["With at most 1 item per person, Laplace noise names 20.00 to 25.00 of 25 right and counts "
      "have an error of 3 to 2; without a bound 9.00 to 10.00 are right, or 8.00 to 9.00 with"]),
    ([(9, (8, 40), [(1, 20, 3)]), (25, (9, 30), [(1, 20, 2)])], True,
     ["ε = 1: with at most 1 item", "ε = 1: without a bound 25.00 are right"]),
    ([(9, (8, 40), [(30, 20, -1)])], True, ["No bound is less than k = 25, so all have the noise"]),
    ([(9, (8, 40), [(1, 20, 3), (30, 25, -1)])], True, ["With at most 1 item"]),
    ([(9, (8, 40), [])], True, []),
])  # fmt: skip
def test_advice_says_which_bound_is_worth_having(
    rows: list[Any], truncated: bool, said: list[str]
) -> None:
    advice = advise([make_row(*row) for row in rows], 25, is_truncated=truncated)
    assert len(advice) == len(said)
    for sentence, start in zip(advice, said, strict=True):
        assert sentence.startswith(start)
        assert sentence.endswith(".")


# --- What comes out


@pytest.fixture(scope="module")
def made() -> Plan:
    return plan(
        COUNTS, 3, ["1/2", 1], releases=200, monotonic=True,
        items_per_person={1: dict.fromkeys(COUNTS, 5), 2: COUNTS, 3: COUNTS},
    )  # fmt: skip


def test_all_forms_hold_the_same(made: Plan) -> None:
    read = json.loads(made.to_json())
    assert read == made.to_dict()
    assert (read["items_per_person"], read["is_truncated"]) == ([1, 2, 3], True)
    assert read["bounded_resolution"] == ["1", "1", "1/10"]
    assert read["advice"] == [*made.advice]
    frame = made.to_pandas()
    assert [*frame.columns] == [*made.columns()] == made.to_arrow().column_names
    for place, row in enumerate(made.rows):
        assert row.bounds[1].errors is not None
        assert read["rows"][place]["bound_2_overlap"] == [*row.bounds[1].lists.overlap]
        assert read["rows"][place]["bound_2_median"] == [*row.bounds[1].errors.median]
        assert frame["bound_2_bias"][place] == row.bounds[1].errors.bias.value
        assert frame["bound_2_bias_se"][place] == row.bounds[1].errors.bias.standard_error
        assert frame["bound_2_scale"][place] == 2 / row.epsilon
        assert frame["combined_median"][place] == row.estimate_errors.median.value
    assert "bound_3_overlap" in frame
    assert "bound_3_median" not in frame


def test_the_table_has_a_line_for_each_bound(made: Plan) -> None:
    lines = str(made).splitlines()
    assert lines[0].split() == [
        "ε", "released", "noise", "list", "right", "of", "3", "right", "median", "error", "bias",
    ]  # fmt: skip
    cells = [line.split() for line in lines[6:11]]
    assert [each[:4] for each in cells[:2]] == [
        ["1", "names,", "gaps", "3"],
        ["counts", "too", "6", "100%"],
    ]
    assert [each[:5] for each in cells[2:]] == [
        ["at", "most", "1", "item", "1"], ["at", "most", "2", "items", "2"],
        ["at", "most", "3", "items", "3"],
    ]  # fmt: skip
    assert [len(each) for each in cells[2:]] == [9, 9, 7]
    assert [*map(str, made.advice)] == [" ".join(lines[-2:])]
    assert "The figures include what a bound leaves out." in lines
    alone = str(plan(COUNTS, 3, 1, releases=5, items_per_person=2))
    assert "Counts do not show what a bound leaves out; these figures include only noise." in alone
    for text in (str(made), str(plan(COUNTS, 3, 1, releases=5, items_per_person=2, domain=10**12))):
        assert max(map(len, text.splitlines())) <= 100
    assert made._repr_html_().count("<tr>") == 11


def test_the_chart_has_a_line_for_each_bound(made: Plan) -> None:
    axes: Any = tuple(Chart().subplots(2, 1))
    above, below = (
        {str(line.get_label()): list(line.get_ydata()) for line in ax.get_lines()}  # type: ignore[arg-type]
        for ax in made.plot(axes)
    )
    for place, bound in enumerate((1, 2, 3)):
        label = f"at most {bound} item{'s' * (bound > 1)}"
        overlaps = [row.bounds[place].lists.overlap.value / 3 for row in made.rows]
        assert above[f"share of the list that is right: {label}"] == overlaps
        errors = [row.bounds[place].errors for row in made.rows]
        medians = [each.median.value for each in errors if each is not None]
        assert below.get(f"median error: {label}", []) == medians
    estimates = [row.estimate_errors.median.value for row in made.rows]
    assert below["median error: counts too"] == estimates
    starts = [label.partition(":")[0] for label in below if not label.startswith("_")]
    assert {*starts} == {"median error"}
    assert all(a >= b for a, b in pairwise(estimates))
