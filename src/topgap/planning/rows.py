"""What to expect at one ε: `Row`, with how right the lists are and how far off the counts."""

from dataclasses import dataclass
from fractions import Fraction

from topgap.planning.statistics import Figure


@dataclass(frozen=True)
class Lists:
    """How right the lists of simulated releases are.

    Attributes:
        right: The chance that all k named are the k largest. Among equal counts, whoever is named
            is right.
        in_order: The chance that they are in the right order, too.
        overlap: How many of the named are among the k largest, on average.
    """

    right: Figure
    in_order: Figure
    overlap: Figure


@dataclass(frozen=True)
class Row:
    """What to expect at one ε.

    Attributes:
        epsilon: The privacy loss of all that is released.
        names: The lists, if names and gaps are released and nothing else, as by `topgap.top_k`.
        estimates: The lists, if the winners are measured too, as by `topgap.top_k_with_estimates`:
            then just a share of ε selects.
        measured_error: How far off a winner's measured count is, without the gaps: the root of the
            mean square, over all winners and releases.
        combined_error: The same of the estimates, which measurements and gaps make together.
        measured_formula: What the formula says of a measurement's error.
        combined_formula: The same of an estimate's, where no winner's place is in doubt.
    """

    epsilon: Fraction
    names: Lists
    estimates: Lists
    measured_error: Figure
    combined_error: Figure
    measured_formula: float
    combined_formula: float

    @property
    def figures(self) -> dict[str, Figure]:
        """All that was simulated, by the names of its columns."""
        return {
            "names_right": self.names.right,
            "names_in_order": self.names.in_order,
            "names_overlap": self.names.overlap,
            "estimates_right": self.estimates.right,
            "estimates_in_order": self.estimates.in_order,
            "estimates_overlap": self.estimates.overlap,
            "measured_error": self.measured_error,
            "combined_error": self.combined_error,
        }
