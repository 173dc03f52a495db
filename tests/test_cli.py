"""The command does what its help says: what goes in, what comes out, and how it ends."""

import csv
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from checking.command import TOPGAP, Ended, is_one_sentence, surroundings, topgap
from topgap import Release, TopK, __version__
from topgap.counting import NOT_PROTECTED
from topgap.report import read_release

# So far apart that noise of mean at most 4 changes the order with probability below 1e-50.
COUNTS = {"flu": 3_000, "cold": 2_000, "cough": 1_000, "gout": 3}
ASKED = ("--person", "who", "--item", "what", "--domain", "domain.txt", "-k", 2, "--epsilon", 1)
NEVER = 1e-20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with events, as a CSV file, and the domain."""
    rows = [f"p{n},{item}\n" for item, count in COUNTS.items() for n in range(count)]
    (tmp_path / "visits.csv").write_text("who,what\n" + "".join(rows * 2))
    (tmp_path / "domain.txt").write_text("\ufeffgout\nflu\n\n cough \ncold\nmumps\n")
    return tmp_path


def release(folder: Path, *arguments: object, asked: Sequence[object] = ASKED, **how: Any) -> Ended:
    return topgap("release", "visits.csv", *asked, *arguments, folder=folder, **how)


@pytest.mark.statistical(false_alarm=NEVER)
def test_a_table_goes_to_standard_output_and_remarks_do_not(folder: Path) -> None:
    ended = release(folder)
    assert ended.code == 0
    head, first, second, note = ended.out.splitlines()
    assert head.split() == ["rank", "item", "ahead", "of", "the", "next", "by"]
    assert first.split()[:2] == ["1", "flu"]
    assert second.split()[:2] == ["2", "cold"]
    assert 900 < float(first.split()[2]) < 1_100
    assert note == "ε = 1, resolution 1/10, sensitivity 1, monotonic"
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
    assert len(ended.out.splitlines()) == 101


def test_the_report_holds_the_release(folder: Path) -> None:
    titled = ["--title", "Diagnoses <2026>", "--format", "json", "-q"]
    ended = release(folder, "--report", "r.html", *titled)
    page = (folder / "r.html").read_text()
    assert read_release(page) == Release.from_json(ended.out)
    assert "<h1>Diagnoses &lt;2026&gt;</h1>" in page
    assert NOT_PROTECTED not in page


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_domain_from_the_data_says_what_is_not_protected(folder: Path, form: str) -> None:
    asked = ["--person", "who", "--item", "what", "--domain-from-data", "-k", 2, "--epsilon", 1]
    ended = release(folder, "--format", form, "--report", "r.html", "-q", asked=asked)
    assert ended.code == 0
    assert (ended.out + ended.err).splitlines().count(NOT_PROTECTED) == 1
    assert (NOT_PROTECTED in ended.out) == (form == "table")
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


USAGE: list[list[object]] = [
    ["--nonsense"], ["-k", "many"], ["--domain-range", "1:9"], ["--domain-from-data"],
    ["--domain-column", "x", "--neighbours", "some"], ["--format", "xml"], ["--count", "n"],
    ["--sensitivity", "2"], ["--output", "same", "--report", "same"], ["--title", "x"],
]  # fmt: skip


@pytest.mark.parametrize("wrong", USAGE, ids=lambda wrong: " ".join(map(str, wrong)))
def test_what_contradicts_itself_is_a_usage_error(folder: Path, wrong: list[object]) -> None:
    ended = release(folder, *wrong)
    assert ended.code == 2
    assert ended.out == ""
    assert "Traceback" not in ended.err
    assert "Usage: topgap release" in ended.err


@pytest.mark.parametrize("missing", ["who", "what", "domain.txt", "2", "1"])
def test_what_is_missing_is_a_usage_error(folder: Path, missing: str) -> None:
    at = [*map(str, ASKED)].index(missing)
    ended = release(folder, asked=[*ASKED[: at - 1], *ASKED[at + 1 :]])
    assert ended.code == 2
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("arguments", [
    ["release", "baskets.dat", *ASKED], ["release", "-", "visits.csv", *ASKED], ["released"],
    ["release", "visits.csv", *ASKED[:4], "--domain-range", "1-9", *ASKED[6:]],
    ["release", "visits.csv", *ASKED[:4], "--domain-column", "x", "--domain-from-data", *ASKED[6:]],
])  # fmt: skip
def test_other_commands_that_cannot_be_understood(folder: Path, arguments: list[object]) -> None:
    ended = topgap(*arguments, folder=folder)
    assert ended.code == 2
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(("asked", "said"), [
    ([*ASKED[:-1], "0"], "epsilon"),
    ([*ASKED[:-1], "nan"], "epsilon"),
    ([*ASKED[:-1], "a lot"], "epsilon"),
    ([*ASKED[:7], "0", "--epsilon", "1"], "k "),
    ([*ASKED[:7], "5", "--epsilon", "1"], "at least 6 items"),
    ([*ASKED, "--resolution", "2/3"], "resolution"),
    ([*ASKED, "--memory", "lots"], "memory"),
    ([*ASKED, "--table", "t"], "table"),
    ([*ASKED[:5], "nowhere.txt", *ASKED[6:]], "nowhere.txt"),
    ([*ASKED[:5], "visits.csv", *ASKED[6:]], "column"),
    (["--person", "whom", *ASKED[2:]], "'whom'"),
])  # fmt: skip
def test_what_cannot_be_used_is_told_in_a_sentence(
    folder: Path, asked: list[object], said: str
) -> None:
    ended = release(folder, "-o", "out.csv", asked=asked)
    assert (ended.code, ended.out) == (1, "")
    assert is_one_sentence(ended.err), ended.err
    assert said in ended.err
    assert not (folder / "out.csv").exists()


def test_a_file_that_exists_is_kept_unless_told_otherwise(folder: Path) -> None:
    (folder / "out.csv").write_text("an earlier release")
    ended = release(folder, "-o", "out.csv", "--report", "r.html")
    assert ended.code == 1
    assert is_one_sentence(ended.err)
    assert (folder / "out.csv").read_text() == "an earlier release"
    assert not (folder / "r.html").exists()
    assert release(folder, "-o", "out.csv", "--overwrite").code == 0
    assert (folder / "out.csv").read_text().startswith("rank,item,gap")


@pytest.mark.parametrize("target", ["visits.csv", "domain.txt", ".", "no/such/folder.csv"])
def test_what_is_read_is_never_overwritten(folder: Path, target: str) -> None:
    before = (folder / "visits.csv").read_bytes()
    ended = release(folder, "-o", target, "--overwrite")
    assert ended.code == 1
    assert is_one_sentence(ended.err)
    assert (folder / "visits.csv").read_bytes() == before


def test_an_empty_source_is_counted_if_it_is_allowed(folder: Path) -> None:
    (folder / "visits.csv").write_text("who,what\n")
    assert release(folder).code == 1
    ended = release(folder, "--allow-empty")
    assert (ended.code, len(ended.out.splitlines())) == (0, 4)


def test_the_version_and_the_help(folder: Path) -> None:
    assert topgap("--version", folder=folder) == (0, f"topgap {__version__}\n", "")
    for arguments in (["--help"], ["release", "--help"], ["release", "-h"], ["demo", "--help"]):
        ended = topgap(*arguments, folder=folder)
        assert (ended.code, ended.err) == (0, "")
        assert "Usage: topgap" in ended.out


def test_the_examples_of_the_help_can_be_typed(folder: Path) -> None:
    # They name files that are not here, and must fail for that reason alone.
    text = topgap("release", "--help", folder=folder).out
    lines = [line.strip() for line in text.partition("Examples")[2].splitlines()]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    examples = [line for line in joined.splitlines() if "topgap release" in line]
    assert len(examples) == 5
    for example in examples:
        arguments = example.partition("topgap release")[2].split()
        ended = topgap("release", *arguments, folder=folder)
        assert ended.code == 1, example
        assert re.search("No such file|is empty", ended.err), ended.err


def on_a_terminal(arguments: list[object], folder: Path, **how: Any) -> tuple[int, str]:
    """Run the command with standard output and error on a terminal, and return what it shows."""
    ours, its = pty.openpty()
    command = [*TOPGAP, *map(str, arguments)]
    run = subprocess.Popen(
        command, cwd=folder, stdout=its, stderr=its, env=surroundings({"TERM": "xterm"}), **how
    )
    os.close(its)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return run.wait(), shown.decode()


def test_a_terminal_gets_a_chart(folder: Path) -> None:
    code, shown = on_a_terminal(["release", "visits.csv", *ASKED], folder)
    assert code == 0
    assert "█" in shown
    code, shown = on_a_terminal(["release", "visits.csv", *ASKED, "--format", "parquet"], folder)
    assert code == 2
    assert "not for a terminal" in shown


SLOW = (
    "create table v as select 'p' || (r % 3000017) as who, r % 91 as what from range(30000000) t(r)"
)


def test_long_counting_shows_progress_on_a_terminal_and_only_there(folder: Path) -> None:
    with duckdb.connect(str(folder / "slow.duckdb")) as database:
        database.execute(SLOW)
    asked = ["release", "slow.duckdb", *ASKED[:4], "--domain-range", "0:90", *ASKED[6:]]
    code, shown = on_a_terminal(asked, folder)
    assert code == 0
    assert re.search(r"counting slow\.duckdb.* \d+%", shown)
    assert topgap(*asked, "-q", folder=folder).err == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_ends_it_at_once_and_leaves_nothing(
    folder: Path, number: signal.Signals, code: int
) -> None:
    with duckdb.connect(str(folder / "slow.duckdb")) as database:
        database.execute(SLOW)
    (folder / "tmp").mkdir()
    asked = [
        "release",
        "slow.duckdb",
        *ASKED[:4],
        "--domain-range",
        "0:90",
        *ASKED[6:],
        "-o",
        "out",
    ]
    run = subprocess.Popen(
        [*TOPGAP, *map(str, asked)], cwd=folder, stderr=subprocess.PIPE, text=True,
        env=surroundings({"TMPDIR": str(folder / "tmp")}),
    )  # fmt: skip
    while not any((folder / "tmp").iterdir()):
        time.sleep(0.01)
    time.sleep(0.3)
    run.send_signal(number)
    _, err = run.communicate(timeout=60)
    assert run.returncode == code
    assert "Traceback" not in err
    assert [*(folder / "tmp").iterdir()] == []
    assert not (folder / "out").exists()


def test_a_reader_who_leaves_early_is_no_error_to_talk_about(folder: Path) -> None:
    command = " ".join([*TOPGAP, "release", "visits.csv", *map(str, ASKED), "-q", "| true"])
    run = subprocess.run(
        ["/bin/sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.stderr == ""


def test_a_defect_is_told_without_its_text(folder: Path) -> None:
    code = (
        "import topgap.cli.request as r, topgap.cli as c, sys\n"
        "def broken(request): raise ValueError('Zaphod')\n"
        "r.release = broken\n"
        f"sys.argv = ['topgap', 'release', 'visits.csv', *{[*map(str, ASKED)]}]\n"
        "c.main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert is_one_sentence(run.stderr)
    assert "ValueError" in run.stderr
    assert "Zaphod" not in run.stderr


@pytest.mark.parametrize("library", ["typer", "duckdb"])
def test_a_library_that_is_missing_is_named(folder: Path, library: str) -> None:
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        f"sys.argv = ['topgap', 'release', 'visits.csv', *{[*map(str, ASKED)]}]\n"
        "from topgap.cli import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert "pip install" in run.stderr
    assert "Traceback" not in run.stderr


def test_json_of_the_command_is_json(folder: Path) -> None:
    assert json.loads(release(folder, "--format", "json").out)["format"] == "topgap.release/1"


def shell(command: str, folder: Path, **environment: str) -> Ended:
    run = subprocess.run(
        ["/bin/sh", "-c", command.replace("topgap", " ".join(TOPGAP), 1)],
        cwd=folder, capture_output=True, check=False, env=surroundings(environment),
    )  # fmt: skip
    return Ended(run.returncode, run.stdout.decode(), run.stderr.decode())


RELEASE = "topgap release visits.csv " + " ".join(map(str, ASKED))


@pytest.mark.parametrize(("command", "said"), [
    ("topgap --version > /dev/full", "No space left"),
    ("topgap --help > /dev/full", "No space left"),
    ("topgap demo --baskets 50 > /dev/full", "No space left"),
    (f"{RELEASE} -q > /dev/full", "No space left"),
    (f"{RELEASE} -q >&-", "output is closed"),
    (f"{RELEASE.replace('visits.csv', '-')} -q <&-", "input is closed"),
    (f"{RELEASE} -q -o {'a' * 300}", "File name too long"),
    (f"{RELEASE} -q --query \"$(printf 'select \\377')\"", "not valid Unicode"),
])  # fmt: skip
def test_odd_conditions_are_told_in_a_sentence(folder: Path, command: str, said: str) -> None:
    ended = shell(command, folder)
    assert (ended.code, ended.out) == (1, "")
    assert is_one_sentence(ended.err), ended.err
    assert said in ended.err


def test_nobody_needs_to_listen_or_to_know_unicode(folder: Path) -> None:
    silent = shell(f"{RELEASE} 2>&-", folder)
    assert (silent.code, len(silent.out.splitlines()), silent.err) == (0, 4, "")
    failing = shell(f"{RELEASE.replace('-k 2', '-k 0')} 2>&-", folder)
    assert failing == (1, "", "")
    for command in ("topgap release --help", "topgap demo --baskets 50", RELEASE):
        ended = shell(command, folder, PYTHONIOENCODING="ascii")
        assert ended.code == 0
        assert "Traceback" not in ended.err


def test_a_source_named_by_a_pattern_is_never_overwritten(folder: Path) -> None:
    before = (folder / "visits.csv").read_bytes()
    asked = " ".join(map(str, ASKED))
    ended = shell(f"topgap release 'vis*.csv' {asked} -o visits.csv --overwrite", folder)
    assert ended.code == 1
    assert "is what is read" in ended.err
    assert (folder / "visits.csv").read_bytes() == before


def test_two_names_of_one_output_are_a_usage_error(folder: Path) -> None:
    (folder / "sub").mkdir()
    ended = release(folder, "-o", "sub/../x.json", "--report", "x.json")
    assert ended.code == 2


def test_files_of_baskets_and_tables_do_not_mix(folder: Path) -> None:
    (folder / "b.dat").write_text("flu\n")
    ends = ["--domain", "domain.txt", "-k", 2, "--epsilon", 1]
    assert topgap("release", "b.dat", "visits.csv", *ends, folder=folder).code == 2
    assert topgap("release", "visits.csv", "b.dat", *ends, folder=folder).code == 2
    assert topgap("release", "b.dat", *ends, "--no-header", folder=folder).code == 2
    assert topgap("release", "b.dat", *ends, "--table", "t", folder=folder).code == 2


def test_how_many_items_there_are_in_the_data_is_not_told(folder: Path) -> None:
    asked = ["--person", "who", "--item", "what", "--domain-from-data", "-k", 7, "--epsilon", 1]
    ended = release(folder, asked=asked)
    assert ended.code == 1
    assert "too few different items for k = 7" in ended.err
    assert "4" not in ended.err


def test_an_empty_sensitivity_is_not_one(folder: Path) -> None:
    (folder / "counts.csv").write_text("what,n\nflu,5\n")
    asked = ["--item", "what", "--count", "n", *ASKED[4:], "--sensitivity", ""]
    ended = topgap("release", "counts.csv", *asked, folder=folder)
    assert ended.code == 1
    assert is_one_sentence(ended.err)
