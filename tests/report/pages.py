"""What tests read off a page: its elements, its table, its words and its bars."""

import re
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "link", "img", "br", "input"}


class Page(HTMLParser):
    """The elements of a page as (tag, attributes), its table, and its text by tag."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1] if self._open else "", data))
        if {"td", "th"} & {*self._open}:
            self.rows[-1][-1] += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, tag: str = "") -> str:
        return " ".join(
            text for inside, text in self.texts if inside == tag or (not tag and inside != "script")
        )

    def check_outline(self) -> None:
        """See that the headings are in order, below a single one, and that no id comes twice."""
        levels = [int(tag[1]) for tag, _ in self.elements if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        identities = [each["id"] for _, each in self.elements if "id" in each]
        assert len(identities) == len({*identities})


def scripts(place: str) -> list[dict[str, str | None]]:
    """The elements with the card and with the JSON: data, which no browser runs."""
    return [{"type": "application/ld+json"}, {"type": "application/json", "id": place}]


def points(page: Page) -> list[str]:
    """The terms of the list "How to read this"."""
    return [text.rstrip(":") for tag, text in page.texts if tag == "strong" and text[-1] == ":"]


def words(page: Page) -> str:
    """The text of the page, the JSON in it left aside."""
    shown = [text for tag, text in page.texts if tag not in ("script", "pre", "style")]
    return re.sub(r"\s+", " ", " ".join(shown))


def drawn(page: Page) -> list[tuple[float, float, list[tuple[float, float]]]]:
    """Where each bar begins and ends, and the lines of its error bar, in percent."""
    bars: list[tuple[float, float, list[tuple[float, float]]]] = []
    inside = False
    for tag, attributes in page.elements:
        if tag == "svg":
            inside = attributes.get("class") == "bar"
        part = {key: float(value[:-1]) for key, value in attributes.items()
                if value is not None and value.endswith("%")}  # fmt: skip
        if inside and tag == "rect" and attributes["class"] == "rest" and "x" in part:
            bars.append((part["x"], part["x"] + part["width"], []))
        if inside and tag == "line":
            bars[-1][2].append((part["x1"], part["x2"]))
    return bars


def has_unformatted(page: Page) -> bool:
    """Whether the text has a number or a value as Python writes it, and nobody should read it."""
    return any(re.search(rf"\b{word}\b", words(page)) for word in ("inf", "nan", "None"))
