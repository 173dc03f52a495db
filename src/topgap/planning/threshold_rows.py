"""What to expect at one ε and one threshold."""

from dataclasses import dataclass
from fractions import Fraction

from topgap.numbers.format import to_float
from topgap.parameters import NoiseKind
from topgap.planning.statistics import Figure

ONE_IN = 20
"""An item is near the threshold if noise puts it on the wrong side more often than once in so many
times."""


@dataclass(frozen=True)
class ThresholdRow:
    """What to expect of releases with one threshold, at one ε and with one contribution bound.

    Attributes:
        epsilon: The privacy loss ε that is promised.
        threshold: The threshold, rounded down to the resolution.
        items_per_person: The contribution bound L; None without one.
        noise: The noise of such a release; "laplace" if there is a bound less than k.
        scale: Its scale.
        above: How many items should be named: those whose counts of all items are above the
            threshold, but at most k.
        expected_above: How many come out above it on average, if any number may: the sum of the
            probabilities by the formula.
        margin: So far from the threshold an item has to be so that noise puts it on the wrong side
            of the threshold at most once in 20 times: scale · ln 10. With counts of persons these
            are people.
        near: How many items are nearer to the threshold.
        deviation: The standard deviation of the count of an item that is far above the threshold:
            √2 · scale, or a little less with Laplace noise, which is whole steps.
        named: How many items are named, on average.
        right: How many of them should be.
        spent: What an output costs in ε, on average: `topgap.TopK.cost` of what is named.
        counted: The probability that counts come with the names. With exponential noise they do if
            the threshold ended the list, and not if it has k names; with Laplace noise they always
            do.
        error: How far the counts are off where they come: the root of the mean square over the
            named items. None if they come in fewer than one of a hundred releases.
        bias: The mean of the same errors.
    """

    epsilon: Fraction
    threshold: Fraction
    items_per_person: int | None
    noise: NoiseKind
    scale: Fraction
    above: int
    expected_above: float
    margin: float
    near: int
    deviation: float
    named: Figure
    right: Figure
    spent: Figure
    counted: Figure
    error: Figure | None
    bias: Figure | None

    @property
    def figures(self) -> dict[str, Figure | None]:
        """All simulated figures, by the names of their columns."""
        return {
            "named": self.named,
            "right": self.right,
            "spent": self.spent,
            "counted": self.counted,
            "error": self.error,
            "bias": self.bias,
        }

    @property
    def formulas(self) -> dict[str, float]:
        """All figures that are computed or counted, by the names of their columns."""
        return {
            "scale": to_float(self.scale),
            "above": self.above,
            "expected_above": self.expected_above,
            "margin": self.margin,
            "near": self.near,
            "deviation": self.deviation,
        }
