"""What is known of the noise of measurements: `Noise`."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import asinh, isqrt
from typing import Literal

from topgap.estimates.combination import geometric_variance
from topgap.parameters import TopK

Kind = Literal["discrete laplace", "laplace", "normal", "unknown"]


@dataclass(frozen=True)
class Noise:
    """The noise of the measurements of k winners: independent, and 0 on average.

    Attributes:
        kind: The family that it is of; "unknown" if only its variance is known.
        variances: One for each winner.
        step: What the measurements are multiples of; 0 if they are not.
        scales: Where it is Laplace noise, one for each winner: density and chances fall by e from
            one scale to the next. Else ().
        epsilon: The privacy loss of each measurement; None if that is not known.
    """

    kind: Kind
    variances: tuple[Fraction, ...]
    step: Fraction = Fraction(0)
    scales: tuple[Fraction, ...] = ()
    epsilon: Fraction | None = None

    @classmethod
    def discrete_laplace(cls, parameters: TopK, epsilon: Fraction) -> "Noise":
        """Discrete Laplace noise on multiples of the resolution, as measurements have it.

        >>> noise = Noise.discrete_laplace(TopK(k=1, epsilon=1, resolution=1), Fraction(1, 2))
        >>> float(noise.scales[0]), round(float(noise.variances[0]), 3)
        (2.0, 7.835)
        """
        return cls._of_one(parameters, epsilon)._repeated(parameters.k)

    @classmethod
    def _of_one(cls, parameters: TopK, epsilon: Fraction) -> "Noise":
        """The same for a single winner, however large k is."""
        scale = parameters.sensitivity / epsilon
        rate = min(parameters.resolution / scale, Fraction(10**6))
        # It is the difference of two geometric numbers.
        variance = 2 * scale**2 * Fraction(geometric_variance(float(rate)))
        return cls("discrete laplace", (variance,), parameters.resolution, (scale,), epsilon)

    def _repeated(self, times: int) -> "Noise":
        """The noise of so many times as many winners."""
        return replace(self, variances=self.variances * times, scales=self.scales * times)


def laplace_scale(variance: Fraction, step: Fraction) -> Fraction:
    """The scale of Laplace noise of this variance, on multiples of the step if it is not 0.

    Discrete noise with t = e^−(step/scale) has the variance 2·step²·t/(1 − t)², which is
    step²/(2·sinh²(step/(2·scale))).

    >>> float(laplace_scale(Fraction(8), Fraction(0)))
    2.0
    >>> noise = Noise.discrete_laplace(TopK(k=1, epsilon=1, resolution=1), Fraction(1, 2))
    >>> round(float(laplace_scale(noise.variances[0], Fraction(1))), 12)
    2.0
    """
    continuous = square_root(variance / 2)
    if step == 0:
        return continuous
    half = float(min(step / (2 * continuous), Fraction(10**15)))
    return continuous if half < 1e-8 else step / (2 * Fraction(asinh(half)))


def square_root(number: Fraction) -> Fraction:
    """The root of a positive number of any size, rounded down to about 60 bits.

    >>> float(square_root(Fraction(2))), square_root(Fraction(10**800)) == 10**400
    (1.4142135623730951, True)
    """
    product = number.numerator * number.denominator
    bits = max(0, 64 - product.bit_length() // 2)
    return Fraction(isqrt(product << (2 * bits)), number.denominator << bits)
