"""The columns of a data frame that are wanted, under names of our own, and what types they have."""

from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
)

from topgap.counting.tables import quoted
from topgap.errors import AnswersTypeError, ParameterError, SourceError

INTEGERS = (ByteType, ShortType, IntegerType, LongType)
_NAMES = (StringType, BooleanType, DateType, DecimalType, *INTEGERS)
_NUMBERS = (DecimalType, FloatType, DoubleType, *INTEGERS)


class Columns(NamedTuple):
    """Columns of a data frame, by the names that were asked for, and their types."""

    frame: DataFrame
    kinds: dict[str, DataType]


def chosen(df: object, **wanted: object) -> Columns:
    """The wanted columns under new names, as in `chosen(df, item="page")`.

    Whatever they are called, and whatever else is called so, does not matter.

    Raises:
        SourceError: `df` is no data frame that can be read to its end, or has no such column.
        ParameterError: A name is no string, or two are the same.
    """
    if not isinstance(df, DataFrame):
        raise SourceError(f"A {type(df).__name__} is no data frame of Spark.")
    if df.isStreaming:
        raise SourceError(
            "A streaming data frame has no end; give one that can be read as a whole."
        )
    asked = {ours: theirs for ours, theirs in wanted.items() if isinstance(theirs, str) and theirs}
    if len(asked) < len(wanted):
        raise ParameterError("The name of a column must be a string.")
    if len({*asked.values()}) < len(asked):
        raise ParameterError("Persons, items and counts must be in different columns.")
    fields = df.schema.fields
    names = [field.name for field in fields]
    for theirs in asked.values():
        if names.count(theirs) > 1:
            raise SourceError(f"The data frame has more than one column {quoted(theirs)}.")
        if theirs not in names:
            listed = ", ".join(map(quoted, names[:8])) + (", …" if len(names) > 8 else "")
            raise SourceError(
                f"The data frame has no column {quoted(theirs)}; it has {listed or 'none'}."
            )
    places = {ours: names.index(theirs) for ours, theirs in asked.items()}
    # By position, so that no name is parsed or looked up.
    positions = {place: ours for ours, place in places.items()}
    renamed = df.toDF(*(positions.get(i, f"unused {i}") for i in range(len(names))))
    kinds = {ours: fields[place].dataType for ours, place in places.items()}
    return Columns(renamed.select(*asked), kinds)


def check_item(kind: DataType) -> None:
    """Refuse a type that cannot name items, or by whose rules two that differ can be the same.

    Raises:
        SourceError: It is such a type.
    """
    if not isinstance(kind, _NAMES):
        raise SourceError(
            f"Items cannot be of Spark's type {kind.typeName()}; cast them to a string."
        )
    if isinstance(kind, StringType) and not kind.isUTF8BinaryCollation():
        raise SourceError(
            "Items cannot have a collation, by which names that differ are equal; "
            "cast them to a plain string."
        )


def check_count(kind: DataType) -> None:
    """Refuse a type that is no number.

    Raises:
        AnswersTypeError: It is none.
    """
    if not isinstance(kind, _NUMBERS):
        raise AnswersTypeError(
            f"The counts must be numbers, not of Spark's type {kind.typeName()}; cast them to one."
        )
