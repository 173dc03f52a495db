"""`to_html`: a release as a page that explains itself."""

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from importlib import resources
from string import Template

from topgap.release import Release
from topgap.report.chart import bars, names
from topgap.report.embedded import ID, harmless_json
from topgap.report.words import words
from topgap.text import on_one_line


def to_html(
    release: Release,
    *,
    title: str = "The largest items",
    counted: str | None = None,
    caveat: str | None = None,
) -> str:
    """The release as one HTML file, with a chart of the gaps and words for every number.

    It may be published at the privacy loss of the release, like the release itself. It holds the
    release as JSON too, from which `read_release` makes an equal one.

    Args:
        release: What is shown; with gaps or without, of any size.
        title: The page's heading.
        counted: One sentence that says what was counted for each item.
        caveat: One sentence about what is not protected, shown near the top. Give one if the list
            of items was taken from the data.

    Returns:
        The whole page, to be written to a file in UTF-8; the same for the same arguments.

    Raises:
        ReleaseError: An item is no string, number, True, False or None.

    >>> from topgap import TopK
    >>> page = to_html(Release(TopK(k=1, epsilon=1), [4], [125], ["flu"]), title="Diagnoses")
    >>> "<h1>Diagnoses</h1>" in page, "<bdi>flu</bdi>" in page, "12.5" in page
    (True, True, True)
    """
    json = harmless_json(release)
    style = _file("style.css")
    text = words(release) | {"title": on_one_line(title), "caveat": on_one_line(caveat or "")}
    text["summary"] = " ".join([text["summary"], *([on_one_line(counted)] if counted else [])])
    if release.gaps is None:
        ranking = _filled("without_gaps.html", text, rows=names(release))
        spread = ""
    else:
        rows, yardstick = bars(release)
        ranking = _filled("with_gaps.html", text, rows=rows, yardstick=yardstick)
        spread = _filled("spread.html", text)
    return _filled(
        "page.html",
        text,
        style=style,
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        caution="" if caveat is None else _filled("caution.html", text),
        ranking=ranking,
        spread=spread,
        json=json,
        json_id=ID,
    )


def _filled(name: str, text: Mapping[str, str], **markup: str) -> str:
    """The template of this name with what it asks for: text is escaped, markup is not."""
    escaped = {key: escape(value) for key, value in text.items()}
    return Template(_file(name)).substitute(escaped, **markup)


def _file(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")
