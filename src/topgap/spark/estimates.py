"""Winners that are measured, too, from precomputed counts: `top_k_with_estimates`."""

from collections.abc import Sequence
from typing import Unpack, cast, overload

from pyspark.sql import DataFrame

from topgap.estimates.grouped import GroupedEstimates
from topgap.estimates.result import Estimates
from topgap.grouped_parameters import TopKByGroup
from topgap.ledger.charging import LedgerLike
from topgap.numbers.parse import Number, read_flag
from topgap.parameters import TopK
from topgap.spark.counted import Counted, plan_counts
from topgap.spark.groups import check_columns
from topgap.spark.options import CountEstimatesOptions, GroupedCountEstimatesOptions
from topgap.spark.release_parameters import ReleaseParameters


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
    columns = check_columns(by, groups, groups_per_person)
    parameters = ReleaseParameters.of(
        k, epsilon, columns, groups_per_person, selection_share, resolution=resolution,
        sensitivity=sensitivity, monotonic=monotonic,
    )  # fmt: skip
    name = "topgap.spark.top_k_with_estimates"
    pending = parameters.prepare_charge(ledger, dataset, name)

    def plan(selection: TopK | TopKByGroup) -> Counted:
        return plan_counts(
            source, columns, selection, item=item, count=count, domain=domain,
            check_items=check_items,
        )  # fmt: skip

    made = parameters.release(plan, pending, look_at_rows=True)
    return cast("Estimates | GroupedEstimates", made)
