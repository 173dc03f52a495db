"""All rows of a source, one part after the other: `Rows`."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any

from topgap.errors import ItemsError, MissingExtraError, ParameterTypeError
from topgap.numbers.parse import read_threads
from topgap.selection.answers import check_enough, check_finite, read
from topgap.selection.candidate_pool import CandidatePool
from topgap.selection.check import count_occurring
from topgap.selection.item_names import TWICE, SeenNames, to_list
from topgap.selection.participants import read_part
from topgap.selection.unlisted import to_domain
from topgap.sources.progress import Progress

if TYPE_CHECKING:
    from topgap.streams.arrow_sources import Part

_REPORT_INTERVAL = 0.1


class Rows:
    """The rows of a source, whose columns are known by their names.

    Args:
        source: Whatever `topgap.streams.top_k` takes.
        item: The column of the items.
        count: The column of the counts.
        progress: Is told how far the reading is.
        threads: How many look at the counts at once.
        is_count: Whether only counts are taken: whole numbers, none below 0.
        domain: The domain, whose members alone take part; without one, all rows do.

    Attributes:
        domain: The domain, or None.

    Raises:
        ParameterError, ParameterTypeError, DomainError: One of them cannot be used.
        MissingExtraError: pyarrow is not installed.
    """

    def __init__(
        self,
        source: Any,
        item: str,
        count: str,
        progress: Progress | None,
        threads: int | None,
        *,
        is_count: bool = False,
        domain: object = None,
    ) -> None:
        if progress is not None and not callable(progress):
            raise ParameterTypeError(f"progress must be a function, not {type(progress).__name__}.")
        try:
            import pyarrow as _  # noqa: F401
        except ImportError:
            raise MissingExtraError("Reading streams needs pyarrow: pip install pyarrow.") from None
        from topgap.selection.arrow_columns import ColumnPair

        self._source = source
        self._wanted = ColumnPair(item, count, is_count=is_count)
        self._progress = progress
        self._threads = read_threads(threads)
        self.domain = to_domain(domain)
        self._parts: list[Part] = []

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Open the source; of a file only the metadata are read.

        Raises:
            SourceError: It cannot be read, or has no such columns.
        """
        from topgap.streams.arrow_sources import open_source

        with ExitStack() as at_end:
            self._parts = open_source(self._source, self._wanted, at_end)
            self._wanted.check(self._parts)
            yield

    def feed(self, pool: CandidatePool) -> None:
        """Add all rows to a pool, which draws their noise."""
        for counts, items in self._read_batches("reading"):
            pool.add(*read_part(counts, items, self.domain), threads=self._threads)

    @property
    def can_be_reread(self) -> bool:
        """Whether the rows can be read more than once."""
        return all(part.can_be_reread for part in self._parts)

    def dry_run(self, fewest_winners: int) -> tuple[int, int]:
        """Find what would be refused, without any noise.

        Args:
            fewest_winners: How many winners there are at least.

        Returns:
            The number of items, and how many of them have a count other than 0.

        Raises:
            AnswersError, ItemsError, SourceError: Something would be refused.
        """
        found = occurring = 0
        seen = SeenNames(forget=self.domain is None)
        for counts, items in self._read_batches("looking at"):
            numbers, names = self._read_rows(counts, items)
            check_finite(numbers)
            occurring += count_occurring(numbers)
            if len({*names}) < len(names):
                raise ItemsError(TWICE)
            seen.add(seen.check(names))
            found += len(names)
        if self.domain is not None:
            return self.domain.size, occurring
        if fewest_winners > 0:  # a threshold may name none, whatever the number of rows
            check_enough(found, fewest_winners)
        return found, occurring

    def _read_rows(self, counts: Any, items: Any) -> tuple[Any, list[Any]]:
        """The counts and names of those rows that take part."""
        if self.domain is not None:
            return read_part(counts, items, self.domain)
        numbers, _ = read(counts)
        return numbers, to_list(items)

    def _read_batches(self, doing: str) -> Iterator[tuple[Any, Any]]:
        """Read the counts and items, batch by batch."""
        sizes = [part.size for part in self._parts if part.size is not None]
        total = sum(sizes) if len(sizes) == len(self._parts) else None
        reporter = _ProgressReporter(self._progress, doing, total)
        for part in self._parts:
            with closing(part.read()) as batches:
                for batch, size in batches:
                    for counts, items in self._wanted.columns(batch, part.label):
                        yield counts, items
                        reporter.add(part.label, size * len(items) / len(batch))
        reporter.end()


class _ProgressReporter:
    """Reports progress, at most ten times a second."""

    def __init__(self, progress: Progress | None, doing: str, total: float | None) -> None:
        self._progress = progress
        self._total = total
        self._done = 0.0
        self._next = time.monotonic() + _REPORT_INTERVAL
        self._doing = self._verb = doing

    def add(self, label: str, size: float) -> None:
        """Add what has been read, and report it if it is time."""
        self._done += size
        self._doing = f"{self._verb} {label}"
        if self._progress is not None and time.monotonic() >= self._next:
            self._progress(self._doing, min(self._done / self._total, 1) if self._total else None)
            self._next = time.monotonic() + _REPORT_INTERVAL

    def end(self) -> None:
        """Report that all has been read."""
        if self._progress is not None:
            self._progress(self._doing, None if self._total is None else 1)
