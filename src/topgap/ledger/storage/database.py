"""A ledger's file, opened for one transaction at a time: `Storage`.

Nothing is kept open between two of them, so that a ledger can be used by threads and by other
processes; whoever finds the file in use waits. What is read is copied into memory first, so that
nobody waits for a reader who takes their time. Whoever has the file has it to the end of their
transaction, and no interrupt can come between.
"""

import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path, PurePath
from typing import Any, TypeVar
from urllib.parse import quote

from topgap.display.text import format_path
from topgap.errors import LedgerError
from topgap.ledger.entry import BEGINNING, START_FROM_A_COPY
from topgap.ledger.storage import directory_lock, schema
from topgap.ledger.storage.directory_lock import Holding
from topgap.ledger.storage.uninterrupted import Work, run_to_end

_Got = TypeVar("_Got")
_LONGEST_PAUSE = 0.02
_SMALLEST = 512  # bytes; SQLite takes a file of one byte for an empty one
_IN_USE = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_NO_LEDGER = f"is no ledger, or damaged; if it was one, {START_FROM_A_COPY}"
_REASONS = {
    sqlite3.SQLITE_FULL: "cannot be written: the disk is full",
    sqlite3.SQLITE_READONLY: "cannot be written: it or its directory is read-only",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: it or its directory may not be used so",
    sqlite3.SQLITE_PERM: "cannot be opened: the system does not permit it",
    sqlite3.SQLITE_IOERR: "cannot be used: the system reports an input or output error",
    sqlite3.SQLITE_NOTADB: _NO_LEDGER,
    # SQLite says this, too, of a sound file that the disk does not give out.
    sqlite3.SQLITE_CORRUPT: f"is damaged, or its disk is; see to that, or {START_FROM_A_COPY}",
}


class Storage:
    """The file, and how long to wait for it.

    Args:
        path: Where it is.
        wait: So many seconds are waited for others who use it.
    """

    def __init__(self, path: Path, wait: float) -> None:
        self.path = path
        self.label = format_path(path)
        self._wait = wait

    def read(self, do: Callable[[sqlite3.Connection], _Got]) -> _Got:
        """Do something with what is in the file, as it was at one moment.

        Raises:
            LedgerError: There is no ledger, or it cannot be read.
        """
        with self._told(), closing(run_to_end(self._copy)) as copy:
            found = schema.version(copy, self.label)
            if found < schema.VERSION:  # the file itself may not be ours to write to
                schema.migrate(copy, found)
            return do(copy)

    def write(
        self,
        do: Callable[[sqlite3.Connection], _Got],
        *,
        create: bool = False,
        keep: bool = True,
    ) -> _Got:
        """Do something in a transaction, alone: all of it or, if anything is raised, nothing.

        When it has ended, what was written is on the disk. An interrupt ends the waiting for others
        who use the file, and nothing else.

        Args:
            do: What writes; in the main thread, another one does it.
            create: Whether to make the ledger if there is none.
            keep: Whether what is written is kept; if not, it was only tried.

        Raises:
            LedgerError: There is no ledger, it cannot be written, or it has other tables than those
                that topgap makes.
        """
        with self._told():
            return run_to_end(lambda work: self._write(work, do, create, keep))

    def _copy(self, work: Work[Any]) -> sqlite3.Connection:
        self._check_existence()
        with self._alone(work, writes=False), self._connected("rw") as connection:
            self._patiently(work, lambda: self._begin_to_read(connection))
            schema.version(connection, self.label)
            copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            connection.backup(copy)
            return copy

    def _write(
        self, work: Work[Any], do: Callable[[sqlite3.Connection], _Got], create: bool, keep: bool
    ) -> _Got:
        if not create:
            self._check_existence()
        with (
            self._alone(work, writes=True) as holding,
            self._no_empty_file_left(holding),
            self._connected("rwc" if create else "rw") as connection,
        ):
            self._check_names()
            # Full is not enough: the transaction ends when the journal is deleted, and a directory
            # that is not written to the disk may have it again when the power is back.
            self._patiently(work, lambda: connection.execute("PRAGMA synchronous = EXTRA"))
            self._patiently(work, lambda: connection.execute("PRAGMA fullfsync = ON"))
            self._leave_write_ahead_log(connection)
            self._patiently(work, lambda: connection.execute("BEGIN IMMEDIATE"))
            if create and schema.is_new(connection):
                schema.create(connection, BEGINNING)
            found = schema.version(connection, self.label)
            if found < schema.VERSION:
                schema.migrate(connection, found)
            schema.check(connection, self.label)
            got = do(connection)
            if keep:
                self._patiently(work, lambda: connection.execute("COMMIT"))
            return got

    def _check_existence(self) -> None:
        try:
            size = self.path.stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            raise LedgerError(
                f"There is no ledger {self.label}; make one with Ledger.add_dataset or with topgap "
                f"budget init."
            ) from None
        except OSError as error:  # such as a directory that may not be entered
            raise LedgerError(f"{self.label} cannot be opened: {error.strerror}.") from None
        self._check_size(size)

    def _check_size(self, size: int) -> None:
        if 0 < size < _SMALLEST and not os.path.isdir(self.path):
            raise LedgerError(f"{self.label} {_NO_LEDGER}.")

    def _check_names(self) -> None:
        """The journal goes by the file's name, so that a crash under another would not be seen."""
        try:
            status = self.path.stat()
        except OSError as error:
            raise LedgerError(f"{self.label} cannot be opened: {error.strerror}.") from None
        self._check_size(status.st_size)
        if status.st_nlink > 1:
            raise LedgerError(
                f"{self.label} has another name too, by a hard link; take that away, for a ledger "
                f"is safe by one name only."
            )

    @contextmanager
    def _alone(self, work: Work[Any], *, writes: bool) -> Iterator[Holding]:
        """Have the file for oneself, but for what others do with it than topgap."""
        with closing(Holding()) as holding:
            if directory_lock.HAS_LOCKS:
                self._lock_directory(work, holding, writes=writes)
            yield holding

    def _lock_directory(self, work: Work[Any], holding: Holding, *, writes: bool) -> None:
        place = os.path.dirname(os.path.realpath(self.path))
        try:
            self._patiently(work, lambda: holding.lock(place))
        except (FileNotFoundError, NotADirectoryError):
            raise LedgerError(f"{self.label} cannot be opened: there is no directory.") from None
        except OSError as error:
            if writes:  # SQLite would go on without a word
                raise LedgerError(
                    f"{self.label} cannot be written: its directory cannot be opened "
                    f"({error.strerror}), and without that a power cut could undo a charge."
                ) from None

    @contextmanager
    def _no_empty_file_left(self, holding: Holding) -> Iterator[None]:
        existed = os.path.exists(self.path)
        try:
            yield
        except BaseException:
            with suppress(OSError):
                if holding.is_locked and not existed and self.path.stat().st_size == 0:
                    self.path.unlink()
            raise

    @contextmanager
    def _connected(self, mode: str) -> Iterator[sqlite3.Connection]:
        name = address(self.path, mode)
        with closing(sqlite3.connect(name, uri=True, timeout=0, isolation_level=None)) as opened:
            opened.execute("PRAGMA trusted_schema = OFF")  # no function is run that is in it
            try:
                yield opened
            finally:
                if opened.in_transaction:
                    with suppress(sqlite3.Error):  # closing it does the same
                        opened.execute("ROLLBACK")

    def _leave_write_ahead_log(self, connection: sqlite3.Connection) -> None:
        """Undo what somebody's tool may have chosen: the file would not be all there is."""
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
        except sqlite3.OperationalError as error:
            if _code(error) not in _IN_USE:  # by that tool, and then it stays
                raise

    def _begin_to_read(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN")
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error:
            if connection.in_transaction:  # which some errors end
                connection.execute("ROLLBACK")
            raise

    def _patiently(self, work: Work[Any], do: Callable[[], _Got]) -> _Got:
        """Do it as soon as others let us, for as long as somebody waits for it."""
        begun = time.monotonic()
        while True:
            try:
                return do()
            except BlockingIOError:
                pass
            except sqlite3.OperationalError as error:
                if _code(error) not in _IN_USE:
                    raise
            waited = time.monotonic() - begun
            if waited >= self._wait or not work.is_wanted:
                raise LedgerError(
                    f"{self.label} has been in use by others for {self._wait:g} seconds; try again."
                )
            # Of different lengths, or those who wait would come all at once; and shorter for those
            # who have waited longer, but not ever shorter: many who only ask would leave no time
            # to the one who is charging.
            time.sleep(random.uniform(0, _LONGEST_PAUSE / (1 + min(waited, 1))))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say in our words what SQLite says inside."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's text may quote the damage
            raise self._in_own_words(error) from None

    def _in_own_words(self, error: Exception) -> LedgerError:
        if os.path.isdir(self.path):
            return LedgerError(f"{self.label} is a directory; name a file.")
        code = _code(error)
        if code == sqlite3.SQLITE_READONLY and os.path.exists(f"{self.path}-journal"):
            return LedgerError(
                f"{self.label} was left by a crash in the middle of a charge; it is put right when "
                f"somebody uses it who may write to it and to its directory."
            )
        if code is None:  # such as text that is none
            code = sqlite3.SQLITE_CORRUPT
        unknown = f"cannot be used: SQLite reports {getattr(error, 'sqlite_errorname', 'an error')}"
        return LedgerError(f"{self.label} {_REASONS.get(code, unknown)}.")


def address(path: PurePath, mode: str) -> str:
    """A file as SQLite opens it in this mode; the path is absolute.

    >>> from pathlib import PurePosixPath, PureWindowsPath
    >>> address(PurePosixPath("/data/a b.db"), "rw"), address(PureWindowsPath("C:/a.db"), "rwc")
    ('file:///data/a%20b.db?mode=rw', 'file:///C%3A/a.db?mode=rwc')
    """
    name = path.as_posix()
    # With an empty host, or what follows two slashes would be taken for one; and with a slash
    # before the letter of a drive.
    return f"file://{'' if name.startswith('/') else '/'}{quote(os.fsencode(name))}?mode={mode}"


def _code(error: Exception) -> int | None:
    """The kind of error, without its details."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
