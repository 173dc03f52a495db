"""What the Matplotlib charts of plans share: two axes over ε, and lines with error bars."""

from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

from topgap.display.figure import (
    new_figure,
    place_legend_beside,
    require_matplotlib,
    style_axes,
    to_bytes,
)
from topgap.planning.statistics import Figure

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

Draw: TypeAlias = "Callable[[Axes, Axes], None]"
"""Draws on the upper and the lower axes, without legends."""

GREY = "#5f6b76"
LARGEST = 1e300
"""Nearly all that an axis can hold."""
_SIZE = (10, 6.4)


def plot(draw: Draw, axes: "tuple[Axes, Axes] | None" = None) -> "tuple[Axes, Axes]":
    """Draw on two axes one above the other.

    Args:
        draw: What draws on them.
        axes: The two axes. Default: new ones in a pyplot figure.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    require_matplotlib()
    if axes is None:
        return _draw_on_figure(new_figure(*_SIZE, pyplot=True), draw)
    draw(*axes)
    for ax in axes:
        ax.legend()
    return axes


def render(draw: Draw, form: str) -> bytes:
    """Draw as the contents of a file, without pyplot and without a display.

    Args:
        draw: What draws on the two axes.
        form: One of `topgap.display.figure.FORMS`.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    figure = new_figure(*_SIZE)
    _draw_on_figure(figure, draw)
    return to_bytes(figure, form)


def _draw_on_figure(figure: "matplotlib.figure.Figure", draw: Draw) -> "tuple[Axes, Axes]":
    """Draw on a new figure, which has room for the legends beside the axes."""
    above, below = figure.subplots(2, 1, sharex=True)
    draw(above, below)
    for ax in (above, below):
        place_legend_beside(ax)
    return above, below


def draw_line(ax: "Axes", epsilons: list[float], figures: list[Figure], **how: Any) -> None:
    """Draw a line through the figures, with error bars of the simulation.

    The bars reach two standard errors to each side.

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
        if figure.value < LARGEST and isfinite(figure.standard_error)
    ]
    x = [epsilon for epsilon, _, _ in drawable]
    y = [value for _, value, _ in drawable]
    ax.plot(x, y, **how)
    down = [min(2 * error, value) for _, value, error in drawable]
    up = [2 * error for _, _, error in drawable]
    if drawable:
        ax.errorbar(x, y, yerr=[down, up], fmt="none", ecolor=how["color"], capsize=2)


def label_axes(
    above: "Axes", below: "Axes", title: str, shares: str, *, has_log_errors: bool
) -> None:
    """Name the axes: shares on the upper, errors of counts on the lower, ε on both.

    Args:
        above: The upper axes.
        below: The lower axes.
        title: The title.
        shares: What the shares are of.
        has_log_errors: Whether the errors can be drawn on a logarithmic scale.
    """
    above.set_ylim(-0.03, 1.03)
    above.set_ylabel(shares)
    above.set_title(title)
    if has_log_errors:
        below.set_yscale("log")
    below.set_ylabel("error of a count")
    below.set_xlabel("ε")
    for ax in (above, below):
        ax.set_xscale("log")
        style_axes(ax)
