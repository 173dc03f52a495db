"""What `tools/links.py`, a part of `make docs`, finds in a site."""

from pathlib import Path

import pytest

from tools.links import find_broken

WHOLE = {
    "index.html": '<h2 id="top">x</h2><a href="a/b.html#here">b</a><a href="https://far.org/">f</a>',
    "a/b.html": '<p id="here"></p><a href="../index.html#top">up</a><a href="..">home</a>'
    '<img src="c.svg"><link rel="canonical" href="https://far.org/a">',
    "a/c.svg": "<svg/>",
}


def built(folder: Path, pages: dict[str, str]) -> Path:
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_a_site_that_holds_together(tmp_path: Path) -> None:
    assert find_broken(built(tmp_path, WHOLE)) == ([], {"https://far.org/"})


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ('<a href="nowhere.html">x</a>', "links to nowhere.html, which is not there"),
        ('<a href="a/b.html#nowhere">x</a>', "and there is no such anchor"),
        ('<a href="#nowhere">x</a>', "and there is no such anchor"),
        ('<img src="a/d.svg">', "links to a/d.svg, which is not there"),
        ('<a href="start.md">x</a>', "links to start.md, which is not there"),
        ('<script src="https://far.org/x.js"></script>', "loads https://far.org/x.js"),
        ('<script>import("https://far.org/y.js")</script>', "loads https://far.org/y.js"),
        ('<img srcset="https://far.org/z.png 2x">', "loads https://far.org/z.png"),
        ('<object data="https://far.org/z.svg"></object>', "loads https://far.org/z.svg"),
        ('<link rel="stylesheet" href="//far.org/x.css">', "loads //far.org/x.css"),
    ],
)
def test_what_is_wrong_is_found(page: str, complaint: str, tmp_path: Path) -> None:
    (wrong,), _ = find_broken(built(tmp_path, WHOLE | {"index.html": page + '<p id="top"></p>'}))
    assert wrong.startswith("index.html ")
    assert wrong.endswith(complaint)


def test_what_a_style_sheet_loads_is_found(tmp_path: Path) -> None:
    near = "a { background: url(img.png) }"
    assert find_broken(built(tmp_path, WHOLE | {"a/x.css": near}))[0] == []
    far = "@import 'https://far.org/x.css'; b { background: url(//far.org/y.png) }"
    wrong, _ = find_broken(built(tmp_path, WHOLE | {"a/x.css": far}))
    assert wrong == ["a/x.css loads https://far.org/x.css", "a/x.css loads //far.org/y.png"]


def test_an_address_in_a_block_of_data_is_not_loaded(tmp_path: Path) -> None:
    data = '<script type="application/ld+json">{"@context": "https://far.org/"}</script>'
    page = data + '<p id="top"></p>'
    assert find_broken(built(tmp_path, WHOLE | {"index.html": page}))[0] == []


def test_no_site_is_no_good_site(tmp_path: Path) -> None:
    assert find_broken(tmp_path)[0] == [f"{tmp_path} has no pages."]
