"""`--items-per-person` and `--threshold`: noisy counts in every form, and a list of any length."""

import csv
import io
import json
from collections.abc import Sequence
from contextlib import chdir
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from typer.testing import CliRunner

from tests.cli.command import ASKED, Ended, is_one_sentence, topgap
from topgap import Ledger, Release, TopK
from topgap.cli.app import app
from topgap.cli.release.publication import Publication
from topgap.cli.release.terminal import TerminalTable
from topgap.counting import NOT_PROTECTED, count_events, count_transactions
from topgap.report import read_release

# Noise of scale 2 is 100 or more of any of five counts with a probability below 10 * e^-50. The
# same persons have flu, 3,000 of them, colds, 2,000, and coughs, 1,000. With one item each, 1,833,
# 833 and 333 are left, or about so many.
NEVER = 1e-20
ALL = (*ASKED[:6], *ASKED[8:])  # without -k
BOUND = ("--items-per-person", 1)
CUT = (*BOUND, "--threshold")
# Rows of precomputed counts.
ROWS = ("--item", "what", "--count", "people", "--epsilon", 1)


def within(folder: Path, *arguments: object, given: bytes = b"") -> Ended:
    """`topgap release` without a process of its own."""
    with chdir(folder):
        ended = CliRunner().invoke(app, ["release", *map(str, arguments)], input=given)
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


def released(folder: Path, *arguments: object, source: str = "visits.csv") -> Release:
    ended = within(folder, source, *arguments, "--format", "json")
    assert ended.code == 0, ended.err
    return Release.from_json(ended.out)


def counted(folder: Path, bound: int, **how: Any) -> dict[Any, int]:
    """The counts of the items that are kept."""
    asked: dict[str, Any] = {"person": "who", "item": "what", "domain": folder / "domain.txt"}
    return count_events(folder / "visits.csv", **{**asked, **how}, items_per_person=bound, by=None)


def is_about(release: Release, counts: dict[Any, int], names: Sequence[Any]) -> bool:
    """Whether these are the winners, whose noisy counts are near to these."""
    values = release.values
    assert values is not None
    near = all(abs(a - counts[b]) < 100 for a, b in zip(values, names, strict=True))
    return near and list(release.items) == list(names)


@pytest.mark.parametrize("bound", [1, 2])
@pytest.mark.statistical(false_alarm=NEVER)
def test_the_noise_is_that_of_the_bound(folder: Path, bound: int) -> None:
    release = released(folder, *ALL, "-k", 3, "--items-per-person", bound)
    assert release.parameters == TopK(3, 1, monotonic=True, items_per_person=bound)
    assert release.parameters.scale == bound
    assert is_about(release, counted(folder, bound), ["flu", "cold", "cough"])


@pytest.mark.parametrize(("more", "named"), [
    ((200,), ["flu", "cold", "cough"]), ((600,), ["flu", "cold"]), ((10**6,), []),
    ((200, "-k", 2), ["flu", "cold"]), ((200, "-k", 4), ["flu", "cold", "cough"]),
])  # fmt: skip
@pytest.mark.statistical(false_alarm=NEVER)
def test_a_threshold_ends_the_list(folder: Path, more: Any, named: list[str]) -> None:
    counts = counted(folder, 1)
    assert 800 < 3 * counts["cough"] < 1200 < 3 * counts["cold"] - 900
    assert is_about(released(folder, *ALL, *CUT, *more), counts, named)


@pytest.mark.parametrize(("said", "noise", "scale"), [
    ((*BOUND, "-k", 3), "laplace", 1),
    ((*BOUND, "-k", 3, "--noise", "exponential"), "exponential", 3),
    (("--items-per-person", 3, "-k", 3), "exponential", 3),
    (("--items-per-person", 3, "-k", 3, "--noise", "laplace"), "laplace", 3),
    ((*BOUND, "-k", 3, "--neighbours", "replace"), "laplace", 2),
])  # fmt: skip
def test_the_noise_is_chosen_by_public_numbers(
    folder: Path, said: Any, noise: str, scale: int
) -> None:
    parameters = released(folder, *ALL, *said).parameters
    assert str(parameters.noise) == noise
    assert parameters.scale == scale
    assert parameters.resolution == (1 if noise == "laplace" else Fraction(1, 10))


SENTENCES = {
    (*BOUND, "-k", 3): "Noise of scale 1 on every count, for at most 1 item per person; naming 3 "
    "items without a bound would take 3.",
    ("--items-per-person", 2, "--threshold", 9): "Noise of scale 2 on every count, for at most 2 "
    "items per person; it does not grow with the number of items that are named.",
    ("--items-per-person", 3, "-k", 3): "The bound of at most 3 items per person is not used to "
    "reduce noise: naming 3 items takes noise of scale 3 without it, too.",
    (*BOUND, "-k", 3, "--noise", "exponential"): "Noise of scale 3, for naming 3 items; Laplace "
    "noise for at most 1 item per person would have scale 1.",
    (*BOUND, "-k", 3, "--neighbours", "replace"): "Noise of scale 2 on every count, for at most 1 "
    "item per person; naming 3 items without a bound would take 6.",
}


@pytest.mark.parametrize("said", SENTENCES)
def test_it_says_how_the_noises_compare(folder: Path, said: Any) -> None:
    ended = within(folder, "visits.csv", *ALL, *said)
    assert ended.err.splitlines()[0] == SENTENCES[said]
    assert "Each person counts for at most" in ended.err
    checked = within(folder, "visits.csv", *ALL, *said, "--check")
    assert SENTENCES[said] in checked.out.splitlines()
    assert within(folder, "visits.csv", *ALL, *said, "-q").err == ""


def test_it_says_so_before_anything_is_read(folder: Path) -> None:
    """And the same whatever the data are."""
    first = within(folder, "visits.csv", *ALL, *BOUND, "-k", 3).err
    (folder / "visits.csv").write_text("who,what\n")
    assert within(folder, "visits.csv", *ALL, *BOUND, "-k", 3).err.startswith(
        first.partition("No gap")[0]
    )


@pytest.mark.statistical(false_alarm=NEVER)
def test_every_form_has_counts_errors_and_intervals(folder: Path) -> None:
    forms = {}
    for form in ("table", "csv", "json", "parquet"):
        asked = (*ALL, *CUT, 200, "--level", "0.9", "-o", "out", "--format", form, "--overwrite")
        ended = within(folder, "visits.csv", *asked, "--report", "r.html")
        assert (ended.code, ended.out) == (0, ""), ended.err
        forms[form] = (folder / "out").read_bytes(), read_release((folder / "r.html").read_text())

    text, release = forms["table"][0].decode(), forms["table"][1]
    assert text.splitlines()[0].split() == [
        "rank", "item", "ahead", "of", "the", "next", "by", "value", "±", "90%", "from", "to",
    ]  # fmt: skip
    (low, high), *_ = release.intervals("0.9")
    assert release.values is not None
    assert text.splitlines()[1].split()[-4:] == [*map(str, (release.values[0], 1.4, low, high))]
    assert "in 90 of 100 such publications" in text
    assert "Cut at 200: 3 items reached it." in text

    rows, release = [*csv.DictReader(io.StringIO(forms["csv"][0].decode()))], forms["csv"][1]
    assert [row["item"] for row in rows] == [*release.items]
    assert release.values is not None
    intervals = release.intervals("0.9")
    wide = release.intervals("0.9", simultaneous=True, size=5)
    for row, value, ends, at_once in zip(rows, release.values, intervals, wide, strict=True):
        assert Fraction(row["value"]) == value
        assert float(row["standard_error"]) == release.standard_error
        assert (Fraction(row["low"]), Fraction(row["high"])) == ends
        assert (Fraction(row["simultaneous_low"]), Fraction(row["simultaneous_high"])) == at_once

    assert Release.from_json(forms["json"][0]) == forms["json"][1]
    table, release = pq.read_table(io.BytesIO(forms["parquet"][0])), forms["parquet"][1]
    assert release.values is not None
    assert table["value"].to_pylist() == [*map(float, release.values)]
    assert [*zip(table["low"].to_pylist(), table["high"].to_pylist(), strict=True)] == [
        *release.intervals("0.9")
    ]
    assert Release.from_json(table.schema.metadata[b"topgap.release"]) == release


@pytest.mark.statistical(false_alarm=NEVER)
def test_a_list_that_nothing_reaches_looks_right_in_every_form(folder: Path) -> None:
    def made(form: str) -> bytes:
        asked = (*ALL, *CUT, 10**6, "--format", form, "-o", "out", "--overwrite")
        ended = within(folder, "visits.csv", *asked, "--report", "r.html")
        assert ended.code == 0, ended.err
        assert "No noisy count reached the threshold. If you did not expect this" in ended.err
        assert "No gap is larger" not in ended.err
        assert len(read_release((folder / "r.html").read_text())) == 0
        return (folder / "out").read_bytes()

    text = made("table").decode()
    assert text.startswith("Cut at 1000000: no item reached it.\n")
    assert "order of the two uncertain" not in text
    assert made("csv").decode() == (
        "rank,item,gap,value,standard_error,low,high,simultaneous_low,simultaneous_high\n"
    )
    assert json.loads(made("json"))["winners"] == []
    table = pq.read_table(io.BytesIO(made("parquet")))
    assert (table.num_rows, table.column_names[:3]) == (0, ["item", "gap", "gap_units"])


def shown(release: Release, width: int = 100) -> str:
    """What a terminal of this width shows."""
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(TerminalTable(Publication(release)))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_terminal_shows_counts_and_bars_and_nothing_of_an_empty_list() -> None:
    few = TopK(None, 1, items_per_person=1, monotonic=True, threshold=500)
    release = Release(few, None, [1200, 300], ["flu", "cold"], value_units=[2000, 800])
    text = shown(release)
    head, first, *_ = text.splitlines()[1:]
    assert head.split()[-4:] == ["±", "95%", "from", "to"]
    assert first.split()[:7] == ["1", "flu", "1200", "2000", "1.4", "1997", "2003"]
    assert "█" in text
    assert "Cut at 500: 2 items reached it." in text
    assert "█" not in shown(release, 44)
    empty = shown(Release(few, None, [], [], value_units=[]))
    assert empty.startswith("Cut at 500: no item reached it.")
    assert not any(sign in empty for sign in ("█", "rank", "uncertain", "±"))


# Other sources and domains


@pytest.mark.statistical(false_alarm=NEVER)
def test_baskets_are_bounded_too(folder: Path) -> None:
    baskets = ["1 2 3"] * 900 + ["4 3"] * 600 + ["5"] * 300
    (folder / "baskets.dat").write_text("\n".join(baskets))
    asked = ("--domain-range", "1:1000000000000", "--epsilon", 1, "-k", 3, *BOUND)
    counts = count_transactions(folder / "baskets.dat", domain=range(1, 9), items_per_person=1)
    names = sorted(counts, key=lambda item: -counts[item])[:3]
    release = released(folder, *asked, source="baskets.dat")
    assert is_about(release, counts, names)
    assert sum(counts.values()) == len(baskets)


@pytest.mark.parametrize("domain", [
    ("--domain-pattern", "[a-z]{3,5}"), ("--domain-strings", "a-z", "--max-length", 20),
    ("--domain-from-data",),
])  # fmt: skip
@pytest.mark.statistical(false_alarm=NEVER)
def test_domains_of_every_kind_take_a_threshold(folder: Path, domain: Any) -> None:
    ended = within(folder, "visits.csv", *ASKED[:4], *domain, "--epsilon", 1, *CUT, 200)
    assert ended.code == 0, ended.err
    assert [line.split()[1] for line in ended.out.splitlines()[1:4]] == ["flu", "cold", "cough"]
    assert (NOT_PROTECTED in ended.out) == (domain == ("--domain-from-data",))


@pytest.mark.statistical(false_alarm=NEVER)
def test_several_columns_and_sets_of_items(folder: Path) -> None:
    (folder / "places.txt").write_text("AT\nDE\n")
    rows = [f"p{n},{what},{'AT' if n % 3 else 'DE'}\n" for n in range(900) for what in "ab"]
    (folder / "views.csv").write_text("who,what,where\n" + "".join(rows))
    columns = ("--person", "who", "--item", "what", "--epsilon", 1)
    domains = (
        "--domain",
        "where=places.txt",
        "--domain-strings",
        "what=a-z",
        "--max-length",
        "what=9",
    )
    named = released(
        folder, *columns, "--item", "where", *domains, *CUT, 100, source="views.csv"
    ).items
    assert {*named[:2]} == {("a", "AT"), ("b", "AT")}
    pairs = ("--domain-strings", "a-z", "--max-length", 3, "--together", 2, "-k", 2, *BOUND)
    release = released(folder, *columns, *pairs, source="views.csv")
    assert release.items[0] == ("a", "b")
    assert release.values is not None
    assert abs(release.values[0] - 900) < 200


@pytest.mark.statistical(false_alarm=NEVER)
def test_of_precomputed_counts_the_bound_is_the_users_word(folder: Path) -> None:
    (folder / "counts.csv").write_text("what,people\nflu,3000\ncold,2000\ngout,3\n")
    pq.write_table(
        pa.table({"what": ["flu", "cold", "gout"], "people": [3000, 2000, 3]}),
        folder / "counts.parquet",
    )
    sentence = (
        "You state that one person moves at most 2 counts (--items-per-person), each by at most 1"
    )
    for source, domain in (
        ("counts.csv", ("--domain", "domain.txt")),
        ("counts.csv", ("--domain-pattern", "[a-z]{3,5}")),
        ("counts.csv", ("--domain-from-data",)),
        ("counts.parquet", ("--all-rows",)),
    ):
        asked = (*ROWS, *domain, "--items-per-person", 2, "--threshold", 500)
        ended = within(folder, source, *asked, "--format", "json")
        assert ended.code == 0, ended.err
        found = Release.from_json(ended.out)
        assert is_about(found, {"flu": 3000, "cold": 2000}, ["flu", "cold"])
        assert sentence in ended.err
        assert "Each person counts" not in ended.err
        assert ended.err.startswith("Noise of scale 2 on every count")
    ended = within(folder, "counts.parquet", *ROWS, "--all-rows", *CUT, 10**6, "--check")
    assert "of 3 items, 3 have an answer" in ended.out


def test_a_query_and_a_database_are_bounded(folder: Path) -> None:
    with duckdb.connect(str(folder / "v.duckdb")) as database:
        database.read_csv(str(folder / "visits.csv")).create("v")
    (ledger := Ledger(folder / "budget.db")).add_dataset("visits", 3)
    asked = (*ALL, *CUT, 200, "--ledger", "budget.db", "--dataset", "visits", "--yes")
    for source in (("--query", "select who, what from v"), ("--table", "v")):
        ended = within(folder, "v.duckdb", *asked, *source, "--format", "json")
        assert ended.code == 0, ended.err
        assert is_about(Release.from_json(ended.out), counted(folder, 1), ["flu", "cold", "cough"])
    assert ledger.budget("visits").spent == 2


# The ledger


def test_a_ledger_notes_the_bound_and_gets_the_values(folder: Path) -> None:
    (ledger := Ledger(folder / "budget.db")).add_dataset("visits", 3)
    paid = ("--ledger", "budget.db", "--dataset", "visits")
    checked = within(folder, "visits.csv", *ALL, *CUT, 500, *paid, "--check")
    assert "Would be charged to visits: ε = 1, which leaves 2." in checked.out
    assert "whose values reach 500" in checked.out
    ended = within(folder, "visits.csv", *ALL, *CUT, 500, *paid, "--yes", "--format", "json")
    [charge] = ledger.history("visits")
    assert charge.result is not None
    assert Release.from_json(charge.result) == Release.from_json(ended.out)
    noted = {"items_per_person": 1, "noise": "laplace", "threshold": "500"}
    assert noted.items() <= charge.parameters.items()


# Refusals


@pytest.mark.parametrize(("said", "code", "sentence"), [
    ((), 2, "say with -k how many items are named"),
    (BOUND, 2, "say with -k how many items are named"),
    (("--threshold", 5), 2, "say with -k how many items are named at most"),
    ((*CUT, 5, "--noise", "exponential"), 2, "say with -k how many items are named at most"),
    (("--threshold", 5, "-k", 2, "--estimate"), 2, "counts come with the release, at no cost"),
    (("--threshold", "5", "-k", 2, "--selection-share", "0.4"), 2, "--selection-share is for"),
    (("--noise", "laplace", "-k", 2), 2, "--noise laplace needs --items-per-person"),
    (("-k", 2, *BOUND, "--estimate"), 2, "noisy counts come with the release"),
    (("-k", 2, "--level", "0.9"), 2, "--level is for --estimate, --threshold or Laplace"),
    (("-k", 2, *BOUND, "--selection-share", "0.4"), 2, "--selection-share is for --estimate"),
    (("-k", 2, *BOUND, "--level", "2"), 1, "level must be below 1"),
    (("-k", 2, "--items-per-person", 0), 1, "items_per_person must be at least 1"),
    ((*CUT, "many"), 1, "threshold must be a number"),
    (("-k", 2, *BOUND, "--noise", "normal"), 2, "none of exponential and laplace"),
    (("-k", 5, *BOUND), 1, "With k = 5 the domain must have at least 6 items"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_and_nothing_read(
    folder: Path, said: Any, code: int, sentence: str
) -> None:
    (Ledger(folder / "budget.db")).add_dataset("visits", 3)
    paid = ("--ledger", "budget.db", "--dataset", "visits")
    (folder / "visits.csv").write_text("")
    ended = within(folder, "visits.csv", *ALL, *said, *paid)
    assert (ended.code, ended.out) == (code, "")
    assert sentence in " ".join(ended.err.replace("│", " ").split())
    assert Ledger(folder / "budget.db").budget("visits").charges == 0


def test_estimates_are_made_with_the_other_noise(folder: Path) -> None:
    asked = (*ALL, "-k", 2, *BOUND, "--noise", "exponential", "--estimate", "--format", "json")
    ended = within(folder, "visits.csv", *asked)
    assert ended.code == 0
    noted = json.loads(ended.out)["release"]["parameters"]
    assert (noted["items_per_person"], noted["noise"]) == (1, "exponential")


@pytest.mark.slow
def test_it_works_in_a_process_of_its_own(folder: Path) -> None:
    ended = topgap("release", "visits.csv", *ALL, *CUT, 500, folder=folder)
    assert ended.code == 0
    refused = topgap("release", "visits.csv", *ALL, *CUT, "many", folder=folder)
    assert is_one_sentence(refused.err)
