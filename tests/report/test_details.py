"""What a publisher says on a page: its texts, labels and locale, and the card for machines."""

import json
import pickle
import re
from copy import deepcopy
from datetime import date
from decimal import Context, localcontext
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
    TopKByGroup,
    __version__,
)
from topgap.domains import DomainDescription
from topgap.report import (
    Details,
    label_file,
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
    ({"locale": "../x"}, ParameterError), ({"labels": {"a": "1", " a": "2"}}, ParameterError),
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
    said = words(german)  # its sentences are English: 2,014 would be read as thousands
    assert "≈ 2.014 times" in said
    assert "costs ε = 0.7." in said
    estimated = words(Page(to_html(CERTAIN, locale="de")))
    assert "costs ε = 1: 0.5 to select, and 0.125 for each measurement." in estimated
    assert "0,125" in estimated


@pytest.mark.parametrize("locale", ["en", "de", "fr"])
def test_a_long_number_keeps_its_digits(locale: str) -> None:
    write = numerals.Numerals(locale).write
    point = write("0.1")[1]
    with localcontext(Context(prec=5)):
        assert write("0." + "1" * 40) == f"0{point}{'1' * 40}"
        whole, part = write(f"{'7' * 40}.{'1' * 40}").split(point * (locale != "en") or ".")
    assert (re.sub(r"\D", "", whole), part) == ("7" * 40, "1" * 40)


def test_without_a_title_the_page_says_what_is_named() -> None:
    for details, title in (
        (Details(), "The largest items"),
        (Details(item_word="diagnoses"), "The top 4 diagnoses"),
        (Details(item_word="diagnoses", title="Health"), "Health"),
    ):
        html = to_html(CERTAIN, details)
        assert Page(html).text("h1") == Page(html).text("title") == title
        assert card(html)["name"] == card(html)["deployment"]["basic"]["name"] == title
    cut = to_html(REACHED, item_word="diagnoses")  # the threshold may name fewer than k
    assert Page(cut).text("h1") == "The top diagnoses"


def test_the_fold_of_parameters_speaks_of_a_domain_only_if_there_is_one() -> None:
    assert "<h2>Parameters</h2>" in to_html(CERTAIN)
    public = DomainDescription("the whole numbers from 1 to 9", 9)
    release = Release(TopK(1, 1), None, [1], [7], domain=public)
    assert "<h2>Parameters and domain</h2>" in to_html(release)


def test_details_can_be_pickled_copied_and_hashed() -> None:
    details = Details(title="Diagnoses", labels={"J10": "Influenza"}, date="2026-11-20")
    for same in (pickle.loads(pickle.dumps(details)), deepcopy(details)):  # noqa: S301 - our own
        assert same == details
        assert hash(same) == hash(details)
        assert same.label("J10") == "Influenza"
    assert details != Details(title="Diagnoses", date="2026-11-20")
    with pytest.raises(TypeError):
        details.labels["J10"] = "another"  # type: ignore[index]


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
    changed = deployment["accounting"]["post_processing"]
    assert changed == "None" if shown in (EVERYDAY, NONE) else "order of the ranks" in changed
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


def test_a_card_and_its_page_have_the_same_neighbours() -> None:
    parts = TopKByGroup(k=1, epsilon=1)
    one = Release(parts.each, None, [125], ["flu"])
    for shown in (CERTAIN, EVERYDAY, one, GroupedRelease(parts, {"North": one}), VALUES):
        said = to_card(shown)["deployment"]["privacy_loss"]["privacy_unit_details"]
        differ = said.removeprefix("Neighbouring data sets differ by ")
        assert f"Compare any two data sets that differ by {differ}" in words(Page(to_html(shown)))
    assert "as long as that moves" in to_card(one)["deployment"]["privacy_loss"][
        "privacy_unit_details"
    ]  # fmt: skip


def test_a_card_says_what_is_not_protected() -> None:
    def unprotected(shown: Release, **details: str) -> str:
        found = to_card(shown, Details(**details))["deployment"]["dp_variant"]  # type: ignore[arg-type]
        return str(found["unprotected_quantities"])

    said = Release(TopK(1, 1), None, [1], ["flu"], domain_from_data=True)
    assert unprotected(EVERYDAY) == "None"
    assert unprotected(EVERYDAY, caveat="The size is shown.") == "The size is shown."
    assert unprotected(said, caveat="And the size.") == f"{said.caveats[0]} And the size."


def test_a_card_says_what_is_composed() -> None:
    elsewhere = to_card(ESTIMATED["normal, elsewhere"])["deployment"]["accounting"]
    assert "made elsewhere" in elsewhere["composition"]
    assert "all that is published" not in elsewhere["composition"]
    assert "all that is published" in to_card(CERTAIN)["deployment"]["accounting"]["composition"]


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


def test_a_file_without_a_size_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_file, "_MOST_BYTES", 10**6)
    if Path("/dev/zero").exists():
        with pytest.raises(SourceError, match="more than 1 MB"):
            read_labels("/dev/zero")


@pytest.mark.parametrize("sign", ["\u2028", "\x85", "\x0c", "\x1c"])
def test_only_the_ends_of_lines_of_csv_end_a_line(tmp_path: Path, sign: str) -> None:
    (tmp_path / "codes.csv").write_text(f"J10,In{sign}fluenza\rI10,Other\r", encoding="utf-8",
                                        newline="")  # fmt: skip
    assert read_labels(tmp_path / "codes.csv") == {"J10": f"In{sign}fluenza", "I10": "Other"}


def test_items_of_labels_are_compared_as_cells_are(tmp_path: Path) -> None:
    (tmp_path / "codes.csv").write_text(" J10 ,Influenza\nCafe\u0301,Coffee\n", encoding="utf-8")
    assert read_labels(tmp_path / "codes.csv") == {"J10": "Influenza", "Café": "Coffee"}
    details = Details(labels={" J10 ": "Influenza", "Cafe\u0301": "Coffee"})
    assert [details.label(each) for each in ("J10", "J10\u00a0", "Café", "Cafe\u0301", "j10")] == [
        "Influenza", "Influenza", "Coffee", "Coffee", None,
    ]  # fmt: skip
    assert details.label((" J10", "north")) == "Influenza, north"


def test_pages_of_older_versions_are_read() -> None:
    pages = {path.stem: path.read_text(encoding="utf-8") for path in OLD.glob("*.html")}
    assert read_estimates(pages["estimates"]) == CERTAIN
    assert read_release(pages["estimates"]) == CERTAIN.release
    assert read_release(pages["release"]) == DIAGNOSES
    assert read_grouped(pages["groups"]) == VALUES
    assert read_grouped(pages["grouped_estimates"]) == ESTIMATES
