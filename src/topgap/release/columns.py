"""The columns of a release's data frames and tables."""

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from topgap.display.items import split_items
from topgap.domains import DomainDescription
from topgap.errors import ReleaseError
from topgap.numbers.format import round_outwards, to_float
from topgap.release.construction import Units
from topgap.release.counts import Count
from topgap.release.notes import format_domain

Columns = dict[str, Any]


def build_item_columns(items: Sequence[Any]) -> Columns:
    """Return a column for the items, or one for each member of items that are tuples.

    >>> build_item_columns([("flu", 1)])
    {'item_1': ['flu'], 'item_2': [1]}
    """
    columns: Columns = {**split_items(items)}
    if not items:  # texts, as most items are
        columns["item"] = np.array([], dtype=np.str_)
    return columns


def build_gap_columns(gaps: Sequence[Fraction], units: Units) -> Columns:
    """Return the gaps as floats, and the exact steps of each.

    Raises:
        ReleaseError: A gap is enormous.
    """
    return _build_step_columns("gap", "A gap", gaps, units)


def build_value_columns(values: Sequence[Fraction], units: Units) -> Columns:
    """Return the same for noisy answers."""
    return _build_step_columns("value", "A noisy answer", values, units)


def _build_step_columns(
    name: str, words: str, numbers: Sequence[Fraction], units: Units
) -> Columns:
    if units.dtype == object:
        raise ReleaseError(
            f"{words} has more than 2**63 - 1 steps, too many for a column; use to_dict."
        )
    return {name: to_floats(numbers), f"{name}_units": units}


def build_error_columns(
    errors: float | Sequence[float], intervals: Sequence[tuple[Fraction, Fraction]]
) -> Columns:
    """Return standard errors, or the one of all, and the ends of intervals, which cut off nothing.

    >>> build_error_columns(1.5, [(Fraction(1, 2), Fraction(3))])
    {'standard_error': array([1.5]), 'low': array([0.5]), 'high': array([3.])}
    """
    return {
        "standard_error": np.full(len(intervals), errors, float),
        "low": np.array([round_outwards(low, -inf) for low, _ in intervals], float),
        "high": np.array([round_outwards(high, inf) for _, high in intervals], float),
    }


def build_count_columns(counts: Sequence[Count]) -> Columns:
    """Return the counts as floats, their standard errors and intervals, and which are biased."""
    return {
        "count": np.array([to_float(each.value) for each in counts], float),
        **build_error_columns(
            [each.standard_error for each in counts], [(each.low, each.high) for each in counts]
        ),
        "is_biased": np.array([each.is_biased for each in counts], bool),
    }


def build_domain_columns(
    domain: DomainDescription | None, winners: int, *, domain_from_data: bool
) -> dict[str, list[Any]]:
    """Return what is said of the domain in every row, where there is something to say."""
    columns: dict[str, list[Any]] = {}
    if domain is not None and not domain.is_listed:
        columns["domain"] = [format_domain(domain)] * winners
    if domain_from_data:
        columns["domain_from_data"] = [True] * winners
    return columns


def to_floats(numbers: Sequence[Fraction]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the nearest floats."""
    return np.array([float(each) for each in numbers], dtype=np.float64)
