"""The columns of a data frame that are wanted, under names of our own, and what types they have."""

from collections.abc import Collection, Mapping
from datetime import date
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import (
    BooleanType,
    ByteType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
)
from pyspark.sql.utils import is_remote

from topgap.display.text import name_type
from topgap.errors import AnswersTypeError, ParameterError, SourceError, SparkError
from topgap.selection.column_names import GROUP, ITEM
from topgap.sources.columns import missing_column, quote

PERSON, PLACE = "person", "place"
INTEGERS = (ByteType, ShortType, IntegerType, LongType)
_NAMES = (StringType, BooleanType, DateType, DecimalType, *INTEGERS)
_NUMBERS = (DecimalType, FloatType, DoubleType, *INTEGERS)


class Columns(NamedTuple):
    """Columns of a data frame, by the names that were asked for, and what they were there."""

    frame: DataFrame
    fields: dict[str, StructField]


def name_items(item: object) -> dict[str, object]:
    """Names of our own for the columns that name an item: one, or several in a list.

    Raises:
        ParameterError: The list is empty.

    >>> name_items("page"), name_items(["country", "page"])
    ({'item': 'page'}, {'item 0': 'country', 'item 1': 'page'})
    """
    names = [*item] if isinstance(item, list | tuple) else [item]
    if not names:
        raise ParameterError("item must name the column of the items, or several in a list.")
    if len(names) == 1:
        return {ITEM: names[0]}
    return {f"{ITEM} {number}": name for number, name in enumerate(names)}


def name_groups(by: object) -> dict[str, object]:
    """Names of our own for the columns that tell the group of a row: one, or several in a list.

    Raises:
        ParameterError: The list is empty.

    >>> name_groups("region"), name_groups(["country", "year"])
    ({'group 0': 'region'}, {'group 0': 'country', 'group 1': 'year'})
    """
    names = [*by] if isinstance(by, list | tuple) else [by]
    if not names:
        raise ParameterError("by must name the column of the groups, or several in a list.")
    return {f"{GROUP} {number}": name for number, name in enumerate(names)}


def drop_unreadable(rows: DataFrame, kinds: Mapping[str, DataType]) -> DataFrame:
    """Leave out rows that no domain can have, because Python has no such value.

    These are texts that are not UTF-8, and dates beyond the years 1 to 9999. An executor would fail
    on one of them, and log it.
    """
    for name, kind in kinds.items():
        if isinstance(kind, StringType):
            rows = rows.filter(sql.is_valid_utf8(sql.col(name)))
        elif isinstance(kind, DateType):
            rows = rows.filter(sql.col(name).between(sql.lit(date.min), sql.lit(date.max)))
    return rows


def join_items(rows: DataFrame, parts: Collection[str]) -> DataFrame:
    """Make one column of those that name an item; several become a struct."""
    if len(parts) == 1:
        return rows
    others = [name for name in rows.columns if name not in parts]
    return rows.select(sql.struct(*parts).alias(ITEM), *others)


def select_columns(df: object, **wanted: object) -> Columns:
    """Select the wanted columns under new names, as in `select_columns(df, item="page")`.

    They are selected by position, so that no name is parsed.

    Raises:
        SourceError: `df` is not a data frame that can be read to its end, or has no such column.
        ParameterError: A name is not a string, or two are the same.
        SparkError: The session of the data frame has been stopped.
    """
    if not isinstance(df, DataFrame):
        raise SourceError(f"{name_type(df)} is not a data frame of Spark.")
    if _is_stopped(df.sparkSession):
        raise SparkError("The session of the data frame has been stopped; start another.")
    if is_connect(df.sparkSession) != is_remote():
        raise SparkError(
            "The data frame is of another kind of session than PySpark is set to in this process; "
            "use either Spark Connect, by SparkSession.builder.remote, or a session without it."
        )
    if df.isStreaming:
        raise SourceError(
            "A streaming data frame has no end; give one that can be read as a whole."
        )
    asked = {ours: theirs for ours, theirs in wanted.items() if isinstance(theirs, str) and theirs}
    if len(asked) < len(wanted):
        raise ParameterError("The name of a column must be a string.")
    if len({*asked.values()}) < len(asked):
        raise ParameterError("Persons, groups, items and counts must be in different columns.")
    fields = df.schema.fields
    names = [field.name for field in fields]
    for theirs in asked.values():
        if names.count(theirs) > 1:
            raise SourceError(f"The data frame has more than one column {quote(theirs)}.")
        if theirs not in names:
            raise missing_column("The data frame", theirs, names)
    places = {ours: names.index(theirs) for ours, theirs in asked.items()}
    # By position, so that no name is parsed or looked up.
    positions = {place: ours for ours, place in places.items()}
    renamed = df.toDF(*(positions.get(i, f"unused {i}") for i in range(len(names))))
    return Columns(renamed.select(*asked), {ours: fields[place] for ours, place in places.items()})


def is_connect(spark: SparkSession) -> bool:
    """Whether a session is one of Spark Connect, which is of a class of its own."""
    return ".connect." in type(spark).__module__


def _is_stopped(spark: SparkSession) -> bool:
    if is_connect(spark):
        return bool(getattr(spark, "is_stopped", False))
    context = spark.sparkContext
    return context._jsc is None or bool(context._jsc.sc().isStopped())


def check_item(field: StructField, named: str = "Items") -> DataType:
    """The type of a column of items, or of groups.

    Raises:
        SourceError: It cannot name them, or by its rules two that differ can be the same.
    """
    kind = field.dataType
    if is_padded(field):
        raise SourceError(
            f"{named} cannot be of Spark's type char, which pads them with spaces; "
            f"cast them to a string and trim them."
        )
    if not isinstance(kind, _NAMES):
        raise SourceError(
            f"{named} cannot be of Spark's type {kind.typeName()}; cast them to a string."
        )
    if isinstance(kind, StringType) and not kind.isUTF8BinaryCollation():
        raise SourceError(
            f"{named} cannot have a collation, by which names that differ are equal; "
            "cast them to a plain string."
        )
    return kind


def is_padded(field: StructField) -> bool:
    """Whether its words are padded to one length, and so equal none that is written shorter.

    Spark calls such a column a string, and keeps what it is in a note.
    """
    noted = (field.metadata or {}).get("__CHAR_VARCHAR_TYPE_STRING", "")
    return isinstance(field.dataType, CharType) or str(noted).lower().startswith("char")


def check_count(field: StructField) -> None:
    """Refuse a type that is not a number.

    Raises:
        AnswersTypeError: It is none.
    """
    kind = field.dataType
    if not isinstance(kind, _NUMBERS):
        raise AnswersTypeError(
            f"The counts must be numbers, not of Spark's type {kind.typeName()}; cast them to one."
        )
