"""`topgap release --by`: a list for each group, with every source, output and option."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.command import Ended, is_one_sentence
from tests.cli.test_budget import CHARGED, within
from topgap import GroupedEstimates, GroupedRelease, Ledger
from topgap.counting import NOT_PROTECTED
from topgap.report import read_grouped

pytestmark = pytest.mark.slow

# So far apart that noise of mean at most 16 changes an order with probability below 1e-20.
COUNTS = {
    "North": {"flu": 3_000, "cold": 2_000, "cough": 1_000},
    "S\u00fcd": {"cold": 3_000, "cough": 2_000, "flu": 1_000},
    "elsewhere": {"gout": 5_000},
}
NEVER = 1e-20
EXPECTED = {"North": ("flu", "cold"), "S\u00fcd": ("cold", "cough")}
EVENTS = ("--person", "who", "--item", "what")
BY = ("--by", "where", "--groups", "regions.txt")
LIST = ("--domain", "domain.txt")
ENDS = ("-k", 2, "--epsilon", 1)
ASKED = (*EVENTS, *BY, *LIST, *ENDS)


@pytest.fixture
def places(folder: Path) -> Path:
    """A folder with events in three regions, one of which is not public, and one nobody is in."""
    rows = [
        (f"{where}{n}", where, what)
        for where, counts in COUNTS.items()
        for what, count in counts.items()
        for n in range(count)
    ]
    rows += [("North1", "Su\u0308d ", "flu"), ("North2", "", "flu")]
    lines = ["who,where,what", *(",".join(row) for row in rows)]
    (folder / "places.csv").write_text("\n".join(lines) + "\n")
    (folder / "regions.txt").write_text("North\n S\u00fcd\n\nWest\n")
    return folder


@pytest.fixture
def ledger(places: Path) -> Ledger:
    made = Ledger(places / "budget.db", who="ana")
    made.add_dataset("visits", 3)
    return made


def release(folder: Path, *arguments: object, source: str = "places.csv") -> Ended:
    return within(folder, "release", source, *arguments)


def made(folder: Path, *arguments: object, source: str = "places.csv") -> GroupedRelease:
    ended = release(folder, *arguments, "--format", "json", source=source)
    assert ended.code == 0, ended.err
    return GroupedRelease.from_json(ended.out)


def has_the_right_lists(lists: GroupedRelease) -> bool:
    return [*lists] == ["North", "S\u00fcd", "West"] and all(
        lists[group].items == items for group, items in EXPECTED.items()
    )


@pytest.mark.statistical(false_alarm=NEVER)
def test_each_group_gets_a_list(places: Path) -> None:
    lists = made(places, *ASKED)
    assert has_the_right_lists(lists)
    assert len(lists["West"]) == 2
    assert lists.epsilon == lists.parameters.groups_per_person == 1
    ended = release(places, *ASKED)
    assert (
        "\u03b5 = 1 for all 3 groups together: each person is counted in at most 1 of them, "
        in (ended.err)
    )
    assert "chosen by a public rule that looks at that person's rows only" in ended.err
    assert ended.out.splitlines()[1].split()[:3] == ["North", "1", "flu"]


# --- Sources


def write_sources(folder: Path) -> dict[str, list[object]]:
    """The same events and counts in several forms, with what is asked of each."""
    rows = [*csv.reader(io.StringIO((folder / "places.csv").read_text()))][1:]
    who, where, what = ([row[n] for row in rows] for n in range(3))
    events = pa.table({"who": who, "where": where, "what": what})
    pq.write_table(events, folder / "e.parquet")
    with (folder / "e.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in events.to_pylist())
    with duckdb.connect(str(folder / "e.duckdb")) as database:
        database.execute("create table visits as select * from events")
    by_person: dict[tuple[str, str], list[str]] = {}
    for person, region, item in rows:
        by_person.setdefault((person, region.strip().replace("u\u0308", "\u00fc")), []).append(item)
    lines = [" ".join([region, *had]) for (_, region), had in by_person.items()]
    (folder / "e.dat").write_text("\n".join(lines))
    counts = [(where, what, n) for where, own in COUNTS.items() for what, n in own.items()]
    table = pa.table({name: [row[n] for row in counts] for n, name in
                      enumerate(["where", "what", "n"])})  # fmt: skip
    pq.write_table(table, folder / "counts.parquet")
    groups, query = BY[2:], 'select who, "where", what from visits'
    return {
        "e.parquet": [*EVENTS, *BY],
        "e.jsonl": [*EVENTS, *BY],
        "e.duckdb": [*EVENTS, *BY, "--query", query],
        "e.dat": [*groups],
        "counts.parquet": ["--item", "what", "--count", "n", *BY, "--sensitivity", 1],
    }


@pytest.mark.statistical(false_alarm=5 * NEVER)
def test_each_source_gives_the_same_lists(places: Path) -> None:
    for source, asked in write_sources(places).items():
        lists = made(places, *asked, *LIST, *ENDS, source=source)
        assert has_the_right_lists(lists), source
    ended = release(places, *asked, *LIST, *ENDS, "--groups-per-person", 2, source=source)
    assert "You state that each person is in at most 2 groups (--groups-per-person)" in ended.err


def test_counts_that_move_both_ways_need_twice_the_groups(places: Path) -> None:
    """Where a person is replaced and noise is exponential (docs/proofs/groups.md, Theorem 2)."""
    write_sources(places)
    asked = ["--item", "what", "--count", "n", *BY, "--sensitivity", 1, *LIST, *ENDS, "--check"]
    asked += ["--no-monotonic"]
    few = ["--items-per-person", 1]
    for more, said in ([], False), (["replace"], True), (["replace", *few], False):
        option = ["--neighbours"] * bool(more)
        ended = release(places, *asked, *option, *more, source="counts.parquet")
        assert ended.code == 0, ended.err
        assert ("otherwise double --groups-per-person" in ended.out) == said


@pytest.mark.statistical(false_alarm=NEVER)
def test_standard_input_is_a_source_too(places: Path) -> None:
    content = (places / "places.csv").read_bytes()
    ended = within(places, "release", "-", *ASKED, "--format", "json", given=content)
    assert has_the_right_lists(GroupedRelease.from_json(ended.out))


@pytest.mark.statistical(false_alarm=NEVER)
def test_several_columns_and_ranges_tell_a_group(places: Path) -> None:
    rows = [*csv.reader(io.StringIO((places / "places.csv").read_text()))][1:]
    lines = ["who,where,month,what", *(f"{a},{b},{n % 2 + 1},{c}" for n, (a, b, c) in
                                       enumerate(rows))]  # fmt: skip
    (places / "months.csv").write_text("\n".join(lines))
    asked = ["--by", "where", "--by", "month", "--groups", "where=regions.txt"]
    lists = made(places, *EVENTS, *asked, "--groups-range", "month=1:2", *LIST, *ENDS,
                 "--groups-per-person", 2, source="months.csv")  # fmt: skip
    assert [*lists] == [(where, n) for where in ("North", "S\u00fcd", "West") for n in (1, 2)]
    assert lists["North", 1].items == lists["North", 2].items == EXPECTED["North"]
    assert str(lists.parameters.each.epsilon) == "1/2"
    (places / "table.csv").write_text("id,region\n1,North\n2,West\n")
    column = ["--by", "where", "--groups", "table.csv", "--groups-column", "region"]
    assert [*made(places, *EVENTS, *column, *LIST, *ENDS)] == ["North", "West"]


# --- Outputs


@pytest.mark.statistical(false_alarm=NEVER)
def test_all_outputs_say_the_same(places: Path) -> None:
    ended = release(places, *ASKED, "-o", "lists.csv", "--report", "lists.html", "--title", "Ills")
    assert ended.code == 0, ended.err
    page = read_grouped((places / "lists.html").read_text())
    assert isinstance(page, GroupedRelease)
    head, *rows = csv.reader(io.StringIO((places / "lists.csv").read_text()))
    assert head[:4] == ["group", "rank", "item", "gap"]
    assert [tuple(row[:4]) for row in rows] == [
        (group, str(rank), item, str(gap))
        for group, each in page.items()
        for rank, item, gap in zip(
            range(1, 3), each.items, (w["gap"] for w in each.to_dict()["winners"]), strict=True
        )
    ]
    text = (places / "lists.html").read_text()
    assert "Everyone counts once for each item, separately in each group." in text
    assert release(places, *ASKED, "-o", "lists.parquet").code == 0
    table = pq.read_table(places / "lists.parquet")
    stored = GroupedRelease.from_json(table.schema.metadata[b"topgap.grouped_release"])
    assert has_the_right_lists(stored)
    assert table["group"].to_pylist() == ["North"] * 2 + ["S\u00fcd"] * 2 + ["West"] * 2


@pytest.mark.statistical(false_alarm=3 * NEVER)
def test_estimates_thresholds_and_values_have_groups(places: Path) -> None:
    ended = release(places, *ASKED, "--estimate", "--format", "json", "--neighbours", "replace")
    measured = GroupedEstimates.from_json(ended.out)
    assert has_the_right_lists(measured.release)
    assert abs(next(iter(measured["North"].estimates)) - 3_000) < 1_000
    assert "measurements are counted twice" in ended.err
    cut = release(places, *EVENTS, *BY, *LIST, "-k", 3, "--epsilon", 1, "--threshold", 500,
                  "--format", "csv")  # fmt: skip
    assert "In each group, \u03b5 = 1 is the most that is spent: 1/3 if no" in cut.err
    head, *rows = csv.reader(io.StringIO(cut.out))
    assert "count" in head or len(rows) == 7
    assert {row[0] for row in rows[:-1]} == {"North", "S\u00fcd"}
    assert rows[-1] == ["West", *[""] * (len(head) - 1)]  # nothing is above: its name alone
    few = made(places, *EVENTS, *BY, *LIST, "-k", 2, "--epsilon", 1, "--items-per-person", 1)
    assert few.parameters.each.noise == "laplace"
    assert few["North"].has_counts


@pytest.mark.statistical(false_alarm=NEVER)
def test_a_large_domain_and_one_from_the_data(places: Path) -> None:
    lists = made(places, *EVENTS, *BY, *ENDS, "--domain-pattern", "[a-z]{3,8}")
    assert has_the_right_lists(lists)
    ended = release(places, *EVENTS, *BY, *ENDS, "--domain-from-data", "--format", "csv")
    assert NOT_PROTECTED in ended.err
    pairs = made(places, *EVENTS, *BY, *LIST, "-k", 1, "--epsilon", 1, "--together", 2)
    assert pairs["North"].items == (("flu", "cold"),)


@pytest.mark.statistical(false_alarm=NEVER)
def test_items_of_several_columns_from_the_data(places: Path, ledger: Ledger) -> None:
    """In every form, in the report, in the ledger, and with --check."""
    lines = (places / "places.csv").read_text().splitlines()[1:]
    years = [f"{line},{2024 + line.endswith('flu')}" for line in lines]
    (places / "years.csv").write_text("\n".join(["who,where,what,year", *years]) + "\n")
    free = (*EVENTS, "--item", "year", *BY, *ENDS, "--domain-from-data")
    asked = (*free, *CHARGED)
    said = release(places, *asked, "--check", source="years.csv")
    assert said.code == 0
    assert NOT_PROTECTED in said.err + said.out
    assert ledger.budget("visits").spent == 0
    ended = release(places, *asked, "--format", "json", source="years.csv")
    lists = GroupedRelease.from_json(ended.out)
    assert lists["North"].items == (("flu", "2025"), ("cold", "2024"))
    assert lists.domain_from_data
    assert NOT_PROTECTED in json.loads(ended.out)["caveat"]
    page = ("--report", "years.html")
    for form, more in (("table", ()), ("csv", page)):
        shown = release(places, *free, "--format", form, *more, source="years.csv")
        assert "cold" in shown.out, shown.err
        assert "2024" in shown.out
    text = (places / "years.html").read_text()
    assert NOT_PROTECTED.partition(",")[0] in text
    assert read_grouped(text)["North"].items == lists["North"].items
    [entry] = ledger.history("visits")
    assert entry.parameters["domain_from_data"] is True


# --- The ledger


def test_all_groups_are_charged_once(places: Path, ledger: Ledger) -> None:
    ended = release(places, *ASKED, *CHARGED, "--groups-per-person", 2, "--format", "json")
    assert ended.code == 0, ended.err
    assert ledger.budget("visits").spent == 1
    [entry] = ledger.history("visits")
    noted = entry.parameters
    assert (noted["by"], noted["groups"], noted["groups_per_person"]) == ("where", "regions.txt", 2)
    assert 3 in noted.values()  # groups share it
    assert GroupedRelease.from_json(entry.result or "") == GroupedRelease.from_json(ended.out)


def test_a_query_is_checked_with_its_groups_before_it_is_charged(
    places: Path, ledger: Ledger
) -> None:
    write_sources(places)
    asked = [*EVENTS, *LIST, *ENDS, *CHARGED, "--query", 'select who, "where", what from visits']
    years = ["--by", "where", "--groups-range", "2023:2024"]
    for wrong in (["--by", "other", *BY[2:]], ["--by", "where", "--groups", "missing.txt"]):
        failed = release(places, *asked, *wrong, source="e.duckdb")
        assert (failed.code, "Nothing was charged." in failed.err) == (1, True)
    assert ledger.budget("visits").spent == 0
    assert release(places, *asked, *years, source="e.duckdb").code == 0
    assert ledger.budget("visits").spent == 1


def test_a_check_and_an_error_charge_nothing(places: Path, ledger: Ledger) -> None:
    ended = release(places, *ASKED, *CHARGED, "--check")
    assert ended.code == 0, ended.err
    assert "Each of 3 groups would get such a list" in ended.out
    assert "Would be charged to visits: \u03b5 = 1, which leaves 2." in ended.out
    for wrong in (["-k", 5], ["--by", "other"], ["--groups", "missing.txt"]):
        asked: list[object] = [*EVENTS, "--by", "where", *LIST, "--epsilon", 1, "-k", 2]
        asked += [] if wrong[0] == "--groups" else ["--groups", "regions.txt"]
        if wrong[0] == "--by":
            asked[asked.index("--by") : asked.index("--by") + 2] = []
        failed = release(places, *asked, *wrong, *CHARGED)
        assert failed.code == 1
        assert "Nothing was charged." in failed.err
    assert ledger.budget("visits").spent == 0
    assert not ledger.history("visits")


# --- What is refused

REFUSED: list[tuple[list[object], int, str]] = [
    ([*EVENTS, *BY, *ENDS, *LIST, "--all-rows"], 2, "public items by just one of"),
    (["--item", "what", "--count", "n", *BY, *ENDS, "--all-rows"], 2, "--all-rows is for one list"),
    ([*EVENTS, *LIST, *ENDS, "--by", "where"], 2, "the public groups are missing"),
    ([*EVENTS, *LIST, *ENDS, "--groups", "regions.txt"], 2, "--groups needs --by"),
    ([*EVENTS, *LIST, *ENDS, "--groups-per-person", 2], 2, "--groups-per-person is for --by"),
    ([*ASKED, "--groups-range", "1:3"], 2, "just one of --groups and --groups-range"),
    ([*ASKED, "--groups", "regions.txt"], 2, "--groups is given once"),
    ([*EVENTS, *LIST, *ENDS, "--by", "where", "--groups-range", "3:1"], 2, "must not end before"),
    ([*EVENTS, *LIST, *ENDS, "--by", "where", "--groups-column", "x"], 2, "missing"),
    ([*EVENTS, *LIST, *ENDS, "--by", "where", "--groups", "-"], 2, "--groups names a file"),
    ([*EVENTS, *LIST, *ENDS, "--by", "who", *BY[2:]], 2, "--by must name another column"),
    ([*EVENTS, *LIST, *ENDS, "--by", "what", *BY[2:]], 2, "--by must name another column"),
    ([*EVENTS, *LIST, *ENDS, "--by", "where", "--by", "where", *BY[2:]], 2, "each column once"),
    ([*ASKED, "--by", "month"], 2, "with several --by columns, write --groups as COLUMN=VALUE"),
    ([*ASKED, "--groups-per-person", 0], 1, "groups_per_person must be"),
    ([*ASKED, "--groups-per-person", 4], 2, "must be at most 3, the number of groups"),
    ([*EVENTS, *BY, *LIST, "-k", 5, "--epsilon", 1], 1, "the domain must have at least 6 items"),
    ([*EVENTS, *LIST, *ENDS, "--by", "where", "--groups", "twice.txt"], 1, "cannot be used"),
    ([*EVENTS, *LIST, *ENDS, "--by", "where", "--groups", "empty.txt"], 1, "cannot be used"),
    ([*EVENTS, *LIST, *ENDS, "--by", "where", "--groups", "no.txt"], 1, "cannot be used"),
    ([*EVENTS, *LIST, *ENDS, "--by", "where", "--groups-range", "1:1000001"], 1, "1,000,000"),
    ([*EVENTS, *LIST, *ENDS, "--by", "region", *BY[2:]], 1, "has no column 'region'"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "code", "why"), REFUSED)
def test_what_does_not_go_together_is_refused(
    places: Path, asked: list[Any], code: int, why: str
) -> None:
    (places / "twice.txt").write_text("North\nNorth \n")
    (places / "empty.txt").write_text("\n\n")
    ended = release(places, *asked, "-o", "lists.csv")
    assert ended.code == code
    flat = " ".join(ended.err.replace("\u2502", " ").split())
    assert why in flat
    assert code == 2 or is_one_sentence(ended.err.splitlines()[0] + "\n")
    assert not (places / "lists.csv").exists()
    assert not ended.out


def test_a_line_of_a_fimi_file_is_in_one_group(places: Path) -> None:
    (places / "e.dat").write_text("North flu\n")
    for more, why in (
        (["--by", "x"], "without --by"),
        (["--groups-per-person", 2], "in one group"),
    ):
        ended = release(places, *BY[2:], *LIST, *ENDS, *more, source="e.dat")
        assert ended.code == 2
        assert why in " ".join(ended.err.replace("\u2502", " ").split())


def test_the_groups_are_not_overwritten(places: Path) -> None:
    ended = release(places, *ASKED, "-o", "regions.txt", "--overwrite")
    assert ended.code == 1
    assert "is what is read" in ended.err
    assert (places / "regions.txt").read_text().startswith("North")


def test_an_interrupted_run_leaves_nothing(
    places: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    from topgap.counting import group_counts

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(group_counts, "_read_counts", interrupt)
    temporary = places / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    ended = release(places, *ASKED, *CHARGED, "-o", "lists.csv")
    assert ended.code == 130
    assert not [*temporary.iterdir()]
    assert not (places / "lists.csv").exists()
    assert ledger.budget("visits").spent == 0
