"""What to expect at one ε: the accuracy of the lists and the errors of the counts."""

from dataclasses import dataclass
from fractions import Fraction

from topgap.planning.statistics import Figure


@dataclass(frozen=True)
class Lists:
    """The accuracy of the lists of simulated releases.

    Attributes:
        right: The probability that the k named are the k largest. Among equal counts, any of them
            is right.
        in_order: The probability that they are also in the right order.
        overlap: How many of the named are among the k largest, on average.
        empty: How many of the named are items that nobody has, on average; None without a domain.
        people_needed: How many people an item needs to be named with probability 95%; see
            `topgap.margins.people_needed`. None without a domain.
    """

    right: Figure
    in_order: Figure
    overlap: Figure
    empty: Figure | None = None
    people_needed: int | None = None


@dataclass(frozen=True)
class Row:
    """What to expect at one ε.

    Attributes:
        epsilon: The privacy loss of all that is released.
        names: The lists, if only names and gaps are released, as by `topgap.top_k`.
        estimates: The lists, if the winners are measured too, as by `topgap.top_k_with_estimates`:
            then only a share of ε selects.
        measured_error: The error of a winner's measured count, without the gaps: the root mean
            square over all winners and releases.
        combined_error: The error of the estimates, which combine measurements and gaps.
        measured_formula: The error of a measurement by the formula.
        combined_formula: The error of an estimate by the formula, where the order is certain.
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
        """All simulated figures, by the names of their columns."""
        figures = {
            "names_right": self.names.right,
            "names_in_order": self.names.in_order,
            "names_overlap": self.names.overlap,
            "names_empty": self.names.empty,
            "estimates_right": self.estimates.right,
            "estimates_in_order": self.estimates.in_order,
            "estimates_overlap": self.estimates.overlap,
            "estimates_empty": self.estimates.empty,
            "measured_error": self.measured_error,
            "combined_error": self.combined_error,
        }
        return {name: figure for name, figure in figures.items() if figure is not None}

    @property
    def formulas(self) -> dict[str, float]:
        """All figures that are computed, by the names of their columns."""
        figures = {
            "measured_formula": self.measured_formula,
            "combined_formula": self.combined_formula,
            "names_people_needed": self.names.people_needed,
            "estimates_people_needed": self.estimates.people_needed,
        }
        return {name: figure for name, figure in figures.items() if figure is not None}
