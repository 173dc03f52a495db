"""The chart of a plan for thresholds over ε: what is found, what it costs, the errors."""

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from topgap.display.figure import BLUE, BROWN
from topgap.planning.chart import GREY, draw_line, label_axes
from topgap.planning.formatting import format_items, format_threshold
from topgap.planning.statistics import Figure
from topgap.planning.threshold_rows import ThresholdRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = BLUE, BROWN, GREY, "black"
_MARKS = "osv^DP"


def draw(rows: Sequence[ThresholdRow], title: str, above: "Axes", below: "Axes") -> None:
    """Draw a plan for thresholds over ε, on two axes one above the other.

    The upper axes show for each threshold the part of the items that should be named that is, and
    the part of ε that an output costs. The lower axes show the error of the counts, where they
    come.

    Args:
        rows: What to expect at each ε and threshold.
        title: The title of the upper axes.
        above: The upper axes.
        below: The lower axes.

    >>> from matplotlib.figure import Figure
    >>> from topgap.planning import plan_threshold
    >>> made = plan_threshold([50, 40, 30], 2, 35, epsilons=[1, 2], releases=10)
    >>> above, below = Figure().subplots(2, 1)
    >>> draw(made.rows, made.title, above, below)
    >>> above.get_title(), below.get_xlabel()
    ('Above a threshold, at most 2 of 3 items', 'ε')
    """
    lines: dict[tuple[Any, int | None], list[ThresholdRow]] = {}
    for row in rows:
        lines.setdefault((row.threshold, row.items_per_person), []).append(row)
    for (threshold, bound), of_line, color, mark in zip(
        lines, lines.values(), cycle(_COLORS), cycle(_MARKS), strict=False
    ):
        label = f"above {format_threshold(threshold)}"
        if bound is not None:
            label += f", at most {format_items(bound)}"
        style: dict[str, Any] = {"color": color, "marker": mark}
        epsilons = [float(row.epsilon) for row in of_line]
        found = [_divide(row.right, row.above) for row in of_line if row.above]
        draw_line(above, epsilons[: len(found)], found, label=f"found: {label}", **style)
        cost = [_divide(row.spent, float(row.epsilon)) for row in of_line]
        style["linestyle"] = "--"
        draw_line(above, epsilons, cost, label=f"cost: {label}", markerfacecolor="none", **style)
        told = [(float(row.epsilon), row.error) for row in of_line]
        there = [(epsilon, error) for epsilon, error in told if error is not None]
        style["linestyle"] = "-"
        draw_line(below, [each for each, _ in there], [e for _, e in there], label=label, **style)
    has_log_errors = any(row.error is not None and row.error.value > 0 for row in rows)
    shares = "share of the items, or of ε"
    label_axes(above, below, title, shares, has_log_errors=has_log_errors)


def _divide(figure: Figure, number: float) -> Figure:
    return Figure(figure.value / number, figure.standard_error / number)
