"""A ledger whose user presses Ctrl-C at every step, or at random moments.

Every traceback is kept, as in a notebook, with all that its frames hold.

python -m tests.ledger.interrupt_scenarios '{"folder": …, "call": "charge"}'
python -m tests.ledger.interrupt_scenarios '{"folder": …, "interrupts": 3000, "twice": false, …}'
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

from tests.checking.interruptions import interrupted
from tests.checking.separate_process import given
from tests.ledger.ledger_mutants import break_ledger
from topgap import ledger as package

COST = Fraction(1, 1000)
KEPT = 200
"""So many tracebacks are kept, with all that their frames hold."""


CALLS: dict[str, Callable[[Any], object]] = {
    "charge": lambda known: known.charge("visits", COST, mechanism="a sum"),
    "check": lambda known: known.check("visits", COST),
    "budget": lambda known: known.budget("visits"),
}
_FILES = ("database.py", "exclusive_access.py", "contextlib.py")


def interrupt_at_every_step(folder: Path, call: str) -> dict[str, Any]:
    """What is wrong after an interrupt at each step of the main thread that could hold a lock.

    In a process of its own: an exception that comes out of nowhere can leave another one behind as
    if it were still being handled.
    """
    path = folder / "budget.db"
    package.Ledger(path, who="ana").add_dataset("visits", 1)
    original = path.read_bytes()
    charges: set[int] = set()
    wrong: list[str] = []
    kept: list[BaseException] = []
    for at in range(1, 100_000):
        path.write_bytes(original)
        known = package.Ledger(path, who="ana", wait=0)
        interrupt = interrupted(
            at,
            lambda known=known: CALLS[call](known),  # type: ignore[misc]
            lambda code: code.co_filename.endswith(_FILES),
            "opcode",
        )
        if interrupt is None:
            return {"steps": at - 1, "charges": sorted(charges), "wrong": wrong}
        kept.append(interrupt)
        if not can_be_locked(folder):
            wrong.append(f"locked after an interrupt at step {at}")
            break
        charges.add(known.budget("visits").charges)
    return {"steps": 0, "charges": sorted(charges), "wrong": wrong}


class Interrupted:
    """Calls that are interrupted at random moments.

    Args:
        folder: An empty one.
        twice: Whether a second interrupt may come right behind the first.
    """

    def __init__(self, folder: Path, twice: bool) -> None:
        self.path = folder / "budget.db"
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.receipts: list[str] = []
        self._kept: list[BaseException] = []
        self._known = package.Ledger(self.path, wait=5 if twice else 0)
        self._known.add_dataset("visits", 10**9)
        self._twice = twice
        self._is_armed = self._is_second = False
        self.calls: list[Callable[[], object]] = [
            self._charge,
            self._charge,
            lambda: CALLS["check"](self._known),
            lambda: CALLS["budget"](self._known),
        ]
        signal.signal(signal.SIGALRM, self._interrupt)

    def _charge(self) -> None:
        charge: Any = CALLS["charge"](self._known)
        self.receipts.append(charge.receipt)

    def _interrupt(self, *_: object) -> None:
        if not self._is_armed:  # it comes when all is over
            return
        self.counts["interrupts"] += 1
        if self._twice and not self._is_second and random.random() < 0.5:
            self._is_second = True
            self.counts["second ones"] += 1
            signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 1e-4))
        raise random.choice([KeyboardInterrupt, SystemExit])

    def go_on(self, interrupts: int) -> None:
        """Until it was interrupted so often."""
        times = []
        for call in self.calls * 5:
            began = time.monotonic()
            call()
            times.append(time.monotonic() - began)
        span = 1.2 * median(times)
        while self.counts["interrupts"] < interrupts and not self.wrong:
            self._once(random.choice(self.calls), random.uniform(1e-6, span))
            if len(self._kept) > KEPT:
                self._look()
                self._kept.clear()
        self._look()

    def _once(self, call: Callable[[], object], moment: float) -> None:
        self._is_second = False
        try:
            self._is_armed = True
            signal.setitimer(signal.ITIMER_REAL, moment)
            call()
            self._is_armed = False
        except (KeyboardInterrupt, SystemExit) as error:
            self._is_armed = False
            self._kept.append(error)
        except Exception as error:
            self._is_armed = False
            self._kept.append(error)
            self.wrong.append(repr(error))
        if not self._is_free():
            self.wrong.append(f"locked after {self.counts['interrupts']} interrupts")

    def _is_free(self) -> bool:
        """Whether another could have the lock now; or soon, where there are second interrupts.

        If one came at the wrong instant, the work goes on to its end: it can begin as late as amid
        the next call, which has no second interrupt itself.
        """
        until = time.monotonic() + 30
        while not (is_free := can_be_locked(self.path.parent)):
            if not self._twice or time.monotonic() > until:
                break
            self.counts["still at work"] += 1
            time.sleep(0.001)
        return is_free

    def _look(self) -> None:
        if self.wrong:
            return
        self._known.verify(*self.receipts)
        charges = self._known.budget("visits").charges
        self.counts["charges"] = charges
        if charges < len(self.receipts):
            self.wrong.append("a charge is lost")


def can_be_locked(folder: Path) -> bool:
    """Whether nobody holds the lock of the directory."""
    from fcntl import LOCK_EX, LOCK_NB, flock  # which not every system has

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def main() -> None:
    """Tell what was found; at random moments, then stay until standard input ends."""
    asked: dict[str, Any] = given()
    break_ledger(asked.get("mutant"))
    folder = Path(asked["folder"])
    if "call" in asked:
        print(json.dumps(interrupt_at_every_step(folder, asked["call"])))
        return
    random.seed(asked["seed"])
    play = Interrupted(folder, asked["twice"])
    play.go_on(asked["interrupts"])
    print(json.dumps({"counts": play.counts, "wrong": play.wrong[:10]}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
