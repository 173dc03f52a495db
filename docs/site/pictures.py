"""A hook of MkDocs: a picture of a light page has its dark twin beside it.

Pages name the light one, as a code host shows it: `x-light.png`. Where `x-dark.png` is there too,
the site shows the one that fits its scheme, by the marks that its theme knows.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

_LIGHT = re.compile(r'<img\b[^>]*\bsrc="([^"]+)-light\.png"[^>]*>')


def on_page_content(html: str, *, page: "Page", config: "MkDocsConfig", **_: Any) -> str:
    """Add the twins to a page."""
    folder = (Path(config.docs_dir) / page.file.src_uri).parent
    return add_dark_twins(html, folder)


def add_dark_twins(html: str, folder: Path) -> str:
    """The page with both pictures, of which one is shown.

    >>> add_dark_twins('<img alt="x" src="none-light.png">', Path("."))
    '<img alt="x" src="none-light.png">'
    """

    def both(found: re.Match[str]) -> str:
        if not (folder / f"{found[1]}-dark.png").is_file():
            return found[0]
        return "".join(
            found[0].replace("-light.png", f"-{scheme}.png#only-{scheme}")
            for scheme in ("light", "dark")
        )

    return _LIGHT.sub(both, html)
