"""`topgap release` with domains that are not written out: options, refusals and outputs."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.command import ASKED, COUNTS, Ended, is_one_sentence
from tests.cli.test_budget import CHARGED, within
from topgap import Estimates, Ledger, Release
from topgap.counting import NOT_PROTECTED
from topgap.report import read_estimates, read_release

pytestmark = pytest.mark.slow

# Items of 3,000, 2,000 and 1,000 persons among 10^12 others, with noise of mean at most 4: another
# order has a probability below 10^12 · e^-200.
NEVER = 1e-70
EVENTS = ("--person", "who", "--item", "what")
LETTERS = ("--domain-strings", "a-z", "--max-length", 8)
ENDS = ("-k", 2, "--epsilon", 1)


@pytest.fixture
def ledger(folder: Path) -> Ledger:
    made = Ledger(folder / "budget.db", who="ana")
    made.add_dataset("visits", 3)
    return made


def release(folder: Path, *arguments: object, source: str = "visits.csv") -> Ended:
    return within(folder, "release", source, *arguments)


def made(folder: Path, *arguments: object, source: str = "visits.csv") -> Release:
    ended = release(folder, *arguments, "--format", "json", source=source)
    assert ended.code == 0, ended.err
    return Release.from_json(ended.out)


def write_numbers(folder: Path) -> None:
    """Write persons who had numbers, of whom many had two, as events, baskets and counts."""
    rows = [(f"p{n}", -7) for n in range(3_000)] + [(f"p{n}", 10**15) for n in range(2_000)]
    rows += [(f"p{n}", 5) for n in range(1_000)] + [("p0", 10**40)]
    text = "".join(f"{who},at,{what}\n" for who, what in rows)
    (folder / "numbers.csv").write_text("who,where,what\n" + text)
    baskets = ["-7 1000000000000000 5"] * 1_000 + ["-7 1000000000000000"] * 1_000 + ["-7"] * 1_000
    (folder / "numbers.dat").write_text("\n".join(baskets) + "\n")
    table = pa.table({"what": ["-7", "1000000000000000", " 5"], "people": [3_000, 2_000, 1_000]})
    pq.write_table(table, folder / "counts.parquet")


KINDS: list[tuple[list[object], str]] = [
    (["--domain-pattern", "[a-z]{3,5}"], "the texts that match [a-z]{3,5} (12,355,928 items)"),
    (["--domain-pattern", "[a-z]+", "--max-length", 8],
     "the texts of at most 8 characters that match [a-z]+ (217,180,147,158 items)"),
    ([*LETTERS], "the texts of at most 8 characters from a-z (217,180,147,158 items)"),
]  # fmt: skip


@pytest.mark.statistical(false_alarm=3 * NEVER)
@pytest.mark.parametrize(("options", "words"), KINDS, ids=[words for _, words in KINDS])
def test_texts_by_a_rule(folder: Path, options: list[object], words: str) -> None:
    ended = release(folder, *EVENTS, *options, *ENDS, "--format", "json")
    found = Release.from_json(ended.out)
    assert found.items == ("flu", "cold")
    assert all(900 < gap < 1_100 for gap in found.gaps or ())
    assert str(found.domain) == words
    said, *_ = ended.err.splitlines()
    assert said.startswith(f"The domain is {words}. An item needs a count of ")
    assert said.endswith(
        " to be named with probability 95%. A named item need not occur in the data."
    )
    assert release(folder, *EVENTS, *options, *ENDS, "-q").err == ""


@pytest.mark.statistical(false_alarm=4 * NEVER)
def test_a_range_of_any_size(folder: Path) -> None:
    write_numbers(folder)
    for source, columns in (
        ("numbers.csv", EVENTS), ("numbers.dat", ()),
        ("counts.parquet", ("--item", "what", "--count", "people")),
    ):  # fmt: skip
        asked = [*columns, "--domain-range", f"-10:{10**20}", *ENDS]
        found = made(folder, *asked, source=source)
        assert found.items == (-7, 10**15), source
    asked = [*EVENTS, "--domain-range", f" -{10**30} : {10**30} ", *ENDS]
    assert made(folder, *asked, source="numbers.csv").domain.size == 2 * 10**30 + 1  # type: ignore[union-attr]


@pytest.mark.statistical(false_alarm=3 * NEVER)
def test_pairs_and_triples(folder: Path) -> None:
    write_numbers(folder)
    for source, columns in (("numbers.csv", EVENTS), ("numbers.dat", ())):
        asked = [*columns, "--domain-range", f"-10:{10**16}", "--together", 2, *ENDS]
        ended = release(folder, *asked, "--report", "r.html", "--overwrite", source=source)
        assert "-7, 1000000000000000" in ended.out
        page = (folder / "r.html").read_text()
        assert read_release(page).items[0] == (-7, 10**15)
        assert "Each pair of items counts the people who have both" in page
    asked = ["--domain-range", "-10:1000000000000000", "--together", 3, "-k", 1, "--epsilon", 1]
    assert made(folder, *asked, source="numbers.dat").items == ((-7, 5, 10**15),)
    (folder / "four.txt").write_text("flu\ncold\ncough\ngout\n")
    asked = [*EVENTS, "--domain", "four.txt", "--together", 2, "-k", 1, "--epsilon", 1]
    assert made(folder, *asked).items == (("flu", "cold"),)


COLUMNS = ("--person", "who", "--item", "where", "--item", "what")


@pytest.mark.statistical(false_alarm=2 * NEVER)
def test_several_columns(folder: Path) -> None:
    write_numbers(folder)
    (folder / "where.csv").write_text("code,name\nat,Austria\nch,Switzerland\n")
    listed = ["--domain", "where=where.csv", "--domain-column", "where=code"]
    by_rule = ["--domain-range", f"what=-10:{10**16}"]
    found = made(folder, *COLUMNS, *listed, *by_rule, *ENDS, source="numbers.csv")
    assert found.items == (("at", -7), ("at", 10**15))
    assert found.domain is not None
    assert found.domain.words.startswith("all combinations of (a list of 2 items) and (the whole")
    texts = ["--domain-pattern", "where=[a-z]{2}", "--domain-strings", "what=0-9-"]
    lengths = ["--max-length", "what=17"]
    asked = [*COLUMNS, *texts, *lengths, "-k", 1, "--epsilon", 1]
    ended = release(folder, *asked, "--format", "csv", source="numbers.csv")
    assert ended.out.splitlines()[1].startswith("1,at,-7,")


def test_columns_from_the_data_are_tuples(folder: Path) -> None:
    write_numbers(folder)
    asked = [*COLUMNS, "--domain-from-data", "-k", 1, "--epsilon", 1]
    ended = release(folder, *asked, source="numbers.csv")
    assert ended.code == 0
    assert NOT_PROTECTED in ended.out


@pytest.mark.statistical(false_alarm=2 * NEVER)
def test_estimates_of_what_occurs_and_of_what_nobody_has(folder: Path) -> None:
    asked = [*EVENTS, *LETTERS, "-k", 4, "--epsilon", 4, "--estimate", "--report", "r.html"]
    ended = release(folder, *asked, "--format", "json")
    found = Estimates.from_json(ended.out)
    assert found.release.items[:3] == ("flu", "cold", "cough")
    for count, measured in zip(COUNTS.values(), found.measurements[:3], strict=False):
        assert abs(count - measured) < 400
    assert abs(found.measurements[3]) < 400  # of an item that few have, or nobody
    assert read_estimates((folder / "r.html").read_text()) == found
    # The share of ε that selects decides: noise of mean 4 / 2, and 217,180,147,158 items.
    assert "An item needs a count of 57 to be named with probability 95%" in ended.err


def test_winners_are_told_apart_from_those_that_occur(folder: Path) -> None:
    # All but one are named. Were an item that occurs drawn a second time among the others, it
    # would be named twice in about half of all runs.
    rows = "".join(f"p{n},{n}\n" for n in range(1, 12))
    (folder / "few.csv").write_text("who,what\n" + rows)
    asked = [*EVENTS, "--domain-range", "0:12", "-k", 12, "--epsilon", 1]
    for _ in range(5):
        found = made(folder, *asked, source="few.csv")
        assert len({*found.items}) == 12
        assert {*found.items} <= {*range(13)}


def test_the_ledger_notes_the_options_and_the_domain(folder: Path, ledger: Ledger) -> None:
    write_numbers(folder)
    columns = ["--domain-pattern", "where=[a-z]{2}", "--domain-range", "what=-10:99"]
    asked = [*COLUMNS, *columns, *ENDS, *CHARGED]
    assert release(folder, *asked, source="numbers.csv").code == 0
    letters = [*EVENTS, *LETTERS, "--together", 2, *ENDS, *CHARGED, "--estimate"]
    assert release(folder, *letters).code == 0
    first, second = ledger.history("visits")
    noted = first.parameters
    assert noted["item"] == ["where", "what"]
    assert (noted["domain_pattern"], noted["domain_range"]) == ("where=[a-z]{2}", "what=-10:99")
    noted = second.parameters
    assert (noted["item"], noted["domain_strings"]) == ("what", "a-z")
    assert (noted["max_length"], noted["together"]) == ("8", 2)
    assert ledger.budget("visits").left == 1


def test_a_check_tells_the_size_and_how_many_occur(folder: Path, ledger: Ledger) -> None:
    asked = [*EVENTS, "--domain-pattern", "[a-z]{3,40}", *ENDS, *CHARGED, "--check"]
    ended = release(folder, *asked)
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[3] == (
        "For the data holder only, never to be published: of about 4.1·10^56 items, 4 have "
        "an answer other than 0."
    )
    assert lines[4].startswith("The domain is the texts that match [a-z]{3,40} (about 4.1·10^56 ")
    assert ledger.budget("visits").charges == 0
    nothing = release(folder, *EVENTS, "--domain-range", "1:10", *ENDS, "--check")
    assert "So the release would be only noise" in nothing.out


def write_database(folder: Path) -> None:
    with duckdb.connect(str(folder / "v.duckdb")) as database:
        database.execute(
            "create table v as select * from read_csv('" + str(folder / "visits.csv") + "')"
        )


@pytest.mark.statistical(false_alarm=NEVER)
def test_a_query_is_charged_before_it_runs(folder: Path, ledger: Ledger) -> None:
    write_database(folder)
    query = ["--query", "select who, what from v", *ENDS, *CHARGED, "--format", "json"]
    ended = release(folder, *EVENTS, *LETTERS, *query, source="v.duckdb")
    assert Release.from_json(ended.out).items == ("flu", "cold")
    wrong = ["--query", "select who, what = 'flu' as what from v", *ENDS, *CHARGED]
    ended = release(folder, *EVENTS, "--domain-range", "0:9", *wrong, source="v.duckdb")
    assert (ended.code, ledger.budget("visits").charges) == (1, 1)
    assert "the column 'what' of type BOOLEAN cannot hold them" in ended.err
    failing = ["--query", "select who, cast(what as int) as what from v", *ENDS, *CHARGED]
    ended = release(folder, *EVENTS, "--domain-range", "0:9", *failing, source="v.duckdb")
    assert (ended.code, ledger.budget("visits").charges) == (1, 2)
    assert "was already charged to visits" in ended.err


USAGE: list[tuple[list[object], str]] = [
    ([*EVENTS, *LETTERS[:2]], "needs --max-length"),
    ([*EVENTS, "--domain-range", "1:9", "--max-length", 3], "is only for --domain-pattern"),
    ([*EVENTS, *LETTERS[:2], "--max-length", "many"], "whole number"),
    ([*EVENTS, *LETTERS, "--domain-pattern", "x"], "just one of"),
    ([*EVENTS, *LETTERS, "--domain-from-data"], "just one of"),
    ([*EVENTS, *LETTERS, "--domain-strings", "0-9"], "given once"),
    ([*EVENTS, "--domain-range", "9:1"], "end before it begins"),
    ([*EVENTS, "--domain-range", "1:x"], "two integers"),
    ([*EVENTS, "--domain-range", "what=1:9"], "without COLUMN= before it"),
    ([*EVENTS, *LETTERS, "--together", 4], "must be 2, for pairs, or 3"),
    ([*EVENTS, "--domain-from-data", "--together", 2], "needs public items"),
    (["--item", "what", "--count", "n", *LETTERS, "--together", 2], "which person has which item"),
    ([*EVENTS, "--item", "what", *LETTERS], "each column once"),
    ([*EVENTS, "--item", "when", *LETTERS], "COLUMN=VALUE"),
    ([*EVENTS, "--item", "when", "--domain-pattern", "what=x+", "--max-length", "what=3"],
     "are missing; give one of"),
    ([*EVENTS, "--item", "when", "--domain-range", "what=1:9", "--domain-range", "what=1:9"],
     "twice for one column"),
    ([*EVENTS, "--item", "when", "--domain-range", "what=1:9", "--domain", "when=-"],
     "names a file"),
    (["--item", "a", "--item", "b", "--count", "n", "--all-rows"], "one --item"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "said"), USAGE, ids=[said for _, said in USAGE])
def test_options_that_do_not_go_together(folder: Path, options: list[object], said: str) -> None:
    ended = release(folder, *options, *ENDS)
    assert (ended.code, ended.out) == (2, "")
    assert said in " ".join(ended.err.replace("│", " ").split())


REFUSED: list[tuple[list[object], str]] = [
    (["--domain-pattern", "[a-z"], "pattern"),
    (["--domain-pattern", "[a-z]+"], "length"),
    (["--domain-pattern", "a|b"], "at least 3 items"),
    (["--domain-range", "1:2"], "at least 3 items; it has 2"),
    (["--domain-strings", "z-a", "--max-length", 3], "alphabet"),
    ([*LETTERS[:2], "--max-length", 0], "max_length"),
    (["--domain-strings", "a-z", "--max-length", 10**9], "10^4000"),
    (["--domain-range", f"0:{'9' * 4000}", "--together", 2], "10^4000"),
    (["--domain", "domain.txt", "--domain-column", "x"], "column"),
    (["--domain-range", "1:9", "--epsilon", "1e-40"], "kernel"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"), REFUSED, ids=[" ".join(map(str, o))[:40] for o, _ in REFUSED]
)
def test_domains_that_cannot_be_used_cost_nothing(
    folder: Path, ledger: Ledger, options: list[object], said: str
) -> None:
    ends: list[Any] = [*ENDS[:2], *(() if "--epsilon" in options else ENDS[2:])]
    ended = release(folder, *EVENTS, *options, *ends, *CHARGED)
    assert (ended.code, ended.out) == (1, "")
    first, second = ended.err.splitlines()
    assert is_one_sentence(first)
    assert said in first
    assert second == "topgap: Nothing was charged."
    assert ledger.budget("visits").charges == 0


def test_a_column_that_cannot_hold_the_domain_costs_nothing(folder: Path, ledger: Ledger) -> None:
    table = pa.table({"who": ["a", "b"], "what": pa.array([1, 2], pa.date32())})
    pq.write_table(table, folder / "dates.parquet")
    asked = [*EVENTS, "--domain-range", "0:99", *ENDS, *CHARGED]
    ended = release(folder, *asked, source="dates.parquet")
    assert ended.code == 1
    assert "the column 'what' of type DATE cannot hold them" in ended.err
    assert ledger.budget("visits").charges == 0


def test_a_list_may_still_be_an_input_that_is_not_overwritten(folder: Path) -> None:
    ended = release(folder, *ASKED, "-o", "domain.txt", "--format", "csv", "--overwrite")
    assert ended.code != 0
    assert (folder / "domain.txt").read_text().startswith("\ufeffgout")


def test_json_and_frames_hold_tuples_and_the_domain(folder: Path) -> None:
    write_numbers(folder)
    asked = ["--domain-range", "-10:9", "--together", 2, *ENDS, "-q"]
    ended = release(folder, *asked, "--format", "json", source="numbers.dat")
    written = json.loads(ended.out)
    assert written["domain"] == {
        "description": "all pairs of (the whole numbers from -10 to 9)", "size": "190",
    }  # fmt: skip
    assert Release.from_json(ended.out).items[0] == (-7, 5)
    release(folder, *asked, "-o", "out.parquet", source="numbers.dat")
    assert pq.read_table(folder / "out.parquet").num_rows == 2
