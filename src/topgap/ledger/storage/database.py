"""The SQLite file of a ledger, opened for one transaction at a time: `Database`.

Nothing is kept open between two of them, so that a ledger can be used by threads and by other
processes; whoever finds the file in use waits. What is read is copied into memory first, so that
nobody waits for a reader who takes their time. Whoever has the file has it to the end of their
transaction, and no interrupt can come between.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any, TypeVar
from urllib.parse import quote

from topgap.display.text import format_path
from topgap.errors import LedgerError
from topgap.ledger.entry import INITIAL_HASH, RESTORE_ADVICE
from topgap.ledger.storage import exclusive_access, schema
from topgap.ledger.storage.exclusive_access import (
    DirectoryLock,
    Task,
    retry_while_busy,
    run_uninterrupted,
)
from topgap.ledger.storage.sqlite_errors import NO_LEDGER, is_busy, translate_error

_Result = TypeVar("_Result")
_SMALLEST = 512  # bytes; SQLite takes a file of one byte for an empty one


class Database:
    """The SQLite file of a ledger, and how long to wait for it.

    Args:
        path: Where it is.
        wait: How many seconds to wait for others who use it.
    """

    def __init__(self, path: Path, wait: float) -> None:
        self.path = path
        self.label = format_path(path)
        self._wait = wait

    def read(self, do: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Run a function on a copy of the file in memory, as it was at one moment.

        Raises:
            LedgerError: There is no ledger, or it cannot be read.
        """
        with self._translated_errors(), closing(run_uninterrupted(self._copy)) as copy:
            found = check_version(copy, self.label)
            if found < schema.VERSION:  # the file itself may not be ours to write to
                _migrate(copy, found)
            return do(copy)

    def write(
        self,
        do: Callable[[sqlite3.Connection], _Result],
        *,
        create: bool = False,
        commit: bool = True,
    ) -> _Result:
        """Run a function in an exclusive transaction: all of it or, if it raises, nothing.

        When it has ended, what was written is on the disk. An interrupt ends the waiting for others
        who use the file, and nothing else.

        Args:
            do: What writes; in the main thread, another one does it.
            create: Whether to make the ledger if there is none.
            commit: Whether to keep what is written; if not, it is only tried.

        Raises:
            LedgerError: There is no ledger, it cannot be written, or it has other tables than those
                that topgap makes.
        """
        with self._translated_errors():
            return run_uninterrupted(
                lambda task: self._write(task, do, create=create, commit=commit)
            )

    def _copy(self, task: Task[Any]) -> sqlite3.Connection:
        self._check_existence()
        with self._locked(task, writes=False), self._connected("rw") as connection:
            self._retry(task, lambda: self._begin_to_read(connection))
            check_version(connection, self.label)
            copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            connection.backup(copy)
            return copy

    def _write(
        self,
        task: Task[Any],
        do: Callable[[sqlite3.Connection], _Result],
        *,
        create: bool,
        commit: bool,
    ) -> _Result:
        if not create:
            self._check_existence()
        with (
            self._locked(task, writes=True) as lock,
            self._no_empty_file_left(lock),
            self._connected("rwc" if create else "rw") as connection,
        ):
            self._check_names()
            # Full is not enough: the transaction ends when the journal is deleted, and a directory
            # that is not written to the disk may have it again when the power is back.
            self._retry(task, lambda: connection.execute("PRAGMA synchronous = EXTRA"))
            self._retry(task, lambda: connection.execute("PRAGMA fullfsync = ON"))
            self._leave_write_ahead_log(connection)
            self._retry(task, lambda: connection.execute("BEGIN IMMEDIATE"))
            if create and _is_new(connection):
                _create_tables(connection)
            found = check_version(connection, self.label)
            if found < schema.VERSION:
                _migrate(connection, found)
            check_tables(connection, self.label)
            result = do(connection)
            if commit:
                self._retry(task, lambda: connection.execute("COMMIT"))
            return result

    def _check_existence(self) -> None:
        try:
            size = self.path.stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            raise LedgerError(
                f"There is no ledger {self.label}; create one with Ledger.add_dataset or with "
                f"topgap budget init."
            ) from None
        except OSError as error:  # such as a directory that may not be entered
            raise LedgerError(f"{self.label} cannot be opened: {error.strerror}.") from None
        self._check_size(size)

    def _check_size(self, size: int) -> None:
        if 0 < size < _SMALLEST and not os.path.isdir(self.path):
            raise LedgerError(f"{self.label} {NO_LEDGER}.")

    def _check_names(self) -> None:
        """The journal goes by the file's name, so that a crash under another would not be seen."""
        try:
            status = self.path.stat()
        except OSError as error:
            raise LedgerError(f"{self.label} cannot be opened: {error.strerror}.") from None
        self._check_size(status.st_size)
        if status.st_nlink > 1:
            raise LedgerError(
                f"{self.label} also has another name, by a hard link; remove that, because a "
                f"ledger is safe only under one name."
            )

    @contextmanager
    def _locked(self, task: Task[Any], *, writes: bool) -> Iterator[DirectoryLock]:
        """Keep other processes of topgap away from the file."""
        with closing(DirectoryLock()) as lock:
            if exclusive_access.HAS_LOCKS:
                self._lock_directory(task, lock, writes=writes)
            yield lock

    def _lock_directory(self, task: Task[Any], lock: DirectoryLock, *, writes: bool) -> None:
        place = os.path.dirname(os.path.realpath(self.path))
        try:
            self._retry(task, lambda: lock.lock(place))
        except (FileNotFoundError, NotADirectoryError):
            raise LedgerError(f"{self.label} cannot be opened: there is no directory.") from None
        except OSError as error:
            if writes:  # SQLite would go on without a word
                raise LedgerError(
                    f"{self.label} cannot be written: its directory cannot be opened "
                    f"({error.strerror}), and without that a power cut could undo a charge."
                ) from None

    @contextmanager
    def _no_empty_file_left(self, lock: DirectoryLock) -> Iterator[None]:
        existed = os.path.exists(self.path)
        try:
            yield
        except BaseException:
            with suppress(OSError):
                if lock.is_locked and not existed and self.path.stat().st_size == 0:
                    self.path.unlink()
            raise

    @contextmanager
    def _connected(self, mode: str) -> Iterator[sqlite3.Connection]:
        name = format_uri(self.path, mode)
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
            if not is_busy(error):  # by that tool, and then it stays
                raise

    def _begin_to_read(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN")
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error:
            if connection.in_transaction:  # which some errors end
                connection.execute("ROLLBACK")
            raise

    def _retry(self, task: Task[Any], do: Callable[[], _Result]) -> _Result:
        return retry_while_busy(do, task=task, seconds=self._wait, label=self.label)

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Raise a `LedgerError` in place of an error of SQLite, in our words."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's text may quote the damage
            raise translate_error(error, self.path, self.label) from None


def format_uri(path: PurePath, mode: str) -> str:
    """Return the URI by which SQLite opens a file in this mode; the path is absolute.

    >>> from pathlib import PurePosixPath, PureWindowsPath
    >>> format_uri(PurePosixPath("/data/a b.db"), "rw")
    'file:///data/a%20b.db?mode=rw'
    >>> format_uri(PureWindowsPath("C:/a.db"), "rwc")
    'file:///C%3A/a.db?mode=rwc'
    """
    name = path.as_posix()
    # With an empty host, or what follows two slashes would be taken for one; and with a slash
    # before the letter of a drive.
    return f"file://{'' if name.startswith('/') else '/'}{quote(os.fsencode(name))}?mode={mode}"


# --- Tables and their version


def _is_new(connection: sqlite3.Connection) -> bool:
    """Whether there is nothing in the file."""
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return tables == 0 and _pragma(connection, "application_id") == 0


def _create_tables(connection: sqlite3.Connection) -> None:
    """Make the tables in a file that is new, within a transaction."""
    for statement in schema.STATEMENTS:
        connection.execute(statement)
    connection.execute("INSERT INTO head VALUES (1, 0, ?)", [INITIAL_HASH])
    connection.execute(f"PRAGMA application_id = {schema.APPLICATION}")
    connection.execute(f"PRAGMA user_version = {schema.VERSION}")


def check_version(connection: sqlite3.Connection, label: str) -> int:
    """Return the version of a file that is a ledger and not newer than this software.

    Raises:
        LedgerError: It is something else.
    """
    if _is_new(connection):
        raise LedgerError(
            f"{label} is empty; create it with Ledger.add_dataset or with topgap budget init."
        )
    if _pragma(connection, "application_id") != schema.APPLICATION:
        raise LedgerError(f"{label} is a database of another program; name a ledger.")
    found = _pragma(connection, "user_version")
    if found < 1:
        raise LedgerError(
            f"{label} has the format {found}, which topgap never wrote; {RESTORE_ADVICE}."
        )
    if found > schema.VERSION:
        raise LedgerError(
            f"{label} was written by a newer version of topgap (its format is {found}, and this "
            f"one knows {schema.VERSION}); update topgap."
        )
    return found


def _migrate(connection: sqlite3.Connection, found: int) -> None:
    """Bring the tables of this version to today's, within a transaction."""
    for each in range(found, schema.VERSION):
        for statement in schema.MIGRATIONS[each]:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {schema.VERSION}")


def check_tables(connection: sqlite3.Connection, label: str) -> None:
    """See that the file has our tables and nothing else, before anything is written to it.

    Raises:
        LedgerError: It has not.
    """
    if not has_our_tables(connection):
        raise LedgerError(
            f"{label} has lost some of the tables, indices and triggers that topgap makes, or got "
            f"others, which could change what is written; nothing was written: remove what was "
            f"added, or {RESTORE_ADVICE}."
        )


def has_our_tables(connection: sqlite3.Connection) -> bool:
    """Whether the file has what `schema.STATEMENTS` make, to the letter, and nothing else.

    A trigger could let a charge vanish, and a view or another constraint could as well.
    """
    return _definitions(connection) == _expected_definitions(schema.STATEMENTS)


@lru_cache(maxsize=4)
def _expected_definitions(statements: tuple[str, ...]) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements:
            connection.execute(statement)
        return _definitions(connection)


def _definitions(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master"
    return sorted(connection.execute(query).fetchall(), key=repr)


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)
