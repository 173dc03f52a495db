"""Whether a newcomer reaches each page of the site in two clicks, and how long each is.

    python -m tools.reach [site]

A page is as long as its sentences: code and tables are looked at, not read through, and do not
count. How long it may be depends on its kind, which is the tab that it stands in.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools.links import Page

CLICKS = 2

LIMITS = {
    "front page": 300,
    "Tutorials": 1_200,
    "How-to guides": 2_000,
    "Reference": 3_000,
    "Explanation": 2_800,
    "Project": 1_500,
}
"""Words of a page of each kind. 250 of them take a minute: a tutorial is read in five, so that it
is done in ten, and an explanation in one sitting."""

LOOKED_UP = ("api/", "changelog.html")
"""Pages that nobody reads through: made of docstrings and help, or longer with each version."""

LONGER = {
    "counting.html": 4_300,
    "domain.html": 2_600,
    "ledger.html": 3_200,
    "spark.html": 3_350,
}
"""Pages that are longer than their kind should be. They may get shorter only."""

_NOT_READ = {"pre", "table", "nav", "script", "style", "svg"}


class Article(HTMLParser):
    """The words of a page's text, and the tab that it stands in."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words = 0
        self.kind: str | None = None
        self._inside: list[str] = []  # the elements that decide whether text is read
        self._in_active_tab = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where text begins that is read, or is not."""
        if tag == "article" or tag in _NOT_READ:
            self._inside.append(tag)
        classes = (dict(attrs).get("class") or "").split()
        self._in_active_tab |= "md-tabs__item--active" in classes

    def handle_endtag(self, tag: str) -> None:
        """Note where it ends."""
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()
        self._in_active_tab = self._in_active_tab and tag != "li"

    def handle_data(self, data: str) -> None:
        """Count the words of an article, and read the name of the tab."""
        if self._in_active_tab and data.strip():
            self.kind = data.strip()
        if self._inside == ["article"]:
            self.words += sum(any(map(str.isalnum, word)) for word in data.split())


def find_clicks(site: Path, front: str = "index.html") -> dict[str, int]:
    """How many clicks each page is away from the front page; those that nothing leads to miss."""
    clicks = {front: 0}
    waiting = [front]
    for name in waiting:
        for link in Page((site / name).read_text(encoding="utf-8")).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            target = ((site / name).parent / unquote(parts.path)).resolve()
            target = target / "index.html" if target.is_dir() else target
            if target.suffix == ".html" and target.is_file() and target.is_relative_to(site):
                found = target.relative_to(site).as_posix()
                if found not in clicks:
                    clicks[found] = clicks[name] + 1
                    waiting.append(found)
    return clicks


def find_far(site: Path) -> list[str]:
    """What is wrong with how pages are reached."""
    clicks = find_clicks(site)
    names = {path.relative_to(site).as_posix() for path in site.rglob("*.html")} - {"404.html"}
    return [
        f"{name} is {clicks.get(name, 'no number of')} clicks from the front page, and {CLICKS} "
        "are allowed: link to it from docs/index.md, or give it a place in its tab in mkdocs.yml"
        for name in sorted(names)
        if clicks.get(name, CLICKS + 1) > CLICKS
    ]


def find_long(site: Path) -> list[str]:
    """What is wrong with how long pages are."""
    wrong = []
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site).as_posix()
        article = Article(path.read_text(encoding="utf-8"))
        kind = "front page" if name == "index.html" else article.kind
        if not article.words or name.startswith(LOOKED_UP) or name == "404.html":
            continue  # a report, or a page that is looked up
        if kind not in LIMITS:
            wrong.append(f"{name} is in {kind or 'no tab'}, which has no limit in tools/reach.py")
        elif article.words > (most := LONGER.get(name, LIMITS[kind])):
            wrong.append(
                f"{name} has {article.words:,} words, and {most:,} are allowed ({kind}): shorten "
                "it, or move what is of another kind to a page of that kind"
            )
        elif name in LONGER and article.words <= LIMITS[kind]:
            wrong.append(f"{name} is short enough now: delete it from LONGER in tools/reach.py")
    return wrong


def main() -> int:
    """Print what is wrong, or the longest page of each kind."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else "site").resolve()
    if not (site / "index.html").is_file():
        print(f"{site} has no front page: run mkdocs build first.")
        return 1
    wrong = find_far(site) + find_long(site)
    print("\n".join(wrong), end="\n" if wrong else "")
    print(
        f"{site.name}: {len(wrong)} pages to change"
        if wrong
        else f"{site.name}: every page is {CLICKS} clicks away at most, and short enough"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
