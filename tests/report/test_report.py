"""The page of a release: whole, exact, and safe whatever the items are called."""

import base64
import hashlib
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topgap
from tests.display.sample_releases import ATTACK, EVERYDAY, HOSTILE, SHOWN, UNCERTAIN, VISITS
from tests.report.pages import Page, points, scripts
from topgap import Release, ReleaseError, TopK
from topgap.domains import DomainDescription
from topgap.margins import leads, least_certain_gap
from topgap.report import read_release, to_html


def shape(page: Page) -> list[tuple[str, dict[str, str | None]]]:
    """All elements, without the lengths of the bars: what no item's name may change."""
    lengths = ("x", "width")
    return [
        (tag, {key: value for key, value in attributes.items() if key not in lengths})
        for tag, attributes in page.elements
    ]


def bars(page: Page) -> list[tuple[float, float]]:
    """Where each bar's gap begins, and how long it is, in percent."""
    return [
        (float((rect["x"] or "")[:-1]), float((rect["width"] or "")[:-1]))
        for rect in page.all("rect")
        if "x" in rect
    ]


@pytest.mark.slow
@pytest.mark.parametrize("release", SHOWN.values(), ids=SHOWN)
def test_a_page_holds_its_release_and_is_always_the_same(release: Release) -> None:
    html = to_html(release, title="t", caveat="c")
    assert read_release(html) == release
    assert read_release(html.encode().decode()) == release
    assert html == to_html(read_release(html), title="t", caveat="c")


@pytest.mark.parametrize("release", SHOWN.values(), ids=SHOWN)
def test_a_page_is_well_formed_and_reads_in_order(release: Release) -> None:
    page = Page(to_html(release))
    page.check_outline()
    identities = [each["id"] for _, each in page.elements if "id" in each]
    inner = [href[1:] for each in page.all("a") if (href := each["href"] or "")[0] == "#"]
    assert {*inner} <= {*identities}
    assert page.all("html") == [{"lang": "en"}]
    assert [len(page.all(tag)) for tag in ("header", "main", "table", "caption")] == [1, 1, 1, 1]
    assert all(th["scope"] in ("row", "col") for th in page.all("th"))
    assert all(svg["aria-hidden"] == "true" for svg in page.all("svg"))


def test_a_page_asks_for_nothing_and_runs_nothing() -> None:
    html = to_html(EVERYDAY)
    page = Page(html)
    [policy] = [each["content"] for each in page.all("meta") if "http-equiv" in each]
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    hashed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashed}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    assert page.all("script") == scripts("topgap-release")
    assert page.all("link") == [{"rel": "icon", "href": "data:,"}]
    assert not re.search(r"@import|url\(", style)
    names = {name for _, attributes in page.elements for name in attributes}
    assert not {name for name in names if name in ("src", "style") or name.startswith("on")}


def test_the_table_says_rank_item_and_gap() -> None:
    page = Page(to_html(EVERYDAY))
    head, *rows = page.rows
    assert head == ["Rank", "Item", "Gap to the next"]
    assert rows[0] == ["1", "High blood pressure", "165.8"]
    assert rows[3] == ["4", "Type 2 diabetes", "1.1 order uncertain"]
    assert rows[8] == ["9", "Arthritis", "112.0"]
    assert rows[9] == ["10", "Hypothyroidism", "41.5 place uncertain"]
    assert [i for i, row in enumerate(rows) if "uncertain" in row[2]] == UNCERTAIN
    assert points(page) == ["Noise", "Gap", "order uncertain", "place uncertain"]
    assert "The gap is below 59.91" in page.text()  # 20 · ln 20


def test_bars_are_as_long_as_the_leads_say() -> None:
    page = Page(to_html(EVERYDAY))
    drawn = bars(page)
    ahead = leads(EVERYDAY.gaps or ())
    for (start, length), gap, lead in zip(drawn, EVERYDAY.gaps or (), ahead, strict=True):
        assert length == pytest.approx(float(100 * gap / ahead[0]), abs=1e-3)
        assert start + length == pytest.approx(float(100 * lead / ahead[0]), abs=1e-3)
    ends = [rect for rect in page.all("rect") if "x" in rect]
    hatched = [i for i, rect in enumerate(ends) if rect.get("fill") == "url(#hatch)"]
    assert hatched == [i for i, rect in enumerate(ends) if "uncertain" in str(rect["class"])]
    assert hatched == UNCERTAIN


def test_bars_of_gigantic_gaps_are_exact_ratios() -> None:
    release = Release(TopK(2, 1), [0, 1], [3 * 10**400, 10**400])
    page = Page(to_html(release))
    assert bars(page)[:2] == [(25.0, 75.0), (0.0, 25.0)]
    assert [row[2] for row in page.rows[1:3]] == ["≈ 3.000 × 10³⁹⁹", "≈ 1.000 × 10³⁹⁹"]


def test_gaps_that_are_all_small_look_small() -> None:
    assert bars(Page(to_html(SHOWN["all gaps zero"]))) == [(0, 0), (0, 0), (0, 0)]
    small = Release(TopK(1, 1), [0], [1])
    [(start, length)] = bars(Page(to_html(small)))
    longest = least_certain_gap(small.parameters)
    assert start == 0
    assert length == pytest.approx(float(10 / longest), abs=1e-3)


def test_a_release_without_gaps_speaks_of_none() -> None:
    page = Page(to_html(SHOWN["without gaps"]))
    assert page.rows == [["Rank", "Item"], ["1", "flu"], ["2", "cold"], ["3", "None"]]
    assert bars(page) == []
    assert "This release has no gaps" in page.text()
    assert "standard deviation" not in page.text()


def test_items_without_names_go_by_position() -> None:
    page = Page(to_html(SHOWN["positions"]))
    assert page.rows[0][1] == "Position"
    assert page.rows[1][:3] == ["1", "4", "37/3"]
    assert "counted from 0" in page.text("caption")
    assert "counted from 0" not in Page(to_html(EVERYDAY)).text()


def test_the_parameters_are_exact_and_explained() -> None:
    page = Page(to_html(SHOWN["a single one"]))
    text = re.sub(r"\s+", " ", page.text())
    assert page.text("strong").startswith("ε = 1/3 ")
    values = {"k": "1", "sensitivity": "1", "monotonic": "no", "resolution": "0.1"}
    values |= {"noise scale": "6", "standard deviation of a gap": "≈ 8.485"}
    for name, value in values.items():
        assert re.search(rf"{re.escape(name)} {re.escape(value)} ", text), name
    assert "ε ≈ 1.396" in text  # e^(1/3)
    assert "at most 58.3% sure" in text  # e^(1/3) : 1 is 58.26 %
    assert "replaced by another" in text
    assert "The item that came out largest." in text
    assert "one person added or removed." in Page(to_html(EVERYDAY)).text()


def test_it_says_how_to_cite() -> None:
    text = Page(to_html(EVERYDAY)).text()
    assert "arXiv 2308.08057" in text
    assert "A Floating-Point Secure Implementation of the Report Noisy Max with Gap" in text
    assert f"topgap, version {topgap.__version__}" in text
    bibtex = Page(to_html(EVERYDAY)).text("pre")
    assert bibtex.count("@misc{") == 2
    assert "eprint = {2308.08057}" in bibtex
    assert bibtex.count("{") == bibtex.count("}")


def test_title_and_caveat_are_text() -> None:
    html = to_html(EVERYDAY, title=ATTACK, caveat="The list is from the data <b>$x</b>.")
    page = Page(html)
    assert page.text("h1") == ATTACK
    assert "The list is from the data <b>$x</b>." in page.text("p")
    assert page.all("img") == page.all("b") == []
    assert len(page.all("script")) == 2
    assert "Caution." in page.text("strong").split()
    assert "Caution." not in to_html(EVERYDAY)


def test_hostile_names_are_shown_and_do_nothing() -> None:
    page = Page(to_html(HOSTILE))
    shown = [row[1] for row in page.rows[1:]]
    assert shown[0] == ATTACK
    assert shown[3] == "🦠 two\\nlines"
    assert shown[5:] == ["${rows} $title $", "<!--<script>", r"&lt;b&gt;\u2028\u202e\ud800\x00"]
    assert page.all("img") == []
    assert len(page.all("script")) == 2


def test_it_says_which_items_took_part_and_what_count_stands_out() -> None:
    page = Page(to_html(VISITS))
    assert [row[1] for row in page.rows[1:]] == [
        "Germany, /start", 'France, "/search?a, b"', 'Côte d’Ivoire, "/"""',
    ]  # fmt: skip
    text = page.text()
    assert "a list; with the texts that match /[ -~]{1,20} (1,000,000,000,000 items)" in text
    assert "an item named here need not occur in the data" in text
    assert "noise alone lifts 3 of them to about 80 or more" in text
    assert "needs a count of about 80 to stand out" in text
    listed = DomainDescription("a list", 3, is_listed=True)
    listed_text = Page(to_html(Release(TopK(1, 1), [0], [1], domain=listed))).text()
    assert "a list (3 items)" in listed_text
    assert "need not occur" not in listed_text
    assert "took part" not in Page(to_html(EVERYDAY)).text()


def test_a_hostile_domain_is_text() -> None:
    page = Page(to_html(SHOWN["a hostile domain"]))
    assert f"the texts that match {ATTACK}" in page.text("bdi")
    assert f'{ATTACK}, (1, "{ATTACK}")' in page.text("bdi")  # quoted, for it has brackets
    assert page.all("img") == []
    assert len(page.all("script")) == 2


HARMLESS = shape(Page(to_html(Release(TopK(2, 1), None, [125, 300], ["a", "b"]))))
PIECES = st.sampled_from(["</script>", "<!--", "-->", "]]>", "&amp;", '"', "'", "${rows}", "\\"])
NAMES = st.text() | st.lists(PIECES | st.text(max_size=3)).map("".join)


@pytest.mark.slow
@given(NAMES, NAMES)
def test_no_name_changes_the_page(one: str, two: str) -> None:
    release = Release(TopK(2, 1), None, [125, 300], [one, two])
    html = to_html(release)
    html.encode()
    assert read_release(html) == release
    assert shape(Page(html)) == HARMLESS


@pytest.mark.parametrize("html", ["", "<p>", "<script>{}</script>", "<p id=topgap-release>{}</p>"])
def test_a_page_without_a_release_is_refused(html: str) -> None:
    with pytest.raises(ReleaseError, match=r"^This page holds no release of topgap\.$"):
        read_release(html)


def test_a_page_with_something_else_in_its_place_is_refused() -> None:
    html = to_html(EVERYDAY).replace("topgap.release/1", "topgap.release/0")
    with pytest.raises(ReleaseError, match="This is not a release"):
        read_release(html)


def test_items_that_json_cannot_hold_are_refused() -> None:
    with pytest.raises(ReleaseError, match="name the items by strings"):
        to_html(Release(TopK(1, 1), [0], [1], [b"a"]))


def test_extreme_parameters_are_written() -> None:
    for epsilon in ("1e-40", 10**30, Fraction(10**999, 7)):
        release = Release(TopK(1, epsilon), [0], [5])
        html = to_html(release)
        assert read_release(html) == release
        assert str(release.epsilon) in html
