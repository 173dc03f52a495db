"""What is audited on: pairs of data sets that differ by one person, and parameters."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from topgap.parameters import TopK

ReleaseFunction = Callable[[Sequence[int], TopK], object]
"""What is audited: from answers, a tuple of whole numbers, and parameters to what is released.

It returns a `topgap.Release`; or k pairs (index, gap) from the largest down, whose gaps are ints,
Fractions or floats; or k indices alone.
"""


class Neighbours(NamedTuple):
    """Two data sets that differ by one person, and what is released of them.

    Attributes:
        answers: The answers, one whole number per item.
        neighbour: The same with one person more, fewer, or replaced.
        parameters: k, ε, resolution, sensitivity, and whether the answers are monotonic.
    """

    answers: tuple[int, ...]
    neighbour: tuple[int, ...]
    parameters: TopK
