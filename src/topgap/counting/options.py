"""The options of `count_events`, `count_transactions` and `read_counts`, for type checkers."""

from collections.abc import Sequence
from typing import Any, Required, TypedDict

from topgap.counting.source_files import Format
from topgap.counting.tally import SourceOptions
from topgap.sources.progress import Progress


class _CountingOptions(TypedDict, total=False):
    domain: Required[Any]
    encoding: str | None
    fold_case: bool
    memory: str
    progress: Progress | None


class LineOptions(_CountingOptions, total=False):
    """Those of `count_transactions`, but for the groups."""

    together: int | None
    items_per_person: int | None


class CountOptions(_CountingOptions, total=False):
    """Those of `read_counts`, but for the groups."""

    item: Required[str | Sequence[str]]
    count: Required[str]
    format: Format | None
    table: str | None
    query: str | None
    header: bool
    delimiter: str | None


class EventOptions(LineOptions, SourceOptions, total=False):
    """Those of `count_events`, but for the groups."""

    person: Required[str]
    item: Required[str | Sequence[str]]
