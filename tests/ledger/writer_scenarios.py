"""Many processes or threads that use one ledger at once.

python -m tests.ledger.writer_scenarios '{"folder": …, "scene": "charging"}'
"""

import json
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import topgap
from tests.checking.separate_process import given
from tests.ledger.ledger_mutants import break_ledger
from tests.ledger.sample_ledgers import charge_and_draw, cut
from topgap import ledger as package

COST = Fraction(1, 3)
LIST = topgap.TopK(4, COST, threshold=500)
_Work = Callable[[int], dict[str, Any]]


def charging(path: Path, number: int, charges: int) -> dict[str, Any]:
    """Charge until nothing is left, but at most so often, and now and then record."""
    known = package.Ledger(path, note=f"{number}", wait=600)  # a slow machine is no failure
    receipts: list[str] = []
    longest = 0.0
    while len(receipts) < charges:
        began = time.monotonic()
        try:
            charge = known.charge("visits", COST, mechanism="a sum")
        except topgap.BudgetExceeded:
            break
        finally:
            longest = max(longest, time.monotonic() - began)
        receipts.append(charge.receipt)
        if len(receipts) % 2:
            known.record(charge, [number, len(receipts)])
    return {"receipts": receipts, "longest": longest}


def settling(path: Path, number: int, most: int) -> dict[str, Any]:
    """Release until too little is left, lists of several lengths; what each of them cost."""
    known = package.Ledger(path, note=f"{number}", wait=600)
    receipts: list[str] = []
    cost, longest = Fraction(0), 0.0
    while len(receipts) < most:
        drawn = cut((number + len(receipts)) % 5, LIST)
        began = time.monotonic()
        try:
            charge = charge_and_draw(known, "visits", drawn)
        except topgap.BudgetExceeded:
            break
        finally:
            longest = max(longest, time.monotonic() - began)
        receipts.append(charge.receipt)
        cost += COST * min(Fraction(2 * len(drawn) + 1, 8), Fraction(1))
    return {"receipts": receipts, "longest": longest, "cost": str(cost)}


def looking_at_settlements(path: Path, stop: Path) -> dict[str, Any]:
    """Read all the while: no more is spent than the total, nor less than the outputs cost."""
    known = package.Ledger(path)
    looks, longest = 0, 0.0
    while not stop.exists():
        began = time.monotonic()
        read = known.to_dict()
        longest = max(longest, time.monotonic() - began)
        (budget,), charges = read["datasets"], read["charges"]
        least = sum(Fraction((each["result"] or {}).get("spent", COST)) for each in charges)
        if not least == Fraction(budget["spent"]) <= Fraction(budget["total"]):
            raise ArithmeticError(f"{least}, {budget}")
        looks += 1
    return {"looks": looks, "longest": longest}


def settle_at_once(folder: Path, processes: int, lists: int, readers: int) -> Any:
    """Writers whose lists a threshold ends, until together they have used up the total."""
    path, stop = folder / "budget.db", folder / "stop"
    known = package.Ledger(path)
    known.add_dataset("visits", COST * processes * lists)

    def work(number: int) -> dict[str, Any]:
        if number < processes:
            return settling(path, number, 20 * lists)
        return looking_at_settlements(path, stop)

    found = at_once(processes + readers, work, folder, readers)
    receipts = [receipt for each in found for receipt in each.get("receipts", [])]
    wrong = [each["failed"] for each in found if "failed" in each]
    try:
        known.verify(*receipts)
    except topgap.LedgerError as error:
        wrong.append(str(error))
    budget = known.budget("visits")
    cost = sum(Fraction(each.get("cost", 0)) for each in found)
    if budget.spent != cost or budget.reserved != COST * len(receipts):
        wrong.append(f"{cost} was released, and {budget.spent} of {budget.reserved} is spent")
    if not 0 <= budget.left < COST or budget.charges != len(receipts):
        wrong.append(f"{budget.left} is left after {len(receipts)} of {budget.charges} charges")
    return {
        "wrong": wrong,
        "charges": budget.charges,
        "settled": budget.settled,
        "looks": sum(each.get("looks", 0) for each in found),
        "longest": max(each.get("longest", 0) for each in found),
    }


def looking(path: Path, stop: Path) -> dict[str, Any]:
    """Read all the while; what is spent must never go down or beyond the total."""
    known = package.Ledger(path)
    spent, looks, longest = Fraction(0), 0, 0.0
    while not stop.exists():
        began = time.monotonic()
        (budget,) = known.budgets()
        history = known.history("visits")
        longest = max(longest, time.monotonic() - began)
        if not spent <= budget.spent <= sum(c.epsilon for c in history) <= budget.total:
            raise ArithmeticError(f"{spent}, {budget.spent}, {len(history)}")
        spent = budget.spent
        looks += 1
    return {"looks": looks, "longest": longest}


def adding(path: Path) -> dict[str, Any]:
    """Make the ledger, as all others try to."""
    try:
        package.Ledger(path).add_dataset("visits", 1)
    except topgap.LedgerError as error:
        return {"said": str(error)}
    return {"won": 1}


def at_once(processes: int, work: _Work, folder: Path, watching: int = 0) -> list[dict[str, Any]]:
    """What each process gives or raises, all begun at the same moment.

    The last of them may watch the others until these have ended; then there is a file `stop`.
    """
    reader, writer = os.pipe()
    children = {}
    for number in range(processes):
        process = os.fork()
        if process == 0:
            os.close(writer)
            os.read(reader, 1)  # which ends when the other end is closed
            try:
                found = work(number)
            except BaseException as error:
                found = {"failed": repr(error)}
            (folder / f"{number}.json").write_text(json.dumps(found))
            os._exit(0)
        children[process] = folder / f"{number}.json"
    os.close(reader)
    os.close(writer)
    for number, process in enumerate(children):
        if number == processes - watching:
            (folder / "stop").touch()
        os.waitpid(process, 0)
    return [json.loads(path.read_text()) for path in children.values()]


def copying(path: Path, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Do it while a thread of the same process copies the file, which drops SQLite's locks."""
    done = threading.Event()

    def copy() -> None:
        while not done.wait(0.0005):
            path.read_bytes()

    thread = threading.Thread(target=copy)
    thread.start()
    try:
        return work()
    finally:
        done.set()
        thread.join()


def charge_at_once(
    folder: Path, processes: int, charges: int, readers: int, copies: bool = False
) -> Any:
    """Writers who use up the total together, and readers."""
    path, stop = folder / "budget.db", folder / "stop"
    package.Ledger(path).add_dataset("visits", COST * processes * charges)

    def work(number: int) -> dict[str, Any]:
        if number < processes:
            # Some could have more than their share, so that others find nothing left.
            if copies:
                return copying(path, lambda: charging(path, number, 2 * charges))
            return charging(path, number, 2 * charges)
        return looking(path, stop)

    return _summed_up(path, at_once(processes + readers, work, folder, readers))


def charge_in_threads(folder: Path, threads: int, charges: int) -> Any:
    """The same in the threads of one process, with one `Ledger` each."""
    path = folder / "budget.db"
    package.Ledger(path).add_dataset("visits", COST * threads * charges)

    def work(number: int) -> dict[str, Any]:
        try:
            return charging(path, number, 2 * charges)
        except BaseException as error:
            return {"failed": repr(error)}

    with ThreadPoolExecutor(threads) as pool:
        found = [*pool.map(work, range(threads))]
    return _summed_up(path, found)


def make_at_once(folder: Path, processes: int) -> Any:
    """Processes that all make the ledger."""
    path = folder / "budget.db"
    found = at_once(processes, lambda _: adding(path), folder)
    return {"found": found, "entries": package.Ledger(path).verify().entries}


def fork_with_a_ledger(folder: Path, processes: int) -> Any:
    """One `Ledger` that was used before the fork, and is used by all after."""
    path = folder / "budget.db"
    known = package.Ledger(path)
    known.add_dataset("visits", COST * processes)

    def work(_: int) -> dict[str, Any]:
        return {"receipts": [known.charge("visits", COST, mechanism="a sum").receipt]}

    return _summed_up(path, at_once(processes, work, folder))


def fork_amid(folder: Path, writes: bool) -> Any:
    """A fork while another thread is within a transaction."""
    path = folder / "budget.db"
    known = package.Ledger(path, wait=1)
    known.add_dataset("visits", 1)
    inside, done = threading.Event(), threading.Event()
    database = known._database

    def stay() -> None:
        def wait(_: object) -> None:
            inside.set()
            done.wait()

        if writes:
            database.write(wait, commit=False)
        else:
            database.read(wait)

    thread = threading.Thread(target=stay)
    thread.start()
    inside.wait()

    def work(_: int) -> dict[str, Any]:
        said = []
        began = time.monotonic()
        for call in (lambda: known.charge("visits", COST, mechanism="a sum"), known.budgets):
            try:
                call()
                said.append("")
            except topgap.LedgerError as error:
                said.append(str(error))
        return {"said": said, "longest": time.monotonic() - began}

    amid = at_once(1, work, folder)
    done.set()
    thread.join()
    return {"amid": amid[0], "after": at_once(1, work, folder)[0]}


def _summed_up(path: Path, found: list[dict[str, Any]]) -> Any:
    receipts = [receipt for each in found for receipt in each.get("receipts", [])]
    known = package.Ledger(path)
    wrong = [each["failed"] for each in found if "failed" in each]
    try:
        known.verify(*receipts)
    except topgap.LedgerError as error:
        wrong.append(str(error))
    budget, history = known.budget("visits"), known.history()
    if sorted(receipts) != sorted(charge.receipt for charge in history):
        wrong.append(f"{len(receipts)} were charged, and {len(history)} are there")
    if len(history) != budget.charges or budget.spent != len(history) * COST:
        wrong.append("the sum is not right")
    if budget.left != 0:
        wrong.append("not all is spent")
    return {
        "wrong": wrong,
        "charges": len(receipts),
        "looks": sum(each.get("looks", 0) for each in found),
        "longest": max(each.get("longest", 0) for each in found),
    }


SCENES: dict[str, Callable[..., Any]] = {
    "charge at once": charge_at_once,
    "settle at once": settle_at_once,
    "charge in threads": charge_in_threads,
    "make at once": make_at_once,
    "fork with a ledger": fork_with_a_ledger,
    "fork amid": fork_amid,
}


def main() -> None:
    """Play the scene, and tell what was found."""
    asked = given()
    break_ledger(asked.pop("mutant", None))
    folder = Path(asked.pop("folder"))
    print(json.dumps(SCENES[asked.pop("scene")](folder, **asked)))


if __name__ == "__main__":
    main()
