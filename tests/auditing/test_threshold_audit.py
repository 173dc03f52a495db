"""An audit with a threshold: the law of every number of winners, and what each of them costs."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import exp, log
from typing import Any

import pytest

from tests.auditing.audited_functions import ours
from tests.checking.mutants import Mutant, mutated
from topgap import ParameterError, ParameterTypeError, Release, ReleaseError, TopK, audit
from topgap import law as exact_law
from topgap import parameters as parameters_module
from topgap.auditing import Neighbours, auditor
from topgap.auditing.cases.default_cases import QUICK_THRESHOLD_CASES, THRESHOLD_CASES
from topgap.auditing.cases.neighbours import read_cases
from topgap.auditing.checks import epsilon_bounds, law_test
from topgap.auditing.mechanisms.broken_threshold import (
    BROKEN_THRESHOLD,
    charge_for_monotonic,
    charge_for_winners,
)
from topgap.auditing.observing.outcomes import Outcome, explain_impossible, read_outcome
from topgap.auditing.probability.binomial import exceeds
from topgap.auditing.probability.event_probability import bound_lead_probability
from topgap.law import Bounds, exp_minus
from topgap.selection import candidate_pool

ONE = TopK(1, 2, resolution=1, monotonic=True, threshold=0)
TWO = TopK(2, 2, resolution=1, monotonic=True, threshold=0)
BOTH_WAYS = TopK(2, 2, resolution="1/2", threshold="1/2")
PAIR = Neighbours((0, 0), (1, 1), TWO)
TRIPLE = Neighbours((0, 0, 0), (-1, 1, 1), BOTH_WAYS)
CLEAN = 1e-11
FOUND = 1e-15  # what must be found is missed with less, as in test_audit.py


def without_gaps(answers: Sequence[int], parameters: TopK) -> list[int]:
    winners: list[int] = ours(answers, parameters).indices.tolist()
    return winners


def slowly(cases: Iterable[Neighbours]) -> list[Any]:
    """As parameters of a test that takes a moment for none of them."""
    return [pytest.param(case, marks=pytest.mark.slow) for case in cases]


# --- Exactly, without a release


def exact(case: Neighbours, side: int) -> dict[tuple[int, str, Any], Bounds]:
    cells = law_test.make_cells(case, case.sides[side], gaps=True)
    return {(cell.winners, cell.feature, cell.key): cell.bounds for cell in cells}


def costs_more(case: Neighbours, cost: Callable[[TopK, int], Fraction]) -> set[int]:
    """The numbers of winners of which some cell has a ratio that this cost does not allow."""
    one, other = exact(case, 0), exact(case, 1)
    return {
        winners
        for (winners, *_), here, there in zip(one, one.values(), other.values(), strict=True)
        if exceeds(here.low, there.high, cost(case.parameters, winners))
        or exceeds(there.low, here.high, cost(case.parameters, winners))
    }


@pytest.mark.parametrize("case", [PAIR, TRIPLE, *slowly(QUICK_THRESHOLD_CASES)], ids=str)
def test_the_cells_of_all_numbers_of_winners_cover_everything(case: Neighbours) -> None:
    k = case.parameters.k
    for side in (0, 1):
        total: dict[tuple[int, str], Fraction] = {}
        for (winners, feature, _), bounds in exact(case, side).items():
            total[winners, feature] = total.get((winners, feature), Fraction(0)) + bounds.low
        of_items = [total[winners, "items"] for winners in range(k + 1)]
        assert abs(sum(of_items, Fraction(0)) - 1) < Fraction(1, 10**20)
        for (winners, feature), one in total.items():
            if not feature.startswith("last bits"):
                assert abs(one - of_items[winners]) < Fraction(1, 10**20)


@pytest.mark.parametrize("case", [PAIR, TRIPLE, *QUICK_THRESHOLD_CASES], ids=str)
def test_a_cut_list_is_a_list_of_all_items_and_the_sentinel(case: Neighbours) -> None:
    """The law of the n + 1 comes from the other module, which goes from step to step."""
    p, n = case.parameters, len(case.answers)
    for (winners, feature, (order, _)), bounds in exact(case, 0).items():
        if feature != "items":
            continue
        ends = winners < p.k
        length = winners + ends
        parameters = TopK(
            length, p.epsilon * Fraction(length, p.k), resolution=p.resolution,
            sensitivity=p.sensitivity, monotonic=p.monotonic,
        )  # fmt: skip
        assert parameters.rate == p.rate
        assert p.threshold is not None
        ranked = [*case.answers, p.threshold]
        if length <= n:
            low, high = exact_law.top_k(ranked, parameters, [*order, *[n] * ends])
            assert low <= bounds.high
            assert bounds.low <= high


def test_the_gap_down_to_the_sentinel_has_the_law_of_a_gap() -> None:
    """That of one winner is a sum over the gap from the sentinel on down, which is not released."""
    parameters = TopK(2, 2, resolution=1, monotonic=True)
    cells = {key: bounds for (winners, _, key), bounds in exact(PAIR, 0).items() if winners == 1}
    for gap in range(3):
        low = high = Fraction(0)
        for next_gap in range(50):
            top = [(0, gap), (2, next_gap)]
            one = exact_law.gap_top_k([*PAIR.answers, 0], parameters, top)
            low, high = low + one.low, high + one.high
        beyond = Fraction(1, 10**20)  # e^−100, and a little more for gaps above 50
        assert low <= cells[(0,), (gap,)].high
        assert cells[(0,), (gap,)].low <= high + beyond


@pytest.mark.parametrize("case", [PAIR, TRIPLE, *slowly(THRESHOLD_CASES[:-1:3])], ids=str)
def test_nothing_costs_more_than_it_is_said_to(case: Neighbours) -> None:
    assert costs_more(case, TopK.cost) == set()


@pytest.mark.deep
def test_less_than_it_is_said_to_cost_would_be_too_little() -> None:
    """Each bound is reached: by no winner, by some, and by k."""

    def nearly(parameters: TopK, winners: int) -> Fraction:
        return parameters.cost(winners) * Fraction(99, 100)

    reached = {
        (case.parameters.monotonic, winners, case.parameters.k)
        for case in THRESHOLD_CASES[:-1]
        if case.parameters.epsilon == 3
        for winners in costs_more(case, nearly)
    }
    assert reached >= {
        (True, 0, 1), (True, 1, 1), (True, 0, 2), (True, 1, 2), (True, 2, 2), (True, 1, 3),
        (True, 2, 3), (True, 3, 3), (False, 0, 1), (False, 0, 2), (False, 1, 2), (False, 1, 3),
        (False, 2, 3),
    }  # fmt: skip
    assert costs_more(PAIR, charge_for_winners) == {0}
    assert costs_more(Neighbours((0, 0), (0, 1), TWO), charge_for_winners) == {0, 1}
    assert costs_more(Neighbours((0, 0), (-1, 1), BOTH_WAYS), charge_for_monotonic) == {1}


@pytest.mark.parametrize(("case", "mutant", "too_little"), [
    (Neighbours((0, 0), (0, 1), TWO),
     Mutant("j for j + 1", "Fraction(winners + 1, self.k)", "Fraction(winners, self.k)"), {0, 1}),
    (Neighbours((0, 0), (-1, 1), BOTH_WAYS),
     Mutant("2j for 2j + 1", "Fraction(2 * winners + 1,", "Fraction(2 * winners,"), {0, 1}),
], ids=lambda each: getattr(each, "name", ""))  # fmt: skip
def test_a_cost_that_is_too_small_is_exceeded(
    case: Neighbours, mutant: Mutant, too_little: set[int]
) -> None:
    assert costs_more(case, mutated(parameters_module, mutant).TopK.cost) == too_little


def ratio(one: Bounds, other: Bounds) -> Fraction:
    assert one.high - one.low < one.low / 10**9
    return one.low / other.high


def test_how_much_the_broken_ones_lose() -> None:
    """With one winner and Δ/β = 1, for answers (0, 0) and (0, 1).

    Cut one too late: S, 0 and 1 stand in this order and S leads by 3, or item 0 leads by 3.
    Telling who came next: 0, S and 1 stand in this order. Both are e^2 times as likely, or nearly.
    """
    squared = 1 / exp_minus(Fraction(2), 64).low

    def both(other: int) -> Bounds:
        first = bound_lead_probability((3, 0), (other,), (3, 0), Fraction(1))
        second = bound_lead_probability((0,), (3, other), (3,), Fraction(1))
        return Bounds(first.low + second.low, first.high + second.high)

    assert squared * Fraction(95, 100) < ratio(both(0), both(1)) < squared
    next_one = [bound_lead_probability((0, 0), (a,), (1, 0), Fraction(1)) for a in (0, 1)]
    assert abs(ratio(*next_one) / squared - 1) < Fraction(1, 10**9)


@pytest.mark.parametrize(("one", "other"), [((0, 0), (0, 1)), ((0, 0), (1, 1)), ((2, 1), (2, 2))])
def test_two_sided_noise_of_the_sentinel_costs_no_more(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    """With one winner and Δ/β = 1, where every output costs 1.

    A sentinel with the answer s is at step s with probability 1 − 1/e, and else it is one with the
    answer s + 1. So what it is at a given step comes from two of those, and Laplace noise weighs
    them by their distance from the threshold, which is 1 here.
    """
    x = exp(-1)

    def at_step(answers: tuple[int, int], s: int, winner: int | None, gap: int) -> float:
        def from_step(sentinel: int) -> float:
            ranked = [*answers, sentinel]
            first = ranked.pop(2 if winner is None else winner)
            return float(bound_lead_probability((first,), (*ranked,), (gap,), Fraction(1)).low)

        return (from_step(s) - x * from_step(s + 1)) / (1 - x)

    def probability(answers: tuple[int, int], winner: int | None, gap: int = 0) -> float:
        weights = {s: (1 - x) / (1 + x) * x ** abs(s - 1) for s in range(-29, 32)}
        return sum(each * at_step(answers, s, winner, gap) for s, each in weights.items())

    assert sum(probability(one, winner) for winner in (0, 1, None)) == pytest.approx(1)
    for winner, gap in [(None, 0), *product((0, 1), range(6))]:
        ratio = probability(one, winner, gap) / probability(other, winner, gap)
        assert abs(log(ratio)) < 1 + 1e-9


# --- By releases


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [True, False])
@pytest.mark.statistical(false_alarm=CLEAN)
def test_what_is_right_is_clean(gaps: bool, false_alarm: float) -> None:
    release: Any = ours if gaps else without_gaps
    made = audit(release, cases=[PAIR, TRIPLE], releases=20_000, failure=false_alarm, gaps=gaps)
    assert made.as_expected, made
    (found,) = made.mechanisms
    assert found.law_status == "kept"
    assert 0.3 < found.strongest_bound.share < 1
    assert found.promised == (Fraction(1, 2), Fraction(2))
    of_winners = {(each.winners, each.promised) for each in found.bounds if each.case == TRIPLE}
    assert of_winners == {(0, Fraction(1, 2)), (1, Fraction(3, 2)), (2, 2), (None, 2)}


# Of 60,000 releases of each that breaks what it promised, at least 1.16 times that is expected to
# be shown, with a standard deviation of at most 0.022; of 20,000 that charge nothing for no winner,
# what that costs is shown by counts that are thirty standard deviations apart. Those laws that are
# wrong are off by more than twenty. That what holds is said to be broken has at most the failure
# that is asked for.
@pytest.mark.slow
@pytest.mark.parametrize("broken", BROKEN_THRESHOLD, ids=lambda each: each.name)
@pytest.mark.statistical(false_alarm=CLEAN)
def test_what_is_broken_is_found(broken: Any, false_alarm: float) -> None:
    releases = 20_000 if broken.cost is charge_for_winners else 60_000
    made = audit(
        broken.release, cases=broken.shown_on, releases=releases, failure=0.9 * false_alarm,
        cost=broken.cost,
    )  # fmt: skip
    (found,) = made.mechanisms
    assert found.law_violated is (broken.breaks != "cost")
    assert found.privacy_violated is (broken.breaks != "law")


@pytest.mark.statistical(false_alarm=CLEAN)
def test_what_is_wrong_with_the_cost_is_said(false_alarm: float) -> None:
    made = audit(ours, cases=[PAIR], releases=8_000, cost=charge_for_winners, failure=false_alarm)
    assert not made.as_expected
    assert "and an output with 0 winners is said to cost 0." in " ".join(str(made).split())
    assert "threshold 0, no item came" in " ".join(str(made).split())
    assert ">9,999%" in str(made)
    assert "With a threshold, outputs with fewer than k items" in " ".join(str(made).split())
    (worst,) = {each.winners for each in made.mechanisms[0].bounds if each.violated}
    assert worst == 0
    assert any(each["promised"] == "0" for each in made.to_dict()["mechanisms"][0]["bounds"])


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=CLEAN)
def test_it_is_the_bound_of_each_output_that_finds_it(
    monkeypatch: pytest.MonkeyPatch, false_alarm: float
) -> None:
    """With ε alone, a version that charges j/k would look clean."""
    blind = mutated(
        epsilon_bounds,
        Mutant("ε for all", "promised = read_promise(case.parameters, observable.winners, cost)",
               "promised = case.parameters.epsilon"),
    )  # fmt: skip
    monkeypatch.setattr(auditor, "epsilon_bounds", blind)
    made = audit(ours, cases=[PAIR], releases=8_000, cost=charge_for_winners, failure=false_alarm)
    assert made.as_expected


@pytest.mark.slow
@pytest.mark.parametrize("mutant", [
    Mutant("the sentinel lost", "reached=j < k", "reached=False"),
    Mutant("no sentinel among the losers", "(*losers, self._sentinel), box", "losers, box"),
    Mutant("the numbers of winners exchanged", "counts[cell.winners, cell.feature]",
           "counts[case.parameters.k - cell.winners, cell.feature]"),
    Mutant("a threshold of 1", "sentinel = case.parameters.threshold_units",
           "sentinel = 1"),
], ids=lambda each: each.name)  # fmt: skip
@pytest.mark.statistical(false_alarm=FOUND)
def test_an_audit_with_a_wrong_law_is_found(
    mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditor, "law_test", mutated(law_test, mutant))
    case = Neighbours((0, 0, 0), (1, 0, 0), TWO)
    assert not audit(ours, cases=[case], releases=8_000).as_expected


NAMED = "items = [*takewhile(lambda item: item is not SENTINEL, ranked)]"


# Each changes some probability by more than a tenth, of 4,000 releases and more.
@pytest.mark.slow
@pytest.mark.parametrize("mutant", [
    Mutant("no noise of the sentinel", "(units << refinement) + noise", "0 * noise"),
    Mutant("half its noise", "(units << refinement) + noise", "noise // 2"),
    Mutant("cut one too late", NAMED,
           NAMED.replace("items = ", "items = [i for i in ranked if i is not SENTINEL][:1 + len(")
           .replace("ranked)]", "ranked)])]")),
    Mutant("not cut", NAMED, "items = [item for item in ranked if item is not SENTINEL]"),
], ids=lambda each: each.name)  # fmt: skip
@pytest.mark.statistical(false_alarm=FOUND)
def test_a_broken_pool_is_found(mutant: Mutant) -> None:
    broken = mutated(candidate_pool, mutant)

    def release(answers: Sequence[int], parameters: TopK) -> Any:
        pool = broken.CandidatePool(parameters)
        pool.add(list(answers), None)
        ranking = pool.rank()
        gaps = [units * parameters.resolution for units in ranking.gap_units]
        return list(zip(ranking.items, gaps, strict=False))

    (found,) = audit(release, cases=[PAIR], releases=8_000).mechanisms
    assert found.law_violated


# --- Cases, outcomes and costs


def test_the_cases_are_what_they_say() -> None:
    assert read_cases(THRESHOLD_CASES) == THRESHOLD_CASES
    assert len({*THRESHOLD_CASES}) == len(THRESHOLD_CASES) >= 40
    assert {*QUICK_THRESHOLD_CASES} < {*THRESHOLD_CASES}
    assert {each.parameters.k for each in THRESHOLD_CASES} >= {1, 2, 3}
    assert {each.parameters.resolution.denominator for each in THRESHOLD_CASES} == {1, 2, 10}
    for some in (THRESHOLD_CASES, QUICK_THRESHOLD_CASES):
        assert all(each.parameters.has_sentinel for each in some)
        assert {(each.parameters.epsilon, each.parameters.monotonic) for each in some} >= {
            (epsilon, monotonic)
            for epsilon in (Fraction(1, 10), Fraction(1), Fraction(3))
            for monotonic in (True, False)
        }
    assert law_test.count_tails(THRESHOLD_CASES[-1], gaps=True) == 0


@pytest.mark.statistical(false_alarm=CLEAN)
def test_a_threshold_may_lie_far_from_all_answers(false_alarm: float) -> None:
    """The law does not go from step to step."""
    far = Neighbours((0, 0), (1, 1), TopK(1, 1, monotonic=True, threshold=10**60))
    made = audit(ours, cases=[far], releases=1_000, failure=false_alarm)
    assert made.as_expected
    assert made.mechanisms[0].law_status == "kept"
    assert all(not each.violated for each in made.mechanisms[0].bounds)


@pytest.mark.parametrize(("answers", "parameters", "said"), [
    ((0, 0), TopK(1, 1, threshold=5, items_per_person=1, noise="laplace"),
     "a threshold only with exponential noise"),
    ((0, 0), TopK(3, 1, threshold=5), "same number of answers, and at least k"),
    ((0, 0), TopK(2, 1), "same number of answers, and more than k"),
    ((0, 0), TopK(1, 1, threshold=10**100), "its threshold must lie between"),
], ids=range(4))  # fmt: skip
def test_cases_that_cannot_be_used_are_refused(
    answers: tuple[int, ...], parameters: TopK, said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        read_cases([Neighbours(answers, (1, 0), parameters)])


def test_outcomes_may_have_fewer_winners() -> None:
    assert read_outcome([], TWO, gaps=True) == Outcome((), ())
    assert read_outcome([], TWO, gaps=False) == Outcome((), None)
    assert read_outcome([(1, 3)], TWO, gaps=True) == Outcome((1,), (3,))
    assert read_outcome(Release(TWO, [1], [3]), TWO, gaps=True) == Outcome((1,), (3,))
    with pytest.raises(ReleaseError, match="3 winners where k = 2"):
        read_outcome([(0, 1)] * 3, TWO, gaps=True)
    with pytest.raises(ReleaseError, match="1 winner where k = 2"):
        read_outcome([(0, 1)], TopK(2, 1), gaps=True)


def test_a_release_that_misstates_its_cost_is_impossible() -> None:
    """One that was made with half the ε that was asked for says that it cost half as much."""
    half = TopK(2, 1, resolution=1, monotonic=True, threshold=0)
    outcome = read_outcome(Release(half, [1], [3]), TWO, gaps=True)
    assert outcome == Outcome((1,), (3,), None, misstates_cost=True)
    assert "does not match" in str(explain_impossible(outcome, 3))


@pytest.mark.parametrize("gaps", [True, False])
def test_the_failure_is_divided_by_all_that_is_looked_at(gaps: bool) -> None:
    release: Callable[..., Any] = ours if gaps else without_gaps
    made = audit(release, cases=[PAIR, TRIPLE], releases=1_000, gaps=gaps)
    (found,) = made.mechanisms
    cells = sum(each.cells for each in found.laws)
    assert made.tails == 2 * cells + 2 * len(found.bounds)


def test_costs_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(
        ParameterTypeError, match="cost must be a function of parameters and a number"
    ):
        audit(ours, cases=[PAIR], releases=1_000, cost=Fraction(1))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="cost must return 0 or more"):
        audit(ours, cases=[PAIR], releases=1_000, cost=lambda _, j: j - 1)
    with pytest.raises(ParameterTypeError, match="cost must be"):
        audit(ours, cases=[PAIR], releases=1_000, cost=lambda *_: None)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="are for a function of your own"):
        audit(cost=TopK.cost)
