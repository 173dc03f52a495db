"""From rows of items and counts to a release, in one pass: `top_k`, `top_k_with_estimates`."""

import time
from contextlib import ExitStack, closing
from fractions import Fraction
from typing import Any

from topgap.counting import Progress
from topgap.errors import MissingExtraError, ParameterTypeError
from topgap.estimates import Estimates
from topgap.estimates.calls import estimated_by
from topgap.exact import Number, read_flag, read_threads
from topgap.measurement import Shares
from topgap.parameters import TopK
from topgap.release import Release
from topgap.selector import Selector

_TOLD_EVERY = 0.1


def top_k(
    source: Any,
    k: int,
    epsilon: Number,
    *,
    item: str,
    count: str,
    resolution: Number = "1/10",
    sensitivity: Number = 1,
    monotonic: bool = False,
    gaps: bool = True,
    progress: Progress | None = None,
    threads: int | None = None,
) -> Release:
    """Name the k largest of all rows under ε-differential privacy, and the gaps between them.

    It has the law of `topgap.top_k` on all rows at once, and looks at 32,768 of them at a time. The
    winners are drawn after the last row was read; an error or an interruption before that releases
    nothing.

    **The rows' items are the public list**: all rows take part, and that this list may be known is
    your word. If it was read from the people's data, an item that only one person has shows that
    somebody has it, whatever ε is. Then take a list that is known beforehand, and 0 for what nobody
    has.

    Items are what is stored: `"flu"` and `" flu"` are two, unlike in `topgap.counting`. Each must
    be in one row alone. One that is there twice is found among rows that are looked at together,
    among all as long as no more than 262,144 were read, and among those that can still win; beyond
    that you must make sure.

    With names of up to 500 characters the process stays below 300 MiB, whatever the number of rows
    and the size of row groups; names of 2,000 took twice that. But a
    batch of an Arrow file or stream, and the dictionary of a column that has one, are held whole,
    and a dataset is read by whole row groups.

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
        count: The column with the counts: integers, floats or decimals, of any size.
        resolution: As there.
        sensitivity: As there.
        monotonic: As there.
        gaps: As there.
        progress: A function that is told what is done and which share of it, at most ten times a
            second and at the end; the share is None where the source does not tell how long it is.
        threads: As there.

    Returns:
        The winners from the largest down and the lead of each over the next.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used; nothing was read.
        SourceError: The source cannot be read, or has no such columns; no error text has a value
            of it.
        AnswersError: A count is missing or not finite, or there are not more rows than winners.
        ItemsError: An item is missing, or was found twice.
        MissingExtraError: pyarrow is not installed.

    >>> import pyarrow as pa
    >>> table = pa.table({"page": ["start", "help", "legal"], "people": [10**9, 10**6, 12]})
    >>> top_k(table, k=2, epsilon=1, item="page", count="people").items
    ('start', 'help')
    """
    parameters = _parameters(k, epsilon, resolution, sensitivity, monotonic)
    gaps = read_flag(gaps, "gaps")
    selector = Selector(parameters)
    _put_in(selector, source, item, count, progress, threads)
    return selector.release(gaps=gaps)


def top_k_with_estimates(
    source: Any,
    k: int,
    epsilon: Number,
    *,
    item: str,
    count: str,
    selection_share: Number = "1/2",
    resolution: Number = "1/10",
    sensitivity: Number = 1,
    monotonic: bool = False,
    progress: Progress | None = None,
    threads: int | None = None,
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
        selection_share: The part of ε that selects; between 0 and 1.
        resolution: Gaps and measurements are multiples of this; one divided by an integer.
        sensitivity: As there.
        monotonic: As there.
        progress: As there.
        threads: As there.

    Returns:
        The release, the measurements, the estimates, their standard errors and intervals.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used; nothing was read.
        SourceError, AnswersError, ItemsError, MissingExtraError: As of `topgap.streams.top_k`.

    >>> import pyarrow as pa
    >>> table = pa.table({"page": ["start", "help", "legal"], "people": [10**9, 10**6, 12]})
    >>> made = top_k_with_estimates(table, k=2, epsilon=1, item="page", count="people")
    >>> [(page, round(count, -3)) for page, count in made]
    [('start', 1000000000.0), ('help', 1000000.0)]
    """
    parameters = _parameters(k, epsilon, resolution, sensitivity, monotonic)
    shares = Shares.of(parameters, selection_share)

    def select_and_measure() -> tuple[Release, tuple[Fraction, ...]]:
        selector = Selector._remembering(shares.selection)
        _put_in(selector, source, item, count, progress, threads)
        return selector._release_and_measure(shares.measure)

    return estimated_by(shares, select_and_measure)


def _parameters(
    k: int, epsilon: Number, resolution: Number, sensitivity: Number, monotonic: bool
) -> TopK:
    return TopK(k, epsilon, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic)


def _put_in(
    selector: Selector,
    source: Any,
    item: str,
    count: str,
    progress: Progress | None,
    threads: int | None,
) -> None:
    """Add all rows of the source to the selector, one part after the other."""
    read_threads(threads)
    if progress is not None and not callable(progress):
        raise ParameterTypeError(f"progress must be a function, not {type(progress).__name__}.")
    try:
        import pyarrow as _  # noqa: F401
    except ImportError:
        raise MissingExtraError("Reading streams needs pyarrow: pip install pyarrow.") from None
    from topgap.streams.columns import Wanted
    from topgap.streams.sources import open_source

    wanted = Wanted(item, count)
    with ExitStack() as at_end:
        parts = open_source(source, wanted, at_end)
        wanted.check(parts)
        sizes = [part.size for part in parts if part.size is not None]
        watcher = _Watcher(progress, sum(sizes) if len(sizes) == len(parts) else None)
        for part in parts:
            for batch, size in at_end.enter_context(closing(part.read())):
                for counts, items in wanted.columns(batch, part.label):
                    selector.add(counts, items, threads=threads)
                    watcher.done(part.label, size * len(items) / len(batch))
    watcher.end()


class _Watcher:
    """Passes on how far the reading is, and not too often."""

    def __init__(self, progress: Progress | None, total: float | None) -> None:
        self._progress = progress
        self._total = total
        self._done = 0.0
        self._next = time.monotonic() + _TOLD_EVERY
        self._doing = "reading"

    def done(self, label: str, size: float) -> None:
        """So much more has been read."""
        self._done += size
        self._doing = f"reading {label}"
        if self._progress is not None and time.monotonic() >= self._next:
            self._progress(self._doing, min(self._done / self._total, 1) if self._total else None)
            self._next = time.monotonic() + _TOLD_EVERY

    def end(self) -> None:
        """All has been read."""
        if self._progress is not None:
            self._progress(self._doing, None if self._total is None else 1)
