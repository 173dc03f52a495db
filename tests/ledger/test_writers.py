"""A ledger that many use at once: 64 processes, threads, forks."""

from pathlib import Path
from typing import Any

import pytest

from tests.checking.separate_process import run_apart
from tests.checking.soak_sizes import WRITERS_CHARGES

pytestmark = [
    pytest.mark.posix(reason="forks"),
    pytest.mark.crash,
]

PROCESSES = 64


def played(scene: str, folder: Path, **more: Any) -> dict[str, Any]:
    return run_apart("tests.ledger.writer_scenarios", scene=scene, folder=str(folder), **more)


def test_64_processes_use_up_a_total_exactly_while_others_read(
    tmp_path: Path, record_property: Any
) -> None:
    found = played(
        "charge at once", tmp_path, processes=PROCESSES, charges=WRITERS_CHARGES, readers=3
    )
    assert found["wrong"] == []
    assert found["charges"] == PROCESSES * WRITERS_CHARGES
    assert found["looks"] > 0
    record_property(
        "figure",
        f"{PROCESSES} processes charged {found['charges']:,} times at once, while 3 read "
        f"{found['looks']:,} times; the longest wait was {found['longest']:.1f} s",
    )


@pytest.mark.parametrize(
    "mutant", ["sum read before the transaction", "begun without a lock", "not waited for"]
)
def test_many_processes_find_a_ledger_that_is_broken(tmp_path: Path, mutant: str) -> None:
    found = played("charge at once", tmp_path, processes=16, charges=3, readers=0, mutant=mutant)
    assert found["wrong"] != []


def test_64_processes_settle_at_once_while_others_read(
    tmp_path: Path, record_property: Any
) -> None:
    """The sum is of what the outputs cost, to the last digit, and never beyond the total."""
    lists = max(2, WRITERS_CHARGES // 10)
    found = played("settle at once", tmp_path, processes=PROCESSES, lists=lists, readers=3)
    assert found["wrong"] == []
    assert found["charges"] > PROCESSES * lists  # more than the total has without settlements
    assert found["looks"] > 0
    record_property(
        "figure",
        f"{PROCESSES} processes charged {found['charges']:,} times at once, of which "
        f"{found['settled']:,} were settled, while 3 read {found['looks']:,} times; the longest "
        f"release took {found['longest']:.1f} s",
    )


@pytest.mark.parametrize(
    "mutant", ["settled to j/k", "settled to the smallest cost", "sum read before the transaction"]
)
def test_settlements_at_once_find_a_ledger_that_is_broken(tmp_path: Path, mutant: str) -> None:
    found = played("settle at once", tmp_path, processes=16, lists=2, readers=0, mutant=mutant)
    assert found["wrong"] != []


def test_copies_that_are_made_meanwhile_by_the_same_processes_do_no_harm(tmp_path: Path) -> None:
    """The system drops SQLite's locks when the file is closed; that of the directory stays."""
    found = played("charge at once", tmp_path, processes=4, charges=50, readers=0, copies=True)
    assert found["wrong"] == []


@pytest.mark.parametrize("mutant", ["no lock of the directory"])
def test_copies_find_a_ledger_that_is_broken(tmp_path: Path, mutant: str) -> None:
    asked = {"processes": 4, "charges": 50, "readers": 0, "copies": True, "mutant": mutant}
    for attempt in range(10):  # each finds it more often than not
        (tmp_path / f"{attempt}").mkdir()
        try:
            found = played("charge at once", tmp_path / f"{attempt}", **asked)
        except AssertionError:  # it could not even be summed up
            return
        if found["wrong"]:
            return
    pytest.fail("it was not found")


def test_16_threads_use_up_a_total_exactly(tmp_path: Path, record_property: Any) -> None:
    found = played("charge in threads", tmp_path, threads=16, charges=WRITERS_CHARGES)
    assert found["wrong"] == []
    assert found["charges"] == 16 * WRITERS_CHARGES
    record_property(
        "figure",
        f"16 threads charged {found['charges']:,} times at once; the longest wait was "
        f"{found['longest']:.1f} s",
    )


def test_of_64_processes_that_make_a_ledger_one_does(tmp_path: Path) -> None:
    found = played("make at once", tmp_path, processes=PROCESSES)
    assert found["entries"] == 1
    assert sum(each.get("won", 0) for each in found["found"]) == 1
    assert {each["said"] for each in found["found"] if "won" not in each} == {
        "visits has its total already, 1; it can be set only once."
    }


def test_a_ledger_from_before_a_fork_is_used_after_it(tmp_path: Path) -> None:
    found = played("fork with a ledger", tmp_path, processes=16)
    assert found["wrong"] == []
    assert found["charges"] == 16


@pytest.mark.parametrize("writes", [True, False])
def test_a_fork_amid_a_transaction_of_a_thread_is_refused_at_once(
    tmp_path: Path, writes: bool
) -> None:
    """SQLite would take the locks of the process before for its own, and wait for them for ever.

    Whoever reads has a copy, and holds nothing.
    """
    found = played("fork amid", tmp_path, writes=writes)
    for said in found["amid"]["said"]:
        assert ("was forked while a thread used a ledger" in said) == writes
    assert found["after"]["said"] == ["", ""]


@pytest.mark.parametrize("mutant", ["forked amid, and going on"])
def test_a_fork_amid_a_transaction_would_wait_in_vain(tmp_path: Path, mutant: str) -> None:
    found = played("fork amid", tmp_path, writes=True, mutant=mutant)
    assert "has been in use by other processes" in found["amid"]["said"][0]
