"""A ledger that is broken on purpose: what the tests of crashes must find."""

from types import ModuleType
from typing import Any

import topgap
from tests.checking.mutants import Mutant, mutated
from topgap import ledger as package
from topgap.ledger import charging, ledger, recording, settlement, verification
from topgap.ledger.storage import database, exclusive_access

_READ_WITHIN = """\
        def spend(connection: sqlite3.Connection) -> Charge:
            log = self._log(connection)
            last = log.last()
            total, spent, dataset_relation = log.balance(name)
"""
_READ_BEFORE = """\
        total, spent, dataset_relation = self._database.read(
            lambda connection: self._log(connection).balance(name)
        )

        def spend(connection: sqlite3.Connection) -> Charge:
            log = self._log(connection)
            last = log.last()
"""
_TRANSLATED = "raise translate_error(error, self.path, self.label) from None"
_EXTRA = 'connection.execute("PRAGMA synchronous = EXTRA")'
_PAY = """\
        self.charge = self._ledger.charge(
            self.dataset,
            self.epsilon,
            mechanism=self._mechanism,
            parameters=self.parameters,
            neighbours=self._neighbours,
        )
        result = self._run(draw)
"""
_SETTLE = "    settlement = _settle("
_SETTLE_LATER = f"""\
    log._connection.execute("COMMIT")
    log._connection.execute("BEGIN IMMEDIATE")
{_SETTLE}"""
_PAY_LATER = """\
        result = self._run(draw)
        self.charge = self._ledger.charge(
            self.dataset,
            self.epsilon,
            mechanism=self._mechanism,
            parameters=self.parameters,
            neighbours=self._neighbours,
        )
"""

MUTANTS: dict[str, tuple[ModuleType, str, str]] = {
    "charged after the draw": (charging, _PAY, _PAY_LATER),
    "not recorded": (
        charging,
        "self.charge = self._ledger._record_drawn(self.charge, result)",
        "pass",
    ),
    "an error in recording is an error": (
        charging,
        "        except Exception as error:",
        "        except ZeroDivisionError as error:",
    ),
    "settled in a transaction of its own": (recording, _SETTLE, _SETTLE_LATER),
    "settled to j/k": (
        settlement,
        "release.spent * factor",
        "parameters.epsilon * len(release) / 4 * factor",
    ),
    "settled to the smallest cost": (
        settlement,
        "release.spent * factor",
        "parameters.least_cost * factor",
    ),
    "no charge committed": (
        ledger,
        "parameters, note, commit=True)",
        "parameters, note, commit=False)",
    ),
    "nothing committed": (database, "            if commit:", "            if not commit:"),
    "sum read before the transaction": (ledger, _READ_WITHIN, _READ_BEFORE),
    "begun without a lock": (database, "BEGIN IMMEDIATE", "BEGIN"),
    "forked amid, and going on": (exclusive_access, "        if _inherited:", "        if False:"),
    "in the main thread": (
        exclusive_access,
        "is_interruptible = threading.get_ident() ==",
        "is_interruptible = None ==",
    ),
    "interrupted and going on": (
        exclusive_access,
        "                interrupt = error\n",
        "                raise\n                interrupt = error\n",
    ),
    "not waited for": (exclusive_access, "if not is_busy(error):\n", "if True:\n"),
    "no lock of the directory": (database, "if exclusive_access.HAS_LOCKS:", "if False:"),
    "journal in memory": (database, "journal_mode = DELETE", "journal_mode = MEMORY"),
    "no journal": (database, "journal_mode = DELETE", "journal_mode = OFF"),
    "an error behind another": (database, "if connection.in_transaction:  #", "if True:  #"),
    "an error of SQLite": (database, _TRANSLATED, "raise"),
    **{
        f"synchronous = {level}": (database, _EXTRA, _EXTRA.replace("EXTRA", level))
        for level in ("OFF", "NORMAL", "FULL")
    },
}

# The lock of the directory would hide them, and where there is none SQLite's own must do.
_UNDER_SQLITES_LOCKS_ALONE = {"begun without a lock", "not waited for"}


def break_ledger(name: str | None) -> None:
    """Break it in this process, from here on."""
    if name is None:
        return
    module, old, new = MUTANTS[name]
    broken: Any = mutated(module, Mutant(name, old, new))
    if name in _UNDER_SQLITES_LOCKS_ALONE:
        exclusive_access.HAS_LOCKS = False
    if module is charging:
        charging.LedgerCharge = broken.LedgerCharge  # type: ignore[misc]
    elif module is recording:
        ledger.record_result = broken.record_result  # type: ignore[attr-defined]
    elif module is settlement:
        recording.settled_cost = broken.settled_cost  # type: ignore[attr-defined]
        verification.settled_cost = broken.settled_cost  # type: ignore[attr-defined]
    elif module is exclusive_access:
        for each in ("DirectoryLock", "retry_while_busy", "run_uninterrupted"):
            setattr(database, each, getattr(broken, each))
    elif module is database:
        ledger.Database = broken.Database  # type: ignore[attr-defined]
    else:
        topgap.Ledger = package.Ledger = broken.Ledger  # type: ignore[misc]
