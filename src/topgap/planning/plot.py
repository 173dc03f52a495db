"""A Matplotlib chart of a plan over ε: the accuracy of the list, and the errors of the counts."""

from collections.abc import Sequence
from itertools import cycle
from math import isfinite
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
from topgap.planning.formatting import format_items
from topgap.planning.rows import BoundRow, Row
from topgap.planning.statistics import Figure

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

# Lines differ in colour, in their dashes and in their marks.
_SOLID: dict[str, Any] = {"linestyle": "-", "marker": "o"}
_DASHED: dict[str, Any] = {"linestyle": "--", "marker": "s", "markerfacecolor": "none"}
GREY = "#5f6b76"
SIZE = (10, 6.4)
_LARGEST = 1e300  # nearly all that an axis can hold


def plot(
    rows: Sequence[Row], k: int, title: str, axes: "tuple[Axes, Axes] | None" = None
) -> "tuple[Axes, Axes]":
    """Draw a plan over ε, on two axes one above the other.

    The upper axes show the probability that the list is right, and the share of it that is; with a
    domain also the share that nobody has. The lower axes show the error of the winners' counts,
    with and without the gaps. With contribution bounds the upper axes have a line of each for the
    share that is right, and the lower ones medians in place of roots of mean squares. Error bars
    reach two standard errors of the simulation to each side.

    Args:
        rows: What to expect at each ε.
        k: How many winners are named.
        title: The title of the upper axes.
        axes: The two axes to draw on. Default: new ones in a pyplot figure.

    Returns:
        The axes. Nothing is shown or saved.

    Raises:
        MissingExtraError: Matplotlib is not installed.

    >>> from matplotlib.figure import Figure
    >>> from topgap.planning import plan
    >>> made = plan([50, 40, 30], k=2, epsilons=[1, 2], releases=10)
    >>> above, below = plot(made.rows, made.k, made.title, tuple(Figure().subplots(2, 1)))
    >>> above.get_title(), below.get_xlabel()
    ('The 2 largest of 3 items', 'ε')
    """
    require_matplotlib()
    if axes is None:
        return _draw_on_figure(new_figure(*SIZE, pyplot=True), rows, k, title)
    _draw(rows, k, title, *axes)
    for ax in axes:
        ax.legend()
    return axes


def render(rows: Sequence[Row], k: int, title: str, form: str) -> bytes:
    """Draw the same chart as the contents of a file, without pyplot and without a display.

    Args:
        rows: What to expect at each ε.
        k: How many winners are named.
        title: The title of the upper axes.
        form: One of `topgap.display.figure.FORMS`.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    figure = new_figure(*SIZE)
    _draw_on_figure(figure, rows, k, title)
    return to_bytes(figure, form)


def _draw_on_figure(
    figure: "matplotlib.figure.Figure", rows: Sequence[Row], k: int, title: str
) -> "tuple[Axes, Axes]":
    """Draw on a new figure, which has room for the legends beside the axes."""
    above, below = figure.subplots(2, 1, sharex=True)
    _draw(rows, k, title, above, below)
    for ax in (above, below):
        place_legend_beside(ax)
    return above, below


def _draw(rows: Sequence[Row], k: int, title: str, above: "Axes", below: "Axes") -> None:
    epsilons = [float(row.epsilon) for row in rows]
    names, estimates = [row.names for row in rows], [row.estimates for row in rows]
    for lists, released, style in (
        (names, "names and gaps", _SOLID),
        (estimates, "counts too", _DASHED),
    ):
        right = [each.right for each in lists]
        part = [Figure(each.overlap.value / k, each.overlap.standard_error / k) for each in lists]
        label = f"chance that the list is right: {released}"
        draw_line(above, epsilons, right, color=BLUE, label=label, **style)
        label = f"part of the list that is right: {released}"
        draw_line(above, epsilons, part, color=BROWN, label=label, **style)
        empty = [each.empty for each in lists if each.empty is not None]
        if empty:  # there is a domain
            part = [Figure(each.value / k, each.standard_error / k) for each in empty]
            label = f"part of the list that nobody has: {released}"
            draw_line(above, epsilons, part, color=GREY, label=label, **style)
    bounds = [*zip(*(row.bounds for row in rows), strict=True)]
    styles = [
        {"color": f"{0.65 * place / len(bounds):.2f}", "linestyle": ":", "marker": mark}
        for place, mark in zip(range(len(bounds)), cycle("^vD<>P"), strict=False)
    ]  # shades of grey
    for of_bound, style in zip(bounds, styles, strict=True):
        overlaps = [bound.lists.overlap for bound in of_bound]
        part = [Figure(each.value / k, each.standard_error / k) for each in overlaps]
        label = f"part of the list that is right: {_label(of_bound[0])}"
        draw_line(above, epsilons, part, label=label, **style)
    above.set_ylim(-0.03, 1.03)
    above.set_ylabel("chance, or part")
    above.set_title(title)

    if bounds:
        medians = [row.estimate_errors.median for row in rows]
        draw_line(
            below, epsilons, medians, color=BROWN, label="median error: counts too", **_DASHED
        )
    else:
        alone, combined = [row.measured_error for row in rows], [row.combined_error for row in rows]
        label = "error of a winner's count: measured alone"
        draw_line(below, epsilons, alone, color=BLUE, label=label, **_DASHED)
        label = "error of a winner's count: with the gaps"
        draw_line(below, epsilons, combined, color=BROWN, label=label, **_SOLID)
    for of_bound, style in zip(bounds, styles, strict=True):
        medians = [bound.errors.median for bound in of_bound if bound.errors is not None]
        if medians:
            label = f"median error: {_label(of_bound[0])}"
            draw_line(below, epsilons, medians, label=label, **style)
    if any(0 < row.measured_error.value < _LARGEST for row in rows):
        below.set_yscale("log")
    below.set_ylabel("error of a count")
    below.set_xlabel("ε")
    for ax in (above, below):
        ax.set_xscale("log")
        style_axes(ax)


def _label(bound: BoundRow) -> str:
    return f"at most {format_items(bound.items_per_person)}"


def draw_line(ax: "Axes", epsilons: list[float], figures: list[Figure], **how: Any) -> None:
    """Draw a line through the figures, with error bars of the simulation.

    Args:
        ax: Where.
        epsilons: The values of ε.
        figures: A figure for each; one that no axis can hold is left out.
        how: The line's style, with its colour.
    """
    pairs = zip(epsilons, figures, strict=True)
    drawable = [
        (epsilon, *figure)
        for epsilon, figure in pairs
        if figure.value < _LARGEST and isfinite(figure.standard_error)
    ]
    x = [epsilon for epsilon, _, _ in drawable]
    y = [value for _, value, _ in drawable]
    ax.plot(x, y, **how)
    down = [min(2 * error, value) for _, value, error in drawable]
    up = [2 * error for _, _, error in drawable]
    if drawable:
        ax.errorbar(x, y, yerr=[down, up], fmt="none", ecolor=how["color"], capsize=2)
