"""A ledger on a disk that is full, fails or tears writes, at every operation in turn."""

import resource
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import topgap
from tests.checking.separate_process import run_apart
from tests.checking.soak_sizes import HISTORIES, PARTS_OF_A_RELEASE
from tests.ledger.injected_faults import COMPILER, FAULTS, compiled

pytestmark = [
    pytest.mark.linux(
        reason="lets a library of ours stand between SQLite and the disk, which Linux loads"
    ),
    pytest.mark.skipif(sys.platform != "linux", reason="preloads a library, as Linux does"),
    pytest.mark.skipif(COMPILER is None, reason="needs a C compiler, cc"),
]


@pytest.fixture(scope="module")
def preload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("faults"))


def played(preload: Path, folder: Path, scene: str, **more: Any) -> dict[str, Any]:
    return run_apart(
        "tests.ledger.fault_scenarios", preload=preload, folder=str(folder), scene=scene, **more
    )


@pytest.mark.crash
@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize(
    "scene",
    [
        "add_dataset, new",
        "add_dataset",
        "top_k",
        "top_k with a threshold",
        "verify after a kill",
        "charge after a kill",
        *PARTS_OF_A_RELEASE,
    ],
)
def test_a_fault_at_any_operation_is_one_sentence_and_loses_nothing(
    preload: Path, tmp_path: Path, record_property: Any, scene: str, history: int
) -> None:
    """Either the call does what it should, or it says why not, and a release has its charge.

    Afterwards the ledger is sound, has all that it had, and is used as before.
    """
    found = played(preload, tmp_path, scene, history=history)
    assert found["wrong"] == []
    counts = Counter(found["counts"])
    assert counts["faults"] > 10 * len(FAULTS)
    assert counts["refused"] > 0
    assert counts["killed"] > 0
    assert (counts["warned"] > 0) == scene.startswith("top_k")
    record_property("faults", counts["faults"])
    record_property(
        "figure",
        f"faults in {scene} after {history} charges: {counts['faults']:,} injected; "
        f"{counts['done']:,} calls done, {counts['warned']:,} done with a warning, "
        f"{counts['refused']:,} refused, {counts['killed']:,} killed; "
        f"{counts['a journal was left']:,} journals left",
    )


@pytest.mark.parametrize(
    ("scene", "mutant"),
    [
        ("charge", "journal in memory"),
        ("charge", "no journal"),
        ("charge", "an error of SQLite"),
        ("verify after a kill", "an error behind another"),
        ("top_k", "an error in recording is an error"),
        ("top_k", "charged after the draw"),
        ("top_k", "not recorded"),
        ("top_k with a threshold", "settled in a transaction of its own"),
        ("top_k with a threshold", "settled to j/k"),
    ],
)
def test_faults_find_a_ledger_that_is_broken(
    preload: Path, tmp_path: Path, scene: str, mutant: str
) -> None:
    assert played(preload, tmp_path, scene, history=2, mutant=mutant)["wrong"] != []


@pytest.mark.crash
def test_what_a_fault_says_names_the_cause(preload: Path, tmp_path: Path) -> None:
    full = played(preload, tmp_path, "charge", history=2, faults=["a torn write on a full disk"])
    assert [*full["sentences"]] == ["… cannot be written: the disk is full."]


@pytest.mark.crash
def test_a_file_that_may_not_grow_keeps_all_charges_that_were_made(tmp_path: Path) -> None:
    """No library between: the system itself refuses to write beyond this length."""
    ledger = topgap.Ledger(tmp_path / "budget.db")
    ledger.add_dataset("visits", 1000)
    receipts: list[str] = []

    def charge(times: int) -> None:
        for _ in range(times):
            made = ledger.charge("visits", 1, mechanism="a sum", note="x" * 2000)
            receipts.append(made.receipt)

    with longest_file(64 * 1024), pytest.raises(topgap.LedgerError, match="output error"):
        charge(1000)
    assert len(receipts) > 5
    ledger.verify(*receipts)
    assert ledger.budget("visits").spent == len(receipts)
    charge(1)


@contextmanager
def longest_file(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
