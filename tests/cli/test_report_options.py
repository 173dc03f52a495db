"""`topgap release --report`: what the page says, and what is refused before anything is charged."""

from contextlib import chdir
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow.parquet import write_table
from typer.testing import CliRunner

from tests.cli.command import ASKED, Ended, is_one_sentence
from tests.report.pages import Page, words
from topgap import Ledger
from topgap.cli.app import app
from topgap.report import read_release

pytestmark = pytest.mark.slow

SAID = ("--publisher", "A clinic", "--period", "2025", "--date", "2026-11-20", "--person-word",
        "patients", "--item-word", "diagnoses", "--source-note", "Registrations.")  # fmt: skip


def within(folder: Path, *arguments: object) -> Ended:
    with chdir(folder):
        asked = ["release", "visits.csv", *ASKED, "-q", "--overwrite", *arguments]
        ended = CliRunner().invoke(app, [*map(str, asked)])
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


def page_of(folder: Path, *arguments: object) -> Page:
    ended = within(folder, "--report", "r.html", *arguments)
    assert ended.code == 0, ended.err
    return Page((folder / "r.html").read_text(encoding="utf-8"))


def test_the_page_says_what_was_typed_and_no_column_of_the_data(folder: Path) -> None:
    (folder / "codes.csv").write_text("item,label\nflu,Influenza\n")
    text = words(page_of(folder, *SAID, "--labels", "codes.csv"))
    assert "A clinic · 2025 · published 20 November 2026" in text
    assert "The 2 diagnoses with the most patients. Everyone counts once for each item." in text
    assert text.startswith(" The top 2 diagnoses ")
    assert "flu Influenza" in text
    assert "Source: Registrations." in text
    default = words(page_of(folder))
    assert "The 2 items with the most people. Everyone counts once for each item." in default
    assert f"published {date.today().day} " in default
    assert " published 20" not in words(page_of(folder, "--date", "none"))
    (folder / "named.csv").write_text((folder / "visits.csv").read_text().replace("who", "Pat-ID"))
    asked = ["named.csv", "--person", "Pat-ID", *ASKED[2:], "--report", "named.html", "-q"]
    with chdir(folder):
        assert CliRunner().invoke(app, ["release", *map(str, asked)]).exit_code == 0
    assert "Pat-ID" not in (folder / "named.html").read_text()


def test_numbers_are_put_in_order_on_the_page_alone(folder: Path) -> None:
    estimated = ("--estimate", "--in-order", "--locale", "de")
    text = words(page_of(folder, *estimated))
    assert "put in the order of the ranks afterwards" in text
    assert read_release((folder / "r.html").read_text()).items == ("flu", "cold")


@pytest.mark.parametrize("option", [
    ("--title", "x"), ("--publisher", "x"), ("--period", "x"), ("--date", "none"),
    ("--source-note", "x"), ("--labels", "codes.csv"), ("--person-word", "x"),
    ("--item-word", "x"), ("--locale", "en"), ("--in-order", "--estimate"),
])  # fmt: skip
def test_they_are_for_a_report(folder: Path, option: tuple[str, ...]) -> None:
    ended = within(folder, *option)
    assert ended.code == 2
    assert f"{option[0]} is for the report, with --report." in ended.err


@pytest.mark.parametrize("option", [
    ("--title", "x" * 301), ("--title", " "), ("--date", "yesterday"), ("--locale", "xx"),
    ("--labels", "missing.csv"), ("--labels", "broken.csv"), ("--person-word", "x" * 61),
    ("--in-order",),
])  # fmt: skip
def test_what_is_wrong_is_refused_before_anything_is_charged(
    folder: Path, option: tuple[str, ...]
) -> None:
    (folder / "broken.csv").write_text("a,b\nc,d,e\n")
    Ledger(folder / "budget.db").add_dataset("visits", 3)
    ledger = ("--ledger", "budget.db", "--dataset", "visits", "--yes")
    ended = within(folder, *ledger, "--report", "r.html", *option)
    assert ended.code in (1, 2)
    assert is_one_sentence(ended.err) or option[0] in ended.err
    assert not (folder / "r.html").exists()
    assert Ledger(folder / "budget.db").history() == ()


@pytest.mark.parametrize("stated", [
    ("--no-monotonic",), ("--all-rows", "--no-monotonic"), ("--all-rows", "--monotonic"),
    ("--all-rows", "--neighbours", "replace"), ("--all-rows", "--dataset", "replaced"),
])  # fmt: skip
def test_numbers_that_may_be_negative_are_not_put_in_order(
    folder: Path, stated: tuple[str, ...]
) -> None:
    write_table(pa.table({"what": ["flu", "cold"], "people": [-2.5, 7.0]}), folder / "r.parquet")
    (folder / "items.txt").write_text("flu\ncold\n")
    ledger = Ledger(folder / "budget.db")
    ledger.add_dataset("visits", 3)
    ledger.add_dataset("replaced", 3, neighbours="replace")
    asked = ["r.parquet", "--item", "what", "--count", "people", "-k", 1, "--epsilon", 1, "-q",
             "--estimate", "--report", "r.html", "--ledger", "budget.db", "--yes"]  # fmt: skip
    asked += [] if "--dataset" in stated else ["--dataset", "visits"]
    asked += [] if "--all-rows" in stated else ["--domain", "items.txt"]
    with chdir(folder):
        command = ["release", *map(str, asked), *stated, "--in-order"]
        ended = CliRunner().invoke(app, command)
    assert ended.exit_code == 2
    assert "--in-order is for counts" in ended.stderr
    assert not (folder / "r.html").exists()
    assert ledger.history() == ()


def test_a_long_epsilon_is_written_as_the_locale_does(folder: Path) -> None:
    least = "0." + "0" * 37 + "1"
    asked = (folder / "visits.csv", "--epsilon", least, "--locale", "de", "--report", "r.html")
    ended = within(folder, *asked[1:])
    assert ended.code == 0, ended.err
    assert least.replace(".", ",") in words(Page((folder / "r.html").read_text(encoding="utf-8")))


def test_the_labels_are_not_overwritten(folder: Path) -> None:
    (folder / "codes.html").write_text("flu,Influenza\n")
    ended = within(folder, "--report", "codes.html", "--labels", "codes.html")
    assert ended.code != 0
    assert (folder / "codes.html").read_text() == "flu,Influenza\n"
