"""A table in a notebook: its bars are in proportion, and nothing in it is anybody else's HTML."""

import re
from fractions import Fraction

import pytest

from topgap import Release, TopK, estimate, top_k
from topgap.display.html_table import format_html_table

# A name that would leave its cell, and nothing that loads or runs anything.
ATTACK = "</td><script>alert(1)</script><img src=x onerror=alert(1)>&\"'"
FAR = Release(TopK(k=2, epsilon=1, monotonic=True), None, [2_000, 1_000], ["flu", "cold"])


def shares(html: str) -> list[tuple[float, float]]:
    """Where each box of a bar begins, and how wide it is, in percent."""
    return [
        (float(left), float(width))
        for left, width in re.findall(r"left:([\d.]+)%;width:([\d.]+)%", html)
    ]


def test_a_gap_is_drawn_in_proportion() -> None:
    # 200 and 100: the first bar has a third of light, the lead of the second, which is all its own.
    assert shares(FAR._repr_html_()) == [(0, 33.33), (33.33, 66.67), (0, 33.33)]


def test_an_estimate_is_drawn_with_its_interval() -> None:
    both = estimate(FAR, [300, 100], variance=8, noise="laplace")
    (bar, ends, line, *_) = shares(both._repr_html_())
    (low, high), (number, _) = both.intervals()[0], both.estimates
    assert bar == (0.0, round(100 * number / high, 2))
    assert ends == line == (round(100 * low / high, 2), round(100 * (high - low) / high, 2))


def test_bars_of_negative_numbers_and_of_nothing_are_empty() -> None:
    below = estimate(FAR, [-300, -500], variance=8, noise="laplace")
    assert shares(below._repr_html_()) == []
    names = top_k({"a": 2, "b": 1}, 1, 1, gaps=False)
    assert "div" not in names._repr_html_()
    assert "div" not in format_html_table(["a"], [["1"]], bars=[None])


@pytest.mark.parametrize("name", [ATTACK, f"{ATTACK}\n{ATTACK}"])
def test_a_name_stays_text(name: str) -> None:
    html = Release(TopK(k=1, epsilon=1), None, [125], [name])._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert not re.search(r"url\(|@import|https?:", html)


def test_a_long_list_is_cut_with_its_bars() -> None:
    release = Release(TopK(k=500, epsilon=1), [*range(500)], [1_000] * 500)
    html = release._repr_html_()
    assert html.count("<tr>") == 61
    assert "… and 440 more" in html
    assert max(left + width for left, width in shares(html)) <= 100.01


def test_a_mark_and_its_legend_come_together() -> None:
    assert "?" not in FAR._repr_html_()
    near = Release(TopK(k=1, epsilon=1), None, [3], ["flu"])._repr_html_()
    assert near.count(">?<") == 1
    assert "? order uncertain: a gap below" in near
    assert Fraction(3, 10) == near_gap(near)


def near_gap(html: str) -> Fraction:
    """The gap that the table shows, beside the bar."""
    return Fraction(re.findall(r">([\d.]+)</td>", html)[-1])
