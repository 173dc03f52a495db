"""What the command shows of names, where it writes, and how it writes CSV."""

import csv
import io
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import is_one_sentence, release, topgap, write_visits
from topgap.cli.csv_text import format_csv
from topgap.counting import database_addresses
from topgap.display.text import format_path
from topgap.sources import paths

pytestmark = pytest.mark.slow

ADDRESS = "postgresql://ann:hunter2@host/db?password=hunter2"
ASKED = ("--person", "who", "--item", "what", "-k", 2, "--epsilon", 1)
PUBLIC = (*ASKED, "--domain", "domain.txt")
ROWS = ("--item", "what", "--count", "n", "--all-rows", "-k", 1, "--epsilon", 1)
FORGED = "x\nWritten: real.json\x1b[2K.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_visits(tmp_path)
    return tmp_path


# ---------------------------------------------------------------- passwords


@pytest.mark.parametrize(
    "arguments",
    [
        ("release", ADDRESS, *PUBLIC),
        ("release", "host=db password=hunter2", *PUBLIC, "--source-format", "csv"),
        ("release", ADDRESS, *ROWS),
        ("release", "visits.csv", *ASKED, "--domain", ADDRESS),
        ("release", "visits.csv", *ASKED, "--domain", f"{ADDRESS}.csv", "--domain-column", "c"),
        ("release", "visits.csv", *PUBLIC, "--format", "json", "-o", ADDRESS),
        ("release", "visits.csv", *PUBLIC, "--report", f"{ADDRESS}.html"),
        ("release", "visits.csv", *PUBLIC, "--ledger", ADDRESS, "--dataset", "v"),
        ("plan", ADDRESS, "--item", "what", "--count", "n", "-k", 1),
        ("plan", "--zipf", 9, "-k", 1, "--format", "csv", "-o", ADDRESS),
        ("budget", "show", ADDRESS),
        ("budget", "init", ADDRESS, "--dataset", "v", "--epsilon", 1),
        ("audit", "--quick", "--format", "json", "-o", ADDRESS),
        ("demo", "--save", ADDRESS),
    ],
    ids=lambda arguments: " ".join(map(str, arguments[:2])),
)  # fmt: skip
def test_a_password_is_not_printed(arguments: tuple[object, ...], folder: Path) -> None:
    ended = topgap(*arguments, folder=folder)
    assert ended.code == 1
    assert is_one_sentence(ended.err)
    assert "hunter2" not in ended.err + ended.out


def test_of_an_address_the_scheme_alone_is_said(folder: Path) -> None:
    address = ADDRESS.replace("postgresql", "mysql")
    ended = topgap("release", address, *PUBLIC, folder=folder)
    assert ended.err == "topgap: Only files can be read, and this is a network address (mysql).\n"


@pytest.mark.parametrize(("scheme", "meant"), [
    ("postgressql", "postgresql"), ("Postgre", "postgresql"), ("snowflak", "snowflake"),
    ("postgresl+psycopg2", "postgresql"),
])  # fmt: skip
def test_of_a_scheme_with_a_mistake_the_nearest_is_said(
    folder: Path, scheme: str, meant: str
) -> None:
    address = ADDRESS.replace("postgresql", scheme)
    ended = topgap("release", address, *PUBLIC, folder=folder)
    assert ended.code == 1
    assert ended.err.endswith(f"({scheme}); did you mean {meant}://?\n")
    assert "hunter2" not in ended.err


def test_the_schemes_that_are_said_are_those_that_are_read() -> None:
    assert {*paths.DATABASE_SCHEMES} == {*database_addresses._DRIVERS} - {"postgres"}


@pytest.mark.posix
def test_a_ledger_keeps_no_password(folder: Path) -> None:
    odd = folder / "s3:" / "ann:hunter2@host"
    odd.mkdir(parents=True)
    (odd / "visits.csv").write_bytes((folder / "visits.csv").read_bytes())
    topgap("budget", "init", "b.db", "--dataset", "v", "--epsilon", 9, folder=folder)
    source = "s3:/ann:hunter2@host/visits.csv"
    ended = topgap(
        "release", source, *PUBLIC, "--ledger", "b.db", "--dataset", "v",
        folder=folder,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert "hunter2" not in ended.err
    assert b"hunter2" not in (folder / "b.db").read_bytes()


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("visits.csv", "visits.csv"),
        ("/home/ann@work/visits.csv", "/home/ann@work/visits.csv"),
        ("C:/Users/ann@work", "C:/Users/ann@work"),
        ("postgresql://ann:p/@?w@host/db", "postgresql://…@host/db"),
        (Path("postgresql://ann:pw@host/db"), "postgresql:/…@host/db"),
        ("https://host/x.csv?sig=pw#pw", "https://host/x.csv?…"),
        ("ann:pw@host:x.csv", "…@host:x.csv"),
        ("host=db password='p w' user=ann", "host=db password=… user=ann"),
        ("postgresql://host/db?password=p@w", "postgresql://…"),
        ("postgresql://ann:p?w=@host/db", "postgresql://…"),
        ("postgresql:///?service=clinic", "postgresql:///?…"),
        ("postgresql://ann:pw", "postgresql://…"),
        ("postgresql://ann:pw/db", "postgresql://…"),
        ("postgresql://host:5432/db", "postgresql://host:5432/db"),
        ("postgresql://[::1]:5432/db", "postgresql://[::1]:5432/db"),
        ("jdbc:postgresql://host/db;password=p@w", "jdbc:postgresql://…"),
        ("ann:p/w@host/db", "…@host/db"),
        ("ann:p@w@host/db", "…@host/db"),
        (":pw@host/db", "…@host/db"),
        (r"password='it\'s a pw' host=db", "password=… host=db"),
        ("password='left open", "password=…"),
        (r"password=p\ w host=db", "password=… host=db"),
        ("p" * 9_999, "A name of 9,999 characters"),
    ],
)
def test_what_is_shown_of_a_path(path: object, shown: str) -> None:
    assert format_path(path) == shown


# ---------------------------------------------------------------- names on one line


@pytest.mark.posix
@pytest.mark.parametrize(
    "arguments",
    [
        ("release", "visits.csv", *PUBLIC, "-o", FORGED),
        ("release", "visits.csv", *PUBLIC, "-o", f"no {FORGED}/out.json"),
        ("release", "visits.csv", *ASKED, "--domain", FORGED),
        ("release", FORGED, *PUBLIC, "--source-format", "csv"),
        ("plan", "--zipf", 9, "-k", 1, "--releases", 100, "--format", "csv", "-o", FORGED),
        ("budget", "show", FORGED),
        ("budget", "init", FORGED, "--dataset", "v", "--epsilon", 1),
        ("demo", "--baskets", 2_000, "--save", FORGED),
    ],
    ids=lambda arguments: " ".join(map(str, arguments[:2])),
)
def test_no_name_can_fake_a_line(arguments: tuple[object, ...], folder: Path) -> None:
    ended = topgap(*arguments, folder=folder)
    said = (ended.err + ended.out).splitlines()
    assert any(r"\n" in line for line in said)
    assert not any(line.startswith("Written: real") for line in said)
    assert "\x1b" not in ended.err + ended.out


# ---------------------------------------------------------------- where it is written


@pytest.mark.deep
def test_a_hyphen_is_standard_output(folder: Path) -> None:
    before = sorted(folder.iterdir())
    ended = release(folder, "-o", "-", "--format", "json", "-q")
    assert ended.code == 0
    assert [each["item"] for each in json.loads(ended.out)["winners"]] == ["flu", "cold"]
    ended = release(folder, "--output", "-", "-q")
    assert "flu" in ended.out
    for arguments in (
        ("plan", "--zipf", 9, "-k", 1, "--releases", 100, "-q", "--format", "csv", "-o", "-"),
        ("budget", "export", "b.db", "-o", "-"),
        ("budget", "show", "b.db", "-o", "-"),
    ):
        topgap("budget", "init", "b.db", "--dataset", "v", "--epsilon", 9, folder=folder)
        ended = topgap(*arguments, folder=folder)
        assert ended.code == 0, ended.err
        assert len(ended.out.splitlines()) > 1
        assert "Written" not in ended.out + ended.err
    assert sorted(each for each in folder.iterdir() if each.name != "b.db") == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--report", "-"), "must end in .html"),
        (("--domain", "-"), "--domain names a file"),
    ],
)
def test_a_hyphen_elsewhere_is_refused(arguments: tuple[str, ...], said: str, folder: Path) -> None:
    asked = [*ASKED, *(() if "--domain" in arguments else ("--domain", "domain.txt"))]
    ended = release(folder, *arguments, asked=asked)
    assert ended.code == 2
    assert said in ended.err
    ended = topgap("budget", "copy", "b.db", "-", folder=folder)
    assert (ended.code, (folder / "-").exists()) == (2, False)


# ---------------------------------------------------------------- CSV

ODD = [
    "plain", "a,b", 'a "b"', "two\nlines", "two\rlines", "\rfirst", "=1+1", "+1", "-x", "@SUM(A1)",
    "\ttab", "=cmd|' /C calc'!A0", " =1", "'=1", "\nfirst", "＝1+1", "-5", "-1/3", "-12.5", "",
]  # fmt: skip


def test_csv_has_a_row_for_each_row_and_no_formula() -> None:
    text = format_csv([[number, item, -0.5] for number, item in enumerate(ODD)])
    rows = [*csv.reader(io.StringIO(text, newline=""), strict=True)]
    formulas = {"=1+1", "+1", "-x", "@SUM(A1)", "\ttab", "\rfirst", "=cmd|' /C calc'!A0"}
    formulas |= {"'=1", "\nfirst", "＝1+1"}
    for (number, item, negative), before in zip(rows, ODD, strict=True):
        assert item == (f"'{before}" if before in formulas else before)
        assert (ODD[int(number)], negative) == (before, "-0.5")


def test_items_that_are_formulas_or_have_carriage_returns(folder: Path) -> None:
    odd = {"=1+1": 5_000, "two\rlines": 4_000}
    rows: list[list[Any]] = [[f"p{n}", item] for item, count in odd.items() for n in range(count)]
    with (folder / "odd.jsonl").open("w") as file:
        file.writelines(json.dumps({"who": who, "what": what}) + "\n" for who, what in rows)
    with (folder / "domain.jsonl").open("w") as file:
        file.writelines(json.dumps({"item": item}) + "\n" for item in [*odd, "other"])
    asked = [*ASKED, "--domain", "domain.jsonl", "--domain-column", "item"]
    ended = topgap("release", "odd.jsonl", *asked, "-o", "out.csv", folder=folder)
    assert ended.code == 0, ended.err
    content = (folder / "out.csv").read_bytes().decode()
    read = [*csv.reader(io.StringIO(content, newline=""), strict=True)]
    assert [row[1] for row in read] == ["item", "'=1+1", "two\rlines"]
    ended = topgap("release", "odd.jsonl", *asked, "--format", "json", "-q", folder=folder)
    assert [each["item"] for each in json.loads(ended.out)["winners"]] == [*odd]


# ---------------------------------------------------------------- what has no end


@pytest.mark.linux
@pytest.mark.parametrize(
    "arguments",
    [
        ("release", "visits.csv", *ASKED, "--domain", "/dev/zero"),
        ("budget", "record", "b.db", "--charge", 1, "/dev/zero"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_file_without_end_is_refused(arguments: tuple[object, ...], folder: Path) -> None:
    topgap("budget", "init", "b.db", "--dataset", "v", "--epsilon", 9, folder=folder)
    ended = topgap(*arguments, folder=folder)
    assert ended.code == 1
    assert is_one_sentence(ended.err)
    assert "more than" in ended.err


@pytest.mark.posix
def test_a_pipe_has_the_format_of_its_name(folder: Path) -> None:
    import os

    os.mkfifo(folder / "p.csv")
    content = (folder / "visits.csv").read_bytes()
    writer = threading.Thread(target=(folder / "p.csv").write_bytes, args=(content,), daemon=True)
    writer.start()
    ended = topgap("release", "p.csv", *PUBLIC, "-q", folder=folder)
    assert ended.code == 0, ended.err
    writer.join(10)
