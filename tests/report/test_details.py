"""What a publisher says on a page: its texts, labels and locale, and the card for machines."""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.display.sample_counts import NONE, REACHED
from tests.display.sample_estimates import CERTAIN, ESTIMATED
from tests.display.sample_groups import ESTIMATES, VALUES
from tests.display.sample_releases import ATTACK, EVERYDAY, VISITS
from tests.display.sample_values import DIAGNOSES
from tests.report.pages import Page, words
from topgap import (
    Estimates,
    GroupedEstimates,
    GroupedRelease,
    MissingExtraError,
    ParameterError,
    ParameterTypeError,
    Release,
    SourceError,
    TopK,
    __version__,
)
from topgap.report import (
    Details,
    numerals,
    read_estimates,
    read_grouped,
    read_labels,
    read_release,
    to_card,
    to_html,
)

TEXTS = ("title", "counted", "publisher", "period", "source_note", "caveat", "person_word",
         "item_word")  # fmt: skip
OLD = Path(__file__).parent / "old_pages"


def card(html: str) -> dict[str, Any]:
    [held] = re.findall(r'<script type="application/ld\+json">(.*?)</script>', html)
    read: dict[str, Any] = json.loads(held)
    return read


def test_head_table_and_source_say_who_when_and_of_whom() -> None:
    page = Page(to_html(CERTAIN, Details(
        title="Diagnoses", publisher="A clinic", period="2025", date=date(2026, 11, 20),
        source_note="Registrations.", person_word="patients", item_word="diagnoses",
        counted="Each counts once.",
    )))  # fmt: skip
    text = words(page)
    assert "A clinic · 2025 · published 20 November 2026" in text
    assert "The 4 diagnoses with the most patients. Each counts once." in text
    assert "Source: Registrations." in text
    assert page.rows[0][1:3] == ["Diagnoses", "Patients: estimate ± standard error"]
    plain = words(Page(to_html(CERTAIN)))
    assert "published 2" not in plain
    assert "Source:" not in plain


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_text(name: str) -> None:
    most = 60 if "word" in name else 200
    texts: dict[str, Any] = {name: f"\u202e{ATTACK}<b>$x ${{rows}}"[:most]}
    html = to_html(CERTAIN, **texts)
    page = Page(html)
    assert page.all("img") == page.all("b") == []
    assert len(page.all("script")) == 2
    assert "\u202e" not in html
    assert read_estimates(html) == CERTAIN


@pytest.mark.parametrize("name", [*TEXTS, "locale"])
def test_texts_are_limited_and_are_text(name: str) -> None:
    for wrong, error in (("x" * 2_001, ParameterError), (" ", ParameterError),
                         (7, ParameterTypeError)):  # fmt: skip
        with pytest.raises(error, match=f"^{name} must"):
            Details(**{name: wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize(("wrong", "error"), [
    ({"date": "20.11.2026"}, ParameterError), ({"date": 7}, ParameterTypeError),
    ({"labels": [1]}, ParameterTypeError), ({"labels": {1: "a"}}, ParameterTypeError),
    ({"labels": {"a": "x" * 301}}, ParameterError), ({"in_order": 1}, ParameterTypeError),
    ({"locale": "../x"}, ParameterError),
])  # fmt: skip
def test_other_details_are_checked(wrong: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Details(**wrong)
    with pytest.raises(ParameterTypeError):
        to_html(CERTAIN, "a title")  # type: ignore[arg-type]


def test_labels_stand_beside_the_items_that_have_one() -> None:
    page = Page(to_html(CERTAIN, labels={"flu": "Influenza <b>", "none": "never shown"}))
    assert [row[1] for row in page.rows[1:]] == ["flu Influenza <b>", "cold", "gout", "mumps"]
    assert "never shown" not in to_html(CERTAIN, labels={"none": "never shown"})
    tuples = to_html(VISITS, labels={"Germany": "DE", 'Côte d’Ivoire, "/"""': "whole"})
    assert [row[1] for row in Page(tuples).rows[1:]] == [
        "Germany, /start DE, /start", 'France, "/search?a, b"', 'Côte d’Ivoire, "/""" whole',
    ]  # fmt: skip
    assert Page(to_html(VALUES, labels={"flu": "Influenza"})).rows[1][1] == "flu Influenza"


def test_numbers_are_written_as_the_locale_does() -> None:
    large = Release(TopK(1, "0.7", resolution="0.01"), None, [1234567], ["flu"])
    assert Page(to_html(large)).rows[1][2] == "12,345.67"
    german = Page(to_html(large, locale="de", date="2026-03-01"))
    assert german.rows[1][2] == "12.345,67"
    assert "ε = 0,7" in german.text("strong")
    assert "published 1. März 2026" in words(german)
    assert read_release(to_html(large, locale="de")) == large


def test_without_babel_english_works_and_others_say_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "babel", None)
    assert numerals.Numerals("en").write("1234.5") == "1,234.5"
    with pytest.raises(MissingExtraError, match="Babel"):
        numerals.Numerals("fr")


@pytest.mark.parametrize("shown", [CERTAIN, EVERYDAY, DIAGNOSES, REACHED, NONE, ESTIMATES, VALUES],
                         ids=repr)  # fmt: skip
def test_a_card_says_what_it_is_and_names_no_item(
    shown: Release | Estimates | GroupedRelease | GroupedEstimates,
) -> None:
    details = Details(title=ATTACK, publisher="A clinic", date="2026-11-20", in_order=True)
    held = card(to_html(shown, details))
    assert held == to_card(shown, details)
    assert held["@type"] == "Dataset"
    assert (held["name"], held["publisher"]["name"]) == (ATTACK, "A clinic")
    deployment = held["deployment"]
    assert {"basic", "dp_variant", "privacy_loss", "deployment_model", "accounting",
            "implementation"} == {*deployment}  # fmt: skip
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"
    assert deployment["privacy_loss"]["privacy_parameters"]["epsilon"] == float(shown.epsilon or 0)
    assert deployment["basic"]["publication_date"] == held["datePublished"] == "2026-11-20"
    assert deployment["implementation"]["software"] == f"topgap {__version__}"
    assert "order of the ranks" in deployment["accounting"]["post_processing"]
    assert {"k", "sensitivity", "monotonic"} <= {*deployment["implementation"]["parameters"]}
    assert "flu" not in json.dumps(held)


def test_a_card_says_what_epsilon_is_of() -> None:
    elsewhere = to_card(ESTIMATED["normal, elsewhere"])["deployment"]["privacy_loss"]
    assert "on top" in elsewhere["privacy_parameters_details"]
    cut = to_card(REACHED)["deployment"]["privacy_loss"]
    assert cut["privacy_parameters"] == {"epsilon": 1.0}
    assert "ε = 0.8 was spent" in cut["privacy_parameters_details"]
    third = to_card(Release(TopK(1, "1/3"), None, [1], ["flu"]))["deployment"]
    assert third["privacy_loss"]["privacy_parameters"] == {"epsilon": "1/3"}
    assert "publisher" not in to_card(EVERYDAY)
    with pytest.raises(ParameterTypeError):
        to_card({})  # type: ignore[arg-type]


# A file of labels.
@pytest.mark.parametrize("text", [
    "J10,Influenza\nI10,Hypertension\n", "code,label\nJ10,Influenza\n\nI10,Hypertension",
    "\ufeffJ10;Influenza\r\nI10;Hypertension\r\n", "J10\tInfluenza\nI10\t Hypertension \nK1\t\n",
    '"J10","Influenza"\n"I10","Hypertension"\n',
])  # fmt: skip
def test_a_file_of_labels_has_two_columns(tmp_path: Path, text: str) -> None:
    (tmp_path / "codes.csv").write_text(text, encoding="utf-8", newline="")
    found = read_labels(tmp_path / "codes.csv")
    assert {item: found[item] for item in ("J10", "I10")} == {
        "J10": "Influenza", "I10": "Hypertension",
    }  # fmt: skip
    assert "K1" not in found


@pytest.mark.parametrize(("content", "why"), [
    (b"", "two columns"), (b"one\n", "two columns"), (b"a,b\nc,d,e\n", "line 2"),
    (b"a,b\na,c\n", "two labels"), (b"a,\xff\n", "UTF-8"), (b'a,b\n"c,d\n', "line 2: this is"),
    (b"a," + b"x" * 301, "300"), (b"a,b\nc," + b"x" * 200_000, "line 2"),
])  # fmt: skip
def test_another_file_is_refused_in_one_sentence(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "codes.csv").write_bytes(content)
    with pytest.raises(SourceError, match=why) as refused:
        read_labels(tmp_path / "codes.csv")
    assert "\n" not in str(refused.value)
    with pytest.raises(SourceError, match="cannot be read"):
        read_labels(tmp_path / "missing.csv")
    with pytest.raises(SourceError, match="cannot be read"):
        read_labels(tmp_path)


def test_pages_of_older_versions_are_read() -> None:
    pages = {path.stem: path.read_text(encoding="utf-8") for path in OLD.glob("*.html")}
    assert read_estimates(pages["estimates"]) == CERTAIN
    assert read_release(pages["estimates"]) == CERTAIN.release
    assert read_release(pages["release"]) == DIAGNOSES
    assert read_grouped(pages["groups"]) == VALUES
    assert read_grouped(pages["grouped_estimates"]) == ESTIMATES
