"""Before ε is spent: `--check`, the question in a terminal, and what a person is said to move."""

import json
import os
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.command import ASKED
from tests.cli.test_budget import CHARGED, ROWS, within
from tests.cli.test_terminal import on_a_terminal
from tests.streams.sample_streams import stream_of
from topgap import Ledger
from topgap.counting import NOT_PROTECTED

pytestmark = pytest.mark.slow

QUERY = ("--person", "who", "--item", "what", "--domain", "domain.txt", "-k", 2, "--epsilon", 1)


@pytest.fixture
def ledger(folder: Path) -> Ledger:
    made = Ledger(folder / "budget.db", who="ana")
    made.add_dataset("visits", 3)
    return made


def test_a_check_says_what_would_be_and_does_nothing(folder: Path, ledger: Ledger) -> None:
    before = sorted(os.listdir(folder))
    ended = within(
        folder, "release", "visits.csv", *ASKED, *CHARGED, "--check", "-o", "out.csv", "--estimate"
    )
    assert (ended.code, ended.err) == (0, "")
    first, released, charged, holder, *more = ended.out.splitlines()
    assert first == "Nothing was drawn or charged."
    assert released == (
        "Would be released: the 2 largest of the items with the gaps between them and their "
        "measurements, at ε = 1, sensitivity 1, monotonic."
    )
    assert charged == "Would be charged to visits: ε = 1, which leaves 2."
    assert holder == (
        "For the data holder only, never to be published: of 5 items, 4 have an answer "
        "other than 0."
    )
    assert more[-1] == "Would be written: out.csv."
    assert sorted(os.listdir(folder)) == before
    assert ledger.budget("visits").charges == 0


def test_a_check_shows_that_columns_are_swapped(folder: Path) -> None:
    swapped = ("--person", "what", "--item", "who", "--domain", "domain.txt")
    ended = within(folder, "release", "visits.csv", *swapped, "-k", 2, "--epsilon", 1, "--check")
    assert "of 5 items, 0 have an answer" in ended.out
    assert "So the release would be only noise" in ended.out


def test_a_check_says_what_a_conversion_costs(folder: Path, ledger: Ledger) -> None:
    ledger.add_dataset("others", 3, neighbours="replace")
    asked = ["--neighbours", "add-remove", "--ledger", "budget.db", "--dataset", "others"]
    ended = within(folder, "release", "visits.csv", *ASKED, *asked, "--check")
    assert "ε = 2 (twice 1, because the data set is for persons who are replaced)" in ended.out


def test_a_check_says_that_the_list_is_not_protected(folder: Path) -> None:
    asked = ["--person", "who", "--item", "what", "--domain-from-data", "-k", 2, "--epsilon", 1]
    ended = within(folder, "release", "visits.csv", *asked, "--check")
    assert NOT_PROTECTED in ended.out
    assert "4 have an answer" in ended.out


@pytest.mark.usefixtures("ledger")
def test_a_check_refuses_what_the_release_would(folder: Path) -> None:
    for place, wrong in ((1, "nobody"), (9, "4"), (5, "none.txt")):
        asked = [*ASKED[:place], wrong, *ASKED[place + 1 :]]
        ended = within(folder, "release", "visits.csv", *asked, *CHARGED, "--check")
        assert ended.code == 1, wrong
        assert ended.out == ""


@pytest.mark.parametrize("piped", [False, True])
def test_rows_are_checked_too(piped: bool, folder: Path, ledger: Ledger) -> None:
    table = pa.table({"what": ["a", "b", "c"], "people": [5, 6, 7]})
    pq.write_table(table, folder / "rows.parquet")
    source, given = ("-", stream_of(table)) if piped else ("rows.parquet", b"")
    ended = within(folder, "release", source, *ROWS, *CHARGED, "--check", given=given)
    assert ended.code == 0
    assert "of 3 items, 3 have an answer" in ended.out
    assert "by at most 1 (--sensitivity), all in the same direction." in ended.out
    assert ledger.budget("visits").charges == 0


@pytest.mark.posix
@pytest.mark.parametrize(("answer", "code", "charges"), [
    (b"n\n", 1, 0), (b"\n", 1, 0), (b"y\n", 0, 1), (b"YES\n", 0, 1),
])  # fmt: skip
def test_a_terminal_is_asked_once(
    answer: bytes, code: int, charges: int, folder: Path, ledger: Ledger
) -> None:
    asked = ["release", "visits.csv", *ASKED, *CHARGED]
    ended, shown = on_a_terminal(asked, folder, typed=answer)
    assert ended == code
    assert shown.count("Go on? [y/N]") == 1
    assert "This charges ε = 1 to visits and leaves 2" in shown
    assert ("Not confirmed; nothing was charged or released." in shown) == (code == 1)
    assert ledger.budget("visits").charges == charges


@pytest.mark.deep
@pytest.mark.posix
def test_nothing_is_asked_where_it_was_answered(folder: Path, ledger: Ledger) -> None:
    asked: list[object] = ["release", "visits.csv", *ASKED]
    for more in ([*CHARGED, "--yes"], [*CHARGED, "--check"], []):
        code, shown = on_a_terminal([*asked, *more], folder, typed=b"n\n")
        assert code == 0, shown
        assert "Go on?" not in shown
    assert ledger.budget("visits").charges == 1
    assert within(folder, *asked, "--yes").code == 2


def test_a_query_is_charged_before_it_runs(folder: Path, ledger: Ledger) -> None:
    """Whether it fails is an answer: so it costs, and it says so."""
    with duckdb.connect(str(folder / "v.duckdb")) as database:
        database.execute("create table v as select 'ann' as who, 'flu' as what")

    def asked(query: str, *more: object) -> tuple[int, str]:
        ended = within(folder, "release", "v.duckdb", "--query", query, *QUERY, *CHARGED, *more)
        return ended.code, ended.err

    failing = "SELECT who, CAST(what AS INTEGER) AS what FROM v WHERE who = 'ann'"
    code, said = asked(failing, "--check")
    assert code == 1
    assert "Nothing was charged." in said
    code, said = asked(failing)
    assert code == 1
    assert "The query failed while it ran" in said
    assert "stays charged" in said
    assert ledger.budget("visits").spent == 1
    for wrong in (
        "SELECT who FROM v",
        "SELECT who, what FROM v LIMIT 1",
        "SELEC",
        "SELECT x FROM v",
    ):
        code, said = asked(wrong)
        assert code == 1
    assert asked("SELECT who, what FROM v")[0] == 0
    assert ledger.budget("visits").charges == 2


@pytest.mark.parametrize("numbers", [[0.5, 1.0, 2.0], [1.0, 2.0, 3.0], [-1, 2, 3]], ids=str)
def test_numbers_that_are_no_counts_need_a_word(numbers: list[float], folder: Path) -> None:
    pq.write_table(pa.table({"what": ["a", "b", "c"], "people": numbers}), folder / "n.parquet")
    asked = ["release", "n.parquet", *ROWS, "--format", "json"]
    ended = within(folder, *asked)
    assert ended.code == 1
    assert "say whether one person moves all of these numbers the same way" in ended.err
    for word, monotonic in (
        (["--monotonic"], True), (["--no-monotonic"], False), (["--neighbours", "replace"], False)
    ):  # fmt: skip
        ended = within(folder, *asked, *word)
        assert ended.code == 0, ended.err
        assert json.loads(ended.out)["parameters"]["monotonic"] is monotonic


def test_counts_are_monotonic_unless_something_is_said(folder: Path, ledger: Ledger) -> None:
    (folder / "counts.csv").write_text("what,people\nflu,3000\ncold,20\n")
    asked = ["release", "counts.csv", "--item", "what", "--count", "people", "--domain"]
    asked += ["domain.txt", "-k", "2", "--epsilon", "1", "--format", "json"]
    ledger.add_dataset("others", 3, neighbours="replace")
    for word, monotonic in (
        ([], True),
        (["--no-monotonic"], False),
        (["--neighbours", "replace"], False),
        (["--ledger", "budget.db", "--dataset", "visits"], True),
        (["--ledger", "budget.db", "--dataset", "others"], False),
    ):
        ended = within(folder, *asked, *word)
        assert ended.code == 0, ended.err
        assert json.loads(ended.out)["parameters"]["monotonic"] is monotonic, word
    assert [each.spent for each in ledger.budgets()] == [Fraction(1), Fraction(1)]
    # What is said of precomputed counts for one kind of neighbours is converted to the other's, or
    # refused: nobody said how far a replaced person moves them.
    typed = ["--no-monotonic", "--neighbours", "add-remove", "--ledger", "budget.db"]
    assert within(folder, *asked, *typed, "--dataset", "others").code == 0
    assert ledger.budget("others").spent == 3
    typed = ["--neighbours", "replace", "--ledger", "budget.db", "--dataset", "visits"]
    ended = within(folder, *asked, *typed)
    assert ended.code == 1
    assert ledger.budget("visits").spent == 1
    assert "does not bound it" in ended.err
    for wrong in (
        ["--monotonic", "--neighbours", "replace"],
        ["--monotonic", "--ledger", "budget.db", "--dataset", "others"],
    ):
        assert within(folder, *asked, *wrong).code == 2
