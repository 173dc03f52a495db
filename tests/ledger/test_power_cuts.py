"""A ledger whose machine loses power: what was acknowledged is there, whatever the disk held."""

import random
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.checking.separate_process import run_apart
from tests.checking.soak_sizes import POWER_CHARGES, POWER_DRAWN, POWER_RECOVERIES
from tests.ledger.injected_faults import COMPILER, compiled
from tests.ledger.simulated_disk import Change, Disk, Event

pytestmark = pytest.mark.linux(
    reason="lets a library of ours stand between SQLite and the disk, which Linux loads"
)

needs_the_shim = pytest.mark.skipif(
    sys.platform != "linux" or COMPILER is None,
    reason="needs a C compiler, cc, and a library that is loaded before, as Linux does",
)


@pytest.fixture(scope="module")
def preload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("faults"))


def cut(preload: Path, folder: Path, charges: int, drawn: int, **more: Any) -> dict[str, Any]:
    return run_apart(
        "tests.ledger.power_cut_scenarios",
        preload=preload,
        folder=str(folder),
        charges=charges,
        drawn=drawn,
        seed=1,
        **more,
    )


@pytest.mark.crash
@needs_the_shim
def test_what_was_acknowledged_is_there_after_a_power_cut_at_any_moment(
    preload: Path, tmp_path: Path, record_property: Any
) -> None:
    found = cut(preload, tmp_path, POWER_CHARGES, POWER_DRAWN, recoveries=POWER_RECOVERIES)
    assert found["wrong"] == []
    counts = found["counts"]
    assert counts["operations"] > 100
    assert counts["different states"] > 1000
    assert counts["cut again while repaired"] == POWER_RECOVERIES
    record_property(
        "figure",
        f"power cuts at {counts['moments']:,} moments of {counts['operations']:,} operations and "
        f"of {counts['cut again while repaired']:,} repairs: {counts['states']:,} states of the "
        f"disk, {counts['different states']:,} of them different",
    )


@needs_the_shim
@pytest.mark.parametrize(
    "mutant",
    [
        "synchronous = FULL",
        "synchronous = NORMAL",
        "synchronous = OFF",
        "journal in memory",
        "no journal",
        "settled in a transaction of its own",
    ],
)
def test_power_cuts_find_a_ledger_that_is_broken(
    preload: Path, tmp_path: Path, mutant: str
) -> None:
    found = cut(preload, tmp_path, 2, 4, recoveries=0, mutant=mutant)
    assert found["wrong"] != []
    if mutant == "settled in a transaction of its own":  # there is the result alone
        assert all("another entry" in each for each in found["wrong"])
    if mutant == "synchronous = FULL":  # the deleted journal comes back, and takes a charge along
        assert all("entries that were there" in each for each in found["wrong"])


def held(*events: Event) -> set[tuple[tuple[str, bytes], ...]]:
    disk = Disk()
    for event in events:
        disk.take(event, b"/d")
    return {tuple(sorted(s.items())) for s in disk.states(20, random.Random(1))}


MADE = Event("open", 3, 1, b"/d/a")
WRITTEN = Event("write", 3, 0, b"x" * 600)
SYNCED = Event("sync", 3, 0, b"")
FOLDER = Event("open", 4, 0, b"/d")
FOLDER_SYNCED = Event("sync", 4, 0, b"")
DELETED = Event("unlink", -1, 0, b"/d/a")


def test_a_disk_may_hold_any_part_of_what_was_not_synchronised() -> None:
    whole, none = (("/d/a", b"x" * 600),), ()
    states = held(MADE, WRITTEN)
    assert {whole, none, (("/d/a", b""),), (("/d/a", b"x" * 512),)} <= states
    assert (("/d/a", b"\0" * 512 + b"x" * 88),) in states
    assert held(MADE, WRITTEN, SYNCED) == {whole, none}
    assert held(MADE, WRITTEN, SYNCED, FOLDER, FOLDER_SYNCED) == {whole}
    made = (MADE, WRITTEN, SYNCED, FOLDER, FOLDER_SYNCED, DELETED)
    assert held(*made) == {whole, none}
    assert held(*made, FOLDER_SYNCED) == {none}


def test_a_write_is_torn_at_sectors() -> None:
    parts = Change(1, "write", 500, b"x" * 600).parts()
    assert [(each.where, len(each.data)) for each in parts] == [
        (500, 12),
        (512, 512),
        (1024, 76),
        (1100, 0),
    ]
