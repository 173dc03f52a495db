"""Ctrl-C at any moment: whoever is interrupted leaves the ledger to others, and what is begun ends.

An interrupt is raised in the main thread, between any two of its steps, and a notebook keeps the
traceback with all that its frames hold.
"""

import json
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import topgap
from tests.checking.separate_process import run_apart, with_tests
from tests.checking.soak_sizes import INTERRUPTS
from tests.ledger.interrupt_scenarios import CALLS
from tests.ledger.sample_ledgers import quick_folder, refused, run
from topgap import Ledger
from topgap.ledger import entry_log
from topgap.ledger.storage import exclusive_access

pytestmark = pytest.mark.posix(
    reason="sends itself signals, and looks at a lock that only POSIX has"
)


@pytest.fixture
def path() -> Iterator[Path]:
    with quick_folder() as folder:
        Ledger(folder / "budget.db", who="ana").add_dataset("visits", 1)
        yield folder / "budget.db"


# --- At every step


def interrupt_at_every_step(call: str, mutant: str | None = None) -> dict[str, Any]:
    with quick_folder() as folder:
        return run_apart(
            "tests.ledger.interrupt_scenarios", folder=str(folder), call=call, mutant=mutant
        )


@pytest.mark.crash
@pytest.mark.parametrize("call", CALLS)
def test_an_interrupt_at_any_step_leaves_the_ledger_to_others(call: str) -> None:
    found = interrupt_at_every_step(call)
    assert found["wrong"] == []
    assert found["steps"] > 100
    assert found["charges"] == ([0, 1] if call == "charge" else [0])


@pytest.mark.parametrize("mutant", ["in the main thread"])
@pytest.mark.parametrize("call", CALLS)
def test_interrupts_at_any_step_find_a_ledger_that_is_broken(call: str, mutant: str) -> None:
    assert interrupt_at_every_step(call, mutant)["wrong"] != []


# --- At random moments


def interrupt_at_random(
    folder: Path, interrupts: int, twice: bool = False, mutant: str | None = None
) -> dict[str, Any]:
    """What was found; and that another process can charge while the interrupted one is there."""
    asked = {
        "folder": str(folder),
        "interrupts": interrupts,
        "twice": twice,
        "seed": 1,
        "mutant": mutant,
    }
    command = [sys.executable, "-m", "tests.ledger.interrupt_scenarios", json.dumps(asked)]
    with subprocess.Popen(
        command, env=with_tests(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        found: dict[str, Any] = json.loads(other.stdout.readline())
        if not found["wrong"]:
            Ledger(folder / "budget.db", wait=0).charge("visits", 1, mechanism="m")
        other.communicate(b"")
    assert other.returncode == 0
    return found


@pytest.mark.crash
@pytest.mark.parametrize("twice", [False, True])
def test_interrupts_at_random_moments_lock_nobody_out(twice: bool, record_property: Any) -> None:
    with quick_folder() as folder:
        found = interrupt_at_random(folder, INTERRUPTS // 2, twice)
    assert found["wrong"] == []
    counts = found["counts"]
    assert counts["interrupts"] >= INTERRUPTS // 2
    assert (counts.get("second ones", 0) > 0) == twice
    record_property(
        "figure",
        f"interrupted {counts['interrupts']:,} times{', some of them twice' if twice else ''}: "
        f"{counts['charges']:,} charges, and never locked afterwards",
    )


@pytest.mark.parametrize("mutant", ["interrupted and going on"])
def test_interrupts_at_random_moments_find_a_ledger_that_is_broken(mutant: str) -> None:
    """Most of them come while the other thread is at work."""
    with quick_folder() as folder:
        assert interrupt_at_random(folder, 500, mutant=mutant)["wrong"] != []


# --- What goes on in the other thread


def test_what_the_other_thread_raises_is_raised_here(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its notes, and with the frames in which it happened."""

    def fails(*_: object, **__: object) -> None:
        error = topgap.LedgerError("The disk is full.")
        error.add_note(threading.current_thread().name)
        raise error

    monkeypatch.setattr(entry_log.EntryLog, "append", fails)
    with refused("The disk is full"):
        Ledger(path).charge("visits", "1/100", mechanism="m")
    with pytest.raises(topgap.LedgerError) as raised:
        Ledger(path).charge("visits", "1/100", mechanism="m")
    assert raised.value.__notes__ != [threading.main_thread().name]
    names = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert names[0] == test_what_the_other_thread_raises_is_raised_here.__name__
    assert names[-3:] == ["_write", "spend", "fails"]


def test_in_other_threads_no_further_one_is_started(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(exclusive_access, "start_new_thread", fails)
    made: list[Any] = []
    thread = threading.Thread(
        target=lambda: made.append(Ledger(path).charge("visits", "1/100", mechanism="m"))
    )
    thread.start()
    thread.join()
    assert made[0].number == 2


def test_where_no_thread_can_be_started_the_work_is_done_here(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As at the end of the interpreter."""

    def fails(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(exclusive_access, "start_new_thread", fails)
    ledger = Ledger(path, wait=0.2)
    assert ledger.charge("visits", "1/100", mechanism="m").number == 2
    assert ledger.budget("visits").charges == 1
    with refused("left for visits"):
        ledger.check("visits", 2)


@pytest.mark.slow
def test_a_ledger_can_be_charged_while_the_interpreter_ends(path: Path) -> None:
    code = """
import atexit, sys, topgap
ledger = topgap.Ledger(sys.argv[1])
class Late:
    def __del__(self): print(ledger.charge("visits", "1/100", mechanism="m").number)
late = Late()
atexit.register(lambda: print(ledger.charge("visits", "1/100", mechanism="m").number))
"""
    assert run(code, path).split()[0] == "2"  # and then Python may have lost what it takes


@pytest.mark.slow
def test_a_handler_that_charges_waits_for_the_charge_that_it_interrupts(path: Path) -> None:
    """Which goes on meanwhile, so that they do not wait for each other."""
    code = """
import signal, sys, topgap
ledger = topgap.Ledger(sys.argv[1])
signal.signal(signal.SIGALRM, lambda *_: ledger.charge("visits", "1/10000", mechanism="m"))
for number in range(50):
    signal.setitimer(signal.ITIMER_REAL, 0.0001 * (number % 20 + 1))
    ledger.charge("visits", "1/10000", mechanism="m")
    signal.setitimer(signal.ITIMER_REAL, 0)
print(ledger.verify().entries, ledger.budget("visits").charges > 50)
"""
    assert run(code, path).endswith("True\n")


def test_a_second_interrupt_that_asks_to_end_is_the_one_that_is_raised() -> None:
    """SIGTERM after Ctrl-C, for example."""
    begun, over = threading.Event(), threading.Event()
    interrupts = [KeyboardInterrupt(), SystemExit(143)]

    class Bell:
        def acquire(self) -> None:
            begun.wait()
            if not interrupts:
                over.set()
                end.acquire()
                return
            raise interrupts.pop(0)

    def do(work: Any) -> None:
        begun.set()
        over.wait()
        assert not work.is_wanted

    work: Any = exclusive_access.Task(do)
    end = work._end

    class Both:
        acquire = Bell().acquire
        release = end.release

    work._end = Both()
    with pytest.raises(SystemExit):
        work.run()
