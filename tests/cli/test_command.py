"""The command does what its help says: what goes in, and what comes out."""

import csv
import io
import json
import os
import re
import shlex
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from tests.cli.command import (
    ASKED,
    COUNTS,
    release,
    topgap,
)
from topgap import Ledger, Release, TopK, __version__
from topgap.counting import NOT_PROTECTED
from topgap.report import read_release

pytestmark = pytest.mark.slow

NEVER = 1e-20


@pytest.mark.statistical(false_alarm=NEVER)
def test_a_table_goes_to_standard_output_and_remarks_do_not(folder: Path) -> None:
    ended = release(folder)
    assert ended.code == 0
    head, first, second, note, below = ended.out.splitlines()
    assert head.split() == ["rank", "item", "ahead", "of", "the", "next", "by"]
    assert first.split()[:2] == ["1", "flu"]
    assert second.split()[:2] == ["2", "cold"]
    assert 900 < float(first.split()[2]) < 1_100
    assert note == "ε = 1, resolution 0.1, sensitivity 1, monotonic"
    assert below == "A gap below 5.991 leaves the order of the two uncertain."
    assert "half the noise" in ended.err
    assert release(folder, "--quiet").err == ""


@pytest.mark.statistical(false_alarm=NEVER)
def test_csv_json_and_parquet_hold_the_same(folder: Path) -> None:
    as_csv = [*csv.reader(io.StringIO(release(folder, "--format", "csv", "-q").out))]
    assert [row[:2] for row in as_csv] == [["rank", "item"], ["1", "flu"], ["2", "cold"]]
    assert as_csv[0][2] == "gap"
    as_json = Release.from_json(release(folder, "--format", "json", "-q").out)
    assert as_json.items == ("flu", "cold")
    assert as_json.parameters == TopK(2, 1, monotonic=True)
    release(folder, "--output", "out.parquet")
    table = pq.read_table(folder / "out.parquet")
    inside = Release.from_json(table.schema.metadata[b"topgap.release"])
    assert table["item"].to_pylist() == ["flu", "cold"] == [*inside.items]
    assert inside.gap_units is not None
    assert table["gap_units"].to_pylist() == inside.gap_units.tolist()


@pytest.mark.parametrize(("name", "start"), [
    ("out.csv", "rank,item,gap\n"), ("out.json", "{\n"), ("out.txt", "rank  item"), ("out", "rank"),
    ("out.CSV", "rank,item,gap\n"),
])  # fmt: skip
def test_the_name_of_the_output_says_its_form(folder: Path, name: str, start: str) -> None:
    ended = release(folder, "-o", name)
    assert (ended.code, ended.out) == (0, "")
    assert f"Written: {name}" in ended.err
    assert (folder / name).read_text().startswith(start)
    umask = os.umask(0)
    os.umask(umask)
    assert (folder / name).stat().st_mode & 0o777 == 0o666 & ~umask


@pytest.mark.statistical(false_alarm=NEVER)
def test_a_long_table_is_whole(folder: Path) -> None:
    ended = topgap(
        "release", "visits.csv", "--person", "who", "--item", "what", "--domain-range", "1:100",
        "-k", 99, "--epsilon", 1, folder=folder,
    )  # fmt: skip
    assert len(ended.out.splitlines()) == 104


def test_the_report_holds_the_release(folder: Path) -> None:
    titled = ["--title", "Diagnoses <2026>", "--format", "json", "-q"]
    ended = release(folder, "--report", "r.html", *titled)
    page = (folder / "r.html").read_text()
    assert read_release(page) == Release.from_json(ended.out)
    assert "Everyone counts once for each item." in page
    assert "<h1>Diagnoses &lt;2026&gt;</h1>" in page
    assert NOT_PROTECTED not in page


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_domain_from_the_data_says_what_is_not_protected(folder: Path, form: str) -> None:
    asked = ["--person", "who", "--item", "what", "--domain-from-data", "-k", 2, "--epsilon", 1]
    ended = release(folder, "--format", form, "--report", "r.html", "-q", asked=asked)
    assert ended.code == 0
    assert (ended.out + ended.err).splitlines().count(NOT_PROTECTED) == 1
    assert (NOT_PROTECTED in ended.out) == (form != "csv")
    assert ("domain_from_data" in ended.out) == (form != "table")
    assert NOT_PROTECTED in (folder / "r.html").read_text()


def test_neighbours_decide_about_the_noise(folder: Path) -> None:
    for neighbours, monotonic in (("add-remove", True), ("replace", False)):
        ended = release(folder, "--neighbours", neighbours, "--format", "json")
        assert Release.from_json(ended.out).parameters.monotonic is monotonic
        assert ("half the noise" in ended.err) is monotonic


def test_parameters_are_exact(folder: Path) -> None:
    asked = [*ASKED[:-1], "1/3"]
    ended = release(folder, "--resolution", "0.25", "--format", "json", asked=asked)
    assert Release.from_json(ended.out).parameters == TopK(
        2, "1/3", resolution="1/4", monotonic=True
    )


def sources(folder: Path) -> dict[str, tuple[bytes, list[object]]]:
    """By name: standard input, and what follows `topgap release`, up to the domain."""
    columns: list[object] = ["--person", "who", "--item", "what"]
    text = (folder / "visits.csv").read_text()
    (folder / "half-1.csv").write_text(text)
    (folder / "half-2.csv").write_text("what,who\n" + "flu,p1\n")
    events = "read_csv('visits.csv', header = true, all_varchar = true)"
    with duckdb.connect(str(folder / "v.duckdb")) as database:
        database.execute(
            f"create table v as from {events.replace('visits', str(folder / 'visits'))}"
        )
        database.execute(f"copy v to '{folder / 'v.parquet'}'")
        database.execute(f"copy v to '{folder / 'v.jsonl'}' (format json)")
    counts = "".join(f"{item}\t{count}\n" for item, count in COUNTS.items())
    (folder / "counts.tsv").write_text(f"what\tpeople\n{counts}mumps\t0\nTOTAL\t{10**9}\n")
    (folder / "plain.csv").write_text(counts.replace("\t", ","))
    baskets = [[item for item, count in COUNTS.items() if n < count] for n in range(3_000)]
    lines = "".join(" ".join(basket * 2) + "\n" for basket in baskets)
    (folder / "baskets.dat").write_text(lines)
    parquet, kind = (folder / "v.parquet").read_bytes(), "--source-format"
    return {
        "one file": (b"", ["visits.csv", *columns]),
        "standard input": (text.encode(), ["-", *columns]),
        "standard input, tabs": (text.replace(",", "\t").encode(), ["-", *columns, kind, "tsv"]),
        "standard input, parquet": (parquet, ["-", *columns, kind, "parquet"]),
        "standard input, baskets": (lines.encode(), ["-", kind, "fimi"]),
        "a pattern": (b"", ["half-*.csv", *columns]),
        "several files": (b"", ["half-1.csv", "half-2.csv", "half-1.csv", *columns]),
        "parquet": (b"", ["v.parquet", *columns]),
        "json lines": (b"", ["v.jsonl", *columns]),
        "duckdb": (b"", ["v.duckdb", *columns]),
        "a query": (b"", ["v.duckdb", "--query", "select who, what from v", *columns]),
        "baskets": (b"", ["baskets.dat"]),
        "ready counts": (b"", ["counts.tsv", "--item", "what", "--count", "people"]),
        "no header": (b"", ["plain.csv", "--item", "1", "--count", "2", "--no-header"]),
    }  # fmt: skip


@pytest.mark.statistical(false_alarm=NEVER)
def test_every_source_gives_the_release(folder: Path) -> None:
    for name, (given, arguments) in sources(folder).items():
        ended = topgap(
            "release", *arguments, "--domain", "domain.txt", "-k", 2, "--epsilon", 1,
            "--format", "json", folder=folder, given=given,
        )  # fmt: skip
        assert ended.code == 0, (name, ended.err)
        made = Release.from_json(ended.out)
        assert made.items == ("flu", "cold"), name
        assert all(900 < gap < 1_100 for gap in made.gaps or ()), name


@pytest.mark.statistical(false_alarm=NEVER)
def test_the_domain_may_be_a_column_or_a_range(folder: Path) -> None:
    (folder / "codes.csv").write_text("code;meaning\nflu;x\ncold;y\ncough;z\n")
    asked = [*ASKED[:4], "--domain", "codes.csv", "--domain-column", "code", *ASKED[6:]]
    assert Release.from_json(release(folder, "--format", "json", asked=asked).out).items == (
        "flu",
        "cold",
    )
    (folder / "visits.csv").write_text("who,what\n" + "".join(f"p{n},-3\n" for n in range(1000)))
    asked = [*ASKED[:4], "--domain-range", "-5:5", "-k", 1, "--epsilon", 1]
    assert Release.from_json(release(folder, "--format", "json", asked=asked).out).items == (-3,)


def test_the_version_and_the_help(folder: Path) -> None:
    assert topgap("--version", folder=folder) == (0, f"topgap {__version__}\n", "")
    for arguments in (["--help"], ["release", "--help"], ["release", "-h"], ["demo", "--help"]):
        ended = topgap(*arguments, folder=folder)
        assert (ended.code, ended.err) == (0, "")
        assert "Usage: topgap" in ended.out


@pytest.mark.deep
def test_the_examples_of_the_help_can_be_typed(folder: Path) -> None:
    # They name files that are not here, and must fail for that reason alone.
    text = topgap("release", "--help", folder=folder).out
    lines = [line.strip() for line in text.partition("Examples")[2].splitlines()]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    examples = [line for line in joined.splitlines() if "topgap release" in line]
    assert len(examples) == 18
    Ledger(folder / "budget.db").add_dataset("visits", 3)
    for example in examples:
        arguments = shlex.split(example.partition("topgap release")[2])
        ended = topgap("release", *arguments, folder=folder)
        if arguments[0] == "-":  # which is empty here, and no rows are released like any others
            assert ended.code == 0, example
            continue
        assert ended.code == 1, example
        assert "No such file" in ended.err, ended.err


def test_json_of_the_command_is_json(folder: Path) -> None:
    assert json.loads(release(folder, "--format", "json").out)["format"] == "topgap.release/1"
