"""Every public entry point takes anything, and ends as its docstring says or with our own errors.

A few examples of each scenario here; `make fuzz` makes a million calls.
"""

import time
from typing import Any

import pytest

import topgap
from tests.fuzz import hostile_values, well_formed
from tests.fuzz import releases as releases
from tests.fuzz.judge import Judge, TooSlow
from tests.fuzz.run import PLAIN, SCENARIOS, VALUES, entry_points, fuzz, to_be_called
from topgap import AnswersError, KernelError, ParameterError, Release, TopK
from topgap.reference import Sampler

pytestmark = pytest.mark.posix(reason="stops a call that hangs by an alarm")

EXAMPLES = {
    "counting": 4,
    "events": 4,
    "command": 6,
    "audits": 4,
    "laws": 15,
    "plans": 15,
    "streams": 20,
}


@pytest.mark.deep
@pytest.mark.parametrize("name", SCENARIOS)
def test_whatever_is_handed_in_a_call_ends_as_it_says(name: str) -> None:
    judge = fuzz(SCENARIOS[name], EXAMPLES.get(name, 60), start=1)
    assert sum(judge.calls.values()) >= EXAMPLES.get(name, 60) / 2


def test_every_public_callable_is_called_by_a_scenario() -> None:
    """By the names that stand in the scenarios, so that a new one cannot be forgotten."""
    import inspect

    from tests.fuzz import (
        accounts,
        commands,
        datasets,
        documents,
        domains,
        events,
        groups,
        laws,
        monitors,
        sources,
    )

    modules = (
        releases, documents, laws, sources, accounts,
        commands, datasets, domains, events, groups, monitors,
    )  # fmt: skip
    text = "".join(map(inspect.getsource, modules))
    missing = {name for name in to_be_called() if not _stands(name, text)}
    assert not missing
    assert entry_points() >= VALUES | PLAIN, "what is left out must exist"
    assert not _stands("topgap.brand_new", text)
    assert not _stands("topgap.Release.brand_new", text)


def _stands(name: str, text: str) -> bool:
    """Whether it is called by its name, or as a method of a name that stands there."""
    if f'"{name}"' in text:
        return True
    owner, _, method = name.rpartition(".")
    return f'"{method}"' in text and (f'"{owner}.' in text or f"{owner.rpartition('.')[2]}" in text)


# ---------------------------------------------------------------- what must be found


def fails(broken: Any) -> bool:
    """Whether a call that is broken so is found."""
    try:
        Judge()("broken", (AnswersError, KernelError), broken)
    except (AssertionError, TooSlow, Exception):
        return True
    return False


def _raising(error: Exception) -> Any:
    def broken() -> None:
        raise error

    return broken


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no error of ours."),
        ParameterError("Not one that this call may raise."),
        AnswersError(f"The answer {hostile_values.MARK} is too large."),
        AnswersError("Two lines\nof text."),
        AnswersError("no sentence"),
        KernelError("The kernel met a defect of its own, or answers that were changed."),
        MemoryError(),
        RecursionError("too deep."),
    ],
    ids=lambda error: f"{type(error).__name__} {str(error)[:12]!r}",
)
def test_an_error_that_may_not_be_is_found(error: Exception) -> None:
    assert fails(_raising(error))
    assert not fails(_raising(AnswersError("The answers are empty; give one number per item.")))


def test_an_answer_in_an_error_that_is_shown_with_ours_is_found() -> None:
    def broken() -> None:
        try:
            raise ValueError(f"{hostile_values.MARK}")
        except ValueError:
            raise AnswersError("The answers cannot be used.")  # noqa: B904 - that is the defect

    assert fails(broken)


def test_a_warning_is_found() -> None:
    import warnings

    assert fails(lambda: warnings.warn("careful", stacklevel=1))


def test_a_call_that_does_not_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.judge.SECONDS", 0.05)
    with pytest.raises(TooSlow):
        Judge()("slow", (), time.sleep, 60)


@pytest.mark.parametrize(
    "arguments",
    [
        {"indices": [1, 1]},
        {"indices": [0, 7]},
        {"gap_units": [-1, 0]},
    ],
    ids=["twice", "out of range", "negative"],
)
def test_a_release_that_cannot_be_is_found(arguments: dict[str, Any]) -> None:
    import numpy as np

    whole = {"indices": [0, 1], "gap_units": [5, 5], **arguments}
    indices, units = (np.array(each, dtype=np.int64).tobytes() for each in whole.values())
    made = Release.from_mechanism(TopK(2, 1), indices, units, None)
    with pytest.raises(AssertionError):
        well_formed.is_release(made, answers=5)
    right = Release.from_mechanism(TopK(2, 1), np.array([0, 4]).tobytes(), units, None)
    if "gap_units" not in arguments:
        well_formed.is_release(right, answers=5)


@pytest.mark.deep
def test_a_package_that_is_broken_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when numbers that are too large for the kernel were not looked at beforehand."""

    def broken(*_: Any) -> Any:
        raise OverflowError("too large")

    monkeypatch.setattr("topgap.selection.drawing.CandidatePool", broken)
    with pytest.raises(OverflowError):
        fuzz(SCENARIOS["releases"], 300, start=1)


def test_a_sampler_that_is_broken_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sampler, "uniform", lambda _, n: n)
    with pytest.raises((AssertionError, IndexError)):
        fuzz(SCENARIOS["samplers"], 100, start=1)
    assert topgap.reference.Sampler is Sampler
