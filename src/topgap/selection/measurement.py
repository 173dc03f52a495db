"""The winners' own answers, measured with exact discrete Laplace noise.

Shares          how ε is shared by the selection and the measurements of its winners
GroupedShares   the same for a list for each group
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from topgap._core import Laplace
from topgap.errors import AnswersError, ParameterError
from topgap.grouped_parameters import TopKByGroup
from topgap.numbers.parse import Number, read_parameter
from topgap.parameters import TopK
from topgap.release import Release
from topgap.sampling.sampler import Sampler
from topgap.selection.answers import floor_answers
from topgap.selection.mechanism import select_with_answers
from topgap.selection.preparation import Prepared


@dataclass(frozen=True)
class Shares:
    """How ε is shared: one part selects, and each of the k winners is measured with another.

    By sequential composition the whole costs the sum of them, exactly.

    Attributes:
        selection: The parameters of the selection, with its part of ε.
        measurement_epsilon: The part of ε that each measurement costs.

    >>> shares = Shares.of(TopK(k=10, epsilon=1), "1/3")
    >>> shares.selection.epsilon, shares.measurement_epsilon, shares.epsilon
    (Fraction(1, 3), Fraction(1, 15), Fraction(1, 1))
    """

    selection: TopK
    measurement_epsilon: Fraction

    @classmethod
    def of(cls, parameters: TopK, selection_share: "Number") -> "Shares":
        """Share out the ε of these parameters; the selection gets so much of it.

        Raises:
            ParameterTypeError: The share is of a type that is not an exact number.
            ParameterError: It does not lie between 0 and 1.

        >>> Shares.of(TopK(k=1, epsilon=1), 1)
        Traceback (most recent call last):
        topgap.errors.ParameterError: selection_share must be below 1, or nothing is left to \
measure with.
        """
        share = read_selection_share(selection_share)
        try:
            selection = TopK(
                parameters.k,
                parameters.epsilon * share,
                resolution=parameters.resolution,
                sensitivity=parameters.sensitivity,
                monotonic=parameters.monotonic,
                items_per_person=parameters.items_per_person,
                noise="exponential",
            )
        except ParameterError:  # the product alone can be one that it refuses
            raise ParameterError(_TOO_FINE) from None
        return cls(selection, parameters.epsilon * (1 - share) / parameters.k)

    @property
    def epsilon(self) -> Fraction:
        """The privacy loss of the selection and all measurements."""
        return self.selection.epsilon + self.selection.k * self.measurement_epsilon

    @property
    def rate(self) -> Fraction:
        """The error of a measurement is x steps with probability proportional to e^−(rate·|x|)."""
        parameters = self.selection
        return self.measurement_epsilon * parameters.resolution / parameters.sensitivity

    def select_and_measure(self, data: Prepared) -> tuple[Release, tuple[Fraction, ...]]:
        """Release the winners, and measure each.

        Args:
            data: What was given for the selection.

        Returns:
            The release, and for each winner its answer, rounded down to a multiple of the
            resolution, plus discrete Laplace noise on such multiples.

        Raises:
            KernelError: As of `topgap.top_k`.
        """
        release, answers = select_with_answers(self.selection, data)
        return release, self.measure(answers)

    def measure(self, answers: Any) -> tuple[Fraction, ...]:
        """The answers of the k winners, rounded down, plus noise.

        Each step of noise falls by e^−rate, and one person moves an answer by at most
        sensitivity/resolution steps, even rounded down: e^−(their product) is e^−ε of one
        measurement.
        """
        resolution = self.selection.resolution
        steps = floor_answers(answers, resolution.denominator)
        if len(steps) != self.selection.k:
            raise AnswersError(f"Only the {self.selection.k} named items are measured, each once.")
        return tuple(each * resolution for each in self.add_noise(steps))

    def add_noise(self, steps: Sequence[int]) -> list[int]:
        """These whole numbers of steps, each plus noise of its own."""
        noise = laplace(self.rate, len(steps))
        return [a + x for a, x in zip(steps, noise, strict=True)]


@dataclass(frozen=True)
class GroupedShares:
    """How ε is shared where each group gets a list and its winners are measured.

    The lists of all groups cost the ε of the selection. Each measurement costs its part as often as
    one person's data can move one, which `TopKByGroup.measurements_per_person` says; so between
    replace-one neighbours it gets half of what it gets otherwise.

    Attributes:
        selection: The parameters of the selection in all groups, with its part of ε.
        measurement_epsilon: The part of ε that each measurement costs.

    >>> shares = GroupedShares.of(TopKByGroup(k=10, epsilon=1, monotonic=True), "1/2")
    >>> shares.selection.epsilon, shares.measurement_epsilon, shares.epsilon
    (Fraction(1, 2), Fraction(1, 20), Fraction(1, 1))
    >>> GroupedShares.of(TopKByGroup(k=10, epsilon=1), "1/2").measurement_epsilon
    Fraction(1, 40)
    """

    selection: TopKByGroup
    measurement_epsilon: Fraction

    @classmethod
    def of(cls, parameters: TopKByGroup, selection_share: "Number") -> "GroupedShares":
        """Share out the ε of these parameters; the selections get so much of it.

        Raises:
            ParameterTypeError, ParameterError: As of `Shares.of`.
        """
        share, each = read_selection_share(selection_share), parameters.each
        try:
            selection = TopKByGroup(
                each.k,
                share * parameters.epsilon,
                groups_per_person=parameters.groups_per_person,
                resolution=each.resolution,
                sensitivity=each.sensitivity,
                monotonic=each.monotonic,
                items_per_person=each.items_per_person,
                noise="exponential",
            )
        except ParameterError:  # the product alone can be one that it refuses
            raise ParameterError(_TOO_FINE) from None
        rest = parameters.epsilon * (1 - share)
        return cls(selection, rest / parameters.measurements_per_person)

    @property
    def each(self) -> Shares:
        """The shares within one group."""
        return Shares(self.selection.each, self.measurement_epsilon)

    @property
    def epsilon(self) -> Fraction:
        """The privacy loss of the lists and all measurements of all groups."""
        measured = self.selection.measurements_per_person * self.measurement_epsilon
        return self.selection.epsilon + measured


_TOO_FINE = "selection_share must have fewer digits, or epsilon; write thirds as '1/3'."


def read_selection_share(selection_share: "Number") -> Fraction:
    """Read which part of ε selects.

    Raises:
        ParameterTypeError: It is of a type that is not an exact number.
        ParameterError: It does not lie between 0 and 1.
    """
    share = read_parameter(selection_share, "selection_share")
    if share >= 1:
        raise ParameterError("selection_share must be below 1, or nothing is left to measure with.")
    return share


def laplace(rate: Fraction, count: int) -> list[int]:
    """Independent x with probability proportional to e^−(rate·|x|)."""
    kernel = _kernel(rate)
    if kernel is not None:
        return kernel.draw(count)
    # Noise too large for the kernel: Python has the same law, and takes its time.
    sampler = Sampler()
    return [sampler.discrete_laplace(rate) for _ in range(count)]


@lru_cache(maxsize=256)
def _kernel(rate: Fraction) -> Laplace | None:
    try:
        return Laplace(rate.numerator, rate.denominator)
    except OverflowError:
        return None
