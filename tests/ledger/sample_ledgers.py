"""Ledgers to test: made, looked at, tampered with by plain SQL, and of a version to come."""

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.checking.mutants import Mutant, mutated
from tests.checking.separate_process import with_tests
from topgap import LedgerWarning, Release, TopgapError, TopK
from topgap.errors import LedgerError
from topgap.ledger import Charge, Ledger, entry, entry_log
from topgap.ledger.charging import LedgerCharge, prepare_charge
from topgap.ledger.entry import COLUMNS, INITIAL_HASH, Entry, entry_from_row
from topgap.ledger.storage import schema
from topgap.parameters import Neighbours

VERSION_1 = Path(__file__).parent / "old_versions" / "version-1.db"
"""A ledger as the first version wrote it, made by `filled` and never again."""
VERSION_2 = VERSION_1.with_name("version-2.db")
"""As the second one wrote it, made by `filled_with_neighbours` and never again."""
VERSION_3 = VERSION_1.with_name("version-3.db")
"""As the third one wrote it, made by `filled_with_settlements` and never again."""

RELEASE = Release(TopK(2, "1/3"), None, [125, 7], ["flu", "cold"])
_NOBODY = 65534
_IN_MEMORY = "/dev/shm"  # noqa: S108 - a folder of its own is made there


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A folder where nobody waits for a disk, on systems that have such; all may look into it."""
    where = _IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        os.chmod(folder, 0o755)  # noqa: S103
        yield Path(folder)


def filled(path: Path) -> list[Charge]:
    """Write two data sets, four charges and two results; the charges."""
    ledger = Ledger(path, who="ana")
    ledger.add_dataset("visits", 2)
    ledger.add_dataset("blood α", "1/3", note="two\nlines")
    first = ledger.charge("visits", "1/3", mechanism="topgap.top_k", parameters={"k": 2})
    ledger.record(first, RELEASE)
    second = ledger.charge("visits", 0.1, mechanism="a sum", note="which crashed")
    third = ledger.charge("blood α", "1/7", mechanism="a sum", parameters={"column": "α"})
    ledger.record(third, {"sum": 41})
    return [first, second, third, ledger.charge("visits", 1, mechanism="a mean")]


def filled_with_neighbours(path: Path) -> list[Charge]:
    """The same, and then a data set with the other relation and two charges of it."""
    charges = filled(path)
    ledger = Ledger(path, who="bo")
    ledger.add_dataset("stays", 2, neighbours="replace")
    charges.append(ledger.charge("stays", "1/3", mechanism="a sum", neighbours="add-remove"))
    return [*charges, ledger.charge("stays", "1/4", mechanism="a mean")]


THRESHOLD = TopK(4, "1/5", monotonic=True, threshold=500)


def cut(winners: int, parameters: TopK = THRESHOLD) -> Release:
    """A list of so many that the threshold ended, if there could be more."""
    items = [f"item {number}" for number in range(winners)]
    return Release(parameters, None, [*range(winners)], items)


def charge_and_draw(
    ledger: Ledger, dataset: str, drawn: Release, stated: Neighbours | None = None
) -> Charge:
    """The charge of a call that draws this release, as it is when the call has ended."""
    pending = prepare_charge(ledger, dataset, "topgap.top_k", drawn.parameters, stated, gaps=True)
    assert isinstance(pending, LedgerCharge)
    pending.charge_then_run(lambda: drawn)
    assert pending.charge is not None
    return pending.charge


def filled_with_settlements(path: Path) -> list[Charge]:
    """The same, and then two charges that are settled, and one whose list has all its items."""
    charges = filled_with_neighbours(path)
    ledger = Ledger(path, who="ana")
    charges.append(charge_and_draw(ledger, "visits", cut(1)))
    charges.append(charge_and_draw(ledger, "stays", cut(0)))
    return [*charges, charge_and_draw(ledger, "visits", cut(4))]


@contextmanager
def refused(match: str | None = None, kind: type[Exception] = LedgerError) -> Iterator[None]:
    """See that this is refused: in one sentence, and with nothing of sqlite3 behind it."""
    with pytest.raises(kind, match=match) as told:
        yield
    text = str(told.value)
    assert text.endswith(".")
    assert text.isprintable()
    assert "sqlite3" not in text
    assert told.value.__cause__ is None
    assert told.value.__context__ is None or told.value.__suppress_context__


def is_found(look: Callable[[], object]) -> bool:
    """Whether a test that is right for the true code fails."""
    try:
        look()
    except (AssertionError, TopgapError, LedgerWarning, sqlite3.Error, pytest.fail.Exception):
        return True
    return False


# --- By plain SQL


def content(path: Path) -> list[tuple[Any, ...]]:
    """All that a ledger says, with the types in which it is stored."""
    every = [*COLUMNS, "hash"]
    typed = ", ".join(f"typeof({name}), hex({name})" for name in every)
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        rows = connection.execute(f"SELECT {typed} FROM entries ORDER BY number").fetchall()
        return rows + connection.execute("SELECT * FROM head").fetchall()


@contextmanager
def tampering(path: Path) -> Iterator[sqlite3.Connection]:
    """The file in the hands of somebody who knows SQL: the triggers are gone meanwhile."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        triggers = connection.execute(query).fetchall()
        connection.execute("BEGIN")
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for _, statement in triggers:
            connection.execute(statement)
        connection.execute("COMMIT")


def hide_in_the_index(path: Path, kind: str = "charge") -> None:
    """Leave all charges out of the index of charges, which says so nowhere; or all settlements."""
    name = f"{kind}s"
    (statement,) = (each for each in schema.STATEMENTS if f"CREATE INDEX {name} " in each)
    with tampering(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?",
                           [statement.replace(f"'{kind}'", "'none'"), name])  # fmt: skip
    with tampering(path) as connection:
        connection.execute(f"REINDEX {name}")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", [statement, name])


def entries_of(path: Path) -> list[Entry]:
    """All rows."""
    names = ", ".join(COLUMNS)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(f"SELECT {names} FROM entries ORDER BY number").fetchall()
    return [*map(entry_from_row, rows)]


def write_anew(path: Path, entries: list[Entry]) -> None:
    """Put these rows in place of all, with right hashes."""
    marks = ", ".join("?" * (len(COLUMNS) + 1))
    with tampering(path) as connection:
        connection.execute("DELETE FROM entries")
        before = INITIAL_HASH
        for entry in entries:
            before = entry.hash(before)
            values = [*(getattr(entry, name) for name in COLUMNS), before]
            names = ", ".join([*COLUMNS, "hash"])
            connection.execute(f"INSERT INTO entries ({names}) VALUES ({marks})", values)
        connection.execute("UPDATE head SET number = ?, hash = ?", [len(entries), before])


# --- Other clocks, users and versions


class Clock:
    """A clock that stands where it is put."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.time = datetime(2026, 3, 1, 12, tzinfo=UTC)
        # Also if the module was replaced by a broken one, whose own `now` would be called.
        monkeypatch.setitem(entry.make_timestamp.__globals__, "now", lambda: self.time)

    def turn(self, **by: float) -> None:
        """Forward by so much, or back."""
        self.time += timedelta(**by)


def as_nobody(code: str, *arguments: object) -> str:
    """What this code prints, run by a user whom the permissions of files bind, unlike root."""
    lines = [
        "import os, sys, topgap; topgap.Ledger, topgap.top_k  # loaded while files can be read",
        "def told(call):",
        "    try: print(call())",
        "    except topgap.LedgerError as error: print(error)",
        f"if os.getuid() == 0: os.setgroups([]); os.setgid({_NOBODY}); os.setuid({_NOBODY})",
        code,
    ]
    return run("\n".join(lines), *arguments)


def run(code: str, *arguments: object) -> str:
    """What this code prints in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    ended = subprocess.run(
        command, capture_output=True, text=True, env=with_tests(), timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@dataclass(frozen=True, kw_only=True)
class Later(Entry):
    """A row of the made-up fourth version, which can say where it was written."""

    place: str | None = None


def turn_to_version_4(patch: Callable[[object, str, object], None]) -> None:
    """Let the software be of a fourth version, whose rows have one more column, with an index."""
    more = ("ALTER TABLE entries ADD COLUMN place TEXT", "CREATE INDEX places ON entries (place)")
    table, *others = schema.STATEMENTS
    statements = (f"{table[:-1]}, place TEXT)", *others, more[1])
    columns = tuple(field.name for field in fields(Later))
    patch(schema, "VERSION", 4)
    patch(schema, "MIGRATIONS", {**schema.MIGRATIONS, 3: more})
    patch(schema, "STATEMENTS", statements)
    patch(entry_log, "Entry", Later)
    for module in (entry, entry_log):
        patch(module, "COLUMNS", columns)
    patch(entry_log, "_ALL", ", ".join(columns))
    patch(entry_log, "entry_from_row", lambda row: Later(**dict(zip(columns, row, strict=True))))


# --- Code that is broken on purpose


def put_in_place(monkeypatch: pytest.MonkeyPatch, module: Any, mutant: Mutant) -> None:
    """Have everyone use what the broken module defines, wherever it was imported to."""
    broken = mutated(module, mutant)
    ours = ("topgap", "tests.ledger")
    defined = {
        name: value
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__
    }
    for place, found in list(sys.modules.items()):
        if place.startswith(ours):
            for name, value in list(vars(found).items()):
                if name in defined and defined[name] is value:
                    monkeypatch.setattr(found, name, vars(broken)[name])
