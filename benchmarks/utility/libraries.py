"""What the peers release of counts at a given ε, for neighbours that differ by one person.

One person's arrival adds at most 1 to any count and takes from none: sensitivity 1, monotonic.

    OpenDP        make_noisy_top_k on linf_distance(monotonic=True), at the least scale whose
                  privacy map says ε or less; then_laplace on the vector of the k winners' counts
    diffprivlib   has no top-k: k selections of ε/k each, every one from what is left, with
                  monotonic=True; then Geometric with a k-th of its ε for each winner
"""

from collections.abc import Callable
from math import inf, nextafter
from typing import Any

import opendp.prelude as dp
from diffprivlib.mechanisms import Exponential, Geometric, PermuteAndFlip

dp.enable_features("contrib")

Lists = Callable[[], list[int]]
"""Releases the places of the winners, from the first down, with fresh noise at each call."""
Measure = Callable[[list[int]], list[int]]
"""Releases these counts, with fresh noise at each call."""


def opendp_lists(counts: list[int], k: int, epsilon: float) -> Lists:
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int, monotonic=True)

    def make(scale: float) -> Any:
        return dp.m.make_noisy_top_k(*space, dp.max_divergence(), k=k, scale=scale)

    measurement = _at_epsilon(make, 1, epsilon, k / epsilon)
    return lambda: list(measurement(counts))


def opendp_measure(k: int, epsilon: float) -> Measure:
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    measurement = _at_epsilon(
        lambda scale: dp.m.make_laplace(*space, scale=scale), k, epsilon, k / epsilon
    )
    return lambda counts: list(measurement(counts))


def _at_epsilon(make: Callable[[float], Any], distance: int, epsilon: float, scale: float) -> Any:
    """The measurement whose privacy map says ε: its roundings may ask for a little more noise."""
    measurement = make(scale)
    while measurement.map(distance) > epsilon:
        scale = nextafter(scale, inf)
        measurement = make(scale)
    return measurement


def exponential_lists(counts: list[int], k: int, epsilon: float) -> Lists:
    return lambda: _peeled(Exponential, counts, k, epsilon)


def permute_and_flip_lists(counts: list[int], k: int, epsilon: float) -> Lists:
    return lambda: _peeled(PermuteAndFlip, counts, k, epsilon)


def _peeled(mechanism: Any, counts: list[int], k: int, epsilon: float) -> list[int]:
    """Select k times, each time from those that are left and with a k-th of ε."""
    utility, candidates, named = list(counts), list(range(len(counts))), []
    for _ in range(k):
        place = mechanism(
            epsilon=epsilon / k, sensitivity=1, utility=utility, monotonic=True
        ).randomise()
        named.append(candidates.pop(place))
        del utility[place]
    return named


def geometric_measure(k: int, epsilon: float) -> Measure:
    mechanism = Geometric(epsilon=epsilon / k, sensitivity=1)
    return lambda counts: [mechanism.randomise(count) for count in counts]


LISTS: dict[str, Callable[[list[int], int, float], Lists]] = {
    "OpenDP": opendp_lists,
    "diffprivlib, permute and flip": permute_and_flip_lists,
    "diffprivlib, exponential": exponential_lists,
}
WAYS = {
    "OpenDP": "permute and flip",
    "diffprivlib, permute and flip": "permute and flip",
    "diffprivlib, exponential": "exponential",
}
"""How each of them selects; `benchmarks.utility.laws` has what that means."""

MEASURES: dict[str, Callable[[int, float], Measure]] = {
    "OpenDP": opendp_measure,
    "diffprivlib, exponential": geometric_measure,
}
