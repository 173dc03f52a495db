"""The best linear unbiased estimates from measurements of the winners and the gaps between them.

Winner i has the value x_i. It was measured as m_i with noise of variance V_i, and the gaps say that
x_i − x_(i+1) is g_i plus half a step, which rounding down has taken off on average. For winners
whose order is not in doubt, the errors of the gaps have the covariance

    v·D·Dᵀ + c·I,   (D·x)_i = x_i − x_(i+1),

with v = G + 1/12 and c = 1/12 in squared steps, where G is the variance of geometric noise. For the
noise is a whole number of steps and a remainder, and a gap is the difference of the wholes, less
one step where its first remainder is the smaller one. The remainders are alike and independent, so
that happens with probability 1/2, to two neighbours at once with probability 1/6, and for gaps
without a winner in common independently: variance 1/4, covariance 1/6 − 1/4 = −1/12, and 0. So,
2·G + 1/4 = 2·v + c on the diagonal and −G − 1/12 = −v beside it. It is what noise of variance v on
each winner and an error of rounding of variance c in each gap would make; v is close to β², the
variance of real exponential noise.

Generalised least squares then give

    x̂ = m + K·(g + ½ − D·m),   K = V·Dᵀ·S⁻¹,   S = D·V·Dᵀ + v·D·Dᵀ + c·I,

and x̂_i has the variance V_i·(1 − (K·D)_ii). S has three diagonals, so all of it takes a time that
grows with k and no faster. Where V is the same for all and c is small, it is the formula of
docs/estimates.md: w·m_i + (1 − w)·(z_i + mean(m) − mean(z)).
"""

from collections.abc import Sequence
from fractions import Fraction
from math import exp, expm1

import numpy as np

Array = np.ndarray[tuple[int], np.dtype[np.float64]]

ROUNDING = 1 / 12
"""The variance of what is lost by rounding one gap down, in squared steps."""

_LARGEST = Fraction(2**900)  # variances may lie apart by 10^12, which leaves room for all products


def geometric_variance(rate: float) -> float:
    """Return the variance of geometric noise, times the square of its rate: 1 for a rate near 0.

    >>> geometric_variance(0.0), round(geometric_variance(1.0), 4)
    (1.0, 0.9207)
    """
    if rate == 0:
        return 1.0
    half = rate / 2
    return 0.0 if rate > 1_400 else (rate * exp(-half) / -expm1(-rate)) ** 2


class Combination:
    """How k measurements and the gaps between the measured are best put together.

    Args:
        variances: V, the variance of each measurement, in any unit, one for each winner.
        between: v, in the same unit; with `variances`, not all 0.
        rounding: c, in the same unit.

    >>> both = Combination([2.0, 2.0], between=1.0, rounding=0.0)
    >>> both.corrections([3.0])   # the gap is larger by 3 than the measurements say
    [1.0, -1.0]
    >>> [round(v, 12) for v in both.variances]   # λ = 1/2: 2·(1 + λk)/(k + λk)
    [1.333333333333, 1.333333333333]
    """

    def __init__(self, variances: Sequence[float], between: float, rounding: float) -> None:
        self._measured = [*variances]
        self._beside = [-(variance + between) for variance in self._measured[1:-1]]
        pairs = zip(self._measured, self._measured[1:], strict=False)
        diagonal = [a + b + 2 * between + rounding for a, b in pairs]
        self._pivots = _pivots(diagonal, self._beside)
        self._upwards = _pivots(diagonal[::-1], self._beside[::-1])[::-1]
        self._diagonal = diagonal

    def corrections(self, residuals: Sequence[float]) -> list[float]:
        """K·r: what to add to each measurement, when gaps exceed what those say by r.

        In place of numbers, r may have arrays, and the corrections are arrays then.
        """
        solved = self._solve(residuals)
        ahead, behind = [*solved, 0.0], [0.0, *solved]
        return [v * (a - b) for v, a, b in zip(self._measured, ahead, behind, strict=True)]

    @property
    def variances(self) -> list[float]:
        """The variance of each estimate."""
        inverse = [
            1 / (down + up - both)
            for down, up, both in zip(self._pivots, self._upwards, self._diagonal, strict=True)
        ]
        # Of S⁻¹, the entries beside the diagonal.
        across = [
            -beside * entry / pivot
            for beside, entry, pivot in zip(self._beside, inverse[1:], self._pivots, strict=False)
        ]
        ahead, behind = [*inverse, 0.0], [0.0, *inverse]
        twice = [0.0, *across, 0.0][: len(self._measured)]
        return [
            v * max(0.0, 1 - v * (a + b - 2 * ab))
            for v, a, b, ab in zip(self._measured, ahead, behind, twice, strict=True)
        ]

    def weights(self, i: int) -> tuple[Array, Array, Array]:
        """What the error of estimate i is made of.

        Returns:
            Its weights on the errors of the measurements; on the selection's noise of each winner;
            and on what rounding takes from each gap.
        """
        k = len(self._measured)
        unit = [0.0] * (k - 1)
        if i < k - 1:
            unit[i] = 1.0
        if i > 0:
            unit[i - 1] = -1.0
        gaps = self._measured[i] * np.array(self._solve(unit), dtype=np.float64)
        selection = np.append(gaps, 0.0) - np.insert(gaps, 0, 0.0)
        measurements = -selection
        measurements[i] += 1.0
        return measurements, selection, -gaps

    def _solve(self, right: Sequence[float]) -> list[float]:
        """S⁻¹·r."""
        solved = [*right]
        for i, beside in enumerate(self._beside):
            solved[i + 1] = solved[i + 1] - beside / self._pivots[i] * solved[i]
        for i in range(len(solved) - 1, -1, -1):
            after = self._beside[i] * solved[i + 1] if i + 1 < len(solved) else 0.0
            solved[i] = (solved[i] - after) / self._pivots[i]
        return solved


def correct_measurements(
    combination: Combination,
    measurements: Sequence[Fraction],
    gaps: Sequence[Fraction],
    *,
    resolution: Fraction,
    unit: Fraction,
) -> tuple[Fraction, ...]:
    """Return the estimates x̂, one for each measurement.

    Args:
        combination: The weights of measurements and gaps, in `unit`.
        measurements: The measurements m.
        gaps: The gaps g, rounded down to multiples of the resolution.
        resolution: One step.
        unit: The unit of `combination`, so that no float is too large or too small.

    >>> both = Combination([2.0, 2.0], between=1.0, rounding=0.0)
    >>> one, two = Fraction(60), Fraction(50)
    >>> exact = {"resolution": Fraction(2), "unit": Fraction(1)}
    >>> [float(each) for each in correct_measurements(both, [one, two], [Fraction(12)], **exact)]
    [61.0, 49.0]
    """
    half = resolution / 2
    pairs = zip(measurements, measurements[1:], gaps, strict=False)
    residuals = [(gap + half - (first - second)) / unit for first, second, gap in pairs]
    corrections = combination.corrections(
        [float(max(-_LARGEST, min(each, _LARGEST))) for each in residuals]
    )
    return tuple(
        measured + Fraction(correction) * unit
        for measured, correction in zip(measurements, corrections, strict=True)
    )


def _pivots(diagonal: list[float], beside: list[float]) -> list[float]:
    """What elimination from the first row on leaves of the diagonal."""
    pivots = diagonal[:1]
    for entry, off in zip(diagonal[1:], beside, strict=True):
        pivots.append(entry - off / pivots[-1] * off)
    return pivots
