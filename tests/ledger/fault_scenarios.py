"""A ledger on a disk that fails at every operation in turn, and what is left then.

LD_PRELOAD=faults.so python -m tests.ledger.fault_scenarios '{"folder": …, "scene": "top_k", …}'
"""

import json
import os
import re
import signal
import warnings
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import topgap
from tests.checking.separate_process import given
from tests.ledger.injected_faults import FAULTS, Action, Fault, Faults
from tests.ledger.kill_scenarios import THRESHOLDS, Told, settled
from tests.ledger.ledger_mutants import break_ledger
from topgap import ledger as package
from topgap.ledger import charging
from topgap.selection import mechanism, preparation

VISITS = {"start": 51_260, "search": 20_110, "help": 960, "legal": 12}
COST = Fraction(1, 3)
NOTE = "under test"
SENTENCE = re.compile(r"[^\n]*[a-z0-9]\.")
FOREIGN = re.compile(r"sqlite3|Errno|Traceback|Error")


class Play:
    """A call that is made again and again, each time from the same files, with another fault.

    Args:
        folder: An empty one.
        scene: Which call it is.
        history: How many charges the ledger has before.
    """

    def __init__(self, folder: Path, scene: str, history: int) -> None:
        self.path = folder / "budget.db"
        self.journal = folder / "budget.db-journal"
        self.scene = scene
        self.faults = Faults(self.path)
        self.counts: Counter[str] = Counter()
        self.sentences: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.receipts: list[str] = []
        self.open_charge: Any = None
        self._told: dict[str, Any] = {}
        self._outside = -1
        if scene != "add_dataset, new":
            self._write_history(history)
        if scene in ("verify after a kill", "charge after a kill"):
            self._kill_amid()
        self._files = {
            path: path.read_bytes() for path in (self.path, self.journal) if path.exists()
        }

    def play_all(self, name: str, fault: Fault) -> None:
        """The fault at each operation in turn, until it befalls none."""
        for number in range(1, 100_000):
            if not self._play(name, fault, number):
                break
        if number == 1:
            self.wrong.append(f"{name} befalls nothing")

    def _play(self, name: str, fault: Fault, number: int) -> bool:
        self._restore()
        kills = fault.action in (Action.KILL_BEFORE, Action.KILL_WITHIN, Action.KILL_AFTER)
        told, is_killed = (self._in_a_fork if kills else self._here)(fault, number)
        if not is_killed and not told.get("struck"):
            return False
        self.counts["faults"] += 1
        found = self._wrong_in(told, fault, number) if not is_killed else []
        if is_killed != kills:
            found.append(f"ended with {told}")
        if is_killed:
            self.counts["killed"] += 1
        self.counts["a journal was left"] += self.journal.exists()
        found += self._wrong_after(told)
        self.wrong += [f"{self.scene}, {name}, operation {number}: {each}" for each in found]
        return True

    def _wrong_in(self, told: dict[str, Any], fault: Fault, number: int) -> list[str]:
        """What is wrong with what the call said."""
        outcome, said = told["outcome"], told["said"]
        self.counts[outcome] += 1
        if said:
            sentence = said.replace(str(self.path), "…")
            self.sentences[sentence] += 1
            if not SENTENCE.fullmatch(sentence) or FOREIGN.search(sentence):
                return [f"said {said!r}"]
        if outcome not in ("done", "warned", "refused"):
            return [f"{outcome}: {said}"]
        if fault.action is Action.SHORT and outcome != "done":
            return [outcome]
        if outcome == "refused" and "released" in told:
            return ["released and refused"]
        is_recorded = self.scene in RELEASES and told.get("records", number) < number
        if is_recorded and outcome == "refused":
            return ["the release was drawn and paid for, and lost"]
        return []

    def _wrong_after(self, told: dict[str, Any]) -> list[str]:
        """What is wrong with the file, now that nothing befalls it."""
        known = package.Ledger(self.path)
        receipts = [*self.receipts, *([told["receipt"]] if "receipt" in told else [])]
        if self.scene == "add_dataset, new":
            return self._wrong_when_new(told)
        try:
            known.verify(*receipts)
            mine = [charge for charge in known.history() if charge.note == NOTE]
            if self.scene == "add_dataset" and told.get("outcome") == "done":
                known.budget("more")
            if len(mine) > 1:
                return ["charged twice"]
            wrong = self._wrong_result(told, mine[0] if mine else None)
            known.charge("visits", COST, mechanism="another")
        except topgap.LedgerError as error:
            return [str(error)]
        return wrong

    def _wrong_result(self, told: dict[str, Any], charge: Any) -> list[str]:
        made = told.get("released") or told.get("drawn")
        if made is None:
            return []
        if self.scene == "record":
            number = self.open_charge.number
            (charge,) = (c for c in package.Ledger(self.path).history() if c.number == number)
        if charge is None:
            return ["released, and not charged"]
        kept = None if charge.result is None else json.loads(charge.result)
        if kept != made and (kept is not None or told.get("outcome") == "done"):
            return ["released, and the ledger has another result"]
        if charge.settled != settled(charge.result):
            return [f"settled to {charge.settled}"]
        return []

    def _wrong_when_new(self, told: dict[str, Any]) -> list[str]:
        known = package.Ledger(self.path)
        try:
            if told.get("outcome") == "done":
                known.budget("visits")
            else:
                try:
                    known.add_dataset("visits", 1)
                except topgap.LedgerError as error:
                    if "has its total already" not in str(error):
                        raise
            known.verify()
            known.charge("visits", COST, mechanism="another")
        except topgap.LedgerError as error:
            return [str(error)]
        return []

    def _here(self, fault: Fault, number: int) -> tuple[dict[str, Any], bool]:
        self._told = {}
        try:
            self._call(fault, number)
        except Exception as error:
            self.faults.disarm()
            self._tell(outcome="failed", said=repr(error), struck=1)
        return self._told, False

    def _in_a_fork(self, fault: Fault, number: int) -> tuple[dict[str, Any], bool]:
        """What the call told, and whether it was killed."""
        reader, writer = os.pipe()
        process = os.fork()
        if process == 0:
            self._outside = writer
            try:
                self._call(fault, number)
            except BaseException as error:
                self._tell(outcome="failed", said=repr(error))
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as lines:
            told = {k: v for line in lines for k, v in json.loads(line).items()}
        _, status = os.waitpid(process, 0)
        return told, os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL

    def _call(self, fault: Fault, number: int) -> None:
        known = Recording(self.path, note=NOTE, wait=2)
        known.begins = lambda: self._tell(records=self.faults.counted())
        call = SCENES[self.scene]
        self.faults.arm(fault, number)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                call(self, known)
                outcome, said = "done", ""
            except topgap.LedgerError as error:
                outcome, said = "refused", str(error)
        struck = self.faults.struck()
        self.faults.disarm()
        if warned and outcome == "done":
            (warning,) = warned
            outcome, said = "warned", str(warning.message)
            if warning.category is not topgap.LedgerWarning:
                outcome = "failed"
        self._tell(outcome=outcome, said=said, struck=struck)

    def _tell(self, **what: object) -> None:
        if self._outside < 0:
            self._told.update(what)
        else:
            os.write(self._outside, json.dumps(what).encode() + b"\n")

    def top_k(self, known: Any) -> None:
        self._release(known, topgap.TopK(2, COST))

    def cut(self, known: Any) -> None:
        self._release(known, topgap.TopK(4, COST, threshold=THRESHOLDS[1]))

    def _release(self, known: Any, parameters: topgap.TopK) -> None:
        pending = charging.prepare_charge(known, "visits", "topgap.top_k", parameters, gaps=True)
        told = Told(lambda _, made: self._tell(drawn=made), pending)
        made = mechanism.charge_and_select(
            parameters, preparation.prepare(parameters, VISITS), told, gaps=True
        )
        self._tell(released=made.to_dict())

    def charge(self, known: Any) -> None:
        charge = known.charge("visits", COST, mechanism="a sum")
        self._tell(receipt=charge.receipt)

    def record(self, known: Any) -> None:
        known.record(self.open_charge, {"sum": 5})
        self._tell(released={"sum": 5})

    def add_dataset(self, known: Any) -> None:
        known.add_dataset("visits" if self.scene.endswith("new") else "more", 1)

    def verify(self, known: Any) -> None:
        known.verify(*self.receipts)

    def _write_history(self, charges: int) -> None:
        known = package.Ledger(self.path)
        known.add_dataset("visits", charges + 100)
        for number in range(charges):
            charge = known.charge("visits", COST, mechanism="a sum", note="x" * (number % 90))
            self.receipts.append(charge.receipt)
            if number % 2:
                known.record(charge, {"sum": number})
        self.open_charge = known.charge("visits", COST, mechanism="a sum")
        self.receipts.append(self.open_charge.receipt)

    def _kill_amid(self) -> None:
        """Leave a journal that has to be rolled back, and a database that is half written."""
        self.scene, scene = "charge", self.scene
        fault = FAULTS["killed within a write"]
        self._files = {self.path: self.path.read_bytes()}
        number = 1
        while self._in_a_fork(fault, number + 1)[1]:
            self._restore()
            number += 1
        self._restore()
        self._in_a_fork(fault, number)  # the last write, which is to the database
        self.scene = scene
        if not self.journal.exists():
            self.wrong.append("no journal was left")

    def _restore(self) -> None:
        for path in (self.path, self.journal):
            if path in self._files:
                path.write_bytes(self._files[path])
            else:
                path.unlink(missing_ok=True)


class Recording(package.Ledger):
    """A ledger that tells when it is about to record."""

    __slots__ = ("begins",)
    begins: Callable[[], None]

    def _record(self, charge: Any, result: object, *, settles: bool) -> Any:
        self.begins()
        return super()._record(charge, result, settles=settles)


RELEASES = ("top_k", "top_k with a threshold")
SCENES: dict[str, Callable[[Play, Any], None]] = {
    "top_k": Play.top_k,
    "top_k with a threshold": Play.cut,
    "charge": Play.charge,
    "record": Play.record,
    "add_dataset": Play.add_dataset,
    "add_dataset, new": Play.add_dataset,
    "verify after a kill": Play.verify,
    "charge after a kill": Play.charge,
}


def main() -> None:
    """Play it with each fault, and tell what was found."""
    asked = given()
    break_ledger(asked.get("mutant"))
    play = Play(Path(asked["folder"]), asked["scene"], asked["history"])
    for name in asked.get("faults", FAULTS):
        if not play.wrong or not asked.get("mutant"):
            play.play_all(name, FAULTS[name])
    found = {"counts": play.counts, "sentences": play.sentences, "wrong": play.wrong[:20]}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
