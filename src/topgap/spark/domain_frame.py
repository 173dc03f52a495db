"""The public list of items, or of groups, as a data frame."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

from topgap.display.text import name_type
from topgap.domains import Domain, FromData
from topgap.errors import DomainError
from topgap.selection.column_names import ITEM
from topgap.sources.columns import quote
from topgap.spark.columns import INTEGERS, PLACE, is_padded

_ARROW: dict[type[DataType], tuple[Any, tuple[type, ...]]] = {
    StringType: (pa.string(), (str,)),
    BooleanType: (pa.bool_(), (bool,)),
    DateType: (pa.date32(), (date,)),
    ByteType: (pa.int8(), (int,)),
    ShortType: (pa.int16(), (int,)),
    IntegerType: (pa.int32(), (int,)),
    LongType: (pa.int64(), (int,)),
    DecimalType: (None, (int, Decimal)),
}


class Named(NamedTuple):
    """What public names are called in errors: one of them, and those of the data frame."""

    one: str
    column: str


ITEMS, GROUPS = Named("An item of the domain", "items"), Named("A group", "groups")


class DomainFrame(NamedTuple):
    """The items of a domain, each of them once.

    Attributes:
        frame: A column `item`; and `place`, if there are names.
        size: How many there are, if that is known.
        names: The items of a list by their places, as the list has them. The column's type, by
            which Spark would write them, may come from the data: decimals have as many digits as
            the longest of all.
    """

    frame: DataFrame
    size: int | None = None
    names: Sequence[Any] | None = None


def build_domain_frame(domain: object, kind: DataType, spark: SparkSession, k: int) -> DomainFrame:
    """Build a data frame of the domain's items, which are of this type.

    Raises:
        DomainError: It is not a list of more than k different items of this type.
    """
    if isinstance(domain, DataFrame):
        return DomainFrame(_from_frame(domain, kind))
    if isinstance(domain, Domain):
        domain = domain.names
    # The steps of a shorter range may be longer than a number of Spark's.
    if isinstance(domain, range) and isinstance(kind, INTEGERS) and domain[2:]:
        return _from_range(domain, kind, spark, k)
    values = _to_list(domain)
    _check_size(len(values), k)
    frame = build_numbered_frame({ITEM: (values, kind)}, PLACE, spark)
    if len({*values}) < len(values):
        [(repeated, _)] = Counter(values).most_common(1)
        raise DomainError(f"The domain has {quote(str(repeated))} more than once.")
    return DomainFrame(frame, len(values), values)


def build_numbered_frame(
    columns: Mapping[str, tuple[Sequence[Any], DataType]],
    number: str,
    spark: SparkSession,
    named: Named = ITEMS,
) -> DataFrame:
    """Build a data frame of public names, with the place of each in a column of this name.

    Args:
        columns: The names, or the parts of each in several columns, and their types.
        number: The column of the places.
        spark: The session.
        named: What they are, for errors.

    Raises:
        DomainError: One is of another type.
    """
    arrays = {name: to_arrow_array(values, kind, named) for name, (values, kind) in columns.items()}
    size = max(map(len, arrays.values()))
    fields = [StructField(name, kind, nullable=False) for name, (_, kind) in columns.items()]
    schema = StructType([*fields, StructField(number, LongType(), nullable=False)])
    return create_frame(pa.table({**arrays, number: np.arange(size)}), schema, spark)


def to_arrow_array(values: Sequence[Any], kind: DataType, named: Named = ITEMS) -> pa.Array:
    """Make a column of this type of public names.

    Raises:
        DomainError: One does not fit.
    """
    check_types(values, kind, named)
    try:
        array = pa.array(values, type=to_arrow_type(kind))
        fits = array.to_pylist() == [*values]
    except (pa.ArrowException, OverflowError, UnicodeError, ValueError):
        fits = False
    if not fits:
        raise _type_error(kind, named)
    return array


def check_types(values: Iterable[Any], kind: DataType, named: Named = ITEMS) -> None:
    """See whether these items of a domain, or groups, are such values as a column of this type has.

    Raises:
        DomainError: One is not.
    """
    _, types = _ARROW[type(kind)]
    for value in values:
        is_another = isinstance(value, bool) != (bool in types) or isinstance(value, datetime)
        if not isinstance(value, types) or is_another:
            raise DomainError(
                f"{named.one} is {name_type(value, 'a')}, and the {named.column} of the data "
                f"frame are of Spark's type {kind.typeName()}; they must be alike."
            )


def to_arrow_type(kind: DataType) -> Any:
    """Arrow's type for the items of a column."""
    if isinstance(kind, DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    return _ARROW[type(kind)][0]


def create_frame(table: pa.Table, schema: StructType, spark: SparkSession) -> DataFrame:
    """Create a data frame of these few rows."""
    if int(spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") or 0) > 0:
        return spark.createDataFrame(table, schema=schema)
    # Batches of any size, of which PySpark cannot make a data frame.
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return spark.createDataFrame([*rows], schema=schema)


def _from_frame(domain: DataFrame, kind: DataType) -> DataFrame:
    fields = domain.schema.fields
    if domain.isStreaming or len(fields) != 1:
        raise DomainError("A data frame that is a domain must have one column, and an end.")
    if fields[0].dataType != kind:
        raise DomainError(
            f"The domain is of Spark's type {fields[0].dataType.typeName()}, and the items of the "
            f"data frame are of type {kind.typeName()}; cast one of them."
        )
    if is_padded(fields[0]):
        raise DomainError(
            "The domain cannot be of Spark's type char, which pads the items with spaces; "
            "cast them to a string and trim them."
        )
    return domain.toDF(ITEM).dropna().distinct()


def _from_range(domain: range, kind: DataType, spark: SparkSession, k: int) -> DomainFrame:
    first, last, step = domain[0], domain[-1], domain.step
    size = (last - first) // step + 1  # which `len` may be unable to say
    _check_size(size, k)
    limit = 2 ** (_ARROW[type(kind)][0].bit_width - 1)
    if not all(-limit <= end < limit for end in (first, last)):
        raise _type_error(kind)
    if abs(last - first) >= 2**63:
        raise DomainError("The domain is wider than a range of Spark's can be; give a data frame.")
    # Not Spark's range from here to there, whose end may be no number of its own.
    number = sql.col("id") * step + first
    return DomainFrame(spark.range(size).select(number.cast(kind).alias(ITEM)), size)


def _to_list(domain: Any) -> list[Any]:
    is_text = isinstance(domain, str | bytes)
    if isinstance(domain, FromData) or is_text or hasattr(domain, "columns"):
        shown = "text" if is_text else type(domain).__name__
        raise DomainError(
            f"A {shown} cannot be a domain here; give a list, a range, or a data frame of Spark."
        )
    try:
        for method in ("tolist", "to_pylist", "to_list"):
            if hasattr(domain, method):
                domain = getattr(domain, method)()
                break
        return [value.item() if isinstance(value, np.generic) else value for value in domain]
    except TypeError:
        raise DomainError(
            f"{name_type(domain)} is not a domain; give a list, a range, or a data frame of Spark."
        ) from None
    except Exception as error:
        raise DomainError(
            f"The domain cannot be read as a list, which ended in {name_type(error, 'a')}."
        ) from None


def _check_size(size: int, k: int) -> None:
    if size <= k:
        raise DomainError(
            f"k = {k} needs at least {k + 1} items, and the domain has {size}; "
            f"give more items or use a smaller k."
        )


def _type_error(kind: DataType, named: Named = ITEMS) -> DomainError:
    return DomainError(
        f"{named.one} does not fit in the data frame's column of {named.column}, which is of "
        f"Spark's type {kind.simpleString()}."
    )
