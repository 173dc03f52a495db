"""Signals at any moment: the exit code tells them, and nothing is left, half shown or aborted."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checking.soak_sizes import SIGNALLED
from tests.cli.command import ASKED, is_one_sentence
from tests.cli.signal_scenarios import signalled
from topgap.ledger import Ledger
from topgap.signals import defer_signals

LINES = 3
"""Of the CSV with two winners."""


@pytest.mark.crash
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux: /proc")
def test_a_signal_at_a_random_moment(folder: Path) -> None:
    asked = ["release", "visits.csv", *ASKED, "--format", "csv", "-q"]
    for ended in signalled(asked, folder, SIGNALLED, seed=1):
        is_whole = len(ended.out.splitlines()) == LINES
        assert ended.code == 128 + ended.number or is_whole, ended
        assert ended.code == 0 or ended.is_told, ended
        assert ended.out == "" or is_whole, ended
        assert ended.err == "" or is_one_sentence(ended.err), ended
        assert ended.left == ()


def run_command(folder: Path, before: str, *more: str) -> "subprocess.CompletedProcess[str]":
    """Run `topgap release` in a Python that did this before, with `run` being its module."""
    code = (
        "import signal, sys, topgap.cli.main as cli, topgap.cli.release.run as run\n"
        f"{before}\n"
        f"sys.argv = ['topgap', 'release', 'visits.csv', '-q', *{[*map(str, ASKED), *more]}]\n"
        "cli.main()"
    )
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)


def in_place_of_the_release(*lines: str) -> str:
    """Code that does this when the release is asked for."""
    indented = "".join(f"    {line}\n" for line in lines)
    return f"release = run.run_release\ndef instead(*given):\n{indented}run.run_release = instead\n"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_that_a_finalizer_swallows_is_told(folder: Path, name: str, code: int) -> None:
    ended = run_command(folder, in_place_of_the_release(
        "release(*given)",
        "class Dropped:",
        f"    def __del__(self): signal.raise_signal(signal.{name})",
        "dropped = Dropped()",
        "del dropped",
    ))  # fmt: skip
    assert (ended.returncode, ended.stderr) == (code, "")


def test_a_signal_that_was_swallowed_ends_the_work_that_tells_how_far_it_is() -> None:
    code = (
        "import signal; from topgap.cli import errors, progress\n"
        "errors.watch_signals()\n"
        "try: signal.raise_signal(signal.SIGTERM)\n"
        "except SystemExit: pass\n"
        "progress.Bar()('counting', 0.5)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 143


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code", "said"), [
    ("SIGINT", 130, "Interrupted"), ("SIGTERM", 143, "Terminated")
])  # fmt: skip
def test_a_signal_that_a_library_turns_into_an_error_is_told(
    folder: Path, name: str, code: int, said: str
) -> None:
    ended = run_command(folder, in_place_of_the_release(
        f"try: signal.raise_signal(signal.{name})",
        "except BaseException: raise ImportError('a broken installation')",
    ))  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", f"topgap: {said}.\n")


KEPT = "ε = 1 was already charged to visits, as entry 2 of the ledger, and stays charged."
INTERRUPTED = {
    "as the table is read": (
        "import topgap.events.event_table as place\n"
        "place.EventTable.prepare = lambda *_: signal.raise_signal(signal.{name})",
        0, "Nothing was charged.",
    ),
    "as the ledger is written": (
        "import topgap.ledger as place\n"
        "charge = place.Ledger.charge\n"
        "def instead(*given, **more):\n"
        "    charge(*given, **more)\n"
        "    signal.raise_signal(signal.{name})\n"
        "place.Ledger.charge = instead",
        1, "It may have been charged: topgap budget history shows it.",
    ),
    "as noise is drawn": (
        "import topgap.events.mechanism as place\n"
        "place.select_prepared = lambda *_, **more: signal.raise_signal(signal.{name})",
        1, KEPT,
    ),
    "before the result is recorded": (
        "import topgap.ledger as place\n"
        "place.Ledger._record_drawn = lambda *_: signal.raise_signal(signal.{name})",
        1, f"{KEPT} Whether its result was recorded is in topgap budget history.",
    ),
    "after the result is recorded": (
        "import topgap.ledger as place\n"
        "record = place.Ledger._record_drawn\n"
        "def instead(*given):\n"
        "    record(*given)\n"
        "    signal.raise_signal(signal.{name})\n"
        "place.Ledger._record_drawn = instead",
        1, f"{KEPT} Whether its result was recorded is in topgap budget history.",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("when", INTERRUPTED)
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_says_whether_anything_was_charged(
    folder: Path, when: str, name: str, code: int
) -> None:
    before, charges, said = INTERRUPTED[when]
    ledger = Ledger(folder / "budget.db")
    ledger.add_dataset("visits", 10)
    charged = ("--ledger", "budget.db", "--dataset", "visits")
    ended = run_command(folder, before.format(name=name), *charged)
    assert (ended.returncode, ended.stdout) == (code, "")
    first, *more = ended.stderr.splitlines()
    assert first == f"topgap: {'Interrupted' if name == 'SIGINT' else 'Terminated'}."
    assert " ".join(line.removeprefix("topgap: ") for line in more) == said
    assert ledger.budget("visits").charges == charges


FAILING = {
    "as the table is read": (
        "import topgap.events.event_table as place\nplace.EventTable.prepare = fails",
        0, "Nothing was charged.",
    ),
    "as noise is drawn": (
        "import topgap.events.mechanism as place\nplace.select_prepared = fails", 1, KEPT,
    ),
    "as the release is written": (
        "run.write_publication = fails", 1, "Charged to visits: ε = 1, which leaves 9. Receipt 2:",
    ),
}  # fmt: skip
ERRORS = {
    "MemoryError()": "There is not enough memory for this.",
    "OSError(28, 'No space left on device')": "The system refuses: No space left on device.",
    "ZeroDivisionError('ann has flu')": "This is a defect of topgap (ZeroDivisionError)",
}


@pytest.mark.slow
@pytest.mark.parametrize("when", FAILING)
@pytest.mark.parametrize("error", ERRORS)
def test_any_error_says_whether_anything_was_charged(folder: Path, when: str, error: str) -> None:
    """And no note on it by anybody else is printed, which could hold somebody's data."""
    code, charges, said = FAILING[when]
    before = (
        "def fails(*given, **more):\n"
        f"    error = {error}\n"
        "    error.add_note('of ann')\n"
        f"    raise error\n{code}"
    )
    ledger = Ledger(folder / "budget.db")
    ledger.add_dataset("visits", 10)
    ended = run_command(folder, before, "--ledger", "budget.db", "--dataset", "visits")
    assert (ended.returncode, ended.stdout) == (1, "")
    first, second, *_ = ended.stderr.splitlines()
    assert first.startswith(f"topgap: {ERRORS[error]}")
    assert second.startswith(f"topgap: {said}")
    assert "ann" not in ended.stderr
    assert ledger.budget("visits").charges == charges


@pytest.mark.slow
def test_a_signal_that_is_ignored_stays_ignored(folder: Path) -> None:
    """As a shell does for what runs in the background, or under nohup."""
    ignored = "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    raised = in_place_of_the_release("signal.raise_signal(signal.SIGINT)", "release(*given)")
    ended = run_command(folder, ignored + raised)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.slow
def test_an_interrupt_in_the_import_of_duckdb_comes_after_it(folder: Path) -> None:
    """Inside, it becomes an error of the import, or aborts the process.

    The module that is hooked is imported by DuckDB's own code in C++.
    """
    code = (
        "import signal, sys\n"
        "from topgap import counting\n"
        "class Hook:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'atexit': signal.raise_signal(signal.SIGINT)\n"
        "sys.modules.pop('atexit', None)\n"
        "sys.meta_path.insert(0, Hook())\n"
        "try: counting.count_events('visits.csv', person='who', item='what', domain=['flu'])\n"
        "except KeyboardInterrupt: print('interrupted', 'duckdb' in sys.modules)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "interrupted True\n", "")


def test_signals_wait_in_the_order_in_which_they_came() -> None:
    handled: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: handled.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        ours = signal.getsignal(signal.SIGINT)
        with defer_signals(), defer_signals():
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGINT)
            assert handled == []
        assert handled == [signal.SIGTERM, signal.SIGINT]
        assert signal.getsignal(signal.SIGINT) is ours
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_an_interrupt_that_waits_follows_the_error_of_the_block() -> None:
    def work() -> None:
        with defer_signals():
            signal.raise_signal(signal.SIGINT)
            raise ValueError

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # PySpark has one of its own
    try:
        with pytest.raises(KeyboardInterrupt) as raised:
            work()
        assert isinstance(raised.value.__context__, ValueError)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
