"""The keywords of `top_k_events` and `top_k_events_with_estimates`, for type checkers."""

from collections.abc import Sequence
from typing import Any, Required

from topgap.counting.tally import SourceOptions
from topgap.ledger.charging import LedgerLike
from topgap.numbers.parse import Number
from topgap.parameters import Neighbours, NoiseKind
from topgap.sources.progress import Progress


class ReadingOptions(SourceOptions, total=False):
    """How a source is read."""

    memory: str
    progress: Progress | None


class _EventOptions(ReadingOptions, total=False):
    person: str | None
    item: str | Sequence[str] | None
    domain: Required[Any]
    neighbours: Neighbours | None
    together: int | None
    items_per_person: int | None
    resolution: "Number | None"
    ledger: "LedgerLike | None"
    dataset: str | None


class ListOptions(_EventOptions, total=False):
    """Those of `top_k_events`, but for the groups."""

    threshold: "Number | None"
    noise: NoiseKind | None
    gaps: bool


class EstimatesOptions(_EventOptions, total=False):
    """Those of `top_k_events_with_estimates`, but for the groups."""

    selection_share: "Number"
