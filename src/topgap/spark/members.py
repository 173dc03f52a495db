"""The members of a domain that is not written out, as they occur in a data frame.

Spark counts what occurs, and says of a few members whether they do.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import DataType, LongType, StructField, StructType

from topgap.domains import ABSENT, Domain
from topgap.selection.arrow_partition import to_names
from topgap.selection.column_names import ITEM, VALUE
from topgap.spark.columns import PERSON, join_items, name_items
from topgap.spark.contribution_bound import keep_items
from topgap.spark.domain_frame import create_frame, to_arrow_type
from topgap.spark.query import run_query
from topgap.spark.rule import Rule

_REST, _PLACE = "rest", "place"


class Occurring(NamedTuple):
    """The items that occur, of which those that are members of a domain take part.

    Attributes:
        items: Who has what: columns item and, where items go together, person. Nothing is missing.
        rule: The domain.
        kinds: The types of the columns that name an item.
        bound: How many items are kept of each person; None for all.
        person: The type of the persons, if there is a bound.
        within: A column of the items, too, for each of whose values all of this is by itself.
    """

    items: DataFrame
    rule: Rule
    kinds: Sequence[DataType]
    bound: int | None = None
    person: DataType | None = None
    within: Sequence[str] = ()

    def count_persons(self) -> DataFrame:
        """How many persons have each item or, if items go together, all items of a set."""
        takes_all = self.rule.together == 1 and self.bound is None
        return self.count_persons_of(self.items if takes_all else self.select_members())

    def count_persons_of(self, events: DataFrame) -> DataFrame:
        """The same of some of the rows."""
        if self.rule.together == 1 and self.bound is None:
            return count_distinct_persons(events, self.within)
        keys = [*self.within, ITEM]
        return self._choose(events).groupBy(*keys).agg(sql.count(sql.lit(1)).alias(VALUE))

    def keep_members(self, rows: DataFrame) -> DataFrame:
        """Those of the counted rows whose items are members."""
        takes_all = self.rule.together == 1 and self.bound is None and not self.within
        return rows.filter(_is_member(self.rule.domain)(ITEM)) if takes_all else rows

    def select_members(self) -> DataFrame:
        """The rows whose items are members."""
        return self.items.filter(_is_member(self.rule.inner)(ITEM))

    def _choose(self, members: DataFrame) -> DataFrame:
        """What is counted of members, or of sets of them: each item once for each person."""
        together = self.rule.together
        counted = _combine(members, together, self.within) if together > 1 else members
        if self.bound is None or self.person is None:
            return counted
        return keep_items(
            counted, self.kinds, self.person, self.bound, together, within=self.within
        )

    def find(self, names: Sequence[Any]) -> set[Any]:
        """Find those of a few members that occur, by a query of their own.

        The names go to the executors as rows of a data frame and so are not in Spark's plan, which
        it logs.

        Raises:
            SparkError: Spark cannot run it.
        """
        rule, spark = self.rule, self.items.sparkSession
        wanted = self._list_items(names)
        if not wanted:
            return set()

        def query() -> pa.Table:
            few = self._create_frame(wanted, spark)
            asked = _combine(few, rule.together) if rule.together > 1 else few
            asked = sql.broadcast(asked.select(ITEM))
            if self.bound is not None:  # what was not kept does not occur
                found = self._choose(self.select_members())
            elif rule.together > 1:
                singles = sql.broadcast(few.select(ITEM))
                found = _combine(self.items.join(singles, ITEM, "left_semi"), rule.together)
            else:
                found = self.items
            found = found.join(asked, ITEM, "left_semi")
            return found.select(ITEM).distinct().toArrow()

        table = run_query(query, spark)
        return {*rule.domain.find(to_names(table[ITEM].combine_chunks()))} - {ABSENT}

    def _list_items(self, names: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The single items of these names, each after the number of the name.

        What does not go into the columns does not occur, and is left out.
        """
        rows = [
            (number, *(item if len(self.kinds) > 1 else (item,)))
            for number, name in enumerate(names)
            for item in (name if self.rule.together > 1 else (name,))
        ]
        types = [to_arrow_type(kind) for kind in self.kinds]
        return [row for row in rows if all(map(_fits, row[1:], types))]

    def _create_frame(self, rows: list[tuple[Any, ...]], spark: SparkSession) -> DataFrame:
        """Create a data frame of these items, in which each number is a person."""
        parts = [*name_items([""] * len(self.kinds))]
        kinds = [LongType(), *self.kinds]
        fields = [*map(StructField, [PERSON, *parts], kinds)]
        arrays = [
            pa.array(column, to_arrow_type(kind))
            for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)
        ]
        table = pa.table(arrays, names=[PERSON, *parts])
        return join_items(create_frame(table, StructType(fields), spark), parts)


def count_distinct_persons(events: DataFrame, within: Sequence[str] = ()) -> DataFrame:
    """How many different persons have each item, for each value of further columns."""
    return events.groupBy(*within, ITEM).agg(sql.count_distinct(PERSON).alias(VALUE))


def _combine(events: DataFrame, count: int, within: Sequence[str] = ()) -> DataFrame:
    """All sets of so many different items of a person, each once: a struct, in Spark's order.

    The columns are person, `within` and item. With `within`, a set is of rows that agree there.
    """
    basket = sql.sort_array(sql.collect_set(ITEM))
    keys = [PERSON, *within]
    rows = events.groupBy(*keys).agg(basket.alias(_REST))
    chosen: list[str] = []
    for number in range(count):
        name = f"{ITEM} {number}"
        rows = rows.select(*keys, *chosen, _REST, sql.posexplode(_REST).alias(_PLACE, name))
        chosen.append(name)
        after = sql.slice(_REST, sql.col(_PLACE) + 2, sql.size(_REST))
        rows = rows.select(*keys, *chosen, after.alias(_REST))
    return rows.select(*keys, sql.struct(*chosen).alias(ITEM))


def _is_member(domain: Domain) -> Callable[..., Any]:
    """A function of Spark's that says which items are members; only items go to Python for it."""

    @pandas_udf("boolean")  # type: ignore[call-overload, untyped-decorator]
    def is_member(items: pd.Series) -> pd.Series:
        given: Any = items
        if isinstance(given, pd.DataFrame):  # of several columns
            names = [*given.itertuples(index=False, name=None)]
        else:
            names = given.tolist()
        return pd.Series([member is not ABSENT for member in domain.find(names)], dtype=bool)

    return is_member  # type: ignore[no-any-return]


def _fits(value: Any, kind: Any) -> bool:
    """Whether a column of this type of Arrow can have the value."""
    try:
        return bool(pa.scalar(value, kind).as_py() == value)
    except (pa.ArrowException, OverflowError, UnicodeError, TypeError, ValueError):
        return False
