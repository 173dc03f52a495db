"""A ledger's file, opened for one transaction at a time: `Storage`.

Nothing is kept open between two of them, so that a ledger can be used by threads, after a fork and
in other processes; whoever finds the file in use waits.
"""

import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote
from weakref import WeakSet

from topgap.errors import LedgerError
from topgap.ledger import schema
from topgap.ledger.chain import BEGINNING
from topgap.text import on_one_line

_Got = TypeVar("_Got")
_LONGEST_PAUSE = 0.05
_IN_USE = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_REASONS = {
    sqlite3.SQLITE_FULL: "cannot be written: the disk is full",
    sqlite3.SQLITE_READONLY: "cannot be written: it is read-only",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: it or its directory may not be used so",
    sqlite3.SQLITE_PERM: "cannot be opened: the system does not permit it",
    sqlite3.SQLITE_IOERR: "cannot be used: the system reports an input or output error",
    sqlite3.SQLITE_NOTADB: "is no ledger, or damaged; if it was one, take a copy from before",
    # SQLite says this, too, of a sound file that the disk does not give out.
    sqlite3.SQLITE_CORRUPT: "is damaged, or its disk is; see to that, or take a copy from before",
}


class _Mark:
    """Is there for as long as a file is open, whatever interrupts what follows."""

    __slots__ = ("__weakref__",)


_open: WeakSet[_Mark] = WeakSet()
"""What is open in this process."""
_inherited: set[_Mark] = set()
"""What was open in the one that it is a fork of: SQLite takes its locks for those of this one."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _inherited.update(_open))


class Storage:
    """The file, and how long to wait for it.

    Args:
        path: Where it is.
        wait: So many seconds are waited for others who use it.
    """

    def __init__(self, path: Path, wait: float) -> None:
        self.path = path
        self.label = on_one_line(path)
        self._wait = wait

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A transaction that reads.

        Raises:
            LedgerError: There is no ledger, or it cannot be read.
        """
        self._check_existence()
        with self._connected("rw") as connection:
            self._patiently(lambda: self._begin_to_read(connection))
            found = schema.version(connection, self.label)
            if found == schema.VERSION:
                yield connection
                return
            # One of an earlier version may not be ours to write to.
            with closing(sqlite3.connect(":memory:")) as copy:
                connection.backup(copy)
                schema.migrate(copy, found)
                yield copy

    @contextmanager
    def writing(self, *, create: bool = False, keep: bool = True) -> Iterator[sqlite3.Connection]:
        """A transaction that writes, alone: all of it or, if anything is raised, nothing.

        When it has ended, what was written is on the disk.

        Args:
            create: Whether to make the ledger if there is none.
            keep: Whether what is written is kept; if not, it was only tried.

        Raises:
            LedgerError: There is no ledger, or it cannot be written.
        """
        if not create:
            self._check_existence()
        with self._connected("rwc" if create else "rw") as connection:
            # Full is not enough: the transaction ends when the journal is deleted, and a directory
            # that is not written to the disk may have it again when the power is back.
            self._patiently(lambda: connection.execute("PRAGMA synchronous = EXTRA"))
            self._patiently(lambda: connection.execute("PRAGMA fullfsync = ON"))
            self._patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
            if create and schema.is_new(connection):
                schema.create(connection, BEGINNING)
            found = schema.version(connection, self.label)
            if found < schema.VERSION:
                schema.migrate(connection, found)
            yield connection
            if keep:
                self._patiently(lambda: connection.execute("COMMIT"))

    def _check_existence(self) -> None:
        try:
            self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            raise LedgerError(
                f"There is no ledger {self.label}; make one with Ledger.add_dataset or with topgap "
                f"budget init."
            ) from None
        except OSError as error:  # such as a directory that may not be entered
            raise LedgerError(f"{self.label} cannot be opened: {error.strerror}.") from None

    @contextmanager
    def _connected(self, mode: str) -> Iterator[sqlite3.Connection]:
        if _inherited:
            raise LedgerError(
                "This process was forked while a thread used a ledger, and cannot use one; start "
                "it before the threads, or with the method spawn."
            )
        name = f"file:{quote(os.fsencode(self.path))}?mode={mode}"
        _open.add(mark := _Mark())
        try:
            with closing(
                sqlite3.connect(name, uri=True, timeout=0, isolation_level=None)
            ) as opened:
                opened.execute("PRAGMA trusted_schema = OFF")  # no function is run that is in it
                try:
                    yield opened
                finally:
                    if opened.in_transaction:
                        with suppress(sqlite3.Error):  # closing it does the same
                            opened.execute("ROLLBACK")
        except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's text may quote the damage
            raise self._in_own_words(error) from None
        finally:
            _open.discard(mark)

    def _begin_to_read(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN")
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error:
            if connection.in_transaction:  # which some errors end
                connection.execute("ROLLBACK")
            raise

    def _patiently(self, do: Callable[[], _Got]) -> _Got:
        """Do it as soon as others let us."""
        deadline = time.monotonic() + self._wait
        pause = 0.001
        while True:
            try:
                return do()
            except sqlite3.OperationalError as error:
                if _code(error) not in _IN_USE:
                    raise
            if time.monotonic() >= deadline:
                raise LedgerError(
                    f"{self.label} has been in use by others for {self._wait:g} seconds; try again."
                )
            # Of different lengths, or those who wait would come all at once.
            time.sleep(random.uniform(0, pause))
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _in_own_words(self, error: Exception) -> LedgerError:
        if os.path.isdir(self.path):
            return LedgerError(f"{self.label} is a directory; name a file.")
        code = _code(error)
        if code is None:  # such as text that is none
            code = sqlite3.SQLITE_CORRUPT
        unknown = f"cannot be used: SQLite reports {getattr(error, 'sqlite_errorname', 'an error')}"
        return LedgerError(f"{self.label} {_REASONS.get(code, unknown)}.")


def _code(error: Exception) -> int | None:
    """The kind of error, without its details."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
