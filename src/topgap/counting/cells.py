"""When two cells are equal: the one rule for items, persons and the domain.

An item is compared as text, whatever type its column has, so that the number 7 of a Parquet file is
the line `7` of a text file. A number is written as short as it can be: 7 for 7.0, 7.5 for 7.50.
White space, control characters and what shows nothing do not count at both ends, and composed and
decomposed letters are the same (Unicode's NFC). Nothing else is: upper and lower case, leading
zeros and spaces inside differ. What is blank then is missing, and so are NULL and not-a-number.

Persons are compared in the same way, because one who is spelt in two ways would count twice.

If case is folded, each letter is compared by the lower case of its upper case, one letter for one
letter, in items, groups, persons and the domain alike: `flu`, `Flu` and `FLU` are one text, which
is the one that is hashed. `build_folded_sql` is the one place that says so, for whatever asks.
"""

from topgap.counting.engine import NESTED
from topgap.domains.cell_text import INVISIBLE_RANGES

_CLASS = "".join(f"\\x{{{first:X}}}-\\x{{{last:X}}}" for first, last in INVISIBLE_RANGES)
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


def can_hold_numbers(kind: str) -> bool:
    """Whether the text of a cell of this type can be that of a whole number."""
    return kind not in _OTHER_SCALARS


def build_item_sql(cell: str, kind: str, *, folds: bool = False) -> str | None:
    """Build SQL for the text by which an item is compared, NULL if it is missing.

    Args:
        cell: SQL for the cell.
        kind: The type of its column.
        folds: Whether upper and lower case are the same.

    Returns:
        The SQL; None if the type cannot name an item.
    """
    if is_text(kind) or kind == "JSON":
        text = _build_text_sql(cell, kind) if is_text(kind) else _build_json_sql(cell)
        return build_folded_sql(text) if folds else text
    if is_integer(kind) or kind in _OTHER_SCALARS:
        return f"CAST({cell} AS VARCHAR)"
    if kind in {"FLOAT", "DOUBLE"} or kind.startswith("DECIMAL"):
        return _build_number_sql(cell, kind)
    if kind in {"NULL", '"NULL"'}:
        return "CAST(NULL AS VARCHAR)"
    return None


def build_folded_sql(text: str) -> str:
    """Build SQL for a normalized text with upper and lower case folded; NULL if it is NULL.

    Letters are compared as `equalsIgnoreCase` of Java does: by the lower case of the upper case, so
    that the three forms of the Greek sigma are one. A letter stays one letter: `ß` is not `SS`.
    What is folded is folded for good, and composed again, because there are letters with marks in
    lower case alone. tests/counting/test_fold_case.py looks at all of Unicode.
    """
    return f"nfc_normalize(lower(upper({text})))"


def build_person_sql(cell: str, kind: str, *, folds: bool = False) -> str | None:
    """Build SQL for what persons are compared by, as `build_item_sql` does for items."""
    if is_text(kind):
        return build_item_sql(cell, kind, folds=folds)
    if is_integer(kind) or kind in _OTHER_SCALARS or kind == "BLOB":
        return cell
    if kind in {"FLOAT", "DOUBLE"}:
        return f"CASE WHEN NOT {_build_nan_test(cell)} THEN {cell} END"
    return cell if kind.startswith("DECIMAL") else build_item_sql(cell, kind, folds=folds)


def build_person_text_sql(person: str, kind: str) -> str:
    """Build SQL for the text of a person, as `build_person_sql` made it of a cell of this type.

    Equal persons have equal texts.
    """
    if is_text(kind) or kind == "JSON":
        return person
    return f"hex({person})" if kind == "BLOB" else build_item_sql(person, kind) or person


def build_count_sql(cell: str, kind: str) -> str | None:
    """Build SQL for a precomputed count, a BIGINT; NULL if it is not a count; None as above."""
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


def _build_text_sql(cell: str, kind: str) -> str:
    # ASCII that neither begins nor ends with a space or control character is normal already, and
    # checking that is far cheaper than normalizing it.
    cell = f"CAST({cell} AS VARCHAR)" if kind.startswith("ENUM") else cell
    plain = (
        f"{cell} >= '!' AND {cell} < chr(127) AND strlen({cell}) = length({cell}) "
        f"AND ascii({cell}[-1]) BETWEEN 33 AND 126"
    )
    return f"CASE WHEN {plain} THEN {cell} ELSE {_build_normalized_sql(cell)} END"


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
