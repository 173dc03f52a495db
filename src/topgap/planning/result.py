"""The result of a plan, `Plan`, as text, as JSON, as data frames and as a plot."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from topgap.display.numbers import format_roughly
from topgap.numbers.format import format_rounded, format_short
from topgap.parameters import TopK
from topgap.planning.advice import advise
from topgap.planning.formatting import (
    LONGEST,
    format_error,
    format_items,
    format_overlap,
    format_people,
    format_share,
    to_column,
    to_json_number,
)
from topgap.planning.forms import SimulatedPlan
from topgap.planning.plot import draw
from topgap.planning.rows import Lists, ReleasedErrors, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = "topgap.plan/1"
NEEDED = (
    "needed: people that an item needs to be named with probability 95%, if at most k items have "
    "anybody."
)
AT_MOST = (
    "at most L items: the number of each person's items that count; the noise is Laplace noise if "
    "L < k."
)
ERRORS = "median error, bias: of released counts, compared with the counts of all items."
IN_FIGURES = "The figures include what a bound leaves out."
NOT_IN_FIGURES = "Counts do not show what a bound leaves out; these figures include only noise."
_NAMES, _ESTIMATES = "names, gaps", "counts too"


@dataclass(frozen=True, repr=False)
class Plan(SimulatedPlan):
    """What to expect of releases of such counts, as `topgap.plan` found it by simulation.

    It reveals the counts that it was made from, which must be public or made up. Its table has for
    each ε a line of names and gaps, one with counts too, and one of each contribution bound.

    Attributes:
        k: How many winners are named.
        items: The number of counts.
        resolution: Gaps and measurements are multiples of this.
        sensitivity: How far one person can move any one count.
        monotonic: Whether one person's arrival moves all counts the same way.
        selection_share: The share of ε that selects, where winners are measured too.
        releases: The number of simulated releases for each ε and each kind.
        rows: What to expect at each ε, from the smallest up.
        domain_size: How many items the domain has, those without counts too; None without one.
        is_truncated: Whether counts with each contribution bound were given, so that the figures
            have what a bound leaves out.
    """

    k: int
    items: int
    resolution: Fraction
    sensitivity: Fraction
    monotonic: bool
    selection_share: Fraction
    releases: int
    rows: tuple[Row, ...]
    domain_size: int | None = None
    is_truncated: bool = False

    _left = (1,)

    def to_dict(self) -> dict[str, Any]:
        """Everything in a dict: parameters as exact strings, simulated figures as floats.

        Each figure is a pair of its value and its standard error; what no float can hold is None.
        """
        return {
            "format": FORMAT,
            **self._counts_to_dict(),
            "selection_share": str(self.selection_share),
            "releases": self.releases,
            **self._bounds_to_dict(),
            "rows": [
                {
                    "epsilon": str(row.epsilon),
                    **{
                        name: [*map(to_json_number, figure)] for name, figure in row.figures.items()
                    },
                    **{name: to_json_number(figure) for name, figure in row.formulas.items()},
                }
                for row in self.rows
            ],
        }

    def _bounds_to_dict(self) -> dict[str, Any]:
        if not self.items_per_person:
            return {}
        return {
            "items_per_person": [*self.items_per_person],
            "bounded_resolution": [str(each.resolution) for each in self.rows[0].bounds],
            "is_truncated": self.is_truncated,
            "advice": [*self.advice],
        }

    @property
    def items_per_person(self) -> tuple[int, ...]:
        """The contribution bounds that were planned, from the smallest up."""
        return tuple(bound.items_per_person for bound in self.rows[0].bounds) if self.rows else ()

    @property
    def advice(self) -> tuple[str, ...]:
        """What the figures say of the contribution bounds, in sentences; none without bounds."""
        return advise(self.rows, self.k, is_truncated=self.is_truncated)

    def columns(self) -> dict[str, list[float]]:
        """The columns of the data frames, by name.

        They are `epsilon`; each of the simulated figures (`names_right`, `names_in_order`,
        `names_overlap`, `estimates_right`, `estimates_in_order`, `estimates_overlap`,
        `measured_error`, `combined_error`, `combined_median`, `combined_bias`), followed by its
        standard error, whose name ends in `_se`; `measured_formula` and `combined_formula`. With a
        domain there are `names_empty` and `estimates_empty`, too, and `names_people_needed` and
        `estimates_people_needed`. With a contribution bound of 2 there are `bound_2_right`,
        `bound_2_in_order`, `bound_2_overlap`, `bound_2_median`, `bound_2_bias` and `bound_2_scale`.
        See `Row`, `Lists` and `BoundRow` for what they mean.
        """
        columns: dict[str, list[float]] = {"epsilon": [float(row.epsilon) for row in self.rows]}
        for name in self.rows[0].figures:
            columns[name] = [row.figures[name].value for row in self.rows]
            columns[f"{name}_se"] = [row.figures[name].standard_error for row in self.rows]
        for name in self.rows[0].formulas:
            columns[name] = to_column([row.formulas[name] for row in self.rows])
        return columns

    @property
    def title(self) -> str:
        """What was planned, as a title.

        >>> Plan(2, 9_000, Fraction(1), Fraction(1), True, Fraction(1, 2), 100, ()).title
        'The 2 largest of 9,000 items'
        """
        return f"The {f'{self.k} ' * (self.k > 1)}largest of {self._format_items()}"

    def _draw(self, above: "Axes", below: "Axes") -> None:
        draw(self.rows, self.k, self.title, above, below)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        if self.items_per_person:
            return self._bounds_table()
        head = ["ε", "released", "list right", "order too", f"of {self.k} right"]
        head += [*self._domain_head(), "error measured", "with gaps"]
        rows = []
        for row in self.rows:
            errors = [format_rounded(*row.measured_error), format_rounded(*row.combined_error)]
            for epsilon, label, lists, cells in (
                (format_short(row.epsilon, LONGEST), _NAMES, row.names, ["", ""]),
                ("", _ESTIMATES, row.estimates, errors),
            ):
                in_order = format_share(lists.in_order.value)
                right, *others = _cells(lists, self.k)
                rows.append([epsilon, label, right, in_order, *others, *cells])
        return head, rows

    def _bounds_table(self) -> tuple[list[str], list[list[str]]]:
        head = ["ε", "released", "noise", "list right", f"of {self.k} right"]
        head += [*self._domain_head(), "median error", "bias"]
        rows = []
        for row in self.rows:
            scale = TopK(
                self.k, row.epsilon, sensitivity=self.sensitivity, resolution=self.resolution,
                monotonic=self.monotonic,
            ).scale  # fmt: skip
            lines: list[tuple[str, Fraction, Lists, ReleasedErrors | None]] = [
                (_NAMES, scale, row.names, None),
                (_ESTIMATES, scale / self.selection_share, row.estimates, row.estimate_errors),
            ]
            lines += [
                (
                    f"at most {format_items(each.items_per_person)}",
                    each.scale,
                    each.lists,
                    each.errors,
                )
                for each in row.bounds
            ]
            epsilon = format_short(row.epsilon, LONGEST)
            for label, noise, lists, errors in lines:
                cells = [*_cells(lists, self.k), *_error_cells(errors)]
                rows.append([epsilon, label, format_roughly(noise), *cells])
                epsilon = ""
        return head, rows

    def _domain_head(self) -> list[str]:
        return [] if self.domain_size is None else [f"of {self.k} empty", "needed"]

    def _explanations(self) -> list[str]:
        off = max(
            each.standard_error
            for row in self.rows
            for lists in (row.names, row.estimates, *(bound.lists for bound in row.bounds))
            for each in (lists.right, lists.in_order)
        )
        return [
            f"Where counts are released too, {format_short(self.selection_share)} of ε selects.",
            *self._domain_notes(),
            *self._bound_notes(),
            f"Each line is from {self.releases:,} simulated releases: probabilities have a "
            f"standard error of at most {100 * off:.2g}%.",
        ]

    def _bound_notes(self) -> list[str]:
        if not self.items_per_person:
            return []
        left_out = IN_FIGURES if self.is_truncated else NOT_IN_FIGURES
        bounded = {each.resolution for each in self.rows[0].bounds if each.noise == "laplace"}
        resolution = [f"With Laplace noise the resolution is {each}." for each in bounded]
        return [AT_MOST, *resolution, ERRORS, left_out]

    def _domain_notes(self) -> list[str]:
        if self.domain_size is None:
            return []
        return [f"empty: items that nobody has; {self.items:,} items have public counts.", NEEDED]

    def __repr__(self) -> str:
        return f"<Plan for the {self.title[4:]} at {len(self.rows)} values of ε>"


def _cells(lists: Lists, k: int) -> list[str]:
    cells = [format_share(lists.right.value), format_overlap(lists.overlap.value, k)]
    if lists.empty is not None:
        empty, needed = lists.empty.value, lists.people_needed
        cells.append("<0.01" if 0 < empty < 0.005 else f"{empty:.2f}")
        cells.append("" if needed is None else format_people(needed))
    return cells


def _error_cells(errors: ReleasedErrors | None) -> list[str]:
    if errors is None:
        return ["", ""]
    median, (bias, off) = errors.median.value, errors.bias
    is_none = abs(bias) <= max(2 * off, median / 100)  # as far as the simulation tells
    return [format_error(median), "0" if is_none else format_error(bias)]
