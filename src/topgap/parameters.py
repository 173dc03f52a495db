"""The public parameters of a release: `TopK`, exact and frozen; and `Neighbours`."""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from topgap._core import Kernel
from topgap.errors import ParameterError
from topgap.numbers.parse import Number, read_flag, read_parameter, read_whole

Neighbours: TypeAlias = Literal["add-remove", "replace"]
"""How two neighbouring data sets differ: a person added or removed, or a person replaced."""


@dataclass(frozen=True, init=False, repr=False)
class TopK:
    """What is released and how private it is: made once, checked once, used often.

    Numbers may be given as int, Fraction, Decimal, a string such as `"1/3"` or `"0.25"`, or a
    float, which means its shortest decimal: `0.1` is 1/10. They are kept as exact fractions.

    Attributes:
        k: How many winners are named; at least one more answer than this is needed.
        epsilon: The privacy loss ε of one release, greater than 0.
        resolution: Gaps are multiples of this; one divided by an integer.
        sensitivity: How far one person can move any one answer; a multiple of the resolution.
        monotonic: Whether one person's arrival moves all answers the same way, as it does for
            counts when data sets differ by adding or removing a person. Half the noise suffices.

    Raises:
        ParameterTypeError: A parameter is of a type that is no exact number.
        ParameterError: A parameter's value cannot be used; the sentence says what to do.

    >>> parameters = TopK(k=10, epsilon=1, monotonic=True)
    >>> parameters.scale, parameters.rate
    (Fraction(10, 1), Fraction(1, 100))
    """

    __slots__ = ("_kernel", "epsilon", "k", "monotonic", "resolution", "sensitivity")

    k: int
    epsilon: Fraction
    resolution: Fraction
    sensitivity: Fraction
    monotonic: bool
    if TYPE_CHECKING:
        _kernel: Kernel | None

    def __init__(
        self,
        k: int,
        epsilon: "Number",
        *,
        resolution: "Number" = "1/10",
        sensitivity: "Number" = 1,
        monotonic: bool = False,
    ) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("k", read_whole(k, "k", least=1))
        put("epsilon", read_parameter(epsilon, "epsilon"))
        put("resolution", read_parameter(resolution, "resolution"))
        put("sensitivity", read_parameter(sensitivity, "sensitivity"))
        put("monotonic", read_flag(monotonic, "monotonic"))
        if self.k >= 2**63:
            raise ParameterError("k must be below 2**63.")
        if self.resolution.numerator != 1:
            raise ParameterError("resolution must be one divided by an integer, such as '1/10'.")
        if self.sensitivity % self.resolution != 0:
            finer = lcm(self.resolution.denominator, self.sensitivity.denominator)
            fitting = f"resolution '1/{finer}' fits" if finer < 10**9 else "write thirds as '1/3'"
            raise ParameterError(f"sensitivity must be a multiple of the resolution; {fitting}.")

    @property
    def scale(self) -> Fraction:
        """β, the mean of the exponential noise: 2kΔ/ε, or kΔ/ε when monotonic."""
        sides = 1 if self.monotonic else 2
        return sides * self.k * self.sensitivity / self.epsilon

    @property
    def rate(self) -> Fraction:
        """ρ = γ*/β: the noise exceeds each further step of the resolution with probability e^−ρ."""
        return self.resolution / self.scale

    @property
    def kernel(self) -> Kernel | None:
        """The compiled kernel for these parameters; None if its integers are too short for them.

        >>> TopK(k=1, epsilon=1).kernel is None, TopK(k=1, epsilon="1e-40").kernel is None
        (False, True)
        """
        try:
            return self._kernel
        except AttributeError:
            pass
        steps_per_unit = self.resolution.denominator
        rate = self.rate
        try:
            kernel = Kernel(self.k, rate.numerator, rate.denominator, steps_per_unit)
        except OverflowError:
            kernel = None
        object.__setattr__(self, "_kernel", kernel)
        return kernel

    def to_dict(self) -> dict[str, Any]:
        """The parameters as JSON can hold them, fractions as text.

        >>> TopK(k=10, epsilon="1/3").to_dict()["epsilon"]
        '1/3'
        """
        return {
            "k": self.k,
            "epsilon": str(self.epsilon),
            "resolution": str(self.resolution),
            "sensitivity": str(self.sensitivity),
            "monotonic": self.monotonic,
        }

    def __repr__(self) -> str:
        return (
            f"TopK(k={self.k}, epsilon='{self.epsilon}', resolution='{self.resolution}', "
            f"sensitivity='{self.sensitivity}', monotonic={self.monotonic})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.k, self.epsilon, self.resolution, self.sensitivity, self.monotonic)


def _restore(
    k: int,
    epsilon: Fraction,
    resolution: Fraction,
    sensitivity: Fraction,
    monotonic: bool,  # noqa: FBT001 - as it was pickled
) -> TopK:
    return TopK(k, epsilon, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic)
