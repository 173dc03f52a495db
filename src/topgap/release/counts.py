"""Counts: from the gaps down to a threshold, which take no part of ε, or of Laplace noise.

Let an item have the answer a and m gaps down to the threshold t, of S steps together, and let x be
its noise and y that of the threshold, in steps. Each gap is rounded down by less than a step. So
a = t + S + R − (x − y) with 0 ≤ R < m, and a count is t + S + m/2. x − y is Laplace noise.

With x = g + f and y = h + e, where g and h are whole and f and e less than 1, R − (f − e) is whole,
too: the number A of those gaps that fractions of noise made a step smaller. As noise is
exponential, fractions are independent of the whole parts. Where the order does not depend on them,
A counts the ascents of m + 1 independent numbers of one continuous distribution: m/2 on average,
with variance (m + 2)/12. docs/proofs/counts.md proves it all.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import hypot, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from topgap.margins import are_biased
from topgap.numbers.format import to_float
from topgap.parameters import TopK
from topgap.release.laplace_error import (
    find_exponential_quantile,
    find_quantile,
    standard_error,
)

_ROUNDING = 1 / 12  # the variance of what rounding takes, in steps, for each of m + 2
_HALF = Fraction(1, 2)

Covariance: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.float64]]


class Count(NamedTuple):
    """How large the answer of a winner is.

    Attributes:
        item: The winner.
        value: The estimate of its answer, exactly.
        standard_error: The standard deviation of the estimate's error.
        low: The lower end of its interval.
        high: The upper end.
        is_biased: Whether the gaps show that noise may have decided its rank, or that it is named.
    """

    item: Any
    value: Fraction
    standard_error: float
    low: Fraction
    high: Fraction
    is_biased: bool


def center_counts(parameters: TopK, gap_units: Sequence[int]) -> list[Fraction]:
    """Return t + S + m/2 for each winner of a list that the threshold ended.

    >>> parameters = TopK(k=4, epsilon=1, threshold=500)
    >>> [float(each) for each in center_counts(parameters, [1250, 3])]   # 500 + 125.3 + 2 · 0.05
    [625.4, 500.35]
    """
    leads = _add_up(gap_units)
    return [
        (parameters.threshold or 0) + (lead + (len(leads) - rank) * _HALF) * parameters.resolution
        for rank, lead in enumerate(leads)
    ]


def compute_errors(parameters: TopK, winners: int) -> list[float]:
    """Return the standard error of each count: the root of the diagonal of `compute_covariance`.

    >>> [round(each, 3) for each in compute_errors(TopK(k=4, epsilon=1, resolution=1), 2)]
    [11.321, 11.317]
    """
    noise, step = standard_error(parameters), to_float(parameters.resolution)
    gaps = range(winners, 0, -1)
    return [hypot(noise, step * sqrt((each + 2) * _ROUNDING)) for each in gaps]


def compute_intervals(
    parameters: TopK, gap_units: Sequence[int], tail: Fraction, size: int | None = None
) -> list[tuple[Fraction, Fraction]]:
    """Return the ends of an interval for each winner.

    Its own interval misses an answer only if the noise of the item reaches that of the threshold
    and h + 1 steps, or the other way round: each with probability e^−rate(h + 1)/2, which is at
    most `tail`. For all at once, whoever wins, the lower end allows for that of each of `size`
    items; and as no noise is negative, the upper one for the noise of the threshold alone, which
    all winners share.

    Args:
        parameters: The parameters of the release.
        gap_units: Its gaps, in steps.
        tail: The probability that the intervals, or one of them, miss to one side.
        size: How many items took part, if all intervals are to cover at once.
    """
    down = find_exponential_quantile(parameters, 2 * tail / (1 if size is None else size))
    up = down if size is None else find_exponential_quantile(parameters, tail)
    step, threshold = parameters.resolution, parameters.threshold or Fraction(0)
    leads = _add_up(gap_units)
    lowest = [threshold + lead * step for lead in leads]
    return [(low - down, low + (len(leads) - rank) * step + up) for rank, low in enumerate(lowest)]


def compute_value_intervals(
    parameters: TopK, values: Sequence[Fraction], tail: Fraction, size: int | None = None
) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return the same for the noisy answers of Laplace noise: exact quantiles of it to each side.

    For all at once the lower ends allow for the noise of each of `size` items, and the upper ones
    for that of each winner.
    """
    below, above = (tail, tail) if size is None else (tail / size, tail / max(1, len(values)))
    down, up = (find_quantile(parameters, each) for each in (below, above))
    return tuple((value - down, value + up) for value in values)


def list_counts(
    parameters: TopK,
    items: Sequence[Any],
    gap_units: Sequence[int],
    values: Sequence[Fraction] | None,
    *,
    tail: Fraction,
    size: int | None,
) -> tuple[Count, ...]:
    """Return the count of each winner of a release that has counts.

    Args:
        parameters: The parameters of the release.
        items: Its winners.
        gap_units: Its gaps, in steps.
        values: The noisy answers, if the noise is Laplace noise.
        tail: The probability that intervals miss to one side.
        size: How many items took part, if all intervals are to cover at once.
    """
    centres: Sequence[Fraction]
    ends: Sequence[tuple[Fraction, Fraction]]
    if values is None:
        centres = center_counts(parameters, gap_units)
        errors = compute_errors(parameters, len(items))
        ends = compute_intervals(parameters, gap_units, tail, size)
    else:
        centres, errors = values, [standard_error(parameters)] * len(items)
        ends = compute_value_intervals(parameters, values, tail, size)
    biased = are_biased([each * parameters.resolution for each in gap_units], parameters)
    rows = zip(items, centres, errors, ends, biased, strict=True)
    return tuple(Count(item, value, error, *pair, bias) for item, value, error, pair, bias in rows)


def explain_missing_counts(parameters: TopK, *, has_gaps: bool) -> str:
    """Return the sentence about why a release has no counts.

    >>> explain_missing_counts(TopK(k=4, epsilon=1), has_gaps=False)
    'A release without gaps has no counts; release with gaps.'
    """
    if not has_gaps:
        return "A release without gaps has no counts; release with gaps."
    if parameters.threshold is None:
        return (
            "This release has no counts: they come with a threshold that ends the list, or with "
            "Laplace noise."
        )
    return (
        f"This release has no counts: as many items as k = {parameters.k} came out above the "
        f"threshold, so how far they are above it is not released; use a larger k or a higher "
        f"threshold."
    )


def compute_covariance(parameters: TopK, winners: int) -> Covariance:
    """Return the covariance of the errors of all counts.

    Two counts share the h of the threshold, whose variance is half of that of g − h. The ascents of
    the lower m gaps of a chain have the covariance (m + 1)/12 with all ascents of the chain: their
    variance (m + 2)/12, and −1/12 with the gap right above them.
    """
    noise, step = standard_error(parameters), to_float(parameters.resolution)
    noise, step = noise * noise, step * step  # infinite where ** would fail
    gaps = np.arange(winners, 0, -1)
    fewer = np.minimum(gaps[:, None], gaps[None, :])
    covariance: Covariance = noise / 2 + step * (fewer + 1) * _ROUNDING
    covariance[np.diag_indices(winners)] += noise / 2 + step * _ROUNDING
    return covariance


def _add_up(gap_units: Sequence[int]) -> list[int]:
    """The steps from each winner down to the threshold."""
    total, leads = 0, []
    for each in reversed(gap_units):
        total += each
        leads.append(total)
    return leads[::-1]
