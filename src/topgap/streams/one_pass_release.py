"""From rows of items and counts to a release, in one pass: `top_k`, `top_k_with_estimates`."""

from fractions import Fraction
from typing import Any

from topgap.estimates import Estimates
from topgap.ledger.charging import NO_CHARGE, LedgerLike, PendingCharge, prepare_charge
from topgap.numbers.parse import Number, read_flag
from topgap.parameters import NoiseKind, TopK
from topgap.release import Release
from topgap.sealing import seal_errors
from topgap.selection.candidate_pool import CandidatePool
from topgap.selection.measurement import Shares
from topgap.selection.top_k_with_estimates import (
    estimate_from,
    prepare_charge_for_estimates,
)
from topgap.selection.unlisted import check_domain
from topgap.sources.progress import Progress
from topgap.streams.rows import Rows


def top_k(
    source: Any,
    k: int | None,
    epsilon: "Number",
    *,
    item: str,
    count: str,
    domain: object = None,
    resolution: "Number | None" = None,
    sensitivity: "Number" = 1,
    monotonic: bool = False,
    items_per_person: int | None = None,
    threshold: "Number | None" = None,
    noise: NoiseKind | None = None,
    gaps: bool = True,
    progress: Progress | None = None,
    threads: int | None = None,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
) -> Release:
    """Name the k largest of all rows under ε-differential privacy, and the gaps between them.

    It has the law of `topgap.top_k` on all rows at once, and looks at 32,768 of them at a time. The
    winners are drawn after the last row was read; an error or an interruption before that releases
    nothing.

    **Without a domain the rows' items are the public list**: all rows take part, and that this list
    may be known is your word. If it was read from the people's data, an item that only one person
    has shows that somebody has it, whatever ε is. Then give the domain: its members take part, with
    0 where no row names them, and other rows are left out.

    Items are what is stored: `"flu"` and `" flu"` are two, unlike in `topgap.counting`. Each must
    be in one row alone. One that is there twice is found among rows that are looked at together,
    among all as long as no more than 262,144 were read, and among those that can still win; beyond
    that you must make sure.

    With names of up to 500 characters the process stays below 300 MiB, whatever the number of rows
    and the size of row groups; names of 2,000 took twice that. But a batch of an Arrow file or
    stream, and the dictionary of a column that has one, are held whole, a dataset is read by whole
    row groups, and with a domain the names of all its members that have a row are remembered.

    Args:
        source: The path of a Parquet file, or of an Arrow file or stream, by whatever name; a
            directory of them, whose other files must begin with `_` or `.`; a pattern such as
            `counts-*.parquet`, or a list; an open binary file, such as standard input; an Arrow
            table, record batch, reader or dataset; a pandas or polars data frame, a DuckDB
            relation, or whatever has `__arrow_c_stream__`.
        k: As for `topgap.top_k`, and so are those not named here.
        epsilon: As there.
        item: The column that says what is counted: text, whole numbers, decimals or dates. No other
            column is read from a file, but for `count`.
        count: Column with the counts: integers, floats or decimals, of any size.
        domain: The domain, a `topgap.Domain` or a list; the rows' items are it unless given. Names
            are compared as in a dict.
        resolution: As there.
        sensitivity: As there.
        monotonic: As there.
        items_per_person: As there: L, the most counts that one person can move, by your word. If it
            is less than k, every count gets Laplace noise whose scale grows with L and not with k,
            and the noisy counts of the winners are released, too.
        threshold: As there: only items above this public number are named, at most k of them, and
            with Laplace noise and k=None all of them.
        noise: As there.
        gaps: As there.
        progress: A function that is told what is done and which share of it, at most ten times a
            second and at the end; the share is None where the source does not tell how long it is.
        threads: As there.
        ledger: The budget ledger to charge; see `topgap.top_k`. With one, the rows are first looked
            at, all of them, so that nothing is charged for those that cannot be used, unless an
            item is there twice that is found only among those that can still win. A pipe or another
            stream that is read once is charged when it has been opened, and if a row of it turns
            out to be of no use, its noise has been drawn and ε is spent.
        dataset: The data set in it.

    Returns:
        The winners from the largest down and the lead of each over the next.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used; nothing was read.
        SourceError: The source cannot be read, or has no such columns; no error text has a value
            of it.
        AnswersError: A count is missing or not finite, or there are not more rows than winners.
        ItemsError: An item is missing, or was found twice.
        DomainError: The domain cannot be used, or has too few members.
        BudgetExceeded, LedgerError: The ledger has less left, or cannot be written; nothing was
            read.
        MissingExtraError: pyarrow is not installed.

    >>> import pyarrow as pa
    >>> table = pa.table({"page": ["start", "help", "legal"], "people": [10**9, 10**6, 12]})
    >>> top_k(table, k=2, epsilon=1, item="page", count="people").items
    ('start', 'help')
    >>> columns = {"item": "page", "count": "people"}
    >>> top_k(table, None, epsilon=1, **columns, items_per_person=1, threshold=1000).items
    ('start', 'help')
    """
    parameters = TopK(
        k,
        epsilon,
        resolution=resolution,
        sensitivity=sensitivity,
        monotonic=monotonic,
        items_per_person=items_per_person,
        threshold=threshold,
        noise=noise,
    )
    gaps = read_flag(gaps, "gaps")
    pending = prepare_charge(ledger, dataset, "topgap.streams.top_k", parameters, gaps=gaps)
    rows = Rows(source, item, count, progress, threads, domain=domain)
    return release_rows(parameters, rows, pending, gaps=gaps)


def top_k_with_estimates(
    source: Any,
    k: int,
    epsilon: "Number",
    *,
    item: str,
    count: str,
    domain: object = None,
    selection_share: "Number" = "1/2",
    resolution: "Number" = "1/10",
    sensitivity: "Number" = 1,
    monotonic: bool = False,
    progress: Progress | None = None,
    threads: int | None = None,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
) -> Estimates:
    """Name the k largest of all rows under ε-differential privacy, the gaps, and how many.

    It has the law of `topgap.top_k_with_estimates` on all rows at once, reads them as `top_k` here
    does, and takes as much memory. The winners are drawn and measured after the last row was read;
    an error or an interruption before that releases nothing. The rows' items are the public list.

    Args:
        source: As for `topgap.streams.top_k`, and so are those not named here.
        k: How many winners are named and measured.
        epsilon: The privacy loss ε of all of it.
        item: As there.
        count: As there.
        domain: As there.
        selection_share: The part of ε that selects; between 0 and 1.
        resolution: Gaps and measurements are multiples of this; one divided by an integer.
        sensitivity: As there.
        monotonic: As there.
        progress: As there.
        threads: As there.
        ledger: As there; it is charged with all of ε.
        dataset: As there.

    Returns:
        The release, the measurements, the estimates, their standard errors and intervals.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used; nothing was read.
        SourceError, AnswersError, ItemsError, BudgetExceeded, LedgerError, MissingExtraError: As
            of `topgap.streams.top_k`.

    >>> import pyarrow as pa
    >>> table = pa.table({"page": ["start", "help", "legal"], "people": [10**9, 10**6, 12]})
    >>> made = top_k_with_estimates(table, k=2, epsilon=1, item="page", count="people")
    >>> [(page, round(count, -3)) for page, count in made]
    [('start', 1000000000.0), ('help', 1000000.0)]
    """
    parameters = TopK(
        k, epsilon, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic
    )
    shares = Shares.of(parameters, selection_share)
    mechanism = "topgap.streams.top_k_with_estimates"
    pending = prepare_charge_for_estimates(ledger, dataset, mechanism, parameters, shares)
    rows = Rows(source, item, count, progress, threads, domain=domain)
    return release_rows_with_estimates(shares, rows, pending)


@seal_errors
def release_rows(parameters: TopK, rows: Rows, pending: PendingCharge, *, gaps: bool) -> Release:
    """Charge the ledger, then draw the release of all rows."""

    def draw() -> Release:
        pool = CandidatePool(parameters, domain=rows.domain)
        rows.feed(pool)
        return pool.rank().release(gaps=gaps)

    if rows.domain is not None:
        check_domain(rows.domain, parameters)
    with rows.opened():
        if pending is not NO_CHARGE and rows.can_be_reread:
            rows.dry_run(parameters.fewest_winners)
        return pending.charge_then_run(draw)


@seal_errors
def release_rows_with_estimates(shares: Shares, rows: Rows, pending: PendingCharge) -> Estimates:
    """Charge the ledger, then draw the release and the measurements of all rows."""

    def select_and_measure() -> tuple[Release, tuple[Fraction, ...]]:
        pool = CandidatePool(shares.selection, keep_answers=True, domain=rows.domain)
        rows.feed(pool)
        release = pool.rank().release()
        return release, shares.measure(pool.take_answers([*release.items]))

    if rows.domain is not None:
        check_domain(rows.domain, shares.selection)
    with rows.opened():
        if pending is not NO_CHARGE and rows.can_be_reread:
            rows.dry_run(shares.selection.k)
        return estimate_from(shares, select_and_measure, pending)
