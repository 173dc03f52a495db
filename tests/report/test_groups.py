"""The page of many groups: whole, exact, explained once, and safe whatever they are called."""

import base64
import hashlib
import json
import re

import pytest

from tests.display.sample_groups import (
    ATTACKS,
    CUT,
    ESTIMATES,
    GROUPED,
    HOSTILE_GROUPS,
    MANY,
    REGIONS,
    VALUES,
)
from tests.display.sample_releases import EVERYDAY
from tests.report.pages import Page, drawn, has_unformatted, words
from topgap import (
    EstimatesError,
    GroupedEstimates,
    GroupedRelease,
    ParameterTypeError,
    Release,
    ReleaseError,
    TopgapError,
    TopKByGroup,
    report,
)
from topgap.display.items import format_item
from topgap.display.text import to_line
from topgap.release.grouped_notes import format_group
from topgap.report import read_estimates, read_grouped, read_release, to_html

Shown = GroupedRelease | GroupedEstimates


def policy(html: str) -> str:
    [content] = [each["content"] for each in Page(html).all("meta") if "http-equiv" in each]
    return content or ""


def script(html: str) -> str:
    return "".join(re.findall(r"<script>(.*?)</script>", html, re.DOTALL))


@pytest.mark.parametrize("shown", GROUPED.values(), ids=GROUPED)
def test_a_page_holds_its_lists_and_is_always_the_same(shown: Shown) -> None:
    html = to_html(shown, title="t", caveat="c")
    assert read_grouped(html) == shown
    assert read_grouped(html.encode()) == shown
    assert html == to_html(read_grouped(html), title="t", caveat="c")


@pytest.mark.parametrize("shown", GROUPED.values(), ids=GROUPED)
def test_a_page_is_well_formed_and_has_all_groups_in_order(shown: Shown) -> None:
    page = Page(to_html(shown))
    page.check_outline()
    identities = [each["id"] for _, each in page.elements if "id" in each]
    inner = [href[1:] for each in page.all("a") if (href := each["href"] or "")[0] == "#"]
    assert {*inner} <= {*identities} | {"main"}
    sections = [each for each in page.all("section") if each.get("class") == "group"]
    assert [each["id"] for each in sections] == [f"g{n}" for n in range(1, len(shown) + 1)]
    names = [format_group(group) for group in shown]
    bdis = [text for tag, text in page.texts if tag == "bdi"]
    assert bdis[: len(names)] == names
    for result in shown.values():
        assert {to_line(format_item(item)) for item in result.items} <= {*bdis}
    assert all(th["scope"] in ("row", "col") for th in page.all("th"))
    assert not has_unformatted(page) or None in shown or shown is HOSTILE_GROUPS


@pytest.mark.parametrize("shown", [REGIONS, HOSTILE_GROUPS, ESTIMATES])
def test_its_script_is_known_to_the_policy_and_the_same_for_all(shown: Shown) -> None:
    html = to_html(shown, title="</script>")
    hashed = base64.b64encode(hashlib.sha256(script(html).encode()).digest()).decode()
    assert f"script-src 'sha256-{hashed}'; " in policy(html)
    assert policy(html).startswith("default-src 'none'; ")
    assert script(html) == script(to_html(MANY))
    assert len(Page(html).all("script")) == 3
    for way_out in ("fetch", "XMLHttp", "WebSocket", "sendBeacon", "import", "innerHTML", "http",
                    "eval", "localStorage", "cookie", "document.write", "location"):  # fmt: skip
        assert way_out not in script(html)


def test_a_page_of_one_list_has_no_script() -> None:
    html = to_html(EVERYDAY)
    assert script(html) == ""
    assert "script-src" not in policy(html)
    assert len(Page(html).all("script")) == 2


def test_names_of_groups_change_nothing_around_them() -> None:
    """The same elements as with plain names; and the JSON holds no markup."""
    each = HOSTILE_GROUPS.parameters
    plain = GroupedRelease(
        each, {f"g{n}": HOSTILE_GROUPS[group] for n, group in enumerate(ATTACKS)}
    )
    assert Page(to_html(plain)).elements == Page(to_html(HOSTILE_GROUPS)).elements
    html = to_html(HOSTILE_GROUPS)
    [held] = re.findall(r'<script type="application/json" id="topgap-groups">(.*?)</script>', html)
    assert json.loads(held)["groups"][0]["group"] == ATTACKS[0]
    assert not re.search("[<>&\u2028\u202e\x00]", held)
    assert "\u202e" not in html


# What it says.
def test_epsilon_is_that_of_all_groups_and_explained_once() -> None:
    text = words(Page(to_html(REGIONS)))
    assert "Published under differential privacy, ε = 1 ." in text
    assert text.count("The gaps say") == 1
    assert "e ε ≈ 2.718 times" in text
    assert "groups per person 2 The most groups in which one person counts." in text
    assert "ε of one list 0.5" in text
    assert "noise scale 4 " in text
    assert "the lists of items and groups were not taken from the data" in text
    assert "removed or replaced" not in text
    other = TopKByGroup(1, 1)
    both = GroupedRelease(other, {1: Release(other.each, None, [3], ["flu"])})
    assert "replaced by another, who may be in other groups" in words(Page(to_html(both)))


def test_estimates_say_how_epsilon_is_shared() -> None:
    text = words(Page(to_html(ESTIMATES)))
    assert "together cost ε = 1: 0.5 to select, and 0.25 for each" in text
    assert "can move at most 2 measurements" in text
    assert "ε to measure 0.25" in text
    assert " lean" not in text
    rows = [row for row in Page(to_html(ESTIMATES)).rows if row[0] == "1"]
    assert [len(row) for row in rows] == [5, 5]
    assert rows[0][-1] == "400.0"
    assert rows[1][-1] == "2.0 order uncertain"


def test_bars_are_on_the_scale_of_their_group() -> None:
    bars = drawn(Page(to_html(VALUES)))
    assert max(end for _, end, _ in bars[:2]) > 80
    assert max(end for _, end, _ in bars[2:]) > 80
    assert "Bars of a group have one scale." in words(Page(to_html(VALUES)))


def test_a_threshold_is_told_by_group() -> None:
    text = words(Page(to_html(CUT)))
    assert "No item was above 500, noise included, in 1 of 4 groups (East)." in text
    assert "at most, in 1 of 4 groups (South)" in text
    assert "In a list with one item less than the most, all counts may be biased downward" in text
    assert "East No item above 500. South" in text
    assert "The counts and gaps say" in text


def test_caveats_stand_at_the_top() -> None:
    html = to_html(MANY, caveat="Groups overlap.", counted="Who came.")
    assert html.index("Not protected: the list of items") < html.index("<main")
    assert html.index("Groups overlap.") < html.index("<main")
    assert "Who came." in html


def test_few_groups_are_laid_out_at_once_and_the_index_of_many_is_closed() -> None:
    assert "content-visibility: auto" not in to_html(REGIONS)
    assert '<details class="index" open>' in to_html(REGIONS)
    assert "content-visibility: auto" in to_html(MANY)
    assert '<details class="index">' in to_html(MANY)


# What is read back, and what is not.
def test_each_page_is_read_as_what_it_holds() -> None:
    assert isinstance(read_grouped(to_html(ESTIMATES)), GroupedEstimates)
    with pytest.raises(ReleaseError, match="holds no lists of groups"):
        read_grouped(to_html(EVERYDAY))
    with pytest.raises(ReleaseError, match="holds no release"):
        read_release(to_html(REGIONS))
    with pytest.raises(EstimatesError, match="holds no estimates"):
        read_estimates(to_html(ESTIMATES))
    with pytest.raises(ParameterTypeError):
        read_grouped(7)  # type: ignore[arg-type]
    with pytest.raises(ParameterTypeError, match="of groups"):
        to_html({"North": EVERYDAY})  # type: ignore[arg-type]
    for broken in ("", "<script id='topgap-groups'>{}</script>", b"\xff"):
        with pytest.raises(TopgapError):
            read_grouped(broken)


def test_the_module_names_what_is_public() -> None:
    assert {"to_html", "read_grouped"} <= {*report.__all__}
