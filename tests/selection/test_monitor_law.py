"""What a monitor gives has the law of sparse vector with gap: walked, and as users run it."""

from collections.abc import Callable
from fractions import Fraction
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from tests.checking.frequencies import misfits_of
from tests.checking.mutants import Mutant, mutated
from tests.checking.walks import DrawWalker, Walk, walk_tapes
from topgap import Monitor, MonitorError, SparseVector, law
from topgap.law import Bounds
from topgap.reference import Sampler
from topgap.selection import monitor, sparse_vector

Outcome = tuple[Fraction | None, ...]
Recorder = Callable[[str, object], None]


def given(asked: Any, answers: tuple[Any, ...]) -> Outcome:
    """What it gives for these answers, one after the other, until it stops."""
    found: list[Fraction | None] = []
    for answer in answers:
        try:
            found.append(asked.ask(answer))
        except MonitorError:
            break
    return tuple(found)


class Case(NamedTuple):
    """Answers, parameters, the two rates worked out by hand, and the answers rounded by hand."""

    answers: tuple[Any, ...]
    parameters: dict[str, Any]
    rates: tuple[Any, Any]
    rounded: tuple[Any, ...] | None = None

    def program(self, module: Any) -> Callable[[Sampler], Outcome]:
        def run(sampler: Sampler) -> Outcome:
            module.Sampler = lambda: sampler
            return given(module.Monitor(**self.parameters), self.answers)

        return run

    def walk(self, module: Any, walker: DrawWalker, smallest: Fraction) -> Walk[Outcome]:
        return walker.walk(self.program(module), smallest)

    def law(self, outcome: Outcome) -> Bounds:
        """It must not stop before it has given all its gaps."""
        parameters = SparseVector(**self.parameters)
        stopped = len(outcome) < len(self.answers)
        if stopped and sum(gap is not None for gap in outcome) < parameters.answers:
            return Bounds(Fraction(0), Fraction(0))
        return law.sparse_vector(
            (self.rounded or self.answers)[: len(outcome)], parameters, outcome
        )


def of(threshold: Any, answers: int, epsilon: Any, share: Any = "1/3", **more: Any) -> Any:
    named = {"threshold": threshold, "answers": answers, "epsilon": epsilon, **more}
    return named if share is None else {**named, "threshold_share": share}


MONOTONIC = {"monotonic": True}
CASES = {
    "one answer": Case((1,), of(1, 1, 2, "1/2"), (1, "1/2")),
    "one answer, monotonic": Case((0,), of(1, 1, 2, "1/2", **MONOTONIC), (1, 1)),
    "the best split": Case((2,), of(1, 8, 5, None, **MONOTONIC), (1, "1/2")),
    "stops at the first": Case((0, 1, 0), of(0, 1, 6), (2, 2)),
    "two of three": Case((0, 1, 0), of(1, 2, 9, **MONOTONIC), (3, 3)),
    "three of four": Case((1, 0, 2, 1), of(1, 3, 9, **MONOTONIC), (3, 2)),
    "two rates": Case((1, 3), of(2, 1, "5/2", "3/5"), ("3/2", "1/2")),
    "both kinds of neighbours": Case((1, 1, 1), of(1, 2, 18), (6, 3)),
    "negative": Case((-3, -1), of(-2, 1, 4, "1/2"), (2, 1)),
    "huge": Case((10**30, 10**30 + 1), of(10**30, 2, 6, **MONOTONIC), (2, 2)),
    "sensitivity 2": Case((1, 0), of(0, 1, 12, sensitivity=2), (2, 2)),
    "halves, rounded down": Case(
        (0.75, Fraction(-1, 3)), of("0.9", 1, 12, resolution="1/2"), (2, 2),
        (Fraction(1, 2), Fraction(-1, 2)),
    ),
}  # fmt: skip
SMALLEST = Fraction(1, 10**7)


def rates_are_right(module: Any, each: Case) -> bool:
    parameters = module.SparseVector(**each.parameters)
    rates = parameters.threshold_rate, parameters.answer_rate
    return bool(rates == tuple(map(Fraction, each.rates)))


@pytest.mark.parametrize("name", CASES)
def test_the_rates_are_those_worked_out_by_hand(name: str) -> None:
    assert rates_are_right(sparse_vector, CASES[name])


@pytest.mark.parametrize("mutant", [
    Mutant("the split of other neighbours", "self.answers if self.monotonic else 2 * self.answers",
           "2 * self.answers"),
    Mutant("a square root", "_cube_root(answers**2 * one**3)", "_cube_root(answers * one**3)"),
], ids=lambda each: each.name)  # fmt: skip
def test_another_split_is_found(mutant: Mutant) -> None:
    assert not rates_are_right(mutated(sparse_vector, mutant), CASES["the best split"])


@pytest.mark.parametrize("name", CASES)
def test_all_tapes_bracket_the_law(
    name: str, walker: DrawWalker, record_property: Recorder
) -> None:
    walked = CASES[name].walk(untouched(), walker, SMALLEST)
    record_property("monitor, by draws", float(walked.rest))
    assert walked.violations(CASES[name].law) == []
    assert walked.rest < 1e-4


def test_so_do_they_bit_by_bit(record_property: Recorder) -> None:
    """Without any reasoning about draws: every tape of so many bits, one after the other."""
    case = CASES["stops at the first"]
    walked = walk_tapes(case.program(untouched()), depth=12)
    record_property("monitor, bit by bit", float(walked.rest))
    assert walked.violations(case.law) == []
    assert walked.rest < 0.3


NONE = Mutant("none", '"""Sparse', '"""Sparse')


def untouched() -> Any:
    """The module, with a place of its own for its sampler."""
    return mutated(monitor, NONE)


DRAWN = "noise = Sampler().geometric(parameters.threshold_rate)"
COUNTED = "            if lead < 0:\n                return None\n            self._answered += 1\n"
BROKEN: list[tuple[ModuleType, Mutant]] = [
    (monitor, Mutant("the threshold drawn anew after each gap", COUNTED, COUNTED +
        "            self._noisy_threshold = parameters.threshold_units + "
        "Sampler().geometric(parameters.threshold_rate)\n")),
    (monitor, Mutant("the threshold drawn anew for each answer", "noise - self._noisy_threshold",
        "noise - parameters.threshold_units - Sampler().geometric(parameters.threshold_rate)")),
    (monitor, Mutant("no noise of the threshold", DRAWN, "noise = 0")),
    (monitor, Mutant("two-sided noise of the threshold", DRAWN,
                     DRAWN.replace("geometric", "discrete_laplace"))),
    (monitor, Mutant("the answers' rate for the threshold", DRAWN,
                     DRAWN.replace("threshold_rate", "answer_rate"))),
    (monitor, Mutant("no noise of the answers",
                     "noise = Sampler().geometric(parameters.answer_rate)", "noise = 0")),
    (monitor, Mutant("two-sided noise of the answers",
                     "Sampler().geometric(parameters.answer_rate)",
                     "Sampler().discrete_laplace(parameters.answer_rate)")),
    (monitor, Mutant("answers below are counted", COUNTED,
        f"            self._answered += 1\n{COUNTED[:-32]}")),
    (monitor, Mutant("a gap of 0 is below", "if lead < 0", "if lead <= 0")),
    (monitor, Mutant("a gap of −1 is above", "if lead < 0", "if lead < -1")),
    (monitor, Mutant("gaps one too large", "return lead *", "return (lead + 1) *")),
    (monitor, Mutant("gaps in steps", "return lead * parameters.resolution",
                     "return Fraction(lead)")),
    (monitor, Mutant("gaps over the plain threshold", "return lead *",
                     "return (steps + noise - parameters.threshold_units) *")),
    (monitor, Mutant("gaps of the plain answer", "return lead *", "return (lead - noise) *")),
    (monitor, Mutant("one gap too many", "            if self.left == 0:\n                raise",
                     "            if self.left < 0:\n                raise")),
    (monitor, Mutant("one gap too few", "            if self.left == 0:\n                raise",
                     "            if self.left <= 1:\n                raise")),
    (monitor, Mutant("forgotten too early",
                     "            if self.left == 0:\n                self._noisy",
                     "            if self.left <= 1:\n                self._noisy")),
    (monitor, Mutant("answers in units", "parameters.resolution.denominator)", "1)")),
    (sparse_vector, Mutant("the threshold rounded up",
                           'units = read_number(threshold, "threshold") // self.resolution',
                           'units = -(-read_number(threshold, "threshold") // self.resolution)')),
    (sparse_vector, Mutant("no factor c", "sides * self.answers * self.sensitivity",
                           "sides * self.sensitivity")),
    (sparse_vector, Mutant("no factor 2", "sides = 1 if self.monotonic else 2", "sides = 1")),
    (sparse_vector, Mutant("the shares exchanged", "share = 1 - self.threshold_share\n",
                           "share = self.threshold_share\n")),
]  # fmt: skip


@pytest.mark.parametrize(("where", "mutant"), BROKEN, ids=lambda each: getattr(each, "name", ""))
def test_a_broken_monitor_is_found(where: ModuleType, mutant: Mutant, walker: DrawWalker) -> None:
    module = mutated(monitor, mutant if where is monitor else NONE)
    if where is sparse_vector:
        module.SparseVector = mutated(sparse_vector, mutant).SparseVector
    coarse = Fraction(1, 10**5)
    assert any(each.walk(module, walker, coarse).violations(each.law) for each in CASES.values())


# --- As users run it


EVERYDAY = {
    "the best split": ((3, 0, 4, 2), SparseVector(3, 2, 3)),
    "monotonic": ((3, 0, 4, 2), SparseVector(3, 3, 4, monotonic=True)),
    "tenths": ((0.3, 0.25, -0.05), SparseVector("0.2", 1, 30, resolution="1/10")),
}


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-10)
@pytest.mark.parametrize("name", EVERYDAY)
def test_monitors_have_the_law(name: str, false_alarm: float) -> None:
    answers, parameters = EVERYDAY[name]
    arguments = parameters.to_dict()

    def probability(outcome: Outcome) -> Bounds:
        return law.sparse_vector(answers[: len(outcome)], parameters, outcome)

    def run() -> Outcome:
        return given(Monitor(**arguments), answers)

    assert misfits_of(run, 8_000, probability, false_alarm) == []


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-10)
@pytest.mark.parametrize("epsilon", ["2", "6"], ids=["much noise", "little noise"])
def test_too_much_or_too_little_noise_would_be_seen(epsilon: str, false_alarm: float) -> None:
    # Of one answer at the threshold, with half of ε = 3 for each and monotonic, P(below) is
    # x/(1 + x) = 0.182 with x = e^−3/2. With ε = 2 it is 0.269, and with 6 0.047: of 8,000 that
    # is 695 more and 1,080 fewer. By Hoeffding's inequality a count is 320 off its own mean with a
    # probability below 2·e^−25, and the tails are cut less than 320 off.
    wrong = SparseVector(0, 1, epsilon, monotonic=True).to_dict()
    parameters = SparseVector(0, 1, 3, monotonic=True)

    def probability(outcome: Outcome) -> Bounds:
        return law.sparse_vector([0], parameters, outcome)

    found = misfits_of(lambda: given(Monitor(**wrong), (0,)), 8_000, probability, false_alarm)
    assert found != []
