"""Noisy Top-k with Gap on Spark, as users call it: `top_k` and `top_k_events`."""

from collections.abc import Sequence
from typing import Any, Unpack, overload

from pyspark.sql import DataFrame

from topgap.grouped_parameters import TopKByGroup
from topgap.ledger.charging import NO_CHARGE, LedgerLike, prepare_charge, resolve_neighbours
from topgap.numbers.parse import Number, read_flag
from topgap.parameters import Neighbours, NoiseKind, TopK
from topgap.release import GroupedRelease, Release
from topgap.spark.counted import plan_counts, plan_events
from topgap.spark.drawing import charge_and_release, try_first
from topgap.spark.groups import GroupColumns, check_columns
from topgap.spark.options import (
    CountOptions,
    EventOptions,
    GroupedCountOptions,
    GroupedEventOptions,
)
from topgap.spark.query import run_query


@overload
def top_k(
    source: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    by: None = None,
    **options: Unpack[CountOptions],
) -> Release: ...


@overload
def top_k(
    source: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    by: str | Sequence[str],
    **options: Unpack[GroupedCountOptions],
) -> GroupedRelease: ...


def top_k(
    source: DataFrame,
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
        source: A data frame of Spark with a row for each item. Without a domain there must be more
            than k, and which items are in it must be known to everyone.
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

    counted = run_query(
        lambda: plan_counts(
            source, wanted, parameters, item=item, count=count, domain=domain,
            check_items=check_items,
        )
    )  # fmt: skip
    try_first(counted, each, pending, look_at_rows=True)
    return charge_and_release(counted, each, pending, gaps=gaps)


@overload
def top_k_events(
    source: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    by: None = None,
    **options: Unpack[EventOptions],
) -> Release: ...


@overload
def top_k_events(
    source: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    by: str | Sequence[str],
    **options: Unpack[GroupedEventOptions],
) -> GroupedRelease: ...


def top_k_events(
    source: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    person: str,
    item: str | Sequence[str],
    domain: object,
    neighbours: Neighbours | None = None,
    by: str | Sequence[str] | None = None,
    groups: object = None,
    groups_per_person: int = 1,
    together: int | None = None,
    items_per_person: int | None = None,
    threshold: "Number | None" = None,
    noise: NoiseKind | None = None,
    resolution: "Number | None" = None,
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
        source: A data frame of Spark with a row for each event.
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
        neighbours: Which data sets ε is a promise between: "add-remove", of which one has a person
            more, or "replace", between which a person's data were replaced, and which need twice
            the noise. That of the ledger's data set unless given, and without one "add-remove".
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
    relation = resolve_neighbours(neighbours, ledger, dataset)
    parameters, each = _read_parameters(
        wanted, groups_per_person, k, epsilon, resolution=resolution,
        monotonic=relation == "add-remove", items_per_person=items_per_person,
        threshold=threshold, noise=noise,
    )  # fmt: skip
    gaps = read_flag(gaps, "gaps")
    pending = prepare_charge(
        ledger, dataset, "topgap.spark.top_k_events", parameters, relation, gaps=gaps
    )

    counted = run_query(
        lambda: plan_events(
            source, wanted, parameters, person=person, item=item, domain=domain, together=together,
            count_domain=pending is not NO_CHARGE,
        )
    )  # fmt: skip
    try_first(counted, each, pending)
    return charge_and_release(counted, each, pending, gaps=gaps)


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
