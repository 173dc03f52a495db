"""Cells: what is counted and has an exact probability, and how those of one data set are made."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from math import perm
from typing import Generic, NamedTuple, TypeVar

from topgap.auditing.observing.event_text import describe_items
from topgap.auditing.probability.event_probability import Range, Winners
from topgap.law import Bounds

MOST_ORDERS = 20_000

Key = tuple[Winners, tuple[int, ...]]
"""The first winners and the numbers of bins; or no winners and a remainder."""
Box = TypeVar("Box")
"""What is asked of all gaps and values."""


class Cell(NamedTuple):
    """Some labels of an observable, their description, and bounds of their probability.

    Attributes:
        winners: The number of winners of the outcomes in it.
        feature: The name of the observable.
        key: Which of its labels.
        said: The same in words.
        bounds: Bounds of their probability.
    """

    winners: int
    feature: str
    key: Key
    said: str
    bounds: Bounds


class OrderLaw(ABC, Generic[Box]):
    """The law of outcomes with k winners on one data set, in steps.

    The probability of winners depends only on their answers, so orders with the same answers are
    computed once.
    """

    def __init__(self, steps: Winners, k: int, rate: Fraction) -> None:
        self.steps, self.k, self.rate = steps, k, rate

    @abstractmethod
    def box(self, gaps: Sequence[Range]) -> Box:
        """What is asked of the gaps, and of nothing else."""

    @abstractmethod
    def bound(self, winners: Winners, losers: Winners, box: Box) -> Bounds:
        """Bound the probability of winners with these answers, in this order, and of the box."""

    @cached_property
    def orders(self) -> list[tuple[Winners, Winners]]:
        """All orders of winners, with their answers."""
        return [
            (order, tuple(self.steps[i] for i in order))
            for order in permutations(range(len(self.steps)), self.k)
        ]

    @property
    def patterns(self) -> int:
        """The number of orders with different answers."""
        if perm(len(self.steps), self.k) > MOST_ORDERS:
            return MOST_ORDERS
        return len({winners for _, winners in self.orders})

    def make_cells_of_gaps(
        self,
        feature: str,
        prefix: int,
        boxes: Sequence[tuple[tuple[int, ...], str, Sequence[Range]]],
    ) -> Iterator[Cell]:
        """Make a cell for each prefix of the winners and these ranges of all gaps."""
        return self.make_cells(
            feature, prefix, [(key, said, self.box(gaps)) for key, said, gaps in boxes]
        )

    def make_cells(
        self, feature: str, prefix: int, boxes: Sequence[tuple[tuple[int, ...], str, Box]]
    ) -> Iterator[Cell]:
        """Make a cell for each prefix of the winners and each box."""
        groups: dict[Winners, Counter[Winners]] = {}
        for order, winners in self.orders:
            groups.setdefault(order[:prefix], Counter())[winners] += 1
        for first, patterns in groups.items():
            who = describe_items(first, more=self.k > prefix)
            for key, said, box in boxes:
                words = f"{who} with {said}" if said else who
                yield Cell(self.k, feature, (first, key), words, self._sum(patterns, box))

    def sum_over_orders(self, box: Box) -> Bounds:
        """The probability of the box, whoever wins."""
        return self._sum(Counter(winners for _, winners in self.orders), box)

    def _sum(self, patterns: Counter[Winners], box: Box) -> Bounds:
        low = high = Fraction(0)
        for winners, times in patterns.items():
            one = self.bound(winners, self._losers(winners), box)
            low, high = low + times * one.low, high + times * one.high
        return Bounds(low, min(high, Fraction(1)))

    def _losers(self, winners: Winners) -> Winners:
        return tuple((Counter(self.steps) - Counter(winners)).elements())
