"""`to_html`: a release, or estimates, as a page that explains itself; and how a page is read back.

The page holds what it shows as JSON too, in an element that no item's name can end.
"""

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from json import dumps
from typing import Any

from topgap.display.text import to_line
from topgap.errors import EstimatesError, ParameterTypeError, ReleaseError
from topgap.estimates import Estimates, GroupedEstimates
from topgap.numbers.parse import LEVEL, Number
from topgap.parameters import LARGE_EPSILON
from topgap.release import GroupedRelease, Release
from topgap.report.card import find_epsilon, find_parameters, to_card
from topgap.report.caveats import render_caveats
from topgap.report.details import Details
from topgap.report.group_page import render_groups
from topgap.report.number_words import describe_counts, describe_estimates
from topgap.report.parts import describe_bars, render_parameters
from topgap.report.summary import choose_title
from topgap.report.table import render_table
from topgap.report.templates import Content, fill_template, read_file
from topgap.report.words import describe_domain, describe_release

_LARGE = "This ε is so large that it protects nobody well."
_RELEASE_ID, _ESTIMATES_ID = "topgap-release", "topgap-estimates"  # of the element with the JSON
_GROUPS_ID, _GROUPED_ESTIMATES_ID = "topgap-groups", "topgap-grouped-estimates"
_IDS = (_RELEASE_ID, _ESTIMATES_ID, _GROUPS_ID, _GROUPED_ESTIMATES_ID)
_TO_ESCAPE = re.compile(r"[<>&]|[^ -~\n]")


def to_html(
    result: Release | Estimates | GroupedRelease | GroupedEstimates,
    details: Details | None = None,
    *,
    level: "Number" = LEVEL,
    **more: Any,
) -> str:
    """Return a release or estimates as one HTML file: a table that is a chart, and words for it.

    It may be published at the privacy loss of what it shows. It also holds that as JSON, from which
    `read_release`, `read_estimates` and `read_grouped` make an equal one, and a card for machines
    (`to_card`).

    The page of a list for each group has an index of the groups and a box to search for one. Its
    script is the same for all pages, and asks nothing of the network; all else works without it.

    Args:
        result: A release with gaps or without, or estimates; of any size. Or one for each group.
        details: What the publisher says: title, publisher, labels and so on.
        level: That of the intervals, if there are estimates, counts or values.
        more: Fields of `details`, instead of those there.

    Returns:
        The whole page, to be written to a file in UTF-8; the same for the same arguments.

    Raises:
        ReleaseError: An item is no string, number, True, False or None, and no tuple of these.
        ParameterError, ParameterTypeError: The level does not lie between 0 and 1, or a text is too
            long.
        MissingExtraError: The locale needs Babel.

    >>> from topgap import TopK
    >>> page = to_html(Release(TopK(k=1, epsilon=1), [4], [125], ["flu"]), title="Diagnoses")
    >>> "<h1>Diagnoses</h1>" in page, "<bdi>flu</bdi>" in page, "12.5" in page
    (True, True, True)
    """
    details = Details() if details is None else details
    if not isinstance(details, Details):
        raise ParameterTypeError(f"details must be Details, not {type(details).__name__}.")
    details = replace(details, **more)
    if isinstance(result, GroupedRelease | GroupedEstimates):
        measured = isinstance(result, GroupedEstimates)
        json_id = _GROUPED_ESTIMATES_ID if measured else _GROUPS_ID
        content = render_groups(result, details, level, json_id)
    elif isinstance(result, Release | Estimates):
        content = _render_list(result, details, level)
    else:
        raise ParameterTypeError(
            f"A page shows a Release or Estimates, or those of groups, not {type(result).__name__}."
        )
    text = {
        **content.words,
        **_render_head(details),
        "title": choose_title(find_parameters(result), details),
    }
    caveats = [*content.caveats, *([] if details.caveat is None else [details.caveat])]
    if find_epsilon(result) > LARGE_EPSILON:
        caveats.insert(0, _LARGE)
    style, json = read_file("style.css") + content.more_style, _escape_json(content.json)
    script = f"<script>{content.script}</script>\n" if content.script else ""
    is_single = content.json_id in (_RELEASE_ID, _ESTIMATES_ID)
    view = fill_template("json_view.html", {}, json=json) if is_single else ""
    return fill_template(
        "page.html",
        text,
        style=style,
        style_hash=_hash(style),
        script=script,
        script_policy=f"script-src 'sha256-{_hash(content.script)}'; " if script else "",
        byline=fill_template("byline.html", text) if text["byline"] else "",
        source=fill_template("source.html", text) if text["source_note"] else "",
        caution="".join(fill_template("caution.html", {"caveat": to_line(one)}) for one in caveats),
        ranking=content.ranking,
        caveats=content.how_to_read,
        folds="".join(_render_folds(content, view)),
        card=_escape_json(dumps(to_card(result, details), ensure_ascii=False)),
        json=json,
        json_id=content.json_id,
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
    if _RELEASE_ID in found:
        return Release.from_json(found[_RELEASE_ID])
    if _ESTIMATES_ID in found:
        return Estimates.from_json(found[_ESTIMATES_ID]).release
    raise ReleaseError("This page holds no release of topgap.")


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


def read_grouped(html: str | bytes) -> GroupedRelease | GroupedEstimates:
    """Return the lists of all groups that a page of `to_html` holds, with estimates or without.

    Args:
        html: The whole page, as text or as the bytes of its file.

    Raises:
        ReleaseError, EstimatesError: The page holds no lists of groups, or some that cannot be
            read.
        ParameterTypeError: It is no text.

    >>> from topgap import TopKByGroup
    >>> parameters = TopKByGroup(k=1, epsilon=1)
    >>> north = Release(parameters.each, None, [125], ["flu"])
    >>> regions = GroupedRelease(parameters, {"North": north})
    >>> read_grouped(to_html(regions)) == regions
    True
    """
    found = _find_json(html)
    if _GROUPED_ESTIMATES_ID in found:
        return GroupedEstimates.from_json(found[_GROUPED_ESTIMATES_ID])
    if _GROUPS_ID not in found:
        raise ReleaseError("This page holds no lists of groups of topgap.")
    return GroupedRelease.from_json(found[_GROUPS_ID])


def _render_list(result: Release | Estimates, details: Details, level: "Number") -> Content:
    """Return the parts of the page of one list."""
    if isinstance(result, Estimates):
        release, kind = result.release, "estimates"
        text = describe_estimates(result, level, details)
        json, json_id = result.to_json(level, indent=2), _ESTIMATES_ID
    else:
        release = result
        kind = "counts" if release.has_counts else "names" if release.gaps is None else "gaps"
        text = describe_release(release, details)
        text |= describe_counts(release, level, details) if kind == "counts" else {}
        json, json_id = release.to_json(indent=2), _RELEASE_ID
    text |= describe_domain(release, details)
    if len(release):
        caption = f"{describe_bars(kind, text)}{text['item_note']}"
        table, found = render_table(result, text, details, level, caption=caption)
        how_to_read = render_caveats(found, text, in_order=details.in_order)
        meaning = fill_template(f"reading_of_{kind}.html", text)
        if kind == "estimates":
            meaning += fill_template("reading_of_gaps.html", text)
    else:
        table = meaning = fill_template("no_winner.html", text)
        how_to_read = fill_template("nothing.html", text)
    return Content(
        text,
        table,
        how_to_read,
        meaning,
        render_parameters(result, release, text),
        fill_template(f"data_of_{'estimates' if kind == 'estimates' else 'release'}.html", text),
        json,
        json_id,
        release.caveats,
    )


def _render_head(details: Details) -> dict[str, str]:
    """The texts above the table that the publisher gives."""
    day = details.write_date()
    byline = [details.publisher, details.period, None if day is None else f"published {day}"]
    return {
        "byline": " · ".join(each for each in byline if each is not None),
        "source_note": details.source_note or "",
    }


def _render_folds(content: Content, view: str) -> Iterator[str]:
    """Yield what is folded away: for those who want to know more."""
    text, parameters = content.words, content.parameters
    named = "Parameters and domain" if parameters["domain"] else "Parameters"
    folds = {
        ("privacy", "What ε promises"): fill_template("privacy.html", text),
        ("meaning", "What the numbers say, and what they do not"): content.meaning,
        ("parameters", named): fill_template("parameters.html", text, **parameters),
        ("citing", "How to cite"): fill_template("citing.html", text, **parameters),
        ("data", "For machines: JSON"): content.data + view,
    }
    for (place, head), inside in folds.items():
        yield fill_template("fold.html", {"place": place, "head": head}, content=inside)


def _hash(text: str) -> str:
    """The hash of a style or script, as the policy of the page names it."""
    return b64encode(sha256(text.encode()).digest()).decode()


def _escape_json(json: str) -> str:
    r"""Return equal JSON without markup and without invisible characters.

    Both occur only in the items' names, where JSON can escape them.

    >>> print(_escape_json('["</script>"]'))
    ["\u003c/script\u003e"]
    """
    return _TO_ESCAPE.sub(_escape_character, json)


def _escape_character(found: re.Match[str]) -> str:
    char = found[0]
    if char.isprintable() and char not in "<>&":
        return char
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
        known = [which for which in _IDS if ("id", which) in attrs]
        if tag == "script" and known and not self.found:
            self._inside = known[0]
            self.found[known[0]] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self.found[self._inside] += data
