"""What to expect at one ε: the accuracy of the lists and the errors of the counts."""

from dataclasses import dataclass
from fractions import Fraction

from topgap.numbers.format import to_float
from topgap.parameters import NoiseKind
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
class ReleasedErrors:
    """How far the released counts of winners are from the counts of all items.

    Attributes:
        median: The median of the absolute errors over all winners and releases.
        bias: The mean of the errors: below 0 if a contribution bound leaves items out.
    """

    median: Figure
    bias: Figure


@dataclass(frozen=True)
class BoundRow:
    """What to expect at one ε of releases with a contribution bound.

    Attributes:
        items_per_person: The bound L: at most so many items of each person count.
        noise: The noise of such a release: "laplace" if L is less than k, as of `topgap.TopK`.
        scale: Its scale.
        resolution: Its counts and gaps are multiples of this.
        lists: The lists, compared with the k largest of the counts of all items.
        errors: The errors of the winners' counts, which Laplace noise releases; None with
            exponential noise.
    """

    items_per_person: int
    noise: NoiseKind
    scale: Fraction
    resolution: Fraction
    lists: Lists
    errors: ReleasedErrors | None


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
        estimate_errors: The errors of the estimates as medians and means, to compare with `bounds`.
        bounds: The same of releases with contribution bounds, from the smallest bound up.
    """

    epsilon: Fraction
    names: Lists
    estimates: Lists
    measured_error: Figure
    combined_error: Figure
    measured_formula: float
    combined_formula: float
    estimate_errors: ReleasedErrors
    bounds: tuple[BoundRow, ...] = ()

    @property
    def figures(self) -> dict[str, Figure]:
        """All simulated figures, by the names of their columns."""
        figures: dict[str, Figure | None] = {
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
            "combined_median": self.estimate_errors.median,
            "combined_bias": self.estimate_errors.bias,
        }
        for bound in self.bounds:
            name, errors = f"bound_{bound.items_per_person}", bound.errors
            figures |= {
                f"{name}_right": bound.lists.right,
                f"{name}_in_order": bound.lists.in_order,
                f"{name}_overlap": bound.lists.overlap,
                f"{name}_empty": bound.lists.empty,
                f"{name}_median": None if errors is None else errors.median,
                f"{name}_bias": None if errors is None else errors.bias,
            }
        return {name: figure for name, figure in figures.items() if figure is not None}

    @property
    def formulas(self) -> dict[str, float]:
        """All figures that are computed, by the names of their columns."""
        figures: dict[str, float | None] = {
            "measured_formula": self.measured_formula,
            "combined_formula": self.combined_formula,
            "names_people_needed": self.names.people_needed,
            "estimates_people_needed": self.estimates.people_needed,
        }
        for bound in self.bounds:
            name = f"bound_{bound.items_per_person}"
            figures[f"{name}_scale"] = to_float(bound.scale)
            figures[f"{name}_people_needed"] = bound.lists.people_needed
        return {name: figure for name, figure in figures.items() if figure is not None}
