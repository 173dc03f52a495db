"""Noisy Top-k with Gap of precomputed counts on Spark, as users call it: `top_k`."""

from collections.abc import Sequence
from typing import Unpack, cast, overload

from pyspark.sql import DataFrame

from topgap.grouped_parameters import TopKByGroup
from topgap.ledger.charging import LedgerLike
from topgap.numbers.parse import Number, read_flag
from topgap.parameters import NoiseKind, TopK
from topgap.release import GroupedRelease, Release
from topgap.spark.counted import Counted, plan_counts
from topgap.spark.groups import check_columns
from topgap.spark.options import CountOptions, GroupedCountOptions
from topgap.spark.release_parameters import ReleaseParameters


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
    columns = check_columns(by, groups, groups_per_person)
    parameters = ReleaseParameters.of(
        k, epsilon, columns, groups_per_person, gaps=read_flag(gaps, "gaps"),
        resolution=resolution, sensitivity=sensitivity, monotonic=monotonic,
        items_per_person=items_per_person, threshold=threshold, noise=noise,
    )  # fmt: skip
    check_items = read_flag(check_items, "check_items")
    pending = parameters.prepare_charge(ledger, dataset, "topgap.spark.top_k")

    def plan(selection: TopK | TopKByGroup) -> Counted:
        return plan_counts(
            source, columns, selection, item=item, count=count, domain=domain,
            check_items=check_items,
        )  # fmt: skip

    released = parameters.release(plan, pending, look_at_rows=True)
    return cast("Release | GroupedRelease", released)
