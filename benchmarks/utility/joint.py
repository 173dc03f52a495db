"""The joint exponential mechanism for the top k, in NumPy's floats: INSECURE, to compare with.

By Gillenwater, Joseph, Muñoz Medina and Ribero (ICML 2022). It names a whole sequence of k items at
once. With the sorted counts c₁ ≥ c₂ ≥ … the loss of a sequence s is

    loss(s) = max over the ranks r of c_r − count(s_r)

and a sequence has a probability proportional to e^(−ε·loss/2). A person who comes moves each sorted
count, and each count of an item, by 0 or 1. So the loss moves by at most 1, however many items the
person has, and this is ε-differentially private between add/remove neighbours.

How it is drawn here, for whole counts. N(t) is the number of sequences with a loss of at most t.
Since e^(−a·loss) = (1 − e^(−a))·Σ e^(−at) over all whole t ≥ loss, with a = ε/2,

1. t is drawn with a probability proportional to N(t)·e^(−at);
2. one of the N(t) sequences is drawn uniformly.

At rank r the items with counts of c_r − t or more are allowed. They are the m_r largest, and m_r
never falls with r. So N(t) = ∏ (m_r − r + 1), and the items are drawn rank by rank, each uniformly
from those that are allowed and not named yet. From t = c₁ on everything is allowed, and the rest of
the sum is a geometric series.
"""

from dataclasses import dataclass
from functools import cached_property
from math import expm1, log
from typing import Any

import numpy as np

from benchmarks.data import Counts

Floats = np.ndarray[Any, np.dtype[np.float64]]
Whole = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False)
class JointMechanism:
    """The mechanism for these counts, none of them below 0.

    Attributes:
        counts: The counts; the place in the array is an item's name.
        k: How many are named.
    """

    counts: Counts
    k: int

    @cached_property
    def order(self) -> Whole:
        """The items from the largest count down."""
        order: Whole = np.argsort(-self.counts, kind="stable")
        return order

    @cached_property
    def items_from(self) -> Whole:
        """How many items have so large a count or a larger one: from 0 to the largest count."""
        items: Whole = np.bincount(self.counts)[::-1].cumsum()[::-1]
        return items

    def allowed(self, rank: int, loss: Any) -> Any:
        """m_r for a rank from 0, and t, a number or an array of them."""
        return self.items_from[np.maximum(self.counts[self.order[rank]] - loss, 0)]

    @cached_property
    def log_sequences(self) -> Floats:
        """ln N(t), from t = 0 to the largest count."""
        losses = np.arange(len(self.items_from))
        logs = np.zeros(len(losses))
        for rank in range(self.k):
            logs += np.log(self.allowed(rank, losses) - rank)
        return logs

    def bounds(self, epsilon: float) -> Floats:
        """The probability of each t; the last stands for all that are as large or larger."""
        half = epsilon / 2
        logs = self.log_sequences - half * np.arange(len(self.log_sequences))
        logs[-1] -= log(-expm1(-half))
        weights = np.exp(logs - logs.max())
        probabilities: Floats = weights / weights.sum()
        return probabilities

    def draw(self, epsilon: float, lists: int, generator: np.random.Generator) -> list[list[int]]:
        """So many lists of k items, each from the first rank down."""
        probabilities = self.bounds(epsilon)
        drawn = generator.choice(len(probabilities), lists, p=probabilities)
        return [self._sequence(int(loss), generator) for loss in drawn]

    def _sequence(self, loss: int, generator: np.random.Generator) -> list[int]:
        left: list[int] = []  # places in the order that are allowed and not named
        named, known = [], 0
        uniform = generator.random(self.k)
        for rank in range(self.k):
            reached = int(self.allowed(rank, loss))
            left.extend(range(known, reached))
            known = reached
            place = int(uniform[rank] * len(left))
            left[place], left[-1] = left[-1], left[place]
            named.append(left.pop())
        sequence: list[int] = self.order[named].tolist()
        return sequence
