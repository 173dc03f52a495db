"""The keywords of the calls that release, for type checkers: `by` says what a call returns."""

from collections.abc import Sequence
from typing import Required, TypedDict

from topgap.ledger.charging import LedgerLike
from topgap.numbers.parse import Number
from topgap.parameters import NoiseKind


class _Options(TypedDict, total=False):
    item: Required[str | Sequence[str]]
    items_per_person: int | None
    threshold: "Number | None"
    noise: NoiseKind | None
    resolution: "Number | None"
    monotonic: bool
    gaps: bool
    ledger: "LedgerLike | None"
    dataset: str | None


class CountOptions(_Options, total=False):
    """Those of `top_k`."""

    count: Required[str]
    domain: object
    sensitivity: "Number"
    check_items: bool


class EventOptions(_Options, total=False):
    """Those of `top_k_events`."""

    person: Required[str]
    domain: Required[object]
    together: int | None


class GroupedCountOptions(CountOptions, total=False):
    """Those of `top_k` with `by`."""

    groups: Required[object]
    groups_per_person: int


class GroupedEventOptions(EventOptions, total=False):
    """Those of `top_k_events` with `by`."""

    groups: Required[object]
    groups_per_person: int
