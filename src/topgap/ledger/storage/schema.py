"""The tables of a ledger's database, their version, and the migrations from older versions."""

from collections.abc import Iterable, Mapping

APPLICATION = 0x746F7067  # "topg" in ASCII; it tells a ledger from other files of SQLite
VERSION = 3

STATEMENTS = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, at TEXT NOT NULL, "
    "dataset TEXT NOT NULL, epsilon TEXT, spent TEXT, mechanism TEXT, parameters TEXT, "
    "who TEXT NOT NULL, note TEXT, charge INTEGER, result TEXT, software TEXT NOT NULL, "
    "hash TEXT NOT NULL, neighbours TEXT, stated TEXT, recorded INTEGER)",
    # Where the rows end, so that a deletion of the last ones is seen.
    "CREATE TABLE head (only INTEGER PRIMARY KEY CHECK (only = 1), number INTEGER NOT NULL, "
    "hash TEXT NOT NULL)",
    "CREATE UNIQUE INDEX one_total ON entries (dataset) WHERE kind = 'dataset'",
    "CREATE UNIQUE INDEX one_result ON entries (charge) WHERE kind = 'result'",
    "CREATE INDEX charges ON entries (dataset, number) WHERE kind = 'charge'",
    "CREATE UNIQUE INDEX one_settlement ON entries (charge) WHERE kind = 'settlement'",
    "CREATE INDEX settlements ON entries (dataset, number) WHERE kind = 'settlement'",
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
    2: (
        "ALTER TABLE entries ADD COLUMN recorded INTEGER",
        "CREATE UNIQUE INDEX one_settlement ON entries (charge) WHERE kind = 'settlement'",
        "CREATE INDEX settlements ON entries (dataset, number) WHERE kind = 'settlement'",
    ),
}
"""By the version that they start from, the statements that lead to the next one.

They run in one transaction with what is then written, so that a file has one version or the other.
A row's hash does not depend on the columns that it has no value for, and no statement changes a
row. `STATEMENTS` must be what a migrated file has, to the letter, or it could not be verified.
"""
