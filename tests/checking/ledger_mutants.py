"""A ledger that is broken on purpose: what the tests of crashes must find."""

from types import ModuleType
from typing import Any

import topgap
from checking.mutants import Mutant, mutated
from topgap import ledger as package
from topgap.ledger import charging, ledger
from topgap.ledger.storage import database, directory_lock, uninterrupted

_READ_WITHIN = """\
        def spend(connection: sqlite3.Connection) -> Charge:
            log = Log(connection, self._storage.label)
            last = log.last()
            total, spent, of_dataset = statements.balance(log, name)
"""
_READ_BEFORE = """\
        total, spent, of_dataset = self._storage.read(
            lambda connection: statements.balance(Log(connection, self._storage.label), name)
        )

        def spend(connection: sqlite3.Connection) -> Charge:
            log = Log(connection, self._storage.label)
            last = log.last()
"""
_EXTRA = 'connection.execute("PRAGMA synchronous = EXTRA")'
_PAY = """\
        self.charge = self._ledger.charge(
            self.dataset,
            self.epsilon,
            mechanism=self._mechanism,
            parameters=self._parameters,
            neighbours=self._neighbours,
        )
        made = self._drawn(draw)
"""
_PAY_LATER = """\
        made = self._drawn(draw)
        self.charge = self._ledger.charge(
            self.dataset,
            self.epsilon,
            mechanism=self._mechanism,
            parameters=self._parameters,
            neighbours=self._neighbours,
        )
"""

MUTANTS: dict[str, tuple[ModuleType, str, str]] = {
    "charged after the draw": (charging, _PAY, _PAY_LATER),
    "not recorded": (charging, "self._ledger.record(self.charge, made)", "pass"),
    "an error in recording is an error": (
        charging,
        "        except Exception as error:",
        "        except ZeroDivisionError as error:",
    ),
    "no charge committed": (
        ledger,
        "parameters, note, keep=True)",
        "parameters, note, keep=False)",
    ),
    "nothing committed": (database, "            if keep:", "            if not keep:"),
    "sum read before the transaction": (ledger, _READ_WITHIN, _READ_BEFORE),
    "begun without a lock": (database, "BEGIN IMMEDIATE", "BEGIN"),
    "forked amid, and going on": (directory_lock, "        if _inherited:", "        if False:"),
    "in the main thread": (
        uninterrupted,
        "is_interruptible = threading.get_ident() ==",
        "is_interruptible = None ==",
    ),
    "interrupted and going on": (
        uninterrupted,
        "                interrupt = error\n",
        "                raise\n                interrupt = error\n",
    ),
    "not waited for": (database, "if _code(error) not in _IN_USE:\n", "if True:\n"),
    "no lock of the directory": (database, "if directory_lock.HAS_LOCKS:", "if False:"),
    "journal in memory": (database, "journal_mode = DELETE", "journal_mode = MEMORY"),
    "no journal": (database, "journal_mode = DELETE", "journal_mode = OFF"),
    "an error behind another": (database, "if connection.in_transaction:  #", "if True:  #"),
    "an error of SQLite": (database, "raise self._in_own_words(error) from None", "raise"),
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
        directory_lock.HAS_LOCKS = False
    if module is charging:
        charging.LedgerCharge = broken.LedgerCharge  # type: ignore[misc]
    elif module is uninterrupted:
        database.run_to_end = broken.run_to_end  # type: ignore[attr-defined]
    elif module is directory_lock:
        database.Holding = broken.Holding  # type: ignore[attr-defined]
    elif module is database:
        ledger.Storage = broken.Storage  # type: ignore[attr-defined]
    else:
        topgap.Ledger = package.Ledger = broken.Ledger  # type: ignore[misc]
