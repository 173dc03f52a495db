"""Quantiles of an estimate's error: a sum of Laplace, exponential and normal terms.

The sum is X = Σ aⱼLⱼ + Σ cⱼ(Eⱼ − 1) + N, all independent: Lⱼ has the density e^−|x| / 2, Eⱼ the
density e^−x on x > 0, N is normal with mean 0. As Lⱼ is the difference of two Eⱼ, every term but N
is an exponential one, and below `scales` are all of them: the cⱼ, the aⱼ and the −aⱼ.

**The integral.** With K(z) = ln E e^{zX} and any σ > 0 left of the pole 1/q, where q is the largest
scale,

    P(X > x) = 1/(2πi) ∫ e^{K(z) − zx} / z dz, on a path from −i∞ through σ to +i∞.

σ is taken as the saddle point, x = K'(σ) − 1/σ. Then, with z = σ(1 + w), the integral becomes
P(X > x) = e^{K(σ) − σx} · 1/(2πi) ∫ F(w) dw, and F is itself the transform of a centred sum Y of
exponential and normal terms: a scale c of X has turned into t = cσ/(1 − cσ), the factor 1/z into
the scale −1, and N's standard deviation s into sσ. So the integral is the density of Y at its mean.
Y is log-concave, and therefore this density is at least 1/(9.5 · sd Y): nothing cancels, and the
error is relative to the tail, however small it is.

**The path.** Let sd Y = 1, so that all poles of F are at least 1 from 0, and L = Σt, summed with
the −1: F(w) = e^{−Lw + (sσ)²w²/2} Π 1/(1 − tw). F may fall as slowly as w^−2 on the vertical line.
So the path is half a hyperbola, w(u) = ±A sin β (cosh u − 1) + iA cos β sinh u, bent to the right
if L ≥ 0 and to the left if not. Far out, w grows like e^u and F w' falls like e^−u at least, for
all terms alike. On a ray bent so by an angle up to 45°, e^{−Lw} and the normal factor do not grow,
nor do the factors of scales with the sign opposite to L's; each of the n others grows by 1/cos of
the angle at most. So |F| ≤ (cos β)^−n on the path.

**The step.** The trapezoidal rule with step h has the error 2M e^{−2πd/h} (to first order) if the
integrand is analytic in the strip |Im u| < d and M is the integral of its size on the strip's
edges. A shift of u by −iβ … iβ bends the hyperbola by angles from 2β to 0 and moves its vertex by
at most A sin β = 1/2, where K of Y is below 0.2. With d = β, β ≤ 0.3 and n β² ≤ 5 the size of F on
the edges is at most e^{11.5}, and h = 2πβ/30 leaves an error of 10^−5 of the tail at worst, with F
of this size all along, and of 10^−10 for few terms. The sum ends where F w' has fallen to 10^−12,
after some 40 points for a normal-like sum and 450 for a few terms of the slowest kind.

**Many terms.** Equal scales are taken once, with their count as the power of their factor. Of the
different scales of one sign, the 64 largest are taken as they are. The others are put into bins
where the largest is at most 1.3 times the smallest, and each bin becomes two scales with counts so
that Σcʲ stays the same for j = 2, 3, 4, 5 (a Gauss rule with the weight c²), and with it X's
cumulants up to the fifth. The error of K is that of this rule for (ln(1 − cz) + cz)/c². A tail of
10^−7 gives each of the 64 larger terms some 0.3 at most of 16 = −ln 10^−7, so that σc ≤ 1/2 in the
bins. Seen from a bin's middle, the singularity c = 1/z is then at least 7.7 half widths away, and
the rule's error is about (7.7 + √(7.7² − 1))^−4 < 2·10^−5 of the bin's part of K. What is 10^7
times smaller than the 65th joins the normal term; by its third cumulant that changes the tail by a
relative 10^−6 at most.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import cos, exp, inf, log, pi, sin, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topgap.errors import ParameterError

Floats: TypeAlias = NDArray[np.float64]

_KEPT = 64
"""So many of the largest scales of one sign are never put into bins."""

_RATIO = 1.3
"""The largest scale of a bin over the smallest."""

_BINS = 62
"""So many bins there are; 1.3 to this power is about 10^7."""

_NEGLIGIBLE = 1e-100
"""A scale that is this times the standard deviation of the sum, or less, is left out."""

_BEND = 0.3
"""The largest β."""

_GROWTH = 5.0
"""The largest n β²."""

_DIGITS = 30.0
"""2πβ/h: the trapezoidal rule's error is about e to the power of minus this."""

_SMALL = 1e-12
"""The sum over the path ends where the integrand is so small."""

_BLOCK = 32
"""So many points of the path are taken at once."""

_CLOSE = 1e-4
"""If ln P is so close to what is asked for, one more step of Newton's makes it exact."""


def quantiles(
    laplace: Floats, exponential: Floats, variance: float, tails: Sequence[float]
) -> list[float]:
    """The points x with P(X ≤ x) = tail, one for each of the tails.

    P(X ≤ x) is the tail to a relative 10^−4 or better for tails down to 10^−7, and so is what it
    leaves to 1. Against exact laws it was off by less than 10^−7 with at most 64 different scales
    of each sign, for tails down to 10^−100 too, and by less than 2·10^−6 with more
    (`tests/estimates/test_quantiles.py`).

    Args:
        laplace: The factors aⱼ of the standard Laplace terms; the sign does not matter.
        exponential: The signed factors cⱼ of the exponential terms, which are centred: Eⱼ − 1.
        variance: The variance of the normal term.
        tails: Probabilities above 0 and below 1, in any order.

    Raises:
        ParameterError: A tail is not between 0 and 1, the variance is negative, or a number is not
            finite.

    >>> none = np.zeros(0)
    >>> [round(x, 6) for x in quantiles(np.array([2.0]), none, 0.0, [0.025, 0.975])]  # ∓2 ln 20
    [-5.991465, 5.991465]
    >>> [round(x, 6) for x in quantiles(none, np.array([3.0]), 0.0, [0.5])]  # 3 (ln 2 − 1)
    [-0.920558]
    >>> [round(x, 6) for x in quantiles(none, none, 4.0, [0.975])]
    [3.919928]
    """
    if not all(0 < tail < 1 for tail in tails):
        raise ParameterError("a tail must be a probability above 0 and below 1.")
    scales = np.concatenate([exponential, laplace, -laplace]).astype(np.float64)
    if not (0 <= variance < inf and np.isfinite(scales).all()):
        raise ParameterError("the terms must be finite, and the variance not negative.")
    # In two steps, so that no square overflows or vanishes.
    largest = max(float(np.abs(scales).max(initial=0.0)), sqrt(variance))
    if largest == 0:
        return [0.0 for _ in tails]
    scales, spread = scales / largest, sqrt(variance) / largest
    deviation = sqrt(float(scales @ scales) + spread * spread)
    upper = _condensed(scales / deviation, spread / deviation)
    lower = _Terms(-upper.scales, upper.counts, upper.spread)
    return [
        (upper.beyond(1 - tail) if tail > 0.5 else -lower.beyond(tail)) * deviation * largest
        for tail in tails
    ]


def _condensed(scales: Floats, spread: float) -> "_Terms":
    """The same sum with fewer terms: see "Many terms" above."""
    positive = _binned(scales[scales > _NEGLIGIBLE])
    negative = _binned(-scales[scales < -_NEGLIGIBLE])
    return _Terms(
        np.concatenate([positive.sizes, -negative.sizes]),
        np.concatenate([positive.counts, negative.counts]),
        sqrt(spread * spread + positive.variance + negative.variance),
    )


class _Binned(NamedTuple):
    """Scales of one sign, how often each is there, and the variance of what became normal."""

    sizes: Floats
    counts: Floats
    variance: float


def _binned(sizes: Floats) -> _Binned:
    """Count equal sizes, and put all but the largest into bins.

    >>> _binned(np.array([2.0, 1.0, 2.0]))
    _Binned(sizes=array([1., 2.]), counts=array([1., 2.]), variance=0.0)
    >>> binned = _binned(np.linspace(1, 2, 1000))
    >>> binned.sizes.size, round(float(binned.sizes**5 @ binned.counts))  # 999 · 63/6 + 33/2
    (70, 10506)
    """
    increasing, times = np.unique(sizes, return_counts=True)
    kept, rest = increasing[-_KEPT:], increasing[:-_KEPT]
    counts = times[-_KEPT:].astype(np.float64)
    if rest.size == 0:
        return _Binned(kept, counts, 0.0)
    squares = times[:-_KEPT] * rest**2
    bins = (np.log(rest[-1] / rest) / log(_RATIO)).astype(np.int64)
    tiny = bins >= _BINS
    variance = float(squares[tiny].sum())
    rest, squares = rest[~tiny], squares[~tiny]
    _, bins = np.unique(bins[~tiny], return_inverse=True)
    # The two points of the Gauss rule follow from the mean and the second and third central
    # moments v and m: they are at mean + d where d² − (m/v)d − v = 0.
    weights = np.bincount(bins, squares)
    mean = np.bincount(bins, squares * rest) / weights
    off = rest - mean[bins]
    v = np.bincount(bins, squares * off**2) / weights
    m = np.bincount(bins, squares * off**3) / weights
    v = np.maximum(v, (1e-9 * mean) ** 2)  # a size alone in its bin: two points side by side
    half = m / v / 2
    root = np.sqrt(half**2 + v)
    above, below = half + root, half - root
    points = np.concatenate([mean + above, mean + below])
    shares = np.concatenate([-below, above]) / np.tile(above - below, 2)
    return _Binned(
        np.concatenate([kept, points]),
        np.concatenate([counts, shares * np.tile(weights, 2) / points**2]),
        variance,
    )


class _Point(NamedTuple):
    """A point x, ln P(X > x), and what P(X > x) is divided by the density at x."""

    x: float
    log_tail: float
    ratio: float


@dataclass(frozen=True)
class _Terms:
    """A sum whose upper tail is looked at: exponential terms, their counts, N's deviation."""

    scales: Floats
    counts: Floats
    spread: float

    def beyond(self, tail: float) -> float:
        """The point x with P(X > x) = tail, by Newton's method for ln P, which is concave."""
        v, aim = self._guess(tail), log(tail)
        for _ in range(100):
            point, slope = self._at(v)
            step = (point.log_tail - aim) * point.ratio
            if abs(point.log_tail - aim) < _CLOSE:
                break
            v *= exp(min(max(-step / (v * slope), -2.0), 2.0))
        return point.x + step

    @property
    def _largest(self) -> float:
        return float(self.scales.max(initial=0.0))

    def _guess(self, tail: float) -> float:
        """About the v = 1/σ − q that belongs to the tail: as if Y were normal.

        v goes from 0, where x is as large as it can be, to where x is below the median.
        """
        logs, log_tails = self._table
        return exp(np.interp(-log(tail), -log_tails, logs))

    @cached_property
    def _table(self) -> tuple[Floats, Floats]:
        """The logarithms of some v, and about those of their tails."""
        logs = 3 - np.geomspace(1, 344, 48)
        v = np.exp(logs)[:, np.newaxis]
        distances = self._largest - self.scales + v
        inverse = self._largest + v  # 1/σ
        tilted = self.scales / distances
        spread = (self.spread / inverse)[:, 0]
        exponent = (np.log(inverse / distances) - tilted) @ self.counts + 1 - spread**2 / 2
        variance = tilted**2 @ self.counts + 1 + spread**2
        unit = 1 / np.sqrt(variance)
        tilted *= unit[:, np.newaxis]
        skewness = 2 * (tilted**3 @ self.counts - unit**3)
        kurtosis = 6 * (tilted**4 @ self.counts + unit**4)
        edgeworth = 1 + kurtosis / 8 - 5 / 24 * skewness**2  # 11/12 or more
        return logs, exponent + np.log(edgeworth * unit / sqrt(2 * pi))

    def _at(self, v: float) -> tuple[_Point, float]:
        """The point whose saddle is σ = 1/(q + v), and −dx/dv, which is the variance of Y."""
        inverse = self._largest + v
        distances = self._largest - self.scales + v  # not 1 − cσ, which could cancel
        tilted = self.scales / distances
        spread = self.spread / inverse
        x = float(self.counts @ (self.scales * tilted)) + self.spread * spread - inverse
        shift = float(self.counts @ tilted) - 1  # L
        # K(σ) − σx, written so that the terms of a bounded X do not cancel.
        exponent = float(self.counts @ np.log(inverse / distances)) - shift - spread**2 / 2
        variance = float(self.counts @ tilted**2) + 1 + spread**2
        unit = 1 / sqrt(variance)
        tail, density = _along_the_path(
            np.append(tilted, -1.0) * unit, np.append(self.counts, 1.0), spread * unit, unit
        )
        return _Point(x, exponent + log(tail * unit), inverse * tail / density), variance


def _along_the_path(
    scales: Floats, counts: Floats, spread: float, unit: float
) -> tuple[float, float]:
    """1/(2πi) times the integrals of F(w) and (1 + unit · w) F(w), where sd Y = 1."""
    shift = float(counts @ scales)
    side = 1 if shift >= 0 else -1
    growing = float(counts[side * scales > 0].sum())
    bend = min(_BEND, sqrt(_GROWTH / max(growing, 1.0)))
    step = 2 * pi * bend / _DIGITS
    across, along = 0.5, 0.5 * cos(bend) / sin(bend)  # A sin β, A cos β
    tail = density = 0.0
    start = 0
    while True:
        u = (np.arange(start, start + _BLOCK) + 0.5) * step
        w = side * across * (np.cosh(u) - 1) + 1j * along * np.sinh(u)
        w_slope = side * across * np.sinh(u) + 1j * along * np.cosh(u)
        real, imaginary = 1 - np.outer(w.real, scales), -np.outer(w.imag, scales)
        size = np.log(real**2 + imaginary**2) @ counts / 2
        turn = np.arctan2(imaginary, real) @ counts
        values = np.exp(w * (w * (spread * spread / 2) - shift) - size - 1j * turn) * w_slope
        tail += float(values.imag.sum())
        density += float((values * (1 + unit * w)).imag.sum())
        if abs(values[-1]) < _SMALL:
            return tail * step / pi, density * step / pi
        start += _BLOCK
