"""What is audited on: pairs of data sets that differ by one person, and parameters."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from topgap.errors import ParameterError, ParameterTypeError
from topgap.exact import is_whole
from topgap.parameters import TopK

ReleaseFunction = Callable[[Sequence[int], TopK], object]
"""What is audited: from answers, a tuple of whole numbers, and parameters to what is released.

It returns a `topgap.Release`; or k pairs (index, gap) from the largest down, whose gaps are ints,
Fractions, floats or Decimals; or k indices alone.
"""


MOST = 10**100
"""Answers of a case must lie below it."""


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

    @property
    def sides(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Both data sets."""
        return self.answers, self.neighbour


def read_cases(cases: Iterable[Neighbours]) -> tuple[Neighbours, ...]:
    """The cases, checked: they must be neighbours as their parameters define them.

    Raises:
        ParameterError, ParameterTypeError: A case cannot be used; the sentence says why.

    >>> read_cases([([2, 1], (1, 1), TopK(k=1, epsilon=1))])[0].answers
    (2, 1)
    """
    try:
        read = tuple(Neighbours(*each) for each in cases)
    except TypeError:
        raise ParameterTypeError(
            "cases must be a list of Neighbours(answers, neighbour, parameters)."
        ) from None
    if not read:
        raise ParameterError("cases must have at least one pair of neighbours.")
    return tuple(map(_checked, read))


def _checked(case: Neighbours) -> Neighbours:
    if not isinstance(case.parameters, TopK):
        raise ParameterTypeError("The parameters of a case must be a TopK.")
    try:
        sides = [tuple(side) for side in case.sides]
    except TypeError:
        raise ParameterTypeError("The answers of a case must be two lists of ints.") from None
    if not all(is_whole(each) for side in sides for each in side):
        raise ParameterTypeError("The answers of a case must be ints.")
    here, there = (tuple(map(int, side)) for side in sides)
    if any(abs(each) >= MOST for each in (*here, *there)):
        raise ParameterError("The answers of a case must lie between -10^100 and 10^100.")
    if len(here) != len(there) or len(here) <= case.parameters.k:
        raise ParameterError("Both sides of a case must have as many answers, and more than k.")
    moves = [b - a for a, b in zip(here, there, strict=True)]
    if max(map(abs, moves)) > Fraction(case.parameters.sensitivity):
        raise ParameterError("One person moves an answer of a case by more than the sensitivity.")
    if case.parameters.monotonic and min(moves) < 0 < max(moves):
        raise ParameterError("A case whose answers move both ways is not monotonic.")
    return Neighbours(here, there, case.parameters)
