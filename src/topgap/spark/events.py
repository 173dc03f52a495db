"""From a data frame of events to the top-k items: `top_k_events`, alone and with estimates."""

from collections.abc import Sequence
from typing import Any, Literal, Unpack, cast, overload

from pyspark.sql import DataFrame

from topgap.estimates.grouped import GroupedEstimates
from topgap.estimates.result import Estimates
from topgap.ledger.charging import LedgerLike
from topgap.numbers.parse import Number, read_flag
from topgap.parameters import Neighbours, NoiseKind
from topgap.release import GroupedRelease, Release
from topgap.sealing import seal_frames
from topgap.selection.check import Check
from topgap.selection.measurement import read_selection_share
from topgap.spark.event_request import EventRequest
from topgap.spark.options import (
    EventEstimatesOptions,
    EventOptions,
    GroupedEventEstimatesOptions,
    GroupedEventOptions,
)


@overload
def top_k_events(
    source: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    by: None = None,
    check: Literal[False] = False,
    **options: Unpack[EventOptions],
) -> Release: ...


@overload
def top_k_events(
    source: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    by: str | Sequence[str],
    check: Literal[False] = False,
    **options: Unpack[GroupedEventOptions],
) -> GroupedRelease: ...


@overload
def top_k_events(
    source: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    by: str | Sequence[str] | None = None,
    groups: object = None,
    groups_per_person: int = 1,
    check: Literal[True],
    **options: Unpack[EventOptions],
) -> Check: ...


@seal_frames
def top_k_events(
    source: DataFrame,
    k: int | None,
    epsilon: "Number",
    *,
    person: str,
    item: str | Sequence[str],
    domain: Any,
    neighbours: Neighbours | None = None,
    by: str | Sequence[str] | None = None,
    groups: Any = None,
    groups_per_person: int = 1,
    together: int | None = None,
    items_per_person: int | None = None,
    threshold: "Number | None" = None,
    noise: NoiseKind | None = None,
    resolution: "Number | None" = None,
    gaps: bool = True,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
    check: bool = False,
) -> Release | GroupedRelease | Check:
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
            iterable of values like those of the column; the path of a file with an item a line; a
            range; a data frame of Spark with one column of the same type; or a `topgap.Domain` of
            any kind and size, which is not written out. For several columns a `Domain.product` or
            a list of tuples. With `by` no data frame. With `topgap.counting.FROM_DATA` the items
            are those of the data, and the release says that its list of items is not protected.
        neighbours: Which data sets ε is a promise between: "add-remove", of which one has a person
            more, or "replace", between which a person's data were replaced, and which need twice
            the noise. That of the ledger's data set unless given, and without one "add-remove".
        by: The column with the group of an event, or several in a list; of the types that items
            have. Events of no group, or of another, are left out.
        groups: The public groups: a list, the path of a file with one a line, or a `topgap.Domain`
            that can be listed, for several columns a `Domain.product` or a list of tuples. Each
            gets a list, also if nobody is in it.
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
        check: Read and count everything and try the executors, and stop: nothing is drawn or
            charged.

    Returns:
        The winners from the largest down and the lead of each over the next. With `by`, a mapping
        from each group to its `Release`. With `check`, a `Check` of what would be released; what it
        says of the data is secret.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used.
        SourceError: The data frame has no such columns, or they cannot name items.
        BudgetExceeded, LedgerError: The ledger has less left, or cannot be written.
        DomainError, AnswersError: The domain has no more than k items, or is not one of these
            columns.
        SparkError: The executors lack something, or the job failed. Nothing is released on an
            error.
    """
    request = EventRequest(source, person, item, domain, by, groups, groups_per_person, together)
    more: dict[str, Any] = {
        "resolution": resolution, "items_per_person": items_per_person, "threshold": threshold,
        "noise": noise,
    }  # fmt: skip
    released = request.release(
        "topgap.spark.top_k_events", k, epsilon, neighbours, None, ledger, dataset, check=check,
        gaps=read_flag(gaps, "gaps"), **more,
    )  # fmt: skip
    return cast("Release | GroupedRelease | Check", released)


@overload
def top_k_events_with_estimates(
    source: DataFrame,
    k: int,
    epsilon: "Number",
    *,
    by: None = None,
    check: Literal[False] = False,
    **options: Unpack[EventEstimatesOptions],
) -> Estimates: ...


@overload
def top_k_events_with_estimates(
    source: DataFrame,
    k: int,
    epsilon: "Number",
    *,
    by: str | Sequence[str],
    check: Literal[False] = False,
    **options: Unpack[GroupedEventEstimatesOptions],
) -> GroupedEstimates: ...


@overload
def top_k_events_with_estimates(
    source: DataFrame,
    k: int,
    epsilon: "Number",
    *,
    by: str | Sequence[str] | None = None,
    groups: object = None,
    groups_per_person: int = 1,
    check: Literal[True],
    **options: Unpack[EventEstimatesOptions],
) -> Check: ...


@seal_frames
def top_k_events_with_estimates(
    source: DataFrame,
    k: int,
    epsilon: "Number",
    *,
    selection_share: "Number" = "1/2",
    person: str,
    item: str | Sequence[str],
    domain: Any,
    neighbours: Neighbours | None = None,
    by: str | Sequence[str] | None = None,
    groups: Any = None,
    groups_per_person: int = 1,
    together: int | None = None,
    items_per_person: int | None = None,
    resolution: "Number | None" = None,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
    check: bool = False,
) -> Estimates | GroupedEstimates | Check:
    """Name the k items that most persons have, the gaps between them, and how many have each.

    A part of ε selects the winners, as `topgap.spark.top_k_events` does. The rest measures them, as
    of `topgap.top_k_with_estimates`.

    Args:
        source: A data frame of Spark with a row for each event.
        k: How many winners are named and measured; with `by` in each group.
        epsilon: The privacy loss ε of all of it.
        selection_share: The part of ε that selects; between 0 and 1.
        person: The column that says who; see `topgap.spark.top_k_events` for this and the next.
        item: The column that says what, or several in a list.
        domain: The public items, all of which take part, with 0 if nobody has them; or
            `topgap.counting.FROM_DATA`.
        neighbours: "add-remove" or "replace"; that of the ledger's data set unless given, and
            without one "add-remove".
        by: The column with the group of an event, or several in a list.
        groups: The public groups, or the path of a file with one a line.
        groups_per_person: c, of how many groups the events of one person are kept and counted.
        together: Count pairs (2) or triples (3) of different items of the domain.
        items_per_person: The contribution bound L: at most so many items of each person count. It
            does not reduce the noise of estimates; `top_k_events` with L less than k releases
            noisy counts instead.
        resolution: Gaps and measurements are multiples of this; one divided by an integer.
        ledger: The budget ledger to charge with all of ε; see `topgap.spark.top_k_events`.
        dataset: The data set in it.
        check: Read and count everything and try the executors, and stop: nothing is drawn or
            charged.

    Returns:
        The release, the measurements, the estimates, their standard errors and intervals. With
        `by`, a mapping from each group to its `Estimates`. With `check`, a `Check`.

    Raises:
        TopgapError: As of `topgap.spark.top_k_events`.
    """
    request = EventRequest(source, person, item, domain, by, groups, groups_per_person, together)
    noise = None if items_per_person is None else "exponential"
    more: dict[str, Any] = {
        "resolution": resolution,
        "items_per_person": items_per_person,
        "noise": noise,
    }
    made = request.release(
        "topgap.spark.top_k_events_with_estimates", k, epsilon, neighbours,
        read_selection_share(selection_share), ledger, dataset, check=check, **more,
    )  # fmt: skip
    return cast("Estimates | GroupedEstimates | Check", made)
