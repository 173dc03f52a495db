"""The tables of a ledger's file, their version, and the way there from older ones."""

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from functools import lru_cache
from typing import Any

from topgap.errors import LedgerError
from topgap.ledger.entry import START_FROM_A_COPY

APPLICATION = 0x746F7067  # "topg" in ASCII; it tells a ledger from other files of SQLite
VERSION = 2

STATEMENTS = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, at TEXT NOT NULL, "
    "dataset TEXT NOT NULL, epsilon TEXT, spent TEXT, mechanism TEXT, parameters TEXT, "
    "who TEXT NOT NULL, note TEXT, charge INTEGER, result TEXT, software TEXT NOT NULL, "
    "hash TEXT NOT NULL, neighbours TEXT, stated TEXT)",
    # Where the rows end, so that a deletion of the last ones is seen.
    "CREATE TABLE head (only INTEGER PRIMARY KEY CHECK (only = 1), number INTEGER NOT NULL, "
    "hash TEXT NOT NULL)",
    "CREATE UNIQUE INDEX one_total ON entries (dataset) WHERE kind = 'dataset'",
    "CREATE UNIQUE INDEX one_result ON entries (charge) WHERE kind = 'result'",
    "CREATE INDEX charges ON entries (dataset, number) WHERE kind = 'charge'",
    "CREATE TRIGGER no_edit BEFORE UPDATE ON entries "
    "BEGIN SELECT RAISE(ABORT, 'A ledger is only appended to.'); END",
    "CREATE TRIGGER no_deletion BEFORE DELETE ON entries "
    "BEGIN SELECT RAISE(ABORT, 'A ledger is only appended to.'); END",
)

MIGRATIONS: Mapping[int, Iterable[str]] = {
    1: (
        "ALTER TABLE entries ADD COLUMN neighbours TEXT",
        "ALTER TABLE entries ADD COLUMN stated TEXT",
    ),
}
"""By the version that they start from, the statements that lead to the next one.

They run in one transaction with what is then written, so that a file has one version or the other.
A row's hash does not depend on the columns that it has no value for, and no statement changes a
row. `STATEMENTS` must be what a migrated file has, to the letter, or it could not be verified.
"""


def is_new(connection: sqlite3.Connection) -> bool:
    """Whether there is nothing in the file."""
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return tables == 0 and _pragma(connection, "application_id") == 0


def create(connection: sqlite3.Connection, beginning: str) -> None:
    """Make the tables in a file that is new, within a transaction."""
    for statement in STATEMENTS:
        connection.execute(statement)
    connection.execute("INSERT INTO head VALUES (1, 0, ?)", [beginning])
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def version(connection: sqlite3.Connection, label: str) -> int:
    """The version of a file that is a ledger and not newer than this software.

    Raises:
        LedgerError: It is something else.
    """
    if is_new(connection):
        raise LedgerError(
            f"{label} is empty; begin it with Ledger.add_dataset or with topgap budget init."
        )
    if _pragma(connection, "application_id") != APPLICATION:
        raise LedgerError(f"{label} is a database of another program; name a ledger.")
    found = _pragma(connection, "user_version")
    if found < 1:
        raise LedgerError(
            f"{label} has the format {found}, which topgap never wrote; {START_FROM_A_COPY}."
        )
    if found > VERSION:
        raise LedgerError(
            f"{label} was written by a newer version of topgap (its format is {found}, and this "
            f"one knows {VERSION}); update topgap."
        )
    return found


def migrate(connection: sqlite3.Connection, found: int) -> None:
    """Lead the tables of this version to today's, within a transaction."""
    for each in range(found, VERSION):
        for statement in MIGRATIONS[each]:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def check(connection: sqlite3.Connection, label: str) -> None:
    """See that the file has our tables and nothing else, before anything is written to it.

    Raises:
        LedgerError: It has not.
    """
    if not is_ours(connection):
        raise LedgerError(
            f"{label} has lost some of the tables, indices and triggers that topgap makes, or got "
            f"others, which could change what is written; nothing was written: take away what was "
            f"added, or {START_FROM_A_COPY}."
        )


def is_ours(connection: sqlite3.Connection) -> bool:
    """Whether the file has what `STATEMENTS` make, to the letter, and nothing else.

    A trigger could let a charge vanish, and a view or another constraint could as well.
    """
    return _definitions(connection) == _expected(STATEMENTS)


@lru_cache(maxsize=4)
def _expected(statements: tuple[str, ...]) -> list[tuple[Any, ...]]:
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
