"""Plans for thresholds: by releases of topgap itself, by exact laws, and in all forms."""

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure as Chart

import topgap
from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from topgap import (
    AnswersError,
    DomainError,
    ItemsError,
    ParameterError,
    ParameterTypeError,
    TopgapError,
    TopK,
)
from topgap.domains import Counts, Domain
from topgap.law import Bounds
from topgap.planning import (
    Figure,
    ThresholdPlan,
    plan_threshold,
    threshold_counts,
    threshold_simulation,
    zipf,
)
from topgap.planning.threshold_counts import ShouldBeNamed, ThresholdCounts
from topgap.planning.threshold_simulation import expect_above

SURE = 10_000  # at this ε noise of scale k/ε exceeds half a step with probability below 1e-50

# --- What should be named


def named_by_hand(counts: tuple[int, ...], k: int, threshold: int, named: tuple[int, ...]) -> int:
    """How many of the named are right, by the best of all lists that are right."""
    above = [item for item, count in enumerate(counts) if count > threshold]
    size = min(k, len(above))
    most = sum(sorted((counts[item] for item in above), reverse=True)[:size])
    rights = [each for each in combinations(above, size) if sum(counts[i] for i in each) == most]
    return max(len({*each} & {*named}) for each in rights)


def misjudged(module: Any) -> list[str]:
    """The lists of at most four items with counts of 0 to 2 that are judged wrongly."""
    found = []
    for counts in product(range(3), repeat=4):
        for k, threshold in product((1, 2, 4, 5), (-1, 0, 1, 2)):
            parameters = TopK(k, 1, threshold=threshold)
            truth = module.ShouldBeNamed.of([*counts], parameters)
            above = sum(count > threshold for count in counts)
            if truth.count != min(k, above):
                found.append(f"{truth.count} of {counts} above {threshold}")
            for size in range(min(k, 4) + 1):
                for named in combinations(range(4), size):
                    winners = np.array([[*named, *[4] * (4 - size)]])
                    (right,) = truth.count_right(winners, np.arange(4) < size)
                    if right != named_by_hand(counts, k, threshold, named):
                        found.append(f"{named} of {counts} above {threshold}: {right}")
    return found


def test_lists_are_judged_as_all_possible_truths_judge_them() -> None:
    assert misjudged(threshold_counts) == []


@pytest.mark.parametrize("mutant", [
    Mutant("at the threshold", "return cls(ranks > threshold,", "return cls(ranks >= threshold,"),
    Mutant("ties are not capped", "np.minimum(tied, self.tied_places)", "tied"),
    Mutant("all above, however many", "if count < k:", "if True:"),
    Mutant("a rank too many", "[::-1][:k]", "[::-1][: k + 1]"),
], ids=lambda each: each.name)  # fmt: skip
def test_other_judgements_are_found(mutant: Mutant) -> None:
    assert misjudged(mutated(threshold_counts, mutant)) != []


def test_items_of_a_domain_without_counts_are_judged() -> None:
    below = ShouldBeNamed.of([5, 3], TopK(3, 1, threshold=-1), 10**30)
    assert below.count == 3
    assert below.tied_places == 1
    winners = np.array([[0, 1, 3], [0, 3, 3], [3, 3, 3]])
    assert below.count_right(winners, np.full((3, 3), True)).tolist() == [3, 2, 1]
    above = ShouldBeNamed.of([5, 3], TopK(3, 1, threshold=4), 10**30)
    assert above.count == 1
    assert above.count_right(winners, np.full((3, 3), True)).tolist() == [1, 1, 0]


# --- Releases


COUNTS = [12, 9, 7, 4, 0]
CASES: dict[str, dict[str, Any]] = {
    "few": {"k": 3, "epsilon": "1/2", "monotonic": True, "threshold": 8},
    "not monotonic": {"k": 2, "epsilon": 1, "threshold": "7.1"},
    "more than there are": {"k": 9, "epsilon": 3, "monotonic": True, "threshold": 5},
    "as many as there are": {"k": 5, "epsilon": 2, "monotonic": True, "threshold": 1},
    "whole steps": {"k": 4, "epsilon": 2, "resolution": 1, "monotonic": True, "threshold": 6},
    "Laplace": {
        "k": 4, "epsilon": "1/2", "monotonic": True, "threshold": 8, "items_per_person": 1,
    },
}  # fmt: skip


def unlike_releases(module: Any, name: str, false_alarm: float, releases: int = 10_000) -> str:
    """Whether figures of the plan differ from those of topgap's own releases."""
    case = CASES[name]
    parameters = TopK(**case)
    counts = ThresholdCounts.of(COUNTS, parameters)
    truth = ShouldBeNamed.of(COUNTS, parameters)
    row = module.simulate_threshold(counts, truth, releases, lambda _: None)
    options = {key: value for key, value in case.items() if key not in ("k", "epsilon")}
    made = [topgap.top_k(COUNTS, case["k"], case["epsilon"], **options) for _ in range(releases)]
    above = {item for item, count in enumerate(COUNTS) if count > parameters.threshold}  # type: ignore[operator]
    largest = {*sorted(above)[: parameters.k]}
    told = [each for each in made if parameters.noise == "laplace" or each.threshold_reached]
    off = [errors for each in told if (errors := count_errors(each))]
    own: dict[str, list[float]] = {
        "named": [len(each) for each in made],
        "right": [len(largest & {*each.indices.tolist()}) for each in made],
        "spent": [float(each.spent) for each in made],
        "counted": [float(number < len(told)) for number in range(releases)],
        "bias": [sum(errors) / len(errors) for errors in off],
        "error": [sum(each**2 for each in errors) / len(errors) for errors in off],
    }
    # The difference of two means is as good as normal. For 6 figures.
    most = 2 * math.sqrt(math.log(6 / false_alarm))
    for figure, values in own.items():
        planned = getattr(row, figure)
        value, error = planned
        if figure == "error":
            value, error = value**2, 2 * value * error
        spread = math.hypot(error, np.std(values) / math.sqrt(len(values)))
        if abs(value - np.mean(values)) > most * spread:
            return f"{figure} of {planned} is not {np.mean(values)}"
    return ""


def count_errors(release: topgap.Release) -> list[float]:
    """How far the counts of the named are off."""
    if release.values is not None:
        told = [*map(float, release.values)]
    else:
        step, gaps = release.parameters.resolution, release.gaps or ()
        told = [
            float((release.threshold or 0) + sum(gaps[rank:]) + (len(gaps) - rank) * step / 2)
            for rank in range(len(gaps))
        ]
    return [each - COUNTS[item] for each, item in zip(told, release.indices, strict=True)]


# Two normal numbers: their difference is off by 2·√ln(6/p) of its standard errors with probability
# below 2·(p/6)², and p is 10^−9 here, which leaves room for tails that are longer.
@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[] if name in ("few", "Laplace") else [pytest.mark.slow])
    for name in CASES
])  # fmt: skip
@pytest.mark.statistical(false_alarm=1e-9)
def test_a_plan_is_like_releases(name: str, false_alarm: float) -> None:
    assert unlike_releases(threshold_simulation, name, false_alarm) == ""


@pytest.mark.parametrize(("mutant", "name"), [
    (Mutant("cut one too late", "is_sentinel.argmax(axis=1), width)", "is_sentinel.argmax(axis=1) + 1, width)"), "few"),  # noqa: E501
    (Mutant("a full list has counts", "counted = is_sentinel.any(axis=1)", "counted = np.ones(len(is_sentinel), dtype=bool)"), "few"),  # noqa: E501
    (Mutant("no counts though all are named", "if counts.parameters.k > counts.size:", "if False:"), "more than there are"),  # noqa: E501
    (Mutant("counts though the list is full", "counts.parameters.k > counts.size", "counts.parameters.k >= counts.size"), "as many as there are"),  # noqa: E501
    (Mutant("no half steps", "+ left * (to_float(rate) / 2)", ""), "whole steps"),
    (Mutant("the gaps above", "gaps[:, ::-1].cumsum(axis=1)[:, ::-1]", "gaps.cumsum(axis=1)"), "more than there are"),  # noqa: E501
    (Mutant("reaches is exceeds", "distances + drawn.gaps >= 0", "distances + drawn.gaps > 0"), "Laplace"),  # noqa: E501
    (Mutant("all of ε", "spent.add(_share_spent(parameters, cut.lengths))", "spent.add(np.ones(len(cut.lengths)))"), "not monotonic"),  # noqa: E501
    (Mutant("of those that are cut, too", "off = np.where(is_named, cut.off, 0.0)[rows]", "off = cut.off[rows]"), "more than there are"),  # noqa: E501
], ids=lambda each: getattr(each, "name", ""))  # fmt: skip
def test_other_releases_are_found(mutant: Mutant, name: str) -> None:
    assert unlike_releases(mutated(threshold_simulation, mutant), name, 1e-9) != ""


def probability_above(distance: float, scale: float) -> float:
    """By numerical integration over the noise of the item, and then of the threshold."""
    x = (np.arange(200_000) + 0.5) / 10_000
    density = np.exp(-x) / 10_000
    beaten = 1 - np.exp(-np.maximum(x + distance / scale, 0))
    return float((density * beaten).sum())


@pytest.mark.parametrize("distance", [-7.5, -1, 0, 0.5, 3, 20])
def test_the_probability_to_come_out_above_is_integrated(distance: float) -> None:
    parameters = TopK(4, 1, monotonic=True, threshold=50)
    counts = ThresholdCounts.of([50], parameters)
    told = expect_above(counts, np.array([distance / 4]))
    assert told == pytest.approx(probability_above(distance, 4), abs=1e-6)


@pytest.mark.parametrize(("case", "answer"), [
    ({"k": 3, "epsilon": 1, "monotonic": True, "threshold": 6}, 4),
    ({"k": 3, "epsilon": 1, "monotonic": True, "threshold": 6}, 11),
    ({"k": 3, "epsilon": 1, "monotonic": True, "threshold": 6, "items_per_person": 2}, 4),
    ({"k": 3, "epsilon": 1, "monotonic": True, "threshold": 6, "items_per_person": 2}, 6),
    ({"k": 3, "epsilon": 2, "threshold": 6, "items_per_person": 2}, 9),
])  # fmt: skip
@pytest.mark.statistical(false_alarm=1e-9)
def test_an_item_is_named_as_often_as_the_formula_says(
    case: dict[str, Any], answer: int, false_alarm: float
) -> None:
    parameters, releases = TopK(**case), 20_000
    options = {key: value for key, value in case.items() if key not in ("k", "epsilon")}
    made = (topgap.top_k([answer], case["k"], case["epsilon"], **options) for _ in range(releases))
    seen = Counter(len(each) for each in made)
    counts = ThresholdCounts.of([answer], parameters)
    by_law = expect_above(counts, counts.all_distances() * float(parameters.rate))
    exact = Fraction(by_law)
    law = Bounds(exact - Fraction(1, 10**9), exact + Fraction(1, 10**9))
    assert misfits(seen, [1], lambda _: law, false_alarm) == []


def test_items_of_a_domain_without_counts_are_expected() -> None:
    parameters = TopK(3, 1, monotonic=True, threshold=30)
    counts = ThresholdCounts.of([30], parameters, 10**6)
    expected = 0.5 + (10**6 - 1) * math.exp(-10) / 2
    assert expect_above(counts, np.array([0.0])) == pytest.approx(expected)


def test_a_margin_is_where_one_in_twenty_is_wrong() -> None:
    (row,) = plan_threshold([1_000], 25, 500, 1, releases=10, monotonic=True).rows
    assert probability_above(row.margin, 25) == pytest.approx(0.95, abs=1e-5)
    assert row.margin == pytest.approx(57.56, abs=0.01)
    counts = [557, 558, 443, 442, 600, 1]
    (row,) = plan_threshold(counts, 25, 500, 1, releases=10, monotonic=True).rows
    assert row.near == 2


# --- What goes in


NAMED = {"ash": 10_000, "elm": 7_000, "oak": 4_000, "yew": 10}


@pytest.mark.parametrize("counts", [
    NAMED, pd.Series(NAMED), np.array([10_000, 7_000, 4_000, 10]),
    np.array([10_000, 7_000, 4_000, 10], dtype=np.uint16), [10_000.0, 7_000.5, 4_000.0, 10.0],
    np.array([10_000, 7_000, 4_000, 10], dtype=np.float32),
    [Fraction(30_001, 3), 7_000, 4_000, 10], Counts(NAMED, domain=Domain([*NAMED, "fir"])),
    np.array([2**63 + 10_000, 2**63 + 7_000, 2**63 + 4_000, 5], dtype=np.uint64),
    [10**30, 10**29, 10**28, 0],
])  # fmt: skip
@pytest.mark.parametrize("threshold", [3_000, "3000.3", "3000.25"])
def test_clear_items_are_named_whatever_holds_the_counts(counts: Any, threshold: Any) -> None:
    (row,) = plan_threshold(counts, 4, threshold, SURE, releases=20, monotonic=True).rows
    assert row.threshold == Fraction(threshold) // Fraction(1, 10) * Fraction(1, 10)
    assert (row.named, row.right, row.above) == (Figure(3, 0), Figure(3, 0), 3)
    assert row.spent.value == SURE
    assert row.counted.value == 1
    assert row.error is not None
    assert row.error.value < 0.2
    assert row.expected_above == 3


def test_a_threshold_of_any_size_is_planned() -> None:
    for threshold, named in ((10**40, 0), (-(10**40), 3), (2**62 + 10**4, 1)):
        counts = [2**63, 2**62, 5]
        (row,) = plan_threshold(counts, 5, threshold, 1, releases=5, monotonic=True).rows
        assert (row.named.value, row.expected_above) == (named, named)
        (row, bound) = plan_threshold(
            counts, 2, threshold, 1, releases=5, monotonic=True, items_per_person=1
        ).rows
        assert bound.named.value == row.named.value == min(named, 2)
        assert bound.error is None or bound.error.value < 100


def test_counts_beyond_floats_are_planned() -> None:
    counts = [10**400, 700, 14, -(10**400)]
    made = plan_threshold(counts, 3, 500, 1, releases=5, monotonic=True)
    assert made.rows[0].named.value == made.rows[0].expected_above == 2
    assert made.rows[0].error is not None
    assert made.rows[0].error.value < 1_000
    assert made.advice[0].startswith("Threshold 500: the nearest count is 200 away")
    (row,) = plan_threshold(counts, 3, 10**500, 1, releases=5, monotonic=True).rows
    assert row.named.value == 0


def test_what_a_bound_leaves_out_is_in_the_errors() -> None:
    kept = {"elm": 690, "ash": 600, "yew": 5_000}
    counts = NAMED | {"yew": 5_000}
    made = plan_threshold(
        counts, 3, 650, SURE, releases=20, monotonic=True, items_per_person={1: kept, 4: counts}
    )
    whole, one, four = made.rows
    assert made.is_truncated
    assert (whole.above, whole.right, whole.items_per_person) == (3, Figure(3, 0), None)
    # ash, elm and yew are the three largest of all; with L = 1 ash is below the threshold.
    assert (one.above, one.named, one.right) == (3, Figure(2, 0), Figure(2, 0))
    assert one.bias is not None
    assert one.bias.value == pytest.approx(-6_310 / 2)
    assert (one.noise, four.noise, one.spent.value) == ("laplace", "exponential", SURE)
    assert four.bias is None


@pytest.mark.statistical(false_alarm=1e-12)
def test_with_a_domain_its_members_take_part() -> None:
    # One of 10^12 noises of mean 4 exceeds 60; all of them exceed 300 with probability e^−47.
    for domain in (10**12, Domain.pattern("[a-z]{3,9}"), Domain.pattern("[a-z]{3}")):
        (row,) = plan_threshold(
            NAMED, 4, [1_000], 1, releases=50, monotonic=True, domain=domain
        ).rows
        assert (row.named, row.right, row.above) == (Figure(3, 0), Figure(3, 0), 3)
    made = plan_threshold(NAMED, 4, 10, 1, releases=50, monotonic=True, domain=10**12)
    assert made.rows[0].named.value == 4
    assert made.rows[0].expected_above > 10**9
    assert made.domain_size == 10**12


@pytest.mark.parametrize(("how", "kind", "said"), [
    ({"thresholds": []}, ParameterError, "must have a value"),
    ({"thresholds": "many"}, ParameterError, "threshold"),
    ({"thresholds": None}, ParameterTypeError, "threshold"),
    ({"thresholds": [True]}, ParameterTypeError, "threshold"),
    ({"thresholds": float("nan")}, ParameterError, "threshold"),
    ({"k": 0}, ParameterError, "k must"), ({"releases": 1}, ParameterError, "releases"),
    ({"epsilons": 0}, ParameterError, "epsilon"), ({"counts": []}, AnswersError, "empty"),
    ({"counts": {"a": "b"}}, TopgapError, "not str"), ({"domain": 2}, DomainError, "fewer items"),
    ({"domain": 10**9, "epsilons": "1e-90"}, ParameterError, "kernel"),
    ({"items_per_person": []}, ParameterError, "bound"),
    ({"items_per_person": {1: [1, 1, 1, 1]}}, ItemsError, "names"),
    ({"items_per_person": {1: NAMED | {"ash": 10_001}}}, AnswersError, "larger"),
    ({"items_per_person": 1, "k": 5}, AnswersError, "at least 6"),
    ({"items_per_person": 1, "k": 9, "domain": 9}, AnswersError, "at least 10"),
])  # fmt: skip
def test_what_cannot_be_planned(how: dict[str, Any], kind: type[TopgapError], said: str) -> None:
    given: dict[str, Any] = {"counts": NAMED, "k": 2, "thresholds": 5, "releases": 2} | how
    with pytest.raises(kind, match=said) as error:
        plan_threshold(**given)
    assert str(error.value).endswith(".")


# --- Advice


@pytest.mark.parametrize(("counts", "k", "thresholds", "said"), [
    ([900, 560, 500, 350, 20], 25, 490,
     ["Threshold 490: the nearest count is 10 away, clear from ε = 5.8 on; 425, in the middle "
      "between 500 and 350, is 75 away, clear from ε = 0.77 on.",
      "At most 3 items should be named: k = 6 leaves room for twice as many, and has 0.24 of the "
      "noise."]),
    ([900, 560, 500, 350, 20], 4, [430, 520],
     ["Threshold 430: the nearest count is 70 away, clear from ε = 0.13 on.",
      "Threshold 520: the nearest count is 20 away, clear from ε = 0.46 on; 425, in the middle "
      "between 500 and 350, is 75 away, clear from ε = 0.12 on."]),
    ([900, 560], 2, [100, 900],
     ["Threshold 100: the nearest count is 460 away, clear from ε = 0.01 on.",
      "Threshold 900: the nearest count is 0 away; 730, in the middle between 900 and 560, is 170 "
      "away, clear from ε = 0.027 on.",
      "2 items or more above 100: most lists are full, cost all of ε and have no counts; use a "
      "larger k or threshold."]),
    ([5], 2, 9, ["Threshold 9: the nearest count is 4 away, clear from ε = 1.2 on."]),
])  # fmt: skip
def test_advice_is_of_the_thresholds_and_of_k(
    counts: list[int], k: int, thresholds: Any, said: list[str]
) -> None:
    made = plan_threshold(counts, k, thresholds, ["1/10", 1], releases=2, monotonic=True)
    assert [*made.advice] == said


# --- What comes out


@pytest.fixture(scope="module")
def made() -> ThresholdPlan:
    return plan_threshold(
        zipf(100, 10_000), 20, [900, 20_000], ["1/2", 1], releases=200, monotonic=True,
        items_per_person=[2],
    )  # fmt: skip


def test_all_forms_hold_the_same(made: ThresholdPlan) -> None:
    read = json.loads(made.to_json())
    assert read == made.to_dict()
    assert (read["k"], read["items"], read["is_truncated"]) == (20, 100, False)
    assert read["advice"] == [*made.advice]
    frame = made.to_pandas()
    assert [*frame.columns] == [*made.columns()] == made.to_arrow().column_names
    assert made.to_polars().columns == [*frame.columns]
    settings = [(row.epsilon, row.threshold, row.items_per_person) for row in made.rows]
    assert [*map(str, settings)] == [
        f"(Fraction({epsilon}), Fraction({threshold}, 1), {bound})"
        for epsilon, threshold, bound in product(("1, 2", "1, 1"), (900, 20_000), (None, 2))
    ]
    for place, row in enumerate(made.rows):
        document = read["rows"][place]
        assert document["spent"] == [*row.spent]
        assert document["threshold"] == str(row.threshold)
        assert document["items_per_person"] == row.items_per_person
        assert frame["spent"][place] == row.spent.value
        assert frame["spent_se"][place] == row.spent.standard_error
        assert frame["margin"][place] == document["margin"] == row.margin
    assert read["rows"][2]["error"] is None
    assert frame["error"].isna().tolist() == [False, False, True, True] * 2


def test_the_table_has_a_line_for_each(made: ThresholdPlan) -> None:
    lines = str(made).splitlines()
    assert lines[0].split() == [
        "ε", "threshold", "L", "noise", "above", "named", "right", "cost", "counts", "error",
        "bias", "margin", "near",
    ]  # fmt: skip
    assert lines[1].split()[:5] == ["0.5", "900", "any", "40", "11"]
    assert lines[2].split()[:3] == ["2", "4", "11"]
    assert lines[3].split()[:5] == ["20,000", "any", "40", "0", "0.00"]
    assert lines[5].split()[:5] == ["1", "900", "any", "20", "11"]
    assert "Not private: a plan reveals its counts, which must be public or made up." in lines
    assert max(map(len, lines)) <= 100
    assert made._repr_html_().count("<tr>") == 9
    assert repr(made) == "<ThresholdPlan for at most 20 of 100 items, 8 rows>"


def test_the_chart_has_lines_for_each_threshold(made: ThresholdPlan) -> None:
    axes: Any = tuple(Chart().subplots(2, 1))
    above, below = (
        {str(line.get_label()): list(line.get_ydata()) for line in ax.get_lines()}  # type: ignore[arg-type]
        for ax in made.plot(axes)
    )
    rows = [row for row in made.rows if row.threshold == 900 and row.items_per_person is None]
    assert above["found: above 900"] == [row.right.value / row.above for row in rows]
    assert above["cost: above 900"] == [row.spent.value / float(row.epsilon) for row in rows]
    assert above["found: above 20,000"] == []
    assert below["above 900"] == [row.error.value for row in rows if row.error is not None]
    assert "above 900, at most 2 items" in below
    assert made.render("svg").startswith(b"<?xml")


# Between neighbouring values of ε the means differ by more than ten of their standard errors.
@pytest.mark.statistical(false_alarm=1e-20)
def test_more_privacy_costs_accuracy() -> None:
    made = plan_threshold(zipf(100, 10_000), 20, 900, ["0.1", 1, 10], releases=500, monotonic=True)
    rights = [row.right.value for row in made.rows]
    errors = [row.error.value for row in made.rows if row.error is not None]
    assert all(a <= b for a, b in pairwise(rights))
    assert all(a >= b for a, b in pairwise(errors))
