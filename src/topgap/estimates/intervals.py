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
from topgap.estimates.quantiles import Floats, quantiles
from topgap.parameters import TopK

Ends = tuple[float, float]

_ALIKE = 1e-3


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
        rounding: The variance of what rounding takes from a gap.
    """

    unit: Fraction
    combination: Combination
    variances: Sequence[float]
    laplace: Sequence[float]
    normal: bool
    exponential: float
    rounding: float

    @lru_cache(maxsize=64)  # noqa: B019  (they are few, and kept by a cache themselves)
    def ends(self, tail: Fraction) -> list[Ends]:
        """For each estimate, what its error stays above, and what below, but for such a chance."""
        if not self.laplace and not self.normal:
            return [_chebyshev(variance, float(tail)) for variance in self.combination.variances]
        k = len(self.variances)
        if self._all_alike():
            spreads = [sqrt(variance) for variance in self.combination.variances]
            low, high = self._ends(k // 2, float(tail))
            one = spreads[k // 2] or 1.0
            return [(low / one * spread, high / one * spread) for spread in spreads]
        return [self._ends(i, float(tail)) for i in range(k)]

    @lru_cache(maxsize=64)  # noqa: B019
    def ends_of_measurements(self, tail: Fraction) -> list[Ends]:
        """The same for the measurements alone, which holds whoever won."""
        if not self.laplace and not self.normal:
            return [_chebyshev(variance, float(tail)) for variance in self.variances]
        none = np.zeros(0)
        spreads = [*self.laplace] if self.laplace else [*self.variances]
        ends = {}
        for spread in {*spreads}:
            laplace, variance = (np.array([spread]), 0.0) if self.laplace else (none, spread)
            ends[spread] = _between(laplace, none, variance, float(tail))
        return [ends[spread] for spread in spreads]

    def _ends(self, i: int, tail: float) -> Ends:
        measurements, selection, gaps = self.combination.weights(i)
        variance = self.rounding * float(gaps @ gaps)
        if self.normal:
            variance += float(measurements**2 @ np.array(self.variances))
        scales = measurements * np.array(self.laplace) if self.laplace else np.zeros(0)
        return _between(scales, selection * self.exponential, variance, tail)

    def _all_alike(self) -> bool:
        """Whether the errors of all estimates have one shape.

        But for rounding, the weights of one estimate are those of another with their places
        exchanged; and the share that rounding has in them is at most this.
        """
        k = len(self.variances)
        same = len({*self.variances}) == 1 and len({*self.laplace}) <= 1
        return same and self.rounding * k * k <= _ALIKE * (self.variances[0] + self.exponential**2)


@lru_cache(maxsize=256)
def errors_of(parameters: TopK, noise: Noise) -> Errors:
    """Those of winners that were selected with these parameters and measured with this noise.

    >>> errors = errors_of(TopK(k=1, epsilon=1), Noise("laplace", (Fraction(8),), (Fraction(2),)))
    >>> [round(end * float(errors.unit), 3) for end in errors.ends(Fraction(1, 40))[0]]  # ∓2 ln 20
    [-5.991, 5.991]
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
        rounding=rounding,
    )


def _between(laplace: Floats, exponential: Floats, variance: float, tail: float) -> Ends:
    """What the sum stays above, and what below: 1 − tail would lose what is small of the tail."""
    (low,) = quantiles(laplace, exponential, variance, [tail])
    (mirrored,) = quantiles(laplace, -exponential, variance, [tail])
    return low, -mirrored


def _chebyshev(variance: float, tail: float) -> Ends:
    """Noise of any law is beyond these with a chance of at most twice the tail."""
    end = sqrt(variance / (2 * tail))
    return -end, end
