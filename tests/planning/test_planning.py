"""A plan says what releases are like: compared with exact probabilities and errors."""

import json
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import topgap
from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from topgap import (
    AnswersError,
    AnswersTypeError,
    ParameterError,
    ParameterTypeError,
    Plan,
    Release,
    TopK,
    plan,
)
from topgap.estimates.noise import Noise
from topgap.estimates.result import Estimates
from topgap.law import Bounds, exp_minus
from topgap.planning import Figure, count_errors, public_counts, simulation, zipf
from topgap.planning.public_counts import PublicCounts
from topgap.selection.measurement import Shares

# No probability that a test below states as 0 or 1 is as far as this from it.
NEVER = 1e-20


# --- Lists are judged as all possible truths judge them


def judged_by_hand(given: tuple[int, ...], named: tuple[int, ...]) -> tuple[int, bool, bool]:
    """By looking at all sets that are the k largest, of which ties allow several."""
    k = len(named)
    most = sum(sorted(given)[-k:])
    truths = [{*s} for s in combinations(range(len(given)), k) if sum(given[i] for i in s) == most]
    overlap = max(len(truth & {*named}) for truth in truths)
    in_order = [given[i] for i in named] == sorted(given, reverse=True)[:k]
    return overlap, {*named} in truths, in_order


def misjudged(module: Any) -> list[str]:
    """The lists of at most four items with counts of 0, 1 or 2 that are judged wrongly."""
    found = []
    for n in (2, 3, 4):
        for given, k in product(product(range(3), repeat=n), range(1, n)):
            lists = [*permutations(range(n), k)]
            judged = module.PublicCounts.of([*given], TopK(k, 1)).compare(np.array(lists))
            rows = zip(*(each.tolist() for each in judged), strict=True)
            for named, row in zip(lists, rows, strict=True):
                if row != judged_by_hand(given, named):
                    found.append(f"{named} of {given}: {row}")
    return found


def test_lists_are_judged_as_all_possible_truths_judge_them() -> None:
    assert misjudged(public_counts) == []


@pytest.mark.parametrize("mutant", [
    Mutant("ties count as the wrong order", "(named == self.top_ranks).all", "(winners == np.argsort(-self.ranks)[:len(self.top_ranks)]).all"),  # noqa: E501
    Mutant("ties are not capped", "len(self.top_ranks) - above)", "len(self.top_ranks))"),
    Mutant("overlap off by one", "overlap = (named > last)", "overlap = 1 + (named > last)"),
    Mutant("the last place does not belong", "(named == last).sum", "(named < last).sum"),
    Mutant("the wrong end", "[: -parameters.k - 1 : -1]", "[: parameters.k]"),
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_judging_wrongly_is_found(mutant: Mutant) -> None:
    assert misjudged(mutated(public_counts, mutant)) != []


@pytest.mark.parametrize("given", [
    [0.31, 0.35, -2.0], np.array([0.31, 0.35, -2], dtype=np.float32), np.array([7, 9, 3]),
    [Fraction(1, 3), Decimal("0.34"), -1], [10**400, 10**400 + 1, 0.5], [2**70, 2**71, 5],
    np.array([2**63 + 1, 2**63 + 2, 0], dtype=np.uint64), [1e300, 1.1e300, -1e300],
    [True + 1, 2**62, -(2**62)],
])  # fmt: skip
def test_who_is_largest_is_seen_however_numbers_are_stored_and_rounded(given: Any) -> None:
    public = PublicCounts.of(given, TopK(2, 1, resolution=1))
    assert public.ranks.tolist() == [1, 2, 0]
    assert public.top_ranks.tolist() == [2, 1]


# --- The probabilities, where they are known


def probabilities(a: Fraction, b: Fraction) -> dict[str, Bounds]:
    """With counts a and b means of the noise apart, of three items with k = 2.

    With noise of mean 1 on all, the first two are named in this order with the probability
    1 − e^−a/2 − e^−b/2 + e^−(2a + b)/6, in any order with 1 − e^−b/2 − e^−(2a + b)/6: integrals
    over the noise of the second, and of the third.
    """
    first, second, both = (exp_minus(x, 100) for x in (a, b, 2 * a + b))
    return {
        "in_order": Bounds(
            1 - first.high / 2 - second.high / 2 + both.low / 6,
            1 - first.low / 2 - second.low / 2 + both.high / 6,
        ),
        "right": Bounds(1 - second.high / 2 - both.high / 6, 1 - second.low / 2 - both.low / 6),
    }


CASES: list[tuple[list[Any], TopK]] = [
    ([7, 5, 3], TopK(2, 4, resolution=1, monotonic=True)),
    ([1.5, 1.25, 0.25], TopK(2, 8, resolution="1/4", sensitivity="1/2")),
    ([3, 3, 2], TopK(2, 3)),
]


def unlikely(given: list[Any], parameters: TopK, share: str, false_alarm: float) -> list[str]:
    """Which probabilities of a plan are not those of the law."""
    made = plan(
        given, 2, parameters.epsilon, releases=20_000, selection_share=share,
        resolution=parameters.resolution, sensitivity=parameters.sensitivity,
        monotonic=parameters.monotonic,
    )  # fmt: skip
    (row,) = made.rows
    found = []
    for lists, part in ((row.names, Fraction(1)), (row.estimates, Fraction(share))):
        a, b = (Fraction(x) - Fraction(y) for x, y in pairwise(given))
        law = probabilities(a * part / parameters.scale, b * part / parameters.scale)
        if given[0] == given[1]:
            law["in_order"] = law["right"]  # a tie, whichever way round it comes
        for name, bounds in law.items():
            happened = round(getattr(lists, name).value * made.releases)
            seen = Counter({True: happened, False: made.releases - happened})
            found += misfits(seen, [True], lambda _, bounds=bounds: bounds, false_alarm / 4)  # type: ignore[misc]
        if lists.overlap.value != pytest.approx(1 + lists.right.value):
            found.append("of three items with k = 2, one is right whatever happens")
    return found


@pytest.mark.parametrize(("given", "parameters"), CASES)
@pytest.mark.statistical(false_alarm=1e-9)
def test_probabilities_are_those_of_the_law(
    given: list[Any], parameters: TopK, false_alarm: float
) -> None:
    # Four probabilities are looked at, each at a quarter of the rate.
    assert unlikely(given, parameters, "1/3", false_alarm) == []


@pytest.mark.parametrize("mutant", [
    Mutant("all of ε selects twice", "simulate_releases(counts, shares.selection,", "simulate_releases(counts, parameters,"),  # noqa: E501
    Mutant("a share of ε selects twice", "in simulate_releases(counts, parameters,", "in simulate_releases(counts, shares.selection,"),  # noqa: E501
    Mutant("right and in order exchanged", "estimate_probability(right), estimate_probability(in_order)", "estimate_probability(in_order), estimate_probability(right)"),  # noqa: E501
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_other_probabilities_are_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    # The probabilities differ by 0.1 and more: 20,000 releases miss that less often than once in
    # 10^20.
    monkeypatch.setattr("topgap.planning.planner.simulate", mutated(simulation, mutant).simulate)
    assert unlikely(*CASES[0], "1/3", 1e-9) != []


@pytest.mark.statistical(false_alarm=1e-9)
def test_what_the_resolution_hides_is_not_told_apart(false_alarm: float) -> None:
    how: Any = {"releases": 4_000, "sensitivity": 1, "resolution": "1/10"}
    (row,) = plan([0.31, 0.35, 0.0], 1, "1e6", **how).rows
    happened = round(row.names.right.value * 4_000)
    seen = Counter({True: happened, False: 4_000 - happened})
    half = Bounds(Fraction(1, 2), Fraction(1, 2))
    assert misfits(seen, [True], lambda _: half, false_alarm) == []
    (row,) = plan([0.31, 0.35, 0.0], 1, "1e6", **(how | {"resolution": "1/100"})).rows
    assert row.names.right.value == 1


@pytest.mark.parametrize("given", [
    {"a": 10**6, "b": 10**5, "c": 0}, [10**400, 10**399, -5], [1e200, 1e100, 0.5],
    np.array([2**64 - 1, 2**63, 5], dtype=np.uint64), [2**61, 2**60, -(2**61)],
    pd.Series([1e6, 1e5, 1.0], index=["a", "b", "c"]), [Fraction(10**9, 3), Decimal(10**6), 1],
])  # fmt: skip
@pytest.mark.statistical(false_alarm=NEVER)
def test_clear_winners_are_always_right(given: Any) -> None:
    (row,) = plan(given, 2, 1, releases=30).rows
    for lists in (row.names, row.estimates):
        assert (lists.right.value, lists.in_order.value, lists.overlap) == (1, 1, Figure(2, 0))
        assert 0.02 < lists.right.standard_error < 0.04  # not 0: there were just 30 releases


@pytest.mark.statistical(false_alarm=1e-9)
def test_noise_too_large_for_the_kernel_takes_its_time(false_alarm: float) -> None:
    parameters = TopK(1, "1e-60")
    assert parameters.kernel is None
    (row,) = plan([10, 5, 0], 1, "1e-60", releases=300).rows
    happened = round(row.names.right.value * 300)
    seen = Counter({True: happened, False: 300 - happened})
    third = Bounds(Fraction(1, 3) - Fraction(1, 10**50), Fraction(1, 3) + Fraction(1, 10**50))
    assert misfits(seen, [True], lambda _: third, false_alarm) == []
    assert 1e60 < row.measured_error.value < 1e62
    assert row.measured_formula == pytest.approx(math.sqrt(2) * 2e60)


@pytest.mark.parametrize("epsilon", ["1e-15", "1e-16", "1e-17", "1e-18"])
@pytest.mark.statistical(false_alarm=1e-15)
def test_noise_of_nearly_64_bits_is_reckoned_exactly(epsilon: str) -> None:
    # In means of the noise, 900 sizes of it are below 60 but with a probability of 900·e^−60 and
    # have a sum below 3,000 but with e^−1000: their squares are then below 100 times 2 on average,
    # and an estimate's are no larger than (1 + 2/3)² of that. Below a quarter of 2 are they with a
    # probability of at most exp(−900·1.5²/(2·24)) = 5e-19.
    (row,) = plan([5, 4, 3, 2], 3, epsilon, releases=300).rows
    assert row.measured_formula / 2 < row.measured_error.value < 10 * row.measured_formula
    assert 0 < row.combined_error.value < 20 * row.measured_formula


# --- The errors


def released(k: int, seed: int) -> tuple[Any, Any]:
    """Steps and gaps that could be those of five releases."""
    rng = np.random.default_rng(seed)
    return rng.integers(-1_000, 1_000, (5, k)), rng.integers(0, 100, (5, k))


def wrong_errors(module: Any, k: int, kind: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which errors differ from those of the very estimates that a user would get."""
    shares = Shares.of(TopK(k, 3, resolution="1/2", monotonic=True), "2/3")
    noise = np.random.default_rng(7).integers(-50, 50, (k, 5))
    monkeypatch.setattr(
        module.CountErrors, "_noise", lambda self, _: np.ravel(noise) * float(self._step)
    )
    steps, gaps = released(k, seed=k)
    ours = module.CountErrors(shares)
    errors = ours.simulate(steps.astype(kind), gaps.astype(kind))
    law = Noise.discrete_laplace(shares.selection, shares.measurement_epsilon)
    found = []
    for run in range(5):
        truth = [Fraction(int(x), 2) for x in steps[run]]
        measured = tuple(x + Fraction(int(e), 2) for x, e in zip(truth, noise[:, run], strict=True))
        release = Release(shares.selection, range(k), gaps[run].tolist())
        theirs = Estimates(release, measured, law)
        expected = [
            *(float(m - x) for m, x in zip(measured, truth, strict=True)),
            *(e - float(x) for e, x in zip(theirs.estimates, truth, strict=True)),
        ]
        got = [float(error) * float(ours.unit) for each in errors for error in each[run]]
        if got != pytest.approx(expected):
            found.append(f"{got} instead of {expected}")
    return found


@pytest.mark.parametrize("kind", [np.int64, object])
@pytest.mark.parametrize("k", [1, 2, 3, 40])
def test_errors_are_those_of_the_estimates_that_a_user_gets(
    k: int, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wrong_errors(count_errors, k, kind, monkeypatch) == []


@pytest.mark.parametrize("mutant", [
    Mutant("no half step", "float(self._step / 2)", "0.0"),
    Mutant("a whole step", "float(self._step / 2)", "float(self._step)"),
    Mutant("gaps of the next", "gaps[:, :-1]", "gaps[:, 1:]"),
    Mutant("the wrong way round", "(steps[:, :-1] - steps[:, 1:])", "(steps[:, 1:] - steps[:, :-1])"),  # noqa: E501
    Mutant("gaps alone", "- (off[:-1] - off[1:])", "- 0"),
    Mutant("corrected away", "(off + np.array", "(off - np.array"),
    Mutant("of another release", "return off.T,", "return off.T[::-1],"),
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_other_errors_are_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    assert wrong_errors(mutated(count_errors, mutant), 3, np.int64, monkeypatch) != []


def unlikely_noise(module: Any, false_alarm: float) -> list[str]:
    """Whether measurements have noise of the rate 1, which is theirs where ε = 4 and k = 2."""
    ours = module.CountErrors(Shares.of(TopK(2, 4, resolution=1), "1/2"))
    drawn = [round(each * float(ours.unit)) for each in ours._noise(20_000).tolist()]
    once = exp_minus(1, 100)

    def law(x: int) -> Bounds:  # (1 − q)/(1 + q)·q^|x| with q = 1/e
        ends = [(1 - q) / (1 + q) * q ** abs(x) for q in once]
        return Bounds(min(ends), max(ends))

    return misfits(Counter(drawn), [*range(-4, 5)], law, false_alarm)


@pytest.mark.statistical(false_alarm=1e-9)
def test_measurements_have_their_part_of_epsilon(false_alarm: float) -> None:
    assert unlikely_noise(count_errors, false_alarm) == []


@pytest.mark.parametrize("mutant", [
    Mutant("the whole of ε", "laplace(rate, count)", "laplace(4 * rate, count)"),
    Mutant("twice ε", "laplace(rate, count)", "laplace(2 * rate, count)"),
    Mutant("half of ε", "laplace(rate, count)", "laplace(rate / 2, count)"),
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_measurements_with_another_part_are_found(mutant: Mutant) -> None:
    # 0 has the probabilities 0.96, 0.76 and 0.24 in place of 0.46: missed less often than once in
    # 10^20.
    assert unlikely_noise(mutated(count_errors, mutant), 1e-9) != []


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-9)
def test_errors_of_clear_winners_are_what_the_formulas_say() -> None:
    # In means of the noise, which are 4 here, an error is at most 5/3 of the largest of four draws:
    # weights of 2/3 and 1/3 on measurements, 1/3 and 1/3 on the selection. None of 800,000 draws
    # exceeds 40 but with a probability of 4e-12. Up to there a squared error is below 71,200, its
    # mean 21.3 and its variance below 9·21.3², so by Bernstein's inequality the mean of 200,000 is
    # off by 30% with a probability below 2·exp(−200000·6.4²/2/(4100 + 71200·6.4/3)) = 8e-12.
    # Measurements have one weight, 1, a mean of 32, and a smaller probability. Roots of 1 ± 0.3 lie
    # beyond 1 ± 0.14.
    (row,) = plan([10**6, 10**5, 0], 2, 1, releases=200_000, monotonic=True).rows
    assert row.measured_formula == pytest.approx(math.sqrt(32), rel=1e-3)
    assert row.combined_formula == pytest.approx(math.sqrt(64 / 3), rel=1e-3)
    assert row.measured_error.value == pytest.approx(row.measured_formula, rel=0.14)
    assert row.combined_error.value == pytest.approx(row.combined_formula, rel=0.14)
    assert 0 < row.combined_error.standard_error < 0.03


def test_of_one_winner_there_is_nothing_to_combine() -> None:
    (row,) = plan([9, 8, 7], 1, 1, releases=50).rows
    assert row.measured_error == row.combined_error
    assert row.measured_formula == row.combined_formula


@pytest.mark.slow
def test_many_winners_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = []
    real = count_errors.CountErrors.simulate

    def watched(self: Any, steps: Any, gaps: Any) -> Any:
        shapes.append(steps.shape)
        return real(self, steps, gaps)

    monkeypatch.setattr(count_errors.CountErrors, "simulate", watched)
    plan(zipf(6_000, 10**6), 5_000, 1, releases=150)
    assert sum(rows for rows, _ in shapes) == 150
    assert max(rows * k for rows, k in shapes) <= 2**19


# --- What is asked for


def test_epsilons_are_read_exactly_sorted_and_planned_for_once() -> None:
    made = plan([9, 8, 7], 1, [1, "1/3", 0.1, Decimal(1), np.float64(2)], releases=2)
    assert [row.epsilon for row in made.rows] == [Fraction(1, 10), Fraction(1, 3), 1, 2]
    assert [row.epsilon for row in plan([9, 8], 1, "1/3", releases=2).rows] == [Fraction(1, 3)]
    assert len(plan([9, 8], 1, releases=2).rows) == 10
    assert len(plan([9, 8], 1, iter([1, 2]), releases=2).rows) == 2


def test_progress_is_told_and_can_interrupt() -> None:
    reported: list[float | None] = []
    plan([9, 8], 1, [1, 2], releases=2_500, progress=lambda _, share: reported.append(share))
    assert reported == pytest.approx([i / 20 for i in (2, 4, 5, 7, 9, 10, 12, 14, 15, 17, 19, 20)])

    def interrupted(_: str, __: float | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plan([9, 8], 1, releases=10**12, progress=interrupted)


@pytest.mark.parametrize(("arguments", "kind", "said"), [
    (([], 1), AnswersError, "answers are empty"),
    (([5, 4], 2), AnswersError, "needs at least 3"),
    (([5, float("nan")], 1), AnswersError, "finite"),
    (("54", 1), AnswersTypeError, "not str"),
    (([5, "4"], 1), AnswersTypeError, "not str"),
    (([5, 4], 0), ParameterError, "k must be at least 1"),
    (([5, 4], 1, []), ParameterError, "^epsilons must have a value"),
    (([5, 4], 1, 0), ParameterError, "epsilon must be greater than 0"),
    (([5, 4], 1, [1, "much"]), ParameterError, "epsilon must be a number"),
    (([5, 4], 1, "1e101"), ParameterError, "between 1e-100 and 1e100"),
    (([5, 4], 1, "1e-101"), ParameterError, "between 1e-100 and 1e100"),
    (([5, 4], 1, None), ParameterTypeError, "epsilon must be an int"),
    (([5, 4], 1, np.array(1.0)), ParameterTypeError, "not ndarray"),
])  # fmt: skip
def test_what_cannot_be_planned_is_told_in_a_sentence(
    arguments: tuple[Any, ...], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said) as error:
        plan(*arguments, releases=2)
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(("option", "value", "kind"), [
    ("releases", 1, ParameterError), ("releases", 2.0, ParameterTypeError),
    ("selection_share", 1, ParameterError), ("selection_share", 0, ParameterError),
    ("resolution", "2/3", ParameterError), ("sensitivity", "1/3", ParameterError),
    ("monotonic", 1, ParameterTypeError),
])  # fmt: skip
def test_options_that_cannot_be_used(option: str, value: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=f"^{option} must") as error:
        plan([5, 4], 1, 1, **{"releases": 2, option: value})
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(("items", "largest"), [(0, 1), (1, 0), (10**10, 5), (5, 2**62)])
def test_made_up_counts_have_limits(items: int, largest: int) -> None:
    with pytest.raises(ParameterError, match="must be"):
        zipf(items, largest)


# --- What comes out


@pytest.fixture(scope="module")
def made() -> Plan:
    return plan(zipf(100, 200), 5, [0.1, 1, 10], releases=200, monotonic=True)


def test_all_forms_hold_the_same(made: Plan) -> None:
    read = json.loads(made.to_json())
    assert read == made.to_dict()
    assert read["format"] == "topgap.plan/1"
    frame = made.to_pandas()
    assert [*frame.columns] == [*made.columns()]
    assert [*made.to_polars().columns] == made.to_arrow().column_names == [*frame.columns]
    assert frame["epsilon"].tolist() == [0.1, 1, 10]
    for place, row in enumerate(made.rows):
        assert read["rows"][place]["names_right"] == [*row.names.right]
        assert frame["measured_error"][place] == row.measured_error.value
        assert frame["combined_error"][place] == row.combined_error.value
        assert frame["combined_error_se"][place] == row.combined_error.standard_error
        assert frame["estimates_overlap"][place] == row.estimates.overlap.value


def test_the_table_says_what_was_planned(made: Plan) -> None:
    lines = made.to_text().splitlines()
    assert lines == str(made).splitlines()
    assert lines[0].split() == [
        "ε", "released", "list", "right", "order", "too", "of", "5", "right", "error", "measured",
        "with", "gaps",
    ]  # fmt: skip
    assert [line.split()[0] for line in lines[1:7:2]] == ["0.1", "1", "10"]
    for line, row in zip(lines[2:7:2], made.rows, strict=True):
        shown = [float(cell) for cell in line.split()[-2:]]
        assert shown == pytest.approx([row.measured_error[0], row.combined_error[0]], rel=0.01)
    assert lines[7] == "The 5 largest of 100 items: resolution 0.1, sensitivity 1, monotonic"
    assert lines[9].startswith("Each line is from 200 simulated releases: ")
    assert lines[10] == made.to_dict()["caution"]
    assert lines[10].startswith("Not private: ")
    assert max(map(len, lines)) <= 100
    assert made._repr_html_().count("<tr>") == 7
    assert repr(made) == "<Plan for the 5 largest of 100 items at 3 values of ε>"


@pytest.mark.slow
def test_what_no_float_holds_is_none_in_json() -> None:
    made = plan([5, 4], 1, "1e-99", releases=2, sensitivity=10**300)
    assert made.rows[0].measured_error.value == math.inf
    assert made.to_dict()["rows"][0]["measured_error"] == [None, None]
    assert "inf" in str(made)
    assert made.render("png").startswith(b"\x89PNG")


def test_a_plan_is_frozen_and_where_it_is_looked_for(made: Plan) -> None:
    with pytest.raises(AttributeError):
        made.k = 3  # type: ignore[misc]
    assert topgap.planning.plan is topgap.plan
    assert made.rows[0].names.right.value == made.rows[0].names.right[0]


@pytest.fixture
def headless() -> Iterator[None]:
    before = mpl.get_backend()
    plt.switch_backend("Agg")
    yield
    plt.close("all")
    plt.switch_backend(before)


def lines_of(ax: Axes) -> dict[str, tuple[list[float], list[float]]]:
    """The lines of a chart by their labels."""
    return {
        str(line.get_label()): (list(line.get_xdata()), list(line.get_ydata()))  # type: ignore[arg-type]
        for line in ax.get_lines()
        if not str(line.get_label()).startswith("_")
    }


@pytest.mark.usefixtures("headless")
def test_the_chart_has_the_figures(made: Plan) -> None:
    above, below = made.plot()
    assert above.get_title() == "The 5 largest of 100 items"
    assert (above.get_xscale(), below.get_xscale(), below.get_yscale()) == ("log", "log", "log")
    epsilons = [0.1, 1, 10]
    assert lines_of(above) == {
        "probability that the list is right: names and gaps":
            (epsilons, [row.names.right.value for row in made.rows]),
        "probability that the list is right: counts too":
            (epsilons, [row.estimates.right.value for row in made.rows]),
        "share of the list that is right: names and gaps":
            (epsilons, [row.names.overlap.value / 5 for row in made.rows]),
        "share of the list that is right: counts too":
            (epsilons, [row.estimates.overlap.value / 5 for row in made.rows]),
    }  # fmt: skip
    assert lines_of(below) == {
        "error of a named item's count: measured alone":
            (epsilons, [row.measured_error.value for row in made.rows]),
        "error of a named item's count: with the gaps":
            (epsilons, [row.combined_error.value for row in made.rows]),
    }  # fmt: skip
    styles = {(line.get_color(), line.get_linestyle()) for line in above.get_lines()[:4]}
    assert len({each for each in styles if each[1] != "None"}) >= 2
    for ax in (above, below):
        legend = ax.get_legend()
        assert legend is not None
        assert len(legend.get_texts()) == len(lines_of(ax))


@pytest.mark.usefixtures("headless")
def test_it_draws_on_given_axes_and_changes_nothing_else(made: Plan) -> None:
    settings = dict(mpl.rcParams)
    figure, (left, right, other) = plt.subplots(1, 3)
    assert made.plot((left, right)) == (left, right)
    assert plt.get_fignums() == [figure.number]
    assert [*other.lines] == []
    assert dict(mpl.rcParams) == settings
    assert plan([9, 8], 1, 1, releases=2).plot()[0] is not None  # a single point


@pytest.mark.slow
@pytest.mark.parametrize(("form", "start"), [
    ("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"),
])  # fmt: skip
def test_it_is_drawn_to_files_without_pyplot(made: Plan, form: str, start: bytes) -> None:
    assert made.render(form).startswith(start)
    assert plt.get_fignums() == []


@pytest.mark.slow
def test_a_missing_matplotlib_is_named() -> None:
    script = """
import sys
sys.modules["matplotlib"] = None
import topgap
try:
    topgap.plan([2, 1], 1, 1, releases=2).plot()
except topgap.MissingExtraError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "plot needs matplotlib: pip install matplotlib.\n"
