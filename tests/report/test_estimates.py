"""The page of estimates: what table, error bars and words say, and how a real browser shows it."""

import importlib.resources
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.display.sample_estimates import CERTAIN, ESTIMATED, LEANING, measured
from tests.display.sample_releases import ATTACK, EVERYDAY, HOSTILE
from tests.report.chromium import CONTRASTS, DESK, PHONE, SCHEMES, Browser, contrast
from tests.report.pages import Page, drawn, points, scripts, words
from tests.report.test_report import NAMES
from topgap import Estimates, EstimatesError, ParameterError, Release, ReleaseError, TopK
from topgap.report import read_estimates, read_release, to_html

HEAD = ["Rank", "Item", "Estimate ± standard error", "95% interval", "Gap to the next"]


PUBLISHED: dict[str, Any] = {
    "title": "The most common diagnoses",
    "publisher": "Clinic of Example Town",
    "period": "January to June 2026",
    "date": "2026-11-20",
    "person_word": "patients",
    "item_word": "diagnoses",
    "counted": "For each item, the patients who have it are counted, each once.",
    "source_note": "Registrations at the three wards, without emergency admissions.",
    "labels": {"Asthma": "a long label of a disease of the lungs " * 3, "Anxiety": "x" * 300},
}


def rows(page: Page) -> list[list[str]]:
    """The table of estimates below its head."""
    return page.rows[1:]


@pytest.mark.deep
@pytest.mark.parametrize("level", ["0.95", "0.999"])
@pytest.mark.parametrize("made", ESTIMATED.values(), ids=ESTIMATED)
def test_a_page_holds_its_estimates_and_is_always_the_same(made: Estimates, level: str) -> None:
    html = to_html(made, title="t", caveat="c", level=level)
    assert read_estimates(html) == made
    assert read_release(html.encode().decode()) == made.release
    assert html == to_html(read_estimates(html), title="t", caveat="c", level=level)


@pytest.mark.slow
@pytest.mark.parametrize("made", ESTIMATED.values(), ids=ESTIMATED)
def test_a_page_is_well_formed_and_reads_in_order(made: Estimates) -> None:
    page = Page(to_html(made))
    page.check_outline()
    assert [len(page.all(tag)) for tag in ("main", "table", "caption")] == [1, 1, 1]
    assert all(svg["aria-hidden"] == "true" for svg in page.all("svg"))
    assert page.all("script") == scripts("topgap-estimates")
    assert len(rows(page)) == len(made)
    for word in ("inf", "nan", "None", "$"):
        assert made is ESTIMATED["hostile"] or not re.search(rf"\b{re.escape(word)}\b", words(page))


def test_the_table_says_estimate_error_interval_and_gap() -> None:
    page = Page(to_html(CERTAIN))
    # By the formula w·m + (1 − w)·(z + mean(m) − mean(z)) with w = 1/3, and 8 = √(128·3/6).
    assert page.rows == [
        HEAD,
        ["1", "flu", "613 ± 8", "596 to 628", "165.8"],
        ["2", "cold", "449 ± 8", "426 to 474", "1.2 order uncertain"],
        ["3", "gout", "448 ± 8", "425 to 474", "75.9"],
        ["4", "mumps", "371 ± 8", "354 to 387", "90.0"],
    ]
    below = Page(to_html(ESTIMATED["all below 0"]))
    assert rows(below)[0][2:4] == ["−100.0 ± 1.4 below 0 by noise", "−102.9 to −97.1"]


@pytest.mark.parametrize("level", ["0.5", "0.95", "0.999"])
@pytest.mark.parametrize("name", ["one tie", "everyday", "hostile", "all below 0", "a single one"])
def test_error_bars_reach_from_end_to_end(name: str, level: str) -> None:
    made = ESTIMATED[name]
    intervals = made.intervals(level)
    start = min(0.0, *(low for low, _ in intervals))
    full = max(0.0, *(high for _, high in intervals)) - start
    bars = drawn(Page(to_html(made, level=level)))
    for bar, estimate, (low, high) in zip(bars, made.estimates, intervals, strict=True):
        zero, end, left, right = (100 * (x - start) / full for x in (0, estimate, low, high))
        assert bar[:2] == pytest.approx((min(zero, end), max(zero, end)), abs=1e-3)
        assert bar[2] == [
            pytest.approx(each, abs=1e-3) for each in ((left, right), (left, left), (right, right))
        ]


def test_gigantic_estimates_keep_their_proportions_and_break_nothing() -> None:
    page = Page(to_html(ESTIMATED["gigantic"]))
    assert [bar[:2] for bar in drawn(page)] == [(0, 100), (0, 10), (0, 0)]
    assert rows(page)[0][2].startswith("> 1.798 × 10³⁰⁸ ± ")
    wide = Page(to_html(ESTIMATED["gigantic noise"]))
    assert rows(wide)[1][3] == "< −1.798 × 10³⁰⁸ to > 1.798 × 10³⁰⁸"
    assert drawn(wide)[1][2][0] == (0, 100)


@pytest.mark.parametrize(("level", "often", "percent"), [
    ("0.95", "95 of 100", "95%"), ("0.999", "999 of 1,000", "99.9%"), ("1/3", "1 of 3", "33.33%"),
    ("0.5", "50 of 100", "50%"),
])  # fmt: skip
def test_the_words_are_those_of_the_level(level: str, often: str, percent: str) -> None:
    page = Page(to_html(CERTAIN, level=level))
    said = words(page)
    assert f"In {often} such publications from the same data, each with new noise, an " in said
    assert f"{often} is how often such intervals do" in said
    assert f"all 4 intervals hold at once in {often} publications" in said
    assert {*re.findall(r"[\d,]+ of [\d,]+", said)} == {often}
    assert f"the line on it its {percent} interval" in said
    assert {*re.findall(r"[\d.]+%(?! sure)", said)} == {percent}
    assert [each for row in page.rows for each in row if "% interval" in each] == [
        f"{percent} interval"
    ]
    assert [row[3] for row in rows(page)] == [
        f"{low:.0f} to {high:.0f}" for low, high in CERTAIN.intervals(level)
    ]
    inside = [text for tag, text in page.texts if tag == "script"][-1]
    assert Estimates.from_json(inside) == CERTAIN
    held = [each["interval"] for each in json.loads(inside)["estimates"]]
    assert held == [[*each] for each in CERTAIN.intervals(level)]


def test_only_the_variance_of_the_noise_says_at_least() -> None:
    assert "In at least 95 of 100 such publications" in words(
        Page(to_html(ESTIMATED["unknown, elsewhere"]))
    )
    for name in ("one tie", "normal, elsewhere"):
        assert "at least 95" not in words(Page(to_html(ESTIMATED[name])))


def test_the_parameters_are_those_of_the_whole_and_of_its_parts() -> None:
    made = measured(Release(TopK(2, "1/3"), None, [900, 800], ["a", "b"]), "1/12", [500, 400])
    assert made.epsilon == TopK(1, "1/2").epsilon
    page = Page(to_html(made))
    said = words(page)
    assert page.text("strong").startswith("ε = 0.5 ")
    for name, value in {
        "ε": "0.5", "ε to select": "1/3", "ε to measure": "1/12",
        "noise scale": "12", "standard deviation of a gap": "≈ 16.97",
        "noise of a measurement": "12",
    }.items():  # fmt: skip
        assert re.search(rf"(?<!\w) {re.escape(name)} {re.escape(value)} ", said), name
    assert "ε ≈ 1.649" in said  # e^(1/2), that of the whole
    assert "costs ε = 0.5: 1/3 to select, and 1/12 for each" in said
    assert "each true number gets: 2 · k · sensitivity / (ε to select)." in said
    assert "The standard deviation of a measurement is about 17." in said  # 12·√2
    assert "At 35.95 that is once in 20 times" in said  # 12 · ln 20


def test_what_was_measured_elsewhere_costs_more_than_is_known() -> None:
    page = Page(to_html(ESTIMATED["normal, elsewhere"]))
    said = words(page)
    assert "ε = 0.5" in page.text("strong")
    assert "for the ranking; the cost of the measurements is added" in said
    assert "The ranking with its gaps was at most" in said
    assert "All of it together" not in said
    assert (
        "Their noise is normal. The standard deviation of a measurement is about 9.5 to 13" in said
    )
    assert "ε to measure" not in said
    assert "Only the variance of their noise is known" in words(
        Page(to_html(ESTIMATED["unknown, elsewhere"]))
    )


def test_only_what_is_uncertain_is_marked_and_explained() -> None:
    certain = measured(Release(TopK(2, 1), [0, 1], [900, 800]), "1", [900, 800])
    last = measured(Release(TopK(2, 1), [0, 1], [900, 1]), "1", [900, 800])
    always = ["±", "95% interval", "Gap"]
    assert points(Page(to_html(certain))) == always
    assert points(Page(to_html(last))) == [*always, "place uncertain"]
    assert [row[-1] for row in rows(Page(to_html(last)))] == ["90.0", "0.1 place uncertain"]
    assert points(Page(to_html(CERTAIN))) == [*always, "order uncertain"]
    marked = [row[0] for row in rows(Page(to_html(LEANING))) if "uncertain" in row[-1]]
    assert marked == ["4", "7", "10"]
    assert " lean" not in words(Page(to_html(LEANING)))


def test_numbers_below_zero_and_out_of_order_are_explained_or_put_in_order() -> None:
    release = Release(TopK(4, 1), None, [3000, 2, 2500, 4], ["flu", "cold", "gout", "mumps"])
    made = measured(release, "1/4", [340, 44, 60, -400])
    shown = Page(to_html(made))
    assert points(shown)[-2:] == ["below 0 by noise", "Order of the estimates"]
    assert "Ranks 2 and 3 have estimates in the other order" in words(shown)
    ordered = Page(to_html(made, in_order=True))
    assert points(ordered)[-1] == "In order"
    assert "costs no ε" in words(ordered)
    # An answer that may truly be negative is moved out of its interval.
    assert words(ordered).count(", if true numbers are not below 0.") == 2
    assert "if true numbers" not in words(shown)
    numbers = [int(row[2].split(" ± ")[0]) for row in rows(ordered)]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[-1] == 0
    assert "−" not in "".join(cell for row in rows(ordered) for cell in row)
    assert read_estimates(to_html(made, in_order=True)) == made


def test_a_single_item_has_nothing_at_once() -> None:
    said = words(Page(to_html(ESTIMATED["a single one"])))
    assert "at once" not in said
    assert "The item that came out largest." in said


def test_hostile_names_and_titles_are_text() -> None:
    html = to_html(ESTIMATED["hostile"], title=ATTACK, caveat="<b>$x</b>")
    page = Page(html)
    assert rows(page)[0][1] == page.text("h1") == ATTACK
    assert rows(page)[3][1] == "🦠 two\\nlines"
    assert page.all("img") == page.all("b") == []
    assert len(page.all("script")) == 2
    assert read_estimates(html).release == HOSTILE


def shape(html: str) -> list[str]:
    return [tag for tag, _ in Page(html).elements]


@pytest.mark.slow
@given(NAMES | st.just("topgap-release"), NAMES)
def test_no_name_changes_the_page(one: str, two: str) -> None:
    made, plain = (
        measured(Release(TopK(2, 1), None, [125, 300], [*names]), "1/2", [50, 35])
        for names in ((one, two), ("a", "b"))
    )
    html = to_html(made)
    assert read_estimates(html) == made
    assert shape(html) == shape(to_html(plain))


@pytest.mark.parametrize("html", ["", "<p>", to_html(EVERYDAY), "<p id=topgap-estimates>{}</p>"])
def test_a_page_without_estimates_is_refused(html: str) -> None:
    with pytest.raises(EstimatesError, match=r"^This page holds no estimates of topgap\.$"):
        read_estimates(html)


def test_a_page_with_something_else_in_its_place_is_refused() -> None:
    html = to_html(CERTAIN).replace("topgap.estimates/1", "topgap.estimates/0")
    for read in (read_estimates, read_release):
        with pytest.raises(EstimatesError, match="These are not estimates"):
            read(html)
    with pytest.raises(ReleaseError, match="name the items by strings"):
        to_html(measured(Release(TopK(1, 1), [0], [1], [b"a"]), "1", [5]))


@pytest.mark.parametrize("level", [0, 1, -1, "2"])
def test_a_level_that_is_none_is_refused(level: object) -> None:
    with pytest.raises(ParameterError, match="level must be"):
        to_html(CERTAIN, level=level)  # type: ignore[arg-type]


@pytest.mark.parametrize("made", ESTIMATED.values(), ids=ESTIMATED)
@pytest.mark.parametrize(
    "width", [PHONE, *(pytest.param(width, marks=pytest.mark.deep) for width in (700, DESK))]
)
def test_it_loads_in_peace_and_fits_its_window(
    browser: Browser,
    made: Estimates,
    width: int,
) -> None:
    browser.show(made, width=width, caveat="x" * 300, level="0.999")
    browser.unfold()
    browser.check_fit(width)
    assert browser.complaints() == []
    assert browser.requests() == [browser.file.as_uri()]


SEEN = """
    const rows = document.querySelectorAll("tbody tr");
    return [...rows].map(row => {
        const box = part => row.querySelector(part).getBoundingClientRect();
        const lines = [...row.querySelectorAll(".bar line")].map(
            line => line.getBoundingClientRect());
        return {left: box(".bar").left, full: box(".bar").width, top: box(".bar").top,
                height: box(".bar").height, bar: box(".rest").right,
                lines: lines.map(each => [each.left, each.right, each.top, each.bottom]),
                said: [...row.querySelectorAll("td")].map(
                    cell => [getComputedStyle(cell, "::before").content, cell.innerText])};
    });
"""


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_error_bars_lie_where_the_intervals_say(browser: Browser, width: int) -> None:
    browser.show(LEANING, width=width)
    seen = browser.run(SEEN)
    intervals = LEANING.intervals()
    full = max(high for _, high in intervals)
    assert len(seen) == len(intervals)
    assert len({(row["left"], row["full"]) for row in seen}) == 1
    assert seen[0]["full"] > width / 4
    for row, estimate, ends in zip(seen, LEANING.estimates, intervals, strict=True):
        low, high = (row["left"] + row["full"] * end / full for end in ends)
        assert row["bar"] == pytest.approx(row["left"] + row["full"] * estimate / full, abs=1)
        between, left, right = row["lines"]
        assert between[:2] == pytest.approx([low, high], abs=1.1)
        for end, x in ((left, low), (right, high)):
            assert end[:2] == pytest.approx([x, x], abs=1.1)
            assert end[3] - end[2] > 0.8 * row["height"]  # seen by its shape, not by colour alone
            assert row["top"] - 1 <= end[2] <= end[3] <= row["top"] + row["height"] + 1
    if width == PHONE:
        labels = [label.partition('"')[2].partition('"')[0] for label, _ in seen[0]["said"]]
        assert labels == ["", "", "from ", "gap "]
    else:
        assert {label for row in seen for label, _ in row["said"]} == {"none"}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_and_error_bars_stand_out(browser: Browser, scheme: str) -> None:
    browser.show(LEANING, scheme=scheme)
    pairs = [(place, *json.loads(pair)) for pair, place in browser.run(CONTRASTS).items()]
    assert [each for each in pairs if contrast(*each[1:]) < 4.5] == []
    error, rest, ground = (
        [float(number) for number in re.findall(r"[\d.]+", colour)]
        for colour in browser.run("""
            const style = place => getComputedStyle(document.querySelector(place));
            return [style(".bar .error").stroke, style(".bar .rest").fill,
                    style("html").backgroundColor];
        """)
    )
    assert contrast(error, ground) > 4.5
    assert contrast(error, rest) > 3


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [PHONE, DESK])
@pytest.mark.parametrize("name", ["everyday", "hostile", "gigantic"])
def test_axe_finds_no_barrier(
    browser: Browser,
    name: str,
    width: int,
    scheme: str,
) -> None:
    pytest.importorskip("axe_core_python", reason="axe-core-python is not installed.")
    axe = importlib.resources.files("axe_core_python") / "axe.min.js"
    made = ESTIMATED[name]
    browser.show(made, width=width, scheme=scheme)
    browser.unfold()
    browser.run(axe.read_text(encoding="utf-8"))
    found = browser.driver.execute_async_script(
        "axe.run().then(arguments[0], error => arguments[0](String(error)))"
    )
    assert len(found["passes"]) > 15
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    tree = browser.command("Accessibility.getFullAXTree")["nodes"]
    roles = [node["role"]["value"] for node in tree if not node["ignored"]]
    assert roles.count("rowheader") == len(made)
    assert roles.count("table") == 1


def test_the_json_in_the_browser_is_whole(browser: Browser) -> None:
    for made in (ESTIMATED["hostile"], LEANING):
        browser.show(made, title=ATTACK)
        assert browser.driver.title == ATTACK
        assert browser.run("return [document.scripts.length, document.images.length]") == [2, 0]
        for place in ("#topgap-estimates", "#data pre"):
            text = browser.run("return document.querySelector(arguments[0]).textContent", place)
            assert Estimates.from_json(text) == made


def test_ten_items_print_on_one_page_of_a4(browser: Browser) -> None:
    browser.show(LEANING, **PUBLISHED)
    pdf = browser.print_to_pdf()
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    assert len(pdf) > 10_000


def test_on_a_phone_it_is_a_third_of_what_it_was(browser: Browser) -> None:
    browser.show(LEANING, width=390, **PUBLISHED)
    assert browser.run("return document.documentElement.scrollHeight") <= 3_000
    places = browser.run("""
        const top = place => document.querySelector(place).getBoundingClientRect().top;
        return [top("tbody .figure"), top("#reading"), top(".fold")];
    """)
    assert places == sorted(places)
    assert places[0] < 500  # the first number, on the first screen


@pytest.mark.parametrize("width", [390, 768, 1300])
def test_all_that_a_publisher_says_fits(browser: Browser, width: int) -> None:
    browser.show(LEANING, width=width, **PUBLISHED)
    browser.unfold()
    browser.check_fit(width)
    assert browser.complaints() == []
    assert browser.requests() == [browser.file.as_uri()]
