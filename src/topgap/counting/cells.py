"""When two cells are equal: the one rule for items, persons and the domain.

An item is compared as text, whatever type its column has, so that the number 7 of a Parquet file is
the line `7` of a text file. A number is written as short as it can be: 7 for 7.0, 7.5 for 7.50.
White space, control characters and what shows nothing do not count at both ends, and composed and
decomposed letters are the same (Unicode's NFC). Nothing else is: upper and lower case, leading
zeros and spaces inside differ. What is blank then is missing, and so are NULL and not-a-number.

Persons are compared in the same way, because one who is spelt in two ways would count twice.
"""

from datetime import date
from decimal import Decimal
from math import isfinite
from unicodedata import normalize
from uuid import UUID

import numpy as np

from topgap.counting.engine import NESTED

# Unicode's spaces, control and format characters, and others that show nothing: first to last.
_INVISIBLE_RANGES = [
    (0x00, 0x20), (0x7F, 0xA0), (0xAD, 0xAD), (0x034F, 0x034F), (0x0600, 0x0605), (0x061C, 0x061C),
    (0x06DD, 0x06DD), (0x070F, 0x070F), (0x0890, 0x0891), (0x08E2, 0x08E2), (0x115F, 0x1160),
    (0x1680, 0x1680), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2000, 0x200F), (0x2028, 0x202F),
    (0x205F, 0x206F), (0x2800, 0x2800), (0x3000, 0x3000), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x110BD, 0x110BD), (0x110CD, 0x110CD),
    (0x13430, 0x1343F), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
]  # fmt: skip
INVISIBLE = "".join(
    chr(code) for first, last in _INVISIBLE_RANGES for code in range(first, last + 1)
)
_CLASS = "".join(f"\\x{{{first:X}}}-\\x{{{last:X}}}" for first, last in _INVISIBLE_RANGES)
_ENDS = f"'^[{_CLASS}]+|[{_CLASS}]+$'"

_INTEGERS = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
    "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "BIGNUM", "VARINT",
}  # fmt: skip
_OTHER_SCALARS = {
    "BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS",
    "TIMESTAMP WITH TIME ZONE", "UUID",
}  # fmt: skip


def is_integer(kind: str) -> bool:
    """Whether a column of this type holds whole numbers alone."""
    return kind in _INTEGERS


def is_text(kind: str) -> bool:
    """Whether a column of this type holds text."""
    return kind in {"VARCHAR", "TEXT"} or kind.startswith("ENUM")


def build_item_sql(cell: str, kind: str) -> str | None:
    """Build SQL for the text by which an item is compared, NULL if it is missing.

    Args:
        cell: SQL for the cell.
        kind: The type of its column.

    Returns:
        The SQL; None if the type cannot name an item.
    """
    if is_text(kind):
        return _build_normalized_sql(f"CAST({cell} AS VARCHAR)")
    if kind == "JSON":
        return _build_json_sql(cell)
    if is_integer(kind) or kind in _OTHER_SCALARS:
        return f"CAST({cell} AS VARCHAR)"
    if kind in {"FLOAT", "DOUBLE"} or kind.startswith("DECIMAL"):
        return _build_number_sql(cell, kind)
    if kind in {"NULL", '"NULL"'}:
        return "CAST(NULL AS VARCHAR)"
    return None


def build_person_sql(cell: str, kind: str) -> str | None:
    """Build SQL for what persons are compared by, as `build_item_sql` does for items."""
    if is_text(kind):
        # ASCII that neither begins nor ends with a space or control character is normal already,
        # and checking that is far cheaper than normalizing it.
        cell = f"CAST({cell} AS VARCHAR)" if kind.startswith("ENUM") else cell
        plain = (
            f"{cell} >= '!' AND {cell} < chr(127) AND strlen({cell}) = length({cell}) "
            f"AND ascii({cell}[-1]) BETWEEN 33 AND 126"
        )
        return f"CASE WHEN {plain} THEN {cell} ELSE {_build_normalized_sql(cell)} END"
    if is_integer(kind) or kind in _OTHER_SCALARS or kind == "BLOB":
        return cell
    if kind in {"FLOAT", "DOUBLE"}:
        return f"CASE WHEN NOT {_build_nan_test(cell)} THEN {cell} END"
    return cell if kind.startswith("DECIMAL") else build_item_sql(cell, kind)


def build_count_sql(cell: str, kind: str) -> str | None:
    """Build SQL for a precomputed count, a BIGINT; NULL if it is no count; None as above."""
    if is_text(kind) or kind == "JSON":
        text = (
            _build_normalized_sql(f"CAST({cell} AS VARCHAR)")
            if is_text(kind)
            else _build_json_sql(cell)
        )
        cell = f"CASE WHEN regexp_full_match({text}, '[0-9]+') THEN {text} END"
    elif kind in {"FLOAT", "DOUBLE"} or kind.startswith("DECIMAL"):
        cell = f"CASE WHEN {cell} = trunc({cell}) THEN {cell} END"
    elif not is_integer(kind):
        return None
    number = f"TRY_CAST({cell} AS BIGINT)"
    return f"CASE WHEN {number} >= 0 THEN {number} END"


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


_INVISIBLE_ASCII = "".join(char for char in INVISIBLE if char.isascii())


def _build_normalized_sql(text: str) -> str:
    ends = f"regexp_replace({text}, {_ENDS}, '', 'g')"
    # DuckDB composes letters up to a NUL character only, so another one stands for it.
    return f"nullif(nfc_normalize(replace({ends}, chr(0), chr(65533))), '')"


def _build_number_sql(cell: str, kind: str) -> str:
    whole = f"CASE WHEN {cell} = trunc({cell}) THEN TRY_CAST({cell} AS HUGEINT) END"
    if kind.startswith("DECIMAL"):
        shortest = f"regexp_replace(CAST({cell} AS VARCHAR), '0+$', '')"
        # A type without digits before the point has none in its text either: .5 for 0.5.
        shortest = f"regexp_replace({shortest}, '^(-?)[.]', '\\10.')"
        return f"coalesce(CAST({whole} AS VARCHAR), {shortest})"
    text = f"coalesce(CAST({whole} AS VARCHAR), CAST({cell} AS VARCHAR))"
    return f"CASE WHEN NOT {_build_nan_test(cell)} THEN {text} END"


def _build_nan_test(cell: str) -> str:
    """Test the text, because DuckDB answers isnan() from a Parquet file's statistics."""
    return f"(NOT isfinite({cell}) AND CAST({cell} AS VARCHAR) IN ('nan', '-nan'))"


def _build_json_sql(cell: str) -> str:
    text = f"({cell} ->> '$')"
    number = _build_number_sql(f"TRY_CAST({cell} AS DOUBLE)", "DOUBLE")
    # An integer of any length has its digits in the text, also where DuckDB would take a double.
    number = f"CASE WHEN regexp_full_match({text}, '-?[0-9]+') THEN {text} ELSE {number} END"
    return (
        f"CASE json_type({cell}) WHEN 'NULL' THEN NULL "
        f"WHEN 'OBJECT' THEN error('{NESTED}') WHEN 'ARRAY' THEN error('{NESTED}') "
        f"WHEN 'DOUBLE' THEN {number} ELSE {_build_normalized_sql(text)} END"
    )
