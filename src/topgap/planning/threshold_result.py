"""The result of a plan for thresholds, `ThresholdPlan`, in all its forms."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from topgap.display.numbers import format_roughly
from topgap.numbers.format import format_short
from topgap.planning.formatting import (
    LONGEST,
    format_error,
    format_overlap,
    format_share,
    format_threshold,
    to_json_number,
)
from topgap.planning.forms import SimulatedPlan
from topgap.planning.threshold_plot import draw
from topgap.planning.threshold_rows import ONE_IN, ThresholdRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = "topgap.threshold-plan/1"
_NOTES = (
    "above: items above the threshold, at most k; named, and right of them: on average.",
    "cost: in ε, on average. counts: the probability that counts come with the names.",
    "error: root mean square error of these counts; bias: their mean error.",
    f"margin: an item at this distance from the threshold is on its right side in "
    f"{1 - 1 / ONE_IN:.0%} of the releases.",
    "near: the number of items that are nearer.",
)


@dataclass(frozen=True, repr=False)
class ThresholdPlan(SimulatedPlan):
    """What to expect of releases with a threshold, as `topgap.planning.plan_threshold` found it.

    It reveals the counts that it was made from, which must be public or made up.

    Attributes:
        k: How many items are named at most.
        items: The number of counts.
        resolution: Gaps are multiples of this; with Laplace noise, `bounded_resolution`.
        sensitivity: How far one person can move any one count.
        monotonic: Whether one person's arrival moves all counts the same way.
        releases: The number of simulated releases for each row.
        rows: What to expect: for each ε, from the smallest up, and each threshold a row without a
            contribution bound, and then one for each bound.
        advice: What the counts say of the thresholds and of k, in sentences.
        domain_size: How many items the domain has, those without counts too; None without one.
        is_truncated: Whether counts with each contribution bound were given, so that the figures
            have what a bound leaves out.
    """

    k: int
    items: int
    resolution: Fraction
    sensitivity: Fraction
    monotonic: bool
    releases: int
    rows: tuple[ThresholdRow, ...]
    advice: tuple[str, ...] = ()
    domain_size: int | None = None
    is_truncated: bool = False

    @property
    def has_bounds(self) -> bool:
        """Whether some rows have a contribution bound."""
        return any(row.items_per_person is not None for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Everything in a dict: parameters as exact strings, simulated figures as floats.

        Each simulated figure is a pair of its value and its standard error, or None if there are
        hardly any counts; what no float can hold is None.
        """
        return {
            "format": FORMAT,
            **self._counts_to_dict(),
            "releases": self.releases,
            **({"is_truncated": self.is_truncated} if self.has_bounds else {}),
            "advice": [*self.advice],
            "rows": [
                {
                    "epsilon": str(row.epsilon),
                    "threshold": str(row.threshold),
                    **({"items_per_person": row.items_per_person} if self.has_bounds else {}),
                    "noise": row.noise,
                    **{
                        name: None if figure is None else [*map(to_json_number, figure)]
                        for name, figure in row.figures.items()
                    },
                    **{name: to_json_number(figure) for name, figure in row.formulas.items()},
                }
                for row in self.rows
            ],
        }

    def columns(self) -> dict[str, list[float | None]]:
        """The columns of the data frames, by name.

        They are `epsilon` and `threshold`; `items_per_person`, if there are bounds; each of the
        simulated figures (`named`, `right`, `spent`, `counted`, `error`, `bias`), followed by its
        standard error, whose name ends in `_se`; and `scale`, `above`, `expected_above`, `margin`,
        `near` and `deviation`. See `ThresholdRow` for what they mean.
        """
        columns: dict[str, list[float | None]] = {
            "epsilon": [float(row.epsilon) for row in self.rows],
            "threshold": [float(row.threshold) for row in self.rows],
        }
        if self.has_bounds:
            columns["items_per_person"] = [row.items_per_person for row in self.rows]
        for name in self.rows[0].figures:
            figures = [row.figures[name] for row in self.rows]
            columns[name] = [None if each is None else each.value for each in figures]
            columns[f"{name}_se"] = [
                None if each is None else each.standard_error for each in figures
            ]
        for name in self.rows[0].formulas:
            columns[name] = [to_json_number(row.formulas[name]) for row in self.rows]
        return columns

    @property
    def title(self) -> str:
        """What was planned, as a title.

        >>> ThresholdPlan(25, 9_000, Fraction(1), Fraction(1), True, 100, ()).title
        'Above a threshold, at most 25 of 9,000 items'
        """
        return f"Above a threshold, at most {self.k:,} of {self._format_items()}"

    def _draw(self, above: "Axes", below: "Axes") -> None:
        draw(self.rows, self.title, above, below)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        head = ["ε", "threshold", *["L"] * self.has_bounds, "noise", "above", "named", "right"]
        head += ["cost", "counts", "error", "bias", "margin", "near"]
        rows, last_epsilon, last_threshold = [], None, None
        for row in self.rows:
            is_new = row.epsilon != last_epsilon
            cells = [format_short(row.epsilon, LONGEST) if is_new else ""]
            shown = is_new or row.threshold != last_threshold
            cells.append(format_threshold(row.threshold) if shown else "")
            if self.has_bounds:
                cells.append("any" if row.items_per_person is None else f"{row.items_per_person:,}")
            rows.append([*cells, *_cells(row, self.k)])
            last_epsilon, last_threshold = row.epsilon, row.threshold
        return head, rows

    def _explanations(self) -> list[str]:
        truncated = {True: "is in the figures", False: "is not known, nor in the figures"}
        bounds = [
            "L: the most items of each person that count; the noise is Laplace noise if L < k.",
            f"What a bound leaves out {truncated[self.is_truncated]}.",
        ]
        return [
            *_NOTES,
            *(bounds if self.has_bounds else []),
            f"Each line is from {self.releases:,} simulated releases.",
        ]

    def __repr__(self) -> str:
        return f"<ThresholdPlan for at most {self.k} of {self.items} items, {len(self.rows)} rows>"


def _cells(row: ThresholdRow, k: int) -> list[str]:
    error = "" if row.error is None else format_error(row.error.value)
    bias = ""
    if row.bias is not None and row.error is not None:
        is_none = abs(row.bias.value) <= max(3 * row.bias.standard_error, row.error.value / 50)
        bias = "0" if is_none else format_error(row.bias.value)
    return [
        format_roughly(row.scale),
        f"{row.above:,}",
        format_overlap(row.named.value, k),
        format_overlap(row.right.value, row.above) if row.above else "0",
        f"{row.spent.value:.3g}",
        format_share(row.counted.value),
        error,
        bias,
        format_error(row.margin),
        f"{row.near:,}",
    ]
