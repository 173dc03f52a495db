"""The page of a release with a threshold and exponential noise: counts, and what was spent."""

import pytest

from tests.display.sample_counts import (
    COUNTED,
    FULL,
    LAST_PLACE,
    NAMES,
    NONE,
    ONE,
    REACHED,
    UNCOUNTED,
)
from tests.display.sample_releases import ATTACK
from tests.report.chromium import DESK, PHONE, Browser
from tests.report.pages import Page, drawn, has_unformatted, points, scripts, words
from topgap import Release
from topgap.report import read_release, to_html

HEAD = ["Rank", "Item", "Count ± standard error", "95% interval", "Gap to the next"]
ALL = COUNTED | UNCOUNTED


@pytest.mark.parametrize("release", ALL.values(), ids=ALL)
def test_a_page_holds_its_release_and_reads_in_order(release: Release) -> None:
    html = to_html(release, title="t", caveat="c", level="0.9")
    assert read_release(html) == release
    assert html == to_html(read_release(html), title="t", caveat="c", level="0.9")
    page = Page(html)
    page.check_outline()
    assert page.all("script") == scripts("topgap-release")
    assert release is COUNTED["hostile"] or not has_unformatted(page)


def test_intervals_of_counts_in_order_hold_for_numbers_not_below_zero() -> None:
    ordered = words(Page(to_html(REACHED, in_order=True)))
    assert ordered.count(", if true numbers are not below 0.") == 2
    assert "if true numbers" not in words(Page(to_html(REACHED)))


def test_the_table_says_count_error_interval_and_gap() -> None:
    page = Page(to_html(REACHED))
    assert page.rows == [
        HEAD,
        ["1", "flu", "650 ± 7", "635 to 665", "125.0"],
        ["2", "cold", "525 ± 7", "510 to 540", "4.3 order uncertain"],
        ["3", "<b>&", "521 ± 7", "506 to 536", "20.7"],
    ]
    bars, longest = drawn(page), max(float(each.high) for each in REACHED.counts())
    for bar, count in zip(bars, REACHED.counts(), strict=True):
        end, low, high = (
            float(each) / longest * 100 for each in (count.value, count.low, count.high)
        )
        assert bar[:2] == pytest.approx((0, end), abs=1e-3)
        assert bar[2][0] == pytest.approx((low, high), abs=1e-3)
    below = Page(to_html(COUNTED["below 0"]))
    assert [row[2] for row in below.rows[1:]] == [
        "−627 ± 8 below 0 by noise",
        "−630 ± 8 below 0 by noise",
    ]


def test_it_says_what_was_spent_and_what_a_count_is() -> None:
    page = Page(to_html(REACHED))
    text = words(page)
    values = {"k": "5", "threshold": "500", "noise scale": "5", "spent of ε": "0.8"}
    values |= {"standard deviation of a count": "≈ 7.071", "standard deviation of a gap": "≈ 7.071"}
    for name, value in values.items():
        assert f"{name} {value} " in text, name
    assert "promised to cost at most ε = 1. Because the threshold ended the list" in text
    assert "The 3 items above the threshold 500." in text
    assert "A count is the threshold plus the gaps from the item down to it, and half a" in text
    assert "It took part in the ranking like an item, with its own noise" in text
    assert "The last gap is the lead over 500." in text
    assert points(page) == ["±", "95% interval", "order uncertain"]
    assert "The noise of the threshold is the same in all counts" in text
    assert "2308.08057" in text
    one = words(Page(to_html(ONE)))
    assert "The item above the threshold 500." in one
    assert "Caution." not in one
    assert "With one more item there would be no counts" in words(Page(to_html(LAST_PLACE)))
    half = Page(to_html(REACHED, level="0.5"))
    assert half.rows[0][3] == "50% interval"


def test_without_counts_the_page_has_gaps_or_names() -> None:
    text = words(Page(to_html(FULL)))
    assert "lead over whatever came next, an item or 500, so there are no counts." in text
    assert "The 5 items above the threshold 500." in text
    assert "All of it together costs ε = 1." in text
    assert "spent of ε 1 " in text
    assert "Count ±" not in text
    assert "A bar is the lead over whatever came next, an item or the threshold." in text
    names = words(Page(to_html(NAMES)))
    assert "The 2 items above the threshold 500." in names
    assert "it cost 0.6." in names


def test_an_empty_page_says_so() -> None:
    page = Page(to_html(NONE))
    text = words(page)
    assert text.count("No item was above the threshold 500.") == 3
    assert page.rows == []
    assert "it cost 0.2." in text
    assert "uncertain" not in text


def test_hostile_names_do_nothing() -> None:
    for name in ("hostile", "an attack"):
        page = Page(to_html(COUNTED[name], title=ATTACK))
        assert page.all("img") == []
        assert len(page.all("script")) == 2


@pytest.mark.parametrize("release", ALL.values(), ids=ALL)
@pytest.mark.parametrize("width", [PHONE, pytest.param(DESK, marks=pytest.mark.deep)])
def test_it_fits_its_window(browser: Browser, release: Release, width: int) -> None:
    browser.show(release, width=width, caveat="word " * 30 + "x" * 300)
    browser.check_fit(width)
    assert browser.complaints() == []
