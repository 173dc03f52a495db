"""What a release would be and would cost, without drawing or charging anything: `Check`."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from topgap.parameters import TopK
from topgap.payment import Charged, Payment
from topgap.text import on_one_line, written


@dataclass(frozen=True)
class Check:
    """What a release would be, if it were made now.

    Everything that it needs was read and checked. Nothing was drawn or charged.

    Attributes:
        parameters: What would be released; their ε is that of all of it.
        measured: Whether the winners would be measured, too.
        items: How many items would take part.
        occurring: How many of them have an answer other than 0; None if nobody looked. **Secret**,
            as the answers are: it is for the holder of the data, to see that list and columns fit.
        dataset: The data set of the ledger that would be charged; None without a ledger.
        cost: The ε that would be charged.
        left: What would be left of the data set's total.

    >>> print(Check(TopK(k=1, epsilon=1), False, 3, 2))  # doctest: +NORMALIZE_WHITESPACE
    Nothing was drawn or charged.
    Would be released: the largest of 3 items with its gap to the next, at ε = 1, sensitivity 1.
    For the holder of the data alone, never to be published: 2 of these items have an answer other
    than 0.
    """

    parameters: TopK
    measured: bool
    items: int
    occurring: int | None = None
    dataset: str | None = None
    cost: Fraction | None = None
    left: Fraction | None = None

    def lines(self) -> Sequence[str]:
        """What is said of it, a sentence in each."""
        k, cost = self.parameters.k, written(self.parameters.epsilon)
        largest = "largest" if k == 1 else f"{k:,} largest"
        gaps = "its gap to the next" if k == 1 else "the gaps between them"
        many = " and their measurements" if self.measured else ""
        monotonic = ", monotonic" if self.parameters.monotonic else ""
        said = [
            "Nothing was drawn or charged.",
            f"Would be released: the {largest} of {self.items:,} items with {gaps}{many}, at "
            f"ε = {cost}, sensitivity {self.parameters.sensitivity}{monotonic}.",
        ]
        if self.dataset is not None and self.cost is not None and self.left is not None:
            said.append(
                f"Would be charged to {on_one_line(self.dataset)}: ε = {written(self.cost)}, which "
                f"leaves {written(self.left)}."
            )
        if self.occurring is not None:
            said.append(
                f"For the holder of the data alone, never to be published: {self.occurring:,} of "
                f"these items have an answer other than 0."
            )
        return said

    def __str__(self) -> str:
        return "\n".join(self.lines())


def check_of(
    parameters: TopK,
    payment: Payment,
    items: int,
    occurring: int | None,
    *,
    measured: bool = False,
) -> Check:
    """The check of a release from so many items, of which so many have an answer other than 0."""
    if not isinstance(payment, Charged):
        return Check(parameters, measured, items, occurring)
    charged = payment.dataset, payment.cost, payment.left
    return Check(parameters, measured, items, occurring, *charged)


def count_occurring(numbers: Any) -> int:
    """How many of the answers are not 0.

    >>> count_occurring([3, 0, 0.5])
    2
    """
    if isinstance(numbers, np.ndarray):
        return int((numbers != 0).sum())
    return sum(map(bool, numbers))
