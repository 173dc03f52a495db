"""The chart of a plan over ε: the accuracy of the list, and the errors of the counts."""

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from topgap.display.figure import BLUE, BROWN
from topgap.planning.chart import GREY, LARGEST, draw_line, label_axes
from topgap.planning.formatting import format_items
from topgap.planning.rows import BoundRow, Row
from topgap.planning.statistics import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Lines differ in colour, in their dashes and in their marks.
_SOLID: dict[str, Any] = {"linestyle": "-", "marker": "o"}
_DASHED: dict[str, Any] = {"linestyle": "--", "marker": "s", "markerfacecolor": "none"}


def draw(rows: Sequence[Row], k: int, title: str, above: "Axes", below: "Axes") -> None:
    """Draw a plan over ε, on two axes one above the other.

    The upper axes show the probability that the list is right, and the share of it that is; with a
    domain also the share that nobody has. The lower axes show the error of the winners' counts,
    with and without the gaps. With contribution bounds the upper axes have a line of each for the
    share that is right, and the lower ones medians in place of roots of mean squares.

    Args:
        rows: What to expect at each ε.
        k: How many winners are named.
        title: The title of the upper axes.
        above: The upper axes.
        below: The lower axes.

    >>> from matplotlib.figure import Figure
    >>> from topgap.planning import plan
    >>> made = plan([50, 40, 30], k=2, epsilons=[1, 2], releases=10)
    >>> above, below = Figure().subplots(2, 1)
    >>> draw(made.rows, made.k, made.title, above, below)
    >>> above.get_title(), below.get_xlabel()
    ('The 2 largest of 3 items', 'ε')
    """
    epsilons = [float(row.epsilon) for row in rows]
    names, estimates = [row.names for row in rows], [row.estimates for row in rows]
    for lists, released, style in (
        (names, "names and gaps", _SOLID),
        (estimates, "counts too", _DASHED),
    ):
        right = [each.right for each in lists]
        part = [Figure(each.overlap.value / k, each.overlap.standard_error / k) for each in lists]
        label = f"probability that the list is right: {released}"
        draw_line(above, epsilons, right, color=BLUE, label=label, **style)
        label = f"share of the list that is right: {released}"
        draw_line(above, epsilons, part, color=BROWN, label=label, **style)
        empty = [each.empty for each in lists if each.empty is not None]
        if empty:  # there is a domain
            part = [Figure(each.value / k, each.standard_error / k) for each in empty]
            label = f"share of the list that nobody has: {released}"
            draw_line(above, epsilons, part, color=GREY, label=label, **style)
    bounds = [*zip(*(row.bounds for row in rows), strict=True)]
    styles = [
        {"color": f"{0.65 * place / len(bounds):.2f}", "linestyle": ":", "marker": mark}
        for place, mark in zip(range(len(bounds)), cycle("^vD<>P"), strict=False)
    ]  # shades of grey
    for of_bound, style in zip(bounds, styles, strict=True):
        overlaps = [bound.lists.overlap for bound in of_bound]
        part = [Figure(each.value / k, each.standard_error / k) for each in overlaps]
        label = f"share of the list that is right: {_label(of_bound[0])}"
        draw_line(above, epsilons, part, label=label, **style)
    if bounds:
        medians = [row.estimate_errors.median for row in rows]
        draw_line(
            below, epsilons, medians, color=BROWN, label="median error: counts too", **_DASHED
        )
    else:
        alone, combined = [row.measured_error for row in rows], [row.combined_error for row in rows]
        label = "error of a named item's count: measured alone"
        draw_line(below, epsilons, alone, color=BLUE, label=label, **_DASHED)
        label = "error of a named item's count: with the gaps"
        draw_line(below, epsilons, combined, color=BROWN, label=label, **_SOLID)
    for of_bound, style in zip(bounds, styles, strict=True):
        medians = [bound.errors.median for bound in of_bound if bound.errors is not None]
        if medians:
            label = f"median error: {_label(of_bound[0])}"
            draw_line(below, epsilons, medians, label=label, **style)
    has_log_errors = any(0 < row.measured_error.value < LARGEST for row in rows)
    label_axes(above, below, title, "probability, or part", has_log_errors=has_log_errors)


def _label(bound: BoundRow) -> str:
    return f"at most {format_items(bound.items_per_person)}"
