"""`to_html`: a release, or estimates, as a page that explains itself; and how a page is read back.

The page holds what it shows as JSON too, in an element that no item's name can end.
"""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from html.parser import HTMLParser
from importlib import resources
from string import Template
from typing import NamedTuple

from topgap.display.text import to_line
from topgap.errors import EstimatesError, ParameterTypeError, ReleaseError
from topgap.estimates import Estimates
from topgap.numbers.parse import LEVEL, Number
from topgap.release import Release, explain_bias
from topgap.report.chart import render_counts, render_estimates, render_gaps, render_names
from topgap.report.words import (
    describe_counts,
    describe_domain,
    describe_estimates,
    describe_release,
)

_RELEASE_ID, _ESTIMATES_ID = "topgap-release", "topgap-estimates"  # of the element with the JSON
_MARKUP = re.compile("[<>&]")


def to_html(
    result: Release | Estimates,
    *,
    title: str = "The largest items",
    counted: str | None = None,
    caveat: str | None = None,
    level: "Number" = LEVEL,
) -> str:
    """Return a release or estimates as one HTML file, with charts and words for every number.

    It may be published at the privacy loss of what it shows. It also holds that as JSON, from which
    `read_release` and `read_estimates` make an equal one.

    Args:
        result: A release with gaps or without, or estimates; of any size.
        title: The page's heading.
        counted: One sentence that says what was counted for each item.
        caveat: One sentence about what is not protected, shown near the top; those that the release
            has itself stand there anyway.
        level: That of the intervals, if there are estimates, counts or values.

    Returns:
        The whole page, to be written to a file in UTF-8; the same for the same arguments.

    Raises:
        ReleaseError: An item is no string, number, True, False or None, and no tuple of these.
        ParameterError, ParameterTypeError: The level does not lie between 0 and 1.

    >>> from topgap import TopK
    >>> page = to_html(Release(TopK(k=1, epsilon=1), [4], [125], ["flu"]), title="Diagnoses")
    >>> "<h1>Diagnoses</h1>" in page, "<bdi>flu</bdi>" in page, "12.5" in page
    (True, True, True)
    """
    if isinstance(result, Estimates):
        content = _render_estimates_content(result, level)
    elif isinstance(result, Release):
        content = _render_release_content(result, level)
    else:
        raise ParameterTypeError(
            f"A page shows a Release or Estimates, not {type(result).__name__}."
        )
    text = {**content.words, "title": to_line(title)}
    caveats = [*content.caveats, *([] if caveat is None else [caveat])]
    explanation = "" if counted is None else to_line(counted)
    text["summary"] = f"{text['summary']} {explanation}".rstrip()
    style = _read_file("style.css") + content.more_style
    return _fill_template(
        "page.html",
        text,
        style=style,
        style_hash=b64encode(sha256(style.encode()).digest()).decode(),
        caution="".join(
            _fill_template("caution.html", {"caveat": to_line(one)}) for one in caveats
        ),
        json=_escape_json(content.json),
        json_id=content.json_id,
        **content.markup,
    )


def read_release(html: str | bytes) -> Release:
    """Return the release that a page of `to_html` holds, alone or with estimates.

    Args:
        html: The whole page, as text or as the bytes of its file.

    Raises:
        ReleaseError: The page holds no release, or one that cannot be read.
        EstimatesError: It holds estimates that cannot be read.
        ParameterTypeError: It is no text.

    >>> from topgap import TopK
    >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
    >>> read_release(to_html(release)) == release
    True
    """
    found = _find_json(html)
    if not found:
        raise ReleaseError("This page holds no release of topgap.")
    [(which, json)] = found.items()
    return Release.from_json(json) if which == _RELEASE_ID else Estimates.from_json(json).release


def read_estimates(html: str | bytes) -> Estimates:
    """Return the estimates that a page of `to_html` holds.

    Args:
        html: The whole page, as text or as the bytes of its file.

    Raises:
        EstimatesError: The page holds no estimates, or some that cannot be read.
        ReleaseError: Their release cannot be read.
        ParameterTypeError: It is no text.

    >>> from topgap import TopK, estimate
    >>> estimates = estimate(Release(TopK(k=1, epsilon=1), [4], [125], ["flu"]), [60], variance=8)
    >>> read_estimates(to_html(estimates)) == estimates
    True
    """
    found = _find_json(html)
    if _ESTIMATES_ID not in found:
        raise EstimatesError("This page holds no estimates of topgap.")
    return Estimates.from_json(found[_ESTIMATES_ID])


class _Content(NamedTuple):
    """The parts of a page that differ between a release and estimates."""

    words: Mapping[str, str]
    markup: Mapping[str, str]
    json: str
    json_id: str
    caveats: Sequence[str]
    more_style: str = ""


def _render_release_content(release: Release, level: "Number") -> _Content:
    text = describe_release(release)
    if release.has_counts:
        text |= describe_counts(release, level)
        ranking, style = _render_counts(release, text, level), _read_file("counts.css")
    else:
        ranking, style = _render_ranking(release, text), ""
    markup = {
        "ranking": ranking,
        "domain": _render_domain(release),
        "spread": _render_spread(release, text),
        "shares": "",
        "measuring": "",
        "data": _fill_template("data_of_release.html", text),
        **_render_mechanism(release, text),
    }
    return _Content(text, markup, release.to_json(indent=2), _RELEASE_ID, release.caveats, style)


def _render_estimates_content(estimates: Estimates, level: "Number") -> _Content:
    text = describe_estimates(estimates, level)
    ties = _fill_template("near_ties.html", text) if estimates.has_near_ties else ""
    rows = render_estimates(estimates, level)
    table = _fill_template("estimates.html", text, rows=rows, near_ties=ties)
    elsewhere = estimates.epsilon is None
    markup = {
        "ranking": f"{_render_ranking(estimates.release, text)}\n{table}",
        "domain": _render_domain(estimates.release),
        "spread": _fill_template("spread.html", text),
        "shares": "" if elsewhere else _fill_template("shares.html", text),
        "measuring": _fill_template(f"measured_{'elsewhere' if elsewhere else 'here'}.html", text),
        "data": _fill_template("data_of_estimates.html", text),
        **_render_mechanism(estimates.release, text),
    }
    json = estimates.to_json(level, indent=2)
    return _Content(text, markup, json, _ESTIMATES_ID, estimates.release.caveats)


def _render_ranking(release: Release, text: Mapping[str, str]) -> str:
    if not len(release):
        return _fill_template("no_winner.html", text)
    if release.gaps is None:
        return _fill_template("without_gaps.html", text, rows=render_names(release))
    rows, yardstick = render_gaps(release)
    return _fill_template("with_gaps.html", text, rows=rows, yardstick=yardstick)


def _render_counts(release: Release, text: Mapping[str, str], level: "Number") -> str:
    if not len(release):
        return _fill_template("no_winner.html", text)
    sentences = explain_bias(release.gaps or (), release.parameters, level)
    cautions = "".join(_fill_template("near_the_end.html", {"bias": each}) for each in sentences)
    rows = render_counts(release, level)
    return _fill_template("counts.html", text, rows=rows, cautions=cautions)


def _render_spread(release: Release, text: Mapping[str, str]) -> str:
    if release.gaps is None:
        return ""
    has_counts = release.has_counts and len(release) > 0
    name = "spread_of_counts.html" if has_counts else "spread.html"
    return _fill_template(name, text)


def _render_mechanism(release: Release, text: Mapping[str, str]) -> dict[str, str]:
    """The parts that go with the noise: bounds on what a person moves, and what to cite."""
    parameters = release.parameters
    bounds = ["items_per_person.html"] * (parameters.noise == "laplace")
    bounds += ["threshold.html"] * (parameters.threshold is not None)
    bounds += ["spent.html"] * parameters.has_sentinel
    return {
        "bounds": "".join(_fill_template(name, text) for name in bounds),
        "citing": _read_file(f"citing_{parameters.noise}.html"),
        "bibtex": _read_file(f"citing_{parameters.noise}.bib"),
    }


def _render_domain(release: Release) -> str:
    text = describe_domain(release)
    return _fill_template("domain.html", text) if text else ""


def _fill_template(name: str, text: Mapping[str, str], **markup: str) -> str:
    """Return the template of this name with its fields filled: text escaped, markup as it is."""
    escaped = {key: escape(value) for key, value in text.items()}
    return Template(_read_file(name)).substitute(escaped, **markup)


def _read_file(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def _escape_json(json: str) -> str:
    r"""Return equal JSON without markup and without invisible characters.

    Both occur only in the items' names, where JSON can escape them.

    >>> print(_escape_json('["</script>"]'))
    ["\u003c/script\u003e"]
    """
    return "".join(
        _escape_character(char)
        if _MARKUP.match(char) or not (char.isprintable() or char == "\n")
        else char
        for char in json
    )


def _escape_character(char: str) -> str:
    digits = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{digits[start : start + 4]}" for start in range(0, len(digits), 4))


def _find_json(html: object) -> dict[str, str]:
    """Return the JSON of the page by its id; an empty dict if there is none."""
    if not isinstance(html, str | bytes):
        raise ParameterTypeError(f"A page is read from its text, not from {type(html).__name__}.")
    finder = _JsonFinder()
    try:
        finder.feed(html if isinstance(html, str) else html.decode("utf-8-sig"))
        finder.close()
    except (UnicodeDecodeError, AssertionError, ValueError):  # it is no page of ours
        return {}
    return finder.found


class _JsonFinder(HTMLParser):
    """Finds the text of the first script element that has one of the ids."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._inside: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = [which for which in (_RELEASE_ID, _ESTIMATES_ID) if ("id", which) in attrs]
        if tag == "script" and known and not self.found:
            self._inside = known[0]
            self.found[known[0]] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self.found[self._inside] += data
