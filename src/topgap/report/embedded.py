"""What is published, inside the page: where no item can end it, and read back exactly."""

import re
from html.parser import HTMLParser

from topgap.errors import EstimatesError, ParameterTypeError, ReleaseError
from topgap.estimates import Estimates
from topgap.release import Release

RELEASE, ESTIMATES = "topgap-release", "topgap-estimates"
"""The id of the element that holds the one or the other."""

_MARKUP = re.compile("[<>&]")


def harmless(json: str) -> str:
    r"""The same JSON without markup and without characters that cannot be seen.

    They stand only in the items' names, where JSON can write them by their number.

    >>> print(harmless('["</script>"]'))
    ["\u003c/script\u003e"]
    """
    return "".join(
        _by_number(char)
        if _MARKUP.match(char) or not (char.isprintable() or char == "\n")
        else char
        for char in json
    )


def _by_number(char: str) -> str:
    digits = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{digits[start : start + 4]}" for start in range(0, len(digits), 4))


def read_release(html: str | bytes) -> Release:
    """The release that a page of `to_html` holds, alone or with estimates.

    Args:
        html: The whole page, as text or as the bytes of its file.

    Raises:
        ReleaseError: The page holds no release, or one that cannot be read.
        EstimatesError: It holds estimates that cannot be read.
        ParameterTypeError: It is no text.

    >>> from topgap import TopK
    >>> from topgap.report import to_html
    >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
    >>> read_release(to_html(release)) == release
    True
    """
    found = _find(html)
    if not found:
        raise ReleaseError("This page holds no release of topgap.")
    [(which, json)] = found.items()
    return Release.from_json(json) if which == RELEASE else Estimates.from_json(json).release


def read_estimates(html: str | bytes) -> Estimates:
    """The estimates that a page of `to_html` holds.

    Args:
        html: The whole page, as text or as the bytes of its file.

    Raises:
        EstimatesError: The page holds no estimates, or some that cannot be read.
        ReleaseError: Their release cannot be read.
        ParameterTypeError: It is no text.

    >>> from topgap import TopK, estimate
    >>> from topgap.report import to_html
    >>> made = estimate(Release(TopK(k=1, epsilon=1), [4], [125], ["flu"]), [60], variance=8)
    >>> read_estimates(to_html(made)) == made
    True
    """
    found = _find(html)
    if ESTIMATES not in found:
        raise EstimatesError("This page holds no estimates of topgap.")
    return Estimates.from_json(found[ESTIMATES])


def _find(html: object) -> dict[str, str]:
    """The JSON of the page by its id; empty if there is none."""
    if not isinstance(html, str | bytes):
        raise ParameterTypeError(f"A page is read from its text, not from {type(html).__name__}.")
    finder = _Finder()
    try:
        finder.feed(html if isinstance(html, str) else html.decode("utf-8-sig"))
        finder.close()
    except (UnicodeDecodeError, AssertionError, ValueError):  # it is no page of ours
        return {}
    return finder.found


class _Finder(HTMLParser):
    """Finds the text of the first script element that has one of the ids."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._inside: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = [which for which in (RELEASE, ESTIMATES) if ("id", which) in attrs]
        if tag == "script" and known and not self.found:
            self._inside = known[0]
            self.found[known[0]] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside is not None:
            self.found[self._inside] += data
