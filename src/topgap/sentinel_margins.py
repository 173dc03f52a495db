"""What `topgap.margins` computes where a threshold joins the ranking, with exponential noise.

With noise in units of the scale, an item with answer a and the threshold t come out at a + x and
t + y, where x and y are independent and exponential of mean 1; e^−x is uniform between 0 and 1.
"""

from fractions import Fraction
from math import exp, expm1, log

import numpy as np

from topgap.numbers.format import to_float
from topgap.numbers.quadrature import unit_nodes
from topgap.parameters import TopK

_LARGEST_LOG = 700.0  # of a number that a float holds
_NEGLIGIBLE = 50.0  # e^−50 of an integral is less than its rounding
_WIDEST = 8.0  # on which 16 nodes integrate an exponential function to full precision


def probability_above(parameters: TopK, answer: Fraction) -> float:
    """Return the probability that an item with this answer comes out above the threshold.

    The difference of both noises is Laplace noise: 1 − e^−d/2, where the answer is d scales above
    the threshold, and e^−d/2 where it is as much below.

    >>> few = TopK(k=4, epsilon=1, monotonic=True, threshold=500)   # noise of mean 4
    >>> [round(probability_above(few, Fraction(each)), 4) for each in (488, 500, 512)]
    [0.0249, 0.5, 0.9751]
    """
    ahead = to_float((answer - (parameters.threshold or 0)) / parameters.scale)
    return 1 - exp(-ahead) / 2 if ahead >= 0 else exp(ahead) / 2


def expected_above(parameters: TopK, size: int) -> float:
    """Return how many of `size` items with 0 are named on average, at most and nearly.

    Given y, about c·e^−y of them come out above the threshold, where c = size·e^−(t/scale); at most
    k are named. For a uniform u the mean of min(k, c·u) is c/2, or k − k²/(2c) if c is above k. By
    Jensen's inequality the true mean is at most that. Below 0 the threshold lets all pass unless
    its noise lifts it above 0.
    """
    t, k = to_float((parameters.threshold or 0) / parameters.scale), parameters.k
    log_expected = log(size) - max(t, 0.0)
    lifted = exp(min(t, 0.0))
    if log_expected <= log(k):
        mean = exp(log_expected) / 2
    else:
        mean = k - k / 2 * exp(log(k) - log_expected)
    return (1 - lifted) * min(k, size) + lifted * mean


def probability_missed(parameters: TopK, n: int, count: int) -> float:
    """Return the probability that an item with this count is not named.

    It is named if it comes out above the threshold and n − 1 items with 0. Its own noise x must be
    t − c if the count c is below t; with w = e^−(t − c), or else 1, and v uniform, e^−x is w·v
    then. The threshold is above it with probability r·v, where r = e^−(c − t), or 1 if c is below
    t; and an item with 0 is with probability τ·v, where τ = e^−max(c, t). So it is missed with
    probability 1 − w + w·(r/2 + ∫ (1 − r·v)·(1 − (1 − τ·v)^(n − 1)) dv), v from 0 to 1.
    """
    c = to_float(count / parameters.scale)
    t = to_float((parameters.threshold or 0) / parameters.scale)
    w, r, log_tau = exp(min(0.0, c - t)), exp(min(0.0, t - c)), -max(c, t)
    missed_by_noise = -expm1(min(0.0, c - t))
    return missed_by_noise + w * (r / 2 + _integrate_beaten(n, r, log_tau))


def _integrate_beaten(n: int, r: float, log_tau: float) -> float:
    """Return ∫ (1 − r·v)·(1 − (1 − τ·v)^(n − 1)) dv over v from 0 to 1."""
    if n == 1:
        return 0.0
    log_beaten = log(n - 1) + log_tau
    if log_beaten > _LARGEST_LOG:
        return 1 - r / 2
    beaten, tau = exp(log_beaten), exp(log_tau)
    # Beyond `end`, next to nothing is left of the power.
    end = min(1.0, _NEGLIGIBLE / beaten) if beaten > 0 else 1.0
    pieces = int(beaten * end / _WIDEST) + 1
    nodes, weights = unit_nodes()
    v = ((np.arange(pieces)[:, None] + nodes) * (end / pieces)).ravel()
    s = tau * v
    per_s = np.where(s > 0, -np.log1p(-s) / np.where(s > 0, s, 1.0), 1.0)
    inner = (1 - r * v) * -np.expm1(-beaten * v * per_s)
    within = float(inner @ np.tile(weights, pieces)) * end / pieces
    return within + (1 - end) - r * (1 - end * end) / 2
