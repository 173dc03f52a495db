"""Noisy Top-k with Gap on Spark, as users call it: `top_k` and `top_k_events`."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Unpack, overload

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import StringType, StructField, StructType

from topgap._core import Streams
from topgap.domains import Domain, DomainDescription
from topgap.errors import DomainError, SparkError
from topgap.grouped_parameters import TopKByGroup
from topgap.ledger.charging import NO_CHARGE, LedgerLike, PendingCharge, prepare_charge
from topgap.numbers.parse import Number, read_flag
from topgap.parameters import NoiseKind, TopK
from topgap.release import GroupedRelease, Release
from topgap.selection.answers import check_enough
from topgap.selection.arrow_partition import GROUP, ITEM, TIMES, VALUE
from topgap.spark.columns import (
    PERSON,
    check_count,
    check_item,
    drop_unreadable,
    join_items,
    name_items,
    select_columns,
)
from topgap.spark.contribution_bound import check_person, keep_items
from topgap.spark.domain_frame import build_domain_frame
from topgap.spark.executors import run_check
from topgap.spark.groups import GroupColumns, Groups, check_columns, count_events, read_counts
from topgap.spark.members import Occurring
from topgap.spark.options import (
    CountOptions,
    EventOptions,
    GroupedCountOptions,
    GroupedEventOptions,
)
from topgap.spark.partitions import WORK, build_partition_task
from topgap.spark.pools import raise_reported_error, release_lists, release_members, release_pools
from topgap.spark.query import run_query
from topgap.spark.rule import check_fit, read_rule, read_rule_of_counts


class Counted(NamedTuple):
    """Items and their counts, as a query that has not been run.

    Attributes:
        rows: Columns item and value; and times, if the rows of each item were counted.
        listed: The domain in words, if the rows are all items of a list.
        occurring: What occurs of a domain that is not written out, all other items of which have 0.
        groups: The groups; then the rows have a column group, too.
    """

    rows: DataFrame
    listed: DomainDescription | None = None
    occurring: Occurring | None = None
    groups: Groups | None = None

    @property
    def domain(self) -> Domain | None:
        """The domain that is not written out, by which tasks tell the items."""
        if self.groups is not None:
            return self.groups.sent
        return None if self.occurring is None else self.occurring.rule.domain

    def collect(self, parameters: TopK, streams: Streams | None) -> pa.Table:
        """Collect what all partitions hand over; without streams what a check without noise gives.

        Args:
            parameters: Of the release or, by group, of each list.
            streams: Where the noise comes from.
        """
        released = parameters if self.groups is None else self.groups.parameters
        rows, domain = self.rows, self.domain
        return run_query(lambda: _collect_pools(rows, released, streams, domain), rows.sparkSession)


@overload
def top_k(
    df: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    by: None = None,
    **options: Unpack[CountOptions],
) -> Release: ...


@overload
def top_k(
    df: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    by: str | Sequence[str],
    **options: Unpack[GroupedCountOptions],
) -> GroupedRelease: ...


def top_k(
    df: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    item: str | Sequence[str],
    count: str,
    domain: object = None,
    by: str | Sequence[str] | None = None,
    groups: object = None,
    groups_per_person: int = 1,
    resolution: "Number | None" = None,
    sensitivity: "Number" = 1,
    monotonic: bool = False,
    items_per_person: int | None = None,
    threshold: "Number | None" = None,
    noise: NoiseKind | None = None,
    gaps: bool = True,
    check_items: bool = True,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
) -> Release | GroupedRelease:
    """Name the k items with the largest counts, and the gap from each to the next.

    The output has the law of `topgap.top_k` on all rows. One query is run, at once, and with a
    domain a small one after it.

    Args:
        df: A data frame of Spark with a row for each item. Without a domain there must be more than
            k, and which items are in it must be known to everyone.
        k: How many winners are named; with a threshold the most, and with Laplace noise None for
            all that reach it.
        epsilon: The privacy loss ε of the release; see `topgap.top_k` for this and the next.
        item: The column that names the items: strings, integers, decimals, dates or truth values.
            With a domain, also several columns in a list; an item is then a tuple.
        count: The column with their counts: integers, decimals or floats, taken exactly.
        domain: The public items, if the rows are those that occur: a list or a `topgap.Domain` of
            any kind, compared with the column as in `top_k_events`. Members without a row have 0,
            and rows of other items are left out. With `by` it is needed.
        by: The column with the group of a row, or several in a list, for a list for each group; see
            `top_k_events`. A row is the count of an item in a group.
        groups: The public groups.
        groups_per_person: In how many groups one person is at most, by your word. If one person can
            move some counts up and others down, give twice as many for replace-one neighbours.
        resolution: Gaps are multiples of this; one divided by an integer. A tenth unless given, and
            1 with Laplace noise.
        sensitivity: How far one person can move any one count; a multiple of the resolution.
        monotonic: Whether one person's arrival moves all counts the same way.
        items_per_person: L, the most counts that one person can move, by your word. If it is less
            than k, every count gets Laplace noise whose scale grows with L and not with k, and the
            noisy counts of the winners are released, too; see `topgap.top_k`.
        threshold: Only items above this public number are named; see `topgap.top_k`.
        noise: "laplace" or "exponential" to have this one of the two; see `topgap.TopK`.
        gaps: Whether the gaps are released; they cost no privacy.
        check_items: Whether to look for items that have two rows, which takes a shuffle of all
            rows. Without it that no item has is for you to know. With `by` it is seen anyway.
        ledger: The budget ledger to charge, by the driver; see `topgap.top_k`. With one, a small
            job first sees that the executors can do the work, and a query without noise that all
            rows can be used, as far as `check_items` has it look. When the release itself has
            begun ε is spent, even if Spark then fails.
        dataset: The data set in it.

    Returns:
        The winners from the largest down and the lead of each over the next. With `by`, a mapping
        from each group to its `Release`.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used.
        SourceError: The data frame has no such columns, or they cannot name items.
        DomainError: The domain has no more than k items, or is not one of these columns.
        AnswersError, AnswersTypeError: There are too few counts, or some are missing or no finite
            numbers.
        ItemsError: An item is missing, or there twice.
        BudgetExceeded, LedgerError: The ledger has less left, or cannot be written.
        SparkError: The executors lack something, or the job failed. Nothing is released on an
            error.
    """
    wanted = check_columns(by, groups, groups_per_person)
    parameters, each = _read_parameters(
        wanted, groups_per_person, k, epsilon, resolution=resolution, sensitivity=sensitivity,
        monotonic=monotonic, items_per_person=items_per_person, threshold=threshold, noise=noise,
    )  # fmt: skip
    gaps, check_items = read_flag(gaps, "gaps"), read_flag(check_items, "check_items")
    pending = prepare_charge(ledger, dataset, "topgap.spark.top_k", parameters, gaps=gaps)

    def plan() -> Counted:
        if wanted is not None and isinstance(parameters, TopKByGroup):
            rows, found = read_counts(df, wanted, parameters, item=item, count=count, domain=domain)
            return Counted(rows, groups=found)
        parts = name_items(item)
        rows, fields = select_columns(df, **parts, value=count)
        kinds = [check_item(fields[part]) for part in parts]
        check_count(fields[VALUE])
        occurring = None
        if domain is not None:
            rule = read_rule_of_counts(domain)
            check_fit(rule, kinds, each)
            rows = join_items(drop_unreadable(rows, dict(zip(parts, kinds, strict=True))), parts)
            occurring = Occurring(rows.select(ITEM), rule, kinds)
        elif len(parts) > 1:
            raise DomainError(
                "Items that are told by several columns need a domain: a Domain.product with a "
                "part for each."
            )
        if check_items:
            rows = rows.groupBy(ITEM).agg(
                sql.max(VALUE).alias(VALUE), sql.count(sql.lit(1)).alias(TIMES)
            )
        return Counted(rows, occurring=occurring)

    counted = run_query(plan)
    if pending is not NO_CHARGE:
        _check_executors(counted.rows.sparkSession)
        _dry_run(counted, each)
    return _charge_and_release(counted, each, pending, gaps=gaps)


@overload
def top_k_events(
    df: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    by: None = None,
    **options: Unpack[EventOptions],
) -> Release: ...


@overload
def top_k_events(
    df: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    by: str | Sequence[str],
    **options: Unpack[GroupedEventOptions],
) -> GroupedRelease: ...


def top_k_events(
    df: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    person: str,
    item: str | Sequence[str],
    domain: object,
    by: str | Sequence[str] | None = None,
    groups: object = None,
    groups_per_person: int = 1,
    together: int | None = None,
    items_per_person: int | None = None,
    threshold: "Number | None" = None,
    noise: NoiseKind | None = None,
    resolution: "Number | None" = None,
    monotonic: bool = False,
    gaps: bool = True,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
) -> Release | GroupedRelease:
    """Name the k items that most persons have, and the gap from each to the next.

    Spark counts the distinct persons of each item, so that one person moves a count by at most 1,
    the sensitivity. Items and persons are the same if Spark says so, without a second look at
    white space or accents; and an item of the data is one of the domain's if the two are equal.

    With `by`, each group gets a list, all of which together cost ε; see `topgap.top_k_by_group`.

    Args:
        df: A data frame of Spark with a row for each event.
        k: How many winners are named; with a threshold the most, and with Laplace noise None for
            all that reach it.
        epsilon: The privacy loss ε of the release; see `topgap.top_k`.
        person: The column that says who. Events without a person are left out.
        item: The column that says what: strings, integers, decimals, dates or truth values. Events
            without an item are left out, and so are those whose item is not in the domain. Several
            columns in a list: an item is then a tuple, and no part of it may be missing.
        domain: The public items, all of which take part, with 0 if nobody has them: a list or other
            iterable of values like those of the column; a range; a data frame of Spark with one
            column of the same type; or a `topgap.Domain` of any kind and size, which is not written
            out. For several columns a `Domain.product`. With `by` no data frame.
        by: The column with the group of an event, or several in a list; of the types that items
            have. Events of no group, or of another, are left out.
        groups: The public groups: a list, or a `topgap.Domain` that can be listed, for several
            columns a `Domain.product`. Each gets a list, also if nobody is in it.
        groups_per_person: c, of how many groups the events of one person are kept and counted, the
            same as by `topgap.counting.count_events`. Each group gets ε/c. Nobody is refused for
            being in more.
        together: Count pairs (2) or triples (3) of different items of the domain: the persons who
            have all of them. A person may be in any number of pairs, and moves each count by at
            most 1. The winners are of `Domain.subsets(domain, size=together)`.
        items_per_person: The contribution bound L: of each person's different items of the domain
            at most so many are kept and counted, the same as by `topgap.counting.count_events`; see
            `topgap.TopK` for what it does to the noise. With `together` the sets are the items, and
            with `by` so many are kept in each group. Nobody is refused for having more.
        threshold: Only items above this public number are named; see `topgap.top_k`.
        noise: "laplace" or "exponential" to have this one of the two; see `topgap.TopK`.
        resolution: Gaps are multiples of this; one divided by an integer. As of `topgap.TopK`
            unless given.
        monotonic: Whether data sets differ by adding or removing a person, and not by replacing
            one; half the noise suffices then.
        gaps: Whether the gaps are released; they cost no privacy.
        ledger: The budget ledger to charge, by the driver; see `topgap.top_k`. With one, a small
            job first sees that the executors can do the work. When the query has begun ε is
            spent, even if Spark then fails.
        dataset: The data set in it.

    Returns:
        The winners from the largest down and the lead of each over the next. With `by`, a mapping
        from each group to its `Release`.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used.
        SourceError: The data frame has no such columns, or they cannot name items.
        BudgetExceeded, LedgerError: The ledger has less left, or cannot be written.
        DomainError, AnswersError: The domain has no more than k items, or is not one of these
            columns.
        SparkError: The executors lack something, or the job failed. Nothing is released on an
            error.
    """
    wanted = check_columns(by, groups, groups_per_person)
    parameters, each = _read_parameters(
        wanted, groups_per_person, k, epsilon, resolution=resolution, monotonic=monotonic,
        items_per_person=items_per_person, threshold=threshold, noise=noise,
    )  # fmt: skip
    bound = each.items_per_person
    gaps = read_flag(gaps, "gaps")
    pending = prepare_charge(ledger, dataset, "topgap.spark.top_k_events", parameters, gaps=gaps)

    def plan() -> Counted:
        if wanted is not None and isinstance(parameters, TopKByGroup):
            rows, found = count_events(
                df, wanted, parameters, person=person, item=item, domain=domain, together=together
            )
            return Counted(rows, groups=found)
        parts = name_items(item)
        rule = read_rule(domain, together)
        selected, fields = select_columns(df, **parts, person=person)
        kinds = [check_item(fields[part]) for part in parts]
        person_kind = None if bound is None else check_person(fields[PERSON])
        if rule is not None:
            check_fit(rule, kinds, each)
            readable = drop_unreadable(selected.dropna(), dict(zip(parts, kinds, strict=True)))
            events = join_items(readable, parts)
            occurring = Occurring(events, rule, kinds, bound, person_kind)
            return Counted(occurring.count_persons(), occurring=occurring)
        if len(parts) > 1:
            raise DomainError(
                "Items that are told by several columns need a Domain.product with a part for each."
            )
        items = build_domain_frame(domain, kinds[0], df.sparkSession, each.fewest_winners)
        if pending is not NO_CHARGE and items.size is None:
            check_enough(items.frame.count(), each.fewest_winners)
        events = selected.dropna()
        if bound is not None and person_kind is not None:
            members = events.join(items.frame.hint("merge"), ITEM, "left_semi")
            events = keep_items(members, kinds, person_kind, bound)
        counts = events.groupBy(ITEM).agg(sql.count_distinct(PERSON).alias(VALUE))
        # Merged, because the other way Spark may take is to collect all counts on the driver.
        rows = items.frame.join(counts.hint("merge"), ITEM, "left").fillna(0, [VALUE])
        listed = None if items.size is None else DomainDescription.of_list(items.size)
        return Counted(rows, listed)

    counted = run_query(plan)
    if pending is not NO_CHARGE:
        _check_executors(counted.rows.sparkSession)
    return _charge_and_release(counted, each, pending, gaps=gaps)


def _read_parameters(
    wanted: GroupColumns | None,
    groups_per_person: int,
    k: int | None,
    epsilon: "Number",
    **more: Any,
) -> tuple[TopK | TopKByGroup, TopK]:
    """The parameters of the release, and those of each list."""
    if wanted is None:
        single = TopK(k, epsilon, **more)
        return single, single
    grouped = TopKByGroup(k, epsilon, groups_per_person=groups_per_person, **more)
    return grouped, grouped.each


def _check_executors(spark: SparkSession) -> None:
    """Check that the executors can do the work.

    Raises:
        SparkError: They cannot.
    """
    if defect := run_query(lambda: run_check(spark, WORK)):
        raise SparkError(defect)


def _dry_run(counted: Counted, parameters: TopK) -> None:
    """Find what would be refused, by a query without noise."""
    counts = raise_reported_error(counted.collect(parameters, None))[VALUE].to_pylist()
    if counted.domain is None and parameters.threshold is None:
        check_enough(sum(map(int, counts)), parameters.k)


def _charge_and_release(
    counted: Counted, parameters: TopK, pending: PendingCharge, *, gaps: bool
) -> Release | GroupedRelease:
    """Charge the ledger, then draw the release of these rows, with these parameters of a list."""
    groups, occurring, domain = counted.groups, counted.occurring, counted.domain

    def draw() -> Release | GroupedRelease:
        # The noise is used for this one query.
        collected = counted.collect(parameters, Streams())
        if groups is not None:
            return release_lists(
                collected, groups.parameters, groups.public, groups.domain, gaps=gaps
            )
        if occurring is None or domain is None:
            return release_pools(collected, parameters, gaps=gaps, listed=counted.listed)
        return release_members(collected, parameters, domain, occurring.find, gaps=gaps)

    if groups is not None:
        pending.note_groups(groups.public.size)
    return pending.charge_then_run(draw)


def _collect_pools(
    rows: DataFrame,
    parameters: TopK | TopKByGroup,
    streams: Streams | None,
    domain: Domain | None,
) -> pa.Table:
    """Collect the pools of all partitions; without streams, what the check without noise gives."""
    kind = rows.schema[ITEM].dataType if domain is None else StringType()
    schema = StructType([StructField(ITEM, kind), StructField(VALUE, StringType())])
    # In one order, which is the same for each attempt at a partition.
    keys = [GROUP, ITEM] if isinstance(parameters, TopKByGroup) else [ITEM]
    ordered = rows if streams is None else rows.sortWithinPartitions(*keys)
    return ordered.mapInArrow(build_partition_task(parameters, streams, domain), schema).toArrow()
