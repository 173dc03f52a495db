"""`topgap audit`: what goes in, what comes out, and how it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.cli.command import TOPGAP, Ended, is_one_sentence, surroundings, topgap
from topgap import select
from topgap.auditing import attacks
from topgap.auditing.cases.default_cases import (
    QUICK_CASES,
    QUICK_FEW_ITEMS_CASES,
    QUICK_THRESHOLD_CASES,
)
from topgap.auditing.mechanisms import suite
from topgap.cli.app import app

pytestmark = pytest.mark.slow

# What the audit promises, with the failure that is asked for below; see `SMALL`.
CLEAN = 1e-10
SMALL = ("--releases", 1_000, "--quick", "--failure", "1e-10", "--processes", 1)
MORE = ("--releases", 4_000)  # what has no noise is found then

MINE = """
import json, pathlib
import time
from topgap import select

def release(answers, parameters):
    return select(parameters, answers)

def names(answers, parameters):
    return release(answers, parameters).indices

class Held:
    release = staticmethod(release)

def noiseless(answers, parameters):
    ranked = sorted(range(len(answers)), key=lambda i: -answers[i])
    return [(i, answers[i] - answers[j]) for i, j in zip(ranked, ranked[1:])][: parameters.k]

def failing(answers, parameters):
    raise LookupError("nobody\\nis here")

def sleeping(answers, parameters):
    pathlib.Path("asleep").touch()
    time.sleep(600)

def leaving(answers, parameters):
    raise SystemExit(0)

def gone(answers, parameters):
    raise GeneratorExit

number = 5

def nobody(answers, parameters):
    return []

def endless(answers, parameters):
    return [(i, float("nan")) for i in range(parameters.k)]

def gapless(answers, parameters):
    return select(parameters, answers, gaps=False)

def borrowing(answers, parameters):
    return json.loads("{")

def talking(answers, parameters):
    print("hello")
    return select(parameters, answers)
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A folder with functions to be audited."""
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "wrong.py").write_text("1 +\n")
    (tmp_path / "gone.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "empty.py").write_text("import nothing_of_this_name\n")
    return tmp_path


def audit(folder: Path, *arguments: object, **how: Any) -> Ended:
    """Run `topgap audit` there, as a user would."""
    return topgap("audit", *arguments, folder=folder, **how)


def called(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: object) -> Ended:
    """The same in this process, which takes a moment."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("mine", "wrong", "empty"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    result = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    return Ended(result.exit_code, result.stdout, result.stderr)


@pytest.mark.statistical(false_alarm=CLEAN)
def test_a_function_that_keeps_its_promise_is_clean(mine: Path) -> None:
    ended = audit(mine, "--function", "mine:release", *SMALL[:-2], "--processes", 2)
    assert ended.code == 0, ended
    lines = ended.out.splitlines()
    assert lines[0].startswith("audited ")
    assert lines[1].startswith("release ")
    assert lines[1].endswith("  nothing found")
    assert lines[-1] == "No violation found in 996 releases (this is not a proof)."
    assert ended.err == ""


@pytest.mark.statistical(false_alarm=2 * CLEAN)
def test_names_inside_names_and_no_gaps(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for asked in (["mine:Held.release"], ["mine:names", "--no-gaps"]):
        ended = called(monkeypatch, mine, "--function", *asked, *SMALL)
        assert ended.code == 0, ended


def test_a_function_that_breaks_its_promise_is_found(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = called(
        monkeypatch, mine, "--function", "mine:noiseless", *SMALL, *MORE, "-o", "audit.json"
    )
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "Written: audit.json\nε BROKEN: noiseless.\n"
    read = json.loads((mine / "audit.json").read_text())
    assert (read["as_expected"], read["failure"]) == (False, "1/10000000000")
    (found,) = read["mechanisms"]
    assert (found["law"], found["privacy"]) == ("violated", "violated")


def test_privacy_alone_may_be_asked_for(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = called(
        monkeypatch, mine, "--function", "mine:noiseless", "--privacy-only", *SMALL, *MORE,
        "--plot", "audit.svg", "--format", "table",
    )  # fmt: skip
    assert ended.code == 1
    assert "not looked at" in ended.out
    assert "noiseless: Privacy: with k = " in ended.out
    assert "Law:" not in ended.out
    assert ended.out.endswith("ε BROKEN: noiseless.\n")
    assert (mine / "audit.svg").read_text().startswith("<?xml")
    before = (mine / "audit.svg").read_text()
    ended = called(monkeypatch, mine, "--function", "mine:noiseless", "--plot", "audit.svg")
    assert (ended.code, (mine / "audit.svg").read_text()) == (1, before)
    assert "exists already and is kept" in ended.err


@pytest.mark.statistical(false_alarm=CLEAN)
def test_without_a_function_topgap_is_audited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from topgap.auditing.mechanisms.broken_mechanisms import BROKEN_MECHANISMS

    two = [each for each in BROKEN_MECHANISMS if each.name in ("half the noise", "a fixed seed")]
    monkeypatch.setattr(
        "topgap.auditing.mechanisms.broken_mechanisms.BROKEN_MECHANISMS", tuple(two)
    )
    monkeypatch.setattr("topgap.auditing.mechanisms.broken_laplace.BROKEN_LAPLACE", ())
    monkeypatch.setattr("topgap.auditing.mechanisms.broken_threshold.BROKEN_THRESHOLD", ())
    monkeypatch.setattr(suite, "_FEWEST", 300)
    monkeypatch.setattr(suite, "QUICK_CASES", QUICK_CASES[:1])
    monkeypatch.setattr(suite, "QUICK_FEW_ITEMS_CASES", QUICK_FEW_ITEMS_CASES[:1])
    monkeypatch.setattr(suite, "QUICK_THRESHOLD_CASES", QUICK_THRESHOLD_CASES[:1])
    ended = called(monkeypatch, tmp_path, *SMALL)
    assert ended.code == 0, ended
    assert ended.out.splitlines()[-1].endswith("2 of 2 broken on purpose were found.")
    # And with one that nobody can find:
    harmless = two[0]._replace(name="harmless", release=lambda a, p: select(p, a), gaps=True)
    monkeypatch.setattr(
        "topgap.auditing.mechanisms.broken_mechanisms.BROKEN_MECHANISMS", (harmless,)
    )
    monkeypatch.setattr("topgap.auditing.auditor._RELEASES_OF_BROKEN", 100)
    ended = called(monkeypatch, tmp_path, *SMALL)
    assert ended.code == 1
    assert ended.out.endswith("BROKEN BUT NOT FOUND: harmless.\n")


@pytest.fixture(scope="module")
def attacked() -> tuple[attacks.AttackResult, ...]:
    """What the attacks show; of 3,000 releases the weakest guesses of 200, all of them right."""
    return attacks.attack(3_000, CLEAN)


@pytest.mark.parametrize("name", ["attack.png", "attack.svg"])
@pytest.mark.statistical(false_alarm=CLEAN)
def test_attacks_have_a_table_and_a_plot(
    tmp_path: Path,
    name: str,
    attacked: tuple[attacks.AttackResult, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []

    def attack(*given: object) -> tuple[attacks.AttackResult, ...]:
        asked.extend(given)
        return attacked

    monkeypatch.setattr(attacks, "attack", attack)
    ended = called(monkeypatch, tmp_path, "--attack", "--failure", "1e-10", "--plot", name)
    assert ended.code == 0, ended
    assert asked[:2] == [20_000, Fraction(1, 10**10)]
    assert ended.out.splitlines()[0].split()[:4] == ["attack", "on", "ε", "releases"]
    assert "gives people away" in ended.out
    assert ended.out.endswith("All results are as expected.\n")
    assert (tmp_path / name).read_bytes()[:4] in (b"\x89PNG", b"<?xm")


@pytest.mark.statistical(false_alarm=CLEAN)
def test_attacks_that_go_otherwise_end_with_1(
    tmp_path: Path,
    attacked: tuple[attacks.AttackResult, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    otherwise = [replace(each, should_exceed=not each.should_exceed) for each in attacked]
    monkeypatch.setattr(attacks, "attack", lambda *_: otherwise)
    ended = called(monkeypatch, tmp_path, "--attack", "--quick", "-o", "out.json")
    assert ended.code == 1
    read = json.loads((tmp_path / "out.json").read_text())
    assert (read["format"], read["as_expected"]) == ("topgap.attack/1", False)
    assert len(read["attacks"]) == 9
    assert not any(each["as_expected"] for each in read["attacks"])
    assert "NOT AS EXPECTED" in called(monkeypatch, tmp_path, "--attack").out


@pytest.mark.parametrize(("asked", "said"), [
    (["--function", "mine:nothing"], "mine has no function nothing."),
    (["--function", "mine:number"], "mine.number is not a function."),
    (["--function", "mine:Held"], "Held is a class; name a function or an object."),
    (["--function", "mine.py:release"], "mine.py is not a module; write mine:release."),
    (["--function", "mine:nobody"], "The function returned 0 winners where k = 1; return "),
    (["--function", "mine:endless"], "The function returned a gap that is not finite."),
    (["--function", "mine:gapless"],
     "The function returned a release without gaps; give --no-gaps (gaps=False)."),
    (["--function", "mine:release.nothing"], "mine has no function release.nothing."),
    (["--function", "nowhere:release"], "nowhere cannot be imported: ModuleNotFoundError: "),
    (["--function", "wrong:release"], "wrong cannot be imported: SyntaxError: "),
    (["--function", "empty:release"], "empty cannot be imported: ModuleNotFoundError: "),
    (["--function", ".mine:release"], ".mine cannot be imported: TypeError: "),
    (["--function", "mine:failing"], r"The audited function raised LookupError: nobody\nis here "
     "(mine.py, line 20)."),
    (["--function", "mine:leaving"], "The audited function raised SystemExit: 0 (mine.py, "
     "line 27)."),
    (["--function", "mine:gone"], "The audited function raised GeneratorExit (mine.py, line 30)."),
    (["--function", "mine:borrowing"], "The audited function raised JSONDecodeError: "
     "Expecting property name enclosed in double quotes: line 1 column 2 (char 1) "
     "(mine.py, line 44)."),
    (["--function", "gone:release"], "gone cannot be imported: SystemExit: 0."),
    (["--function", "mine:names"], "The function did not return pairs; return a topgap.Release"),
    (["--function", "mine:release", "--no-gaps"], "The function returned a release with gaps"),
    (["-o", "no/where.json"], "no/where.json cannot be written: there is no directory"),
    (["-o", "mine.py", "--format", "json"], "mine.py exists already and is kept"),
    (["--function", "mine:release", "-o", "mine.py", "--format", "json", "--overwrite"],
     "mine.py is what is read; give another name."),
], ids=lambda each: " ".join(map(str, each)) if isinstance(each, list) else "")  # fmt: skip
def test_what_cannot_be_done_is_told_in_a_sentence(
    mine: Path, asked: list[object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = [] if {"--processes", "--attack"} & {*asked} else ["--processes", 1]
    ended = called(monkeypatch, mine, *asked, *quick)
    assert (ended.code, ended.out) == (1, ""), ended
    assert is_one_sentence(ended.err), ended.err
    assert ended.err.startswith(f"topgap: {said}")


@pytest.mark.parametrize(("wrong", "said"), [
    (["--function", "mine"], "--function must be module:name, not mine."),
    (["--function", ":release"], "--function must be module:name, not :release."),
    (["--function", "mine:"], "--function must be module:name, not mine:."),
    (["--failure", 1], "--failure must be a probability below 1, such as 1e-9."),
    (["--attack", "--failure", "x"], "--failure must be a number such as"),
    (["--releases", 10], "--releases must be at least 1000."),
    (["--attack", "--releases", 0], "--releases must be at least 2200."),
    (["--attack", "--releases", 1000], "--releases must be at least 2200."),
    (["--failure", "1e-300"], "--failure must be at least 1e-200; nothing can be shown with"),
    (["--processes", 0], "--processes must be at least 1."),
], ids=lambda each: " ".join(map(str, each)) if isinstance(each, list) else "")  # fmt: skip
def test_what_cannot_be_understood_is_a_usage_error(
    mine: Path, wrong: list[object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = called(monkeypatch, mine, *wrong)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


@pytest.mark.statistical(false_alarm=CLEAN)
@pytest.mark.parametrize("processes", [1, 2])
def test_what_a_function_prints_does_not_get_into_the_audit(mine: Path, processes: int) -> None:
    asked = ["--function", "mine:talking", "--format", "json", "--processes", processes]
    ended = audit(mine, *SMALL[:-2], *asked)
    assert ended.code == 0, ended
    assert json.loads(ended.out)["as_expected"]
    assert ended.err.count("hello") >= 1_000 - 4
    assert ended.err.replace("hello", "").strip() == ""


@pytest.mark.parametrize("wrong", [
    ["--nonsense"], ["mine:release"], ["--releases", "many"], ["--format", "csv"],
    ["-o", "audit.csv"], ["-o", "audit.xlsx"], ["--plot", "audit.gif"], ["--plot", "audit"],
    ["--privacy-only"], ["--no-gaps"], ["--attack", "--function", "mine:release"],
    ["--attack", "--no-gaps"], ["--attack", "--processes", 1],
    ["-o", "x.svg", "--format", "json", "--plot", "./x.svg"],
], ids=lambda wrong: " ".join(map(str, wrong)))  # fmt: skip
def test_what_contradicts_itself_is_a_usage_error(
    mine: Path, wrong: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = called(monkeypatch, mine, *wrong)
    assert (ended.code, ended.out) == (2, "")
    assert "audit [OPTIONS]" in ended.err
    assert "Traceback" not in ended.err


def test_a_missing_matplotlib_is_told_before_the_work(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for more in ([], ["--attack"]):
        ended = called(monkeypatch, mine, "--plot", "x.png", "--releases", 10**9, *more)
        assert ended.code == 1
        assert ended.err == "topgap: plot needs matplotlib: pip install matplotlib.\n"


@pytest.mark.deep
@pytest.mark.posix
@pytest.mark.parametrize("all_of_them", [True, False])
def test_an_interruption_ends_it_at_once_and_leaves_nothing(mine: Path, all_of_them: bool) -> None:
    """A terminal interrupts all processes of a command at once; others just the first."""
    asked = ["audit", "--function", "mine:sleeping", "-o", "out.json", "--processes", "2"]
    run = subprocess.Popen(
        [*TOPGAP, *asked, "--releases", "1000000000000"], cwd=mine, stderr=subprocess.PIPE,
        text=True, env=surroundings(), start_new_session=True,
    )  # fmt: skip
    while not (mine / "asleep").exists() and run.poll() is None:
        time.sleep(0.1)
    if all_of_them:
        os.killpg(run.pid, signal.SIGINT)
    else:
        run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert (run.returncode, err) == (130, "topgap: Interrupted.\n")
    assert not (mine / "out.json").exists()
    assert {each.suffix for each in mine.iterdir()} == {".py", ""}
    for _ in range(50):
        if not _anybody_left(run.pid):
            break
        time.sleep(0.1)
    assert not _anybody_left(run.pid)


def _anybody_left(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_help_teaches_by_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = called(monkeypatch, tmp_path, "--help")
    assert told.code == 0
    for said in ("topgap audit --quick", "--function mine:release", "Exit codes: 0", "--attack"):
        assert said in told.out
