"""Errors of the winners' counts: measured alone, and combined with the gaps."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np

from topgap.estimates.intervals import find_errors
from topgap.estimates.noise import Noise
from topgap.numbers.format import to_float
from topgap.planning.public_counts import Whole
from topgap.planning.statistics import root_mean_square_of
from topgap.selection.measurement import Shares, laplace

Floats = np.ndarray[Any, np.dtype[np.float64]]


class CountErrors:
    """The errors of measurements with these shares of ε, and of estimates from them.

    Attributes:
        unit: The unit of the errors.
        expected: The root mean square errors by the formulas, of a measurement and of an estimate,
            where the order of the winners is certain.

    >>> from topgap import TopK
    >>> errors = CountErrors(Shares.of(TopK(k=2, epsilon=1, monotonic=True), "1/2"))
    >>> [round(each, 2) for each in errors.expected]   # √2·4, and two thirds of its square
    [5.66, 4.62]
    """

    def __init__(self, shares: Shares) -> None:
        noise = Noise.discrete_laplace(shares.selection, shares.measurement_epsilon)
        errors = find_errors(shares.selection, noise)
        self.unit = errors.unit
        self.expected = (
            root_mean_square_of(errors.variances, errors.unit),
            root_mean_square_of(errors.combination.variances, errors.unit),
        )
        self._shares = shares
        self._combination = errors.combination
        self._step = shares.selection.resolution / self.unit

    def simulate(self, steps: Whole, gaps: Whole) -> tuple[Floats, Floats]:
        """Measure the winners of many releases, and combine the measurements with the gaps.

        Args:
            steps: The winners' counts, in steps of the resolution; a release in each row.
            gaps: The gaps, in such steps.

        Returns:
            The errors in units, a release in each row: of the measurements, and of the estimates.
        """
        releases, k = steps.shape
        off = self._noise(releases * k).reshape(k, releases)
        apart = gaps[:, :-1] - (steps[:, :-1] - steps[:, 1:])  # the errors of the gaps
        half = float(self._step / 2)  # the mean effect of rounding down
        residuals = in_units(apart.T, self._step) + half - (off[:-1] - off[1:])
        # For each gap an array over all releases, in place of a number.
        corrections = self._combination.corrections(cast(Sequence[float], [*residuals]))
        return off.T, (off + np.array([*corrections])).T

    def _noise(self, count: int) -> Floats:
        """Draw the errors of this number of measurements."""
        rate = self._shares.rate
        drawn = laplace(rate, count)
        try:
            return np.array(drawn, dtype=np.float64) * float(self._step)
        except OverflowError:  # the steps are too many for a float; the units are not
            return np.array([float(each * self._step) for each in drawn])


def in_units(whole: Whole, step: Fraction) -> Floats:
    """Steps as multiples of a unit, of which a step is this part; infinite where too large.

    >>> in_units(np.array([3, -4]), Fraction(1, 2)), in_units(np.array([10**400]), Fraction(0))
    (array([ 1.5, -2. ]), array([0.]))
    """
    if whole.dtype == np.int64:
        return whole * float(step)
    multiples = [to_float(each * step) for each in np.ravel(whole).tolist()]
    return np.array(multiples, dtype=np.float64).reshape(whole.shape)
