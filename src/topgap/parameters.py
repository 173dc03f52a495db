"""The public parameters of a release: `TopK`, exact and frozen; and `Neighbours`."""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from topgap._core import Kernel
from topgap.errors import ParameterError, ParameterTypeError
from topgap.numbers.format import format_short
from topgap.numbers.parse import Number, read_flag, read_number, read_parameter, read_whole

Neighbours: TypeAlias = Literal["add-remove", "replace"]
"""How two neighbouring data sets differ: a person added or removed, or a person replaced."""

MOST_WINNERS = 10_000_000
LARGE_EPSILON = 10
"""A release with a larger ε is hardly private, and says so."""

"""So many winners are named at most where a threshold alone says how many."""

NoiseKind: TypeAlias = Literal["exponential", "laplace"]
"""The noise of the answers: exponential, whose scale grows with k, or discrete Laplace, whose scale
grows with the items of one person."""


@dataclass(frozen=True, init=False, repr=False)
class TopK:
    """What is released and how private it is: made once, checked once, used often.

    Numbers may be given as int, Fraction, Decimal, a string such as `"1/3"` or `"0.25"`, or a
    float, which means its shortest decimal: `0.1` is 1/10. They are kept as exact fractions.

    Attributes:
        k: How many winners are named; at least one more answer than this is needed. With a
            threshold it is the most that are named; with Laplace noise, None stands for 10,000,000
            then.
        epsilon: The privacy loss ε of one release, greater than 0.
        resolution: Gaps are multiples of this; one divided by an integer.
        sensitivity: How far one person can move any one answer; a multiple of the resolution.
        monotonic: Whether one person's arrival moves all answers the same way, as it does for
            counts when data sets differ by adding or removing a person. Half the noise suffices.
        items_per_person: L, the most answers that one person can move; None if there is no bound.
        threshold: Only items above this are named, at most k of them; rounded down to a multiple of
            the resolution. With Laplace noise these are the items whose noisy answers reach it.
            With exponential noise the threshold joins the ranking as one more item, the sentinel,
            with noise like all others, and ends the list where it comes; so it must be public.
            None if there is none.
        noise: "exponential", with a scale that grows with k; or "laplace", on every answer, with a
            scale that grows with L and not with k, and whose noisy answers are released, too.
            Unless given, it is that of the smaller scale: "laplace" if L is less than k.

    Raises:
        ParameterTypeError: A parameter is of a type that is not an exact number.
        ParameterError: A parameter's value cannot be used; the sentence says what to do.

    >>> parameters = TopK(k=10, epsilon=1, monotonic=True)
    >>> parameters.scale, parameters.rate
    (Fraction(10, 1), Fraction(1, 100))
    >>> few = TopK(k=10, epsilon=1, monotonic=True, items_per_person=2)
    >>> few.noise, few.scale, few.resolution
    ('laplace', Fraction(2, 1), Fraction(1, 1))
    """

    __slots__ = (
        "_kernel",
        "epsilon",
        "items_per_person",
        "k",
        "monotonic",
        "noise",
        "resolution",
        "sensitivity",
        "threshold",
    )

    k: int
    epsilon: Fraction
    resolution: Fraction
    sensitivity: Fraction
    monotonic: bool
    items_per_person: int | None
    threshold: Fraction | None
    noise: NoiseKind
    if TYPE_CHECKING:
        _kernel: Kernel | None

    def __init__(
        self,
        k: int | None,
        epsilon: "Number",
        *,
        resolution: "Number | None" = None,
        sensitivity: "Number" = 1,
        monotonic: bool = False,
        items_per_person: int | None = None,
        threshold: "Number | None" = None,
        noise: NoiseKind | None = None,
    ) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        any_length = k is None
        if k is None:
            if threshold is None:
                raise ParameterError("k is missing; it can be None only with a threshold.")
            k = MOST_WINNERS
        put("k", read_whole(k, "k", least=1))
        put("epsilon", read_parameter(epsilon, "epsilon"))
        put("sensitivity", read_parameter(sensitivity, "sensitivity"))
        put("monotonic", read_flag(monotonic, "monotonic"))
        if items_per_person is not None:
            items_per_person = read_whole(items_per_person, "items_per_person", least=1)
        put("items_per_person", items_per_person)
        put("noise", _choose_noise(noise, self.k, items_per_person))
        is_whole = self.noise == "laplace"
        put("resolution", read_resolution(resolution, self.sensitivity, noise_is_whole=is_whole))
        if threshold is not None:
            threshold = read_number(threshold, "threshold") // self.resolution * self.resolution
        if any_length and self.noise != "laplace":
            raise ParameterError(
                "A list of any length needs Laplace noise: give k, the most items to name, or "
                "items_per_person, the most answers that one person can move."
            )
        put("threshold", threshold)
        if self.k >= 2**63:
            raise ParameterError("k must be below 2**63.")

    @property
    def fewest_winners(self) -> int:
        """How many winners there are at least: k, or with a threshold none."""
        return self.k if self.threshold is None else 0

    @property
    def has_sentinel(self) -> bool:
        """Whether the threshold joins the ranking, with noise like all others."""
        return self.threshold is not None and self.noise == "exponential"

    @property
    def least_cost(self) -> Fraction:
        """What the cheapest output costs: less than ε where a threshold can end the list early."""
        return self.cost(self.fewest_winners)

    def cost(self, winners: int) -> Fraction:
        """What an output with so many winners costs: at most ε, and less if a sentinel came early.

        It bounds the ratio of the probabilities that two neighbours give this very output
        (docs/proofs/threshold_release.md).

        Raises:
            ParameterError, ParameterTypeError: So many winners cannot be.

        >>> parameters = TopK(k=25, epsilon=1, monotonic=True, threshold=500)
        >>> parameters.cost(4), parameters.cost(25)
        (Fraction(1, 5), Fraction(1, 1))
        """
        winners = read_whole(winners, "winners", least=0)
        if winners < self.fewest_winners:
            raise ParameterError(f"Without a threshold there are always k = {self.k} named items.")
        if winners > self.k:
            raise ParameterError("winners must be at most k.")
        if not self.has_sentinel or winners == self.k:
            return self.epsilon
        if self.monotonic:
            return self.epsilon * Fraction(winners + 1, self.k)
        return self.epsilon * Fraction(2 * winners + 1, 2 * self.k)

    @property
    def threshold_units(self) -> int | None:
        """The threshold as a multiple of the resolution."""
        if self.threshold is None:
            return None
        # The denominator divides that of the resolution.
        numerator, denominator = self.threshold.as_integer_ratio()
        return numerator * (self.resolution.denominator // denominator)

    @property
    def scale(self) -> Fraction:
        """β, by which noise falls by a factor of e: 2kΔ/ε, or kΔ/ε when monotonic.

        It is the mean of exponential noise. For Laplace noise L takes the place of k.
        """
        sides = 1 if self.monotonic else 2
        moved = self.k if self.noise == "exponential" else self.items_per_person
        assert moved is not None  # noqa: S101 - Laplace noise was refused otherwise
        return sides * moved * self.sensitivity / self.epsilon

    @property
    def rate(self) -> Fraction:
        """ρ = γ*/β: noise falls by a factor of e^−ρ with each step of the resolution."""
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
            kernel = Kernel(
                self.k,
                rate.numerator,
                rate.denominator,
                steps_per_unit,
                is_laplace=self.noise == "laplace",
            )
        except OverflowError:
            kernel = None
        object.__setattr__(self, "_kernel", kernel)
        return kernel

    def to_dict(self) -> dict[str, Any]:
        """The parameters as JSON can hold them, fractions as text.

        Those of a bound on the items of one person are there if there is one.

        >>> TopK(k=10, epsilon="1/3").to_dict()["epsilon"]
        '1/3'
        """
        parameters = {
            "k": self.k,
            "epsilon": str(self.epsilon),
            "resolution": str(self.resolution),
            "sensitivity": str(self.sensitivity),
            "monotonic": self.monotonic,
        }
        if self.items_per_person is not None:
            parameters |= {"items_per_person": self.items_per_person, "noise": self.noise}
        if self.threshold is not None:
            parameters["threshold"] = str(self.threshold)
        return parameters

    def __repr__(self) -> str:
        bound = ""
        if self.items_per_person is not None:
            bound = f", items_per_person={self.items_per_person}, noise='{self.noise}'"
        if self.threshold is not None:
            bound += f", threshold='{self.threshold}'"
        return (
            f"TopK(k={self.k}, epsilon='{format_short(self.epsilon)}', "
            f"resolution='{self.resolution}', sensitivity='{self.sensitivity}', "
            f"monotonic={self.monotonic}{bound})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.to_dict(),)


def _restore(parameters: dict[str, Any]) -> TopK:
    return TopK(**parameters)


def _choose_noise(noise: object, k: int, items_per_person: int | None) -> NoiseKind:
    """The noise of the smaller scale, by public numbers alone, unless one is asked for."""
    if noise is None:
        bound = k if items_per_person is None else items_per_person
        return "laplace" if bound < k else "exponential"
    if type(noise) is not str:
        raise ParameterTypeError(
            f"noise must be 'exponential' or 'laplace', not {type(noise).__name__}."
        )
    if noise == "exponential":
        return "exponential"
    if noise != "laplace":
        raise ParameterError("noise must be 'exponential' or 'laplace'.")
    if items_per_person is None:
        raise ParameterError(
            "Laplace noise needs items_per_person, the most answers that one person can move."
        )
    return "laplace"


def read_resolution(
    resolution: "Number | None", sensitivity: Fraction, *, noise_is_whole: bool
) -> Fraction:
    """Read the resolution, of which the sensitivity must be a multiple.

    Unless given it is a tenth; or 1 where noise is whole steps and the sensitivity is whole, so
    that noisy counts are whole, too.

    Raises:
        ParameterError, ParameterTypeError: It cannot be used.

    >>> read_resolution(None, Fraction(2), noise_is_whole=True)
    Fraction(1, 1)
    """
    if resolution is None:
        resolution = 1 if noise_is_whole and sensitivity.denominator == 1 else Fraction(1, 10)
    step = read_parameter(resolution, "resolution")
    if step.numerator != 1:
        raise ParameterError("resolution must be one divided by an integer, such as '1/10'.")
    if sensitivity % step != 0:
        finer = lcm(step.denominator, sensitivity.denominator)
        fitting = f"resolution '1/{finer}' fits" if finer < 10**9 else "write thirds as '1/3'"
        raise ParameterError(f"sensitivity must be a multiple of the resolution; {fitting}.")
    return step
