"""An audit of Top-k with Laplace noise: what is right is clean, and what is wrong is found."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from tests.auditing.plain_laplace import plain_laplace
from tests.checking.mutants import Mutant, mutated
from topgap import ParameterError, TopK, audit
from topgap.auditing import Neighbours, auditor
from topgap.auditing.cases.default_cases import FEW_ITEMS_CASES, QUICK_FEW_ITEMS_CASES
from topgap.auditing.cases.neighbours import read_cases
from topgap.auditing.checks import epsilon_bounds, laplace_cells, law_test
from topgap.auditing.mechanisms.broken_laplace import BROKEN_LAPLACE

ONE = TopK(1, 1, monotonic=True, items_per_person=1, noise="laplace")
TWO = TopK(3, 2, monotonic=True, items_per_person=2)
REPLACED = TopK(2, 2, resolution="1/2", items_per_person=1)
PAIR = Neighbours((0, 0), (1, 0), ONE)
PERSON_IN_TWO = Neighbours((0, 0, 0, 1), (1, 1, 0, 1), TWO)
TRIPLE = Neighbours((1, 0, 0), (0, 1, 0), REPLACED)
THREE_ITEMS = Neighbours((0, 0, 1), (1, 0, 1), TopK(2, 1, monotonic=True, items_per_person=1))
CASES = [PAIR, PERSON_IN_TWO, TRIPLE]
CLEAN = 1e-11
FOUND = 1e-15  # what must be found is missed with less, as in test_audit.py


@cache
def times(parameters: TopK, factor: Fraction) -> TopK:
    return TopK(
        parameters.k, parameters.epsilon * factor, resolution=parameters.resolution,
        monotonic=parameters.monotonic, items_per_person=parameters.items_per_person,
        noise="laplace",
    )  # fmt: skip


def without_gaps(answers: Sequence[int], parameters: TopK) -> list[int]:
    return [index for index, *_ in plain_laplace(answers, parameters)]


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [True, False])
@pytest.mark.statistical(false_alarm=CLEAN)
def test_the_plain_mechanism_is_clean(gaps: bool, false_alarm: float) -> None:
    release: Any = plain_laplace if gaps else without_gaps
    made = audit(release, cases=CASES, releases=30_000, failure=false_alarm, gaps=gaps)
    assert made.as_expected, made
    (found,) = made.mechanisms
    assert found.law_status == "kept"
    assert found.values is gaps
    assert 0.3 < found.strongest_bound.share < 1
    assert ("for Laplace noise, with each value" in " ".join(str(made).split())) is gaps


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "private"), [("5/4", None), ("4/5", True), (2, False)])
@pytest.mark.statistical(false_alarm=CLEAN)
def test_less_and_more_noise_are_found(factor: Any, private: bool | None) -> None:
    def release(answers: Sequence[int], parameters: TopK) -> Any:
        return plain_laplace(answers, times(parameters, Fraction(factor)))

    (found,) = audit(release, cases=[PAIR], releases=40_000, failure=CLEAN).mechanisms
    assert found.law_violated
    if private is not None:  # an ε of 5/4 is too near to 1 to be shown by so few
        assert found.privacy_violated is not private


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=FOUND)
def test_most_of_what_is_promised_is_shown() -> None:
    """That item 0 wins with a value above 0 is nearly e^ε times as likely with the person."""
    (found,) = audit(plain_laplace, cases=[PAIR], releases=40_000).mechanisms
    assert 0.7 < found.strongest_bound.epsilon < 1


# Of 60,000 releases of each that breaks ε, five audits showed at least 1.5 times ε, with a standard
# deviation below 0.05; the laws are off by more than a hundred standard deviations. That the one
# that keeps ε is said to break it has at most the failure that is asked for.
@pytest.mark.slow
@pytest.mark.parametrize("broken", BROKEN_LAPLACE, ids=lambda each: each.name)
@pytest.mark.statistical(false_alarm=CLEAN)
def test_what_is_broken_is_found(broken: Any, false_alarm: float) -> None:
    made = audit(broken.release, cases=broken.shown_on, releases=60_000, failure=0.9 * false_alarm)
    (found,) = made.mechanisms
    assert found.law_violated
    assert found.privacy_violated is (broken.breaks == "privacy")


@pytest.mark.parametrize(("release", "why"), [
    (lambda *_: [(0, 0, 0), (1, 0, 0), (1, 0, 0)], "an item named twice"),
    (lambda *_: [(0, 0, Fraction(1, 2)), (1, 0, 0), (2, 0, 0)],
     "a value that is not a multiple of the resolution"),
    (lambda *_: [(0, 1, 5), (1, 0, 3), (2, 0, 3)], "values that do not differ by the gaps"),
    (lambda *_: [(0, 0, 5), (1, 0, 6), (2, 0, 6)], "values that do not differ by the gaps"),
], ids=range(4))  # fmt: skip
def test_what_is_impossible_is_a_violation_at_once(release: Any, why: str) -> None:
    made = audit(release, cases=[PERSON_IN_TWO], releases=1_000)
    first = made.mechanisms[0].laws[0].misfits[0]
    assert (first.outcome, first.count, first.high) == (why, 500, 0.0)


NUMBERS = "(order[:joint_prefix], numbers)"


@pytest.mark.parametrize("mutant", [
    Mutant("the next bin", "boxes = [\n            (\n                (number,),",
           "boxes = [\n            (\n                ((number + 1) % len(ranges),),"),
    Mutant("another rest", "yield Cell(k, _last_bits_of_value(i), ((), (left,))",
           "yield Cell(k, _last_bits_of_value(i), ((), (7 - left,))"),
    Mutant("values exchanged", NUMBERS,
           "(order[:joint_prefix], (*numbers[1:-1], numbers[0], numbers[-1]))"),
    Mutant("any last gap", "return Box((*[_FROM_0] * (len(values) - 1), last), ranges)",
           "return Box((_FROM_0,) * len(values), ranges)"),
    Mutant("coarser by one", "return 0 if first is None else value_bin(first, edges)",
           "return 0 if first is None else value_bin(first - 1, edges)"),
    Mutant("any values", "everything._replace(values=_replace(everything.values, i, each))",
           "everything"),
], ids=lambda each: each.name)  # fmt: skip
@pytest.mark.statistical(false_alarm=FOUND)
def test_an_audit_with_a_wrong_law_is_found(
    mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditor, "law_test", with_cells(mutated(laplace_cells, mutant)))
    assert not audit(plain_laplace, cases=[THREE_ITEMS], releases=8_000).as_expected


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=CLEAN)
def test_a_copy_that_is_not_wrong_is_clean(
    false_alarm: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So what is found above is the fault, and not the copy."""
    harmless = mutated(
        laplace_cells, Mutant("harmless", "_MOST_WORK = 10**9", "_MOST_WORK = 10**8")
    )
    monkeypatch.setattr(auditor, "law_test", with_cells(harmless))
    made = audit(plain_laplace, cases=[THREE_ITEMS], releases=8_000, failure=false_alarm)
    assert made.as_expected
    assert made.mechanisms[0].law_status == "kept"


def with_cells(cells: Any) -> Any:
    """A copy of the test of the law, with nothing in its cache, that makes these cells."""
    tested = mutated(law_test, Mutant("a copy", "_MOST_WORK = 4_000", "_MOST_WORK = 4_001"))
    for name in (
        "LaplaceLaw", "count_cells_of_values", "make_cells_of_values", "read_labels_of_values"
    ):  # fmt: skip
        setattr(tested, name, getattr(cells, name))
    return tested


def test_the_failure_is_divided_by_all_that_is_looked_at() -> None:
    made = audit(plain_laplace, cases=CASES, releases=1_000)
    assert made.tails == sum(
        law_test.count_tails(case, gaps=True) + epsilon_bounds.count_tails(case, gaps=True)
        for case in CASES
    )
    (found,) = made.mechanisms
    assert 2 * len(found.bounds) == sum(
        epsilon_bounds.count_tails(case, gaps=True) for case in CASES
    )


def test_the_cases_are_what_they_say() -> None:
    assert read_cases(FEW_ITEMS_CASES) == FEW_ITEMS_CASES
    assert len({*FEW_ITEMS_CASES}) == len(FEW_ITEMS_CASES) >= 30
    parameters = [case.parameters for case in FEW_ITEMS_CASES]
    assert {each.noise for each in parameters} == {"laplace"}
    assert {each.items_per_person for each in parameters} == {1, 2, 3}
    assert {each.sensitivity for each in parameters} == {1, 2}
    assert {each.resolution for each in parameters} == {1, Fraction(1, 2)}
    for some in (FEW_ITEMS_CASES, QUICK_FEW_ITEMS_CASES):
        assert {(each.parameters.epsilon, each.parameters.monotonic) for each in some} >= {
            (epsilon, monotonic)
            for epsilon in (Fraction(1, 10), Fraction(1), Fraction(3))
            for monotonic in (True, False)
        }
    for case in FEW_ITEMS_CASES:
        assert case.parameters.items_per_person is not None
        moved = sum(a != b for a, b in zip(*case.sides, strict=True))
        sides = 1 if case.parameters.monotonic else 2
        assert moved == min(sides * case.parameters.items_per_person, len(case.answers))


@pytest.mark.parametrize(("neighbour", "parameters", "said"), [
    ((1, 1, 0), ONE, "2 answers move where at most 1 can"),
    ((1, 1, -1), REPLACED, "3 answers move where at most 2 can"),
    ((1, 1, 0), TopK(1, 1, monotonic=True, items_per_person=1), "at most 1 can"),
], ids=range(3))  # fmt: skip
def test_a_person_moves_no_more_answers_than_the_bound(
    neighbour: tuple[int, ...], parameters: TopK, said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        read_cases([Neighbours((0, 0, 0), neighbour, parameters)])


@pytest.mark.statistical(false_alarm=FOUND)
def test_low_bits_of_values_are_looked_at() -> None:
    """The value is a float whose lowest bit tells who is there."""
    import random

    generator = random.SystemRandom()

    def leaking(answers: Sequence[int], _: TopK) -> list[tuple[int, int, float]]:
        return [(0, 0, generator.randrange(-5, 5) + (0.25 if answers[0] else 0.5))]

    (found,) = audit(leaking, cases=[PAIR], releases=2_000, law=False).mechanisms
    assert found.strongest_bound.feature == "low bits of value 1"
    assert found.privacy_violated


Release = Callable[[Sequence[int], TopK], Any]


def clipped(answers: Sequence[int], parameters: TopK) -> Any:
    return [(i, gap, min(value, 15)) for i, gap, value in plain_laplace(answers, parameters)]


def with_a_parity(answers: Sequence[int], parameters: TopK) -> Any:
    return [
        (i, gap, value if value < 16 else value // 2 * 2 + sum(answers) % 2)
        for i, gap, value in plain_laplace(answers, parameters)
    ]


# Of the values below more than a tenth are above 15: they are found by an event that never comes on
# one side, or by a remainder that comes far too often.
@pytest.mark.slow
@pytest.mark.statistical(false_alarm=FOUND)
def test_what_is_wrong_with_large_values_is_found() -> None:
    tenths = Neighbours((0, 0), (1, 0), times(ONE, Fraction(1, 10)))
    (found,) = audit(with_a_parity, cases=[tenths], releases=40_000).mechanisms
    assert found.law_violated
    assert found.privacy_violated
    assert found.strongest_bound.feature == "last bits of value 1"
    (found,) = audit(clipped, cases=[tenths], releases=8_000).mechanisms
    assert found.law_violated
