"""Lists by OpenDP's thresholds, and the laws by which they are drawn.

Each person keeps at most L keys, so that neighbours differ by 1 in at most L counts. The scale is
the least at which OpenDP reports ε or less, and the threshold the least at which it reports δ or
less, both by its own privacy maps. All keys with a noisy count at the threshold or above come out,
and the k with the largest noisy counts are the list.

    Laplace    make_laplace_threshold: scale L/ε, and all of δ for the threshold
    Gaussian   make_gaussian_threshold with zCDP, converted by make_zCDP_to_approxDP: a scale that
               grows like √L; half of δ is for the conversion and half for the threshold
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import exp, sqrt
from typing import Any

import numpy as np
import opendp.prelude as dp

from benchmarks.data import Counts

dp.enable_features("contrib")

LAPLACE, GAUSSIAN = "Laplace", "Gaussian"
DELTA = 1e-8
MOST_THRESHOLD = 10**9


@dataclass(frozen=True)
class Threshold:
    """A threshold mechanism.

    Attributes:
        noise: `LAPLACE` or `GAUSSIAN`.
        scale: The scale of the noise.
        threshold: The least noisy count that comes out.
        measurement: What releases; from a dict of counts, a dict of noisy counts.
    """

    noise: str
    scale: float
    threshold: int
    measurement: Any

    def release(self, counts: Counts, most: int) -> list[int]:
        """Release by OpenDP, and name the largest, from the first down, at most so many."""
        return [*self.release_counts(counts, most)]

    def release_counts(self, counts: Counts, most: int) -> dict[int, int]:
        """The same with their noisy counts."""
        present = np.flatnonzero(counts)
        released = self.measurement(
            dict(zip(present.tolist(), counts[present].tolist(), strict=True))
        )
        largest = sorted(released, key=lambda key: -released[key])[:most]
        return {key: released[key] for key in largest}

    def simulate(self, counts: Counts, most: int, generator: np.random.Generator) -> list[int]:
        """Draw from the same law by NumPy; Gaussian noise is rounded to whole numbers."""
        present = np.flatnonzero(counts)
        if self.noise == LAPLACE:
            up, down = generator.geometric(1 - exp(-1 / self.scale), (2, len(present)))
            noisy = counts[present] + up - down
        else:
            noisy = counts[present] + np.rint(generator.normal(0, self.scale, len(present)))
        kept = np.flatnonzero(noisy >= self.threshold)
        largest = kept[np.argsort(-noisy[kept], kind="stable")[:most]]
        names: list[int] = present[largest].tolist()
        return names


@cache
def make_threshold(noise: str, bound: int, epsilon: str) -> Threshold:
    """The mechanism for this L, ε and `DELTA`."""
    make, privacy, delta = {
        LAPLACE: (_make_laplace, _privacy_of_laplace, DELTA),
        GAUSSIAN: (_make_gaussian, _privacy_of_gaussian, DELTA / 2),
    }[noise]
    most = float(epsilon)

    def reported(scale: float, threshold: int) -> tuple[float, float]:
        return privacy(make(scale, threshold), bound)

    # In steps of a millionth: no bound needs more noise than 100·L/ε.
    millionths = 10**6
    steps = _least(
        lambda step: reported(step / millionths, MOST_THRESHOLD)[0] <= most,
        1,
        int(100 * millionths * bound / most),
    )
    scale = steps / millionths
    threshold = _least(lambda each: reported(scale, each)[1] <= delta, 2, MOST_THRESHOLD)
    return Threshold(noise, scale, threshold, make(scale, threshold))


def _make_laplace(scale: float, threshold: int) -> Any:
    metric = dp.l01inf_distance(dp.absolute_distance(T=int))
    return dp.m.make_laplace_threshold(_counts(), metric, scale=scale, threshold=threshold)


def _privacy_of_laplace(measurement: Any, bound: int) -> tuple[float, float]:
    epsilon, delta = measurement.map((bound, bound, 1))
    return epsilon, delta


def _make_gaussian(scale: float, threshold: int) -> Any:
    metric = dp.l02inf_distance(dp.absolute_distance(T=float))
    measure = "Approximate<ZeroConcentratedDivergence>"
    return dp.m.make_gaussian_threshold(
        _counts(), metric, scale=scale, threshold=threshold, MO=measure
    )


def _privacy_of_gaussian(measurement: Any, bound: int) -> tuple[float, float]:
    """ε at half of δ, and the δ of the threshold."""
    converted: Any = dp.c.make_zCDP_to_approxDP(measurement)
    profile, delta = converted.map((bound, sqrt(bound), 1.0))
    return profile.epsilon(DELTA / 2), delta


def _counts() -> Any:
    return dp.map_domain(dp.atom_domain(T=int), dp.atom_domain(T=int))


def _least(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The least whole number from low to high at which it holds, if it holds from there on."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
