"""The laws by which the peers' lists are drawn: simulated at any size, exact for a few items.

**Peeling.** OpenDP and diffprivlib select k items one after another, each from those that remain
and with fresh randomness. There are two ways to select one:

    permute and flip   the largest of count + scale·E, the E independent Exponential(1)
    exponential        the largest of count + scale·G, the G independent standard Gumbel

The first equality is that of Ding et al. (2021), the second is well known. topgap draws its noise
once, and takes the k largest: for k = 1 that is permute and flip, for larger k it is neither.

**Equal counts.** Of m items with the same count only the largest noise matters. P[max ≤ x] is
(1 − e^−x)^m for E and exp(−m·e^−x) for G, so one draw for all m is enough:
−ln(1 − e^(−D/m)) and ln m − ln D with D Exponential(1).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations
from math import exp, prod
from typing import Any

import numpy as np

from benchmarks.data import Counts
from topgap import TopK, law

Array = np.ndarray[Any, np.dtype[np.float64]]
Winners = np.ndarray[tuple[int, int], np.dtype[np.int64]]
LargestNoise = Callable[[Array, Array], Array]
"""The largest noise of m items, from an Exponential(1) draw and m."""

LEFT_OUT = 1e-7
AT_ONCE = 2**21


def largest_exponential(drawn: Array, items: Array) -> Array:
    return -np.log(-np.expm1(-drawn / items))


def largest_gumbel(drawn: Array, items: Array) -> Array:
    return np.log(items) - np.log(drawn)


SELECTED: dict[str, LargestNoise] = {
    "permute and flip": largest_exponential,
    "exponential": largest_gumbel,
}


@dataclass(frozen=True)
class Groups:
    """The items that have a probability, those with equal counts together.

    Attributes:
        counts: Each count once.
        items: How many items have it.
        places: The place of one of them. Lists are judged by counts, so any one will do.
    """

    counts: Array
    items: Array
    places: np.ndarray[Any, np.dtype[np.int64]]

    @classmethod
    def of(cls, counts: Counts, k: int, scale: float) -> "Groups":
        """Leave out those that are selected with a probability below k·10^−7, all together.

        In each round some remaining item has at least the k-th largest count c. So an item with
        the count a is selected with a probability of at most e^(−(c − a)/scale), in either way.
        """
        kept, places, items = np.unique(counts, return_index=True, return_counts=True)
        kth = np.partition(counts, -k)[-k]
        probabilities = items * np.exp(np.minimum(kept - kth, 0) / scale)
        stays = np.cumsum(probabilities) > LEFT_OUT  # from the smallest up
        return cls(kept[stays].astype(float), items[stays].astype(float), places[stays])


def simulate(way: str, counts: Counts, k: int, scale: float, lists: int, seed: int) -> Winners:
    """So many lists of k, selected by peeling in this way; a list in each row."""
    groups, generator = Groups.of(counts, k, scale), np.random.default_rng(seed)
    at_once = max(1, AT_ONCE // len(groups.counts))
    parts = [
        _peeled(SELECTED[way], groups, k, scale, min(at_once, lists - start), generator)
        for start in range(0, lists, at_once)
    ]
    return np.concatenate(parts)


def _peeled(
    noise: LargestNoise,
    groups: Groups,
    k: int,
    scale: float,
    lists: int,
    generator: np.random.Generator,
) -> Winners:
    left = np.tile(groups.items, (lists, 1))
    named = np.empty((lists, k), dtype=np.int64)
    each = np.arange(lists)
    for place in range(k):
        drawn = generator.standard_exponential(left.shape)
        heights = groups.counts + scale * noise(drawn, np.maximum(left, 1))
        heights[left == 0] = -np.inf
        best = heights.argmax(axis=1)
        left[each, best] -= 1
        named[:, place] = groups.places[best]
    return named


def permute_and_flip(counts: Sequence[int], scale: float) -> list[float]:
    """The probability of each of a few items to be selected by permute and flip.

    With p_i = e^(−(largest − count_i)/scale) it is ∫ p_i·∏(1 − p_j·t) dt over t from 0 to 1, the
    product over the others, multiplied out here.

    >>> [round(each, 4) for each in permute_and_flip([1, 0], 1.0)]   # 1 − 1/2e, 1/2e
    [0.8161, 0.1839]
    """
    p = [exp((count - max(counts)) / scale) for count in counts]
    probabilities = []
    for i, own in enumerate(p):
        others = p[:i] + p[i + 1 :]
        probabilities.append(
            sum(
                own * (-1) ** size * prod(chosen) / (size + 1)
                for size in range(len(others) + 1)
                for chosen in combinations(others, size)
            )
        )
    return probabilities


def exponential(counts: Sequence[int], scale: float) -> list[float]:
    """The probability of each item to be selected by the exponential mechanism.

    >>> [round(each, 4) for each in exponential([1, 0], 1.0)]
    [0.7311, 0.2689]
    """
    weights = [exp((count - max(counts)) / scale) for count in counts]
    return [weight / sum(weights) for weight in weights]


EXACT: dict[str, Callable[[Sequence[int], float], list[float]]] = {
    "permute and flip": permute_and_flip,
    "exponential": exponential,
}


def probability_by_peeling(
    way: str, counts: Sequence[int], scale: float, outcome: Sequence[int]
) -> float:
    """The exact probability that peeling in this way names exactly these, in this order."""
    left, probability = list(range(len(counts))), 1.0
    for winner in outcome:
        probabilities = EXACT[way]([counts[i] for i in left], scale)
        probability *= probabilities[left.index(winner)]
        left.remove(winner)
    return probability


def probability_at_once(counts: Sequence[int], scale: int, outcome: Sequence[int]) -> float:
    """The same where exponential noise of this mean is drawn once: topgap's own law."""
    k = len(outcome)
    parameters = TopK(k, Fraction(k, scale), resolution=1, monotonic=True)
    return float(law.top_k(list(counts), parameters, outcome).low)


@cache
def right_lists(counts: tuple[int, ...], k: int) -> list[tuple[int, ...]]:
    """All lists of k of a few items that name the k largest, in any order."""
    best = sorted(counts)[-k:]
    return [
        named
        for named in permutations(range(len(counts)), k)
        if sorted(counts[i] for i in named) == best
    ]
