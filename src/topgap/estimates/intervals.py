"""How far estimates can be off: the ends of the errors' distributions.

The error of an estimate is a sum of the measurements' noise, the selection's exponential noise and
what rounding the gaps has taken, with the weights of `Combination.weights`. These are taken for
independent of who won, which the measurements' noise is, and the selection's only as far as
nobody's place is in doubt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import sqrt

import numpy as np

from topgap.estimates.combination import ROUNDING, Combination, geometric_variance
from topgap.estimates.noise import Noise, square_root
from topgap.estimates.quantiles import Floats, compute_quantiles
from topgap.parameters import TopK

Ends = tuple[float, float]

_FINE = 0.01  # k/4 steps are then less than a tenth of a standard error


@dataclass(frozen=True, eq=False)
class Errors:
    """What the errors of k estimates are made of.

    Attributes:
        unit: What the others are multiples of, so that no float is too large or too small.
        combination: How measurements and gaps were put together.
        variances: Those of the measurements.
        laplace: The scale of each measurement's Laplace noise; () if it is none.
        normal: Whether it is normal noise instead.
        exponential: The mean of the selection's noise.
        between: Its variance as the gaps show it.
        rounding: The variance of what rounding takes from a gap.
    """

    unit: Fraction
    combination: Combination
    variances: Sequence[float]
    laplace: Sequence[float]
    normal: bool
    exponential: float
    between: float
    rounding: float

    @property
    def are_exchangeable(self) -> bool:
        """Whether it does not matter to one estimate in which order the other winners came out.

        Then, what ties among others do to their noise cancels. It does not if they were measured
        with another variance each; nor if a step is so coarse that rounding takes less than half of
        it from the gaps of tied ones, which makes up to k/4 steps for all of them.
        """
        k = len(self.variances)
        same = len({*self.variances}) == 1
        return same and self.rounding * k * k <= _FINE * min(self.combination.variances)

    @lru_cache(maxsize=64)  # noqa: B019  (they are few, and kept by a cache themselves)
    def ends(self, tail: Fraction) -> list[Ends]:
        """Return two ends for each estimate: its error is beyond either with probability `tail`."""
        if not self.laplace and not self.normal:
            return [
                _apply_chebyshev(variance, float(tail)) for variance in self.combination.variances
            ]
        if len({*self.variances}) == 1:
            return self._interpolate_ends(float(tail))
        return [self._ends(i, float(tail)) for i in range(len(self.variances))]

    @lru_cache(maxsize=64)  # noqa: B019
    def ends_of_measurements(self, tail: Fraction) -> list[Ends]:
        """Return the same for the measurements alone, which holds whoever won."""
        if not self.laplace and not self.normal:
            return [_apply_chebyshev(variance, float(tail)) for variance in self.variances]
        none = np.zeros(0)
        spreads = [*self.laplace] if self.laplace else [*self.variances]
        ends = {}
        for spread in {*spreads}:
            laplace, variance = (np.array([spread]), 0.0) if self.laplace else (none, spread)
            ends[spread] = _find_ends(laplace, none, variance, float(tail))
        return [ends[spread] for spread in spreads]

    def _ends(self, i: int, tail: float) -> Ends:
        measurements, selection, gaps = self.combination.weights(i)
        variance = self.rounding * float(gaps @ gaps)
        variance += max(0.0, self.between - self.exponential**2) * float(selection @ selection)
        if self.normal:
            variance += float(measurements**2 @ np.array(self.variances))
        scales = measurements * np.array(self.laplace) if self.laplace else np.zeros(0)
        return _find_ends(scales, selection * self.exponential, variance, tail)

    def _interpolate_ends(self, tail: float) -> list[Ends]:
        """Return the ends for equal variances: computed at a few ranks, and interpolated between.

        Divided by their spread, the ends differ between ranks only because of rounding: by a few
        hundredths at the first and last ranks, even where rounding is most of the noise.
        """
        k = len(self.variances)
        spreads = np.sqrt(self.combination.variances)
        spreads[spreads == 0] = 1.0
        ranks = sorted({0, k // 2, *(2**power for power in range((k // 2).bit_length()))})
        found = np.array([self._ends(rank, tail) for rank in ranks]).T / spreads[ranks]
        from_either_end = [min(i, k - 1 - i) for i in range(k)]
        low, high = (np.interp(from_either_end, ranks, side) * spreads for side in found)
        return [*zip(low.tolist(), high.tolist(), strict=True)]


@lru_cache(maxsize=256)
def find_errors(parameters: TopK, noise: Noise) -> Errors:
    """Return the errors of winners selected with these parameters and measured with this noise.

    >>> errors = find_errors(TopK(k=1, epsilon=1), Noise("normal", (Fraction(8),)))
    >>> [round(end * float(errors.unit), 3) for end in errors.ends(Fraction(1, 40))[0]]  # ∓1.96·√8
    [-5.544, 5.544]
    """
    unit = max(parameters.scale, parameters.resolution)
    largest = max(noise.variances)
    if largest > unit**2:
        unit = square_root(largest)
    rounding = ROUNDING * float((parameters.resolution / unit) ** 2)
    exponential = float(parameters.scale / unit)
    rate = float(min(parameters.rate, Fraction(10**6)))
    between = exponential**2 * geometric_variance(rate) + rounding
    variances = [float(each / unit**2) for each in noise.variances]
    return Errors(
        unit=unit,
        combination=Combination(variances, between, rounding),
        variances=variances,
        laplace=[float(each / unit) for each in noise.scales],
        normal=noise.kind == "normal",
        exponential=exponential,
        between=between,
        rounding=rounding,
    )


def _find_ends(laplace: Floats, exponential: Floats, variance: float, tail: float) -> Ends:
    """Return the quantiles of the sum at both tails; 1 − tail would round a small tail."""
    (low,) = compute_quantiles(laplace, exponential, variance, [tail])
    (mirrored,) = compute_quantiles(laplace, -exponential, variance, [tail])
    return low, -mirrored


def _apply_chebyshev(variance: float, tail: float) -> Ends:
    """Return ends that noise of any law exceeds with probability at most twice the tail."""
    end = sqrt(variance / (2 * tail))
    return -end, end
