"""The keywords of the calls that release, for type checkers: `by` says what a call returns."""

from collections.abc import Sequence
from typing import Required, TypedDict

from topgap.ledger.charging import LedgerLike
from topgap.numbers.parse import Number
from topgap.parameters import Neighbours, NoiseKind


class _Common(TypedDict, total=False):
    item: Required[str | Sequence[str]]
    ledger: "LedgerLike | None"
    dataset: str | None


class _Counts(_Common, total=False):
    count: Required[str]
    domain: object
    sensitivity: "Number"
    monotonic: bool
    check_items: bool


class _Events(_Common, total=False):
    person: Required[str]
    domain: Required[object]
    neighbours: Neighbours | None
    together: int | None


class _Release(TypedDict, total=False):
    items_per_person: int | None
    threshold: "Number | None"
    noise: NoiseKind | None
    resolution: "Number | None"
    gaps: bool


class _Estimates(TypedDict, total=False):
    selection_share: "Number"
    resolution: "Number"


class _EventEstimates(TypedDict, total=False):
    selection_share: "Number"
    items_per_person: int | None
    resolution: "Number | None"


class _Groups(TypedDict, total=False):
    groups: Required[object]
    groups_per_person: int


class CountOptions(_Counts, _Release, total=False):
    """Those of `top_k`."""


class EventOptions(_Events, _Release, total=False):
    """Those of `top_k_events`."""


class GroupedCountOptions(CountOptions, _Groups, total=False):
    """Those of `top_k` with `by`."""


class GroupedEventOptions(EventOptions, _Groups, total=False):
    """Those of `top_k_events` with `by`."""


class CountEstimatesOptions(_Counts, _Estimates, total=False):
    """Those of `top_k_with_estimates`."""


class EventEstimatesOptions(_Events, _EventEstimates, total=False):
    """Those of `top_k_events_with_estimates`."""


class GroupedCountEstimatesOptions(CountEstimatesOptions, _Groups, total=False):
    """Those of `top_k_with_estimates` with `by`."""


class GroupedEventEstimatesOptions(EventEstimatesOptions, _Groups, total=False):
    """Those of `top_k_events_with_estimates` with `by`."""
