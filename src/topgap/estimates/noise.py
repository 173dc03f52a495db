"""What is known of the noise of measurements: `Noise`."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import asinh, isqrt
from typing import Any, Literal

from topgap.estimates.combination import geometric_variance
from topgap.numbers.format import format_exact
from topgap.parameters import TopK

Kind = Literal["discrete laplace", "laplace", "normal", "unknown"]


@dataclass(frozen=True)
class Noise:
    """The noise of the measurements of k winners: independent, and 0 on average.

    Attributes:
        kind: The family that it is of; "unknown" if only its variance is known.
        variances: One for each winner.
        step: What the measurements are multiples of; 0 if they are not.
        scales: Where it is Laplace noise, one for each winner: density and probability fall by e
            from one scale to the next. Else ().
        epsilon: The privacy loss of each measurement; None if that is not known.
    """

    kind: Kind
    variances: tuple[Fraction, ...]
    step: Fraction = Fraction(0)
    scales: tuple[Fraction, ...] = ()
    epsilon: Fraction | None = None

    @classmethod
    def discrete_laplace(cls, parameters: TopK, epsilon: Fraction) -> "Noise":
        """Return the discrete Laplace noise of measurements, on multiples of the resolution.

        >>> noise = Noise.discrete_laplace(TopK(k=1, epsilon=1, resolution=1), Fraction(1, 2))
        >>> float(noise.scales[0]), round(float(noise.variances[0]), 3)
        (2.0, 7.835)
        """
        return cls.for_one_winner(parameters, epsilon).repeat(parameters.k)

    @classmethod
    def for_one_winner(cls, parameters: TopK, epsilon: Fraction) -> "Noise":
        """Return `discrete_laplace` for a single winner, however large k is.

        `topgap.selection` calls it before it draws, when k may still exceed the number of answers.
        """
        scale = parameters.sensitivity / epsilon
        rate = min(parameters.resolution / scale, Fraction(10**6))
        # It is the difference of two geometric numbers.
        variance = 2 * scale**2 * Fraction(geometric_variance(float(rate)))
        return cls("discrete laplace", (variance,), parameters.resolution, (scale,), epsilon)

    def repeat(self, times: int) -> "Noise":
        """Return the noise of `times` as many winners, for `topgap.selection`."""
        return replace(self, variances=self.variances * times, scales=self.scales * times)

    def to_dict(self) -> dict[str, Any]:
        """Return what is known of the noise, as JSON can hold it.

        >>> Noise("laplace", (Fraction(8),)).to_dict()
        {'kind': 'laplace', 'variances': ['8'], 'step': '0'}
        """
        if self.epsilon is not None:
            return {"kind": self.kind, "epsilon_each": str(self.epsilon)}
        return {
            "kind": self.kind,
            "variances": [format_exact(each) for each in self.variances],
            "step": format_exact(self.step),
        }


def laplace_scale(variance: Fraction, step: Fraction) -> Fraction:
    """Return the scale of Laplace noise of this variance, on multiples of the step if it is not 0.

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
    """Return the root of a positive number of any size, rounded down to about 60 bits.

    >>> float(square_root(Fraction(2))), square_root(Fraction(10**800)) == 10**400
    (1.4142135623730951, True)
    """
    product = number.numerator * number.denominator
    bits = max(0, 64 - product.bit_length() // 2)
    return Fraction(isqrt(product << (2 * bits)), number.denominator << bits)
