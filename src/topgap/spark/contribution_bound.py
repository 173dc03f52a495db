"""At most L items of each person, or c groups: the same are kept as by `topgap.counting`.

`topgap.counting.contribution_bound` says which: those whose hash with the person is least. A
person's rows meet in one window, where rows that tie are of the same item or group. So attempts at
a task, and a second run of the query, keep the same.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sql
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    StringType,
    StructField,
    TimestampNTZType,
    TimestampType,
)

from topgap.errors import SourceError
from topgap.selection.column_names import ITEM
from topgap.spark.columns import INTEGERS, PERSON, name_items

_PERSONS = (
    *INTEGERS, BinaryType, BooleanType, DateType, DecimalType, DoubleType, FloatType, StringType,
    TimestampNTZType, TimestampType,
)  # fmt: skip
_MARK, _ORDER, _HASH, _NUMBER = "mark", "order", "hash", "number"


def check_person(field: StructField) -> DataType:
    """The type of the persons' column, whose texts are hashed.

    Raises:
        SourceError: Equal persons of this type can have several texts.
    """
    kind = field.dataType
    if not isinstance(kind, _PERSONS):
        raise SourceError(
            f"With items_per_person or by, persons cannot be of Spark's type {kind.typeName()}; "
            f"cast them to a string."
        )
    if isinstance(kind, StringType) and not kind.isUTF8BinaryCollation():
        raise SourceError(
            "With items_per_person or by, persons cannot have a collation; cast them to a plain "
            "string."
        )
    return kind


def keep_items(
    events: DataFrame,
    kinds: Sequence[DataType],
    person: DataType,
    bound: int,
    together: int = 1,
    *,
    within: Sequence[str] = (),
) -> DataFrame:
    """Keep at most so many different items of each person.

    Args:
        events: Columns person and item, of members of the domain only; rows may be repeated.
        kinds: The types of the columns that name an item.
        person: The type of the persons.
        bound: How many items are kept of a person.
        together: How many items go together; the column item has structs of so many then.
        within: Columns, too; so many items are kept of a person for each of their values.

    Returns:
        The columns person, `within` and item, each row once.
    """
    marks = [_build_mark(_split(sql.col(ITEM), kinds), kinds)]
    if together > 1:
        each = (sql.col(ITEM).getField(f"{ITEM} {number}") for number in range(together))
        marks = [_build_mark(_split(item, kinds), kinds) for item in each]
    columns = [PERSON, *within, ITEM]
    marked = events.select(*columns).distinct().select(
        *columns, sql.array_join(sql.sort_array(sql.array(*marks)), "").alias(_MARK)
    )  # fmt: skip
    return _keep_least(marked, person, bound, within=[PERSON, *within]).select(*columns)


def mark_groups(groups: DataFrame, parts: Sequence[str], kinds: Sequence[DataType]) -> DataFrame:
    """Add a column with each group as it is hashed, of which these columns are the parts.

    Another column has its place in the order of these texts, which decides between equal hashes.
    """
    marked = groups.withColumn(_MARK, _build_mark([*map(sql.col, parts)], kinds))
    all_rows = Window.partitionBy(sql.lit(0))  # without a partition PySpark may warn
    return marked.withColumn(_ORDER, sql.row_number().over(all_rows.orderBy(_MARK)))


def keep_groups(marked: DataFrame, person: DataType, bound: int) -> DataFrame:
    """Keep the rows of each person in so many groups: those of the least hashes.

    Hash and order are one number, because Spark shuffles and sorts numbers faster than texts.

    Args:
        marked: The column person, and those of `mark_groups`.
        person: The type of the persons.
        bound: How many groups are kept.
    """
    number = sql.conv(_build_hash(), 16, 10).cast("long") * 2**31 + sql.col(_ORDER)
    hashed = _add_digest(marked, person).withColumn(_HASH, number).drop(_MARK, _ORDER)
    rows = Window.partitionBy(PERSON)
    if bound == 1:
        least = hashed.withColumn(_NUMBER, sql.min(_HASH).over(rows))
        return least.filter(sql.col(_HASH) == sql.col(_NUMBER)).drop(_HASH, _NUMBER)
    numbered = hashed.withColumn(_NUMBER, sql.dense_rank().over(rows.orderBy(_HASH)))
    return numbered.filter(sql.col(_NUMBER) <= min(bound, 2**31 - 1)).drop(_HASH, _NUMBER)


def _keep_least(
    marked: DataFrame, person: DataType, bound: int, *, within: Sequence[str]
) -> DataFrame:
    """Keep the rows of each person that have one of so many marks: those of the least hashes.

    Args:
        marked: The column person, and in the column mark what is hashed with it.
        person: The type of the persons.
        bound: How many marks are kept.
        within: The columns whose values tell apart what the bound is for.
    """
    order = Window.partitionBy(*within).orderBy(_HASH, _MARK)
    hashed = _add_digest(marked, person).withColumn(_HASH, _build_hash())
    numbered = hashed.withColumn(_NUMBER, sql.dense_rank().over(order))
    kept = numbered.filter(sql.col(_NUMBER) <= min(bound, 2**31 - 1))
    return kept.drop(_HASH, _MARK, _NUMBER)


def _add_digest(marked: DataFrame, person: DataType) -> DataFrame:
    """Add the digest of mark and person: first, or Spark would compute it for each of the bytes."""
    text = sql.concat(sql.col(_MARK), _build_text(sql.col(PERSON), person))
    return marked.withColumn(_HASH, sql.md5(text))


def _build_hash() -> Column:
    """The last four bytes of the digest, the last first: ordered as their numbers are."""
    return sql.concat(*(sql.substring(_HASH, place, 2) for place in (31, 29, 27, 25)))


def _split(item: Column, kinds: Sequence[DataType]) -> list[Column]:
    """The columns that name an item: itself, or the fields of a struct."""
    names = [*name_items([""] * len(kinds))]
    return [item] if len(kinds) == 1 else [item.getField(name) for name in names]


def _build_mark(parts: Sequence[Column], kinds: Sequence[DataType]) -> Column:
    """Build an item or a group as it is hashed: of each text its length in bytes and the text."""
    texts = [_build_text(part, kind) for part, kind in zip(parts, kinds, strict=True)]
    separator = sql.lit(":")
    return sql.concat(
        *(each for t in texts for each in (sql.octet_length(t).cast("string"), separator, t))
    )


def _build_text(cell: Column, kind: DataType) -> Column:
    """Build the text of a cell: of numbers the shortest, as `topgap.counting.cells` has it."""
    text = cell.cast("string")
    if isinstance(kind, DecimalType) and kind.scale > 0:
        return sql.regexp_replace(text, r"\.?0+$", "")
    if isinstance(kind, FloatType | DoubleType):
        whole = cell.try_cast("long")
        return sql.when(whole.cast("double") == cell, whole.cast("string")).otherwise(text)
    return sql.hex(cell) if isinstance(kind, BinaryType) else text
