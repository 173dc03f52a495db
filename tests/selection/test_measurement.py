"""Winners and their measurements: the joint law, its privacy, and how ε is shared."""

from fractions import Fraction
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checking.frequencies import misfits_of
from tests.checking.mutants import Mutant, mutated
from topgap import (
    AnswersError,
    ParameterError,
    ParameterTypeError,
    TopK,
    law,
    top_k_with_estimates,
)
from topgap.law import Bounds
from topgap.selection import measurement
from topgap.selection.measurement import Shares
from topgap.selection.preparation import prepare as taken_out

POSITIVE = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9)


@pytest.mark.slow
@given(
    k=st.integers(1, 1_000),
    epsilon=POSITIVE,
    share=st.fractions(min_value=Fraction(1, 10**9), max_value=1 - Fraction(1, 10**9)),
)
def test_the_shares_sum_to_epsilon_exactly(k: int, epsilon: Fraction, share: Fraction) -> None:
    shares = Shares.of(TopK(k, epsilon), share)
    assert shares.selection.epsilon + sum([shares.measurement_epsilon] * k) == epsilon
    assert shares.epsilon == epsilon
    assert shares.selection.epsilon == share * epsilon


def test_the_other_parameters_stay() -> None:
    whole = TopK(3, 1, resolution="1/4", sensitivity="1/2", monotonic=True)
    selection = Shares.of(whole, "1/3").selection
    assert selection == TopK(3, "1/3", resolution="1/4", sensitivity="1/2", monotonic=True)
    assert Shares.of(whole, "1/3").rate == Fraction(2, 9) / 2  # ε/k·2/3, of half a unit


@pytest.mark.parametrize("share", [0, -1, "-1/2", 1, "3/2", "nan", "half"])
def test_a_share_lies_between_0_and_1(share: Any) -> None:
    with pytest.raises(ParameterError, match=r"^selection_share must .*\.$"):
        Shares.of(TopK(1, 1), share)


def test_a_share_is_a_number() -> None:
    with pytest.raises(ParameterTypeError, match="selection_share must be"):
        Shares.of(TopK(1, 1), True)


# The law: answers that lie between the steps, so that rounding down is seen.
Outcome = tuple[tuple[int, ...], tuple[int, ...], tuple[Fraction, ...]]
ANSWERS = [Fraction(9, 4), Fraction(3, 4), Fraction(11, 4)]
SHARES = {
    "k = 1": Shares.of(TopK(1, 4, resolution="1/2"), "1/2"),
    "k = 2": Shares.of(TopK(2, 12, resolution="1/2", monotonic=True), "2/3"),
}


@cache
def laplace(rate: Fraction, off: Fraction) -> Bounds:
    """P(x) = (1 − t)/(1 + t)·t^|x| for t = e^−rate, in steps."""
    low, high = law.exp_minus(rate, 128)
    power = law.exp_minus(rate * abs(off), 128)
    return Bounds((1 - high) / (1 + high) * power.low, (1 - low) / (1 + low) * power.high)


@cache
def released(answers: tuple[Fraction, ...], parameters: TopK, pairs: Any) -> Bounds:
    return law.gap_top_k(answers, parameters, pairs)


def joint_law(answers: list[Fraction], shares: Shares, outcome: Outcome) -> Bounds:
    """The law of the release, and for each winner, independently, discrete Laplace noise."""
    indices, gaps, measured = outcome
    parameters = shares.selection
    step = parameters.resolution
    pairs = tuple((i, gap * step) for i, gap in zip(indices, gaps, strict=True))
    low, high = released(tuple(answers), parameters, pairs)
    rate = shares.measurement_epsilon * step / parameters.sensitivity
    for i, each in zip(indices, measured, strict=True):
        off = each / step - answers[i] // step
        assert off.denominator == 1
        bounds = laplace(rate, off)
        low, high = low * bounds.low, high * bounds.high
    return Bounds(low, high)


def violations(module: Any, name: str, false_alarm: float) -> list[str]:
    shares = SHARES[name]
    made = module.Shares.of(
        TopK(
            shares.selection.k,
            shares.epsilon,
            resolution=shares.selection.resolution,
            monotonic=shares.selection.monotonic,
        ),
        shares.selection.epsilon / shares.epsilon,
    )

    data = taken_out(made.selection, ANSWERS)

    def run() -> Outcome:
        release, measured = made.select_and_measure(data)
        assert release.gap_units is not None
        return tuple(release.indices.tolist()), tuple(release.gap_units.tolist()), measured

    return misfits_of(run, 40_000, lambda each: joint_law(ANSWERS, shares, each), false_alarm)


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-9)
@pytest.mark.parametrize("name", SHARES)
def test_winners_gaps_and_measurements_have_their_joint_law(name: str, false_alarm: float) -> None:
    assert violations(measurement, name, false_alarm) == []


MUTANTS = [
    Mutant("each measured with the whole rest",
           "self.measurement_epsilon * parameters.resolution / parameters.sensitivity",
           "self.measurement_epsilon * parameters.k * parameters.resolution"),
    Mutant("a tenth too little noise", "noise = laplace(self.rate, len(steps))",
           "noise = laplace(self.rate * Fraction(10, 9), len(steps))"),
    Mutant("a tenth too much noise", "noise = laplace(self.rate, len(steps))",
           "noise = laplace(self.rate * Fraction(9, 10), len(steps))"),
    Mutant("no noise", "[a + x for", "[a + 0 * x for"),
    Mutant("one noise for all", "laplace(self.rate, len(steps))",
           "laplace(self.rate, 1) * len(steps)"),
    Mutant("winners in the order of their positions", "release, self.measure(answers)",
           "release, self.measure([data.numbers[i] for i in sorted(release.indices)])"),
    Mutant("rounded to the nearest step", "floor_answers(answers, resolution.denominator)",
           "[round(a * resolution.denominator) for a in answers]"),
    Mutant("selected with the whole", "parameters.epsilon * share,", "parameters.epsilon,"),
    Mutant("selected with the share of a winner", "parameters.epsilon * share,",
           "parameters.epsilon * share / parameters.k,"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_measurement_is_found(mutant: Mutant) -> None:
    """With k = 2, of which each defect moves at least one cell by many standard deviations."""
    assert violations(mutated(measurement, mutant), "k = 2", 1e-9) != []


def is_violated(shares: Shares, one: list[Fraction], other: list[Fraction]) -> bool:
    """Whether some output has P(one) > e^ε·P(other) beyond any doubt; ε is that of the whole."""
    e_to_minus_epsilon = law.exp_minus(shares.epsilon, 128).low
    step, k = shares.selection.resolution, shares.selection.k
    for winners in permutations(range(len(one)), k):
        for gaps in product(range(3), repeat=k):
            for measured in product(range(3), repeat=k):
                outcome = winners, gaps, tuple(each * step for each in measured)
                likely = joint_law(one, shares, outcome).low
                if likely * e_to_minus_epsilon > joint_law(other, shares, outcome).high:
                    return True
    return False


def neighbours(answers: list[int], monotonic: bool) -> list[tuple[list[Fraction], list[Fraction]]]:
    pairs = []
    for moves in product([0, 1] if monotonic else [-1, 0, 1], repeat=len(answers)):
        one = [Fraction(answer) for answer in answers]
        other = [answer + move for answer, move in zip(one, moves, strict=True)]
        pairs += [(one, other), (other, one)]
    return pairs


@pytest.mark.deep
@pytest.mark.parametrize(("answers", "k"), [([1, 0], 1), ([1, 1], 1), ([1, 0, 1], 2)])
@pytest.mark.parametrize("monotonic", [False, True])
def test_no_output_betrays_a_neighbour(answers: list[int], k: int, monotonic: bool) -> None:
    shares = Shares.of(TopK(k, "3/2", resolution=1, monotonic=monotonic), "1/3")
    for one, other in neighbours(answers, monotonic):
        assert not is_violated(shares, one, other)


@pytest.mark.slow
@pytest.mark.parametrize("monotonic", [False, True])
def test_nor_if_the_resolution_is_fine_and_the_answers_lie_between_its_steps(
    monotonic: bool,
) -> None:
    whole = TopK(1, "3/2", resolution="1/2", sensitivity="3/2", monotonic=monotonic)
    shares = Shares.of(whole, "1/3")
    one = [Fraction(5, 12), Fraction(1, 4)]
    for moves in product(range(0 if monotonic else -4, 5), repeat=2):
        other = [a + Fraction(3, 8) * move for a, move in zip(one, moves, strict=True)]
        assert not is_violated(shares, one, other)
        assert not is_violated(shares, other, one)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2])
def test_the_measurements_cannot_have_less_noise(k: int) -> None:
    """With a hundredth less in each, and ε said to be the same, there are outputs that tell."""
    shares = Shares.of(TopK(k, "3/2", resolution=1, monotonic=True), "1/3")

    class TooSure(Shares):
        @property
        def epsilon(self) -> Fraction:
            return shares.epsilon

    less = TooSure(shares.selection, shares.measurement_epsilon * Fraction(101, 100))
    assert any(is_violated(less, one, other) for one, other in neighbours([1] * (k + 1), True))


# Whatever holds the answers.
HUGE = 10**40


@pytest.mark.parametrize(
    "answers",
    [
        [HUGE, 5, 2 * HUGE],
        np.array([1e300, -1e300, 2e300]),
        [Fraction(10**30, 3), Fraction(1, 3), Fraction(2 * 10**30, 3)],
        np.array([2**62, 0, 2**63 - 1]),
        {"ash": 10**9, "elm": 0, "oak": 2 * 10**9},
    ],
    ids=str,
)
def test_answers_of_any_kind_are_measured(answers: Any) -> None:
    """With ε = 10^9 noise leaves the first decimal place alone but for a chance of e^−10^7."""
    shares = Shares.of(TopK(2, 10**9), "1/2")
    release, measured = shares.select_and_measure(taken_out(shares.selection, answers, threads=1))
    plain = (
        [*answers.values()] if isinstance(answers, dict) else np.asarray(answers, object).tolist()
    )
    expected = [Fraction(plain[i]) * 10 // 1 / Fraction(10) for i in (2, 0)]
    assert release.indices.tolist() == [2, 0]
    assert [*measured] == expected


def test_noise_too_large_for_the_kernel_is_drawn_by_the_reference() -> None:
    shares = Shares.of(TopK(1, "1e-40"), "1/2")
    release, measured = shares.select_and_measure(taken_out(shares.selection, [1, 2]))
    # Noise of a mean below 10^30 has a chance of less than 10^−9.
    assert abs(measured[0]) > 10**30
    assert len(release) == 1


def test_a_measurement_is_the_answer_rounded_down_and_just_the_noise_that_was_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def drawn(rate: Fraction, count: int) -> list[int]:
        asked.append((rate, count))
        return [10**40, -(10**40), 0, -1]

    monkeypatch.setattr(measurement, "laplace", drawn)
    shares = Shares.of(TopK(4, 1, resolution="1/2"), "1/2")
    assert shares.measure([3.75, -0.25, 10**50, Fraction(2, 3)]) == (
        Fraction(7, 2) + Fraction(10**40, 2),
        -Fraction(1, 2) - Fraction(10**40, 2),
        Fraction(10**50),
        Fraction(0),
    )
    assert asked == [(shares.rate, 4)]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_no_more_and_no_fewer_than_the_winners_are_measured(count: int) -> None:
    with pytest.raises(AnswersError, match="Only the 2 named items are measured, each once"):
        Shares.of(TopK(2, 1), "1/2").measure([5] * count)


def test_too_few_answers_are_refused() -> None:
    with pytest.raises(AnswersError, match="k = 2 needs at least 3 answers"):
        top_k_with_estimates([1, 2], 2, 1)


def test_nothing_is_measured_if_nothing_can_be_selected(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        pytest.fail("noise was drawn")

    monkeypatch.setattr(measurement, "laplace", fail)
    with pytest.raises(AnswersError):
        top_k_with_estimates([1, float("nan")], 1, 1)
