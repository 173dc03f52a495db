"""`topgap budget`, and `topgap release --ledger`: what is charged, told, exported and verified."""

import csv
import io
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import time
from contextlib import chdir, closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from tests.cli.command import (
    ASKED,
    TOPGAP,
    Ended,
    is_one_sentence,
    release,
    shell,
    surroundings,
    topgap,
)
from tests.streams.sample_streams import parquet, stream_of
from topgap import Estimates, Ledger, LedgerError, Release, top_k
from topgap.cli.app import app
from topgap.cli.budget import output
from topgap.cli.budget.command import EXAMPLES

ROWS = ("--item", "what", "--count", "people", "--all-rows", "-k", 2, "--epsilon", 1)
CHARGED = ("--ledger", "budget.db", "--dataset", "visits")
RECEIPT = re.compile(r"Receipt ([0-9]+:[0-9a-f]{64})")


@pytest.fixture
def ledger(folder: Path) -> Ledger:
    """A ledger beside the events, with ε = 3 for them."""
    made = Ledger(folder / "budget.db", who="ana")
    made.add_dataset("visits", 3)
    return made


def within(folder: Path, *arguments: object, given: bytes = b"") -> Ended:
    """The command without a process of its own, which is quicker."""
    with chdir(folder):
        ended = CliRunner().invoke(app, [*map(str, arguments)], input=given, prog_name="topgap")
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


def told(folder: Path, *arguments: object) -> Ended:
    return within(folder, "budget", *arguments)


def released(folder: Path, *arguments: object) -> Ended:
    return within(folder, "release", "visits.csv", *ASKED, *arguments)


def test_init_sets_a_total_once(folder: Path) -> None:
    asked = ("init", "new.db", "--dataset", "visits", "--epsilon")
    ended = told(folder, *asked, "1/3", "--note", "for the report", "--who", "ana")
    assert ended == (
        0,
        "The releases of visits may cost ε = 1/3 in all (neighbours: add-remove), in the ledger "
        "new.db.\n",
        "",
    )  # fmt: skip
    [made] = Ledger(folder / "new.db").budgets()
    assert (made.total, made.who, made.note) == (Fraction(1, 3), "ana", "for the report")
    ended = told(folder, *asked, 5)
    assert ended.code == 1
    assert ended.err == "topgap: visits has its total already, 1/3; it can be set only once.\n"
    assert told(folder, "init", "new.db", "--dataset", "stays", "--epsilon", 2).code == 0
    assert [each.total for each in Ledger(folder / "new.db").budgets()] == [Fraction(1, 3), 2]


@pytest.mark.parametrize("epsilon", ["0", "-1", "much", "nan", "1e5000"])
def test_init_with_no_number_makes_no_file(folder: Path, epsilon: str) -> None:
    ended = told(folder, "init", "new.db", "--dataset", "visits", f"--epsilon={epsilon}")
    assert ended.code == 1
    assert is_one_sentence(ended.err)
    assert not (folder / "new.db").exists()


@pytest.mark.slow
def test_a_release_is_charged_and_its_result_is_kept(folder: Path, ledger: Ledger) -> None:
    ended = release(folder, *CHARGED, "--format", "json", "--note", "for the report")
    assert ended.code == 0
    [charge] = ledger.history()
    assert (charge.epsilon, charge.note, charge.mechanism) == (
        Fraction(1),
        "for the report",
        "topgap release",
    )
    assert Release.from_json(charge.result or "") == Release.from_json(ended.out)
    found = RECEIPT.search(ended.err)
    assert found is not None
    assert found[1] == charge.receipt
    assert "Charged to visits: ε = 1, which leaves 2." in ended.err


def test_so_are_estimates_and_all_rows(folder: Path, ledger: Ledger) -> None:
    ended = released(folder, *CHARGED, "--format", "json", "--estimate", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    parquet(folder)
    asked = ("release", "counts.parquet", *ROWS, *CHARGED, "--format", "json")
    rows = within(folder, *asked)
    assert rows.code == 0, rows.err
    estimated = within(folder, *asked, "--estimate")
    assert estimated.code == 0, estimated.err
    first, second, third = (charge.result or "" for charge in ledger.history())
    assert Estimates.from_json(first) == Estimates.from_json(ended.out)
    assert Release.from_json(second) == Release.from_json(rows.out)
    assert Estimates.from_json(third) == Estimates.from_json(estimated.out)
    assert ledger.budget("visits").left == 0


def test_a_refusal_comes_before_any_data_is_read(folder: Path, ledger: Ledger) -> None:
    """Else this would complain of a source, or of a domain, that does not exist."""
    ledger.charge("visits", "5/2", mechanism="another")
    for name in ("visits.csv", "domain.txt"):
        (folder / name).unlink()
    ended = released(folder, *CHARGED, "-o", "out.csv")
    assert ended == (
        1, "",
        "topgap: ε = 1 is more than what is left for visits, 0.5 of 3; nothing was charged.\n",
    )  # fmt: skip
    assert not (folder / "out.csv").exists()
    assert ledger.budget("visits").charges == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--source-format", "parquet"),
        ("--domain-column", "nothing"),
        ("-o", "missing/out.csv"),
        ("-o", "visits.csv", "--overwrite"),
        ("-k", 5),
        ("--resolution", "2/3"),
        ("--memory", "nothing"),
    ],
    ids=str,
)
def test_nothing_is_charged_for_what_goes_wrong(
    folder: Path, ledger: Ledger, arguments: tuple[object, ...]
) -> None:
    ended = released(folder, *CHARGED, *arguments)
    assert ended.code in (1, 2)
    assert ledger.budget("visits").charges == 0


def test_the_ledger_is_never_written_over(folder: Path, ledger: Ledger) -> None:
    before = (folder / "budget.db").read_bytes()
    for ended in (
        released(folder, *CHARGED, "-o", "budget.db", "--format", "csv", "--overwrite"),
        told(folder, "export", "budget.db", "-o", "budget.db", "--format", "json", "--overwrite"),
    ):
        assert ended.code == 1
        assert "budget.db is what is read; give another name." in ended.err
    assert (folder / "budget.db").read_bytes() == before
    assert ledger.verify().entries == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--ledger", "budget.db"], "--ledger and --dataset go together"),
        (["--dataset", "visits"], "--ledger and --dataset go together"),
        (["--note", "x"], "--who, --note and --ignore-clock are for --ledger"),
        (["--who", "x"], "--who, --note and --ignore-clock are for --ledger"),
        (["--ignore-clock"], "--who, --note and --ignore-clock are for --ledger"),
    ],
    ids=str,
)
def test_options_that_need_each_other(folder: Path, arguments: list[str], sentence: str) -> None:
    ended = released(folder, *arguments)
    assert ended.code == 2
    assert sentence in " ".join(ended.err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (("none.db", "visits"), r"There is no ledger .*none\.db; create one with .*budget init\."),
        (("budget.db", "stays"), r"There is no data set stays in .*budget\.db; it has visits\."),
        (("visits.csv", "visits"), r"visits\.csv is not a ledger, or is damaged; .*\."),
        (("budget.db", " x"), r"dataset must be text on one line: not empty, .*\."),
    ],
)
def test_ledgers_that_cannot_be_charged(
    folder: Path, ledger: Ledger, asked: tuple[str, str], sentence: str
) -> None:
    file, dataset = asked
    ended = released(folder, "--ledger", file, "--dataset", dataset)
    assert ended.code == 1
    assert is_one_sentence(ended.err)
    assert re.search(sentence, ended.err)
    assert not (folder / "none.db").exists()
    assert ledger.budget("visits").charges == 0


@pytest.mark.usefixtures("ledger")
def test_a_result_that_cannot_be_recorded_is_published_with_a_word(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise LedgerError("The disk is full.")

    monkeypatch.setattr(Ledger, "_record_drawn", fails)
    ended = released(folder, *CHARGED, "--format", "json", "--quiet")
    assert ended.code == 0
    assert Release.from_json(ended.out).items == ("flu", "cold")
    assert is_one_sentence(ended.err)
    assert "The release was charged, but its result is not in the ledger:" in ended.err


@pytest.mark.slow
@pytest.mark.posix
def test_what_is_killed_between_charge_and_result_is_shown_and_stays_spent(
    folder: Path, ledger: Ledger
) -> None:
    """Its output is a pipe that nobody opens, so it waits when all has been charged and drawn."""
    os.mkfifo(folder / "pipe")
    asked = [*TOPGAP, "release", "visits.csv", *map(str, ASKED), *CHARGED, "-o", "pipe"]
    with subprocess.Popen(
        [*asked, "--format", "csv"], cwd=folder, env=surroundings(), stderr=subprocess.DEVNULL
    ) as process:
        while ledger.budget("visits").charges == 0:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert ledger.budget("visits").left == 2
    ended = told(folder, "show", "budget.db")
    assert ended.code == 0
    assert ("Without a result" in ended.out) == (ledger.budget("visits").without_result == 1)


@pytest.mark.parametrize("name", ["budget.db-journal", "budget.db-wal", "Budget.DB-shm"])
def test_nothing_is_written_where_sqlite_writes(folder: Path, ledger: Ledger, name: str) -> None:
    """It would take a journal for its own, and delete it or believe it."""
    for ended in (
        released(folder, *CHARGED, "-o", name, "--format", "json", "--overwrite"),
        told(folder, "export", "budget.db", "-o", name, "--format", "json"),
    ):
        assert (
            ended.err
            == f"topgap: {name} is a name that belongs to the ledger; give another name.\n"
        )
        assert ended.code == 1
    assert not (folder / name).exists()
    assert ledger.budget("visits").charges == 0


@pytest.mark.slow
def test_nothing_is_charged_if_standard_output_is_closed(folder: Path, ledger: Ledger) -> None:
    asked = " ".join(map(str, ["topgap", "release", "visits.csv", *ASKED, *CHARGED]))
    ended = shell(f"{asked} >&-", folder)
    assert (ended.code, ended.err) == (1, "topgap: Standard output is closed.\n")
    assert ledger.budget("visits").charges == 0


def test_totals_of_any_size_are_shown(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.add_dataset("much", "1e400")
    ledger.add_dataset("little", "1e-400")
    shown = told(tmp_path, "show", "budget.db")
    assert shown.code == 0
    assert "≈1e+400" in shown.out
    assert "≈1e-400" in shown.out


@pytest.mark.parametrize("result", [[1, None, True], True, 44.5, "44", {"a": [1]}], ids=str)
def test_results_of_any_kind_are_json_in_csv(folder: Path, ledger: Ledger, result: Any) -> None:
    ledger.record(ledger.charge("visits", 1, mechanism="x"), result)
    [row] = csv.DictReader(io.StringIO(told(folder, "history", "budget.db", "--format", "csv").out))
    assert (row["result"] if isinstance(result, str) else json.loads(row["result"])) == result


@pytest.mark.slow
def test_an_error_after_the_charge_says_that_it_has_cost(folder: Path, ledger: Ledger) -> None:
    """Of a stream that is read once, a bad row is seen when its noise is drawn."""
    table = pa.table({"what": ["a", "b", "c", "d"], "people": [5, None, 7, 9]})
    ended = topgap("release", "-", *ROWS, *CHARGED, folder=folder, given=stream_of(table))
    assert ended.code == 1
    first, second = ended.err.splitlines()[-2:]
    assert "missing" in first
    assert second == (
        "topgap: ε = 1 was already charged to visits, as entry 2 of the ledger, and stays charged."
    )
    assert ledger.budget("visits").without_result == 1


def test_an_error_before_the_charge_says_that_it_has_not(folder: Path, ledger: Ledger) -> None:
    ended = released(folder, *CHARGED, "--person", "nobody")
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == "topgap: Nothing was charged."
    assert ledger.budget("visits").charges == 0


@pytest.mark.linux
def test_a_release_that_cannot_be_written_is_told_to_be_in_the_ledger(
    folder: Path, ledger: Ledger
) -> None:
    ended = released(folder, *CHARGED, "-o", "/dev/full", "--format", "json")
    assert ended.code == 1
    lines = ended.err.splitlines()[-3:]
    assert lines[0] == "topgap: /dev/full cannot be written: No space left on device."
    assert lines[1].startswith("topgap: Charged to visits: ε = 1, which leaves 2. Receipt 2:")
    assert lines[2].startswith("topgap: The release is in the ledger: topgap budget history")
    assert Release.from_json(ledger.history()[0].result or "").items == ("flu", "cold")


def test_the_ledger_notes_what_was_released_from(folder: Path, ledger: Ledger) -> None:
    released(folder, *CHARGED)
    [charge] = ledger.history()
    told_of = {name: charge.parameters[name] for name in ("sources", "person", "item", "domain")}
    assert told_of == {
        "sources": ["visits.csv"], "person": "who", "item": "what", "domain": "domain.txt",
    }  # fmt: skip
    assert "count" not in charge.parameters


def test_only_the_last_of_many_charges_without_a_result_are_shown(
    folder: Path, ledger: Ledger
) -> None:
    for _ in range(12):
        ledger.charge("visits", "1/10", mechanism="by hand")
    lines = told(folder, "show", "budget.db").out.splitlines()
    assert sum("by hand" in line for line in lines) == 10
    assert lines[-1] == "… and 2 before them; topgap budget history lists all."


def test_show_tells_what_is_spent_and_left(folder: Path, ledger: Ledger) -> None:
    ledger.add_dataset("stays 2026", "1/7", neighbours="replace")
    ledger.add_dataset("none", 1)
    ledger.record(ledger.charge("visits", 1, mechanism="a sum"), {"sum": 5})
    ledger.charge("stays 2026", "1/7", mechanism="a mean")
    ended = told(folder, "show", "budget.db")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[:5] == [
        "data set            neighbours  total  reserved  spent  left  charges  settled  "
        "spent of the total",
        "visits              add-remove      3         1      1     2        1        0  "
        "████░░░░░░░░░  33%",
        "stays 2026          replace       1/7       1/7    1/7     0        1        0  "
        "█████████████ 100%",
        "none                add-remove      1         0      0     1        0        0  "
        "░░░░░░░░░░░░░   0%",
        "sum for add-remove  add-remove      4         1      1     3        1        0",
    ]
    assert lines[6] == (
        "The sum for add-remove is the bound for a person who is in all data sets with these "
        "neighbours; data sets with other neighbours are not in it. For a person who is in only "
        "one of them, the bound is that of its own row."
    )
    assert lines[8].startswith("Without a result: what they were charged for has crashed")
    assert len(lines) == 11
    assert re.fullmatch(
        r" +6  20\S+ \S+ +stays 2026 +1/7  replace  +0  a mean  ana  none",
        lines[10].rstrip(),
    )
    ended = told(folder, "show", "budget.db", "--dataset", "visits")
    assert len(ended.out.splitlines()) == 2
    read = json.loads(told(folder, "show", "budget.db", "--format", "json").out)
    assert [each["left"] for each in read["datasets"]] == ["2", "0", "1"]
    rows = [*csv.DictReader(io.StringIO(told(folder, "show", "budget.db", "--format", "csv").out))]
    assert [(each["dataset"], each["spent"], each["without_result"]) for each in rows] == [
        ("visits", "1", "0"), ("stays 2026", "1/7", "1"), ("none", "0", "0"),
    ]  # fmt: skip


def test_a_narrow_terminal_keeps_the_neighbours_and_the_bars_whole(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "b.db")
    for name in ("visits", "stays of the year 2026"):
        ledger.add_dataset(name, 3)
        ledger.charge(name, "1/12345678901", mechanism="x")
    of_one_kind = output.format_budgets(ledger.budgets(), [], 60)
    assert "neighbours" not in of_one_kind.splitlines()[0]
    assert "other neighbours" not in " ".join(of_one_kind.split())
    ledger.add_dataset("blood", 1, neighbours="replace")
    ledger.charge("blood", "1/2", mechanism="x")
    for columns in (60, 70, 80, 90, 100, 120):
        shown = output.format_budgets(ledger.budgets(), [], columns)
        head = shown.splitlines()[0]
        assert "neighbours" in head
        assert max(map(len, shown.splitlines())) <= columns
        if columns >= 80:
            assert "██████░░░░░░░  50%" in shown


@pytest.mark.parametrize(
    ("spent", "bar"),
    [
        ("1e-9", "█" + "░" * 12 + "  <1%"),
        ("1/2", "█" * 6 + "░" * 7 + "  50%"),
        ("0.999999", "█" * 12 + "░" + "  99%"),
        ("1", "█" * 13 + " 100%"),
    ],
)
def test_the_bar_is_full_only_if_nothing_is_left(tmp_path: Path, spent: str, bar: str) -> None:
    ledger = Ledger(tmp_path / "b.db")
    ledger.add_dataset("visits", 1)
    ledger.charge("visits", spent, mechanism="x")
    assert output._format_bar(ledger.budget("visits")) == bar


def test_numbers_too_long_for_a_table_are_told_about(folder: Path, ledger: Ledger) -> None:
    ledger.charge("visits", "1/12345678901", mechanism="x")
    shown = told(folder, "show", "budget.db").out
    assert "≈8.1001e-11" in shown  # rounded up, for it is spent
    assert "≈2.9999 " in shown  # rounded down, for it is left
    read = json.loads(told(folder, "show", "budget.db", "--format", "json").out)
    assert read["datasets"][0]["spent"] == "1/12345678901"


def test_history_lists_the_charges(folder: Path, ledger: Ledger) -> None:
    assert told(folder, "history", "budget.db").out == "Nothing was charged yet.\n"
    released(folder, *CHARGED, "--who", "bo", "--note", "two\nlines")
    ledger.charge("visits", "1/2", mechanism="a mean")
    lines = told(folder, "history", "budget.db").out.splitlines()
    assert len(lines) == 3
    assert re.search(
        r"2  20.*visits +1  add-remove +2  topgap release, k = 2, item = what  bo +recorded  "
        r"two\\nlines",
        lines[1],
    )
    assert re.search(r"4  20.*visits +0\.5  add-remove +1\.5  a mean +ana  none", lines[2])
    read = json.loads(told(folder, "history", "budget.db", "--format", "json").out)
    assert Release.from_dict(read["charges"][0]["result"]).items == ("flu", "cold")
    assert read["charges"][1]["result"] is None
    rows = csv.DictReader(io.StringIO(told(folder, "history", "budget.db", "--format", "csv").out))
    assert [json.loads(row["result"] or "null") is None for row in rows] == [False, True]
    assert told(folder, "history", "budget.db", "--dataset", "stays").code == 1


def test_history_says_the_bound_the_noise_and_the_threshold(folder: Path, ledger: Ledger) -> None:
    answers, paid = [10**6, 10**5, 7, 0], {"ledger": ledger, "dataset": "visits"}
    few: dict[str, Any] = {"monotonic": True, "items_per_person": 1, **paid}
    made = [
        top_k(answers, 2, 1, **few),
        top_k(answers, None, 1, threshold=50, **few),
        top_k(answers, 3, 1, threshold=10**9, **few),
    ]
    assert [len(each) for each in made] == [2, 2, 0]
    lines = told(folder, "history", "budget.db").out.splitlines()[1:]
    words = [re.search("topgap.top_k.*?(?=  )", line) for line in lines]
    assert [each and each[0] for each in words] == [
        "topgap.top_k, k = 2, items_per_person = 1, noise = laplace",
        "topgap.top_k, items_per_person = 1, noise = laplace, threshold = 50",
        "topgap.top_k, k = 3, items_per_person = 1, noise = laplace, threshold = 1000000000",
    ]
    read = json.loads(told(folder, "history", "budget.db", "--format", "json").out)["charges"]
    assert [Release.from_dict(each["result"]) for each in read] == made
    assert read[1]["parameters"]["k"] == 10_000_000
    assert told(folder, "show", "budget.db").code == 0
    assert Ledger(folder / "budget.db").verify().entries == 7


def test_export_has_all_of_it_after_it_was_verified(folder: Path, ledger: Ledger) -> None:
    released(folder, *CHARGED)
    assert told(folder, "export", "budget.db", "-o", "all.json").code == 0
    read = json.loads((folder / "all.json").read_text())
    assert read == ledger.to_dict()
    assert read["receipt"] == ledger.verify().receipt
    assert told(folder, "export", "budget.db", "-o", "all.csv").code == 0
    assert (folder / "all.csv").read_text().startswith("entry,at,dataset,epsilon,spent,left,")
    kept = told(folder, "export", "budget.db", "-o", "all.csv")
    assert kept.err.endswith("exists already and is kept; give another name, or --overwrite.\n")
    assert told(folder, "export", "budget.db", "-o", "all.xlsx").code == 2
    assert told(folder, "export", "budget.db", "-o", "all.txt").code == 2
    with closing(sqlite3.connect(ledger.path)) as connection, connection:
        connection.execute("DROP TRIGGER no_edit")
    assert told(folder, "export", "budget.db").code == 1


def test_verify_finds_what_was_changed_and_gives_receipts(folder: Path, ledger: Ledger) -> None:
    released(folder, *CHARGED)
    first = told(folder, "verify", "budget.db")
    assert (first.code, first.err) == (0, "")
    assert "budget.db is as it was written: 3 entries" in first.out
    found = RECEIPT.search(first.out)
    assert found is not None
    released(folder, *CHARGED)
    assert told(folder, "verify", "budget.db", "--receipt", found[1]).code == 0
    other = f"{found[1][:-1]}{'0' if found[1][-1] != '0' else '1'}"
    refused = told(folder, "verify", "budget.db", "--receipt", found[1], "--receipt", other)
    assert refused.code == 1
    assert is_one_sentence(refused.err)
    assert told(folder, "verify", "budget.db", "--receipt", "5").code == 1
    with closing(sqlite3.connect(ledger.path)) as connection, connection:
        connection.execute("DROP TRIGGER no_edit")
        connection.execute("UPDATE entries SET epsilon = '0.1', spent = '0.1' WHERE number = 2")
    edited = told(folder, "verify", "budget.db")
    assert edited.code == 1
    assert is_one_sentence(edited.err)


def test_a_copy_is_whole_and_is_no_other_file(folder: Path, ledger: Ledger) -> None:
    released(folder, *CHARGED)
    assert told(folder, "copy", "budget.db", "copy.db") == (0, "Written: copy.db\n", "")
    copy = Ledger(folder / "copy.db")
    assert copy.verify(ledger.verify().receipt) == ledger.verify()
    assert copy.history() == ledger.history()
    assert copy.charge("visits", 1, mechanism="x").left == 1
    assert ledger.budget("visits").left == 2
    kept = told(folder, "copy", "budget.db", "copy.db")
    assert kept.code == 1
    assert kept.err.endswith("exists already and is kept; give another name, or --overwrite.\n")
    itself = told(folder, "copy", "budget.db", "budget.db", "--overwrite")
    assert itself.err.endswith("budget.db is what is read; give another name.\n")
    assert told(folder, "copy", "budget.db", "budget.db-journal").code == 1
    assert told(folder, "copy", "visits.csv", "other.db").code == 1
    assert not (folder / "other.db").exists()


def test_charge_is_for_what_others_release(folder: Path, ledger: Ledger) -> None:
    asked = ("charge", "budget.db", "--dataset", "visits", "--mechanism", "mean age, by OpenDP")
    ended = told(folder, *asked, "--epsilon", "1/2", "--note", "table 2")
    assert ended.code == 0
    assert ended.out.startswith("Charged to visits: ε = 0.5, which leaves 2.5. Receipt 2:")
    [charge] = ledger.history()
    assert (charge.mechanism, charge.note, charge.result) == (asked[-1], "table 2", None)
    over = told(folder, *asked, "--epsilon", 3)
    assert over.err == (
        "topgap: ε = 3 is more than what is left for visits, 2.5 of 3; nothing was charged.\n"
    )


@pytest.mark.slow
def test_a_result_can_be_recorded_later_and_once(folder: Path, ledger: Ledger) -> None:
    ledger.charge("visits", 1, mechanism="a mean")
    ledger.charge("visits", 1, mechanism="topgap.top_k")
    made = top_k({"ash": 10**9, "elm": 0}, 1, 1)
    (folder / "mean.json").write_text('{"mean": 44.5}')
    (folder / "made.json").write_text(made.to_json())
    (folder / "other.json").write_text(top_k({"ash": 10**9, "elm": 0}, 1, 2).to_json())
    (folder / "bad.json").write_text("{")
    asked = ("record", "budget.db", "--charge")
    ended = told(folder, *asked, 2, "mean.json")
    assert ended == (0, "The result of charge 2 is recorded in budget.db.\n", "")
    refusals = {
        (2, "mean.json"): "Charge 2 already has its result; a result is recorded only once.",
        (1, "mean.json"): "budget.db has no charge 1.",
        (3, "other.json"): "Charge 3 is of ε = 1, and the result cost more: 2.",
        (3, "bad.json"): "bad.json is not JSON.",
        (3, "none.json"): "none.json cannot be read: No such file or directory.",
    }
    for (number, name), sentence in refusals.items():
        refused = told(folder, *asked, number, name)
        assert refused.code == 1
        assert is_one_sentence(refused.err)
        assert refused.err.endswith(f"{sentence}\n")
    piped = topgap("budget", *asked, 3, "-", folder=folder, given=made.to_json().encode())
    assert piped.code == 0
    mean, recorded = (each.result or "" for each in ledger.history())
    assert json.loads(mean) == {"mean": 44.5}
    assert Release.from_json(recorded) == made


def test_a_clock_that_went_back_is_told_and_can_be_ignored(folder: Path, ledger: Ledger) -> None:
    from topgap.ledger import entry

    with pytest.MonkeyPatch.context() as patched:
        later = entry.now().replace(year=2099)
        patched.setattr(entry, "now", lambda: later)
        ledger.charge("visits", "1/2", mechanism="from the future")
    ended = released(folder, *CHARGED)
    assert ended.code == 1
    assert re.fullmatch(
        r"topgap: The clock shows .* UTC, before the ledger's last entry of 2099-.* UTC; correct "
        r"it, or give check_clock=False \(--ignore-clock\)\.\n",
        ended.err,
    )
    assert ledger.budget("visits").left == Fraction(5, 2)
    assert released(folder, *CHARGED, "--ignore-clock").code == 0
    assert ledger.verify().entries == 4


@pytest.mark.slow
def test_the_help_and_its_examples_can_be_typed(folder: Path) -> None:
    for command in (
        [],
        ["init"],
        ["charge"],
        ["record"],
        ["show"],
        ["history"],
        ["export"],
        ["copy"],
        ["verify"],
    ):
        ended = told(folder, *command, "--help")
        assert (ended.code, ended.err) == (0, "")
        assert f"Usage: topgap budget {' '.join(command)}".strip() in ended.out
    joined = EXAMPLES.replace("\\\n", " ")
    examples = [line for line in joined.splitlines() if line.startswith("topgap ")]
    assert len(examples) == 10
    (folder / "result.json").write_text("44.5")
    for example in examples:
        ended = within(folder, *shlex.split(example)[1:])
        missing = "visits.parquet" in example  # which is not here, and for that reason alone
        assert ended.code == missing, ended.err
        assert ("No such file" in ended.err) == missing, ended.err
    assert Ledger(folder / "budget.db").budget("visits").left == Fraction(5, 2)
