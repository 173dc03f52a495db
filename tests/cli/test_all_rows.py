"""`topgap release --all-rows`: every row of ready counts is an item of the public list."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import chdir
from datetime import date
from decimal import Decimal
from fcntl import ioctl
from pathlib import Path
from termios import FIONREAD
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tests.cli import command, test_terminal
from tests.cli.command import TOPGAP, Ended, is_one_sentence, surroundings, topgap
from tests.cli.test_terminal import on_a_terminal
from tests.streams.sample_streams import NEVER, TABLE, file_of, halves, parquet, stream_of, written
from topgap import Release, TopK
from topgap.cli.app import app
from topgap.counting import NOT_PROTECTED
from topgap.report import read_release

pytestmark = [
    pytest.mark.posix(reason="runs the command on a terminal of its own, and sends it signals"),
    pytest.mark.slow,
]

ASKED = ("--item", "what", "--count", "people", "--all-rows", "-k", 2, "--epsilon", 100)
ASSERTED = "Every row is an item of the domain (--all-rows)"


def all_rows(folder: Path, *arguments: object, **how: Any) -> Ended:
    return topgap("release", *arguments, *ASKED, folder=folder, **how)


def within(folder: Path, *arguments: object) -> Ended:
    """The same without a process of its own, where that would show no more."""
    with chdir(folder):
        ended = CliRunner().invoke(app, ["release", *map(str, arguments)])
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


@pytest.mark.parametrize("name", ["parquet", "files", "pattern", "directory", "arrow", "stream"])
@pytest.mark.statistical(false_alarm=NEVER)
def test_every_source_gives_the_release(name: str, tmp_path: Path) -> None:
    given = b""
    if name == "parquet":
        sources = [parquet(tmp_path)]
    elif name == "arrow":
        sources = [written(tmp_path / "counts.arrow", file_of(TABLE))]
    elif name == "stream":
        sources, given = [Path("-")], stream_of(TABLE)
    else:
        files = halves(tmp_path / "counts")
        pattern = [files[0].with_stem("half-*")]
        sources = {"files": files, "pattern": pattern, "directory": [tmp_path / "counts"]}[name]
    if name in {"parquet", "stream"}:
        ended = all_rows(tmp_path, *sources, "--format", "json", given=given)
    else:
        ended = within(tmp_path, *sources, *ASKED, "--format", "json")
    assert ended.code == 0, ended.err
    made = Release.from_json(ended.out)
    assert made.items == ("flu", "cold")
    assert made.parameters == TopK(2, 100, monotonic=True)
    assert all(39 < gap < 41 for gap in made.gaps or ())


def test_what_was_asserted_is_said_and_nothing_is_left_unprotected(tmp_path: Path) -> None:
    path = parquet(tmp_path)
    ended = all_rows(tmp_path, path, "--report", "r.html")
    assert ended.err.count(ASSERTED) == 1
    assert "half the noise" in ended.err
    page = (tmp_path / "r.html").read_text()
    assert read_release(page).items == ("flu", "cold")
    assert "The counts were made beforehand." in page
    assert NOT_PROTECTED not in page + ended.out + ended.err
    assert all_rows(tmp_path, path, "-q").err == ""


def test_parameters_are_passed_on(tmp_path: Path) -> None:
    path = parquet(tmp_path)
    asked = ["--resolution", "1/4", "--sensitivity", "3/2", "--neighbours", "replace"]
    ended = within(tmp_path, path, *asked, *ASKED, "--format", "json")
    assert Release.from_json(ended.out).parameters == TopK(
        2, 100, resolution="1/4", sensitivity="3/2", monotonic=False
    )


@pytest.mark.parametrize(("items", "shown"), [
    ([7, 1, 3, 5], [1, 5]),
    ([Decimal("7.50"), Decimal("1.50"), Decimal("3.00"), Decimal("5.00")], ["1.5", "5"]),
    ([Decimal(f"1234567890123456789012345678901234.567{n}") for n in (1, 8, 2, 9)],
     [f"1234567890123456789012345678901234.567{n}" for n in (8, 9)]),
    ([date(2026, 1, day) for day in (4, 1, 3, 2)], ["2026-01-01", "2026-01-02"]),
])  # fmt: skip
@pytest.mark.statistical(false_alarm=NEVER)
def test_items_that_are_no_text_can_be_written(
    items: list[Any], shown: list[Any], tmp_path: Path
) -> None:
    table = pa.table({"what": items, "people": TABLE["people"]})
    path = written(tmp_path / "a.arrow", file_of(table))
    ended = within(tmp_path, path, *ASKED, "-o", "out.json", "--report", "r.html")
    assert ended.code == 0, ended.err
    assert [*Release.from_json((tmp_path / "out.json").read_text()).items] == shown


@pytest.mark.parametrize("wrong", [
    ["counts.csv"], ["counts.parquet", "counts.csv"], ["baskets.dat"], ["a.duckdb"], ["a.jsonl"],
    ["-", "--source-format", "csv"], ["-", "counts.parquet"], ["counts.parquet", "--table", "t"],
    ["counts.parquet", "--query", "select 1"], ["counts.parquet", "--no-header"],
    ["counts.parquet", "--delimiter", ";"],
    ["counts.parquet", "--memory", "1GB"], ["counts.parquet", "--domain", "domain.txt"],
    ["counts.parquet", "--domain-range", "1:9"], ["counts.parquet", "--domain-from-data"],
    ["counts.parquet", "--person", "who"],
], ids=" ".join)  # fmt: skip
def test_what_contradicts_itself_is_a_usage_error(wrong: list[str]) -> None:
    ended = CliRunner().invoke(app, ["release", *wrong, *map(str, ASKED)])
    assert ended.exit_code == 2
    assert ended.stdout == ""
    assert "Usage: topgap release" in ended.stderr or "Usage: release" in ended.stderr


def test_it_is_for_counts_alone_and_arrow_files_are_for_it_alone(tmp_path: Path) -> None:
    parquet(tmp_path)
    events = ["--person", "people", "--item", "what", "-k", 2, "--epsilon", 1]
    ended = within(tmp_path, "counts.parquet", *events, "--all-rows")
    assert ended.code == 2
    assert "precomputed counts" in ended.err
    for arrow in (["counts.arrow"], ["counts.parquet", "--source-format", "arrow"]):
        ended = within(tmp_path, *arrow, *events, "--domain-range", "1:9")
        assert ended.code == 2
        assert "only for --all-rows" in ended.err


WRONG: dict[str, tuple[list[object], bytes, str]] = {
    "no file": (["none.parquet"], b"", "No such file"),
    "no column": (["counts.parquet", "--count", "n"], b"", "no column 'n'; it has 'what'"),
    "too few rows": (["counts.parquet", "-k", "4"], b"", "at least 5 answers"),
    "no epsilon": (["none.parquet", "--epsilon", "0"], b"", "epsilon"),
    "not Arrow": (["-"], b"what,people\nflu,3\n", "not an Arrow stream"),
    "nothing": (["-"], b"", "not an Arrow stream"),
    "cut short": (["-"], stream_of(TABLE)[:-60], "damaged"),
    "damaged": (["cut.parquet"], b"", "damaged"),
    "what is read": (
        ["counts.parquet", "-o", "counts.parquet", "--overwrite"], b"", "is what is read"
    ),
    "in what is read": ([".", "-o", "counts.parquet", "--overwrite"], b"", "is what is read"),
    "a missing count": (["missing.parquet"], b"", "missing entries"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_used_is_told_in_a_sentence(name: str, tmp_path: Path) -> None:
    content = parquet(tmp_path).read_bytes()
    written(tmp_path / "cut.parquet", content[:-20])
    pq.write_table(
        pa.table({"what": ["a", "b", "c"], "people": [1, None, 3]}), tmp_path / "missing.parquet"
    )
    arguments, given, said = WRONG[name]
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    asked = [*ASKED, "-o", "out.json", *arguments]  # the later of two options counts
    if "-" in arguments:
        ended = topgap("release", *asked, folder=tmp_path, given=given)
    else:
        ended = within(tmp_path, *asked)
    assert (ended.code, ended.out) == (1, "")
    assert is_one_sentence(ended.err), ended.err
    assert said in ended.err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_writes_nothing(number: signal.Signals, code: int, tmp_path: Path) -> None:
    asked = [*TOPGAP, "release", "-", *map(str, ASKED), "-o", "out.json"]
    run = subprocess.Popen(
        asked, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=surroundings()
    )
    assert run.stdin is not None
    run.stdin.write(stream_of(TABLE)[:-8])  # all rows, but not yet the end
    run.stdin.flush()
    until = time.monotonic() + 20
    while not is_waiting(run.stdin) and time.monotonic() < until:
        time.sleep(0.05)
    assert run.poll() is None
    run.send_signal(number)
    _, err = run.communicate(timeout=30)
    assert run.returncode == code
    assert b"Traceback" not in err
    assert [*tmp_path.iterdir()] == []


def is_waiting(pipe: IO[bytes]) -> bool:
    """Whether all that was sent has been read, and half a second has passed since."""
    unread = int.from_bytes(ioctl(pipe, FIONREAD, bytes(4)), sys.byteorder)
    time.sleep(0.5 if unread == 0 else 0)
    return unread == 0


# The command with no patience: every reading is a long one, and every step is shown.
IMPATIENT = """
from topgap.cli import progress
from topgap.cli.main import main
from topgap.selection import arrow_columns
from topgap.streams import rows
progress._AFTER = rows._REPORT_INTERVAL = 0
arrow_columns.ROWS = 1
def told(bar, *what, show=progress.Bar.__call__):
    show(bar, *what)
    if bar._bar is not None:
        bar._bar.refresh()
progress.Bar.__call__ = told
main()
"""


@pytest.mark.deep
def test_a_long_reading_shows_progress_on_a_terminal_and_only_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (command, test_terminal):
        monkeypatch.setattr(module, "TOPGAP", (sys.executable, "-c", IMPATIENT))
    path = parquet(tmp_path)
    code, shown = on_a_terminal(["release", path.name, *ASKED], tmp_path)
    assert code == 0
    for share in (25, 50, 75):
        assert re.search(rf"reading counts\.parquet.* {share}%", shown)
    code, shown = on_a_terminal(["release", path.name, *ASKED, "-q"], tmp_path)
    assert code == 0
    assert "reading" not in shown
    elsewhere = all_rows(tmp_path, path.name)
    assert ASSERTED in elsewhere.err
    assert not re.search(r"reading|\d%", elsewhere.err)


def test_without_pyarrow_it_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        f"sys.argv = ['topgap', 'release', 'x.parquet', *{[*map(str, ASKED)]}]\n"
        "from topgap.cli.main import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ},
    )  # fmt: skip
    assert run.returncode == 1
    assert "pip install pyarrow" in run.stderr
    assert "Traceback" not in run.stderr
