"""What is counted in each group, on Spark: as a query that has not been run.

Rows are matched with the public groups, and from there a group is its number. Of each person at
most c groups are kept. Spark counts by group and item, and brings the counts of a group to one
partition, so that one task draws its list whole.

A list of items is matched in the same way: an item is its place from there. Items of a domain that
is not written out stay what they are, until a task finds their ranks.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import DataType, StructField

from topgap.domains import Domain, FromData
from topgap.domains.groups import to_groups
from topgap.errors import DomainError, ParameterError
from topgap.grouped_parameters import TopKByGroup
from topgap.selection.column_names import GROUP, ITEM, VALUE
from topgap.selection.preparation import has_room
from topgap.selection.unlisted import check_domain, check_found
from topgap.spark.columns import (
    PERSON,
    PLACE,
    check_count,
    check_item,
    drop_unreadable,
    join_items,
    name_groups,
    name_items,
    select_columns,
)
from topgap.spark.contribution_bound import check_person, keep_groups, keep_items, mark_groups
from topgap.spark.domain_frame import GROUPS, build_numbered_frame
from topgap.spark.listing import find_items
from topgap.spark.members import Occurring, count_distinct_persons
from topgap.spark.rule import Rule, check_fit, format_columns, read_rule, read_rule_of_counts

_MOST_SENT = 1_000_000
"""A longer list of items is not sent to each executor, but shuffled."""


class Groups(NamedTuple):
    """The groups of a query, and what its items are members of.

    Attributes:
        public: The public groups; in the rows they go by their places.
        domain: The domain of the items.
        sent: The domain by which the rows tell the items; its members have the same ranks.
        parameters: Of the release.
        from_data: Whether the items were taken from the data.
    """

    public: Domain
    domain: Domain
    sent: Domain
    parameters: TopKByGroup
    from_data: bool = False


class GroupColumns(NamedTuple):
    """What a user said of the groups.

    Attributes:
        by: The columns that tell the group of a row.
        groups: The public groups.
    """

    by: object
    groups: object


def count_events(
    df: DataFrame,
    columns: GroupColumns,
    parameters: TopKByGroup,
    *,
    person: str,
    item: object,
    domain: object,
    together: int | None = None,
) -> tuple[DataFrame, Groups]:
    """Count the persons of each item in each group.

    Returns:
        Columns group, item and value, with each group in one partition; and what they are of.

    Raises:
        TopgapError: As of `topgap.spark.top_k_events`.
    """
    if isinstance(domain, FromData) and together is None:
        return _count_all(df, columns, parameters, person=person, item=item)
    rule = _read_rule(domain, together)
    bound = parameters.each.items_per_person
    selection = _Selection(df, columns, parameters, rule, item, {PERSON: person})
    kind = check_person(selection.fields[PERSON])
    events = selection.match_groups(selection.rows.dropna())
    kinds = selection.kinds
    if selection.is_listed:
        kept = keep_groups(selection.match_items(events), kind, parameters.groups_per_person)
        if bound is None:
            counts = kept.groupBy(GROUP, PLACE).agg(sql.count_distinct(PERSON).alias(VALUE))
        else:
            kept = keep_items(kept, kinds, kind, bound, within=[GROUP])
            counts = kept.groupBy(GROUP, ITEM).agg(sql.count(sql.lit(1)).alias(VALUE))
            counts = selection.match_items(counts)
        rows = counts.select(GROUP, sql.col(PLACE).alias(ITEM), VALUE)
    else:
        occurring = Occurring(selection.join_items(events), rule, kinds, bound, kind, [GROUP])
        members = occurring.select_members()
        kept = keep_groups(members, kind, parameters.groups_per_person)
        rows = occurring.count_persons_of(kept)
    return _gather(rows), selection.groups


def _count_all(
    df: DataFrame, columns: GroupColumns, parameters: TopKByGroup, *, person: str, item: object
) -> tuple[DataFrame, Groups]:
    """Count the persons of each item in each group, where the items of all groups are the domain.

    Raises:
        TopgapError: As of `topgap.spark.top_k_events`.
    """
    bound = parameters.each.items_per_person
    selection = _Selection(df, columns, parameters, None, item, {PERSON: person})
    kind = check_person(selection.fields[PERSON])
    events = selection.join_items(selection.match_groups(selection.rows.dropna()))
    kept = keep_groups(events, kind, parameters.groups_per_person)
    if bound is not None:
        kept = keep_items(kept, selection.kinds, kind, bound, within=[GROUP])
    found = find_items(count_distinct_persons(kept, [GROUP]), selection.kinds)
    domain = found.domain
    check_found(domain.size, parameters.each.fewest_winners)
    check_domain(domain, parameters.each)
    sent = Domain.range(0, domain.size)
    rows = found.rows.select(GROUP, sql.col(PLACE).alias(ITEM), VALUE)
    return _gather(rows), Groups(selection.public, domain, sent, parameters, from_data=True)


def read_counts(
    df: DataFrame,
    columns: GroupColumns,
    parameters: TopKByGroup,
    *,
    item: object,
    count: str,
    domain: object,
) -> tuple[DataFrame, Groups]:
    """Read precomputed counts of items in groups.

    Returns:
        As `count_events`.

    Raises:
        TopgapError: As of `topgap.spark.top_k`.
    """
    if domain is None:
        raise DomainError(
            "The rows of a data frame do not say which items each group could have; give the "
            "public ones with domain."
        )
    rule = read_rule_of_counts(domain)
    selection = _Selection(df, columns, parameters, rule, item, {VALUE: count})
    check_count(selection.fields[VALUE])
    rows = selection.match_groups(selection.rows)
    if selection.is_listed:
        rows = selection.match_items(rows).select(GROUP, sql.col(PLACE).alias(ITEM), VALUE)
    else:
        rows = selection.join_items(rows).select(GROUP, ITEM, VALUE)
    return _gather(rows), selection.groups


def check_columns(by: object, groups: object, groups_per_person: object) -> GroupColumns | None:
    """See whether lists by group are wanted; None if not.

    Raises:
        ParameterError: Something is said of groups and not which there are, or in which columns.
    """
    if by is None:
        if groups is not None or groups_per_person != 1:
            raise ParameterError(
                "groups and groups_per_person need by, which names the column of the groups."
            )
        return None
    if groups is None:
        raise ParameterError(
            "The rows of a data frame do not say which groups there could be; give the public ones "
            "with groups."
        )
    return GroupColumns(by, groups)


def _gather(rows: DataFrame) -> DataFrame:
    """Bring all rows of a group to one partition.

    This comes last, whatever Spark did before, because a task draws the lists of all groups that it
    meets: a group in two partitions would have two.
    """
    return rows.repartition(GROUP)


class _Selection:
    """The columns that are wanted of a data frame, and the public lists that they are matched with.

    Args:
        df: The data frame.
        columns: Those of the groups, and the groups.
        parameters: Of the release.
        rule: The domain of the items; None if it is taken from the data.
        item: The columns of the items.
        others: Further columns, by names of our own.

    Raises:
        TopgapError: Something does not fit, by types and public facts only.
    """

    def __init__(
        self,
        df: DataFrame,
        columns: GroupColumns,
        parameters: TopKByGroup,
        rule: Rule | None,
        item: object,
        others: dict[str, str],
    ) -> None:
        public, by = to_groups(columns.groups), name_groups(columns.by)
        self.public = public
        self.parts = name_items(item)
        self.rows, self.fields = select_columns(df, **by, **self.parts, **others)
        self.kinds = [check_item(self.fields[part]) for part in self.parts]
        if rule is not None:
            check_fit(rule, self.kinds, parameters.each)
        _check_threshold(parameters)
        self._group_frame = _build_group_frame(
            public, {part: self.fields[part] for part in by}, df.sparkSession
        )
        self._by = [*by]
        if rule is None:
            return
        self.is_listed = rule.domain.is_listed and rule.domain.columns == 1
        sent = Domain.range(0, rule.domain.size) if self.is_listed else rule.domain
        self.groups = Groups(public, rule.domain, sent, parameters)
        if self.is_listed:
            [kind] = self.kinds
            frame = build_numbered_frame({ITEM: (rule.domain.names, kind)}, PLACE, df.sparkSession)
            # Public, so that the driver may send it; left to itself Spark might send the data.
            self._items = frame.hint("broadcast" if rule.domain.size <= _MOST_SENT else "merge")

    def match_groups(self, rows: DataFrame) -> DataFrame:
        """The rows of public groups, each with the number of its group, and how it is hashed."""
        return rows.join(self._group_frame, self._by).drop(*self._by)

    def match_items(self, rows: DataFrame) -> DataFrame:
        """The rows of members of a list, each with the place of its item."""
        return rows.join(self._items, ITEM)

    def join_items(self, rows: DataFrame) -> DataFrame:
        """The rows with one column of items."""
        readable = drop_unreadable(rows, dict(zip(self.parts, self.kinds, strict=True)))
        return join_items(readable, self.parts)


def _build_group_frame(
    public: Domain, fields: dict[str, StructField], spark: SparkSession
) -> DataFrame:
    """Build a data frame of the groups, each with its number, and as it is hashed."""
    kinds = [check_item(field, "Groups") for field in fields.values()]
    parts = public.columns
    if parts != len(kinds):
        raise DomainError(
            f"The groups have {format_columns(parts)}, and by names {format_columns(len(kinds))}; "
            f"give a Domain.product with a part for each column, or a list of tuples."
        )
    names: Sequence[Any] = [*public]
    values = [names] if len(kinds) == 1 else [*map(list, zip(*names, strict=True))]
    columns: dict[str, tuple[Sequence[Any], DataType]] = {
        part: (own, kind) for part, own, kind in zip(fields, values, kinds, strict=True)
    }
    frame = build_numbered_frame(columns, GROUP, spark, GROUPS)
    return mark_groups(frame, [*fields], kinds).hint("broadcast")


def _read_rule(domain: object, together: int | None) -> Rule:
    """The domain of events, also if it is a list.

    Raises:
        DomainError: It cannot be used.
    """
    if isinstance(domain, DataFrame):
        raise DomainError(
            "Lists by group need a domain that is a list or a topgap.Domain, not a data frame."
        )
    rule = read_rule(domain, together)
    if rule is None:
        items = domain if isinstance(domain, Domain) else Domain(domain)  # type: ignore[arg-type]  # which it checks
        rule = Rule(items, items)
    return rule


def _check_threshold(parameters: TopKByGroup) -> None:
    """Refuse a threshold that the kernel's integers cannot hold, for nothing else draws in a task.

    Raises:
        ParameterError: They cannot.
    """
    units = parameters.each.threshold_units
    if units is not None and not has_room(parameters.each, units):
        raise ParameterError(
            "The threshold is too large for the kernel; use one that the counts can reach."
        )
