"""A ledger on a disk that loses power after every operation, and what is left then.

LD_PRELOAD=faults.so python -m tests.ledger.power_cut_scenarios '{"folder": …, "charges": 5, …}'
"""

import json
import os
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import topgap
from tests.checking.separate_process import given
from tests.ledger.injected_faults import Faults
from tests.ledger.ledger_mutants import break_ledger
from tests.ledger.simulated_disk import Disk, Event, Files, read_log
from topgap import ledger as package

VISITS = {"start": 51_260, "search": 20_110, "help": 960, "legal": 12}
COST = Fraction(1, 3)


class Cuts:
    """All that may be left when the power is cut.

    Args:
        folder: An empty one.
        drawn: How many of the many subsets are looked at by chance, at each moment.
        seed: Of that chance.
    """

    def __init__(self, folder: Path, drawn: int, seed: int) -> None:
        self.path = folder / "disk" / "budget.db"
        self.path.parent.mkdir()
        self.drawn = drawn
        self.chance = random.Random(seed)
        self.faults = Faults(self.path)
        self.known = package.Ledger(self.path)
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._log = folder / "log"
        self._receipts: dict[int, str] = {}
        self._left: dict[bytes, int | str] = {}
        self._hot: list[tuple[Files, int]] = []

    def logged(self, work: Callable[[], None]) -> list[Event]:
        """All that changes the disk while this is done."""
        file = os.open(self._log, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        self.faults.log(file)
        work()
        self.faults.log(-1)
        os.close(file)
        return [*read_log(self._log.read_bytes())]

    def acknowledge(self) -> None:
        """Whatever is in the ledger now must be there for ever: its user was told so."""
        verified = self.known.verify()
        self._receipts[verified.entries] = verified.receipt
        self.faults.mark(str(verified.entries))

    def cut_all(self, events: list[Event], disk: Disk, entries: int) -> None:
        """Cut the power at each moment of this, of which so many entries are certain before."""
        for event in events:
            if event.what in ("sync", "mark"):
                self._cut(disk, entries)
            if event.what == "mark":
                entries = int(event.data)
                self._cut(disk, entries)
            else:
                disk.take(event, bytes(self.path.parent))
        self._cut(disk, entries)

    def cut_recoveries(self, most: int) -> None:
        """Cut the power again while what a cut had left is repaired, and in the charge after it."""
        hot = self._hot if len(self._hot) <= most else self.chance.sample(self._hot, most)
        self._hot = []
        receipts = dict(self._receipts)
        for files, entries in hot:
            self._receipts, self._left = dict(receipts), {}
            self._put(files)

            def repair() -> None:
                self.acknowledge()
                self.known.charge("visits", COST, mechanism="after it")
                self.acknowledge()

            events = self.logged(repair)
            self.counts["cut again while repaired"] += 1
            self.cut_all(events, Disk.holding(files), entries)

    def _cut(self, disk: Disk, entries: int) -> None:
        self.counts["moments"] += 1
        for files in disk.states(self.drawn, self.chance):
            self.counts["states"] += 1
            found = self._look(files, entries)
            if isinstance(found, str):
                self.wrong.append(found)
            elif found < entries:
                self.wrong.append(f"of {entries} entries that were there, {found} are left")

    def _look(self, files: Files, entries: int) -> int | str:
        """How many entries are left, or what is wrong with them."""
        key = sha256()
        for name, content in sorted(files.items()):
            key.update(f"{name} {len(content)}\n".encode() + content)
        if key.digest() not in self._left:
            self.counts["different states"] += 1
            self._put(files)
            is_hot = len(files) == 2
            self._left[key.digest()] = found = self._opened()
            if is_hot and isinstance(found, int) and found >= max(entries, 1):
                self._hot.append((files, entries))
        return self._left[key.digest()]

    def _opened(self) -> int | str:
        if not self.path.exists() or self.path.stat().st_size == 0:
            return 0
        try:
            verified = self.known.verify()
        except topgap.LedgerError as error:
            return 0 if "is empty" in str(error) else str(error)
        if self._receipts.get(verified.entries) != verified.receipt:
            return f"another entry {verified.entries}"
        return verified.entries

    def _put(self, files: Files) -> None:
        for path in self.path.parent.iterdir():
            path.unlink()
        for name, content in files.items():
            Path(name).write_bytes(content)


def use(cuts: Cuts, charges: int) -> None:
    """All that is done with a ledger, each step acknowledged."""
    known: Any = cuts.known
    known.add_dataset("visits", charges + 100)
    cuts.acknowledge()
    for number in range(charges):
        charge = known.charge("visits", COST, mechanism="a sum", note="x" * (number * 150 % 4000))
        cuts.acknowledge()
        known.record(charge, {"sum": [number] * (200 * number % 1900)})
        cuts.acknowledge()
    known.check("visits", 1)
    known.add_dataset("more", 1)
    cuts.acknowledge()
    paid = Acknowledged(known.path, cuts)
    topgap.top_k(VISITS, 2, COST, ledger=paid, dataset="visits")
    cuts.acknowledge()
    topgap.top_k(VISITS, 4, COST, threshold=10**6, ledger=paid, dataset="visits")
    cuts.acknowledge()
    if known.budget("visits").settled != 1:
        cuts.wrong.append("not settled")


class Acknowledged(package.Ledger):
    """A ledger whose charges are told to someone at once."""

    __slots__ = ("cuts",)

    def __init__(self, path: Path, cuts: Cuts) -> None:
        super().__init__(path)
        self.cuts = cuts

    def charge(self, *given: Any, **more: Any) -> Any:
        charge = super().charge(*given, **more)
        self.cuts.acknowledge()
        return charge


def main() -> None:
    """Cut it everywhere, and tell what was found."""
    asked = given()
    break_ledger(asked.get("mutant"))
    cuts = Cuts(Path(asked["folder"]), asked["drawn"], asked["seed"])
    events = cuts.logged(lambda: use(cuts, asked["charges"]))
    cuts.counts["operations"] += len(events)
    cuts.cut_all(events, Disk(), 0)
    if not cuts.wrong:
        cuts.cut_recoveries(asked["recoveries"])
    print(json.dumps({"counts": cuts.counts, "wrong": cuts.wrong[:10]}))


if __name__ == "__main__":
    main()
