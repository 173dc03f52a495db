"""The items where no domain is given: a list, or everything that the data have."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import DataType, LongType, StructField, StructType

from topgap.domains import MOST_ITEMS, Domain, DomainDescription
from topgap.domains.structure import list_as_given
from topgap.errors import DomainError
from topgap.selection.arrow_partition import to_names
from topgap.selection.candidate_pool import Ranking
from topgap.selection.column_names import ITEM
from topgap.selection.unlisted import check_found
from topgap.spark.columns import PLACE, name_items
from topgap.spark.domain_frame import create_frame, to_arrow_array
from topgap.spark.query import run_query


class Listing(NamedTuple):
    """What a release says of its list of items.

    Attributes:
        description: The list in words, if its size is known.
        from_data: Whether the list was taken from the data.
        names: The items by their places, if the rows tell them so.
    """

    description: DomainDescription | None = None
    from_data: bool = False
    names: Sequence[Any] | None = None

    def name(self, ranking: Ranking) -> Ranking:
        """The same winners by their names, also where a threshold has left none."""
        names, items = self.names, ranking.items
        return ranking._replace(
            items=items if names is None else [names[place] for place in items],
            named=True,
            domain=self.description,
            domain_from_data=self.from_data,
        )


UNLISTED = Listing()
"""Nothing is known: the rows are all items, by the word of the user."""


class FoundItems(NamedTuple):
    """The different items of a query, in their order, and the query by their places.

    Attributes:
        names: The items; tuples if several columns tell them.
        rows: The rows, with a column `place`.
    """

    names: Sequence[Any]
    rows: DataFrame

    @property
    def domain(self) -> Domain:
        """The items, as they are: Spark says which of them are the same."""
        return list_as_given(self.names)


def find_items(rows: DataFrame, kinds: Sequence[DataType]) -> FoundItems:
    """Bring all different items of some rows to the driver, by a query.

    Args:
        rows: With a column item, none of which is missing: a struct if several columns tell items.
        kinds: The types of these columns.

    Raises:
        DomainError: There is none, or there are too many for a list.
        SparkError: Spark cannot run it.
    """
    spark = rows.sparkSession
    distinct = rows.select(ITEM).distinct().limit(MOST_ITEMS + 1)
    found: pa.Table = run_query(lambda: distinct.toArrow(), spark)
    if found.num_rows > MOST_ITEMS:
        raise DomainError(
            f"The data have more than {MOST_ITEMS:,} different items; give a public domain."
        )
    names = sorted(to_names(found[ITEM].combine_chunks())) if found.num_rows else []
    check_found(len(names), 0)
    parts = [*name_items([""] * len(kinds))]
    columns: list[list[Any]] = (
        [names] if len(kinds) == 1 else [*map(list, zip(*names, strict=True))]
    )
    arrays = {
        part: to_arrow_array(own, kind)
        for part, own, kind in zip(parts, columns, kinds, strict=True)
    }
    fields = [*map(StructField, parts, kinds), StructField(PLACE, LongType(), nullable=False)]
    table = pa.table({**arrays, PLACE: np.arange(len(names))})
    places = create_frame(table, StructType(fields), spark)
    item = sql.col(parts[0]) if len(parts) == 1 else sql.struct(*parts)
    numbered = places.select(item.alias(ITEM), PLACE)
    return FoundItems(names, rows.join(numbered.hint("merge"), ITEM))
