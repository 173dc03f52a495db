"""What is counted, as a query that has not been run: `plan_counts`, `plan_events`."""

from collections.abc import Sequence
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import DataType

from topgap.domains import Domain, DomainDescription, FromData
from topgap.errors import DomainError
from topgap.grouped_parameters import TopKByGroup
from topgap.parameters import TopK
from topgap.selection.answers import check_enough
from topgap.selection.column_names import ITEM, TIMES, VALUE
from topgap.selection.unlisted import check_found
from topgap.spark.columns import (
    PERSON,
    PLACE,
    check_count,
    check_item,
    drop_unreadable,
    join_items,
    name_items,
    select_columns,
)
from topgap.spark.contribution_bound import check_person, keep_items
from topgap.spark.domain_frame import build_domain_frame
from topgap.spark.groups import GroupColumns, Groups, count_events, read_counts
from topgap.spark.listing import UNLISTED, Listing, find_items
from topgap.spark.members import Occurring, count_distinct_persons
from topgap.spark.rule import check_fit, read_rule, read_rule_of_counts


class Counted(NamedTuple):
    """Items and their counts, as a query that has not been run.

    Attributes:
        rows: Columns item and value; and times, if the rows of each item were counted.
        listed: What is known of the list, if the rows are all of its items.
        occurring: What occurs of a domain that is not written out, all other items of which have 0.
        groups: The groups; then the rows have a column group, too.
    """

    rows: DataFrame
    listed: Listing = UNLISTED
    occurring: Occurring | None = None
    groups: Groups | None = None

    @property
    def domain(self) -> Domain | None:
        """The domain that is not written out, by which tasks tell the items."""
        if self.groups is not None:
            return self.groups.sent
        return None if self.occurring is None else self.occurring.rule.domain

    @property
    def is_from_data(self) -> bool:
        """Whether the items were taken from the data."""
        return self.listed.from_data if self.groups is None else self.groups.from_data

    def check_found(self, rows: int, parameters: TopK) -> None:
        """Check that there are enough rows, if they are all items that there are.

        Raises:
            DomainError: The data are the domain, and have too few items.
            AnswersError: A data frame that is the domain has too few.
        """
        if self.listed.from_data:
            check_found(rows, parameters.fewest_winners)
        elif self.domain is None and self.listed.description is None:
            check_enough(rows, parameters.fewest_winners)


def plan_counts(
    source: DataFrame,
    groups: GroupColumns | None,
    parameters: TopK | TopKByGroup,
    *,
    item: str | Sequence[str],
    count: str,
    domain: object,
    check_items: bool,
) -> Counted:
    """Plan how precomputed counts are read.

    Raises:
        TopgapError: As of `topgap.spark.top_k`.
    """
    if groups is not None and isinstance(parameters, TopKByGroup):
        rows, found = read_counts(source, groups, parameters, item=item, count=count, domain=domain)
        return Counted(rows, groups=found)
    parts = name_items(item)
    rows, fields = select_columns(source, **parts, value=count)
    kinds = [check_item(fields[part]) for part in parts]
    check_count(fields[VALUE])
    occurring = None
    if domain is not None:
        rule = read_rule_of_counts(domain)
        check_fit(rule, kinds, _each(parameters))
        rows = join_items(drop_unreadable(rows, dict(zip(parts, kinds, strict=True))), parts)
        occurring = Occurring(rows.select(ITEM), rule, kinds)
    elif len(parts) > 1:
        raise DomainError(
            "Items of several columns need a domain: a Domain.product with a part for each."
        )
    if check_items:
        rows = rows.groupBy(ITEM).agg(
            sql.max(VALUE).alias(VALUE), sql.count(sql.lit(1)).alias(TIMES)
        )
    return Counted(rows, occurring=occurring)


def plan_events(
    source: DataFrame,
    groups: GroupColumns | None,
    parameters: TopK | TopKByGroup,
    *,
    person: str,
    item: str | Sequence[str],
    domain: object,
    together: int | None,
    count_domain: bool,
) -> Counted:
    """Plan how the persons of each item are counted.

    Args:
        source: The data frame.
        groups: The groups, if there are lists by group.
        parameters: Of the release.
        person: The column that says who.
        item: The column that says what, or several.
        domain: The public items.
        together: How many items go together; None for single ones.
        count_domain: Whether the items are counted, to see that they are enough, where the domain
            is a data frame or taken from the data.

    Raises:
        TopgapError: As of `topgap.spark.top_k_events`.
    """
    if groups is not None and isinstance(parameters, TopKByGroup):
        rows, found = count_events(
            source, groups, parameters, person=person, item=item, domain=domain, together=together
        )
        return Counted(rows, groups=found)
    each = _each(parameters)
    bound = each.items_per_person
    parts = name_items(item)
    rule = read_rule(domain, together, len(parts))
    selected, fields = select_columns(source, **parts, person=person)
    kinds = [check_item(fields[part]) for part in parts]
    person_kind = None if bound is None else check_person(fields[PERSON])
    if rule is not None:
        check_fit(rule, kinds, each)
        readable = drop_unreadable(selected.dropna(), dict(zip(parts, kinds, strict=True)))
        events = join_items(readable, parts)
        occurring = Occurring(events, rule, kinds, bound, person_kind)
        return Counted(occurring.count_persons(), occurring=occurring)
    if isinstance(domain, FromData):
        readable = drop_unreadable(selected.dropna(), dict(zip(parts, kinds, strict=True)))
        events = join_items(readable, parts)
        if bound is not None and person_kind is not None:
            events = keep_items(events, kinds, person_kind, bound)
        return _take_from_data(count_distinct_persons(events), kinds, each, count=count_domain)
    if len(parts) > 1:
        raise DomainError(
            "Items of several columns need a Domain.product with a part for each, or "
            "a list of tuples."
        )
    items = build_domain_frame(domain, kinds[0], source.sparkSession, each.fewest_winners)
    if count_domain and items.size is None:
        check_enough(items.frame.count(), each.fewest_winners)
    events = selected.dropna()
    if bound is not None and person_kind is not None:
        members = events.join(items.frame.hint("merge"), ITEM, "left_semi")
        events = keep_items(members, kinds, person_kind, bound)
    counts = events.groupBy(ITEM).agg(sql.count_distinct(PERSON).alias(VALUE))
    # Merged, because the other way Spark may take is to collect all counts on the driver.
    rows = items.frame.join(counts.hint("merge"), ITEM, "left").fillna(0, [VALUE])
    if items.names is not None:
        rows = rows.select(sql.col(PLACE).alias(ITEM), VALUE)
    listed = None if items.size is None else DomainDescription.of_list(items.size)
    return Counted(rows, Listing(listed, names=items.names))


def _take_from_data(
    counts: DataFrame, kinds: Sequence[DataType], parameters: TopK, *, count: bool
) -> Counted:
    """The counts of all items that occur, which are then the domain.

    Those of several columns go by their places in a list of them, because what partitions hand over
    has one column of names.

    Raises:
        DomainError: There are too few, if they are counted.
    """
    listed = Listing(from_data=True)
    if len(kinds) > 1:
        found = find_items(counts, kinds)
        counts = found.rows.select(sql.col(PLACE).alias(ITEM), VALUE)
        listed = listed._replace(names=found.names)
        check_found(len(found.names), parameters.fewest_winners)
    elif count:
        check_found(counts.count(), parameters.fewest_winners)
    return Counted(counts, listed)


def _each(parameters: TopK | TopKByGroup) -> TopK:
    return parameters.each if isinstance(parameters, TopKByGroup) else parameters
