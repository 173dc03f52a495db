"""Files that people have, as the command reads them; and which columns they have."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.command import topgap
from topgap import Ledger

pytestmark = pytest.mark.slow

ASKED = ("--person", "Patient", "--item", "Diagnose", "-k", 1, "--epsilon", 1)
ROWS = [(f"p{n}", ("grün", "GRÜN", "Grün")[n % 3]) for n in range(900)] + [("x", "Öl")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = "Patient;Diagnose\n" + "".join(f"{who};{what}\n" for who, what in ROWS)
    (tmp_path / "v.csv").write_text(text, encoding="latin-1")
    (tmp_path / "d.txt").write_text("Grün\nÖl\nÄtna\n", encoding="windows-1252")
    book = openpyxl.Workbook()
    for name in ("visits", "notes"):
        sheet = book.create_sheet(name)
        sheet.append(["Patient", "Diagnose"])
        for row in ROWS:
            sheet.append(row)
    del book["Sheet"]
    book.save(tmp_path / "v.xlsx")
    return tmp_path


def test_an_export_in_latin_1_with_codes_typed_by_hand_is_released(folder: Path) -> None:
    Ledger(folder / "budget.db").add_dataset("visits", 3)
    ended = topgap(
        "release", "v.csv", *ASKED, "--domain", "d.txt", "--domain-encoding", "windows-1252",
        "--encoding", "latin-1", "--fold-case", "--format", "json", "--ledger", "budget.db",
        "--dataset", "visits", "-q", folder=folder,
    )  # fmt: skip
    assert (ended.code, ended.err) == (0, "")
    winners = [each["item"] for each in json.loads(ended.out)["winners"]]
    assert winners == ["Grün"]  # by 900 persons to 1; the odds against it are e^-899
    (charge,) = Ledger(folder / "budget.db").history()
    noted: Any = charge.parameters
    assert {k: noted[k] for k in ("encoding", "domain_encoding", "fold_case")} == {
        "encoding": "latin-1", "domain_encoding": "windows-1252", "fold_case": True,
    }  # fmt: skip


def test_what_is_missing_is_said_before_anything_is_charged(folder: Path) -> None:
    ledger = Ledger(folder / "budget.db")
    ledger.add_dataset("visits", 3)
    charged = ("--ledger", "budget.db", "--dataset", "visits")
    listed = ("--domain", "d.txt", "--domain-encoding", "latin-1")
    for options, said in (
        (["v.csv", *listed], "v.csv is not UTF-8 text, and looks like latin-1; say so"),
        (["v.csv", "--domain", "d.txt"], "d.txt is not UTF-8 text, and looks like latin-1; say"),
        (["v.csv", "--domain", "codes.csv"], "codes.csv cannot be read: No such file"),
        (["v.csv", "--domain", "codes.xlsx"], "codes.xlsx cannot be read: No such file"),
        (["v.xlsx", *listed], "Say which sheet of v.xlsx to read (table=, --table); it has"),
        (["v.xlsx", "--domain", "v.xlsx", "--domain-column", "x", "--table", "notes"],
         "Say which sheet of v.xlsx to read (table=, --domain-table)"),
        (["v.csv", "--encoding", "latin-1", "--fold-case", "--domain-pattern", "[a-zA-Z]{1,9}"],
         "a pattern or an alphabet must be of ASCII, with letters in one case"),
    ):  # fmt: skip
        ended = topgap("release", *options, *ASKED, *charged, "--yes", folder=folder)
        first, *_ = ended.err.splitlines()
        assert said in first, ended.err
        assert ended.code == 1
    assert ledger.history() == ()


def test_a_sheet_and_a_text_file_give_the_same_check(folder: Path) -> None:
    (folder / "v.txt").write_bytes((folder / "v.csv").read_bytes())
    said = []
    for source in (
        ["v.xlsx", "--table", "visits"],
        ["v.csv", "--encoding", "latin-1"],
        ["v.txt", "--encoding", "latin-1"],
    ):
        ended = topgap(
            "release", *source, *ASKED, "--domain", "v.xlsx", "--domain-table", "notes",
            "--domain-column", "Patient", "--check", folder=folder,
        )  # fmt: skip
        assert ended.code == 0, ended.err
        said.append(ended.out)
    assert len({*said}) == 1


@pytest.mark.deep
def test_columns_are_listed_for_whoever_asks(folder: Path) -> None:
    pq.write_table(pa.table({"Patient": [1], "Day": ["x"]}), folder / "v.parquet")
    (folder / "v.jsonl").write_text('{"Patient": 1}\n{"Patient": 2, "Day": 3}\n')
    text = "Patient\nDiagnose\n"
    for source, out in (
        (["v.csv"], text),
        (["v.csv", "--no-header"], "1\n2\n"),
        (["v.csv", "--delimiter", ","], "Patient;Diagnose\n"),
        (["v.xlsx", "--table", "visits"], text),
        (["v.xlsx"], "It has several tables; name one with --table:\nvisits\nnotes\n"),
        (["v.parquet"], "Patient  BIGINT\nDay  VARCHAR\n"),
        (["v.jsonl"], "Patient\nDay\n"),
    ):
        encoding = ["--encoding", "latin-1"] if source[0] == "v.csv" else []
        ended = topgap("release", *source, *encoding, "--list-columns", folder=folder)
        assert (ended.code, ended.out, ended.err) == (0, out, ""), source
    ended = topgap(
        "release", "v.csv", "--person", "pateint", "--item", "Zaphod", "--list-columns",
        "--encoding", "latin-1", folder=folder,
    )  # fmt: skip
    assert (ended.code, ended.out) == (0, text)
    assert ended.err.splitlines() == [
        "topgap: --person: there is no column 'pateint'; 'Patient' is the nearest.",
        "topgap: --item: there is no column 'Zaphod'.",
    ]


@pytest.mark.deep
def test_tables_of_databases_are_listed_and_then_their_columns(folder: Path) -> None:
    with duckdb.connect(str(folder / "v.duckdb")) as made:
        made.execute("create table a (who integer, day date); create table b as select 1 as x")
    with closing(sqlite3.connect(folder / "v.sqlite")) as lite:
        lite.executescript("create table a (who integer, day); create view b as select 1 as x")
    for name, columns in (
        ("v.duckdb", "who  INTEGER\nday  DATE\n"), ("v.sqlite", "who\nday\n"),
    ):  # fmt: skip
        ended = topgap("release", name, "--list-columns", folder=folder)
        assert ended.out.splitlines()[1:] == ["a", "b"]
        ended = topgap("release", name, "--table", "a", "--list-columns", folder=folder)
        assert (ended.code, ended.out, ended.err) == (0, columns, "")
        ended = topgap("release", name, "--table", "c", "--list-columns", folder=folder)
        assert (ended.code, ended.out) == (1, "")
        assert "has no table 'c'; it has 'a', 'b'" in ended.err


def test_an_error_lists_no_columns_of_a_text_file_and_says_what_does(folder: Path) -> None:
    for source in (["v.csv", "--encoding", "latin-1"], ["v.xlsx", "--table", "visits"]):
        ended = topgap(
            "release", *source, "--person", "pateint", "--item", "Diagnose", "-k", 1,
            "--epsilon", 1, "--domain-range", "1:9", folder=folder,
        )  # fmt: skip
        assert ended.code == 1
        assert "--list-columns" in ended.err
        assert "Patient" not in ended.err


@pytest.mark.parametrize(
    "options",
    [
        ["v.csv", "-k", 1],
        ["v.csv", "--query", "SELECT 1", "--list-columns"],
        ["v.arrow", "--list-columns"],
        ["v.parquet", "--all-rows", "--item", "a", "--count", "n", "--fold-case", "-k", 1],
        ["v.csv", *ASKED, "--domain-range", "1:2", "--domain-encoding", "latin-1"],
        ["v.csv", *ASKED, "--domain", "d.txt", "--domain-table", "x"],
    ],
)
def test_options_that_do_not_fit_are_refused(options: list[object], folder: Path) -> None:
    assert topgap("release", *options, folder=folder).code == 2


def test_a_plan_reads_the_same_files(folder: Path) -> None:
    (folder / "c.csv").write_text("code,n\nGRÜN,900\nöl,300\n", encoding="utf-16")
    listed = ("--domain", "d.txt", "--domain-encoding", "latin-1", "--fold-case")
    ended = topgap(
        "plan", "c.csv", "--item", "code", "--count", "n", "-k", 1, "--epsilon", 1,
        "--releases", 10, *listed, "-q", folder=folder,
    )  # fmt: skip
    assert ended.code == 0, ended.err
