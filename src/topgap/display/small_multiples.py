"""A small chart for each of many groups in one Matplotlib figure."""

from collections.abc import Callable, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from topgap.display.figure import new_figure
from topgap.display.plot import find_drawable, make_label
from topgap.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_CHARTS = 60
"""So many small charts fit a figure."""

_COLUMNS = 3


def plot_groups(
    groups: Sequence[Any],
    draw: Callable[[Any, "Axes"], object],
    rows: int,
    figure: "Figure | None" = None,
    *,
    title: str,
) -> "Figure":
    """Draw a small chart for each group, with one title and one legend for all.

    Args:
        groups: The groups, of which each gets a chart.
        draw: Draws the chart of a group on axes.
        rows: How many rows the longest chart has.
        figure: The figure to draw in; a new one of pyplot unless given.
        title: The title of all.

    Returns:
        The figure. Nothing is shown or saved.

    Raises:
        ParameterError: There are too many groups.
        MissingExtraError: Matplotlib is not installed.

    >>> from matplotlib.figure import Figure
    >>> made = plot_groups("NS", lambda group, ax: ax.set_title("x"), 3, Figure(), title="Two")
    >>> [axes.get_title() for axes in made.axes]
    ['N', 'S']
    """
    if len(groups) > MOST_CHARTS:
        raise ParameterError(
            f"A figure has room for {MOST_CHARTS} groups; choose them with groups=."
        )
    columns = min(_COLUMNS, len(groups))
    lines = ceil(len(groups) / columns)
    if figure is None:
        height = lines * (1.2 + 0.26 * max(1, rows)) + 1.4
        figure = new_figure(4.6 * columns + 0.4, height, pyplot=True)
    drawable = find_drawable()
    handles: dict[str, Any] = {}
    for place, group in enumerate(groups, 1):
        ax = figure.add_subplot(lines, columns, place)
        draw(group, ax)
        handles |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()
        ax.set_title(make_label(group, drawable), fontsize="medium", parse_math=False)
        if place + columns <= len(groups):
            ax.set_xlabel("")
    figure.suptitle(title, parse_math=False)
    if handles:
        figure.legend(handles.values(), handles.keys(), loc="outside lower center")
    return figure
