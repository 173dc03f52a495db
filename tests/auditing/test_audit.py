"""An audit finds what is broken in either direction, and nothing in what is right."""

import json
import multiprocessing
import random
import re
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from tests.auditing import audited_functions
from tests.auditing.audited_functions import ours
from tests.checking.mutants import Mutant, mutated
from topgap import (
    AuditError,
    ParameterError,
    ParameterTypeError,
    ReleaseError,
    TopK,
    audit,
    select,
    top_k,
)
from topgap.auditing import (
    Neighbours,
    auditor,
)
from topgap.auditing.cases import neighbours
from topgap.auditing.cases.default_cases import (
    FULL_CASES,
    QUICK_CASES,
    QUICK_FEW_ITEMS_CASES,
    QUICK_THRESHOLD_CASES,
)
from topgap.auditing.checks import epsilon_bounds, law_test
from topgap.auditing.mechanisms import suite
from topgap.auditing.observing import sampling
from topgap.auditing.probability import binomial
from topgap.auditing.probability.directed_rounding import format_lower_bound
from topgap.auditing.results.audit import Audit
from topgap.auditing.results.plot import render
from topgap.display.figure import FORMS

ONE = TopK(1, 1, resolution=1, monotonic=True)
TWO = TopK(2, 1, resolution="1/2")
PAIR = Neighbours((0, 0), (1, 0), ONE)
TRIPLE = Neighbours((1, 0, 0), (0, 1, 1), TWO)
FAINT = Neighbours((0, 0), (1, 0), TopK(1, "1/1000", resolution=1, monotonic=True))
SIZE = "items and size of gap 1"
# With a failure of 1e-11, everything here that must be clean is found unclean by chance with at
# most that probability: it is what the audit promises.
CLEAN = 1e-11
# What must be found is missed with less: each mutant moves a cell of the law, or a bound, by more
# than ten standard deviations beyond its cut, which lies below eight.
FOUND = 1e-15


def without_gaps(answers: Sequence[int], parameters: TopK) -> list[int]:
    return select(parameters, answers, gaps=False).indices.tolist()


@cache
def times(parameters: TopK, factor: Fraction) -> TopK:
    return TopK(
        parameters.k, parameters.epsilon * factor, resolution=parameters.resolution,
        sensitivity=parameters.sensitivity, monotonic=parameters.monotonic,
    )  # fmt: skip


def with_epsilon_times(factor: Fraction) -> Any:
    """Ours with another ε than it is asked for, that is with less or more noise."""
    return lambda answers, parameters: select(times(parameters, factor), answers)


# --- What is right is clean, and what is broken is found


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [True, False])
@pytest.mark.statistical(false_alarm=CLEAN)
def test_ours_is_clean(gaps: bool, false_alarm: float) -> None:
    release = ours if gaps else without_gaps
    made = audit(release, cases=[PAIR, TRIPLE], releases=20_000, failure=false_alarm, gaps=gaps)
    assert made.as_expected, made
    (found,) = made.mechanisms
    assert (found.releases, found.name) == (20_000, release.__name__)
    assert 0 < found.strongest_bound.share < 1
    assert made.failure == Fraction(1, 10**11)


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "private"), [("5/4", None), ("4/5", True), (2, False)])
@pytest.mark.statistical(false_alarm=CLEAN)
def test_less_and_more_noise_are_found(factor: Any, private: bool | None) -> None:
    release = with_epsilon_times(Fraction(factor))
    (found,) = audit(release, cases=[PAIR], releases=40_000, failure=CLEAN).mechanisms
    assert found.law_violated
    if private is not None:  # an ε of 5/4 is too near to 1 to be shown by so few
        assert found.privacy_violated is not private
    (found,) = audit(release, cases=[PAIR], releases=4_000, failure=CLEAN, law=False).mechanisms
    assert found.laws == ()
    assert not found.law_violated


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=FOUND)
def test_most_of_what_is_promised_is_shown() -> None:
    """That item 0 leads by 1 and more is e^ε times as likely, and that item 1 wins as rare."""
    (found,) = audit(ours, cases=[PAIR], releases=40_000).mechanisms
    best = found.strongest_bound
    assert 0.8 < best.epsilon < 1
    assert (best.case, best.promised) == (PAIR, Fraction(1))
    assert abs(best.count / best.releases - 0.5) < 0.1
    assert best.probability_at_least < best.count / best.releases
    assert best.other_at_most > best.other_count / best.other_releases


@pytest.mark.parametrize(("release", "why"), [
    (lambda _, p: [(0, 1)] * p.k, "an item named twice"),
    (lambda a, p: [(len(a), 1), (0, 1)][: p.k], "an item that does not exist"),
    (lambda _, p: [(0, -p.resolution), (1, 0)], "a negative gap"),
    (lambda _, p: [(0, p.resolution / 2), (1, 0)],
     "a gap that is not a multiple of the resolution"),
], ids=range(4))  # fmt: skip
def test_what_is_impossible_is_a_violation_at_once(release: Any, why: str) -> None:
    made = audit(release, cases=[TRIPLE], releases=1_000)
    first = made.mechanisms[0].laws[0].misfits[0]
    assert (first.outcome, first.count, first.high) == (why, 500, 0.0)
    said = " ".join(str(made).split())
    assert f"{why} came 500 times in 500; its probability is 0." in said


@pytest.mark.statistical(false_alarm=FOUND)
def test_low_bits_of_floats_are_looked_at() -> None:
    """The gap is a float whose lowest bit tells who is there; its size and the winner do not."""
    generator = random.SystemRandom()

    def leaking(answers: Sequence[int], _: TopK) -> list[tuple[int, float]]:
        return [(0, generator.randrange(9) + (0.25 if answers[0] else 0.75))]

    (found,) = audit(leaking, cases=[PAIR], releases=2_000, law=False).mechanisms
    assert not found.privacy_violated  # both are odd multiples of 1/4

    def worse(answers: Sequence[int], _: TopK) -> list[tuple[int, float]]:
        return [(0, generator.randrange(9) + (0.25 if answers[0] else 0.5))]

    (found,) = audit(worse, cases=[PAIR], releases=2_000, law=False).mechanisms
    assert found.strongest_bound.feature == "low bits of gap 1"
    assert found.privacy_violated


COUNTED = "counts[cell.winners, cell.feature][cell.key]"


@pytest.mark.parametrize(("epsilon", "mutant"), [
    (3, Mutant("one step off", "i, (first, end))", "i, (first + 1, end))")),
    (3, Mutant("no end", "[(first, bin_end(first, edges)) for first", "[(first, None) for first")),
    (3, Mutant("winners for outcomes", COUNTED, "counts[cell.winners, ITEMS][cell.key]")),
    ("1/4", Mutant("another rest", "(r if digits >= far", "(7 - r if digits >= far")),
    (3, Mutant("gaps exchanged", "joint_prefix], firsts)", "joint_prefix], firsts[::-1])")),
    (3, Mutant("one winner for all", "(order[:winners], ())", "(order[:1] * winners, ())")),
    (3, Mutant("the other data set", "zip(case.sides, tallies", "zip(case.sides[::-1], tallies")),
    (3, Mutant("the wrong end", "min(too_often, too_rare)", "1 - min(too_often, too_rare)")),
], ids=lambda each: getattr(each, "name", each))  # fmt: skip
@pytest.mark.statistical(false_alarm=FOUND)
def test_an_audit_with_a_wrong_law_is_found(
    epsilon: Any, mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditor, "law_test", mutated(law_test, mutant))
    case = Neighbours((0, 0, 0), (1, 0, 0), TopK(2, epsilon, resolution=1, monotonic=True))
    assert not audit(ours, cases=[case], releases=8_000).as_expected


BOUNDED = "lower_bound(n, count, level), upper_bound(other_n, other, level)"


@pytest.mark.deep
@pytest.mark.parametrize("mutant", [
    Mutant("exchanged", BOUNDED,
           "upper_bound(n, count, level), lower_bound(other_n, other, level)"),
    Mutant("no bounds", BOUNDED, "Fraction(count, n), Fraction(other + 1, other_n)"),
    Mutant("the same data set", "sides.there.labels(observable)",
           "sides.here.labels(observable._replace(name=ITEMS))"),
], ids=lambda mutant: mutant.name)  # fmt: skip
# In every case an event of ratio e^ε is among those that are looked at, and without bounds its
# estimate is above that in nearly half the cases (46 of 100); if in 2 of 5, then in none of 50 with
# a probability below 1e-11.
@pytest.mark.statistical(false_alarm=1e-11)
def test_wrong_bounds_of_privacy_are_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditor, "epsilon_bounds", mutated(epsilon_bounds, mutant))
    assert not audit(ours, cases=[PAIR] * 50, releases=50_000, law=False).as_expected


def alarms(number: int, failure: str) -> int:
    """Of so many small audits of what keeps every promise, how many say that it does not.

    Both data sets are the same and ε is next to nothing, so that any difference is a violation;
    and there are a hundred labels to choose from.
    """
    case = Neighbours((0, 0), (0, 0), TopK(1, "1/1000", resolution=1, monotonic=True))
    small = suite.Mechanism("ours", "", ours, True, (case,), 1_000)
    return sum(
        not auditor.audit_mechanisms([small], Fraction(failure), 1).as_expected
        for _ in range(number)
    )


# Each audit errs with probability at most 1/2, so that 50 of 50 do with at most 2^−50; or with at
# most 1/100, so that 8 of 20 do with at most C(20, 8)/100^8 < 1.3e-11.
@pytest.mark.deep
@pytest.mark.parametrize(("failure", "number", "too_many"), [("1/2", 50, 50), ("1/100", 20, 8)])
@pytest.mark.statistical(false_alarm=1.3e-11)
def test_false_alarms_are_no_more_frequent_than_promised(
    failure: str, number: int, too_many: int
) -> None:
    assert alarms(number, failure) < too_many


@pytest.mark.parametrize("mutant", [
    Mutant("chosen by the counts it is measured by",
           "event = choose_event(first,", "event = choose_event(second,"),
], ids=lambda mutant: mutant.name)  # fmt: skip
# With it 200 of 200 audits erred. If 19 of 20 do, then 13 of 20 do not with less than 1e-12.
@pytest.mark.statistical(false_alarm=1e-12)
def test_too_many_false_alarms_are_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditor, "epsilon_bounds", mutated(epsilon_bounds, mutant))
    monkeypatch.setattr(auditor, "_SELECTION_DIVISOR", 2)
    assert alarms(20, "1/100") >= 8


def test_the_failure_is_divided_by_all_that_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Fraction] = []

    def counted(function: Any) -> Any:
        def call(n: int, x: int, level_or_p: Fraction) -> Any:
            asked.append(level_or_p)
            return function(n, x, level_or_p)

        return call

    monkeypatch.setattr(law_test, "tail_bound", counted(binomial.tail_bound))
    monkeypatch.setattr(epsilon_bounds, "lower_bound", counted(binomial.lower_bound))
    monkeypatch.setattr(epsilon_bounds, "upper_bound", counted(binomial.upper_bound))
    for some in ([PAIR], [PAIR, TRIPLE], [TRIPLE, PAIR, PAIR]):
        for gaps in (True, False):
            asked.clear()
            release = ours if gaps else without_gaps
            made = audit(release, cases=some, releases=1_000, failure="1e-30", gaps=gaps)
            assert len(asked) == made.tails
            assert {each for each in asked if each < Fraction(1, 10**25)} == {
                Fraction(1, 10**30) / made.tails
            }


# --- The suite: ours and the broken ones


@pytest.mark.slow
def test_the_grid_is_what_it_says() -> None:
    parameters = [case.parameters for case in FULL_CASES]
    assert {each.k for each in parameters} >= {1, 2, 3}
    assert {len(case.answers) for case in FULL_CASES} >= {2, 3, 4, 5}
    assert {each.resolution for each in parameters} == {
        Fraction(1),
        Fraction(1, 2),
        Fraction(1, 10),
    }
    assert {each.sensitivity for each in parameters} == {1, 2}
    assert {each.monotonic for each in parameters} == {True, False}
    assert min(each.epsilon for each in parameters) == Fraction(1, 10)
    assert max(each.epsilon for each in parameters) == 3
    assert len({*FULL_CASES}) == len(FULL_CASES) >= 40
    assert {*QUICK_CASES} < {*FULL_CASES}
    for own in suite.make_own(10**7, quick=False)[:-4]:  # those that are fast
        met = {(case.parameters.epsilon, case.parameters.monotonic) for case in own.cases}
        assert len(met) >= 6
    assert neighbours.read_cases(FULL_CASES) == FULL_CASES
    assert all(law_test.count_tails(case, gaps=False) for case in FULL_CASES)
    combined = {(each.k, each.epsilon, each.monotonic) for each in parameters}
    assert len(combined) == 3 * 3 * 2 + 1


def test_what_is_broken_is_shown_on_neighbours() -> None:
    for each in suite.make_broken(1_000):
        assert neighbours.read_cases(each.cases) == each.cases
        assert each.should_be != "private"


def test_all_own_mechanisms_get_their_part() -> None:
    made = suite.make_own(10_000_000, quick=False)
    assert sum(each.releases for each in made) >= 10_000_000
    assert [each.gaps for each in made].count(False) == 5
    assert all(each.cases and each.should_be == "private" and each.law for each in made)
    for own in suite.make_own(1_000, quick=True):
        assert own.releases >= 6_000
        assert max(case.parameters.epsilon for case in own.cases) >= 1  # or nothing would show


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=2e-9)
def test_the_suite_is_as_it_should_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """In small: all of ours, on few releases, and two of the broken ones."""
    from topgap.auditing.mechanisms.broken_mechanisms import BROKEN_MECHANISMS

    two = [
        each
        for each in BROKEN_MECHANISMS
        if each.name in ("half the noise", "gaps rounded to nearest")
    ]
    monkeypatch.setattr(
        "topgap.auditing.mechanisms.broken_mechanisms.BROKEN_MECHANISMS", tuple(two)
    )
    monkeypatch.setattr("topgap.auditing.mechanisms.broken_laplace.BROKEN_LAPLACE", ())
    monkeypatch.setattr("topgap.auditing.mechanisms.broken_threshold.BROKEN_THRESHOLD", ())
    monkeypatch.setattr(suite, "_FEWEST", 500)
    monkeypatch.setattr(suite, "QUICK_CASES", QUICK_CASES[:5])
    monkeypatch.setattr(suite, "QUICK_FEW_ITEMS_CASES", QUICK_FEW_ITEMS_CASES[:2])
    monkeypatch.setattr(suite, "QUICK_THRESHOLD_CASES", QUICK_THRESHOLD_CASES[:2])
    reported: list[tuple[str, float | None]] = []
    made = audit(releases=10_000, quick=True, progress=lambda *each: reported.append(each))
    assert made.as_expected, made
    last = [each.should_be for each in made.mechanisms[-3:]]
    assert last == ["private", "of another law", "not private"]
    assert str(made).endswith("2 of 2 broken on purpose were found.")
    assert ("making releases", 1.0) in reported
    assert all(0 <= (share or 0) <= 1 for _, share in reported)


@pytest.mark.slow
def test_a_broken_one_that_is_not_found_is_looked_at_again_and_told() -> None:
    harmless = suite.Mechanism(
        "not broken", "", ours, True, (PAIR,), 1_000, should_be="not private"
    )
    made = auditor.audit_mechanisms([harmless], Fraction(1, 10**9), 1)
    assert made.mechanisms[0].releases == 14_000
    assert not made.as_expected
    assert "BROKEN, NOT FOUND" in str(made)
    assert str(made).endswith("BROKEN BUT NOT FOUND: not broken.")
    assert made.tails == 3 * (
        law_test.count_tails(PAIR, gaps=True) + epsilon_bounds.count_tails(PAIR, gaps=True)
    )


# --- What a user hands in


def test_errors_of_the_function_are_told_as_such() -> None:
    def failing(answers: Sequence[int], parameters: TopK) -> Any:
        raise KeyError(len(answers), parameters.k)

    with pytest.raises(
        AuditError, match=r"raised KeyError: \(2, 1\) \(.*test_audit.py, line \d+\)\.$"
    ) as e:
        audit(failing, cases=[PAIR])
    assert isinstance(e.value.__cause__, KeyError)
    with pytest.raises(ReleaseError, match="returned NoneType"):
        audit(lambda *_: None, cases=[PAIR])


class Mute(BaseException):
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit(), Mute()], ids=repr)
def test_no_error_of_the_function_ends_the_program(error: BaseException) -> None:
    def leaving(*_: object) -> Any:
        raise error

    with pytest.raises(AuditError, match=f"raised {type(error).__name__}"):
        audit(leaving, cases=[PAIR])


@pytest.mark.parametrize(("wrong", "error", "said"), [
    ({"releases": 999}, ParameterError, "at least 1000"),
    ({"releases": 1e6}, ParameterTypeError, "releases"),
    ({"failure": 1}, ParameterError, "below 1"),
    ({"failure": 0}, ParameterError, "failure"),
    ({"failure": "often"}, ParameterError, "failure"),
    ({"failure": "1e-201"}, ParameterError, "at least 1e-200"),
    ({"gaps": 1}, ParameterTypeError, "gaps"),
    ({"law": None}, ParameterTypeError, "law"),
    ({"quick": "yes"}, ParameterTypeError, "quick"),
    ({"processes": 0}, ParameterError, "processes"),
    ({"cases": []}, ParameterError, "at least one"),
    ({"cases": [5]}, ParameterTypeError, "Neighbours"),
    ({"cases": [((1, 0), (0, 0))]}, ParameterTypeError, "Neighbours"),
    ({"cases": [((1, 0), (0, 0), 5)]}, ParameterTypeError, "TopK"),
    ({"cases": [(5, (0, 0), ONE)]}, ParameterTypeError, "lists of ints"),
    ({"cases": [((1.0, 0), (0, 0), ONE)]}, ParameterTypeError, "ints"),
    ({"cases": [((1, 0, 0), (0, 0), ONE)]}, ParameterError, "same number"),
    ({"cases": [((1,), (0,), ONE)]}, ParameterError, "more than k"),
    ({"cases": [((2, 0), (0, 0), ONE)]}, ParameterError, "sensitivity"),
    ({"cases": [((1, 0), (0, 1), ONE)]}, ParameterError, "monotonic"),
    ({"cases": [PAIR, ((1, 0), (1, 0), ONE)]}, ParameterError, "^Case 2: both sides are the same"),
    ({"cases": [PAIR, PAIR, 5]}, ParameterTypeError, "^Case 3 must be a Neighbours"),
    ({"cases": 5}, ParameterTypeError, "Neighbours"),
    ({"cases": [((10**100, 0), (10**100, 0), ONE)]}, ParameterError, "between"),
], ids=str)  # fmt: skip
def test_what_cannot_be_audited_is_refused(wrong: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        audit(ours, **wrong)


def test_what_is_for_a_function_needs_one() -> None:
    for wrong in ({"cases": [PAIR]}, {"gaps": False}, {"law": False}):
        with pytest.raises(ParameterError, match="give one"):
            audit(**wrong)
    with pytest.raises(ParameterTypeError, match="not int"):
        audit(5)  # type: ignore[arg-type]
    with pytest.raises(ParameterTypeError, match="Audit is a class; name a function"):
        audit(Audit)  # type: ignore[arg-type]


def test_answers_are_a_tuple_and_any_callable_will_do() -> None:
    class Noiseless:
        seen: set[Any] = set()  # noqa: RUF012

        def __call__(self, answers: Sequence[int], parameters: TopK) -> list[tuple[int, int]]:
            self.seen.add((answers, parameters))
            return [(0, answers[0])]

    made = audit(Noiseless(), cases=[PAIR], releases=1_000)
    assert Noiseless.seen == {((0, 0), ONE), ((1, 0), ONE)}
    assert made.mechanisms[0].name == "Noiseless"
    assert repr(made) == "<Audit of 1,000 releases: not as expected>"


def test_cases_too_large_for_the_law_are_audited_without_it() -> None:
    many = Neighbours(tuple(range(12)), tuple(range(1, 13)), ONE)
    made = audit(ours, cases=[many], releases=1_000)
    assert [each.cells for each in made.mechanisms[0].laws] == [0, 0]
    assert made.tails == epsilon_bounds.count_tails(PAIR, gaps=True)
    assert (
        made.mechanisms[0].law_status == made.to_dict()["mechanisms"][0]["law"] == "not looked at"
    )
    assert str(made).splitlines()[1].split()[2:5] == ["not", "looked", "at"]
    assert "only impossible results were looked for" in str(made)
    made = audit(ours, cases=[many, PAIR], releases=1_000)
    assert (
        made.mechanisms[0].law_status == made.to_dict()["mechanisms"][0]["law"] == "kept in 2 of 4"
    )
    impossible = audit(lambda *_: [(0, -1)], cases=[many], releases=1_000)
    assert impossible.mechanisms[0].law_status == "violated"


# --- Processes


def is_from_here(made: Audit) -> bool:
    """Whether all releases were made in this process; see `audited_functions.from_a_process`."""
    (found,) = made.mechanisms
    said = {each.event for each in found.bounds if each.feature == "items"}
    return said == {"item 0"}


@pytest.mark.slow
def test_releases_are_made_by_other_processes_where_they_can_be() -> None:
    def here(answers: Sequence[int], parameters: TopK) -> list[tuple[int, int]]:
        return audited_functions.from_a_process(answers, parameters)

    # What has a state of its own would be sent with each part of the work, and repeat itself.
    alone = (here, audited_functions.Stateful(), audited_functions.Stateful().release)
    for release in (audited_functions.from_a_process, *alone):
        made = audit(release, cases=[PAIR], releases=1_000, processes=2, law=False)
        assert is_from_here(made) is (release in alone)
        assert made.releases == 1_000
    assert multiprocessing.active_children() == []


def elsewhere(_: int) -> Any:
    """In place of a pool: parts in turn in two processes, each of which imports what it runs."""
    met: list[set[object]] = [set(), set()]
    states = [audited_functions.SEEDED.getstate()] * 2
    number = -1

    def submit(*task: Any) -> Future[Any]:
        nonlocal number
        number += 1
        at = number % 2
        sampling._FUNCTIONS_SEEN = met[at]
        audited_functions.SEEDED.setstate(states[at])
        done: Future[Any] = Future()
        done.set_result(sampling._run_in_worker(*task))
        states[at] = audited_functions.SEEDED.getstate()
        return done

    return nullcontext(submit)


@pytest.mark.parametrize(
    ("function", "again"), [(audited_functions.seeded, True), (audited_functions.ours, False)]
)
def test_what_repeats_itself_in_another_process_runs_in_this_one(
    function: Any, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A seed at import: two processes make the same releases, and their counts are worthless."""
    made_here: list[int] = []
    reported: list[float] = []

    def run(task: sampling.Task) -> Any:
        made_here.append(task.releases)
        return real(task)

    real = sampling.run_task
    monkeypatch.setattr(sampling, "_pool", elsewhere)
    monkeypatch.setattr(sampling, "_FUNCTIONS_SEEN", set())
    monkeypatch.setattr(sampling, "run_task", run)
    monkeypatch.setattr(sampling, "BATCH", 100)
    made = audit(function, cases=[PAIR], releases=4_000, processes=2, law=False,
                 progress=lambda _, share: reported.append(share or 0))  # fmt: skip
    assert made.releases == 4_000
    assert (sum(made_here) > 4_000) is again
    assert max(reported) == 1 > min(reported) >= 0


@pytest.mark.slow
@pytest.mark.parametrize(("function", "said"), [
    (audited_functions.ending, "A process ended while it ran the audited function."),
    (audited_functions.failing,
     r"The audited function raised ValueError: so it is! \(.*\.py, line 52\)\."),
], ids=["ending", "failing"])  # fmt: skip
def test_a_process_that_fails_ends_the_audit(function: Any, said: str) -> None:
    with pytest.raises(AuditError) as error:
        audit(function, cases=[PAIR], processes=2)
    assert re.fullmatch(said, str(error.value))
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_an_interruption_ends_it() -> None:
    def interrupted(_: Sequence[int], __: TopK) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit(interrupted, cases=[PAIR])

    def report(_: str, share: float | None) -> None:
        if share:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit(audited_functions.ours, cases=[PAIR], releases=10**12, processes=2, progress=report)
    assert multiprocessing.active_children() == []


def test_it_can_be_called_from_a_thread() -> None:
    made: list[Audit] = []
    thread = threading.Thread(
        target=lambda: made.append(audit(audited_functions.ours, cases=[PAIR], releases=1_000))
    )
    thread.start()
    thread.join(60)
    assert made[0].mechanisms[0].releases == 1_000


# --- What is written


@pytest.fixture(scope="module")
def both() -> Audit:
    """One that is clean and one that is not."""
    made = [
        suite.Mechanism("ours", "As it is.", ours, True, (PAIR, TRIPLE), 4_000),
        suite.Mechanism(
            "noise$less", "None.", lambda a, _: [(0, a[0])], True, (PAIR,), 4_000, "not private"
        ),
    ]
    return auditor.audit_mechanisms(made, Fraction(1, 10**12), 1)


@pytest.mark.statistical(false_alarm=1e-12)
def test_the_table_tells_both_readers(both: Audit) -> None:
    lines = str(both).splitlines()
    assert lines[0].startswith("audited")
    assert lines[0].split("  ")[-1].strip() == "verdict"
    assert lines[1].split()[:4] == ["ours", "4,000", "kept", "1"]
    assert lines[1].endswith("clean")
    assert lines[2].split()[:3] == ["noise$less", "4,000", "violated"]
    assert lines[2].endswith("broken, and found")
    assert "The false-positive probability of the audit is at most 1e-12" in str(both)
    assert lines[-1] == (
        "As expected: no violation found in 4,000 releases; 1 of 1 broken on purpose were found."
    )
    assert both._repr_html_().count("<tr>") == 3
    assert repr(both) == "<Audit of 8,000 releases: as expected>"


@pytest.mark.statistical(false_alarm=1e-12)
def test_json_holds_everything(both: Audit) -> None:
    read = json.loads(both.to_json(indent=1))
    assert read == json.loads(both.to_json()) == both.to_dict()
    assert (read["format"], read["as_expected"], read["failure"]) == (
        "topgap.audit/1", True, "1/1000000000000"
    )  # fmt: skip
    clean, broken = read["mechanisms"]
    assert (clean["law"], clean["privacy"]) == ("kept", "no violation shown")
    assert (broken["law"], broken["privacy"]) == ("violated", "violated")
    assert len(clean["laws"]) == 4
    assert len(clean["bounds"]) == 2 * (5 + 9)
    assert clean["data_sets_compared_with_the_law"] == 4
    worst = max(broken["bounds"], key=lambda each: each["epsilon_at_least"])
    assert (worst["count"], worst["releases"], worst["neighbour_count"]) == (1600, 1600, 0)
    assert worst["violated"]
    assert worst["promised"] == "1"
    assert {*worst} == {
        "answers", "neighbour", "parameters", "winners", "feature", "event", "count",
            "releases",
        "neighbour_count", "neighbour_releases", "probability_at_least",
        "neighbour_probability_at_most", "epsilon_at_least", "promised", "violated",
    }  # fmt: skip
    assert "ε is at least" in broken["evidence"][1]
    assert broken["laws"][0]["misfits"][0]["count"] == 2_000


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_plot_is_drawn_in_each_form(both: Audit, form: str, tmp_path: Path) -> None:
    content = render(both.mechanisms, form)
    assert content[:4] in (b"\x89PNG", b"<?xm", b"%PDF")
    (tmp_path / "file").write_bytes(content)


def test_a_plot_shows_each_bound_and_the_promise(both: Audit) -> None:
    ax: Any = both.plot(Figure().subplots())
    assert [len(each.get_offsets()) for each in ax.collections] == [28, 10]
    assert [each.get_text() for each in ax.get_yticklabels()] == [
        "ours", r"noise\$less (law violated)"
    ]  # fmt: skip
    assert [each.get_text() for each in ax.get_legend().get_texts()] == [
        "must be private", "broken on purpose", "what was promised"
    ]  # fmt: skip
    shares = [x for each in ax.collections for x, _ in each.get_offsets().tolist()]
    assert max(shares[:28]) < 1 < max(shares[28:])
    with mpl.rc_context({"backend": "agg"}):
        assert both.plot() is not None
        plt.close("all")


def test_a_plot_tells_what_is_violated_from_what_must_be_private() -> None:
    made = audit(lambda a, _: [(0, a[0])], cases=[PAIR], releases=4_000)
    ax: Any = made.plot(Figure().subplots())
    within, beyond = ([x for x, _ in each.get_offsets().tolist()] for each in ax.collections)
    assert max(within) <= 1 < min(beyond)
    assert [each.get_text() for each in ax.get_legend().get_texts()] == [
        "must be private", "must be private, and is not", "what was promised"
    ]  # fmt: skip


# --- What is said of it


@pytest.mark.parametrize(("function", "how", "said", "last"), [
    (ours, {}, "nothing found", "No violation found in 4,000 releases (this is not a proof)."),
    (ours, {"law": False, "releases": 1_000, "cases": [FAINT]}, "too few releases to show anything",
     "1,000 releases are too few to show anything; run more."),
    (lambda a, _: [(0, a[0])], {}, "ε BROKEN", "ε BROKEN: <lambda>."),
    (lambda *_: [(0, 0)], {}, "ANOTHER LAW",
     "ANOTHER LAW: <lambda>. Its law is not topgap's; no violation of its ε was found. If it "
     "need not have that law, give --privacy-only (law=False)."),
], ids=["ours", "too few", "noiseless", "constant"])  # fmt: skip
@pytest.mark.statistical(false_alarm=2e-11)
def test_a_verdict_says_what_was_found_and_no_more(
    function: Any, how: dict[str, Any], said: str, last: str
) -> None:
    # The failure that is asked for is what the first two may be called violated by chance with.
    made = audit(function, **{"cases": [PAIR], "releases": 4_000, "failure": CLEAN, **how})
    assert str(made).splitlines()[1].endswith(f"  {said}")
    assert made.conclusion == made.to_dict()["conclusion"] == last
    assert " ".join(str(made).split()).endswith(last)


@pytest.mark.statistical(false_alarm=1e-11)
def test_without_gaps_nothing_is_said_of_them() -> None:
    made = audit(without_gaps, cases=[PAIR], releases=1_000, gaps=False, failure=CLEAN)
    assert "law: were items named" in str(made)
    assert " gap" not in str(made)
    assert max(map(len, made.to_text(width=60).splitlines()[3:])) <= 60


@pytest.mark.statistical(false_alarm=1e-12)
def test_what_was_found_of_one_is_shown_in_a_line(both: Audit) -> None:
    assert repr(both.mechanisms[1]) == (
        "<MechanismAudit noise$less: 4,000 releases, law violated, ε at least "
        f"{format_lower_bound(both.mechanisms[1].strongest_bound.epsilon)} of 1>"
    )
    assert both.to_dict()["releases_of_what_must_be_private"] == 4_000
    assert both.to_dict()["releases"] == 8_000


def test_top_k_is_what_is_audited() -> None:
    """Users call `topgap.top_k`; the suite calls it with what they may type."""
    release = suite._top_k((10**9, 0, 10**6), TWO)
    assert release.items == top_k([10**9, 0, 10**6], 2, 1, resolution="1/2").items == (0, 2)
    assert release.parameters == TWO
    assert [index for index, _ in suite._merged((10**9, 0, 10**6), TWO)] == [0, 2]
