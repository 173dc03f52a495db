"""`to_html`: a release, or estimates, as a page that explains itself."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib import resources
from string import Template
from typing import NamedTuple

from topgap.display.text import to_line
from topgap.errors import ParameterTypeError
from topgap.estimates import Estimates
from topgap.estimates.level import LEVEL
from topgap.numbers.parse import Number
from topgap.release import Release
from topgap.report.chart import bars, names
from topgap.report.embedded import ESTIMATES, RELEASE, harmless
from topgap.report.error_bars import error_bars
from topgap.report.estimate_words import estimate_words
from topgap.report.words import words


def to_html(
    made: Release | Estimates,
    *,
    title: str = "The largest items",
    counted: str | None = None,
    caveat: str | None = None,
    level: "Number" = LEVEL,
) -> str:
    """A release or estimates as one HTML file, with charts and words for every number.

    It may be published at the privacy loss of what it shows, like that itself, which it holds as
    JSON too: `read_release` and `read_estimates` make an equal one from it.

    Args:
        made: A release with gaps or without, or estimates; of any size.
        title: The page's heading.
        counted: One sentence that says what was counted for each item.
        caveat: One sentence about what is not protected, shown near the top; those that the release
            has itself stand there anyway.
        level: That of the intervals, if there are estimates.

    Returns:
        The whole page, to be written to a file in UTF-8; the same for the same arguments.

    Raises:
        ReleaseError: An item is no string, number, True, False or None.
        ParameterError, ParameterTypeError: The level does not lie between 0 and 1.

    >>> from topgap import TopK
    >>> page = to_html(Release(TopK(k=1, epsilon=1), [4], [125], ["flu"]), title="Diagnoses")
    >>> "<h1>Diagnoses</h1>" in page, "<bdi>flu</bdi>" in page, "12.5" in page
    (True, True, True)
    """
    if isinstance(made, Estimates):
        content = _estimates(made, level)
    elif isinstance(made, Release):
        content = _release(made)
    else:
        raise ParameterTypeError(f"A page shows a Release or Estimates, not {type(made).__name__}.")
    text = {**content.words, "title": to_line(title)}
    caveats = [*content.caveats, *([] if caveat is None else [caveat])]
    said = "" if counted is None else to_line(counted)
    text["summary"] = f"{text['summary']} {said}".rstrip()
    style = _file("style.css")
    return _filled(
        "page.html",
        text,
        style=style,
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        caution="".join(_filled("caution.html", {"caveat": to_line(one)}) for one in caveats),
        json=harmless(content.json),
        json_id=content.json_id,
        **content.markup,
    )


class _Content(NamedTuple):
    """What makes the page of one thing other than that of another."""

    words: Mapping[str, str]
    markup: Mapping[str, str]
    json: str
    json_id: str
    caveats: Sequence[str]


def _release(release: Release) -> _Content:
    text = words(release)
    markup = {
        "ranking": _ranking(release, text),
        "spread": "" if release.gaps is None else _filled("spread.html", text),
        "shares": "",
        "measuring": "",
        "data": _filled("data_of_release.html", text),
    }
    return _Content(text, markup, release.to_json(indent=2), RELEASE, release.caveats)


def _estimates(made: Estimates, level: "Number") -> _Content:
    text = estimate_words(made, level)
    ties = _filled("near_ties.html", text) if made.has_near_ties else ""
    rows = error_bars(made, level)
    estimates = _filled("estimates.html", text, rows=rows, near_ties=ties)
    elsewhere = made.epsilon is None
    markup = {
        "ranking": f"{_ranking(made.release, text)}\n{estimates}",
        "spread": _filled("spread.html", text),
        "shares": "" if elsewhere else _filled("shares.html", text),
        "measuring": _filled(f"measured_{'elsewhere' if elsewhere else 'here'}.html", text),
        "data": _filled("data_of_estimates.html", text),
    }
    json = made.to_json(level, indent=2)
    return _Content(text, markup, json, ESTIMATES, made.release.caveats)


def _ranking(release: Release, text: Mapping[str, str]) -> str:
    if release.gaps is None:
        return _filled("without_gaps.html", text, rows=names(release))
    rows, yardstick = bars(release)
    return _filled("with_gaps.html", text, rows=rows, yardstick=yardstick)


def _filled(name: str, text: Mapping[str, str], **markup: str) -> str:
    """The template of this name with what it asks for: text is escaped, markup is not."""
    escaped = {key: escape(value) for key, value in text.items()}
    return Template(_file(name)).substitute(escaped, **markup)


def _file(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")
