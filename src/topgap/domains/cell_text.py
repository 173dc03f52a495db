"""The text by which an item is compared with a cell: the one rule, for values of Python.

An item is compared as text, whatever type its column has, so that the number 7 of a Parquet file is
the line `7` of a text file. A number is written as short as it can be: 7 for 7.0, 7.5 for 7.50.
White space, control characters and what shows nothing do not count at both ends, and composed and
decomposed letters are the same (Unicode's NFC). Nothing else is: upper and lower case, leading
zeros and spaces inside differ. What is blank then is missing, and so are NULL and not-a-number.
"""

from datetime import date
from decimal import Decimal
from math import isfinite
from unicodedata import normalize
from uuid import UUID

import numpy as np

# Unicode's spaces, control and format characters, and others that show nothing: first to last.
INVISIBLE_RANGES = [
    (0x00, 0x20), (0x7F, 0xA0), (0xAD, 0xAD), (0x034F, 0x034F), (0x0600, 0x0605), (0x061C, 0x061C),
    (0x06DD, 0x06DD), (0x070F, 0x070F), (0x0890, 0x0891), (0x08E2, 0x08E2), (0x115F, 0x1160),
    (0x1680, 0x1680), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2000, 0x200F), (0x2028, 0x202F),
    (0x205F, 0x206F), (0x2800, 0x2800), (0x3000, 0x3000), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x110BD, 0x110BD), (0x110CD, 0x110CD),
    (0x13430, 0x1343F), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
]  # fmt: skip
INVISIBLE = "".join(
    chr(code) for first, last in INVISIBLE_RANGES for code in range(first, last + 1)
)
_INVISIBLE_ASCII = "".join(char for char in INVISIBLE if char.isascii())


def to_text(value: object) -> str | None:
    """Convert a value of Python to the text by which it is compared; None if it has none.

    The text is not normalized yet.

    >>> to_text("flu"), to_text(7), to_text(7.0), to_text(True), to_text([7])
    ('flu', '7', '7', 'true', None)
    """
    if isinstance(value, str):
        return value
    if isinstance(value, np.generic):
        # A float32 is what it shows, as in DuckDB, and not the double beside it.
        value = float(str(value)) if isinstance(value, np.floating) else value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, float | Decimal):
        whole = int(value) if isfinite(value) else None
        if whole is not None and whole == value and abs(whole) < 2**127:
            return str(whole)
        return str(value) if isinstance(value, float) else _format_decimal(value)
    is_plain = isinstance(value, UUID) or type(value) is date
    return str(value) if is_plain else None


def _format_decimal(value: Decimal) -> str:
    """Write all digits; `Decimal.normalize` would round to the precision of the context."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def normalize_text(text: str) -> str:
    r"""Normalize a text as the SQL here does; empty if it is blank.

    >>> normalize_text(" cafe\u0301\u00a0")
    'café'
    """
    return (
        text.strip(_INVISIBLE_ASCII) if text.isascii() else normalize("NFC", text).strip(INVISIBLE)
    )
