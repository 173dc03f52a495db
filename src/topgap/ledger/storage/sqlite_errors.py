"""Errors of SQLite, in topgap's own words."""

import os
import sqlite3
from pathlib import Path

from topgap.errors import LedgerError
from topgap.ledger.entry import RESTORE_ADVICE

NO_LEDGER = f"is not a ledger, or is damaged; if it was one, {RESTORE_ADVICE}"
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_REASONS = {
    sqlite3.SQLITE_FULL: "cannot be written: the disk is full",
    sqlite3.SQLITE_READONLY: "cannot be written: it or its directory is read-only",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: access to it or to its directory is denied",
    sqlite3.SQLITE_PERM: "cannot be opened: the system does not permit it",
    sqlite3.SQLITE_IOERR: "cannot be used: the system reports an input or output error",
    sqlite3.SQLITE_NOTADB: NO_LEDGER,
    # SQLite says this, too, of a sound file that the disk does not give out.
    sqlite3.SQLITE_CORRUPT: f"is damaged, or its disk is; check the disk, or {RESTORE_ADVICE}",
}


def is_busy(error: sqlite3.Error) -> bool:
    """Whether SQLite reports that others use the file."""
    return _code(error) in _BUSY


def translate_error(error: Exception, path: Path, label: str) -> LedgerError:
    """Return the error to raise in place of one of SQLite, whose text may quote the file.

    Args:
        error: An error of SQLite, or of text that is none.
        path: The ledger's file.
        label: What errors call it.
    """
    if os.path.isdir(path):
        return LedgerError(f"{label} is a directory; name a file.")
    code = _code(error)
    if code == sqlite3.SQLITE_READONLY and os.path.exists(f"{path}-journal"):
        return LedgerError(
            f"{label} was left by a crash in the middle of a charge; it is repaired when somebody "
            f"uses it who may write to it and to its directory."
        )
    if code is None:  # such as text that is none
        code = sqlite3.SQLITE_CORRUPT
    unknown = f"cannot be used: SQLite reports {getattr(error, 'sqlite_errorname', 'an error')}"
    return LedgerError(f"{label} {_REASONS.get(code, unknown)}.")


def _code(error: Exception) -> int | None:
    """Return the kind of error, without its details."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
