"""The command among terminals, signals, pipes, and streams that are full or closed."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.cli.command import ASKED, TOPGAP, is_one_sentence, shell, surroundings, topgap

pytestmark = [
    pytest.mark.linux(
        reason="runs the command on a terminal, sends it signals, and fills /dev/full"
    ),
    pytest.mark.slow,
]


def on_a_terminal(
    arguments: list[object], folder: Path, typed: bytes | None = None, **how: Any
) -> tuple[int, str]:
    """Run the command with standard output and error on a terminal, and return what it shows.

    If something is typed, standard input is the terminal, too.
    """
    ours, its = pty.openpty()
    command = [*TOPGAP, *map(str, arguments)]
    if typed is not None:
        os.write(ours, typed)
        how["stdin"] = its
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
    "create table v as select 'p' || (r % 3000017) as who, r % 91 as what from range(15000000) t(r)"
)


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database whose events take seconds to count."""
    path = tmp_path_factory.mktemp("slow") / "slow.duckdb"
    with duckdb.connect(str(path)) as database:
        database.execute(SLOW)
    return path


@pytest.mark.deep
def test_long_counting_shows_progress_on_a_terminal_and_only_there(
    folder: Path, slow: Path
) -> None:
    os.link(slow, folder / slow.name)
    asked = ["release", "slow.duckdb", *ASKED[:4], "--domain-range", "0:90", *ASKED[6:]]
    code, shown = on_a_terminal(asked, folder)
    assert code == 0
    assert re.search(r"counting slow\.duckdb.* \d+%", shown)
    elsewhere = topgap(*asked, folder=folder)
    assert "half the noise" in elsewhere.err
    assert not re.search(r"counting|\d%(?!\. A named item)", elsewhere.err)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_ends_it_at_once_and_leaves_nothing(
    folder: Path, slow: Path, number: signal.Signals, code: int
) -> None:
    os.link(slow, folder / slow.name)
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


@pytest.mark.deep
def test_nobody_needs_to_listen_or_to_know_unicode(folder: Path) -> None:
    silent = shell(f"{RELEASE} 2>&-", folder)
    assert (silent.code, len(silent.out.splitlines()), silent.err) == (0, 5, "")
    failing = shell(f"{RELEASE.replace('-k 2', '-k 0')} 2>&-", folder)
    assert failing == (1, "", "")
    for command in ("topgap release --help", "topgap demo --baskets 50", RELEASE):
        ended = shell(command, folder, PYTHONIOENCODING="ascii")
        assert ended.code == 0
        assert "Traceback" not in ended.err


def test_a_defect_is_told_without_its_text(folder: Path) -> None:
    code = (
        "import topgap.cli.release.run as r, topgap.cli.main as c, sys\n"
        "def broken(request): raise ValueError('Zaphod')\n"
        "r.run_release = broken\n"
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
        "from topgap.cli.main import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert "pip install" in run.stderr
    assert "Traceback" not in run.stderr
