"""That the list of items was taken from the data is said wherever its release goes."""

import copy
import io
import json
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure

import topgap
from tests.cli import command
from topgap import Estimates, Release, ReleaseError, TopK, counting, report, select
from topgap.counting import FROM_DATA, NOT_PROTECTED, Counts

EVENTS = pa.table({"who": [1, 2, 3], "what": ["flu", "flu", "cold"]})
MARKED = Release(TopK(1, 1), None, [125], ["flu"], domain_from_data=True)
PLAIN = Release(TopK(1, 1), None, [125], ["flu"])


def counted(domain: Any) -> list[Counts]:
    """The counts of every function that counts."""
    ready = pa.table({"what": ["flu", "cold"], "n": [2, 1]})
    return [
        counting.count_events(EVENTS, person="who", item="what", domain=domain),
        counting.count_transactions(io.BytesIO(b"flu\nflu cold\n"), domain=domain),
        counting.read_counts(ready, item="what", count="n", domain=domain),
    ]


def released(counts: Any, **how: Any) -> list[Release]:
    """The release of every call that takes counts."""
    return [
        topgap.top_k(counts, 1, 1, **how),
        topgap.noisy_max(counts, 1, **how),
        select(TopK(1, 1), counts, **how),
        topgap.top_k_with_estimates(counts, 1, 1, **how).release,
    ]


@pytest.mark.slow
def test_counts_know_where_their_list_is_from_and_releases_say_it() -> None:
    for counts in counted(FROM_DATA):
        assert counts == {"flu": 2, "cold": 1}
        assert counts.domain_from_data
        assert all(release.domain_from_data for release in released(counts))
        assert not any(made.domain_from_data for made in released(counts, domain=["flu", "cold"]))
        assert not any(release.domain_from_data for release in released(dict(counts)))
    for counts in counted(["flu", "cold"]):
        assert not counts.domain_from_data
        assert not any(release.domain_from_data for release in released(counts))
    assert all(made.domain_from_data for made in released({"a": 1, "b": 2}, domain=FROM_DATA))


def test_copies_of_counts_know_it_too() -> None:
    counts = Counts({"a": 1}, domain_from_data=True)
    others: list[Counts] = [
        counts.copy(), copy.copy(counts), copy.deepcopy(counts),
        pickle.loads(pickle.dumps(counts)), counts | {"b": 2}, Counts({"b": 2}) | counts,  # noqa: S301
    ]  # fmt: skip
    joined = Counts({"b": 2})
    joined |= counts
    updated = Counts({"b": 2})
    updated.update(counts)
    others += [{"b": 2} | counts, joined, updated]
    assert all(type(other) is Counts and other.domain_from_data for other in others)
    assert not (Counts({"a": 1}) | {"b": 2}).domain_from_data
    assert repr(counts) == "{'a': 1}"
    assert Counts.__or__(counts, 7) is NotImplemented


def test_a_release_without_the_mark_is_written_as_ever() -> None:
    assert {*PLAIN.to_dict()} == {"format", "parameters", "winners"}
    assert [*PLAIN.columns()] == ["item", "gap", "gap_units"]
    for shown in (str(PLAIN), repr(PLAIN), PLAIN._repr_html_(), report.to_html(PLAIN)):
        assert NOT_PROTECTED not in shown
        assert "from the data:" not in shown
    assert PLAIN.caveats == ()


def test_a_release_with_the_mark_says_it_in_every_form() -> None:
    assert MARKED != PLAIN
    assert MARKED.caveats == (NOT_PROTECTED,)
    assert str(MARKED).splitlines()[-1] == NOT_PROTECTED
    assert MARKED.to_text().splitlines()[-1] == NOT_PROTECTED
    assert NOT_PROTECTED in MARKED._repr_html_()
    assert repr(MARKED) == "<Release of the top 1 at ε = 1, of a list from the data: 'flu'>"
    for frame in (MARKED.to_pandas(), MARKED.to_polars()):
        assert [*frame.columns] == ["item", "gap", "gap_units", "domain_from_data"]
    assert MARKED.to_arrow().column("domain_from_data").to_pylist() == [True]
    page = report.to_html(MARKED)
    assert page.count(f"{NOT_PROTECTED}</p>") == 1
    assert report.read_release(page) == MARKED
    assert report.to_html(MARKED, caveat="And more.").count("Caution.") == 2
    written = json.loads(MARKED.to_json())
    assert written["domain_from_data"] is True
    assert written["caveat"] == NOT_PROTECTED
    for other in (
        Release.from_json(MARKED.to_json()),
        pickle.loads(pickle.dumps(MARKED)),  # noqa: S301 - it is ours
        copy.deepcopy(MARKED),
        MARKED.with_items(["flu"]),
    ):
        assert other == MARKED
        assert hash(other) == hash(MARKED)
    title = MARKED.plot(Figure().subplots()).get_title()
    assert title.endswith("Not protected: the list of items was taken from the data")


def test_estimates_say_it_in_every_form() -> None:
    made = topgap.estimate(MARKED, [60], variance=8)
    assert str(made).splitlines()[-1] == NOT_PROTECTED
    assert NOT_PROTECTED in made._repr_html_()
    assert "of a list from the data" in repr(made)
    assert Estimates.from_json(made.to_json()) == made
    assert made.to_pandas().columns[-1] == "domain_from_data"
    assert made.to_arrow().column("domain_from_data").to_pylist() == [True]
    page = report.to_html(made)
    assert page.count(f"{NOT_PROTECTED}</p>") == 1
    assert report.read_estimates(page) == made
    title = made.plot(Figure().subplots()).get_title()
    assert title.endswith("Not protected: the list of items was taken from the data")


@pytest.mark.parametrize("mark", [
    {"domain_from_data": True}, {"caveat": "x"}, {"domain_from_data": False, "caveat": "x"},
    {"domain_from_data": 1, "caveat": "x"}, {"domain_from_data": True, "caveat": None},
    {"domain_from_data": True, "caveat": "x", "more": 1},
])  # fmt: skip
def test_a_mark_that_is_none_is_refused(mark: dict[str, Any]) -> None:
    with pytest.raises(ReleaseError):
        Release.from_dict(PLAIN.to_dict() | mark)
    with pytest.raises(ReleaseError):
        Release(TopK(1, 1), None, [1], ["a"], domain_from_data=1)  # type: ignore[arg-type]


@pytest.mark.deep
@pytest.mark.parametrize("estimate", [[], ["--estimate"]])
def test_the_command_says_it_in_files_and_the_ledger(tmp_path: Path, estimate: list[str]) -> None:
    (tmp_path / "visits.csv").write_text("who,what\n1,flu\n2,flu\n3,cold\n")
    ledger = topgap.Ledger(tmp_path / "b.db")
    ledger.add_dataset("v", epsilon=10)
    asked = ["--person", "who", "--item", "what", "-k", 1,
             "--epsilon", 1, "--domain-from-data", "--ledger", tmp_path / "b.db",
             "--dataset", "v", *estimate]  # fmt: skip
    for name in ("r.csv", "r.json", "r.parquet"):
        assert command.release(tmp_path, "-o", name, asked=asked).code == 0
    head, row = (tmp_path / "r.csv").read_text().splitlines()
    assert (head.split(",")[-1], row.split(",")[-1]) == ("domain_from_data", "true")
    read = json.loads((tmp_path / "r.json").read_text())
    assert (read["release"] if estimate else read)["domain_from_data"] is True
    table = pq.read_table(tmp_path / "r.parquet")
    assert table.column("domain_from_data").to_pylist() == [True]
    assert table.schema.metadata[b"topgap.caveat"].decode() == NOT_PROTECTED
    for charge in ledger.history():
        assert NOT_PROTECTED in (charge.result or "")


def test_the_ledger_keeps_it_where_names_become_text(tmp_path: Path) -> None:
    ledger = topgap.Ledger(tmp_path / "b.db")
    ledger.add_dataset("v", epsilon=10)
    counts = {("flu", 1): 10**9, ("cold", 2): 1}
    topgap.top_k(counts, 1, 1, domain=FROM_DATA, ledger=ledger, dataset="v")
    (charge,) = ledger.history()
    assert Release.from_json(charge.result or "").domain_from_data
