"""Pairs of neighbouring data sets with their parameters: what a mechanism is audited on."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from topgap.errors import ParameterError, ParameterTypeError
from topgap.numbers.parse import Number, is_whole
from topgap.parameters import TopK

ReleaseFunction = Callable[[Sequence[int], TopK], object]
"""An audited function, from answers (a tuple of ints) and parameters to a release.

It returns a `topgap.Release`; or k pairs (index, gap) from the largest down, whose gaps are ints,
Fractions, floats or Decimals; or k indices alone. Where the parameters ask for Laplace noise it
returns k triples (index, gap, noisy value) in place of pairs. With a threshold there may be fewer
than k of them.
"""

Cost = Callable[[TopK, int], Number]
"""What an output with so many winners is said to cost, such as `TopK.cost`."""

LARGEST_ANSWER = 10**100
"""The absolute values of all answers of a case are below this."""


class Neighbours(NamedTuple):
    """Two data sets that differ by one person, and the parameters of their releases.

    Attributes:
        answers: The answers, one whole number per item.
        neighbour: The answers with one person added, removed or replaced.
        parameters: k, ε, resolution, sensitivity, whether the answers are monotonic, and a bound on
            the items of one person or a threshold if there is one.
    """

    answers: tuple[int, ...]
    neighbour: tuple[int, ...]
    parameters: TopK

    @property
    def sides(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Both data sets."""
        return self.answers, self.neighbour

    @property
    def ranked(self) -> tuple[list[Fraction], list[Fraction]]:
        """What is ranked on either side: its answers and, if there is one, the threshold."""
        threshold = self.parameters.threshold
        sentinel = [] if threshold is None else [threshold]
        return [*map(Fraction, self.answers), *sentinel], [
            *map(Fraction, self.neighbour),
            *sentinel,
        ]


def read_cases(cases: Iterable[Neighbours]) -> tuple[Neighbours, ...]:
    """Check the cases: their sides must be neighbours as their parameters define them.

    Raises:
        ParameterError, ParameterTypeError: A case cannot be used; the sentence says why.

    >>> read_cases([([2, 1], (1, 1), TopK(k=1, epsilon=1))])[0].answers
    (2, 1)
    """
    try:
        given = list(cases)
    except TypeError:
        raise ParameterTypeError(
            "cases must be a list of Neighbours(answers, neighbour, parameters)."
        ) from None
    if not given:
        raise ParameterError("cases must have at least one pair of neighbours.")
    return tuple(_check_case(each, f"Case {number}") for number, each in enumerate(given, 1))


def _check_case(given: Neighbours, which: str) -> Neighbours:
    try:
        case = Neighbours(*given)
    except TypeError:
        raise ParameterTypeError(
            f"{which} must be a Neighbours(answers, neighbour, parameters)."
        ) from None
    if not isinstance(case.parameters, TopK):
        raise ParameterTypeError(f"{which}: its parameters must be a TopK.")
    threshold, with_sentinel = case.parameters.threshold, case.parameters.has_sentinel
    if threshold is not None and not with_sentinel:
        raise ParameterError(
            f"{which}: an audit takes a threshold only with exponential noise; leave it out."
        )
    if threshold is not None and abs(threshold) >= LARGEST_ANSWER:
        raise ParameterError(f"{which}: its threshold must lie between -10^100 and 10^100.")
    try:
        sides = [tuple(side) for side in case.sides]
    except TypeError:
        raise ParameterTypeError(f"{which}: its answers must be two lists of ints.") from None
    if not all(is_whole(each) for side in sides for each in side):
        raise ParameterTypeError(f"{which}: its answers must be ints.")
    here, there = (tuple(map(int, side)) for side in sides)
    if any(abs(each) >= LARGEST_ANSWER for each in (*here, *there)):
        raise ParameterError(f"{which}: its answers must lie between -10^100 and 10^100.")
    if len(here) != len(there) or len(here) + with_sentinel <= case.parameters.k:
        enough = "at least k" if with_sentinel else "more than k"
        raise ParameterError(
            f"{which}: both sides must have the same number of answers, and {enough}."
        )
    moves = [b - a for a, b in zip(here, there, strict=True)]
    if not any(moves):
        raise ParameterError(f"{which}: both sides are the same; one person must move an answer.")
    if max(map(abs, moves)) > Fraction(case.parameters.sensitivity):
        raise ParameterError(f"{which}: one person moves an answer by more than the sensitivity.")
    if case.parameters.monotonic and min(moves) < 0 < max(moves):
        raise ParameterError(f"{which}: its answers move both ways, which is not monotonic.")
    most, moved = _most_moved(case.parameters), sum(each != 0 for each in moves)
    if most is not None and moved > most:
        raise ParameterError(f"{which}: {moved} answers move where at most {most} can.")
    return Neighbours(here, there, case.parameters)


def _most_moved(parameters: TopK) -> int | None:
    """The most answers that can move: L, or 2L if one person may take the place of another."""
    bound = parameters.items_per_person
    return bound if bound is None or parameters.monotonic else 2 * bound
