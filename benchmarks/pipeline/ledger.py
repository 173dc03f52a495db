"""What a ledger costs: a charge beside a bare commit of SQLite, a release with and without it.

`make bench` runs it. Both commit with `synchronous = EXTRA` to a file in the same directory, one
after the other in each round; figures are medians of the rounds, and their ratio.
"""

import multiprocessing
import platform
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import topgap
from benchmarks.data import load
from topgap import BudgetExceeded, Ledger
from topgap.ledger.entry import make_timestamp
from topgap.ledger.entry_log import EntryLog
from topgap.ledger.storage.database import Database

ROUNDS, WRITERS, CHARGES, LONG = 200, 64, 20, 100_000


def seconds(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def bare(path: Path) -> None:
    """Open a file, append a row, commit, close."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO rows VALUES (?)", ["x" * 300])
        connection.execute("COMMIT")


def side_by_side(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "bare.db")) as connection:
        connection.execute("CREATE TABLE rows (row TEXT)")
    ledger = Ledger(folder / "charges.db")
    ledger.add_dataset("visits", 10**9)
    name, counts = load("Kosarak")
    kinds: dict[str, Callable[[], object]] = {
        "bare commit of SQLite": lambda: bare(folder / "bare.db"),
        "Ledger.check": lambda: ledger.check("visits", "1/3"),
        "Ledger.charge": lambda: ledger.charge("visits", "1/3", mechanism="x"),
        f"top_k of {name}, k = 25": lambda: topgap.top_k(counts, 25, 1),
        "the same with a ledger": lambda: topgap.top_k(
            counts, 25, 1, ledger=ledger, dataset="visits"
        ),
    }
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(ROUNDS):
        for kind, run in kinds.items():
            times[kind].append(seconds(run))
    unit = statistics.median(times["bare commit of SQLite"])
    for kind, found in times.items():
        middle = statistics.median(found)
        print(f"{kind:<32}{middle * 1000:>9.3f} ms{middle / unit:>9.2f} bare commits")


def spend(path: Path, start: float, waits: "multiprocessing.Queue[float]") -> None:
    """Charge one after the other until nothing is left, and tell the longest wait."""
    ledger, longest = Ledger(path), 0.0
    time.sleep(max(0.0, start - time.time()))
    try:
        while True:
            longest = max(
                longest, seconds(lambda: ledger.charge("visits", "1/1280", mechanism="x"))
            )
    except BudgetExceeded:
        waits.put(longest)


def many_at_once(folder: Path) -> None:
    path = folder / "many.db"
    Ledger(path).add_dataset("visits", 1)
    forked = multiprocessing.get_context("fork")
    waits: multiprocessing.Queue[float] = forked.Queue()
    start = time.time() + 2
    writers = [forked.Process(target=spend, args=(path, start, waits)) for _ in range(WRITERS)]
    for writer in writers:
        writer.start()
    longest = max(waits.get() for _ in writers)
    for writer in writers:
        writer.join()
    took = time.time() - start
    spent = Ledger(path).budget("visits")
    assert spent.left == 0  # noqa: S101
    assert spent.charges == WRITERS * CHARGES  # noqa: S101
    print(
        f"{WRITERS} processes at once, {spent.charges:,} charges of 1/1280: {took:.2f} s, "
        f"{took / spent.charges * 1000:.2f} ms a charge, the longest took {longest:.2f} s; "
        f"nothing is left, and nothing was charged beyond"
    )


def a_long_one(folder: Path) -> None:
    """Written as the ledger writes, in one transaction, for only its length matters here."""
    path = folder / "long.db"
    ledger = Ledger(path, who="ana")
    ledger.add_dataset("visits", LONG)

    def write(connection: sqlite3.Connection) -> None:
        log = EntryLog(connection, "long.db")
        last = log.last()
        for spent in range(1, LONG):
            last, _ = log.append(
                last, kind="charge", at=make_timestamp(None, check=True), dataset="visits",
                epsilon="1", spent=str(spent), mechanism="x", parameters="{}", who="ana",
            )  # fmt: skip

    Database(path, 60).write(write)
    one = seconds(lambda: ledger.check("visits", "1/3"))
    print(
        f"{ledger.verify().entries:,} entries: verify {seconds(ledger.verify):.2f} s, "
        f"history {seconds(ledger.history):.2f} s, budgets {seconds(ledger.budgets):.3f} s, "
        f"check {one * 1000:.2f} ms"
    )


def main() -> None:
    print(
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"topgap {topgap.__version__}; medians of {ROUNDS} rounds\n"
    )
    with tempfile.TemporaryDirectory() as name:
        side_by_side(Path(name))
        many_at_once(Path(name))
        a_long_one(Path(name))


if __name__ == "__main__":
    main()
