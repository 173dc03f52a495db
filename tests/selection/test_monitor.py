"""What a `Monitor` takes, gives, refuses and charges."""

import copy
import os
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topgap
from tests.checking import interruptions
from tests.checking.secrets_held import secrets_held
from topgap import (
    AnswersError,
    AnswersTypeError,
    BudgetExceeded,
    KernelError,
    Ledger,
    LedgerError,
    Monitor,
    MonitorError,
    ParameterError,
    ParameterTypeError,
    SparseVector,
    TopgapError,
)
from topgap.sampling.sampler import Sampler
from topgap.selection import monitor, sparse_vector

FAR = 10**9  # noise of mean 4 reaches half of it with a probability below e^−10^8


def made(answers: int = 2, **more: Any) -> Monitor:
    return Monitor(0, answers, 1, monotonic=True, **more)


# --- Parameters


@given(
    st.fractions(-(10**6), 10**6),
    st.integers(1, 10**9),
    st.fractions(Fraction(1, 10**6), 10**6),
    st.integers(1, 10**3),
    st.booleans(),
    st.none() | st.fractions(Fraction(1, 1000), Fraction(999, 1000)),
)
def test_noise_is_that_of_the_proof(
    threshold: Fraction,
    answers: int,
    epsilon: Fraction,
    sensitivity: int,
    monotonic: bool,
    share: Fraction | None,
) -> None:
    parameters = SparseVector(
        threshold, answers, epsilon, sensitivity=sensitivity, monotonic=monotonic,
        threshold_share=share, resolution="1/4",
    )  # fmt: skip
    moved = (1 if monotonic else 2) * answers
    first, second = sensitivity / parameters.threshold_scale, sensitivity / parameters.answer_scale
    assert first + moved * second == epsilon == parameters.cost(answers)
    assert parameters.cost(0) == first == epsilon * parameters.threshold_share
    assert parameters.threshold_rate == Fraction(1, 4) / parameters.threshold_scale
    assert parameters.answer_rate == Fraction(1, 4) / parameters.answer_scale
    assert 0 <= threshold - parameters.threshold < Fraction(1, 4)
    assert parameters.threshold_units == parameters.threshold * 4
    if share is None:  # the best split, to three decimals
        part = moved * second / first
        assert part**3 <= moved**2 < (part + Fraction(1, 1000)) ** 3
    assert pickle.loads(pickle.dumps(parameters)) == parameters  # noqa: S301
    assert eval(repr(parameters)) == parameters  # noqa: S307


@pytest.mark.parametrize(
    ("sensitivity", "resolution"), [(1, "1"), (7, "1"), ("1/2", "1/10"), ("2.5", "1/10")]
)
def test_the_resolution_is_1_for_whole_sensitivities(sensitivity: Any, resolution: str) -> None:
    assert SparseVector(0, 1, 1, sensitivity=sensitivity).resolution == Fraction(resolution)


@pytest.mark.parametrize(
    ("wrong", "error", "what"),
    [
        ({"threshold": "many"}, ParameterError, "threshold"),
        ({"threshold": None}, ParameterTypeError, "threshold"),
        ({"answers": 0}, ParameterError, "answers"),
        ({"answers": 2**63}, ParameterError, "answers"),
        ({"answers": 2.0}, ParameterTypeError, "answers"),
        ({"epsilon": 0}, ParameterError, "epsilon"),
        ({"epsilon": True}, ParameterTypeError, "epsilon"),
        ({"monotonic": 1}, ParameterTypeError, "monotonic"),
        ({"resolution": 2}, ParameterError, "resolution"),
        ({"sensitivity": "1/3"}, ParameterError, "sensitivity"),
        ({"threshold_share": 1}, ParameterError, "threshold_share"),
        ({"threshold_share": 0}, ParameterError, "threshold_share"),
        ({"dataset": "visits"}, ParameterError, "ledger and dataset"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_refused_in_one_sentence(
    wrong: dict[str, Any], error: type[TopgapError], what: str
) -> None:
    with pytest.raises(error, match=rf"^{what} .*\.$"):
        Monitor(**{"threshold": 5, "answers": 2, "epsilon": 1, **wrong})


@pytest.mark.parametrize(("answered", "error"), [(3, ParameterError), (-1, ParameterError),
                                                 ("1", ParameterTypeError)])  # fmt: skip
def test_a_cost_is_of_a_possible_number(answered: Any, error: type[TopgapError]) -> None:
    with pytest.raises(error, match="answered"):
        SparseVector(0, 2, 1).cost(answered)


# --- What it takes and gives


def test_it_gives_gaps_until_it_stops() -> None:
    asked = made()
    assert asked.ask(-FAR) is None
    gaps = [asked.ask(FAR), asked.ask(-FAR), asked.ask(2 * FAR)]
    assert gaps[1] is None
    assert [type(gap) for gap in (gaps[0], gaps[2])] == [Fraction, Fraction]
    assert (asked.answered, asked.left) == (2, 0)
    for answer in (FAR, -FAR):
        with pytest.raises(MonitorError, match=r"^This monitor has given all .*\.$"):
            asked.ask(answer)
    assert (asked.answered, asked.left) == (2, 0)


def test_gaps_are_multiples_of_the_resolution() -> None:
    asked = Monitor("1/3", 50, 100, resolution="1/7", monotonic=True)
    for _ in range(50):
        gap = asked.ask(Fraction(FAR, 3))
        assert gap is not None
        assert (gap * 7).denominator == 1
        assert abs(gap - Fraction(FAR, 3)) < 1_000


NUMBERS = [
    FAR, Fraction(FAR), Decimal(FAR), float(FAR), np.int64(FAR), np.uint64(FAR), np.float32(FAR),
    np.float64(FAR), np.longdouble(FAR), 10**400, Decimal("1e400"),
]  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: type(number).__name__)
def test_it_reads_answers_of_any_kind(number: Any) -> None:
    assert made().ask(number) is not None
    assert made().ask(-int(number)) is None


@pytest.mark.parametrize(
    ("answer", "steps"),
    [(0.3, 2), (-0.05, -1), (Decimal("0.3"), 3), (Fraction(1, 3), 3), (2**53 + 1, 10 * 2**53 + 10)],
)
def test_answers_are_rounded_down_as_they_are_stored(
    answer: Any, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sampler, "geometric", lambda *_: 0)
    asked = Monitor(-10, 1, 1, resolution="1/10")
    assert asked.ask(answer) == Fraction(steps + 100, 10)


REFUSED = [
    (float("nan"), AnswersError), (float("inf"), AnswersError), (Decimal("sNaN"), AnswersError),
    (Decimal("1e10001"), AnswersError), (None, AnswersTypeError), (np.ma.masked, AnswersError),
    ([3], AnswersTypeError), (np.array([3]), AnswersTypeError), (True, AnswersTypeError),
    ("3", AnswersTypeError), (3j, AnswersTypeError), (np.timedelta64(3), AnswersTypeError),
    ({"ash": 3}, AnswersTypeError),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "error"), REFUSED, ids=lambda each: repr(each)[:20])
def test_it_refuses_what_is_no_number_and_draws_nothing(
    answer: Any, error: type[TopgapError], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = made()
    with monkeypatch.context() as within:
        within.setattr(monitor, "Sampler", None)
        with pytest.raises(error, match=r"^[A-Z].*\.$") as refused:
            asked.ask(answer)
    assert refused.value.__context__ is None
    assert asked.left == 2


def test_without_randomness_nothing_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> int:
        raise OSError

    asked = made()
    with monkeypatch.context() as within:
        within.setattr("secrets.randbits", fail)
        for call in (lambda: asked.ask(FAR), made):
            with pytest.raises(KernelError, match="no randomness"):
                call()
    assert asked.left == 2
    assert asked.ask(FAR) is not None


# --- What it keeps to itself


def test_it_shows_public_numbers_alone() -> None:
    asked = made(3)
    asked.ask(FAR)
    assert repr(asked) == f"<Monitor of {asked.parameters!r}, 1 of 3 gaps given>"
    assert eval(repr(asked.parameters)) == asked.parameters  # noqa: S307
    public = [name for name in dir(asked) if name[0] != "_"]
    assert public == ["answered", "ask", "left", "parameters"]
    assert not hasattr(asked, "__dict__")


def test_it_forgets_its_noise_when_it_stops() -> None:
    asked = Monitor(10**40, 1, "1e-6")
    secret = asked._noisy_threshold
    assert secrets_held(asked, {secret}) == {secret}
    asked.ask(10**41)
    assert secrets_held(asked, {secret, 10**41}) == set()


@pytest.mark.parametrize(
    "call",
    [
        copy.copy,
        copy.deepcopy,
        pickle.dumps,
        lambda asked: pickle.dumps(asked, protocol=1),
        lambda asked: asked.__reduce_ex__(4),
        lambda asked: asked.__init__(0, 9, 1),
    ],
)
def test_it_is_not_copied_pickled_or_started_again(call: Callable[[Any], object]) -> None:
    asked = made()
    noisy_threshold = asked._noisy_threshold
    with pytest.raises(MonitorError, match=r"^A monitor .*\.$"):
        call(asked)
    assert (asked._noisy_threshold, asked.left) == (noisy_threshold, 2)


@pytest.mark.posix
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks while threads run
@pytest.mark.parametrize("has_equal_number", [False, True])  # as one in a namespace of its own
def test_a_forked_copy_cannot_be_asked(
    has_equal_number: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = made()
    if has_equal_number:
        number = os.getpid()
        monkeypatch.setattr(os, "getpid", lambda: number)
    child = os.fork()
    if child == 0:
        try:
            asked.ask(FAR)
        except MonitorError as error:
            os._exit(7 if "belongs to another process" in str(error) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert asked.ask(FAR) is not None


# --- Threads and signals


def test_threads_together_get_no_more_than_it_gives() -> None:
    asked, begin = made(100), threading.Barrier(8)

    def ask(_: int) -> int:
        begin.wait()
        given_here = 0
        for _ in range(50):
            try:
                given_here += asked.ask(FAR) is not None
            except MonitorError:
                break
        return given_here

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(8))) == 100
    assert asked.left == 0


def test_a_signal_handler_cannot_ask_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = made()

    def interrupt() -> Any:
        monkeypatch.setattr(monitor, "Sampler", Sampler)
        return asked.ask(FAR)

    monkeypatch.setattr(monitor, "Sampler", interrupt)
    with pytest.raises(MonitorError, match="is in use by the code"):
        asked.ask(FAR)
    assert asked.ask(FAR) is not None


def test_an_interrupted_ask_is_counted_or_gives_nothing() -> None:
    """At whichever of its lines: then it gives no more than it was made for."""

    def is_monitor(code: CodeType) -> bool:
        return code.co_filename == monitor.__file__

    ends = set()
    for at in range(1, 1_000):
        asked = made(2)
        told = interruptions.interrupted(at, partial(asked.ask, FAR), is_monitor)
        if told is None:
            break
        more = 0
        for _ in range(3):
            try:
                more += asked.ask(FAR) is not None
            except MonitorError:
                break
        assert more <= 2
        ends.add((asked.answered, more))
    assert at > 10
    assert ends <= {(0, 0), (1, 0), (2, 1), (2, 2)}
    assert {(2, 1), (2, 2)} <= ends


# --- The ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    book = Ledger(tmp_path / "budget.db")
    book.add_dataset("visits", 1)
    return book


def test_it_is_charged_whole_at_the_start(ledger: Ledger) -> None:
    asked = Monitor("99.5", 4, "1/3", monotonic=True, ledger=ledger, dataset="visits")
    (charge,) = ledger.history("visits")
    assert (charge.epsilon, charge.mechanism) == (Fraction(1, 3), "topgap.Monitor")
    assert charge.parameters == asked.parameters.to_dict()
    assert SparseVector(**charge.parameters) == asked.parameters
    assert charge.neighbours == "add-remove"
    for answer in (0, FAR, FAR):
        asked.ask(answer)
    assert ledger.budget("visits").left == Fraction(2, 3)
    Monitor(99, 4, "1/3", ledger=ledger.path, dataset="visits")  # another one, another charge
    assert ledger.budget("visits").left == Fraction(1, 3)
    assert ledger.verify() is not None


def test_half_the_noise_costs_twice_where_persons_are_replaced(ledger: Ledger) -> None:
    ledger.add_dataset("stays", 1, neighbours="replace")
    Monitor(99, 4, "1/3", monotonic=True, ledger=ledger, dataset="stays")
    assert ledger.budget("stays").left == Fraction(1, 3)
    Monitor(99, 4, "1/3", ledger=ledger, dataset="stays")
    assert ledger.budget("stays").left == 0


def test_a_refused_charge_draws_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "Sampler", None)
    with pytest.raises(BudgetExceeded):
        Monitor(99, 4, 2, ledger=ledger, dataset="visits")
    with pytest.raises(LedgerError):
        Monitor(99, 4, 1, ledger=ledger, dataset="nowhere")
    with pytest.raises(ParameterError):
        Monitor(99, 0, 1, ledger=ledger, dataset="visits")
    assert ledger.budget("visits").left == 1


def test_the_charge_comes_before_the_first_random_bit(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = []

    def look() -> Any:
        left.append(ledger.budget("visits").left)
        raise KernelError("The operating system gave no randomness; nothing was released.")

    monkeypatch.setattr(monitor, "Sampler", look)
    with pytest.raises(KernelError) as error:
        Monitor(99, 4, 1, ledger=ledger, dataset="visits")
    (note,) = error.value.__notes__
    assert note.endswith("stays charged.")
    assert left == [0]
    assert ledger.budget("visits").left == 0  # it stays spent


def test_it_is_exported() -> None:
    assert topgap.Monitor is monitor.Monitor
    assert topgap.SparseVector is sparse_vector.SparseVector
