"""A Matplotlib chart of a plan for thresholds over ε: what is found, what it costs, the errors."""

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from topgap.display.figure import (
    BLUE,
    BROWN,
    new_figure,
    place_legend_beside,
    require_matplotlib,
    style_axes,
    to_bytes,
)
from topgap.planning.formatting import format_items, format_threshold
from topgap.planning.plot import GREY, SIZE, draw_line
from topgap.planning.statistics import Figure
from topgap.planning.threshold_rows import ThresholdRow

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

_COLORS = BLUE, BROWN, GREY, "black"
_MARKS = "osv^DP"


def plot(
    rows: Sequence[ThresholdRow], title: str, axes: "tuple[Axes, Axes] | None" = None
) -> "tuple[Axes, Axes]":
    """Draw a plan for thresholds over ε, on two axes one above the other.

    The upper axes show for each threshold the part of the items that should be named that is, and
    the part of ε that an output costs. The lower axes show the error of the counts, where they
    come. Error bars reach two standard errors of the simulation to each side.

    Args:
        rows: What to expect at each ε and threshold.
        title: The title of the upper axes.
        axes: The two axes to draw on. Default: new ones in a pyplot figure.

    Returns:
        The axes. Nothing is shown or saved.

    Raises:
        MissingExtraError: Matplotlib is not installed.

    >>> from matplotlib.figure import Figure
    >>> from topgap.planning import plan_threshold
    >>> made = plan_threshold([50, 40, 30], 2, 35, epsilons=[1, 2], releases=10)
    >>> above, below = plot(made.rows, made.title, tuple(Figure().subplots(2, 1)))
    >>> above.get_title(), below.get_xlabel()
    ('Above a threshold, at most 2 of 3 items', 'ε')
    """
    require_matplotlib()
    if axes is None:
        return _draw_on_figure(new_figure(*SIZE, pyplot=True), rows, title)
    _draw(rows, title, *axes)
    for ax in axes:
        ax.legend()
    return axes


def render(rows: Sequence[ThresholdRow], title: str, form: str) -> bytes:
    """Draw the same chart as the contents of a file, without pyplot and without a display.

    Args:
        rows: What to expect at each ε and threshold.
        title: The title of the upper axes.
        form: One of `topgap.display.figure.FORMS`.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    figure = new_figure(*SIZE)
    _draw_on_figure(figure, rows, title)
    return to_bytes(figure, form)


def _draw_on_figure(
    figure: "matplotlib.figure.Figure", rows: Sequence[ThresholdRow], title: str
) -> "tuple[Axes, Axes]":
    above, below = figure.subplots(2, 1, sharex=True)
    _draw(rows, title, above, below)
    for ax in (above, below):
        place_legend_beside(ax)
    return above, below


def _draw(rows: Sequence[ThresholdRow], title: str, above: "Axes", below: "Axes") -> None:
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
    above.set_ylim(-0.03, 1.03)
    above.set_ylabel("part of the items, or of ε")
    above.set_title(title)
    if any(row.error is not None and row.error.value > 0 for row in rows):
        below.set_yscale("log")
    below.set_ylabel("error of a count")
    below.set_xlabel("ε")
    for ax in (above, below):
        ax.set_xscale("log")
        style_axes(ax)


def _divide(figure: Figure, number: float) -> Figure:
    return Figure(figure.value / number, figure.standard_error / number)
