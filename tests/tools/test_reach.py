"""What `tools/reach.py`, a part of `make docs`, finds in a site."""

from pathlib import Path

import pytest

from tests.tools.test_site_links import built
from tools.reach import LIMITS, LONGER, LOOKED_UP, Article, find_clicks, find_far, find_long

TABS = '<ul><li class="md-tabs__item md-tabs__item--active"><a> {kind} </a></li><li>Other</li></ul>'


def page(words: int, kind: str = "Tutorials", *links: str) -> str:
    to = "".join(f'<a href="{link}"></a>' for link in links)
    return f"{TABS.format(kind=kind)}{to}<article><p>{'word ' * words}</p></article>"


NEAR = {
    "index.html": page(10, "Tutorials", "a.html", "https://far.org/b.html", "#here", "deep/"),
    "a.html": page(10, "Tutorials", "b.html#there", "index.html"),
    "b.html": page(10, "Tutorials", "deep/c.html"),
    "deep/index.html": page(10, "Explanation", "c.html"),
    "deep/c.html": page(10, "Explanation"),
    "404.html": page(10, "Explanation"),
}


def test_clicks_are_counted_from_the_front_page(tmp_path: Path) -> None:
    site = built(tmp_path, NEAR)
    assert find_clicks(site) == {
        "index.html": 0, "a.html": 1, "deep/index.html": 1, "b.html": 2, "deep/c.html": 2,
    }  # fmt: skip
    assert find_far(site) == []


def test_pages_that_are_far_or_lost_are_found(tmp_path: Path) -> None:
    far = NEAR | {"deep/c.html": page(1, "Explanation", "../d.html"), "d.html": "", "e.html": ""}
    first, second = find_far(built(tmp_path, far))
    assert first.startswith("d.html is 3 clicks from the front page, and 2 are allowed: link to it")
    assert second.startswith("e.html is no number of clicks from the front page")


@pytest.mark.parametrize("kind", [kind for kind in LIMITS if kind != "front page"])
def test_a_page_that_is_too_long_for_its_kind_is_found(kind: str, tmp_path: Path) -> None:
    most = LIMITS[kind]
    assert find_long(built(tmp_path, {"a.html": page(most, kind)})) == []
    (wrong,) = find_long(built(tmp_path, {"a.html": page(most + 1, kind)}))
    assert wrong.startswith(
        f"a.html has {most + 1:,} words, and {most:,} are allowed ({kind}): sho"
    )


def test_the_front_page_has_a_limit_though_it_is_in_no_tab(tmp_path: Path) -> None:
    text = f"<article>{'word ' * (LIMITS['front page'] + 1)}</article>"
    (wrong,) = find_long(built(tmp_path, {"index.html": text}))
    assert "(front page)" in wrong


def test_a_longer_page_may_only_get_shorter(tmp_path: Path) -> None:
    name, most = next(iter(LONGER.items()))
    assert find_long(built(tmp_path, {name: page(most, "How-to guides")})) == []
    (wrong,) = find_long(built(tmp_path, {name: page(most + 1, "How-to guides")}))
    assert f"{most:,} are allowed" in wrong
    (wrong,) = find_long(built(tmp_path, {name: page(10, "How-to guides")}))
    assert wrong.startswith(f"{name} is short enough now: delete it")


def test_a_page_in_no_tab_is_found_and_what_is_looked_up_is_not(tmp_path: Path) -> None:
    pages = {"a.html": "<article>word</article>", f"{LOOKED_UP[0]}b.html": page(99_999)}
    assert find_long(built(tmp_path, pages)) == [
        "a.html is in no tab, which has no limit in tools/reach.py"
    ]


def test_only_sentences_count() -> None:
    article = Article(
        "outside<article>one two — <b>three</b><pre>no <span>no</span></pre>four<table><td>no"
        "</td></table><nav>no</nav> five<svg>no</svg></article>outside"
    )
    assert article.words == 5
