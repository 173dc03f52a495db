"""The public parameters of a `topgap.Monitor`: `SparseVector`, exact and frozen."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from topgap.errors import ParameterError
from topgap.numbers.format import format_short
from topgap.numbers.parse import Number, read_flag, read_number, read_parameter, read_whole
from topgap.parameters import read_resolution

_SPLIT_DIGITS = 3
"""So many decimals of (2c)^(2/3) are kept for the default split of ε."""


@dataclass(frozen=True, init=False, repr=False)
class SparseVector:
    """What a monitor releases and how private it is: sparse vector with gap.

    Numbers are read as those of `topgap.TopK`.

    Attributes:
        threshold: The public threshold t, rounded down to a multiple of the resolution.
        answers: c, how many answers above the threshold are given before it stops.
        epsilon: The privacy loss ε of the whole run, greater than 0.
        resolution: Gaps are multiples of this; one divided by an integer.
        sensitivity: How far one person can move any one answer; a multiple of the resolution.
        monotonic: Whether one person's arrival moves all answers the same way. Half the noise of
            answers suffices then.
        threshold_share: The part of ε that the noise of the threshold gets, between 0 and 1. Unless
            given, it is the one for which a gap has the smallest variance: the parts are as 1 to
            (2c)^(2/3), or 1 to c^(2/3) when monotonic, of which three decimals are kept.

    Raises:
        ParameterTypeError: A parameter is of a type that is not an exact number.
        ParameterError: A parameter's value cannot be used; the sentence says what to do.

    >>> parameters = SparseVector(threshold=500, answers=8, epsilon=1, monotonic=True)
    >>> parameters.threshold_share, parameters.threshold_scale, parameters.answer_scale
    (Fraction(1, 5), Fraction(5, 1), Fraction(10, 1))
    """

    __slots__ = (
        "answers",
        "epsilon",
        "monotonic",
        "resolution",
        "sensitivity",
        "threshold",
        "threshold_share",
    )

    threshold: Fraction
    answers: int
    epsilon: Fraction
    resolution: Fraction
    sensitivity: Fraction
    monotonic: bool
    threshold_share: Fraction

    def __init__(
        self,
        threshold: "Number",
        answers: int,
        epsilon: "Number",
        *,
        resolution: "Number | None" = None,
        sensitivity: "Number" = 1,
        monotonic: bool = False,
        threshold_share: "Number | None" = None,
    ) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("answers", read_whole(answers, "answers", least=1))
        if self.answers >= 2**63:
            raise ParameterError("answers must be below 2**63.")
        put("epsilon", read_parameter(epsilon, "epsilon"))
        put("sensitivity", read_parameter(sensitivity, "sensitivity"))
        put("monotonic", read_flag(monotonic, "monotonic"))
        put("resolution", read_resolution(resolution, self.sensitivity, noise_is_whole=True))
        units = read_number(threshold, "threshold") // self.resolution
        put("threshold", units * self.resolution)
        if threshold_share is None:
            threshold_share = _best_share(self.answers if self.monotonic else 2 * self.answers)
        put("threshold_share", read_parameter(threshold_share, "threshold_share"))
        if self.threshold_share >= 1:
            raise ParameterError(
                "threshold_share must be below 1, or nothing is left for the answers."
            )

    @property
    def threshold_units(self) -> int:
        """The threshold as a multiple of the resolution."""
        return int(self.threshold * self.resolution.denominator)

    @property
    def threshold_scale(self) -> Fraction:
        """By how much the noise of the threshold falls by a factor of e: Δ/ε₁."""
        return self.sensitivity / (self.epsilon * self.threshold_share)

    @property
    def answer_scale(self) -> Fraction:
        """By how much the noise of an answer falls by a factor of e: 2cΔ/ε₂, cΔ/ε₂ if monotonic."""
        sides = 1 if self.monotonic else 2
        share = 1 - self.threshold_share
        return sides * self.answers * self.sensitivity / (self.epsilon * share)

    @property
    def threshold_rate(self) -> Fraction:
        """The noise of the threshold falls by a factor of e^−rate with each step."""
        return self.resolution / self.threshold_scale

    @property
    def answer_rate(self) -> Fraction:
        """The noise of an answer falls by a factor of e^−rate with each step."""
        return self.resolution / self.answer_scale

    def cost(self, answered: int) -> Fraction:
        """What an output with so many gaps costs: ε₁ and, for each gap, its part of ε₂.

        It bounds the ratio of the probabilities that two neighbours give this very output, however
        many answers were asked about (docs/proofs/monitor.md).

        Raises:
            ParameterError, ParameterTypeError: There cannot be so many.

        >>> SparseVector(threshold=500, answers=8, epsilon=1, monotonic=True).cost(2)
        Fraction(2, 5)
        """
        answered = read_whole(answered, "answered", least=0)
        if answered > self.answers:
            raise ParameterError("answered must be at most answers.")
        share = self.threshold_share
        return self.epsilon * (share + (1 - share) * Fraction(answered, self.answers))

    def to_dict(self) -> dict[str, Any]:
        """The parameters as JSON can hold them, fractions as text.

        >>> SparseVector(threshold=500, answers=8, epsilon="1/3").to_dict()["epsilon"]
        '1/3'
        """
        return {
            "threshold": str(self.threshold),
            "answers": self.answers,
            "epsilon": str(self.epsilon),
            "resolution": str(self.resolution),
            "sensitivity": str(self.sensitivity),
            "monotonic": self.monotonic,
            "threshold_share": str(self.threshold_share),
        }

    def __repr__(self) -> str:
        return (
            f"SparseVector(threshold='{self.threshold}', answers={self.answers}, "
            f"epsilon='{format_short(self.epsilon)}', resolution='{self.resolution}', "
            f"sensitivity='{self.sensitivity}', monotonic={self.monotonic}, "
            f"threshold_share='{self.threshold_share}')"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.to_dict(),)


def _restore(parameters: dict[str, Any]) -> SparseVector:
    return SparseVector(**parameters)


def _best_share(answers: int) -> Fraction:
    """1/(1 + n^(2/3)), with n^(2/3) rounded down to a few decimals.

    With ε₁ + ε₂ = ε the variance of a gap grows with 1/ε₁² + n²/ε₂², which is least there.

    >>> _best_share(8), _best_share(1)
    (Fraction(1, 5), Fraction(1, 2))
    """
    one = 10**_SPLIT_DIGITS
    return Fraction(one, one + _cube_root(answers**2 * one**3))


def _cube_root(number: int) -> int:
    """The largest integer whose cube is at most this number ≥ 1, by Newton's method from above.

    >>> _cube_root(26), _cube_root(27)
    (2, 3)
    """
    root = 1 << -(-number.bit_length() // 3)
    while True:
        nearer = (2 * root + number // root**2) // 3
        if nearer >= root:
            return root
        root = nearer
