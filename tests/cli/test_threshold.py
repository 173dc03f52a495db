"""`topgap release --threshold` with exponential noise: counts in every form, and what was spent."""

import csv
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from tests.cli.command import ASKED, is_one_sentence, topgap
from tests.cli.test_noisy_counts import ALL, within
from tests.display.sample_counts import FULL, NONE, REACHED
from topgap import Ledger, Release, TopK
from topgap.cli.release.publication import Publication
from topgap.cli.release.terminal import TerminalTable
from topgap.report import read_release

# Noise of mean at most 8 is 200 or more of any of six with a probability below 6 * e^-25. 3,000
# persons have flu, 2,000 colds, and 1,000 coughs; the other two items of the list have 3 or none.
NEVER = 1e-10
CUT = ("-k", 4, "--threshold", 500)
TRUE = {"flu": 3000, "cold": 2000, "cough": 1000}


def released(folder: Path, *arguments: object) -> Release:
    ended = within(folder, "visits.csv", *ALL, *arguments, "--format", "json")
    assert ended.code == 0, ended.err
    return Release.from_json(ended.out)


@pytest.mark.parametrize(("said", "named", "spent"), [
    (CUT, ["flu", "cold", "cough"], "1"),
    (("-k", 4, "--threshold", "1500.55"), ["flu", "cold"], "3/4"),
    (("-k", 4, "--threshold", 10**6), [], "1/4"),
    (("-k", 2, "--threshold", 500), ["flu", "cold"], "1"),
    (("-k", 4, "--threshold", 1500, "--neighbours", "replace"), ["flu", "cold"], "5/8"),
])  # fmt: skip
@pytest.mark.statistical(false_alarm=NEVER)
def test_a_threshold_ends_the_list_and_saves_epsilon(
    folder: Path, said: Any, named: list[str], spent: str
) -> None:
    release = released(folder, *said)
    assert [*release.items] == named
    assert release.spent == Fraction(spent)
    assert release.has_counts == (len(named) < release.parameters.k)
    if release.has_counts:
        assert all(abs(each.value - TRUE[each.item]) < 200 for each in release.counts())


@pytest.mark.statistical(false_alarm=NEVER)
def test_it_says_beforehand_what_can_be_spent_and_afterwards_what_was(folder: Path) -> None:
    before = (
        "Noise of mean 4 on every count and on the threshold of 1500.5. ε = 1 is the most that is "
        "spent: 0.25 if no item is above 1500.5, and 0.25 more for each item that is named."
    )
    asked = (*ALL, "-k", 4, "--threshold", "1500.55")
    ended = within(folder, "visits.csv", *asked)
    assert ended.err.splitlines()[0] == before
    assert "ε = 1, of which 0.75 was spent, resolution" in ended.out
    assert "was spent" not in ended.err
    checked = within(folder, "visits.csv", *asked, "--check")
    assert before in checked.out.splitlines()
    assert (
        "ε = 1, of which 0.75 was spent."
        in within(folder, "visits.csv", *asked, "--format", "csv").err.splitlines()
    )
    (folder / "visits.csv").write_text("who,what\n")
    ended = within(folder, "visits.csv", *asked)
    assert ended.err.splitlines()[0] == before
    assert "No item was above the threshold: if that surprises you" in ended.err
    assert within(folder, "visits.csv", *asked, "-q").err == ""


@pytest.mark.statistical(false_alarm=NEVER)
def test_every_form_has_counts_errors_and_intervals(folder: Path) -> None:
    forms = {}
    for form in ("table", "csv", "json", "parquet"):
        asked = (*ALL, *CUT, "--level", "0.9", "-o", "out", "--format", form, "--overwrite")
        ended = within(folder, "visits.csv", *asked, "--report", "r.html")
        assert (ended.code, ended.out) == (0, ""), ended.err
        forms[form] = (folder / "out").read_bytes(), read_release((folder / "r.html").read_text())

    text = forms["table"][0].decode()
    assert text.splitlines()[0].split() == [
        "rank", "item", "ahead", "of", "the", "next", "by", "count", "±", "90%", "from", "to",
    ]  # fmt: skip
    assert "in 90 of 100 such publications" in text
    assert "3 items were above 500, noise included." in text

    rows, release = [*csv.DictReader(io.StringIO(forms["csv"][0].decode()))], forms["csv"][1]
    at_once = release.counts("0.9", simultaneous=True, size=5)
    for row, count, wide in zip(rows, release.counts("0.9"), at_once, strict=True):
        assert row["item"] == count.item
        assert Fraction(row["count"]) == count.value
        assert float(row["standard_error"]) == count.standard_error
        assert (Fraction(row["low"]), Fraction(row["high"])) == (count.low, count.high)
        ends = Fraction(row["simultaneous_low"]), Fraction(row["simultaneous_high"])
        assert ends == (wide.low, wide.high)
        assert row["is_biased"] == str(count.is_biased).lower()

    assert Release.from_json(forms["json"][0]) == forms["json"][1]
    assert all("count" in each for each in json.loads(forms["json"][0])["winners"])
    table, release = pq.read_table(io.BytesIO(forms["parquet"][0])), forms["parquet"][1]
    assert table["count"].to_pylist() == [float(each.value) for each in release.counts()]
    assert Release.from_json(table.schema.metadata[b"topgap.release"]) == release


def test_an_empty_list_looks_right_in_every_form(folder: Path) -> None:
    def made(form: str) -> bytes:
        asked = (*ALL, "-k", 4, "--threshold", 10**6, "--format", form, "-o", "out", "--overwrite")
        ended = within(folder, "visits.csv", *asked, "--report", "r.html")
        assert ended.code == 0, ended.err
        assert len(read_release((folder / "r.html").read_text())) == 0
        return (folder / "out").read_bytes()

    assert made("table").decode().startswith("No item was above 1000000, noise included.\n")
    assert made("csv").decode() == (
        "rank,item,gap,count,standard_error,low,high,simultaneous_low,simultaneous_high,is_biased\n"
    )
    assert json.loads(made("json"))["winners"] == []


def shown(release: Release) -> str:
    console = Console(width=100, file=io.StringIO(), color_system=None)
    console.print(TerminalTable(Publication(release)))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_terminal_shows_counts_and_bars() -> None:
    head, first, *_ = shown(REACHED).splitlines()[1:]
    assert head.split()[-4:] == ["±", "95%", "from", "to"]
    assert first.split()[:7] == ["1", "flu", "125.0", "650.1", "7.1", "635.1", "665.2"]
    assert "█" in first
    assert "order uncertain" in shown(FULL)
    assert shown(NONE).startswith("No item was above 500, noise included.")
    assert not any(sign in shown(NONE) for sign in ("█", "rank", "±"))


@pytest.mark.parametrize("domain", [
    ("--domain-pattern", "[a-z]{3,5}"), ("--domain-strings", "a-z", "--max-length", 20),
])  # fmt: skip
@pytest.mark.statistical(false_alarm=NEVER)
def test_a_domain_says_what_it_takes_to_be_named(folder: Path, domain: Any) -> None:
    ended = within(folder, "visits.csv", *ASKED[:4], *domain, "--epsilon", 1, *CUT)
    assert ended.code == 0, ended.err
    assert [line.split()[1] for line in ended.out.splitlines()[1:4]] == ["flu", "cold", "cough"]
    assert "an item needs a count of 510 to be named with a probability of 95%" in ended.err
    assert "noise alone lifts less than 0.001 above the threshold" in ended.out


@pytest.mark.statistical(false_alarm=NEVER)
def test_precomputed_counts_of_all_rows_have_a_threshold(folder: Path) -> None:
    table = {"what": [*TRUE, "pox", "gout"], "people": [*TRUE.values(), 0, 3]}
    pq.write_table(pa.table(table), folder / "counts.parquet")
    asked = ("--item", "what", "--count", "people", "--all-rows", "--epsilon", 1, *CUT)
    ended = within(folder, "counts.parquet", *asked, "--format", "json")
    assert ended.code == 0, ended.err
    release = Release.from_json(ended.out)
    assert all(abs(each.value - TRUE[each.item]) < 200 for each in release.counts())
    assert [*release.items] == [*TRUE]


@pytest.mark.statistical(false_alarm=NEVER)
def test_a_ledger_gets_the_counts(folder: Path) -> None:
    (ledger := Ledger(folder / "budget.db")).add_dataset("visits", 3)
    paid = ("--ledger", "budget.db", "--dataset", "visits", "--yes")
    ended = within(
        folder, "visits.csv", *ALL, "-k", 4, "--threshold", 1500, *paid, "--format", "json"
    )
    assert ended.code == 0, ended.err
    result = next(each.result for each in ledger.history("visits") if each.result is not None)
    assert Release.from_json(result) == Release.from_json(ended.out)
    assert Release.from_json(result).parameters == TopK(4, 1, monotonic=True, threshold=1500)


@pytest.mark.slow
def test_it_works_in_a_process_of_its_own(folder: Path) -> None:
    assert topgap("release", "visits.csv", *ALL, *CUT, folder=folder).code == 0
    refused = topgap("release", "visits.csv", *ALL, "-k", 4, "--threshold", "many", folder=folder)
    assert refused.code == 1
    assert is_one_sentence(refused.err)
