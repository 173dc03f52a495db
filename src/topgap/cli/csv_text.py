"""CSV as the command writes it: lines that all readers parse alike, and no formulas."""

import re
from collections.abc import Iterable

# And an apostrophe itself, so that no two texts become one.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(/[0-9]+)?")


def format_csv(rows: Iterable[Iterable[object]]) -> str:
    r"""Format the rows as lines that end in a line feed.

    Text that a spreadsheet would take for a formula gets an apostrophe before it. Numbers are as
    they are, also where they are written as text, such as an exact fraction.

    >>> format_csv([[1, "flu", "-1/3"], [2.5, "=A1", None], [-3, "two\rlines", "a,b"]]).split("\n")
    ['1,flu,-1/3', "2.5,'=A1,", '-3,"two\rlines","a,b"', '']
    """
    return "".join(",".join(map(_cell, row)) + "\n" for row in rows)


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = str(value)
    if isinstance(value, str) and text.startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        text = f"'{text}"
    if any(char in text for char in ',"\r\n'):
        text = '"' + text.replace('"', '""') + '"'
    return text
