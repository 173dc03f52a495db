"""Statistics of simulated releases: means, probabilities and errors, with standard errors."""

from collections.abc import Sequence
from fractions import Fraction
from math import inf, sqrt
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

Values = np.ndarray[Any, np.dtype[Any]]

_MOST_KEPT = 2**20


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
        self.count, self.total = 0, 0.0
        # From the first of them, or equal numbers would seem to differ by rounding.
        self._first, self._sum, self._squares = 0.0, 0.0, 0.0

    def add(self, values: Values) -> None:
        """Add these numbers."""
        if self.count == 0 and len(values):
            self._first = float(values[0])
        self.count += len(values)
        self.total += float(values.sum())
        distances = values.astype(np.float64) - self._first
        self._sum += float(distances.sum())
        self._squares += float((distances**2).sum())

    def figure(self) -> Figure:
        """The mean of at least two numbers, and its standard error."""
        mean = self._sum / self.count
        spread = max(0.0, self._squares / self.count - mean**2)
        return Figure(self._first + mean, sqrt(spread / (self.count - 1)))


class Median:
    """The median of numbers that come in parts, a release in each row.

    Of very many numbers the first million and those that came with them are kept.

    >>> median = Median()
    >>> median.add(np.array([[1.0, 2.0], [3.0, 9.0], [5.0, 0.0]]))
    >>> median.figure(Fraction(10)).value
    20.0
    """

    def __init__(self) -> None:
        self._parts = list[Values]()
        self._count = 0

    def add(self, values: Values) -> None:
        """Add these numbers."""
        if self._count < _MOST_KEPT or len(self._parts) < 2:
            self._parts.append(values)
            self._count += values.size

    def figure(self, unit: Fraction) -> Figure:
        """The lower median of numbers in this unit, of at least two releases, and its error.

        The shares of the releases' numbers that lie below it have a mean of a half, whose standard
        error is known; and the numbers at a half less and more that error are as far apart as two
        standard errors of the median.
        """
        numbers = np.concatenate(self._parts)
        median = _quantiles(numbers, 0.5)
        below = ((numbers < median).mean(axis=1) + (numbers <= median).mean(axis=1)) / 2
        off = min(0.5, float(below.std(ddof=1)) / sqrt(len(below)))
        low, high = _quantiles(numbers, [0.5 - off, 0.5 + off])
        return Figure(scale(float(median), unit), scale(float(high - low) / 2, unit))


def _quantiles(numbers: Values, shares: float | list[float]) -> Values:
    quantiles: Values = np.quantile(numbers, shares, method="inverted_cdf")
    return quantiles


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
