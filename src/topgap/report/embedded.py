"""The release inside the page: written where no item can end it, and read back exactly."""

import re
from html.parser import HTMLParser

from topgap.errors import ReleaseError
from topgap.release import Release

ID = "topgap-release"
"""The id of the element that holds the release."""

_MARKUP = re.compile("[<>&]")


def harmless_json(release: Release) -> str:
    r"""The release as JSON without markup and without characters that cannot be seen.

    They stand only in the items' names, where JSON can write them by their number.

    Raises:
        ReleaseError: An item is no string, number, True, False or None.

    >>> from topgap import TopK
    >>> "</script>" in harmless_json(Release(TopK(k=1, epsilon=1), items=["</script>"]))
    False
    """
    return "".join(
        _by_number(char)
        if _MARKUP.match(char) or not (char.isprintable() or char == "\n")
        else char
        for char in release.to_json(indent=2)
    )


def _by_number(char: str) -> str:
    digits = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{digits[start : start + 4]}" for start in range(0, len(digits), 4))


def read_release(html: str) -> Release:
    """The release that a page of `to_html` holds.

    Args:
        html: The whole page.

    Raises:
        ReleaseError: The page holds no release, or one that cannot be read.

    >>> from topgap import TopK
    >>> from topgap.report import to_html
    >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
    >>> read_release(to_html(release)) == release
    True
    """
    finder = _Finder()
    finder.feed(html)
    finder.close()
    if finder.found is None:
        raise ReleaseError("This page holds no release of topgap.")
    return Release.from_json(finder.found)


class _Finder(HTMLParser):
    """Finds the text of the first script element that has the id."""

    def __init__(self) -> None:
        super().__init__()
        self.found: str | None = None
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script" and ("id", ID) in attrs and self.found is None:
            self._inside, self.found = True, ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.found = (self.found or "") + data
