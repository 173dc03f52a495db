"""The items and counts of an Arrow batch, in a form that a candidate pool takes."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from topgap.errors import ItemsError, ParameterError, SourceError
from topgap.sources.columns import missing_column, quote

ROWS = 2**15
"""So many rows are looked at together: their names fit the cache when they are compared."""

_ITEMS = {"text", "whole number", "decimal", "date"}
_COUNTS = {"whole number", "decimal", "float"}
_NO_COUNTS = (
    "has in {} something other than whole numbers from 0; say whether one person moves all of "
    "these numbers the same way (--monotonic, --no-monotonic)."
)


class LabelledRows(Protocol):
    """Rows that say what they are: the label for errors, and Arrow's schema."""

    @property
    def label(self) -> str:
        """What to call them in an error."""

    @property
    def schema(self) -> Any:
        """Arrow's schema of them."""


class ColumnPair:
    """The columns of items and counts, by their names.

    Args:
        item: The column of the items.
        count: The column of the counts.
        is_count: Whether only counts are taken: whole numbers, none below 0.

    Raises:
        ParameterError: They are no two names.
    """

    def __init__(self, item: str, count: str, *, is_count: bool = False) -> None:
        for name in (item, count):
            if not isinstance(name, str) or not name:
                raise ParameterError("The name of a column must be a string.")
        if item == count:
            raise ParameterError("Items and counts must be in different columns.")
        self.item = item
        self.count = count
        self._is_count = is_count

    @property
    def names(self) -> list[str]:
        """Both names."""
        return [self.item, self.count]

    def check(self, parts: Sequence[LabelledRows]) -> None:
        """Look at the types, before any row is.

        Raises:
            SourceError: A part has no such column, or several, or of a type that cannot be used; or
                the items are of one type here and of another there.
        """
        found = set()
        for part in parts:
            kind = _kind(_type(part, self.item))
            if kind not in _ITEMS:
                raise _column_error(part, self.item)
            numbers = _kind(_type(part, self.count))
            if numbers not in _COUNTS:
                raise _column_error(part, self.count)
            if self._is_count and numbers != "whole number":
                raise SourceError(f"{part.label} {_NO_COUNTS.format(quote(self.count))}")
            found.add(kind)
            if len(found) > 1:
                raise SourceError(
                    f"{part.label} has a column {quote(self.item)} of another type than the files "
                    f"before it."
                )

    def columns(self, batch: Any, label: str) -> Iterator[tuple[Any, Any]]:
        """Counts and items of some rows after the other, until the batch is through.

        Raises:
            SourceError: The batch is damaged.
            ItemsError: An item is missing.
        """
        columns = [batch.column(batch.schema.get_field_index(each)) for each in self.names]
        try:
            for column in columns:
                column.validate(full=True)
            items, counts = map(_widen_dictionary, columns)
        except pa.ArrowException:  # whose text may show anything
            raise SourceError(f"{label} is damaged: its columns hold invalid values.") from None
        for start in range(0, len(batch), ROWS):
            names = _decode(items.slice(start, ROWS))
            if names.null_count > 0:
                raise ItemsError("A row has no item; give each row one.")
            numbers = _numbers(_decode(counts.slice(start, ROWS)))
            if self._is_count and isinstance(numbers, np.ndarray) and numbers.min(initial=0) < 0:
                raise SourceError(f"{label} {_NO_COUNTS.format(quote(self.count))}")
            yield numbers, names


def _type(part: LabelledRows, name: str) -> Any:
    places = part.schema.get_all_field_indices(name)
    if len(places) == 1:
        return part.schema.field(places[0]).type
    if places:
        raise SourceError(f"{part.label} has more than one column {quote(name)}.")
    raise missing_column(part.label, name, part.schema.names)


def _column_error(part: LabelledRows, name: str) -> SourceError:
    kind = part.schema.field(name).type
    return SourceError(
        f"{part.label} has a column {quote(name)} of type {kind}, which cannot be used; cast it, "
        f"items to text or whole numbers, counts to numbers."
    )


def _kind(type_: Any) -> str | None:
    """What the values are, however they are stored."""
    types = pa.types
    if types.is_dictionary(type_):
        return _kind(type_.value_type)
    if types.is_string(type_) or types.is_large_string(type_) or _is_view(type_):
        return "text"
    for kind, is_one in (
        ("whole number", types.is_integer),
        ("decimal", types.is_decimal),
        ("float", types.is_floating),
        ("date", types.is_date),
    ):
        if is_one(type_):
            return kind
    return None


def _is_view(type_: Any) -> bool:
    return str(type_) == "string_view"


def _widen_dictionary(column: Any) -> Any:
    """The column with a dictionary in which Arrow can look up, if it has one."""
    if pa.types.is_dictionary(column.type) and _is_view(column.type.value_type):
        words = column.dictionary.cast(pa.large_string())
        return pa.DictionaryArray.from_arrays(column.indices, words, safe=False)
    return column


def _decode(column: Any) -> Any:
    """The values themselves, of a type that Arrow can do everything with."""
    if pa.types.is_dictionary(column.type):  # which may hold a value twice, or a missing one
        column = column.dictionary_decode()
    if _is_view(column.type):
        return column.cast(pa.large_string())
    if pa.types.is_decimal(column.type) and column.type.bit_width < 128:
        return column.cast(pa.decimal128(column.type.precision, column.type.scale))
    return column


def _numbers(counts: Any) -> Any:
    """The counts as NumPy's array where they lie, or as they are if that is not so simple."""
    if counts.null_count > 0:
        return counts  # to be refused, in the words for all answers
    if pa.types.is_decimal(counts.type):
        try:
            counts = counts.cast(pa.int64())  # exact, or refused
        except pa.ArrowInvalid:
            return counts
    # Not by to_numpy, which loads pandas.
    numbers = np.frombuffer(counts.buffers()[1], dtype=counts.type.to_pandas_dtype())
    return numbers[counts.offset : counts.offset + len(counts)]
