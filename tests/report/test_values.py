"""The page of a release with values: table, words, parameters, and nothing new on other pages."""

import pytest

from tests.display.sample_releases import ATTACK, EVERYDAY
from tests.display.sample_values import DIAGNOSES, EMPTY, FULL, ONE, REACHED, VALUED
from tests.report.chromium import DESK, PHONE, Browser
from tests.report.pages import Page, drawn, has_unformatted, points, scripts, words
from topgap import ParameterError, Release, TopK
from topgap.report import read_release, to_html

HEAD = ["Rank", "Item", "Value ± standard error", "95% interval", "Gap to the next"]


@pytest.mark.parametrize("release", VALUED.values(), ids=VALUED)
def test_a_page_holds_its_release_and_reads_in_order(release: Release) -> None:
    html = to_html(release, title="t", caveat="c", level="0.9")
    assert read_release(html) == release
    assert html == to_html(read_release(html), title="t", caveat="c", level="0.9")
    page = Page(html)
    page.check_outline()
    tables = min(1, len(release))
    assert [len(page.all(tag)) for tag in ("main", "table", "caption")] == [1, tables, tables]
    assert len(page.rows) == tables + len(release)
    assert page.all("script") == scripts("topgap-release")
    assert release is VALUED["hostile"] or not has_unformatted(page)


def test_the_table_says_value_error_interval_and_gap() -> None:
    assert Page(to_html(DIAGNOSES)).rows == [
        HEAD,
        ["1", "flu", "97 ± 3", "91 to 103", "40"],
        ["2", "cold", "57 ± 3", "51 to 63", "3 order uncertain"],
        ["3", "gout", "54 ± 3", "48 to 60", "9"],
        ["4", "<b>&", "45 ± 3", "39 to 51", "5 place uncertain"],
    ]
    below = Page(to_html(VALUED["below 0"]))
    assert below.rows[1][2:] == ["−3 ± 1 below 0 by noise", "−6 to 0", "47"]
    half = Page(to_html(DIAGNOSES, level="0.5"))
    assert half.rows[0][3] == "50% interval"
    assert half.rows[1][3] == "96 to 98"
    with pytest.raises(ParameterError, match="level must be below 1"):
        to_html(DIAGNOSES, level=1)


def test_bars_end_at_the_values_and_intervals() -> None:
    bars = drawn(Page(to_html(DIAGNOSES)))
    for bar, value, (low, high) in zip(
        bars, DIAGNOSES.values or (), DIAGNOSES.intervals(), strict=True
    ):
        end, left, right = (float(each / 103 * 100) for each in (value, low, high))
        assert bar[:2] == pytest.approx((0, end), abs=1e-3)
        assert bar[2][0] == pytest.approx((left, right), abs=1e-3)


def test_it_says_the_noise_the_bounds_and_what_is_biased() -> None:
    page = Page(to_html(REACHED))
    text = words(page)
    values = {"k": "all, or 10,000,000", "items per person": "2", "threshold": "50"}
    values |= {"noise scale": "2", "standard deviation of a value": "≈ 2.799"}
    values |= {"standard deviation of a gap": "≈ 3.959"}
    for name, value in values.items():
        assert f"{name} {value} " in text, name
    assert "discrete Laplace noise that each true number gets: items per person · sens" in text
    assert "if the sensitivity and the bound on the items per person below are true" in text
    assert points(page) == ["±", "95% interval", "place uncertain"]
    assert "Its number is biased upward on average." in text
    assert "The 3 items that reached the threshold 50." in text
    assert "The last gap is the lead over 50." in text
    assert "come out 9 or more apart" in text
    assert "arXiv 0811.2841" in text
    assert "2308.08057" not in text
    assert "0811.2841" in page.text("p") + page.text("a")
    assert "or over 50 if that is larger" in words(Page(to_html(FULL)))
    one = words(Page(to_html(ONE)))
    assert "The item that reached the threshold 50." in one
    assert "Caution." not in one
    replaced = words(Page(to_html(VALUED["an attack"])))
    assert "2 · items per person · sensitivity / ε" in replaced
    assert "standard deviation of a value ≈ 2.799" in replaced  # scale 2


def test_an_empty_page_says_so() -> None:
    page = Page(to_html(EMPTY))
    text = words(page)
    assert text.count("No item reached the threshold 50.") == 3
    assert page.rows == []
    assert "noise scale 2 " in text
    assert "uncertain" not in text
    nothing = Page(to_html(Release(EMPTY.parameters, [], None)))
    assert nothing.rows == []
    assert "standard deviation" not in words(nothing)


def test_names_without_values_say_the_noise() -> None:
    names = Release(TopK(2, 1, items_per_person=1), None, None, ["flu", "cold"])
    page = Page(to_html(names))
    assert page.rows == [["Rank", "Item"], ["1", "flu"], ["2", "cold"]]
    assert "items per person 1 " in words(page)
    assert "standard deviation" not in words(page)


def test_a_domain_with_a_threshold_says_what_noise_lifts() -> None:
    text = words(Page(to_html(VALUED["tuples, cut"])))
    assert "noise alone lifts about 3 to the threshold" in text
    assert "Not protected: the list of items was taken from the data" in text
    assert "noise alone lifts 3 of them to about 104 or more" in words(
        Page(to_html(VALUED["tuples"]))
    )


def test_hostile_names_do_nothing() -> None:
    for name in ("hostile", "an attack"):
        page = Page(to_html(VALUED[name], title=ATTACK))
        assert page.all("img") == []
        assert len(page.all("script")) == 2
    assert f'"{ATTACK}", 1' in page.rows[1][1] or ATTACK in page.rows[1][1]


def test_other_pages_have_nothing_of_it() -> None:
    html = to_html(EVERYDAY)
    text = words(Page(html))
    for word in ("Laplace", "items per person", "threshold", "0811.2841"):
        assert word not in text
    assert "The mean of the exponential noise that each true number gets: k · sens" in text
    assert "The promise holds if the sensitivity below is true for the data, and" in text
    assert "k 10 How many items are named." in text


@pytest.mark.parametrize("release", VALUED.values(), ids=VALUED)
@pytest.mark.parametrize("width", [PHONE, pytest.param(DESK, marks=pytest.mark.deep)])
def test_it_fits_its_window(browser: Browser, release: Release, width: int) -> None:
    browser.show(release, width=width, caveat="word " * 30 + "x" * 300)
    browser.check_fit(width)
    assert browser.complaints() == []
