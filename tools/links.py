"""Whether the site holds together: every link and anchor leads somewhere, nothing comes from afar.

    python -m tools.links [site]

MkDocs checks the links of Markdown pages; this looks at the pages as they were built, those made of
docstrings, notebooks and the command's help among them. Links to other hosts are listed: whether
those are there, only a network tells.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src",
          "object": "data", "embed": "src", "use": "href", "video": "src"}  # fmt: skip
"""What a browser fetches by itself. A `link` may also just name an address."""

NAMING = {"canonical", "next", "prev", "edit"}


class Page(HTMLParser):
    """What a page links to, what it loads, and which anchors it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag says."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        is_data = given.get("type", "").endswith("json")  # which a browser does not run
        self.in_script = tag == "script" and not is_data
        if "srcset" in given:
            self.loads += [each.split()[0] for each in given["srcset"].split(",")]
        if tag in LOADED and LOADED[tag] in given and given.get("rel") not in NAMING:
            self.loads.append(given[LOADED[tag]])

    def handle_endtag(self, tag: str) -> None:
        """Note where a script ends."""
        self.in_script = self.in_script and tag != "script"

    def handle_data(self, data: str) -> None:
        """Note what a script in the page itself imports."""
        if self.in_script:
            self.loads += re.findall(r"https?://[^\s'\"]+", data)


def find_broken(site: Path) -> tuple[list[str], set[str]]:
    """What is wrong with the pages of a site, and the addresses elsewhere that they link to."""
    pages = {path: Page(_text(path)) for path in sorted(site.rglob("*.html"))}
    wrong = [] if pages else [f"{site} has no pages."]
    elsewhere: set[str] = set()
    for path in sorted(site.rglob("*.css")):
        fetched = re.findall(r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^'\")\s]+)", _text(path))
        wrong += [f"{path.relative_to(site)} loads {each}" for each in fetched]
    for path, page in pages.items():
        where = path.relative_to(site)
        wrong += [f"{where} loads {each}" for each in page.loads if _is_far(each)]
        near = [each for each in {*page.links, *page.loads} if not _is_far(each)]
        elsewhere |= {each for each in page.links if _is_far(each)}
        for link in sorted(near):
            parts = urlsplit(link)
            if parts.scheme:  # mail, or an image that is in the page itself
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if path.name == "404.html":  # it stands for any page, so its links begin at the root
                continue
            target = target / "index.html" if target.is_dir() else target
            anchors = pages[target].anchors if target in pages else set()
            if not target.is_file():
                wrong.append(f"{where} links to {link}, which is not there")
            elif target.suffix == ".png":  # whose fragment is a mark for the theme
                continue
            elif parts.fragment and unquote(parts.fragment) not in anchors:
                wrong.append(f"{where} links to {link}, and there is no such anchor")
    return wrong, elsewhere


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _is_far(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def main() -> int:
    """Print what is wrong, and what only a network can tell."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else "site").resolve()
    wrong, elsewhere = find_broken(site)
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"elsewhere, not looked at: {', '.join(sorted(elsewhere))}")
    print(
        f"{site.name}: {len(wrong)} broken" if wrong else f"{site.name}: every link leads somewhere"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
