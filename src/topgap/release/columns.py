"""The columns of a release's data frames and tables."""

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np

from topgap.display.items import split_items
from topgap.errors import ReleaseError
from topgap.numbers.format import round_outwards, to_float
from topgap.release.construction import Units
from topgap.release.counts import Count

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
    if units.dtype == object:
        raise ReleaseError(
            "A gap has more than 2**63 - 1 steps, too many for a column; use to_dict."
        )
    return {"gap": to_floats(gaps), "gap_units": units}


def build_value_columns(values: Sequence[Fraction], units: Units) -> Columns:
    """Return the values as floats, and the exact steps of each.

    Raises:
        ReleaseError: A value is enormous.
    """
    if units.dtype == object:
        raise ReleaseError(
            "A noisy answer has more than 2**63 - 1 steps, too many for a column; use to_dict."
        )
    return {"value": to_floats(values), "value_units": units}


def build_interval_columns(intervals: Sequence[tuple[Fraction, Fraction]]) -> Columns:
    """Return the ends of intervals as floats that cut off nothing.

    >>> build_interval_columns([(Fraction(1, 2), Fraction(3))])
    {'low': array([0.5]), 'high': array([3.])}
    """
    return {
        "low": np.array([round_outwards(low, -inf) for low, _ in intervals], float),
        "high": np.array([round_outwards(high, inf) for _, high in intervals], float),
    }


def build_count_columns(counts: Sequence[Count]) -> Columns:
    """Return the counts as floats, their standard errors and intervals, and which are biased."""
    return {
        "count": np.array([to_float(each.value) for each in counts], float),
        "standard_error": np.array([each.standard_error for each in counts], float),
        **build_interval_columns([(each.low, each.high) for each in counts]),
        "is_biased": np.array([each.is_biased for each in counts], bool),
    }


def build_domain_columns(
    description: str | None, winners: int, *, domain_from_data: bool
) -> dict[str, list[Any]]:
    """Return what is said of the domain in every row, where there is something to say."""
    columns: dict[str, list[Any]] = {}
    if description is not None:
        columns["domain"] = [description] * winners
    if domain_from_data:
        columns["domain_from_data"] = [True] * winners
    return columns


def to_floats(numbers: Sequence[Fraction]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the nearest floats."""
    return np.array([float(each) for each in numbers], dtype=np.float64)
