"""What is known of the noise of measurements: `Noise`."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
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
        scales: Where it is Laplace noise, the mean size of it, one for each winner; else ().
        epsilon: The privacy loss of each measurement; None if that is not known.
    """

    kind: Kind
    variances: tuple[Fraction, ...]
    scales: tuple[Fraction, ...] = ()
    epsilon: Fraction | None = None

    @classmethod
    def discrete_laplace(cls, parameters: TopK, epsilon: Fraction) -> "Noise":
        """Discrete Laplace noise on multiples of the resolution, as `topgap.measurement` adds it.

        >>> noise = Noise.discrete_laplace(TopK(k=1, epsilon=1, resolution=1), Fraction(1, 2))
        >>> float(noise.scales[0]), round(float(noise.variances[0]), 3)
        (2.0, 7.835)
        """
        scale = parameters.sensitivity / epsilon
        rate = min(parameters.resolution / scale, Fraction(10**6))
        # It is the difference of two geometric numbers.
        variance = 2 * scale**2 * Fraction(geometric_variance(float(rate)))
        k = parameters.k
        return cls("discrete laplace", (variance,) * k, (scale,) * k, epsilon)


def square_root(number: Fraction) -> Fraction:
    """The root of a positive number of any size, rounded down to about 60 bits.

    >>> float(square_root(Fraction(2))), square_root(Fraction(10**800)) == 10**400
    (1.4142135623730951, True)
    """
    product = number.numerator * number.denominator
    bits = max(0, 64 - product.bit_length() // 2)
    return Fraction(isqrt(product << (2 * bits)), number.denominator << bits)
