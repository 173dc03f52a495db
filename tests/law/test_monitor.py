"""The law of a monitor, which is sparse vector with gap: by enumeration, and against its promise.

Probabilities are exact bounds, so a violation that is found is a proof. Of a ratio that is e^ε
itself bounds cannot say that it is not above e^ε; but by how little.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import accumulate, product
from typing import Any

import pytest

from tests.checking.cached_law import exp_minus
from tests.checking.mutants import Mutant, mutated
from topgap import AnswersError, ParameterError, ParameterTypeError, SparseVector, TopK, law
from topgap.law import Bounds, monitor
from topgap.selection import sparse_vector

Answers = tuple[int | Fraction, ...]
Outcome = tuple[int | Fraction | None, ...]
EPSILON = Fraction(1, 2)
NARROW = 1 + Fraction(1, 2**80)


def outcomes(answers: int, most: int, gaps: range, step: Fraction | int = 1) -> Iterator[Outcome]:
    """All outcomes for so many answers, of which at most so many have a gap, the last one last."""
    for outcome in product((None, *(gap * step for gap in gaps)), repeat=answers):
        given = [place for place, gap in enumerate(outcome) if gap is not None]
        if len(given) < most or (len(given) == most and given[-1] == answers - 1):
            yield outcome


# --- The law


REACH = 50


@cache
def masses(rate: Fraction) -> tuple[Fraction, ...]:
    """The probabilities of noise from 0 on, each less than the one before by the same factor.

    They are rounded to 160 bits, or sums of them would take long.
    """
    x, one = exp_minus(rate, 160).low, 2**160
    return tuple(Fraction(int((1 - x) * x**n * one), one) for n in range(2 * REACH))


@cache
def below_each(rate: Fraction) -> tuple[Fraction, ...]:
    """The probabilities that noise is below 0, 1, 2 and so on."""
    return (Fraction(0), *accumulate(masses(rate)))


def enumerated(answers: Answers, parameters: SparseVector, outcome: Outcome) -> Fraction:
    """Add up the probabilities of the noise, but for noise of the threshold beyond `REACH`."""
    noise, below = masses(parameters.answer_rate), below_each(parameters.answer_rate)
    total = Fraction(0)
    for n, mass in enumerate(masses(parameters.threshold_rate)[:REACH]):
        for answer, gap in zip(answers, outcome, strict=True):
            d = int(parameters.threshold + n - answer + (gap or 0))
            exactly = noise[d] if d >= 0 else Fraction(0)
            mass *= below[max(d, 0)] if gap is None else exactly
        total += mass
    return total


SEQUENCES: list[Answers] = [(0,), (3,), (-2, 1), (1, 1), (0, 2, -1), (2, 1, 1)]


def disagreements(module: Any, answers: Answers, most: int) -> list[Outcome]:
    """The outcomes to which enumeration gives another probability.

    The threshold's noise has rate 2, so that e^−100 is beyond reach, and each probability that is
    put in is off by less than 2^−150.
    """
    parameters = SparseVector(1, most, 4, threshold_share="1/2")
    small, found = Fraction(1, 2**90), []
    for outcome in outcomes(len(answers), most, range(3)):
        low, high = module.sparse_vector(answers, parameters, outcome)
        if high - low > small or abs(low - enumerated(answers, parameters, outcome)) > small:
            found.append(outcome)
    return found


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("answers", SEQUENCES, ids=str)
def test_enumeration_gives_the_same(answers: Answers, most: int) -> None:
    assert disagreements(law, answers, most) == []


@pytest.mark.parametrize("mutant", [
    Mutant("at or below", "below = [d for d", "below = [d + 1 for d"),
    Mutant("a gap that is one larger", "exact = [d + int(gap)", "exact = [d + int(gap) - 1"),
    Mutant("negative noise", "start = max(0, -min", "start = max(0, -1 - min"),
    Mutant("the threshold fixed", "power = len(exact) + j", "power = j"),
    Mutant("all signs alike", "if j % 2 else", "if False else"),
    Mutant("gaps of one noise", "** len(exact) * at_u", "* at_u"),
], ids=lambda each: each.name)  # fmt: skip
def test_a_wrong_law_is_found(mutant: Mutant) -> None:
    wrong = mutated(monitor, mutant)
    assert any(disagreements(wrong, answers, most) for answers in SEQUENCES for most in (1, 2))


def test_all_outcomes_together_are_certain() -> None:
    """Those of one answer, whose noise is 150 steps with a probability of e^−50."""
    parameters = SparseVector(2, 1, 4, resolution="1/3", threshold_share="1/2")
    gaps = (None, *(Fraction(gap, 3) for gap in range(150)))
    bounds = [law.sparse_vector([Fraction(7, 5)], parameters, [gap]) for gap in gaps]
    assert 1 - Fraction(1, 2**60) < sum(each.low for each in bounds) < 1
    assert sum(each.high for each in bounds) < 1 + Fraction(1, 2**60)


def test_what_cannot_come_has_probability_0() -> None:
    parameters = SparseVector(0, 1, 1)
    for outcome in ([-1, None], ["1/2", None], [1, None], [1, 1]):
        gaps = [Fraction(gap) if isinstance(gap, str) else gap for gap in outcome]
        assert law.sparse_vector([0, 0], parameters, gaps) == Bounds(Fraction(0), Fraction(0))
    low, high = law.sparse_vector([], parameters, [])
    assert 1 / NARROW < low <= 1 == high


@pytest.mark.parametrize(
    ("answers", "outcome", "error"),
    [
        ([0], [None, None], ParameterError),
        ([0], [1.5], ParameterTypeError),
        ([0], "1", ParameterTypeError),
        ([0], [10**6], ParameterError),
        ([10**6], [None], AnswersError),
    ],
)
def test_what_cannot_be_used_is_refused(answers: Any, outcome: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"\.$"):
        law.sparse_vector(answers, SparseVector(0, 2, 1), outcome)
    with pytest.raises(ParameterTypeError, match="SparseVector"):
        law.sparse_vector([0], TopK(1, 1), [None])  # type: ignore[arg-type]


# --- The promise


def neighbours(answers: Answers, *, monotonic: bool) -> Iterator[tuple[Answers, Answers]]:
    """Each pair in which every answer moves by at most 1; all the same way when monotonic."""
    for moves in product([0, 1] if monotonic else [-1, 0, 1], repeat=len(answers)):
        moved = tuple(answer + move for answer, move in zip(answers, moves, strict=True))
        yield answers, moved
        yield moved, answers


@cache
def probability(answers: Answers, parameters: SparseVector, outcome: Outcome) -> Bounds:
    return law.sparse_vector(answers, parameters, outcome)


def excess(
    one: Answers, other: Answers, parameters: SparseVector, outcome: Outcome, cost: Fraction
) -> Bounds:
    """Bounds of P(one)/P(other), divided by e^cost."""
    likely, rare = (probability(each, parameters, outcome) for each in (one, other))
    low, high = exp_minus(cost, 128)
    return Bounds(likely.low / rare.high * low, likely.high / rare.low * high)


def largest_excess(
    parameters: SparseVector,
    answers: Answers,
    costs: SparseVector | None = None,
    sensitivity: int = 1,
) -> dict[int, Bounds]:
    """Over all neighbours and outcomes: for each number of gaps, relative to what it costs."""
    costs = costs or parameters
    found: dict[int, Bounds] = {}
    pairs = [*neighbours((0,) * len(answers), monotonic=costs.monotonic)]
    for one, other in pairs:
        a, b = (
            tuple(answer + sensitivity * move for answer, move in zip(answers, moves, strict=True))
            for moves in (one, other)
        )
        for outcome in outcomes(len(answers), parameters.answers, range(5)):
            gaps = sum(gap is not None for gap in outcome)
            here = excess(a, b, parameters, outcome, costs.cost(gaps))
            before = found.get(gaps, Bounds(Fraction(0), Fraction(0)))
            found[gaps] = Bounds(*map(max, here, before))
    return found


# The threshold is 0.
PROMISED: list[tuple[Answers, int]] = [
    ((0,), 1), ((-1, 2), 1), ((-1, 0), 1), ((-1, 1), 2), ((0, -1, -1), 1), ((-1, 0, 1), 2),
]  # fmt: skip
PROMISED_THREE: list[tuple[Answers, int]] = [((-1, -1, 0), 3), ((1, -2, 3), 3)]


@pytest.mark.slow
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize(
    ("answers", "most"),
    [*PROMISED, *(pytest.param(*each, marks=pytest.mark.deep) for each in PROMISED_THREE)],
    ids=str,
)
def test_no_output_tells_more_than_it_costs(answers: Answers, most: int, monotonic: bool) -> None:
    """Neither than ε, nor than the cost of so many gaps."""
    parameters = SparseVector(0, most, EPSILON, monotonic=monotonic)
    found = largest_excess(parameters, answers)
    assert max(each.high for each in found.values()) <= NARROW
    assert all(parameters.cost(gaps) <= EPSILON for gaps in found)
    assert parameters.cost(most) == EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("most", [1, 2])
def test_each_of_the_costs_is_reached(most: int, monotonic: bool) -> None:
    """An answer that comes to lie at the threshold takes the threshold's noise along."""
    parameters = SparseVector(0, most, EPSILON, monotonic=monotonic)
    for gaps, each in largest_excess(parameters, (-1, *[0] * most)).items():
        assert gaps == 0 or each.low > 1 / NARROW
    # If none is above, the cost is approached as more and more answers are below.
    many = [
        excess((-2,) * n, (-1,) * n, parameters, (None,) * n, parameters.cost(0)).low
        for n in (1, 4, 16)
    ]
    assert many == sorted(many)


def with_rates(parameters: Any) -> SparseVector:
    """A monitor that has these rates of noise, whatever they are right for; γ = Δ = 1."""
    first, second = parameters.threshold_rate, parameters.answer_rate * parameters.answers
    return SparseVector(
        0, parameters.answers, first + second, monotonic=True, resolution=1,
        threshold_share=first / (first + second),
    )  # fmt: skip


BROKEN = [
    (Mutant("no factor 2", "sides = 1 if self.monotonic else 2", "sides = 1"), False),
    (Mutant("no factor c", "sides * self.answers * self.sensitivity", "sides * self.sensitivity"),
     True),
    (Mutant("all of ε for the threshold", "(self.epsilon * self.threshold_share)",
            "self.epsilon"), True),
    (Mutant("all of ε for the answers", "(self.epsilon * share)", "self.epsilon"), True),
    (Mutant("no sensitivity, threshold", "return self.sensitivity /", "return Fraction(1) /"),
     True),
    (Mutant("no sensitivity, answers", "self.answers * self.sensitivity /", "self.answers /"),
     True),
]  # fmt: skip


@pytest.mark.parametrize(("mutant", "monotonic"), BROKEN, ids=str)
def test_noise_that_is_too_small_breaks_the_promise(mutant: Mutant, monotonic: bool) -> None:
    right: dict[str, Any] = {"monotonic": monotonic, "sensitivity": 2}
    broken = mutated(sparse_vector, mutant).SparseVector(0, 2, EPSILON, **right)
    promised = SparseVector(0, 2, EPSILON, **right)
    for parameters, fails in ((broken, True), (promised, False)):
        found = largest_excess(with_rates(parameters), (-1, 0, 0), promised, sensitivity=2)
        assert any(each.low > 1 for each in found.values()) is fails


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("part", ["threshold", "answers"])
def test_neither_noise_can_be_smaller(part: str, monotonic: bool) -> None:
    """With a hundredth less noise there are neighbours that tell."""
    promised = SparseVector(0, 1, EPSILON, monotonic=monotonic, threshold_share="1/2")
    more = Fraction(101, 100)
    first, second = (more, 1) if part == "threshold" else (1, more)
    sides = 1 if monotonic else 2
    too_little = SparseVector(
        0, 1, EPSILON / 2 * (first + Fraction(second) / sides), monotonic=True,
        threshold_share=Fraction(first) / (first + Fraction(second) / sides),
    )  # fmt: skip
    found = largest_excess(too_little, (-1, 0), promised)
    assert any(each.low > 1 for each in found.values())


@pytest.mark.slow
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize(("resolution", "sensitivity"), [("1/2", 1), (1, 2), ("1/3", "2/3")])
def test_so_it_is_for_other_sensitivities_and_unrounded_answers(
    resolution: str, sensitivity: str, monotonic: bool
) -> None:
    """Two answers between the steps, each moved by every half of the sensitivity."""
    parameters = SparseVector(
        "0.4", 1, EPSILON, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic
    )
    answers = (Fraction(5, 12), Fraction(1, 4))
    for moves in product(range(0 if monotonic else -2, 3), repeat=2):
        moved = tuple(
            a + parameters.sensitivity * m / 2 for a, m in zip(answers, moves, strict=True)
        )
        for one, other in ((answers, moved), (moved, answers)):
            for outcome in outcomes(2, 1, range(4), parameters.resolution):
                cost = parameters.cost(sum(gap is not None for gap in outcome))
                assert excess(one, other, parameters, outcome, cost).high <= NARROW
