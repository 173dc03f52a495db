"""Winners that are measured, too: `top_k_with_estimates` and `top_k_events_with_estimates`."""

from collections.abc import Callable, Sequence
from typing import Any, Unpack, overload

from pyspark.sql import DataFrame

from topgap.estimates.grouped import GroupedEstimates
from topgap.estimates.result import Estimates
from topgap.grouped_parameters import TopKByGroup
from topgap.ledger.charging import NO_CHARGE, LedgerLike, PendingCharge, resolve_neighbours
from topgap.numbers.parse import Number, read_flag
from topgap.parameters import Neighbours, TopK
from topgap.selection.measurement import GroupedShares, Shares
from topgap.selection.top_k_by_group_with_estimates import prepare_charge_for_groups
from topgap.selection.top_k_with_estimates import prepare_charge_for_estimates
from topgap.spark.counted import Counted, plan_counts, plan_events
from topgap.spark.drawing import charge_and_estimate, charge_and_estimate_groups, try_first
from topgap.spark.groups import GroupColumns, check_columns
from topgap.spark.options import (
    CountEstimatesOptions,
    EventEstimatesOptions,
    GroupedCountEstimatesOptions,
    GroupedEventEstimatesOptions,
)
from topgap.spark.query import run_query


@overload
def top_k_with_estimates(
    source: DataFrame,
    k: int,
    epsilon: "Number",
    *,
    by: None = None,
    **options: Unpack[CountEstimatesOptions],
) -> Estimates: ...


@overload
def top_k_with_estimates(
    source: DataFrame,
    k: int,
    epsilon: "Number",
    *,
    by: str | Sequence[str],
    **options: Unpack[GroupedCountEstimatesOptions],
) -> GroupedEstimates: ...


def top_k_with_estimates(
    source: DataFrame,
    k: int,
    epsilon: "Number",
    *,
    item: str | Sequence[str],
    count: str,
    selection_share: "Number" = "1/2",
    domain: object = None,
    by: str | Sequence[str] | None = None,
    groups: object = None,
    groups_per_person: int = 1,
    resolution: "Number" = "1/10",
    sensitivity: "Number" = 1,
    monotonic: bool = False,
    check_items: bool = True,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
) -> Estimates | GroupedEstimates:
    """Name the k items with the largest counts, the gaps between them, and how many.

    The output has the law of `topgap.top_k_with_estimates` on all rows, and with `by` that of
    `topgap.top_k_by_group_with_estimates`. What can still win comes to the driver with its count,
    in the one query that draws the noise; the driver measures the winners.

    Args:
        source: A data frame of Spark with a row for each item; see `topgap.spark.top_k`.
        k: How many winners are named and measured; with `by` in each group.
        epsilon: The privacy loss ε of all of it.
        item: The column that names the items, or several in a list; see `topgap.spark.top_k`.
        count: The column with their counts.
        selection_share: The part of ε that selects; between 0 and 1.
        domain: The public items, if the rows are those that occur; see `topgap.spark.top_k`. A
            winner without a row is measured, too: it has 0.
        by: The column with the group of a row, or several in a list; see `topgap.spark.top_k`.
        groups: The public groups.
        groups_per_person: In how many groups one person is at most, by your word.
        resolution: Gaps and measurements are multiples of this; one divided by an integer.
        sensitivity: How far one person can move any one count; a multiple of the resolution.
        monotonic: Whether one person's arrival moves all counts the same way.
        check_items: Whether to look for items that have two rows; see `topgap.spark.top_k`.
        ledger: The budget ledger to charge with all of ε; see `topgap.spark.top_k`.
        dataset: The data set in it.

    Returns:
        The release, the measurements, the estimates, their standard errors and intervals. With
        `by`, a mapping from each group to its `Estimates`.

    Raises:
        TopgapError: As of `topgap.spark.top_k`.
    """
    check_items = read_flag(check_items, "check_items")
    wanted = check_columns(by, groups, groups_per_person)

    def plan(parameters: TopK | TopKByGroup, _: PendingCharge) -> Counted:
        return plan_counts(
            source, wanted, parameters, item=item, count=count, domain=domain,
            check_items=check_items,
        )  # fmt: skip

    return _estimate(
        "topgap.spark.top_k_with_estimates", plan, k, epsilon, wanted, groups_per_person,
        selection_share, None, ledger, dataset, look_at_rows=True, resolution=resolution,
        sensitivity=sensitivity, monotonic=monotonic,
    )  # fmt: skip


@overload
def top_k_events_with_estimates(
    source: DataFrame,
    k: int,
    epsilon: "Number",
    *,
    by: None = None,
    **options: Unpack[EventEstimatesOptions],
) -> Estimates: ...


@overload
def top_k_events_with_estimates(
    source: DataFrame,
    k: int,
    epsilon: "Number",
    *,
    by: str | Sequence[str],
    **options: Unpack[GroupedEventEstimatesOptions],
) -> GroupedEstimates: ...


def top_k_events_with_estimates(
    source: DataFrame,
    k: int,
    epsilon: "Number",
    *,
    person: str,
    item: str | Sequence[str],
    domain: object,
    neighbours: Neighbours | None = None,
    selection_share: "Number" = "1/2",
    by: str | Sequence[str] | None = None,
    groups: object = None,
    groups_per_person: int = 1,
    together: int | None = None,
    resolution: "Number" = "1/10",
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
) -> Estimates | GroupedEstimates:
    """Name the k items that most persons have, the gaps between them, and how many have each.

    A part of ε selects the winners, as `topgap.spark.top_k_events` does. The rest measures them, as
    of `topgap.top_k_with_estimates`.

    Args:
        source: A data frame of Spark with a row for each event.
        k: How many winners are named and measured; with `by` in each group.
        epsilon: The privacy loss ε of all of it.
        person: The column that says who; see `topgap.spark.top_k_events` for this and the next.
        item: The column that says what, or several in a list.
        domain: The public items, all of which take part, with 0 if nobody has them.
        neighbours: "add-remove" or "replace"; that of the ledger's data set unless given, and
            without one "add-remove".
        selection_share: The part of ε that selects; between 0 and 1.
        by: The column with the group of an event, or several in a list.
        groups: The public groups.
        groups_per_person: c, of how many groups the events of one person are kept and counted.
        together: Count pairs (2) or triples (3) of different items of the domain.
        resolution: Gaps and measurements are multiples of this; one divided by an integer.
        ledger: The budget ledger to charge with all of ε; see `topgap.spark.top_k_events`.
        dataset: The data set in it.

    Returns:
        The release, the measurements, the estimates, their standard errors and intervals. With
        `by`, a mapping from each group to its `Estimates`.

    Raises:
        TopgapError: As of `topgap.spark.top_k_events`.
    """
    wanted = check_columns(by, groups, groups_per_person)
    relation = resolve_neighbours(neighbours, ledger, dataset)

    def plan(parameters: TopK | TopKByGroup, pending: PendingCharge) -> Counted:
        return plan_events(
            source, wanted, parameters, person=person, item=item, domain=domain, together=together,
            count_domain=pending is not NO_CHARGE,
        )  # fmt: skip

    return _estimate(
        "topgap.spark.top_k_events_with_estimates", plan, k, epsilon, wanted, groups_per_person,
        selection_share, relation, ledger, dataset, look_at_rows=False, resolution=resolution,
        monotonic=relation == "add-remove",
    )  # fmt: skip


def _estimate(
    mechanism: str,
    plan: Callable[[TopK | TopKByGroup, PendingCharge], Counted],
    k: int,
    epsilon: "Number",
    wanted: GroupColumns | None,
    groups_per_person: int,
    selection_share: "Number",
    stated: Neighbours | None,
    ledger: "LedgerLike | None",
    dataset: str | None,
    *,
    look_at_rows: bool,
    **more: Any,
) -> Estimates | GroupedEstimates:
    """Share out ε, plan, try, charge, and draw."""
    if wanted is None:
        whole = TopK(k, epsilon, **more)
        shares = Shares.of(whole, selection_share)
        pending = prepare_charge_for_estimates(ledger, dataset, mechanism, whole, shares, stated)
        counted = run_query(lambda: plan(shares.selection, pending))
        try_first(counted, shares.selection, pending, look_at_rows=look_at_rows)
        return charge_and_estimate(counted, shares, pending)
    of_groups = TopKByGroup(k, epsilon, groups_per_person=groups_per_person, **more)
    by_group = GroupedShares.of(of_groups, selection_share)
    pending = prepare_charge_for_groups(ledger, dataset, mechanism, of_groups, by_group, stated)
    counted = run_query(lambda: plan(by_group.selection, pending))
    try_first(counted, by_group.selection.each, pending, look_at_rows=look_at_rows)
    assert counted.groups is not None  # noqa: S101 - they were asked for
    return charge_and_estimate_groups(counted, counted.groups, by_group, pending)
