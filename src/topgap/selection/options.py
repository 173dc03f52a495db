"""The keywords of the calls that release, for type checkers: what a call returns depends on one."""

from typing import TypedDict

from topgap.ledger.charging import LedgerLike
from topgap.numbers.parse import Number
from topgap.parameters import NoiseKind


class _Common(TypedDict, total=False):
    domain: object
    threads: int | None
    constant_work: bool
    ledger: "LedgerLike | None"
    dataset: str | None


class ReleaseOptions(_Common, total=False):
    """Those of `select`."""

    gaps: bool


class TopKOptions(ReleaseOptions, total=False):
    """Those of `top_k` and `noisy_max`."""

    resolution: "Number | None"
    sensitivity: "Number"
    monotonic: bool
    items_per_person: int | None
    threshold: "Number | None"
    noise: NoiseKind | None
    items: object


class GroupOptions(TopKOptions, total=False):
    """Those of `top_k_by_group`."""

    groups_per_person: int
    groups: object
    by: object
    item: object
    count: object


class EstimatesOptions(_Common, total=False):
    """Those of `top_k_with_estimates`."""

    selection_share: "Number"
    resolution: "Number"
    sensitivity: "Number"
    monotonic: bool
    items: object


class GroupEstimatesOptions(EstimatesOptions, total=False):
    """Those of `top_k_by_group_with_estimates`."""

    groups_per_person: int
    groups: object
    by: object
    item: object
    count: object
