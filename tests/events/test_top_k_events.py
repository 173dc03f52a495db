"""One call from a table of events: it releases what the command does, and charges as it does."""

import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

import topgap
from tests.cli.command import COUNTS, release
from tests.counting.test_errors import behind
from topgap import (
    BudgetExceeded,
    Domain,
    DomainError,
    Estimates,
    GroupedEstimates,
    GroupedRelease,
    Ledger,
    LedgerError,
    ParameterError,
    ParameterTypeError,
    Release,
    SourceError,
)
from topgap.counting import FROM_DATA, NOT_PROTECTED

NEVER = 1e-20  # noise of mean at most 8 bridges 997 persons, with a margin
PUBLIC = [*COUNTS, "mumps"]
ASKED: dict[str, Any] = {"person": "who", "item": "what", "domain": PUBLIC}


@pytest.fixture
def visits() -> pd.DataFrame:
    """Events of whole numbers of persons, each in one region of two."""
    rows = [(f"p{n}", item, "NS"[n % 2]) for item, count in COUNTS.items() for n in range(count)]
    return pd.DataFrame(rows, columns=["who", "what", "where"])


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "budget.db")
    made.add_dataset("visits", 3)
    made.add_dataset("replaced", 3, neighbours="replace")
    return made


# --- What is released


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"neighbours": "replace"}, {"items_per_person": 1}])
def test_it_has_the_parameters_of_the_command(folder: Path, more: dict[str, Any]) -> None:
    made = topgap.top_k_events(
        folder / "visits.csv", 2, 1, person="who", item="what", domain=folder / "domain.txt", **more
    )
    options = [f"--{name.replace('_', '-')}={value}" for name, value in more.items()]
    printed = json.loads(release(folder, *options, "--format", "json", "-q").out)
    assert printed["parameters"] == made.parameters.to_dict()
    assert made.parameters.monotonic is (more.get("neighbours") != "replace")


@pytest.mark.statistical(false_alarm=NEVER)
def test_it_names_the_items_that_most_persons_have(visits: pd.DataFrame) -> None:
    made = topgap.top_k_events(visits, 2, 1, **ASKED)
    assert isinstance(made, Release)
    assert made.items == ("flu", "cold")
    assert made.gaps is not None
    assert abs(made.gaps[0] - 1_000) < 300
    assert topgap.top_k_events(visits, 2, 1, gaps=False, **ASKED).gaps is None


@pytest.mark.statistical(false_alarm=NEVER)
def test_estimates_come_with_it_and_share_epsilon(visits: pd.DataFrame) -> None:
    made = topgap.top_k_events_with_estimates(visits, 2, 1, selection_share="1/4", **ASKED)
    assert isinstance(made, Estimates)
    assert made.epsilon == 1
    assert made.release.epsilon == Fraction(1, 4)
    assert [round(float(each), -3) for each in made.estimates] == [3_000, 2_000]


@pytest.mark.statistical(false_alarm=NEVER)
@pytest.mark.parametrize("domain", [PUBLIC, Domain.pattern("[a-z]{3,6}")], ids=["list", "pattern"])
def test_every_region_gets_a_list(visits: pd.DataFrame, domain: Any) -> None:
    asked = {**ASKED, "domain": domain, "by": "where", "groups": ["N", "S", "W"]}
    made = topgap.top_k_events(visits, 2, 1, **asked)
    assert isinstance(made, GroupedRelease)
    assert [*made] == ["N", "S", "W"]
    assert made["N"].items == made["S"].items == ("flu", "cold")
    measured = topgap.top_k_events_with_estimates(visits, 2, 1, **asked)
    assert isinstance(measured, GroupedEstimates)
    assert round(float(measured["S"].estimates[0]), -2) == 1_500


@pytest.mark.statistical(false_alarm=NEVER)
def test_a_rule_a_threshold_and_few_items_a_person(visits: pd.DataFrame) -> None:
    words = {**ASKED, "domain": Domain.strings("a-z", max_length=6)}
    assert topgap.top_k_events(visits, 2, 1, **words).items == ("flu", "cold")
    measured = topgap.top_k_events_with_estimates(visits, 2, 1, **words)
    assert [round(float(each), -3) for each in measured.estimates] == [3_000, 2_000]
    above = topgap.top_k_events(visits, 3, 1, threshold=1_500, **ASKED)
    assert above.items == ("flu", "cold")
    assert above.spent == 1
    few = topgap.top_k_events(visits, None, 1, threshold=300, items_per_person=3, **ASKED)
    assert few.items == ("flu", "cold", "cough")
    assert few.values is not None


@pytest.mark.statistical(false_alarm=NEVER)
def test_what_is_bought_together(visits: pd.DataFrame) -> None:
    made = topgap.top_k_events(visits, 1, 1, together=2, **ASKED)
    assert made.items == (("flu", "cold"),)
    lines = io.BytesIO(b"1 3\n" * 2_000 + b"2 3\n" * 900)
    asked: dict[str, Any] = {"domain": range(9), "together": 2, "format": "fimi"}
    assert topgap.top_k_events(lines, 1, 1, **asked).items == ((1, 3),)


@pytest.mark.statistical(false_alarm=NEVER)
def test_lines_of_persons_need_no_columns(tmp_path: Path) -> None:
    (tmp_path / "baskets.dat").write_text("1 3\n" * 2_000 + "3\n" * 900)
    baskets = tmp_path / "baskets.dat"
    assert topgap.top_k_events(baskets, 2, 1, domain=range(9)).items == (3, 1)
    assert topgap.top_k_events(baskets, 1, 1, domain=range(9), groups=[1, 2])[1].items == (3,)
    wrong: list[dict[str, Any]] = [{"item": "a"}, {"table": "a"}, {"by": "a"}, {"format": "csv"}]
    for more in [*wrong, {"header": False}, {"groups_per_person": 2}]:
        with pytest.raises(ParameterError):
            topgap.top_k_events(baskets, 2, 1, domain=range(9), **more)
    (tmp_path / "log.txt").write_text("ann flu\n" * 9)
    others: list[Any] = ["visits.csv", tmp_path / "log.txt", f"{tmp_path}/*", io.BytesIO(b"1\n"), 7]
    for source in [*others, [], pd.DataFrame({"a": [1]})]:
        with pytest.raises(ParameterError, match="person and item"):
            topgap.top_k_events(source, 2, 1, domain=range(9))


# --- The mark of a list that the data made


def test_the_mark_of_a_list_from_the_data_reaches_every_form(visits: pd.DataFrame) -> None:
    asked: dict[str, Any] = {**ASKED, "domain": FROM_DATA}
    by = {"by": "where", "groups": ["N", "S"]}
    for call in (topgap.top_k_events, topgap.top_k_events_with_estimates):
        for more in ({}, {"item": ["what", "where"]}, by):
            made = call(visits, 1, 1, **{**asked, **more})
            assert NOT_PROTECTED in str(made)
            assert NOT_PROTECTED in made.to_json()
            assert "Not protected" in topgap.report.to_html(made)
    assert "Not protected" in str(topgap.top_k_events(visits, 1, 1, check=True, **asked))
    assert not topgap.top_k_events(visits, 1, 1, **ASKED).domain_from_data


# --- What is charged, and when


def test_it_is_charged_once_with_what_was_asked(visits: pd.DataFrame, ledger: Ledger) -> None:
    made = topgap.top_k_events(visits, 1, 1, ledger=ledger, dataset="visits", **ASKED)
    (charge,) = ledger.history()
    assert charge.mechanism == "topgap.top_k_events"
    assert charge.epsilon == 1
    assert charge.result == made.to_json()
    assert charge.parameters.items() >= {"person": "who", "item": "what", "gaps": True}.items()
    by_region: dict[str, Any] = {**ASKED, "by": "where", "groups": ["N", "S"]}
    topgap.top_k_events_with_estimates(visits, 1, 1, ledger=ledger, dataset="visits", **by_region)
    charge = ledger.history()[-1]
    assert charge.mechanism == "topgap.top_k_events_with_estimates"
    assert charge.parameters["number_of_groups"] == 2
    assert ledger.budget("visits").left == 1


def test_the_ledger_notes_paths_and_no_items(folder: Path, ledger: Ledger) -> None:
    asked: dict[str, Any] = {"person": "who", "item": "what", "ledger": ledger, "dataset": "visits"}
    topgap.top_k_events([folder / "visits.csv"], 1, 1, domain=PUBLIC, **asked)
    topgap.top_k_events(folder / "visits.csv", 1, 1, domain=folder / "domain.txt", **asked)
    first, second = (each.parameters for each in ledger.history())
    assert first["sources"] == [str(folder / "visits.csv")]
    assert "domain" not in first
    assert (second["domain"], second["neighbours"]) == (str(folder / "domain.txt"), "add-remove")


def test_an_error_holds_no_count(visits: pd.DataFrame) -> None:
    with pytest.raises(DomainError, match="too few") as error:
        topgap.top_k_events(visits, 7, 1, **{**ASKED, "domain": FROM_DATA})
    assert "3000" not in behind(error.value)


def test_neighbours_are_those_of_the_ledger_unless_given(
    visits: pd.DataFrame, ledger: Ledger
) -> None:
    def ask(dataset: str, **more: Any) -> Any:
        return topgap.top_k_events(visits, 1, 1, ledger=ledger, dataset=dataset, **more, **ASKED)

    assert not ask("replaced").parameters.monotonic
    assert ledger.budget("replaced").left == 2
    assert ask("replaced", neighbours="add-remove").parameters.monotonic
    assert ledger.budget("replaced").left == 0  # for ε = 1 of these neighbours is 2 of those
    assert ask("visits").parameters.monotonic


def test_an_error_or_a_check_charges_nothing(visits: pd.DataFrame, ledger: Ledger) -> None:
    paid: dict[str, Any] = {"ledger": ledger, "dataset": "visits"}
    wrong: list[tuple[type[Exception], dict[str, Any]]] = [
        (SourceError, {"person": "nobody"}),
        (ParameterError, {"epsilon": 0}),
        (ParameterError, {"neighbours": "both"}),
        (ParameterTypeError, {"neighbours": 1}),
        (ParameterTypeError, {"check": 1}),
        (ParameterTypeError, {"gaps": None}),
        (ParameterError, {"together": 4}),
        (ParameterError, {"groups_per_person": 2}),
        (DomainError, {"by": "where"}),
        (DomainError, {"domain": None}),
        (DomainError, {"k": 5}),
        (DomainError, {"k": 5, "domain": FROM_DATA}),
        (BudgetExceeded, {"epsilon": 4}),
        (LedgerError, {"dataset": "other"}),
        (ParameterError, {"ledger": None}),
        (ParameterTypeError, {"table": 3}),
        (ParameterTypeError, {"query": b"SELECT 1"}),
        (ParameterTypeError, {"rows_are_per_person": "no"}),
        (ParameterTypeError, {"header": None}),
        (ParameterError, {"by": "where", "groups": ["N", "S"], "groups_per_person": 3}),
    ]
    for kind, more in wrong:
        asked = {"k": 2, "epsilon": 1, **ASKED, **paid, **more}
        with pytest.raises(kind):
            topgap.top_k_events(visits, **asked)
    unknown: list[dict[str, Any]] = [{"count": "who"}, {"run": False}, {"thershold": 5}]
    for more in [*unknown, {"first_is_group": True}, {"monotonic": True}]:
        for domain in (PUBLIC, Domain.pattern("[a-z]{3,6}")):
            for call in (topgap.top_k_events, topgap.top_k_events_with_estimates):
                with pytest.raises(TypeError, match="unexpected keyword"):
                    call(visits, 2, 1, **{**ASKED, **paid, **more, "domain": domain})
    with pytest.raises(ParameterTypeError):
        topgap.top_k_events_with_estimates(visits, 2, 1, selection_share=None, **paid, **ASKED)  # type: ignore[call-overload]
    checked = topgap.top_k_events(visits, 2, 1, check=True, **paid, **ASKED)
    assert (checked.items, checked.occurring) == (5, 4)
    assert checked.left == 2
    assert ledger.history() == ()


def test_a_query_is_checked_before_its_charge_and_run_after_it(
    tmp_path: Path, visits: pd.DataFrame, ledger: Ledger
) -> None:
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as database:
        database.register("frame", visits)
        database.execute("CREATE TABLE visits AS SELECT * FROM frame")

    def ask(query: str, source: Any = path, **more: Any) -> Any:
        return topgap.top_k_events(
            source, 1, 1, query=query, ledger=ledger, dataset="visits", **more, **ASKED
        )

    with pytest.raises(SourceError, match="LIMIT"):
        ask("SELECT who, what FROM visits LIMIT 5")
    good = "SELECT who, what FROM visits"
    wrong: list[dict[str, Any]] = [{"memory": "lots"}, {"table": "visits"}, {"format": "csv"}]
    for more in wrong:
        with pytest.raises(ParameterError):
            ask(good, **more)
    with path.open("rb") as file, pytest.raises(ParameterError, match="open file"):
        ask(good, source=file)
    assert ledger.history() == ()
    with pytest.raises(SourceError, match="failed while it ran"):
        ask("SELECT who, CAST(what AS INTEGER) AS what FROM visits")
    assert ledger.budget("visits").left == 2
    assert ask("SELECT who, what FROM visits WHERE \"where\" = 'N'").items == ("flu",)
    assert ledger.budget("visits").left == 1
