"""What was edited, deleted, reordered or damaged is found; and what cannot be found is said."""

import json
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import topgap
from tests.checking.mutants import Mutant
from tests.ledger.sample_ledgers import (
    content,
    entries_of,
    filled,
    hide_in_the_index,
    is_found,
    put_in_place,
    quick_folder,
    refused,
    tampering,
    write_anew,
)
from topgap import LedgerError, ParameterError, ParameterTypeError
from topgap.ledger import Ledger, entry, entry_log, verification
from topgap.ledger.entry import COLUMNS, Entry
from topgap.ledger.storage import database, schema

EVERY = [*COLUMNS, "hash"]
ENTRIES = 8  # of what is filled: 1 and 2 are data sets, 4 and 7 results, the others charges
Tamper = Callable[[sqlite3.Connection], object]


@pytest.fixture(scope="module")
def original() -> Iterator[Path]:
    """A ledger that nobody may touch."""
    with quick_folder() as folder:
        filled(folder / "original.db")
        yield folder / "original.db"


@pytest.fixture
def path(original: Path) -> Iterator[Path]:
    """A copy of it."""
    with quick_folder() as folder:
        yield Path(shutil.copy(original, folder / "budget.db"))


def is_seen_by(call: Callable[[], object]) -> bool:
    """Whether it is refused, in a sentence."""
    try:
        with refused():
            call()
    except pytest.fail.Exception:
        return False
    return True


def charge(path: Path, dataset: str = "visits") -> Callable[[], object]:
    return lambda: Ledger(path).charge(dataset, "1/100", mechanism="m")


def tampered(path: Path, tamper: Tamper) -> Path:
    with tampering(path) as connection:
        tamper(connection)
    return path


def run(*statements: str) -> Tamper:
    return lambda connection: [*map(connection.execute, statements)]


# --- By plain SQL, the triggers are in the way


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET epsilon = '0.0001' WHERE number = 3",
        "UPDATE entries SET note = note",
        "DELETE FROM entries WHERE number = 8",
        "DELETE FROM entries",
        "UPDATE OR REPLACE entries SET number = 9 WHERE number = 3",
    ],
)
def test_a_slip_in_plain_sql_is_refused(statement: str, path: Path) -> None:
    before = content(path)
    with closing(sqlite3.connect(path)) as connection:
        with pytest.raises(sqlite3.IntegrityError, match=r"A ledger is only appended to\."):
            connection.execute(statement)
        connection.rollback()
    assert content(path) == before
    assert Ledger(path).verify().entries == ENTRIES


# --- Edits


VALUES = [None, "", "0", "1", "1/3", "0.1", b"", b"1/3", 0, 1, 2, 7, -1, 2**62, 1.5, "visits",
          "dataset", "charge", "result", "x", "{}", "2026-01-01T00:00:00.000000Z"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("column", EVERY)
@pytest.mark.parametrize("number", [
    pytest.param(number, marks=[] if number % 2 else [pytest.mark.deep])
    for number in range(1, ENTRIES + 1)
])  # fmt: skip
def test_any_edit_of_any_cell_is_found(number: int, column: str, path: Path) -> None:
    """Unless SQLite stores the same: a column of text makes '1' of 1."""
    before = content(path)
    found = 0
    query = f"UPDATE entries SET {column} = ? WHERE number = ?"
    with tampering(path) as connection:
        [(was,)] = connection.execute(f"SELECT {column} FROM entries WHERE number = {number}")
        as_blob = was.encode() if isinstance(was, str) else None
        longer = f"{was} " if isinstance(was, str) else None
    for value in [*VALUES, as_blob, longer]:
        try:
            tampered(path, lambda each, to=value: each.execute(query, [to, number]))  # type: ignore[misc]
        except sqlite3.Error:  # what the table itself refuses
            continue
        if content(path) != before:
            assert is_seen_by(Ledger(path).verify)
            assert is_seen_by(Ledger(path).history)
            found += 1
            at = value if column == "number" else number
            tampered(path, lambda each, at=at: each.execute(query, [was, at]))  # type: ignore[misc]
        assert content(path) == before
    assert found >= 4
    assert Ledger(path).verify().entries == ENTRIES


@pytest.mark.parametrize("column", ["number", *COLUMNS[4:], "at", "hash"])
@pytest.mark.parametrize(
    ("number", "dataset"), [(8, "visits"), (8, "blood α"), (1, "visits"), (6, "blood α")]
)
def test_a_charge_is_refused_where_the_edit_matters(
    number: int, dataset: str, column: str, path: Path
) -> None:
    """The last entry, the data set's own, and its last charge are looked at each time."""
    value = 99 if column in {"number", "charge"} else "1/1000"
    tampered(path, run(f"UPDATE entries SET {column} = '{value}' WHERE number = {number}"))
    assert is_seen_by(charge(path, dataset))
    assert is_seen_by(Ledger(path).verify)


HIDING = [
    "UPDATE entries SET kind = 'result', charge = 5 WHERE number = 6",
    "UPDATE entries SET dataset = 'visits' WHERE number = 6",
    "UPDATE entries SET number = 60 WHERE number = 6",
    "DELETE FROM entries WHERE number = 6",
    "DELETE FROM entries WHERE number IN (6, 7)",
]


@pytest.mark.parametrize("statement", HIDING)
def test_a_charge_is_refused_where_an_earlier_one_was_hidden(statement: str, path: Path) -> None:
    """From the last charge of its data set that is found, all that follows is looked at."""
    tampered(path, run(statement))
    assert is_seen_by(charge(path, "blood α"))
    assert is_seen_by(lambda: Ledger(path).check("blood α", "1/100"))
    assert is_seen_by(Ledger(path).verify)


def test_a_charge_is_refused_where_an_index_hides_an_earlier_one(path: Path) -> None:
    hide_in_the_index(path)
    assert is_seen_by(charge(path, "blood α"))


def test_what_changes_no_sum_is_found_by_verification_alone(path: Path) -> None:
    """A charge does not read all of a long history each time."""
    tampered(path, run("UPDATE entries SET note = 'edited' WHERE number = 3"))
    assert charge(path)()
    assert is_seen_by(Ledger(path).verify)


def test_a_data_set_under_another_name_cannot_get_a_second_total(path: Path) -> None:
    tampered(path, run("UPDATE entries SET dataset = 'other' WHERE number = 1"))
    assert is_seen_by(lambda: Ledger(path).add_dataset("visits", 100))
    assert is_seen_by(charge(path))
    assert is_seen_by(lambda: Ledger(path).budgets())


@pytest.mark.parametrize("value", ["x'00ff'", "CAST(x'ff' AS TEXT)", "7", "''"])
def test_a_name_that_is_none_is_told_in_a_sentence(value: str, path: Path) -> None:
    tampered(path, run(f"UPDATE entries SET dataset = {value} WHERE number = 1"))
    for call in (
        charge(path), charge(path, "none"), lambda: Ledger(path).add_dataset("more", 1),
        Ledger(path).budgets, Ledger(path).history, Ledger(path).verify,
        lambda: Ledger(path).budget("visits"),
    ):  # fmt: skip
        assert is_seen_by(call)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_edits_at_once_are_found(original: Path, data: st.DataObject) -> None:
    cells = st.tuples(st.integers(1, ENTRIES), st.sampled_from(EVERY))
    value = st.one_of(st.none(), st.text(), st.binary(), st.integers(-(2**63), 2**63 - 1),
                      st.floats(), st.sampled_from(VALUES))  # fmt: skip
    with quick_folder() as folder:
        path = Path(shutil.copy(original, folder / "budget.db"))
        with tampering(path) as connection:
            for number, column in data.draw(st.lists(cells, min_size=1, max_size=4)):
                query = f"UPDATE entries SET {column} = ? WHERE number = ?"
                try:
                    connection.execute(query, [data.draw(value), number])
                except sqlite3.Error:
                    continue
        assume(content(path) != content(original))
        assert is_seen_by(Ledger(path).verify)
        assert is_seen_by(Ledger(path).history)


# --- Deletions, insertions and other orders


SETS = [each for size in (1, 2) for each in combinations(range(1, ENTRIES + 1), size)]
NAIVE = ("UPDATE head SET number = (SELECT max(number) FROM entries), hash = coalesce((SELECT hash "
         "FROM entries ORDER BY number DESC LIMIT 1), 'topgap.ledger')")  # fmt: skip


@pytest.mark.parametrize("gone", [*SETS, (6, 7, 8), (1, 2, 3), tuple(range(2, 9))], ids=str)
def test_a_deletion_is_found(gone: tuple[int, ...], path: Path) -> None:
    """Whether or not the head is set to the last one left; of the last ones alone, see below."""
    receipt = Ledger(path).verify().receipt
    numbers = ", ".join(map(str, gone))
    tampered(path, run(f"DELETE FROM entries WHERE number IN ({numbers})"))
    assert is_seen_by(Ledger(path).verify)
    assert is_seen_by(charge(path)) == (not {1, ENTRIES - 1, ENTRIES}.isdisjoint(gone))
    tampered(path, run(NAIVE))
    if gone != tuple(range(ENTRIES + 1 - len(gone), ENTRIES + 1)):
        assert is_seen_by(Ledger(path).verify)
        assert is_seen_by(Ledger(path).history)
    assert is_seen_by(lambda: Ledger(path).verify(receipt))


@pytest.mark.parametrize("gone", [1, 2, 5, 7])
def test_last_entries_that_were_cut_off_with_the_head_are_found_by_a_receipt(
    gone: int, path: Path
) -> None:
    """And only so: what is left is a true ledger, of some time before."""
    receipts = [each.receipt for each in Ledger(path).history()]
    last = Ledger(path).verify().receipt
    tampered(path, run(f"DELETE FROM entries WHERE number > {ENTRIES - gone}", NAIVE))
    assert Ledger(path).verify().entries == ENTRIES - gone
    with refused(f"has no entry {ENTRIES}, for which there is a receipt"):
        Ledger(path).verify(last)
    with refused("has no entry"):
        Ledger(path).verify(*receipts)
    charge(path)()
    assert is_seen_by(lambda: Ledger(path).verify(*receipts))


def test_an_older_copy_of_the_file_is_found_by_a_receipt(path: Path) -> None:
    """And only so."""
    older = path.read_bytes()
    receipt = Ledger(path).charge("visits", "1/10", mechanism="m").receipt
    path.write_bytes(older)
    assert Ledger(path).verify().entries == ENTRIES
    with refused("has no entry 9, for which there is a receipt"):
        Ledger(path).verify(receipt)


@pytest.mark.parametrize(("one", "other"), [*combinations(range(1, ENTRIES + 1), 2)])
def test_another_order_is_found(one: int, other: int, path: Path) -> None:
    before = path.read_bytes()
    renumber = [f"UPDATE entries SET number = {to} WHERE number = {of}"
                for of, to in ((one, -1), (other, one), (-1, other))]  # fmt: skip
    tampered(path, run("DROP INDEX one_total", "DROP INDEX one_result", *renumber,
                       *schema.STATEMENTS[2:4]))  # fmt: skip
    assert is_seen_by(Ledger(path).verify)
    assert is_seen_by(Ledger(path).history)
    path.write_bytes(before)
    given = ", ".join(COLUMNS[1:])
    swap = [
        f"CREATE TEMP TABLE kept AS SELECT * FROM entries WHERE number IN ({one}, {other})",
        "DROP INDEX one_total", "DROP INDEX one_result",
        f"UPDATE entries SET ({given}) = (SELECT {given} FROM kept WHERE number = {other}) "
        f"WHERE number = {one}",
        f"UPDATE entries SET ({given}) = (SELECT {given} FROM kept WHERE number = {one}) "
        f"WHERE number = {other}", *schema.STATEMENTS[2:4],
    ]  # fmt: skip
    tampered(path, run(*swap))
    assert is_seen_by(Ledger(path).verify)


@pytest.mark.parametrize("number", [0, -5, 9, 20])
@pytest.mark.parametrize("of", [3, 8])
@pytest.mark.parametrize("naive", [False, True])
def test_another_row_is_found(number: int, of: int, naive: bool, path: Path) -> None:
    """A copy of one, with the hash of that."""
    rest = ", ".join(EVERY[1:])
    insert = (
        f"INSERT INTO entries (number, {rest}) SELECT {number}, {rest} FROM entries "
        f"WHERE number = {of}"
    )
    tampered(path, run(insert, *([NAIVE] if naive else [])))
    assert is_seen_by(Ledger(path).verify)
    assert is_seen_by(Ledger(path).history)
    if number > 8:
        assert is_seen_by(charge(path))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE head SET number = 7",
        "UPDATE head SET number = 9",
        "UPDATE head SET number = 0, hash = 'topgap.ledger'",
        "UPDATE head SET number = '8x'",
        "UPDATE head SET number = x'38'",
        "UPDATE head SET number = 8.5",
        "UPDATE head SET hash = ''",
        "UPDATE head SET hash = CAST(hash AS BLOB)",
        "UPDATE head SET hash = upper(hash)",
        "UPDATE head SET hash = (SELECT hash FROM entries WHERE number = 7)",
        "DELETE FROM head",
    ],
)
def test_an_edit_of_the_head_is_found_and_nothing_is_charged(statement: str, path: Path) -> None:
    before = content(path)
    tampered(path, run(statement))
    assert content(path) != before
    for call in (
        Ledger(path).verify, charge(path), lambda: Ledger(path).add_dataset("more", 1),
        lambda: Ledger(path).record(5, 1), Ledger(path).budgets, Ledger(path).history,
    ):  # fmt: skip
        assert is_seen_by(call)


# --- The tables themselves


@pytest.mark.parametrize(
    "statement",
    [
        *(f"DROP TRIGGER {name}" for name in ("no_edit", "no_deletion")),
        *(f"DROP INDEX {name}" for name in ("one_total", "one_result", "charges")),
        "CREATE TRIGGER more AFTER INSERT ON entries BEGIN UPDATE head SET number = number; END",
        "CREATE TEMP TABLE passes AS SELECT 1; CREATE TABLE more (number INTEGER)",
        "CREATE VIEW more AS SELECT * FROM entries",
        "CREATE INDEX more ON entries (who)",
        "ALTER TABLE entries ADD COLUMN more TEXT",
        "ALTER TABLE entries RENAME COLUMN note TO remark",
        "ALTER TABLE head RENAME TO heads",
        "DROP TRIGGER no_edit; CREATE TRIGGER no_edit BEFORE UPDATE ON entries BEGIN SELECT 1; END",
        "DROP TABLE head",
        "ANALYZE",
        "PRAGMA application_id = 0",
        "PRAGMA application_id = 1",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = -1",
        "PRAGMA user_version = 1",
        "PRAGMA user_version = 4",
    ],
)
def test_other_tables_are_found(statement: str, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statement)
    assert is_seen_by(Ledger(path).verify)


IGNORE = "BEGIN SELECT RAISE(IGNORE); END"
PLANTED = {
    "a trigger that drops entries": f"CREATE TRIGGER t BEFORE INSERT ON entries {IGNORE}",
    "one that drops charges": (
        f"CREATE TRIGGER t BEFORE INSERT ON entries WHEN NEW.kind = 'charge' {IGNORE}"
    ),
    "one that drops results": (
        f"CREATE TRIGGER t BEFORE INSERT ON entries WHEN NEW.kind = 'result' {IGNORE}"
    ),
    "one that deletes them": (
        "DROP TRIGGER no_deletion; CREATE TRIGGER no_deletion AFTER INSERT ON entries "
        "BEGIN DELETE FROM entries WHERE number = NEW.number; END"
    ),
    "one that makes them cheaper": (
        "DROP TRIGGER no_edit; CREATE TRIGGER no_edit AFTER INSERT ON entries "
        "BEGIN UPDATE entries SET epsilon = '0.001' WHERE number = NEW.number; END"
    ),
    "one that keeps the head": f"CREATE TRIGGER t BEFORE UPDATE ON head {IGNORE}",
    "one that puts it back": (
        "CREATE TRIGGER t AFTER UPDATE ON head "
        "BEGIN UPDATE head SET number = OLD.number, hash = OLD.hash; END"
    ),
    "a view for the entries": (
        "ALTER TABLE entries RENAME TO hidden; CREATE VIEW entries AS SELECT * FROM hidden; "
        "CREATE TRIGGER t INSTEAD OF INSERT ON entries BEGIN SELECT 1; END"
    ),
    "a view for the head": (
        "ALTER TABLE head RENAME TO hidden; CREATE VIEW head AS SELECT * FROM hidden; "
        "CREATE TRIGGER t INSTEAD OF UPDATE ON head BEGIN SELECT 1; END"
    ),
    "an index that drops what it has": (
        "CREATE UNIQUE INDEX t ON entries (software, who) WHERE kind = 'none'"
    ),
    "a table beside them": "CREATE TABLE t (number INTEGER)",
    "a column that is made up": (
        "ALTER TABLE entries ADD COLUMN t TEXT GENERATED ALWAYS AS (epsilon) VIRTUAL"
    ),
    "a column beside them": "ALTER TABLE entries ADD COLUMN t TEXT",
    "no trigger against edits": "DROP TRIGGER no_edit",
    "statistics": "ANALYZE",
}
REWRITTEN = {
    "a primary key that ignores": ("INTEGER PRIMARY KEY", "INTEGER PRIMARY KEY ON CONFLICT IGNORE"),
    "a check": ("dataset TEXT NOT NULL", "dataset TEXT NOT NULL CHECK (dataset <> 'x')"),
    "a collation": ("dataset TEXT NOT NULL", "dataset TEXT NOT NULL COLLATE NOCASE"),
    "a default": ("epsilon TEXT", "epsilon TEXT DEFAULT '0'"),
    "other spaces": ("epsilon TEXT", "epsilon  TEXT"),
    "a constraint that ignores": ("who TEXT NOT NULL", "who TEXT NOT NULL ON CONFLICT IGNORE"),
}


def plant(path: Path, name: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        if name in PLANTED:
            connection.executescript(PLANTED[name])
            return
        connection.execute("PRAGMA writable_schema = ON")
        update = "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = 'entries'"
        connection.execute(update, REWRITTEN[name])


@pytest.mark.parametrize("name", [*PLANTED, *REWRITTEN])
def test_nothing_is_written_where_the_tables_are_not_ours(name: str, path: Path) -> None:
    """And nothing is released: there is no receipt without an entry."""
    charges = Ledger(path).history()
    before = content(path)
    plant(path, name)
    ledger = Ledger(path)
    for call in (
        charge(path), lambda: ledger.check("visits", "1/100"), lambda: ledger.record(5, 1),
        lambda: ledger.add_dataset("more", 1),
        lambda: topgap.top_k([3, 2, 1], 1, "1/100", ledger=path, dataset="visits"),
    ):  # fmt: skip
        with refused("tables, indices and triggers that topgap makes.*; nothing was written"):
            call()
    with refused():
        ledger.verify(charges[0].receipt)
    if "view" not in name:
        assert content(path) == before


@pytest.mark.parametrize("name", [*PLANTED][:9])
@pytest.mark.parametrize("call", ["charge", "record", "add_dataset"])
def test_what_is_written_is_read_back(
    name: str, call: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a file has that nobody thought of."""
    ledger = Ledger(path)
    calls: dict[str, Callable[[], object]] = {
        "charge": charge(path),
        "record": lambda: ledger.record(5, 1),
        "add_dataset": lambda: ledger.add_dataset("more", 1),
    }
    monkeypatch.setattr(database, "check_tables", lambda *_: None)
    plant(path, name)
    before = content(path)
    harmless = {"charge": "results", "record": "charges", "add_dataset": "charges results"}
    if name.split()[-1] in harmless[call].split():
        calls[call]()
        return
    assert is_seen_by(calls[call])
    assert content(path) == before


@pytest.mark.parametrize(
    "statement",
    ["PRAGMA auto_vacuum = FULL; VACUUM", "PRAGMA auto_vacuum = INCREMENTAL; VACUUM",
     "PRAGMA page_size = 512; VACUUM", "PRAGMA default_cache_size = 1",
     "PRAGMA schema_version = 7", "PRAGMA journal_mode = WAL"],
)  # fmt: skip
def test_settings_in_the_file_change_nothing(statement: str, path: Path) -> None:
    """What SQLite keeps in a file besides its tables: how it is stored, and not what."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(statement)
    made = Ledger(path).charge("visits", "1/100", mechanism="m")
    assert Ledger(path).verify(made.receipt).entries == ENTRIES + 1


def test_a_charge_that_was_lost_since_is_not_said_to_be_charged(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if an older copy were put in place while the noise is drawn."""
    older, record = path.read_bytes(), Ledger._record_drawn

    def late(self: Ledger, *given: Any) -> None:
        path.write_bytes(older)
        record(self, *given)

    monkeypatch.setattr(Ledger, "_record_drawn", late)
    with pytest.warns(topgap.LedgerWarning, match="The ledger has lost charge 9 since") as told:
        topgap.top_k([3, 2, 1], 1, "1/100", ledger=path, dataset="visits")
    assert "was charged" not in str(told[0].message)


def test_tables_that_were_packed_anew_are_the_same(path: Path) -> None:
    before, receipt = path.read_bytes(), Ledger(path).verify().receipt
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM")
        connection.execute("REINDEX")
    assert path.read_bytes() != before
    assert Ledger(path).verify().receipt == receipt


# --- By somebody who knows the hashes


def cheaper(entries: list[Entry]) -> list[Entry]:
    """The same history, in which the last charge cost next to nothing."""
    *first, last = entries
    return [*first, replace(last, epsilon="0.01", spent=_spent(entries, "0.01"))]


def _spent(entries: list[Entry], epsilon: str) -> str:
    from topgap.numbers.format import format_exact, parse_exact

    before = max(parse_exact(each.spent) for each in entries[:-1]
                 if each.dataset == "visits" and each.spent)  # fmt: skip
    return format_exact(before + parse_exact(epsilon))


def test_a_ledger_written_anew_is_found_by_a_receipt(path: Path) -> None:
    """And not without one: whoever keeps no receipt elsewhere must trust who can write the file."""
    kept = Ledger(path).verify().receipt
    early = Ledger(path).history()[0].receipt
    write_anew(path, cheaper(entries_of(path)))
    assert Ledger(path).verify().entries == ENTRIES
    assert Ledger(path).budget("visits").left > 1
    assert Ledger(path).verify(early).entries == ENTRIES  # that entry is the same
    with refused("has another entry 8 than the receipt"):
        Ledger(path).verify(kept)
    charge(path)()
    assert is_seen_by(lambda: Ledger(path).verify(kept))


def test_a_ledger_written_anew_as_it_was_is_the_same(path: Path) -> None:
    kept = [Ledger(path).verify().receipt, *(each.receipt for each in Ledger(path).history())]
    write_anew(path, entries_of(path))
    assert Ledger(path).verify(*kept).receipt == kept[0]


NONSENSE: list[tuple[int, dict[str, Any]]] = [
    (8, {"spent": "0.01"}),
    (8, {"epsilon": "0.01"}),
    (8, {"epsilon": "1.0"}),
    (8, {"epsilon": "1e0"}),
    (8, {"epsilon": "0", "spent": "13/30"}),
    (8, {"epsilon": "-1", "spent": "-17/30"}),
    (8, {"epsilon": None}),
    (8, {"epsilon": "one"}),
    (8, {"spent": "nan"}),
    (8, {"dataset": "none"}),
    (8, {"parameters": "[]"}),
    (8, {"parameters": "{"}),
    (8, {"parameters": None}),
    (8, {"parameters": "[" * 100_000}),
    (8, {"mechanism": None}),
    (8, {"at": "2026-01-01T00:00:00.000000Z"}),
    (8, {"at": "9999-99-99T00:00:00.000000Z"}),
    (8, {"at": "tomorrow"}),
    (8, {"kind": "refund"}),
    (1, {"epsilon": "1/3"}),
    (1, {"epsilon": "-2"}),
    (1, {"epsilon": None}),
    (2, {"dataset": "visits"}),
    (4, {"result": None}),
    (4, {"result": "{"}),
    (4, {"result": "[" * 100_000}),
    (4, {"charge": 5, "dataset": "blood α"}),
    (4, {"charge": 1}),
    (4, {"charge": 99}),
    (4, {"charge": None}),
    (7, {"charge": 3, "dataset": "visits"}),
]


@pytest.mark.parametrize(("number", "change"), NONSENSE, ids=lambda each: str(each)[:40])
def test_nonsense_with_right_hashes_is_found(
    number: int, change: dict[str, Any], path: Path
) -> None:
    """Whatever else is called says a sentence, or goes on."""
    entries = entries_of(path)
    entries[number - 1] = replace(entries[number - 1], **change)
    try:
        write_anew(path, entries)
    except sqlite3.IntegrityError:  # a second total, or a second result
        return
    assert is_seen_by(Ledger(path).verify)
    for call in (charge(path), charge(path, "blood α"), Ledger(path).budgets, Ledger(path).history):
        is_seen_by(call)


@pytest.mark.parametrize("missing", [1, 3, 4, 6])
def test_a_chain_without_one_of_its_entries_is_found(missing: int, path: Path) -> None:
    entries = [each for each in entries_of(path) if each.number != missing]
    write_anew(path, entries)
    assert is_seen_by(Ledger(path).verify)


# --- Receipts


def test_a_receipt_is_of_one_entry_and_no_other(path: Path) -> None:
    first, *_, last = Ledger(path).history()
    assert Ledger(path).verify(first.receipt, last.receipt, first.receipt).receipt == last.receipt
    wrong = f"3:{'0' * 64}"
    for receipts in ([wrong], [first.receipt, wrong], [wrong, first.receipt]):
        with refused("has another entry 3 than the receipt"):
            Ledger(path).verify(*receipts)
    with refused("has no entry 99"):
        Ledger(path).verify(f"99:{'0' * 64}")


@pytest.mark.parametrize(
    "receipt",
    ["", "3", f"0:{'0' * 64}", f"3:{'0' * 63}", f"3:{'G' * 64}", f"3:{'0' * 64}\n", 3, None],
)
def test_what_is_no_receipt_is_told(receipt: Any, path: Path) -> None:
    with refused("A receipt is the number of an entry, a colon and all 64 digits", ParameterError):
        Ledger(path).verify(receipt)


# --- Damage


def is_whole(path: Path, original: Path) -> bool:
    """Whether plain SQL reads the same as ever."""
    try:
        return content(path) == content(original)
    except sqlite3.Error:
        return False


def damage(path: Path, original: Path, changed: bytes) -> bool:
    """Whether damage is found; if not, all that the ledger says must be the same."""
    path.write_bytes(changed)
    if is_seen_by(Ledger(path, wait=0).verify):
        return True
    assert is_whole(path, original)
    assert Ledger(path).verify(Ledger(original).verify().receipt)
    return False


@pytest.mark.slow
def test_a_flipped_bit_in_the_header_is_found_or_changes_nothing(
    path: Path, original: Path
) -> None:
    whole = original.read_bytes()
    found = 0
    for at in range(100):
        for bit in (0, 1, 7):
            found += damage(path, original, flipped(whole, at, 1 << bit))
    assert found > 100


def flipped(whole: bytes, at: int, bits: int) -> bytes:
    return whole[:at] + bytes([whole[at] ^ bits]) + whole[at + 1 :]


@pytest.mark.slow
@given(st.data())
@settings(max_examples=100)
def test_flipped_bytes_are_found_or_change_nothing(original: Path, data: st.DataObject) -> None:
    """Those between the rows of a page, for example, say nothing."""
    whole = original.read_bytes()
    used = [at for at, byte in enumerate(whole) if byte]
    with quick_folder() as folder:
        changed = whole
        for _ in range(data.draw(st.integers(1, 3))):
            at, bits = data.draw(st.sampled_from(used)), data.draw(st.integers(1, 255))
            changed = flipped(changed, at, bits)
        damage(folder / "budget.db", original, changed)


def test_flipped_bytes_of_the_rows_are_found(path: Path, original: Path) -> None:
    whole = original.read_bytes()
    start = whole.index(b'"winners"')
    for at in range(start, start + 60, 3):
        assert damage(path, original, flipped(whole, at, 1))


# --- What was once accepted is never taken for tampering


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


def deeply(calls: int, call: Callable[[], Any]) -> Any:
    """The call, from within so many others."""
    return call() if calls == 0 else deeply(calls - 1, call)


@pytest.mark.slow
def test_what_not_everyone_could_read_again_is_refused(path: Path) -> None:
    made = Ledger(path)
    before = made.verify().entries
    for parameters in ({"a": nested(50)}, {"a": nested(990)}, {"a": 10**600}, {"a": nested(10**5)}):
        with pytest.raises((ParameterError, ParameterTypeError)):
            made.charge("visits", "1/100", mechanism="m", parameters=parameters)
    assert made.verify().entries == before
    parameters = {"a": nested(49), "b": 10**600 - 1, "c": "[" * 2000 + '"' + "9" * 2000}
    charge = made.charge("visits", "1/100", mechanism="m", parameters=parameters)
    made.record(charge, nested(50))
    with pytest.raises(ParameterError, match="at most 50 levels"):
        made.record(made.charge("visits", "1/100", mechanism="m"), nested(51))
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        deeply(800, made.verify)
        assert made.history()[-2].parameters == parameters
    finally:
        sys.set_int_max_str_digits(limit)


# --- And if the code were another


def look_at_order(path: Path) -> None:
    for one, other in permutations((3, 5, 8), 2):
        before = path.read_bytes()
        test_another_order_is_found(one, other, path)
        path.write_bytes(before)


def look_at_edits(path: Path) -> None:
    for number, column in ((4, "result"), (5, "note"), (8, "epsilon")):
        test_any_edit_of_any_cell_is_found(number, column, path)


def look_at_moved_values(path: Path) -> None:
    """The same values in the same order, but in other columns."""
    tampered(path, run("UPDATE entries SET result = note, note = NULL WHERE number = 5"))
    assert is_seen_by(Ledger(path).history)


def look_at_one_hash(path: Path) -> None:
    """An edit with a right hash for the row itself."""
    third, before = entries_of(path)[2], hashes_of(path)[1]
    digest = replace(third, note="edited").hash(before)
    update = "UPDATE entries SET note = 'edited', hash = ? WHERE number = 3"
    tampered(path, lambda connection: connection.execute(update, [digest]))
    assert is_seen_by(Ledger(path).verify)


def hashes_of(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [each for (each,) in connection.execute("SELECT hash FROM entries ORDER BY number")]


def look_at_last_rows(path: Path) -> None:
    tampered(path, run("DELETE FROM entries WHERE number > 5"))
    assert is_seen_by(Ledger(path).verify)


def look_at_numbers(path: Path) -> None:
    test_a_chain_without_one_of_its_entries_is_found(4, path)


def look_at_head(path: Path) -> None:
    tampered(path, run("UPDATE head SET hash = ''"))
    assert is_seen_by(charge(path))


def look_at_last_charge(path: Path) -> None:
    tampered(path, run("UPDATE entries SET spent = '0.01' WHERE number = 6"))
    assert is_seen_by(charge(path, "blood α"))


def look_at_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TRIGGER no_edit")
    assert is_seen_by(Ledger(path).verify)


def look_at_pages(path: Path) -> None:
    hide_in_the_index(path)
    assert is_seen_by(Ledger(path).verify)


def look_at_hidden_charges(path: Path) -> None:
    before = path.read_bytes()
    for statement in HIDING:
        test_a_charge_is_refused_where_an_earlier_one_was_hidden(statement, path)
        path.write_bytes(before)
    test_a_charge_is_refused_where_an_index_hides_an_earlier_one(path)


def look_at_nonsense(path: Path) -> None:
    before = path.read_bytes()
    for number, change in NONSENSE:
        test_nonsense_with_right_hashes_is_found(number, change, path)
        path.write_bytes(before)


def look_at_receipts(path: Path) -> None:
    test_a_receipt_is_of_one_entry_and_no_other(path)


def look_at_cut_off_ends(path: Path) -> None:
    test_last_entries_that_were_cut_off_with_the_head_are_found_by_a_receipt(2, path)


def look_at_planted_triggers(path: Path) -> None:
    before = path.read_bytes()
    for name in PLANTED:
        test_nothing_is_written_where_the_tables_are_not_ours(name, path)
        path.write_bytes(before)


def look_at_what_is_read_back(path: Path) -> None:
    before = path.read_bytes()
    for name in [*PLANTED][:9]:
        with pytest.MonkeyPatch.context() as patch:
            test_what_is_written_is_read_back(name, "charge", path, patch)
        path.write_bytes(before)


def look_at_renamed_data_sets(path: Path) -> None:
    test_a_data_set_under_another_name_cannot_get_a_second_total(path)


Look = Callable[[Path], None]
LOOKS: list[Look] = [
    look_at_order, look_at_edits, look_at_moved_values, look_at_one_hash, look_at_last_rows,
    look_at_head, look_at_last_charge, look_at_tables, look_at_pages, look_at_nonsense,
    look_at_receipts, look_at_hidden_charges, look_at_cut_off_ends, look_at_renamed_data_sets,
    look_at_planted_triggers, look_at_what_is_read_back,
]  # fmt: skip

MUTANTS: list[tuple[Any, Mutant, Look]] = [
    (entry, Mutant("a hash without the one before", 'sha256(f"{previous}\\n{row}"',
                   'sha256(f"{row}"'),
     look_at_one_hash),
    (entry, Mutant("a hash without the note", "if value is not None}",
                   'if value is not None and name != "note"}'), look_at_edits),
    (entry, Mutant("a hash without the result", "if value is not None}",
                   'if value is not None and name != "result"}'), look_at_edits),
    (entry, Mutant("a hash without names", "json.dumps(known, sort_keys=True",
                   "json.dumps([*map(str, known.values())], sort_keys=True"),
     look_at_moved_values),
    (entry_log, Mutant("believes the hashes",
                       "return entry.hash(previous) == digest and entry.is_valid()",
                       "return isinstance(digest, str) and entry.is_valid()"), look_at_edits),
    (entry_log, Mutant("believes that all make sense",
                       "== digest and entry.is_valid()", "== digest"),
     look_at_nonsense),
    (entry_log, Mutant("believes the head's hash",
                 "if found != number or self._hash(number) != digest or number",
                 "if found != number or number"), look_at_head),
    (entry_log, Mutant("believes names", "[self.entry(number).dataset for (number,) in found]",
                 "[entry_from_row(self._one(f'SELECT {_ALL} FROM entries WHERE number = ?', n))"
                 ".dataset for (n,) in found]"), look_at_renamed_data_sets),
    (entry_log, Mutant("believes a last charge",
                 "if found is None or not self._is_intact(found, self._hash(number - 1), "
                 "self._hash(number)):", "if found is None:"), look_at_last_charge),
    (entry_log, Mutant("does not look behind a charge",
                       "        self._check_no_sum_after(last or total)\n", ""),
     look_at_hidden_charges),
    (entry_log, Mutant("believes the index",
                       'if later.kind in ("charge", "settlement") and', "if later.kind == '' and"),
     look_at_hidden_charges),
    (verification, Mutant("does not look at the head", "if log.head() != (rules.entries, last):",
                          "if False:"), look_at_last_rows),
    (verification, Mutant("does not look at tables",
                          "if not has_our_tables(connection):",
                          "if False:"), look_at_tables),
    (verification, Mutant("does not look at pages", 'if findings != [("ok",)]:', "if False:"),
     look_at_pages),
    (database, Mutant("writes to any tables",
                      "    if not has_our_tables(connection):", "    if False:"),
     look_at_planted_triggers),
    (entry_log, Mutant("does not read back",
                 "if self.head() != (entry.number, digest) or self.last() != entry:", "if False:"),
     look_at_what_is_read_back),
    (entry_log, Mutant("reads the head alone",
                 "if self.head() != (entry.number, digest) or self.last() != entry:",
                 "if self.head() != (entry.number, digest):"), look_at_what_is_read_back),
    (entry_log, Mutant("does not look at numbers", "if row[0] != expected:", "if False:"),
     look_at_numbers),
    (verification, Mutant("does not look at times", "entry.at < self._at or ", ""),
     look_at_nonsense),
    (verification, Mutant("does not look at totals", "== spent <= self._totals[entry.dataset]",
                          "== spent"), look_at_nonsense),
    (verification, Mutant("does not look at sums",
                          "parse_epsilon(entry.spent) == spent <=", "spent <="),
     look_at_nonsense),
    (verification, Mutant("takes the last receipt of an entry",
                          "if not kept <= {format_receipt(entry.number, last)}:",
                          "if kept and format_receipt(entry.number, last) not in kept:"),
     look_at_receipts),
    (verification, Mutant("forgets receipts of later entries", "if expected:", "if False:"),
     look_at_cut_off_ends),
]  # fmt: skip


@pytest.mark.parametrize(
    ("module", "mutant", "look"), MUTANTS, ids=[mutant.name for _, mutant, _ in MUTANTS]
)
def test_code_that_overlooks_something_is_found(
    module: Any, mutant: Mutant, look: Look, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_place(monkeypatch, module, mutant)
    if module is entry:  # whose hashes are then others from the beginning
        path.unlink()
        filled(path)
    assert is_found(lambda: look(path))


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_the_code_as_it_is_passes_what_finds_them(look: Look, path: Path) -> None:
    look(path)


def test_the_first_hash_is_known_forever() -> None:
    """What a row's hash is does not change, or old ledgers could not be verified any more."""
    entry = Entry(number=1, kind="dataset", at="2026-01-01T00:00:00.000000Z", dataset="α",
                  epsilon="1/3", who="ana", software="topgap 0.1.0")  # fmt: skip
    known = {"at": entry.at, "dataset": "α", "epsilon": "1/3", "kind": "dataset", "number": 1,
             "software": "topgap 0.1.0", "who": "ana"}  # fmt: skip
    from hashlib import sha256

    row = json.dumps(known, separators=(",", ":"))
    assert entry.hash("topgap.ledger") == sha256(f"topgap.ledger\n{row}".encode()).hexdigest()
    assert issubclass(LedgerError, RuntimeError)
