"""From a table of events to the top-k items in one call: `top_k_events` and with estimates."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack, cast, overload

from topgap.counting import MEMORY, Format
from topgap.estimates import Estimates, GroupedEstimates
from topgap.events.count_and_release import count_and_check, count_and_release
from topgap.events.event_table import Result
from topgap.events.grouped_mechanism import GroupedMechanism
from topgap.events.mechanism import Mechanism
from topgap.events.options import EstimatesOptions, ListOptions
from topgap.events.request import EventRequest
from topgap.grouped_parameters import TopKByGroup
from topgap.ledger.charging import LedgerLike, resolve_neighbours
from topgap.numbers.parse import Number, read_flag
from topgap.parameters import Neighbours, NoiseKind, TopK
from topgap.release import GroupedRelease, Release
from topgap.sealing import seal_frames
from topgap.selection.check import Check
from topgap.selection.measurement import read_selection_share
from topgap.sources.progress import Progress


@overload
def top_k_events(
    source: Any,
    k: int | None,
    epsilon: "Number",
    *,
    by: None = None,
    check: Literal[False] = False,
    **options: Unpack[ListOptions],
) -> Release: ...


@overload
def top_k_events(
    source: Any,
    k: int | None,
    epsilon: "Number",
    *,
    by: str | Sequence[str] | None = None,
    groups: Any,
    groups_per_person: int = 1,
    check: Literal[False] = False,
    **options: Unpack[ListOptions],
) -> GroupedRelease: ...


@overload
def top_k_events(
    source: Any,
    k: int | None,
    epsilon: "Number",
    *,
    by: str | Sequence[str] | None = None,
    groups: Any = None,
    groups_per_person: int = 1,
    check: Literal[True],
    **options: Unpack[ListOptions],
) -> Check: ...


@seal_frames
def top_k_events(
    source: Any,
    k: int | None,
    epsilon: "Number",
    *,
    person: str | None = None,
    item: str | Sequence[str] | None = None,
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
    format: Format | None = None,  # noqa: A002 - what everyone calls it
    table: str | None = None,
    query: str | None = None,
    rows_are_per_person: bool = False,
    count_in_database: bool = False,
    header: bool = True,
    delimiter: str | None = None,
    encoding: str | None = None,
    fold_case: bool = False,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Release | GroupedRelease | Check:
    """Release the k items that most persons have, and the gaps between them, from a table.

    It counts the distinct persons of each item as `topgap.counting.count_events` does, and releases
    as `topgap.top_k` or, with `by`, `topgap.top_k_by_group`. The command `topgap release` does the
    same: with the same options on the same data, its output has the same distribution.

    Args:
        source: Whatever `topgap.counting.count_events` takes: files, databases, data frames, Arrow.
            An open file or a stream is used up by one call, with `check`, too.
        k: The number of items to name, or the most if there is a threshold. It may be None with
            a threshold and Laplace noise: then all items that reach the threshold are named.
        epsilon: The privacy loss ε of the release; with `by`, of all lists together.
        person: The column that identifies the person. Leave it and `item` out for files of the FIMI
            format, in which each line is a person: `.dat` files, or with `format="fimi"`.
        item: The column of the items, or several in a list.
        domain: The public items; see `topgap.counting.count_events`. With `FROM_DATA` the release
            says that its list of items is not protected.
        neighbours: "add-remove" if data sets are neighbours when one person is added or removed;
            "replace" if one person is replaced by another, which takes twice the noise. Default:
            that of the ledger's data set, else "add-remove".
        by: The column of the groups, or several in a list, for a list for each public group.
        groups: The public groups; see `topgap.counting.count_events`.
        groups_per_person: The number of groups in which a person counts; each list gets ε divided
            by it.
        together: Count pairs (2) or triples (3) of items; see `topgap.counting.count_events`.
        items_per_person: The contribution bound L: at most so many items of each person count. If L
            is less than k, the noise grows with L and not with k; see `topgap.TopK`.
        threshold: A public number; only items above it are named. See `topgap.top_k`.
        noise: "laplace" or "exponential", to choose one of the two; see `topgap.TopK`.
        resolution: Gaps are multiples of this; see `topgap.top_k`.
        gaps: Whether the gaps are released; they cost no privacy.
        ledger: The budget ledger to charge; see `topgap.top_k`. A table is read before the charge,
            so that a source that cannot be read costs nothing. A query is checked, then charged,
            then run; if it fails as it runs, the charge stays.
        dataset: The data set in the ledger that the source is.
        check: Read and check everything, and stop: nothing is drawn or charged.
        format: This and all that follow say how the source is read; see
            `topgap.counting.count_events`.
        table: As there.
        query: As there.
        rows_are_per_person: As there.
        count_in_database: As there.
        header: As there.
        delimiter: As there.
        encoding: As there.
        fold_case: As there.
        memory: As there.
        progress: As there.

    Returns:
        The release; with `by`, a mapping from each group to its release. With `check`, a `Check` of
        what would be released; what it says of the data is secret.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used.
        SourceError: The source cannot be read; no error text has a value of it.
        DomainError: The domain or the groups cannot be used.
        BudgetExceeded, LedgerError: The ledger has less left, or cannot be written.
        MissingExtraError: A library is not installed that the source needs.
        KernelError: The system gave no randomness.

    Nothing is released on an error.

    >>> import pandas as pd
    >>> visits = pd.DataFrame({"who": range(10**5), "what": ["flu"] * 90_000 + ["gout"] * 10_000})
    >>> asked = {"person": "who", "item": "what", "domain": ["flu", "gout", "mumps"]}
    >>> top_k_events(visits, k=2, epsilon=1, **asked).items
    ('flu', 'gout')
    >>> print(top_k_events(visits, k=2, epsilon=1, **asked).parameters)
    TopK(k=2, epsilon='1', resolution='1/10', sensitivity='1', monotonic=True)
    """
    request = EventRequest(
        source=source, person=person, item=item, domain=domain, by=by, groups=groups,
        groups_per_person=groups_per_person, together=together, items_per_person=items_per_person,
        reading={
            "format": format, "table": table, "query": query,
            "rows_are_per_person": rows_are_per_person, "count_in_database": count_in_database,
            "header": header, "delimiter": delimiter, "encoding": encoding,
            "fold_case": fold_case, "memory": memory, "progress": progress,
        },
    )  # fmt: skip
    more = {"threshold": threshold, "noise": noise, "resolution": resolution}
    released = _release(
        "topgap.top_k_events", request, k, epsilon, more, neighbours, None,
        gaps=read_flag(gaps, "gaps"), ledger=ledger, dataset=dataset, check=check,
    )  # fmt: skip
    return cast("Release | GroupedRelease | Check", released)


@overload
def top_k_events_with_estimates(
    source: Any,
    k: int,
    epsilon: "Number",
    *,
    by: None = None,
    check: Literal[False] = False,
    **options: Unpack[EstimatesOptions],
) -> Estimates: ...


@overload
def top_k_events_with_estimates(
    source: Any,
    k: int,
    epsilon: "Number",
    *,
    by: str | Sequence[str] | None = None,
    groups: Any,
    groups_per_person: int = 1,
    check: Literal[False] = False,
    **options: Unpack[EstimatesOptions],
) -> GroupedEstimates: ...


@overload
def top_k_events_with_estimates(
    source: Any,
    k: int,
    epsilon: "Number",
    *,
    by: str | Sequence[str] | None = None,
    groups: Any = None,
    groups_per_person: int = 1,
    check: Literal[True],
    **options: Unpack[EstimatesOptions],
) -> Check: ...


@seal_frames
def top_k_events_with_estimates(
    source: Any,
    k: int,
    epsilon: "Number",
    *,
    selection_share: "Number" = "1/2",
    person: str | None = None,
    item: str | Sequence[str] | None = None,
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
    format: Format | None = None,  # noqa: A002 - what everyone calls it
    table: str | None = None,
    query: str | None = None,
    rows_are_per_person: bool = False,
    count_in_database: bool = False,
    header: bool = True,
    delimiter: str | None = None,
    encoding: str | None = None,
    fold_case: bool = False,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Estimates | GroupedEstimates | Check:
    """Release the k items that most persons have, and estimates of how many persons have each.

    It counts as `top_k_events` does, and releases as `topgap.top_k_with_estimates` or, with `by`,
    `topgap.top_k_by_group_with_estimates`. All of it costs ε.

    Args:
        source: As for `top_k_events`, and so are those not named here.
        k: As there.
        epsilon: As there.
        selection_share: The part of ε that selects; between 0 and 1. The rest measures.
        person: As there.
        item: As there.
        domain: As there.
        neighbours: As there.
        by: As there.
        groups: As there.
        groups_per_person: As there.
        together: As there.
        items_per_person: The contribution bound L, which does not reduce the noise of estimates;
            `top_k_events` with L less than k releases noisy counts instead.
        resolution: As there.
        ledger: As there.
        dataset: As there.
        check: As there.
        format: As there.
        table: As there.
        query: As there.
        rows_are_per_person: As there.
        count_in_database: As there.
        header: As there.
        delimiter: As there.
        encoding: As there.
        fold_case: As there.
        memory: As there.
        progress: As there.

    Returns:
        The estimates; with `by`, a mapping from each group to its estimates. With `check`, a
        `Check`.

    Raises:
        ParameterError, ParameterTypeError, SourceError, DomainError: As of `top_k_events`.
        BudgetExceeded, LedgerError, MissingExtraError, KernelError: As of `top_k_events`.

    >>> import pandas as pd
    >>> visits = pd.DataFrame({"who": range(10**5), "what": ["flu"] * 90_000 + ["gout"] * 10_000})
    >>> asked = {"person": "who", "item": "what", "domain": ["flu", "gout", "mumps"]}
    >>> made = top_k_events_with_estimates(visits, k=2, epsilon=1, **asked)
    >>> [(item, round(persons, -3)) for item, persons in made]
    [('flu', 90000.0), ('gout', 10000.0)]
    """
    request = EventRequest(
        source=source, person=person, item=item, domain=domain, by=by, groups=groups,
        groups_per_person=groups_per_person, together=together, items_per_person=items_per_person,
        reading={
            "format": format, "table": table, "query": query,
            "rows_are_per_person": rows_are_per_person, "count_in_database": count_in_database,
            "header": header, "delimiter": delimiter, "encoding": encoding,
            "fold_case": fold_case, "memory": memory, "progress": progress,
        },
    )  # fmt: skip
    share = read_selection_share(selection_share)
    more = {"noise": None if items_per_person is None else "exponential", "resolution": resolution}
    released = _release(
        "topgap.top_k_events_with_estimates", request, k, epsilon, more, neighbours, share,
        gaps=True, ledger=ledger, dataset=dataset, check=check,
    )  # fmt: skip
    return cast("Estimates | GroupedEstimates | Check", released)


def _release(
    name: str,
    request: EventRequest,
    k: int | None,
    epsilon: "Number",
    more: Mapping[str, Any],
    neighbours: Neighbours | None,
    selection_share: "Number | None",
    *,
    gaps: bool,
    ledger: "LedgerLike | None",
    dataset: str | None,
    check: bool,
) -> Result | Check:
    check = read_flag(check, "check")
    relation = resolve_neighbours(neighbours, ledger, dataset)
    options = {
        **more, "monotonic": relation == "add-remove", "items_per_person": request.items_per_person,
    }  # fmt: skip
    mechanism: Mechanism | GroupedMechanism
    if request.groups is None and request.by is None:
        mechanism = Mechanism(TopK(k, epsilon, **options), selection_share, gaps=gaps)
    else:
        most = request.groups_per_person
        whole = TopKByGroup(k, epsilon, groups_per_person=most, **options)
        mechanism = GroupedMechanism(whole, selection_share, gaps=gaps)
    table = request.read_table()
    noted = {**request.describe(), "neighbours": relation}
    pending = mechanism.prepare_charge(ledger, dataset, name, **noted)
    mechanism.check_domain(table.domain)
    if check:
        return count_and_check(table, mechanism, pending)
    return count_and_release(table, mechanism, pending)
