"""Processes that release with a ledger and are killed at random moments, and what is left then.

    python -m tests.ledger.kill_scenarios '{"folder": …, "kills": 20000, "seconds": 600, "seed": 1}'

Several at once use one file. What they release goes outside at once, through a pipe: in some calls
when the release is given to who called, in others as soon as it is drawn.
"""

import json
import os
import random
import select
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import topgap
from tests.checking.separate_process import given
from tests.ledger.ledger_mutants import break_ledger
from topgap import ledger as package
from topgap.ledger import charging
from topgap.ledger.charging import PendingCharge
from topgap.selection import mechanism, preparation

PROCESSES = 4
CALLS = 10
"""Each lives at most as long as so many calls take when nobody else is at work."""
LONGEST = 0.08
"""And at most so many seconds, however busy the machine was when that was measured."""
TOTAL = Fraction(9)
COSTS = [Fraction(1, 3), Fraction(1, 7), Fraction(2, 5), Fraction(1, 10)]
VISITS = {"start": 51_260, "search": 20_110, "help": 960, "legal": 12}
THRESHOLDS = [10_000, 35_000, 10**6]
"""Each so far from the counts that noise of a scale of at most 80 does not matter."""

_Made = TypeVar("_Made")


class Worker:
    """One of the processes: it calls until it is killed.

    Args:
        name: Of it, which no other has.
        path: The ledger.
        outside: A pipe, into which a line of less than 4,096 bytes goes wholly or not at all.
    """

    def __init__(self, name: str, path: Path, outside: int) -> None:
        self._name = name
        self._path = path
        self._outside = outside
        self._call = ""
        self.calls: list[Callable[[Any, Fraction], object]] = [
            self._release,
            self._estimates,
            self._selector,
            self._drawn,
            self._drawn,
            self._cut,
            self._cut,
            self._by_group,
            self._charge,
        ]

    def work(self) -> None:
        """Until the end."""
        try:
            self._begin()
            for number in range(1, 10_000):
                self._call = f"{self._name}.{number}"
                self._tell("began")
                known = package.Ledger(self._path, note=self._call)
                try:
                    if random.random() < 0.05:
                        known.add_dataset(f"other {self._call}", 1)
                        self._tell("added")
                    else:
                        random.choice(self.calls)(known, random.choice(COSTS))
                except topgap.BudgetExceeded:
                    self._tell("refused")
        except BaseException as error:
            self._tell("failed", repr(error))
        os._exit(0)

    def _begin(self) -> None:
        try:
            package.Ledger(self._path).add_dataset("visits", TOTAL)
        except topgap.LedgerError as error:
            if "has its total already" not in str(error):
                raise
        self._tell("added")

    def _release(self, known: Any, cost: Fraction) -> None:
        made = topgap.top_k(VISITS, 2, cost, ledger=known, dataset="visits")
        self._tell("released", made.to_dict())

    def _estimates(self, known: Any, cost: Fraction) -> None:
        made = topgap.top_k_with_estimates(VISITS, 1, cost, ledger=known, dataset="visits")
        self._tell("released", made.to_dict())

    def _selector(self, known: Any, cost: Fraction) -> None:
        selector = topgap.Selector(topgap.TopK(1, cost))
        selector.add(VISITS)
        self._tell("released", selector.release(ledger=known, dataset="visits").to_dict())

    def _drawn(self, known: Any, cost: Fraction) -> None:
        """It is outside before it is recorded."""
        self._draw(known, topgap.TopK(2, cost))

    def _cut(self, known: Any, cost: Fraction) -> None:
        """So is a list that a threshold ends, after two names, one or none."""
        self._draw(known, topgap.TopK(4, cost, threshold=random.choice(THRESHOLDS)))

    def _by_group(self, known: Any, cost: Fraction) -> None:
        """Two lists share the charge, and the longer one says what they cost."""
        threshold = random.choice(THRESHOLDS)
        groups = {"north": VISITS, "south": dict.fromkeys(VISITS, 0)}
        paid = {"ledger": known, "dataset": "visits"}
        made = topgap.top_k_by_group(groups, 4, cost, threshold=threshold, monotonic=True, **paid)
        self._tell("released", made.to_dict())

    def _draw(self, known: Any, parameters: topgap.TopK) -> None:
        pending = charging.prepare_charge(known, "visits", "topgap.top_k", parameters, gaps=True)
        data = preparation.prepare(parameters, VISITS)
        made = mechanism.charge_and_select(parameters, data, Told(self._tell, pending), gaps=True)
        self._tell("released", made.to_dict())

    def _charge(self, known: Any, cost: Fraction) -> None:
        charge = known.charge("visits", cost, mechanism="a sum")
        self._tell("charged", charge.receipt)
        known.record(charge, [self._call])
        self._tell("recorded", [self._call])

    def _tell(self, what: str, value: object = None) -> None:
        line = json.dumps([self._call, what, value]).encode() + b"\n"
        if len(line) > select.PIPE_BUF:
            raise ValueError(line)
        os.write(self._outside, line)


def settled(result: str | None) -> Fraction | None:
    """What a charge with this result is settled to, for these parameters and for one relation."""
    document = None if result is None else json.loads(result)
    if not isinstance(document, dict) or "threshold" not in document.get("parameters", {}):
        return None
    lists = document.get("groups", [document])
    k, winners = document["parameters"]["k"], max(len(each["winners"]) for each in lists)
    steps = winners + 1 if document["parameters"]["monotonic"] else winners + Fraction(1, 2)
    cost = Fraction(document["parameters"]["epsilon"]) * steps / k
    return cost if steps < k else None


class Told:
    """A charge for a release that is told as soon as it is drawn."""

    def __init__(self, tell: Callable[[str, object], None], pending: PendingCharge) -> None:
        self._tell = tell
        self._pending = pending

    def note_groups(self, number: int) -> None:
        self._pending.note_groups(number)

    def charge_then_run(self, draw: Callable[[], _Made]) -> _Made:
        def drawn() -> _Made:
            made: Any = draw()
            self._tell("drawn", made.to_dict())
            return made  # type: ignore[no-any-return]

        return self._pending.charge_then_run(drawn)


class Scene:
    """One ledger, from before it exists until nothing is left in it.

    Args:
        path: Where it is made.
        span: How many seconds a process lives at most.
        counts: What is counted.
    """

    def __init__(self, path: Path, span: float, counts: Counter[str]) -> None:
        self.path = path
        self.span = span
        self.journal = path.with_name(path.name + "-journal")
        self.counts = counts
        self.told: dict[str, dict[str, Any]] = {}
        self.is_added = False
        self.is_used_up = False
        self.wrong: list[str] = []
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        self._rest = b""
        self._workers = 0

    def kill_some(self, processes: int) -> None:
        """Let some processes work, kill each, and look what is left."""
        at_once = random.random() < 0.5
        names = {}
        for _ in range(processes):
            self._workers += 1
            process = os.fork()
            if process == 0:
                random.seed()
                Worker(f"{self._workers}", self.path, self._writer).work()
            names[process] = f"{self._workers}"
        if random.random() < 0.9:  # else some are killed when they have hardly begun
            self._await_calls(names.values())
        began, moment = time.monotonic(), random.uniform(0, self.span)
        alive = {
            process: (began + (moment if at_once else random.uniform(0, self.span)), name)
            for process, name in names.items()
        }
        killed = []
        for process, (end, name) in sorted(alive.items(), key=lambda each: each[1][0]):
            while (left := end - time.monotonic()) > 0:
                if select.select([self._reader], [], [], left)[0]:
                    self._listen()
            os.kill(process, signal.SIGKILL)
            if not at_once:
                self._await(process)
            killed.append((process, name))
        if at_once:
            for process, _ in killed:
                self._await(process)
        self._listen()
        self.counts["kills"] += len(killed)
        self.counts["a journal was left"] += self.journal.exists()
        self._look([name for _, name in killed])

    def use_up(self) -> None:
        """Spend all that is left; then nothing is released any more."""
        known = package.Ledger(self.path)
        if (left := known.budget("visits").left) > 0:
            known.charge("visits", left, mechanism="the rest")
        for call in (topgap.top_k, topgap.top_k_with_estimates):
            try:
                call(VISITS, 1, "1/1000000", ledger=known, dataset="visits")
                self.wrong.append("released what nothing was left for")
            except topgap.BudgetExceeded:
                pass
        if known.budget("visits").spent != TOTAL:
            self.wrong.append("not all can be spent")
        os.close(self._reader)
        os.close(self._writer)

    def _await_calls(self, names: Iterable[str]) -> None:
        """Wait until all have begun with a call, but not for long."""
        until = time.monotonic() + 1
        while time.monotonic() < until:
            begun = {call.split(".")[0] for call in self.told}
            if begun.issuperset(names):
                return
            select.select([self._reader], [], [], 0.01)
            self._listen()

    def _await(self, process: int) -> None:
        _, status = os.waitpid(process, 0)
        if not os.WIFSIGNALED(status):
            self.wrong.append("a process ended by itself")

    def _listen(self) -> None:
        while True:
            try:
                self._rest += os.read(self._reader, 2**16)
            except BlockingIOError:
                break
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            call, what, value = json.loads(line)
            self.is_added |= what == "added"
            self.is_used_up |= what == "refused"
            if what == "failed":
                self.wrong.append(str(value))
            self.told.setdefault(call, {})[what] = value

    def _look(self, names: list[str]) -> None:
        if not self.is_added and not self.path.exists():
            self.counts["the kill left no ledger"] += len(names)
            return
        known = package.Ledger(self.path)
        receipts = [each["charged"] for each in self.told.values() if "charged" in each]
        try:
            known.verify(*receipts)
            budgets, history = known.budgets(), known.history()
        except topgap.LedgerError as error:
            if self.is_added or "is empty" not in str(error):
                self.wrong.append(str(error))
            else:
                self.counts["the kill left no ledger"] += len(names)
            return
        charges = {charge.note: charge for charge in history}
        if len(charges) != len(history):
            self.wrong.append("a call was charged twice")
        for call, told in self.told.items():
            self._look_at(told, charges.get(call))
        for budget in budgets:
            of_it = [c for c in history if c.dataset == budget.dataset]
            spent = sum(c.epsilon if c.settled is None else c.settled for c in of_it)
            if not spent == budget.spent <= budget.total:
                self.wrong.append("the sum is not right")
            if sum(c.epsilon for c in of_it) != budget.reserved:
                self.wrong.append("the sum of what was reserved is not right")
        for charge in history:
            if charge.settled != settled(charge.result):
                self.wrong.append(f"settled to {charge.settled}: {charge.result}")
        if sum("drawn" in t or "released" in t for t in self.told.values()) > len(history):
            self.wrong.append("more releases than charges")
        for name in names:
            self.counts[self._moment(name, charges)] += 1

    def _look_at(self, told: dict[str, Any], charge: Any) -> None:
        kept = None if charge is None or charge.result is None else json.loads(charge.result)
        if charge is None and told.keys() & {"drawn", "released", "charged"}:
            self.wrong.append(f"never charged: {sorted(told)}")
        for what in ("released", "recorded"):
            if what in told and kept != told[what]:
                self.wrong.append(f"{what}, and not in the ledger")
        if "drawn" in told and kept not in (None, told["drawn"]):
            self.wrong.append("the ledger has another result")
        is_settled = charge is not None and charge.settled is not None
        if "drawn" in told and is_settled and charge.settled != settled(json.dumps(told["drawn"])):
            self.wrong.append("settled to what another output cost")

    def _moment(self, name: str, charges: dict[str | None, Any]) -> str:
        """When this process was killed, as far as it can be told."""
        calls = [int(call.split(".")[1]) for call in self.told if call.startswith(f"{name}.")]
        if not calls:
            return "the kill came before the first call"
        last = f"{name}.{max(calls)}"
        if self.told[last].keys() & {"released", "recorded", "refused", "added"}:
            return "the kill came after a call"
        charge = charges.get(last)
        if charge is None:
            return "the kill left no charge"
        if charge.result is not None:
            return "the kill left a charge with its result"
        return "the kill left a charge without a result"


def warmed_up(folder: Path) -> float:
    """How many seconds a call takes, when all that it needs has been loaded."""
    known = package.Ledger(folder / "warm.db")
    known.add_dataset("visits", 100)
    reader, writer = os.pipe()
    worker = Worker("0", known.path, writer)
    times = []
    for call in [*worker.calls, *worker.calls]:
        began = time.monotonic()
        call(known, COSTS[0])
        times.append(time.monotonic() - began)
    os.close(reader)
    os.close(writer)
    return median(times)


def main() -> None:
    """Kill so often, and tell what was found."""
    asked = given()
    random.seed(asked["seed"])
    folder = Path(asked["folder"])
    span = min(CALLS * warmed_up(folder), LONGEST)
    break_ledger(asked.get("mutant"))
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    deadline = time.monotonic() + asked["seconds"]

    def goes_on() -> bool:
        is_late = time.monotonic() > deadline
        return bool(counts["kills"] < (min(1000, asked["kills"]) if is_late else asked["kills"]))

    while goes_on() and not wrong:
        counts["ledgers"] += 1
        scene = Scene(folder / f"{counts['ledgers']}.db", span, counts)
        while goes_on() and not scene.is_used_up and not scene.wrong:
            scene.kill_some(PROCESSES)
        if not scene.wrong and scene.is_added:
            scene.use_up()
        told = scene.told.values()
        counts["releases outside"] += sum("drawn" in t or "released" in t for t in told)
        if scene.is_added and not scene.wrong:
            counts["settlements"] += package.Ledger(scene.path).budget("visits").settled
            counts["charges"] += len(package.Ledger(scene.path).history())
        wrong += scene.wrong
    print(json.dumps({"counts": counts, "wrong": wrong[:10]}))


if __name__ == "__main__":
    main()
