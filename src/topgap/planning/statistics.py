"""Statistics of simulated releases: means, probabilities and errors, with standard errors."""

from collections.abc import Sequence
from fractions import Fraction
from math import inf, sqrt
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

Values = np.ndarray[Any, np.dtype[Any]]


class Figure(NamedTuple):
    """A number that was estimated by simulation.

    Attributes:
        value: The mean over the simulated releases, or a function of it.
        standard_error: The standard error of the value.
    """

    value: float
    standard_error: float


class Mean:
    """The mean of numbers that come in parts.

    >>> mean = Mean()
    >>> mean.add(np.array([1.0, 2.0]))
    >>> mean.add(np.array([3.0]))
    >>> mean.figure()
    Figure(value=2.0, standard_error=0.5773502691896258)
    """

    def __init__(self) -> None:
        self.count, self.total, self._squares = 0, 0.0, 0.0

    def add(self, values: Values) -> None:
        """Add these numbers."""
        self.count += len(values)
        self.total += float(values.sum())
        self._squares += float((values.astype(np.float64) ** 2).sum())

    def figure(self) -> Figure:
        """The mean of at least two numbers, and its standard error."""
        mean = self.total / self.count
        spread = max(0.0, self._squares / self.count - mean**2)
        return Figure(mean, sqrt(spread / (self.count - 1)))


def estimate_probability(happened: Mean) -> Figure:
    """Estimate a probability from the mean of an indicator, which is 1 where the event happened.

    The standard error is that of two more releases, one with the event and one without, so that it
    is not 0 where all releases agree.

    >>> happened = Mean()
    >>> happened.add(np.array([True] * 98))
    >>> [round(each, 4) for each in estimate_probability(happened)]
    [1.0, 0.0099]
    """
    count, total = happened.count + 2, happened.total + 1
    value = happened.total / happened.count
    return Figure(value, sqrt(total * (count - total) / count) / count)


def root_mean_square(squares: Mean, unit: Fraction) -> Figure:
    """The root mean square, from the mean of squares in squared units of this size.

    >>> squares = Mean()
    >>> squares.add(np.array([3.0, 5.0]))
    >>> root_mean_square(squares, Fraction(10))
    Figure(value=20.0, standard_error=2.5)
    """
    mean, error = squares.figure()
    value = sqrt(mean)
    return Figure(scale(value, unit), scale(error / (2 * value) if value else 0.0, unit))


def root_mean_square_of(squares: Sequence[float], unit: Fraction) -> float:
    """The root mean square of numbers whose squares these are.

    >>> root_mean_square_of([1.0, 49.0], Fraction(2))
    10.0
    """
    return scale(sqrt(fmean(squares)), unit)


def scale(number: float, unit: Fraction) -> float:
    """The product as a float, infinite where it is too large.

    >>> scale(0.5, Fraction(3)), scale(0.5, Fraction(10**400))
    (1.5, inf)
    """
    try:
        return float(Fraction(number) * unit)
    except OverflowError:
        return inf
