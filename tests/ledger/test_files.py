"""The file of a ledger: missing, damaged, not ours, in use, read-only, older or newer."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.checking.mutants import Mutant
from tests.checking.separate_process import with_tests
from tests.ledger.sample_ledgers import (
    VERSION_1,
    VERSION_2,
    Clock,
    as_nobody,
    content,
    filled,
    is_found,
    put_in_place,
    quick_folder,
    refused,
    run,
    turn_to_version_4,
)
from topgap import LedgerError, ParameterError, Release
from topgap.ledger import Ledger, entry_log
from topgap.ledger.storage import database, exclusive_access, schema

pytestmark = pytest.mark.linux(reason="becomes another user, and has names that are bytes")

ENTRIES = 8
LAST = "8:a4a4e44324ae714780c6399a000391d712616cad3689b9abb4f4b9e7c34ba3c3"
LAST_OF_2 = "11:dcc2d156a5dd0964ac49576bf75db09f7421b9eb8519e816a0b9894d27cb8153"


@pytest.fixture
def folder() -> Iterator[Path]:
    with quick_folder() as made:
        yield made


@pytest.fixture
def path(folder: Path) -> Path:
    """A ledger as it was written."""
    filled(folder / "budget.db")
    return folder / "budget.db"


def calls(path: Path, **how: Any) -> dict[str, Callable[[], object]]:
    """All that can be asked of a ledger."""
    ledger = Ledger(path, **how)
    return {
        "add_dataset": lambda: ledger.add_dataset("more", 1),
        "charge": lambda: ledger.charge("visits", "1/100", mechanism="m"),
        "check": lambda: ledger.check("visits", "1/100"),
        "record": lambda: ledger.record(5, 1),
        "budget": lambda: ledger.budget("visits"),
        "budgets": ledger.budgets,
        "history": ledger.history,
        "verify": ledger.verify,
    }


def all_refuse(path: Path, said: str, but: tuple[str, ...] = ()) -> None:
    for name, call in calls(path, wait=0).items():
        if name not in but:
            with refused(said):
                call()


# --- What is no ledger


def test_a_ledger_that_is_missing_is_not_made_by_looking(folder: Path) -> None:
    all_refuse(folder / "none.db", "There is no ledger .*none.db; create one", but=("add_dataset",))
    assert [*folder.iterdir()] == []
    Ledger(folder / "none.db").add_dataset("visits", 1)
    assert Ledger(folder / "none.db").verify().entries == 1
    all_refuse(folder / "none" / "none.db", "There is no ledger|cannot be opened")
    all_refuse(folder / "none.db" / "none.db", "There is no ledger|cannot be opened")


def test_an_empty_file_is_begun_and_by_nothing_else(folder: Path) -> None:
    (folder / "empty.db").touch()
    all_refuse(folder / "empty.db", "is empty; create it with", but=("add_dataset",))
    assert (folder / "empty.db").read_bytes() == b""
    Ledger(folder / "empty.db").add_dataset("visits", 1)
    assert Ledger(folder / "empty.db").verify().entries == 1


def test_a_directory_is_no_ledger(folder: Path) -> None:
    all_refuse(folder, "is a directory; name a file")


def test_a_name_that_is_too_long_is_told(folder: Path) -> None:
    all_refuse(folder / ("x" * 300), "cannot be opened")


def test_a_pipe_is_no_ledger(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    all_refuse(folder / "pipe", "cannot be used|cannot be opened")


@pytest.mark.parametrize(
    "inside",
    [b"name,count\nflu,3\n", b"xy", b"\0" * 5000, b"SQLite format 3\0",
     random.Random(1).randbytes(9000), b"SQLite format 3\0" + random.Random(2).randbytes(9000)],
    ids=["text", "two letters", "zeros", "a beginning", "random", "random behind it"],
)  # fmt: skip
def test_what_is_no_database_is_left_alone(inside: bytes, folder: Path) -> None:
    (folder / "file").write_bytes(inside)
    all_refuse(folder / "file", "is not a ledger, or is damaged|is damaged|cannot be used")
    assert (folder / "file").read_bytes() == inside
    assert [each.name for each in folder.iterdir()] == ["file"]


@pytest.mark.parametrize("identity", [0, 7])
def test_a_database_of_another_program_is_never_touched(identity: int, folder: Path) -> None:
    path = folder / "theirs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE entries (number INTEGER PRIMARY KEY, name TEXT)")
        connection.execute("INSERT INTO entries VALUES (1, 'theirs')")
        connection.execute(f"PRAGMA application_id = {identity}")
        connection.commit()
    before, time_before = path.read_bytes(), path.stat().st_mtime_ns
    all_refuse(path, "is a database of another program; name a ledger")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (before, time_before)
    assert [each.name for each in folder.iterdir()] == ["theirs.db"]


def test_a_ledger_that_was_cut_off_is_found(path: Path) -> None:
    """At each page, and anywhere."""
    whole = path.read_bytes()
    anywhere = random.Random(3).sample(range(1, len(whole)), 40)
    for size in [*range(4096, len(whole), 4096), *anywhere]:
        if not whole[size:].strip(b"\0") and size % 4096:
            continue  # of an empty page nothing is missing
        path.write_bytes(whole[:size])
        with refused():
            Ledger(path).verify()
        try:
            Ledger(path).charge("visits", "1/100", mechanism="m")
        except LedgerError:
            continue
        with refused():
            Ledger(path).verify()


# --- Who may write


@pytest.mark.slow
def test_permissions_are_told_in_a_sentence(path: Path) -> None:
    """Reading goes on where it can; nothing is lost."""
    before, place = content(path), path.parent
    (place / "shut").mkdir()
    shutil.copy(path, place / "shut" / "budget.db")
    shutil.copy(path, place / "secret.db")
    modes = {path: 0o444, place / "secret.db": 0, place / "shut": 0, place: 0o555}
    for each, mode in modes.items():
        each.chmod(mode)
    code = """
read_only, secret, shut, new = (topgap.Ledger(path, wait=0) for path in sys.argv[1:])
told(lambda: read_only.budget("visits").left)
told(lambda: read_only.verify().entries)
told(lambda: len(read_only.history()))
told(lambda: read_only.charge("visits", "1/100", mechanism="m"))
told(lambda: read_only.check("visits", "1/100"))
told(lambda: read_only.add_dataset("more", 1))
told(lambda: read_only.record(5, 1))
told(lambda: secret.budgets())
told(lambda: shut.budgets())
told(lambda: shut.add_dataset("more", 1))
told(lambda: new.add_dataset("more", 1))
told(lambda: topgap.top_k([3, 2, 1], 1, "1/100", ledger=read_only, dataset="visits"))
"""
    try:
        names = [path, place / "secret.db", place / "shut" / "budget.db", place / "new.db"]
        said = as_nobody(code, *names).splitlines()
    finally:
        for each, mode in [*modes.items()][::-1]:
            each.chmod(mode | 0o700)
    assert said[:3] == ["17/30", str(ENTRIES), "4"]
    assert {*said[3:7]} == {f"{path} cannot be written: it or its directory is read-only."}
    assert said[7] == f"{names[1]} cannot be opened: access to it or to its directory is denied."
    assert said[8] == f"{names[2]} cannot be opened: Permission denied."
    assert said[9].startswith(f"{names[2]} cannot be ")
    assert said[10].startswith(f"{names[3]} cannot be opened: ")
    assert said[11] == f"{path} cannot be written: it or its directory is read-only."
    assert content(path) == before


@pytest.mark.slow
def test_a_directory_that_cannot_be_written_is_told(path: Path) -> None:
    """For a journal is made beside the file."""
    before = path.read_bytes()
    path.chmod(0o666)
    path.parent.chmod(0o555)
    code = """
ledger = topgap.Ledger(sys.argv[1], wait=0)
told(lambda: ledger.budget("visits").left)
told(lambda: ledger.charge("visits", "1/100", mechanism="m"))
"""
    try:
        left, said = as_nobody(code, path).splitlines()
    finally:
        path.parent.chmod(0o755)
    assert left == "17/30"
    assert said.startswith(f"{path} cannot be ")
    assert path.read_bytes() == before


# --- Who uses it


@contextmanager
def held(path: Path) -> Iterator[None]:
    """The file in the hands of another process."""
    code = (
        "import sqlite3, sys; connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('BEGIN EXCLUSIVE'); print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-I", "-c", code, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        yield
        other.communicate(b"")


@pytest.mark.slow
def test_whoever_waits_in_vain_is_told(path: Path) -> None:
    before = content(path)
    with held(path):
        for call in calls(path, wait=0).values():
            with refused("has been in use by other processes for 0 seconds; try again"):
                call()
        start = time.monotonic()
        with refused(r"has been in use by other processes for 0\.3 seconds; try again"):
            Ledger(path, wait=0.3).charge("visits", "1/100", mechanism="m")
        assert 0.3 <= time.monotonic() - start < 5
    assert content(path) == before
    Ledger(path, wait=0).charge("visits", "1/100", mechanism="m")


def test_whoever_waits_goes_on_when_the_other_is_done(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        timer = threading.Timer(0.2, lambda: other.execute("ROLLBACK"))
        timer.start()
        try:
            assert Ledger(path).charge("visits", "1/100", mechanism="m").number == ENTRIES + 1
        finally:
            timer.join()


def test_whoever_waits_can_be_interrupted(path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = content(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        was = signal.signal(signal.SIGALRM, interrupt)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            start = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                Ledger(path, wait=60).charge("visits", "1/100", mechanism="m")
            assert time.monotonic() - start < 10
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, was)
        other.execute("ROLLBACK")
    assert content(path) == before


KILLED = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
for number in range(100, 120):
    connection.execute("INSERT INTO entries SELECT ?, kind || 'x', at, dataset, epsilon, spent, "
        "mechanism, parameters, who, hex(zeroblob(5000)), NULL, result, software, hash, "
        "neighbours, stated, recorded FROM entries WHERE number = 8", [number])
os.kill(os.getpid(), signal.SIGKILL)
"""


def half_written(path: Path) -> None:
    """Let a process be killed in the midst of writing to it."""
    before = path.read_bytes()
    ended = subprocess.run([sys.executable, "-I", "-c", KILLED, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert path.read_bytes() != before
    assert path.with_name("budget.db-journal").stat().st_size > 0


@pytest.mark.parametrize("name", ["verify", "charge", "budget", "record", "add_dataset"])
def test_what_a_killed_process_left_is_taken_back(name: str, path: Path) -> None:
    before = content(path)
    half_written(path)
    calls(path)[name]()
    assert content(path)[:ENTRIES] == before[:ENTRIES]
    Ledger(path).charge("visits", "1/100", mechanism="m")
    assert Ledger(path).verify(f"8:{before[-1][2]}").entries > ENTRIES
    assert [each.name for each in path.parent.iterdir()] == ["budget.db"]


@pytest.mark.slow
def test_whoever_cannot_take_it_back_is_told(path: Path) -> None:
    half_written(path)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    code = "told(lambda: topgap.Ledger(sys.argv[1], wait=0).budget('visits').left)"
    try:
        said = as_nobody(code, path)
    finally:
        path.parent.chmod(0o755)
        path.chmod(0o644)
    assert said.startswith(f"{path} was left by a crash in the middle of a charge; it is repaired")
    assert Ledger(path).verify().entries == ENTRIES


# --- Names and kinds of files


NAMES = ["with space.db", "a?b#c%20&mode=ro.db", "%41", "ünï 日本.db", "e\u0301", ":memory:",
         "file:x?mode=memory", "it's \"quoted\"", "-dash", "two\nlines", "back\\slash",
         os.fsdecode(b"\xff\xfe not Unicode")]  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_file_may_have_any_name(name: str, folder: Path) -> None:
    path = folder / name
    with refused("There is no ledger"):
        Ledger(path).budgets()
    Ledger(path).add_dataset("visits", 1)
    Ledger(os.fsencode(path)).charge("visits", "1/2", mechanism="m")  # type: ignore[arg-type]
    assert Ledger(str(path)).verify().entries == 2
    assert os.listdir(folder) == [name]
    with refused("left for visits, 0.5 of 1"):
        Ledger(path).charge("visits", 1, mechanism="m")
    with refused("There is no data set x"):
        Ledger(path).budget("x")


def test_a_path_stays_where_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder)
    ledger = Ledger("budget.db")
    monkeypatch.chdir("elsewhere")
    ledger.add_dataset("visits", 1)
    assert ledger.path == folder / "budget.db"
    assert ledger.path.is_file()


def test_a_path_leads_where_the_system_takes_it(folder: Path) -> None:
    """`..` behind a link is beside what it leads to, and not beside the link."""
    (folder / "far" / "away").mkdir(parents=True)
    (folder / "link").symlink_to(folder / "far" / "away")
    Ledger(f"{folder}/link/../budget.db").add_dataset("visits", 1)
    assert (folder / "far" / "budget.db").is_file()
    assert not (folder / "budget.db").exists()


def test_a_link_is_the_file_that_it_leads_to(path: Path) -> None:
    link = path.parent / "elsewhere" / "link.db"
    link.parent.mkdir()
    link.symlink_to(path)
    Ledger(link).charge("visits", "1/100", mechanism="m")
    Ledger(path).charge("visits", "1/100", mechanism="m")
    assert Ledger(link).verify() == Ledger(path).verify()
    assert Ledger(path).verify().entries == ENTRIES + 2
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with refused("has been in use"):
            Ledger(link, wait=0).charge("visits", "1/100", mechanism="m")
    broken = path.parent / "broken.db"
    broken.symlink_to(path.parent / "none.db")
    with refused("There is no ledger"):
        Ledger(broken).budgets()


def test_a_file_that_logs_ahead_is_used_as_any_other(path: Path) -> None:
    receipt = Ledger(path).verify().receipt
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM entries").fetchone()
        for _ in range(3):
            Ledger(path, wait=0).charge("visits", "1/100", mechanism="m")
    assert Ledger(path).verify(receipt).entries == ENTRIES + 3
    assert Ledger(path).budget("visits").left == Fraction(17, 30) - Fraction(3, 100)


@pytest.mark.slow
def test_without_sqlite_all_but_the_ledger_works() -> None:
    code = """
import sys; sys.modules["sqlite3"] = None
import topgap
print(topgap.top_k([10**9, 1, 0], 1, 1).indices)
try: topgap.Ledger
except topgap.MissingExtraError as error: print(error)
try: topgap.top_k([3, 1], 1, 1, ledger="x.db", dataset="visits")
except topgap.MissingExtraError as error: print(error)
"""
    sentence = "A ledger needs sqlite3, which this Python was built without."
    assert run(code).splitlines() == ["[0]", sentence, sentence]


# --- Versions


def test_a_newer_version_is_told_and_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 4")
    before = path.read_bytes()
    all_refuse(
        path,
        r"was written by a newer version of topgap \(its format is 4, and this one knows 3\); "
        r"update topgap",
    )
    assert path.read_bytes() == before


@pytest.fixture
def old(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what the first version wrote, a month later."""
    return copied(folder, monkeypatch)


def copied(folder: Path, patch: pytest.MonkeyPatch, file: Path = VERSION_1) -> Path:
    Clock(patch).turn(days=30)
    return Path(shutil.copy(file, folder / "old.db"))


def test_the_first_version_is_read_and_goes_on(old: Path) -> None:
    before = old.read_bytes()
    ledger = Ledger(old, who="bo")
    assert ledger.verify(LAST).receipt == LAST
    visits, blood = ledger.budgets()
    assert (visits.dataset, visits.total, visits.spent, visits.charges, visits.without_result) == (
        "visits", Fraction(2), Fraction(43, 30), 3, 2
    )  # fmt: skip
    assert (blood.dataset, blood.left, blood.note) == ("blood α", Fraction(4, 21), "two\nlines")
    first, second, third, last = ledger.history()
    assert first.result is not None
    assert Release.from_json(first.result).items == ("flu", "cold")
    assert (second.epsilon, second.note, second.result) == (
        Fraction(1, 10), "which crashed", None
    )  # fmt: skip
    assert (third.result, third.who) == ('{"sum": 41}', "ana")
    assert last.receipt == LAST
    assert str(last.at) == "2026-03-01 12:00:08+00:00"
    assert old.read_bytes() == before
    assert ledger.charge("visits", "17/30", mechanism="m").left == 0
    ledger.record(second, "found after all")
    assert ledger.verify(LAST).entries == ENTRIES + 2
    assert version_of(old) == schema.VERSION


def test_the_first_version_says_which_neighbours_its_sum_is_true_for(old: Path) -> None:
    """None was stated, and what topgap released is true for one person added or removed."""
    ledger = Ledger(old)
    for _ in range(2):  # before the file is of the new version, and after
        for each in ledger.budgets():
            assert (each.neighbours, each.neighbours_stated) == ("add-remove", False)
        assert {each.neighbours for each in ledger.history()} == {"add-remove"}
        with refused("does not bound it"):
            ledger.charge("visits", "1/100", mechanism="m", neighbours="replace")
        made = ledger.charge("visits", "1/100", mechanism="m", neighbours="add-remove")
        assert made.epsilon == Fraction(1, 100)
    more = ledger.add_dataset("more", 1)
    assert (more.neighbours, more.neighbours_stated) == ("add-remove", True)
    assert ledger.verify(LAST).entries == ENTRIES + 3


def test_the_second_version_is_read_and_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = copied(folder, monkeypatch, VERSION_2)
    before = old.read_bytes()
    ledger = Ledger(old, who="bo")
    assert ledger.verify(LAST_OF_2).receipt == LAST_OF_2
    assert [(each.dataset, each.left, each.neighbours) for each in ledger.budgets()] == [
        ("visits", Fraction(17, 30), "add-remove"),
        ("blood α", Fraction(4, 21), "add-remove"),
        ("stays", Fraction(13, 12), "replace"),
    ]
    assert all(each.neighbours_stated for each in ledger.budgets())
    doubled, plain = ledger.history("stays")
    assert (doubled.epsilon, doubled.stated_epsilon) == (Fraction(2, 3), Fraction(1, 3))
    assert (doubled.neighbours, doubled.stated_neighbours) == ("replace", "add-remove")
    assert (plain.epsilon, plain.stated_epsilon, plain.stated_neighbours) == (
        Fraction(1, 4), None, None,
    )  # fmt: skip
    assert old.read_bytes() == before
    assert ledger.charge("stays", "13/12", mechanism="m").left == 0
    assert ledger.verify(LAST_OF_2).entries == 12
    with pytest.MonkeyPatch.context() as patch:
        turn_to_version_4(patch.setattr)
        assert Ledger(old).verify(LAST_OF_2).entries == 12
        Ledger(old).charge("visits", "1/100", mechanism="m")
        assert Ledger(old).verify(LAST_OF_2).entries == 13
    assert version_of(old) == 4


(_NO_EDIT,) = (each for each in schema.STATEMENTS if each.startswith("CREATE TRIGGER no_edit"))


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The software is of a fourth version."""
    turn_to_version_4(monkeypatch.setattr)


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


@pytest.mark.usefixtures("later")
def test_an_older_version_is_read_without_writing_to_it(old: Path) -> None:
    before, changed = old.read_bytes(), old.stat().st_mtime_ns
    for name in ("budget", "budgets", "history", "verify", "check"):
        calls(old)[name]()
    assert Ledger(old).verify(LAST).entries == ENTRIES
    with refused("left for visits"):
        Ledger(old).charge("visits", 1, mechanism="m")
    assert (old.read_bytes(), old.stat().st_mtime_ns) == (before, changed)
    old.chmod(0o444)
    Ledger(old).verify(LAST)


@pytest.mark.usefixtures("later")
def test_an_older_version_that_logs_ahead_is_read_too(old: Path) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    assert Ledger(old).verify(LAST).entries == ENTRIES
    assert version_of(old) == 1
    Ledger(old).charge("visits", "1/100", mechanism="m")
    assert Ledger(old).verify(LAST).entries == ENTRIES + 1
    assert version_of(old) == 4


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("name", ["charge", "record", "add_dataset"])
def test_the_first_writing_leads_to_the_new_version(name: str, old: Path) -> None:
    calls(old)[name]()
    assert version_of(old) == 4
    assert Ledger(old).verify(LAST).entries == ENTRIES + 1
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("SELECT place FROM entries").fetchall()
    Ledger(old).charge("visits", "1/100", mechanism="m")
    assert Ledger(old).verify(LAST).entries == ENTRIES + 2


@pytest.mark.usefixtures("later")
def test_a_new_column_is_hashed_where_it_has_a_value(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = entry_log.EntryLog.append

    def somewhere(self: Any, last: Any, **columns: Any) -> Any:
        return append(self, last, place="Oslo", **columns)

    monkeypatch.setattr(entry_log.EntryLog, "append", somewhere)
    Ledger(old).charge("visits", "1/100", mechanism="m")
    assert Ledger(old).verify(LAST).entries == ENTRIES + 1
    for change in ("place = 'Rome' WHERE number = 9", "place = 'Rome' WHERE number = 3"):
        copy = Path(shutil.copy(old, old.with_name("copy.db")))
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute("DROP TRIGGER no_edit")
            connection.execute(f"UPDATE entries SET {change}")
            connection.execute(_NO_EDIT)
        with refused("was modified outside topgap"):
            Ledger(copy).verify()


def test_older_software_is_told_of_the_newer_one(old: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        turn_to_version_4(patch.setattr)
        Ledger(old).charge("visits", "1/100", mechanism="m")
        Ledger(old.with_name("new.db")).add_dataset("visits", 1)
    for path in (old, old.with_name("new.db")):
        before = path.read_bytes()
        all_refuse(path, "was written by a newer version of topgap")
        assert path.read_bytes() == before


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("where", ["in it", "behind it"])
def test_a_migration_that_does_not_end_leaves_the_older_version(
    where: str, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = old.read_bytes()
    if where == "in it":
        more = (*schema.MIGRATIONS[3], "CREATE INDEX more ON nowhere (number)")
        monkeypatch.setattr(schema, "MIGRATIONS", {**schema.MIGRATIONS, 3: more})
        with refused("cannot be used"):
            calls(old)["charge"]()
        with refused("cannot be used"):
            calls(old)["verify"]()
    else:

        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(entry_log.EntryLog, "append", interrupted)
        with pytest.raises(KeyboardInterrupt):
            calls(old)["charge"]()
    assert old.read_bytes() == before
    assert version_of(old) == 1


@pytest.mark.slow
def test_several_processes_migrate_at_once(old: Path) -> None:
    code = """
import sys
from tests.ledger.sample_ledgers import Ledger, turn_to_version_4
turn_to_version_4(setattr)
ledger = Ledger(sys.argv[1], check_clock=False)
sys.stdin.readline()
for _ in range(3): ledger.charge("visits", "1/100", mechanism="m")
"""
    command = [sys.executable, "-c", code, str(old)]
    others = [subprocess.Popen(command, stdin=subprocess.PIPE, env=with_tests()) for _ in range(3)]
    for each in others:
        assert each.stdin is not None
        each.stdin.write(b"\n")
        each.stdin.close()
    assert [each.wait(60) for each in others] == [0, 0, 0]
    with pytest.MonkeyPatch.context() as patch:
        turn_to_version_4(patch.setattr)
        assert Ledger(old).verify(LAST).entries == ENTRIES + 9
    assert version_of(old) == 4


# --- What else a file or a path can be


def test_a_file_with_two_names_is_read_and_not_written(path: Path) -> None:
    """The journal of one name would not be seen by the other."""
    link = path.with_name("link.db")
    os.link(path, link)
    for each in (path, link):
        assert Ledger(each).verify().entries == ENTRIES
        with refused("also has another name, by a hard link"):
            Ledger(each).charge("visits", "1/100", mechanism="m")
    link.unlink()
    Ledger(path).charge("visits", "1/100", mechanism="m")


def test_no_empty_file_is_left_where_a_ledger_could_not_be_made(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry_log.EntryLog, "append", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Ledger(path).add_dataset("visits", 1)
    assert not path.exists()
    path.touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry_log.EntryLog, "append", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Ledger(path).add_dataset("visits", 1)
    assert path.read_bytes() == b""


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("size", [1, 2, 511])
def test_a_file_too_small_for_a_database_is_left_alone(tmp_path: Path, size: int) -> None:
    """SQLite takes a file of one byte for an empty one."""
    path = tmp_path / "budget.db"
    path.write_bytes(b"x" * size)
    for call in (lambda: Ledger(path).add_dataset("visits", 1), Ledger(path).budgets):
        with refused("is not a ledger, or is damaged"):
            call()
    assert path.read_bytes() == b"x" * size


def test_a_path_that_looks_like_a_host_is_a_path(path: Path) -> None:
    assert Ledger(f"/{path}").verify().entries == ENTRIES
    with refused("There is no ledger"):
        Ledger(f"//localhost{path}").verify()


def test_a_path_that_no_file_can_have_is_told() -> None:
    with refused("must be text that a file's name can have", ParameterError):
        Ledger("\ud800.db")


def test_a_working_directory_that_is_gone_is_told(tmp_path: Path) -> None:
    gone, before = tmp_path / "gone", Path.cwd()
    gone.mkdir()
    os.chdir(gone)
    try:
        gone.rmdir()
        with refused("The working directory is gone"):
            Ledger("budget.db")
    finally:
        os.chdir(before)


# --- And if the code were another


def look_at_other_programs(folder: Path) -> None:
    test_a_database_of_another_program_is_never_touched(7, folder)


def look_at_versions(folder: Path) -> None:
    filled(folder / "budget.db")
    test_a_newer_version_is_told_and_left_alone(folder / "budget.db")


def look_at_older(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        turn_to_version_4(patch.setattr)
        old = copied(folder, patch)
        test_an_older_version_is_read_without_writing_to_it(old)
        test_the_first_writing_leads_to_the_new_version("charge", old)


def look_at_a_broken_migration(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        turn_to_version_4(patch.setattr)
        old = copied(folder, patch)
        test_a_migration_that_does_not_end_leaves_the_older_version("behind it", old, patch)


def look_at_missing(folder: Path) -> None:
    test_a_ledger_that_is_missing_is_not_made_by_looking(folder)


def look_at_waiting(folder: Path) -> None:
    filled(folder / "budget.db")
    test_whoever_waits_goes_on_when_the_other_is_done(folder / "budget.db")


def look_at_names(folder: Path) -> None:
    for name in NAMES[:3]:
        (folder / name[:1]).mkdir(exist_ok=True)
        test_a_file_may_have_any_name(name, folder / name[:1])


def look_at_text_files(folder: Path) -> None:
    test_what_is_no_database_is_left_alone(b"name,count\n" * 100, folder)


TRANSLATED = "raise translate_error(error, self.path, self.label)"
MUTANTS: list[tuple[Any, Mutant, Callable[[Path], None]]] = [
    (database, Mutant("takes any database for a ledger",
                      'if _pragma(connection, "application_id") != schema.APPLICATION:',
                      "if False:"),
     look_at_other_programs),
    (database, Mutant("takes newer ones for its own", "if found > schema.VERSION:", "if False:"),
     look_at_versions),
    (database, Mutant("forgets the version",
                      'connection.execute(f"PRAGMA user_version = {schema.VERSION}")\n\n\n'
                      "def check_tables",
                      "pass\n\n\ndef check_tables"), look_at_older),
    (database, Mutant("migrates for reading",
                     "connection.backup(copy)",
                     "_migrate(connection, check_version(connection, self.label))\n"
                     "            connection.execute('COMMIT')\n"
                     "            connection.backup(copy)"), look_at_older),
    (database, Mutant("migrates before the transaction",
                     "            result = do(connection)\n",
                     '            connection.execute("COMMIT")\n'
                     '            connection.execute("BEGIN IMMEDIATE")\n'
                     "            result = do(connection)\n"),
     look_at_a_broken_migration),
    (database, Mutant("makes what is missing", "        if not create:\n", "        if False:\n"),
     look_at_missing),
    (exclusive_access, Mutant("does not wait", "if waited >= seconds or", "if True or"),
     look_at_waiting),
    (database, Mutant("reads a name as an address", "quote(os.fsencode(name))", "name"),
     look_at_names),
    (database, Mutant("passes on what SQLite says", f"{TRANSLATED} from None", "raise"),
     look_at_text_files),
    (database, Mutant("keeps SQLite's error behind its own",
                     f"{TRANSLATED} from None", f"{TRANSLATED} from error"), look_at_text_files),
]  # fmt: skip


@pytest.mark.parametrize(
    ("module", "mutant", "look"), MUTANTS, ids=[mutant.name for _, mutant, _ in MUTANTS]
)
def test_code_that_treats_files_otherwise_is_found(
    module: Any,
    mutant: Mutant,
    look: Callable[[Path], None],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put_in_place(monkeypatch, module, mutant)
    assert is_found(lambda: look(folder))


@pytest.mark.parametrize(
    "look", [look_at_older, look_at_a_broken_migration, look_at_waiting, look_at_names]
)
def test_the_code_as_it_is_passes_what_finds_them(
    look: Callable[[Path], None], folder: Path
) -> None:
    look(folder)
