"""`to_html`: a release, or estimates, as a page that explains itself; and how a page is read back.

The page holds what it shows as JSON too, in an element that no item's name can end.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html.parser import HTMLParser

from topgap.display.text import to_line
from topgap.errors import EstimatesError, ParameterTypeError, ReleaseError
from topgap.estimates import Estimates, GroupedEstimates
from topgap.numbers.parse import LEVEL, Number
from topgap.release import GroupedRelease, Release, explain_bias
from topgap.report.chart import render_counts, render_estimates, render_gaps, render_names
from topgap.report.group_page import render_groups
from topgap.report.parts import render_domain, render_mechanism, render_spread
from topgap.report.templates import Content, fill_template, read_file
from topgap.report.words import (
    describe_counts,
    describe_estimates,
    describe_release,
)

_RELEASE_ID, _ESTIMATES_ID = "topgap-release", "topgap-estimates"  # of the element with the JSON
_GROUPS_ID, _GROUPED_ESTIMATES_ID = "topgap-groups", "topgap-grouped-estimates"
_IDS = (_RELEASE_ID, _ESTIMATES_ID, _GROUPS_ID, _GROUPED_ESTIMATES_ID)
_TO_ESCAPE = re.compile(r"[<>&]|[^ -~\n]")


def to_html(
    result: Release | Estimates | GroupedRelease | GroupedEstimates,
    *,
    title: str = "The largest items",
    counted: str | None = None,
    caveat: str | None = None,
    level: "Number" = LEVEL,
) -> str:
    """Return a release or estimates as one HTML file, with charts and words for every number.

    It may be published at the privacy loss of what it shows. It also holds that as JSON, from which
    `read_release`, `read_estimates` and `read_grouped` make an equal one.

    The page of a list for each group has an index of the groups and a box to search for one. Its
    script is the same for all pages, and asks nothing of the network; all else works without it.

    Args:
        result: A release with gaps or without, or estimates; of any size. Or one for each group.
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
    elif isinstance(result, GroupedRelease):
        content = render_groups(result, level, _GROUPS_ID)
    elif isinstance(result, GroupedEstimates):
        content = render_groups(result, level, _GROUPED_ESTIMATES_ID)
    else:
        raise ParameterTypeError(
            f"A page shows a Release or Estimates, or those of groups, not {type(result).__name__}."
        )
    text = {**content.words, "title": to_line(title)}
    caveats = [*content.caveats, *([] if caveat is None else [caveat])]
    explanation = "" if counted is None else to_line(counted)
    text["summary"] = f"{text['summary']} {explanation}".rstrip()
    style, json = read_file("style.css") + content.more_style, _escape_json(content.json)
    script = f"<script>{content.script}</script>\n" if content.script else ""
    is_single = content.json_id in (_RELEASE_ID, _ESTIMATES_ID)
    return fill_template(
        "page.html",
        text,
        style=style,
        style_hash=_hash(style),
        script=script,
        script_policy=f"script-src 'sha256-{_hash(content.script)}'; " if script else "",
        json_view=fill_template("json_view.html", {}, json=json) if is_single else "",
        caution="".join(fill_template("caution.html", {"caveat": to_line(one)}) for one in caveats),
        json=json,
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


def _render_release_content(release: Release, level: "Number") -> Content:
    text = describe_release(release)
    if release.has_counts:
        text |= describe_counts(release, level)
        ranking, style = _render_counts(release, text, level), read_file("counts.css")
    else:
        ranking, style = _render_ranking(release, text), ""
    markup = {
        "ranking": ranking,
        "domain": render_domain(release),
        "spread": render_spread(release, text),
        "shares": "",
        "measuring": "",
        "data": fill_template("data_of_release.html", text),
        **render_mechanism(release, text),
    }
    return Content(text, markup, release.to_json(indent=2), _RELEASE_ID, release.caveats, style)


def _render_estimates_content(estimates: Estimates, level: "Number") -> Content:
    text = describe_estimates(estimates, level)
    ties = fill_template("near_ties.html", text) if estimates.has_near_ties else ""
    rows = render_estimates(estimates, level)
    legend = fill_template("legend_of_estimates.html", text)
    table = fill_template("estimates.html", text, rows=rows, near_ties=ties, legend=legend)
    table = f"{table}\n\n{fill_template('reading_of_estimates.html', text)}"
    elsewhere = estimates.epsilon is None
    markup = {
        "ranking": f"{_render_ranking(estimates.release, text)}\n{table}",
        "domain": render_domain(estimates.release),
        "spread": fill_template("spread.html", text),
        "shares": "" if elsewhere else fill_template("shares.html", text),
        "measuring": fill_template(f"measured_{'elsewhere' if elsewhere else 'here'}.html", text),
        "data": fill_template("data_of_estimates.html", text),
        **render_mechanism(estimates.release, text),
    }
    json = estimates.to_json(level, indent=2)
    return Content(text, markup, json, _ESTIMATES_ID, estimates.release.caveats)


def _render_ranking(release: Release, text: Mapping[str, str]) -> str:
    if not len(release):
        return fill_template("no_winner.html", text)
    if release.gaps is None:
        table = fill_template("without_gaps.html", text, rows=render_names(release))
        return f"{table}\n\n{fill_template('reading_of_names.html', text)}"
    rows, yardstick = render_gaps(release)
    legend = fill_template("legend_of_gaps.html", text)
    table = fill_template("with_gaps.html", text, rows=rows, yardstick=yardstick, legend=legend)
    return f"{table}\n\n{fill_template('reading_of_gaps.html', text)}"


def _render_counts(release: Release, text: Mapping[str, str], level: "Number") -> str:
    if not len(release):
        return fill_template("no_winner.html", text)
    sentences = explain_bias(release.gaps or (), release.parameters, level)
    cautions = "".join(fill_template("near_the_end.html", {"bias": each}) for each in sentences)
    marks = {"rows": render_counts(release, level), "cautions": cautions}
    legend = fill_template("legend_of_counts.html", text)
    table = fill_template("counts.html", text, legend=legend, **marks)
    return f"{table}\n\n{fill_template('reading_of_counts.html', text)}"


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
