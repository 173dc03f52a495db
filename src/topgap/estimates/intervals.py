"""How far estimates can be off: the ends of the errors' distributions.

The error of an estimate is a sum of the measurements' noise, the selection's exponential noise and
what rounding the gaps has taken, with the weights of `Combination.weights`. These are taken for
independent of who won: which holds as far as the order is not in doubt. docs/estimates.md has the
coverage that was measured, near ties too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from topgap.estimates.combination import Combination
from topgap.estimates.quantiles import quantiles

Ends = tuple[float, float]

_ALIKE = 1e-6


@dataclass(frozen=True)
class Errors:
    """What the errors of k estimates are made of, all in one unit.

    Attributes:
        combination: How measurements and gaps were put together.
        variances: Those of the measurements.
        laplace: The scale of each measurement's Laplace noise; () if it is none.
        normal: Whether it is normal noise instead.
        exponential: The mean of the selection's noise.
        rounding: The variance of what rounding takes from a gap.
    """

    combination: Combination
    variances: Sequence[float]
    laplace: Sequence[float]
    normal: bool
    exponential: float
    rounding: float

    def ends(self, tail: float) -> list[Ends]:
        """For each estimate, what its error stays above, and what below, but for such a chance."""
        if not self.laplace and not self.normal:
            return [_chebyshev(variance, tail) for variance in self.combination.variances]
        k = len(self.variances)
        if self._all_alike():
            return [self._ends(k // 2, tail)] * k
        return [self._ends(i, tail) for i in range(k)]

    def ends_of_measurements(self, tail: float) -> list[Ends]:
        """The same for the measurements alone, which holds whoever won."""
        if self.laplace:
            spreads = [([scale], 0.0) for scale in self.laplace]
        elif self.normal:
            spreads = [([], variance) for variance in self.variances]
        else:
            return [_chebyshev(variance, tail) for variance in self.variances]
        ends = {}
        for scales, variance in spreads:
            key = (*scales, variance)
            if key not in ends:
                low, high = quantiles(np.array(scales), np.zeros(0), variance, (tail, 1 - tail))
                ends[key] = (low, high)
        return [ends[*scales, variance] for scales, variance in spreads]

    def _ends(self, i: int, tail: float) -> Ends:
        measurements, selection, gaps = self.combination.weights(i)
        variance = self.rounding * float(gaps @ gaps)
        if self.normal:
            variance += float(measurements**2 @ np.array(self.variances))
        scales = measurements * np.array(self.laplace) if self.laplace else np.zeros(0)
        low, high = quantiles(scales, selection * self.exponential, variance, (tail, 1 - tail))
        return low, high

    def _all_alike(self) -> bool:
        """Whether the weights of one estimate are those of another, with its place exchanged."""
        k = len(self.variances)
        same = len({*self.variances}) == 1 and len({*self.laplace}) <= 1
        return same and self.rounding * k * k <= _ALIKE * (self.variances[0] + self.exponential**2)


def _chebyshev(variance: float, tail: float) -> Ends:
    """Noise of any law is beyond these with a chance of at most twice the tail."""
    end = sqrt(variance / (2 * tail))
    return -end, end
