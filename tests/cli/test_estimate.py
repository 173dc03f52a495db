"""`topgap release --estimate`: who, by how much, and how many, in every form."""

import csv
import io
import json
import re
from collections.abc import Sequence
from contextlib import chdir
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tests.cli import test_terminal
from tests.cli.command import ASKED, TOPGAP, Ended, is_one_sentence, release, topgap
from tests.cli.test_terminal import on_a_terminal
from tests.streams.sample_streams import TABLE, parquet, stream_of
from topgap import Estimates, TopK
from topgap.cli.app import app
from topgap.counting import NOT_PROTECTED
from topgap.margins import NEAR_TIES, is_uncertain
from topgap.numbers.format import format_rounded, format_short
from topgap.report import read_estimates, read_release
from topgap.selection import measurement

pytestmark = [
    pytest.mark.posix(reason="runs the command on a terminal of its own, and sends it signals"),
    pytest.mark.slow,
]

# Of the selection's noise, of mean 4, and the measurements', of scale 4, none exceeds 200 but with
# a probability below 4·e^-50: then gaps and estimates are off by at most 800.
NEVER = 1e-20
ROWS = ("--item", "what", "--count", "people", "--all-rows", "-k", 2, "--epsilon", 100)
NUMBERS = ("measurement", "estimate", "standard_error", "low", "high")
SIMULTANEOUS = ("simultaneous_low", "simultaneous_high")
# Nobody has any of a hundred items: all of 20 gaps are certain with a probability below 20^-200.
NOBODY = (*ASKED[:4], "--domain-range", "1:100", "-k", 20, "--epsilon", 1)


def within(folder: Path, *arguments: object) -> Ended:
    """The command without a process of its own."""
    with chdir(folder):
        ended = CliRunner().invoke(app, ["release", *map(str, arguments)])
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


def made(folder: Path, form: str, *arguments: object, asked: Sequence[object] = ASKED) -> Estimates:
    """Run it with a report, write the form to `out` beside it, and read what the report holds."""
    written = ["-o", "out", "--format", form, "--report", "r.html", "--overwrite"]
    ended = within(folder, "visits.csv", *asked, "--estimate", *written, *arguments)
    assert (ended.code, ended.out) == (0, ""), ended.err
    return read_estimates((folder / "r.html").read_text())


@pytest.mark.statistical(false_alarm=NEVER)
def test_it_names_measures_and_estimates(folder: Path) -> None:
    ended = release(folder, "--estimate", "--format", "json")
    assert ended.code == 0
    found = Estimates.from_json(ended.out)
    assert found.release.items == ("flu", "cold")
    assert found.release.parameters == TopK(2, "1/2", monotonic=True)
    for truth, measured, estimate, (low, high) in zip(
        (3_000, 2_000), found.measurements, found.estimates, found.intervals(), strict=True
    ):
        assert abs(measured - truth) < 800
        assert abs(estimate - truth) < 800
        assert low < estimate < high
    assert NEAR_TIES not in ended.err


@pytest.mark.parametrize(("epsilon", "share", "k"), [
    ("1", None, 2), ("1/7", "1/3", 3), ("0.3", "0.99", 1), ("5", "1/1000", 4),
])  # fmt: skip
def test_the_parts_of_epsilon_are_epsilon_exactly(
    folder: Path, epsilon: str, share: str | None, k: int
) -> None:
    asked = [*ASKED[:7], k, "--epsilon", epsilon]
    given = [] if share is None else ["--selection-share", share]
    held = json.loads(within(folder, "visits.csv", *asked, "--estimate", *given,
                             "--format", "json").out)  # fmt: skip
    assert Fraction(held["epsilon"]) == Fraction(epsilon)
    selecting = Fraction(held["release"]["parameters"]["epsilon"])
    assert selecting == Fraction(epsilon) * Fraction(share or "1/2")
    assert selecting + k * Fraction(held["noise"]["epsilon_each"]) == Fraction(epsilon)
    table = within(folder, "visits.csv", *asked, "--estimate", *given).out
    each = Fraction(held["noise"]["epsilon_each"])
    told = [format_short(number) for number in (Fraction(epsilon), selecting, each)]
    assert "ε = {}: {} to select and {} for each measurement, ".format(*told) in table


def test_the_noise_that_is_told_of_is_the_noise_that_is_drawn(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: dict[str, Any] = {}
    real = {**vars(measurement)}

    def select(parameters: TopK, *others: Any, **more: Any) -> Any:
        drawn["selection"] = parameters
        return real["select_with_answers"](parameters, *others, **more)

    def laplace(rate: Fraction, count: int) -> Any:
        drawn["rate"], drawn["count"] = rate, count
        return real["laplace"](rate, count)

    monkeypatch.setattr(measurement, "select_with_answers", select)
    monkeypatch.setattr(measurement, "laplace", laplace)
    found = made(
        folder, "table", "--selection-share", "1/4", "--resolution", "1/5",
        "--neighbours", "replace", asked=[*ASKED[:-1], "2/3"],
    )  # fmt: skip
    assert found.release.parameters == drawn["selection"] == TopK(2, "1/6", resolution="1/5")
    assert drawn["count"] == 2
    assert [*found.noise.scales] == [1 / drawn["rate"] / 5] * 2
    assert found.noise.scales[0] == 4  # 1 / (3/4 · 2/3 / 2)
    page = re.sub(r"<[^>]*>|\s", " ", (folder / "r.html").read_text())
    assert re.search(r"noise scale +24 ", page)  # 2 · 2 / (1/6)
    assert re.search(r"noise of a measurement +4 ", page)
    assert "A gap below 71.90 leaves" in (folder / "out").read_text()  # 24 · ln 20


@pytest.mark.statistical(false_alarm=NEVER)
def test_a_table_has_the_estimates_and_says_what_they_are(folder: Path) -> None:
    found = made(folder, "table", "--level", "0.9")
    head, *rows, note, below, explained = (folder / "out").read_text().splitlines()
    assert re.split(r"\s{2,}", head)[-4:] == ["estimate", "±", "90% from", "to"]
    for rank, row in enumerate(rows):
        error = found.standard_errors[rank]
        shown = (found.estimates[rank], error, *found.intervals("0.9")[rank])
        assert row.split()[-4:] == [format_rounded(each, error) for each in shown]
        assert row.split()[1] == found.release.items[rank]
    assert note.startswith("ε = 1: 0.5 to select and 0.25 for each measurement, resolution 0.1")
    assert below == "A gap below 11.98 leaves the order of the two uncertain."
    assert explained == (
        "± is the standard error; in 90 of 100 such publications an item's interval holds its "
        "true number, rounded down to the resolution."
    )


@pytest.mark.parametrize("level", ["0.95", "0.999"])
def test_csv_holds_what_the_report_holds(folder: Path, level: str) -> None:
    found = made(folder, "csv", "--level", level)
    head, *rows = csv.reader(io.StringIO((folder / "out").read_text()))
    assert head == ["rank", "item", "gap", *NUMBERS, *SIMULTANEOUS, "in_doubt"]
    alone, at_once = found.intervals(level), found.intervals(level, simultaneous=True)
    for i, row in enumerate(rows):
        assert row[:2] == [str(i + 1), found.release.items[i]]
        assert [Fraction(each) for each in row[2:4]] == [
            (found.release.gaps or ())[i], found.measurements[i],
        ]  # fmt: skip
        numbers = (found.estimates[i], found.standard_errors[i], *alone[i], *at_once[i])
        assert [float(each) for each in row[4:-1]] == [*numbers]
        assert row[-1] == str(found.in_doubt(level)[i]).lower()
    assert len(rows) == 2


@pytest.mark.parametrize("level", ["0.95", "0.999"])
def test_json_and_parquet_hold_what_the_report_holds(folder: Path, level: str) -> None:
    found = made(folder, "json", "--level", level)
    text = (folder / "out").read_text()
    assert Estimates.from_json(text) == found
    assert Fraction(json.loads(text)["level"]) == Fraction(level)
    assert text == f"{found.to_json(level, indent=2)}\n"

    found = made(folder, "parquet", "--level", level)
    table = pq.read_table(folder / "out")
    assert table.column_names == ["item", "gap", "gap_units", *NUMBERS, "in_doubt"]
    assert table["estimate"].to_pylist() == [*found.estimates]
    ends = zip(table["low"].to_pylist(), table["high"].to_pylist(), strict=True)
    assert [*ends] == [*found.intervals(level)]
    notes = table.schema.metadata
    assert notes[b"topgap.estimates"].decode() == found.to_json(level)
    assert b"topgap.release" not in notes  # of which the ε is not that of the whole


def test_the_level_is_that_of_the_words(folder: Path) -> None:
    made(folder, "table", "--level", "0.999")
    table, page = (folder / "out").read_text(), (folder / "r.html").read_text()
    assert "99.9% from" in table
    assert "in 999 of 1,000 such publications" in table
    assert "95" not in table.splitlines()[0]
    assert "In <strong>999 of 1,000</strong> such publications" in page
    assert "95 of 100" not in page


def test_the_report_tells_of_the_whole(folder: Path) -> None:
    found = made(folder, "json", "--title", "Diagnoses <2026>")
    page = (folder / "r.html").read_text()
    assert read_release(page) == found.release
    assert "<strong>ε = 1</strong>" in page
    assert "<h1>Diagnoses &lt;2026&gt;</h1>" in page
    assert "Everyone counts once for each item." in page


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_uncertain_orders_are_cautioned_of(folder: Path, form: str) -> None:
    asked = ["visits.csv", *NOBODY, "--estimate", "--format", form, "--report", "r.html"]
    ended = within(folder, *asked)
    assert ended.code == 0
    assert ended.err.splitlines().count(NEAR_TIES) == (form != "table")
    assert ended.out.splitlines().count(NEAR_TIES) == (form == "table")
    page = (folder / "r.html").read_text()
    assert '<span class="mark">place uncertain</span>' in page
    gaps, parameters = read_release(page).gaps or (), read_release(page).parameters
    assert any(is_uncertain(gap, parameters) for gap in gaps)
    quiet = within(folder, *asked, "--overwrite", "-q")
    assert quiet.err == ""
    assert (NEAR_TIES in quiet.out) == (form == "table")


@pytest.mark.statistical(false_alarm=NEVER)
def test_only_they_are(folder: Path) -> None:
    ended = within(folder, "visits.csv", *ASKED, "--estimate", "--report", "r.html")
    assert "half the noise" in ended.err
    assert "Written: r.html" in ended.err
    assert NEAR_TIES not in ended.err + ended.out + (folder / "r.html").read_text()
    plain = within(folder, "visits.csv", *NOBODY)
    assert NEAR_TIES not in plain.err + plain.out


def test_a_single_winner(folder: Path) -> None:
    asked = [*ASKED[:7], 1, "--epsilon", 1]
    found = made(folder, "csv", asked=asked)
    [_, row] = csv.reader(io.StringIO((folder / "out").read_text()))
    assert Fraction(row[3]) == pytest.approx(float(row[4])) == float(found.measurements[0])
    assert row[6:8] == row[8:10]
    assert found.noise.epsilon == Fraction(1, 2)


def test_a_domain_from_the_data_says_what_is_not_protected(folder: Path) -> None:
    asked = [*ASKED[:4], "--domain-from-data", "-k", 2, "--epsilon", 1]
    made(folder, "parquet", asked=asked)
    notes = pq.read_schema(folder / "out").metadata
    assert notes[b"topgap.caveat"].decode() == NOT_PROTECTED
    assert b"topgap.estimates" in notes
    assert NOT_PROTECTED in (folder / "r.html").read_text()
    made(folder, "table", asked=asked)
    assert (folder / "out").read_text().splitlines()[-1] == NOT_PROTECTED


HOSTILE = ["</script><b>x</b>", '=1+1,"q"', "[bold red]x[/]", "🦠 日本 שלום", "a\u202eb", "${rows}"]


def test_hostile_names_are_names_in_every_form(folder: Path) -> None:
    (folder / "domain.txt").write_text("\n".join([*HOSTILE, "else"]))
    asked = [*ASKED[:7], 6, "--epsilon", 1]
    named = {*HOSTILE, "else"}
    found = made(folder, "csv", "--title", HOSTILE[0], asked=asked)
    rows = [*csv.reader(io.StringIO((folder / "out").read_text()))][1:]
    # A spreadsheet would take one of them for a formula.
    shown = [f"'{each}" if each.startswith("=") else each for each in found.release.items]
    assert [row[1] for row in rows] == shown
    assert {*found.release.items} < named
    page = (folder / "r.html").read_text()
    assert page.count("<script") == page.count("</script") == 2
    assert "<b>" not in page
    assert made(folder, "json", asked=asked) == Estimates.from_json((folder / "out").read_text())
    made(folder, "table", asked=asked)
    assert "\u202e" not in (folder / "out").read_text()


# On a terminal.


def shown_in(
    columns: int, folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: object
) -> list[str]:
    monkeypatch.setattr(test_terminal, "TOPGAP", ("env", f"COLUMNS={columns}", *TOPGAP))
    asked = ["release", *arguments, "--estimate", "--report", "r.html", "--overwrite"]
    code, shown = on_a_terminal(asked, folder)
    assert code == 0, shown
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r", "")
    return [*map(str.rstrip, plain.splitlines())]


@pytest.mark.statistical(false_alarm=NEVER)
@pytest.mark.parametrize(("columns", "gaps"), [(60, False), (80, True), (120, True)])
def test_a_terminal_gets_the_numbers_and_the_bars_that_fit(
    folder: Path, monkeypatch: pytest.MonkeyPatch, columns: int, gaps: bool
) -> None:
    """Where there is no room for all of it, the gaps make room for the bars."""
    lines = shown_in(columns, folder, monkeypatch, "visits.csv", *ASKED, "-q")
    found = read_estimates((folder / "r.html").read_text())
    assert max(map(len, lines)) <= columns
    assert any("█" in line for line in lines)
    rows = [line.split() for line in lines if re.match(r" +[12]  ", line)]
    for rank, row in enumerate(rows):
        error = found.standard_errors[rank]
        shown = (found.estimates[rank], error, *found.intervals()[rank])
        assert row[:2] == [str(rank + 1), found.release.items[rank]]
        numbers = row[3:7] if gaps else row[2:6]
        assert numbers == [format_rounded(each, error) for each in shown]
        assert not gaps or Fraction(row[2]) == (found.release.gaps or ())[rank]
    assert len(rows) == 2
    text = " ".join(lines)
    assert "95% from" in text
    assert "in 95 of 100 such publications" in text
    assert ("The gaps are left out" in text) == (not gaps)
    # 1,000 are 84 times the gap below which an order is uncertain: nothing is to be explained.
    assert "order uncertain" not in text


def test_a_bar_is_as_long_as_its_estimate(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown_in(120, folder, monkeypatch, "visits.csv", *ASKED, "-q")
    found = read_estimates((folder / "r.html").read_text())
    bars = [len(re.findall("[█░]", line)) for line in lines if re.match(r" +[12]  ", line)]
    first, second = found.estimates
    assert bars[0] in (33, 34)  # of 34, which is where the interval ends
    assert abs(bars[1] - bars[0] * second / first) <= 1


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_terminal_marks_what_is_uncertain_and_says_it_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    lines = shown_in(columns, folder, monkeypatch, "visits.csv", *NOBODY)
    released = read_release((folder / "r.html").read_text())
    gaps = released.gaps or ()
    rows = [line for line in lines if re.match(r" *\d+  \d+  ", line)]
    uncertain = [is_uncertain(gap, released.parameters) for gap in gaps]
    assert [line.endswith(" ?") for line in rows] == uncertain
    assert " ".join(lines).count(NEAR_TIES) == 1


def test_names_on_a_terminal_are_neither_markup_nor_too_wide(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["[red]x[/]", "<b>x</b>", "[/]$x", "x" * 200, "[x"]
    (folder / "domain.txt").write_text("\n".join(names))
    asked = [*ASKED[:7], 4, "--epsilon", 1]
    lines = shown_in(80, folder, monkeypatch, "visits.csv", *asked, "-q")
    found = read_release((folder / "r.html").read_text())
    assert max(map(len, lines)) <= 80
    squeezed = "".join("".join(lines).split())
    for name in {*found.items} - {"x" * 200}:
        assert name in squeezed
    assert squeezed.count("x") >= 200 or "x" * 200 not in found.items


# All rows.


@pytest.mark.statistical(false_alarm=NEVER)
def test_all_rows_can_be_estimated(tmp_path: Path) -> None:
    path = parquet(tmp_path)
    asked = [path, *ROWS, "--estimate", "--selection-share", "1/4", "--resolution", "1/4"]
    asked += ["--sensitivity", "3/2", "--neighbours", "replace", "--level", "0.9"]
    ended = within(tmp_path, *asked, "--format", "json", "--report", "r.html")
    assert ended.code == 0, ended.err
    found = Estimates.from_json(ended.out)
    assert found == read_estimates((tmp_path / "r.html").read_text())
    assert found.release.items == ("flu", "cold")
    assert found.release.parameters == TopK(2, 25, resolution="1/4", sensitivity="3/2")
    assert found.noise.epsilon == Fraction(75, 2)
    counts = dict(zip(TABLE["what"].to_pylist(), TABLE["people"].to_pylist(), strict=True))
    # Noise of mean 0.24 and of scale 0.04 is below 12 but for e^-50; then estimates are off by 48.
    for item, measured, estimate in zip(
        found.release.items, found.measurements, found.estimates, strict=True
    ):
        assert abs(measured - counts[item]) < 3
        assert abs(estimate - counts[item]) < 48
    assert json.loads(ended.out)["level"] == "0.9"
    assert "Every row is an item of the domain (--all-rows)" in ended.err


def test_all_rows_from_a_pipe_and_with_items_that_are_no_text(tmp_path: Path) -> None:
    days = pa.table({
        "what": [date(2026, 1, day) for day in (4, 1, 3, 2)], "people": TABLE["people"],
    })  # fmt: skip
    asked = ["release", "-", *ROWS, "--estimate", "--format", "csv", "--report", "r.html", "-q"]
    ended = topgap(*asked, folder=tmp_path, given=stream_of(days))
    assert (ended.code, ended.err) == (0, "")
    items = [row[1] for row in csv.reader(io.StringIO(ended.out))][1:]
    assert all(re.fullmatch(r"2026-01-0\d", item) for item in items)
    assert [*read_estimates((tmp_path / "r.html").read_text()).release.items] == items


# What is refused.


@pytest.mark.parametrize("wrong", [
    ["--level", "0.9"], ["--selection-share", "1/2"], ["--level", ""],
    ["--estimate", "--format", "xml"], ["--estimate", "--title", "x"], ["--estimate", "yes"],
], ids=" ".join)  # fmt: skip
def test_what_contradicts_itself_is_a_usage_error(folder: Path, wrong: list[str]) -> None:
    before = {*folder.iterdir()}
    ended = within(folder, "visits.csv", *ASKED, "-o", "out.csv", *wrong)
    if wrong == ["--estimate", "yes"]:  # which is one more source
        assert ended.code in (1, 2)
    else:
        assert ended.code == 2
        assert "Usage: " in ended.err
    assert ended.out == ""
    assert {*folder.iterdir()} == before


@pytest.mark.parametrize(("wrong", "said"), [
    (["--selection-share", "-1/2"], "selection_share must be greater than 0"),
    (["--selection-share", "0"], "selection_share must be greater than 0"),
    (["--selection-share", "1"], "selection_share must be below 1"),
    (["--selection-share", "3/2"], "selection_share must be below 1"),
    (["--selection-share", ""], "selection_share"),
    (["--selection-share", "half"], "selection_share"),
    (["--level", "1"], "level must be below 1"),
    (["--level", "95"], "level must be below 1"),
    (["--level", "0"], "level must be greater than 0"),
    (["--level", "-0.5"], "level must be greater than 0"),
    (["--level", "0." + "9" * 400], "level must be at most 1 - 1e-100"),
    (["--level", "nan"], "level"),
])  # fmt: skip
@pytest.mark.parametrize("asked", [ASKED, ROWS], ids=["a domain", "all rows"])
def test_what_cannot_be_used_is_told_before_the_data_are_read(
    folder: Path, wrong: list[str], said: str, asked: Sequence[object]
) -> None:
    before = {*folder.iterdir()}
    written = ["-o", "out.csv", "--report", "r.html"]
    ended = within(folder, "nowhere.parquet", *asked, "--estimate", *wrong, *written)
    assert (ended.code, ended.out) == (1, "")
    assert is_one_sentence(ended.err), ended.err
    assert said in ended.err
    assert {*folder.iterdir()} == before


def test_a_file_that_exists_is_kept_unless_told_otherwise(folder: Path) -> None:
    (folder / "out.csv").write_text("an earlier release")
    ended = release(folder, "--estimate", "-o", "out.csv", "--report", "r.html")
    assert ended.code == 1
    assert is_one_sentence(ended.err)
    assert (folder / "out.csv").read_text() == "an earlier release"
    assert not (folder / "r.html").exists()
    assert release(folder, "--estimate", "-o", "out.csv", "--overwrite").code == 0
    assert (folder / "out.csv").read_text().startswith("rank,item,gap,measurement,estimate,")


def test_damaged_data_leave_nothing_written(folder: Path) -> None:
    (folder / "visits.csv").write_bytes(b"who,what\np1,flu\np2,\xff\n")
    ended = release(folder, "--estimate", "-o", "out.csv", "--report", "r.html")
    assert (ended.code, ended.out) == (1, "")
    assert is_one_sentence(ended.err)
    assert not {"out.csv", "r.html"} & {path.name for path in folder.iterdir()}
