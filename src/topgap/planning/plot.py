"""A plan as a Matplotlib chart over ε: how right the list is, and how far off the counts."""

import io
from importlib.util import find_spec
from math import isfinite
from typing import TYPE_CHECKING, Any

from topgap.errors import MissingExtraError
from topgap.planning.result import Plan
from topgap.planning.statistics import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMS = ("png", "svg", "pdf")
"""What `render` can write."""

# Told apart by colour, by the line and by the mark.
_BLUE, _BROWN = "#0b5c8f", "#9c3a10"
_SOLID: dict[str, Any] = {"linestyle": "-", "marker": "o"}
_DASHED: dict[str, Any] = {"linestyle": "--", "marker": "s", "markerfacecolor": "none"}
_NEW: dict[str, Any] = {"figsize": (10, 6.4), "layout": "constrained"}
_LARGEST = 1e300  # nearly all that an axis can hold


def plot(plan: Plan, axes: "tuple[Axes, Axes] | None" = None) -> "tuple[Axes, Axes]":
    """Draw the plan over ε, on two axes one above the other.

    Above, the chance that the list is right and the part of it that is; below, how far off the
    winners' counts are, with and without the gaps. Bars at the marks are two standard errors of the
    simulation to each side.

    Args:
        plan: What is drawn.
        axes: The two axes to draw on; new ones unless given, in a pyplot figure.

    Returns:
        The axes. Nothing is shown or saved.

    Raises:
        MissingExtraError: Matplotlib is not installed.

    >>> from matplotlib.figure import Figure
    >>> from topgap.planning import plan
    >>> made = plan([50, 40, 30], k=2, epsilons=[1, 2], releases=10)
    >>> above, below = plot(made, tuple(Figure().subplots(2, 1)))
    >>> above.get_title(), below.get_xlabel()
    ('The 2 largest of 3 items', 'ε')
    """
    check_installed()
    if axes is not None:
        _draw(plan, *axes)
        for ax in axes:
            ax.legend()
        return axes
    from matplotlib import pyplot as plt

    return _draw_new(plt.figure(**_NEW), plan)


def render(plan: Plan, form: str) -> bytes:
    """The chart as a file holds it, made without pyplot and without a display.

    Args:
        plan: What is drawn.
        form: One of `FORMS`.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    check_installed()
    from matplotlib.figure import Figure

    figure = Figure(**_NEW)
    _draw_new(figure, plan)
    file = io.BytesIO()
    figure.savefig(file, format=form, dpi=150)
    return file.getvalue()


def check_installed() -> None:
    """See that there is something to draw with, before any work is done for it.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    try:
        found = find_spec("matplotlib") is not None
    except ValueError:  # as Python says of a module that was put aside
        found = False
    if not found:
        raise MissingExtraError("plot needs matplotlib: pip install matplotlib.")


def _draw_new(figure: Any, plan: Plan) -> "tuple[Axes, Axes]":
    """On a new figure there is room for the legends beside the axes."""
    above, below = figure.subplots(2, 1, sharex=True)
    _draw(plan, above, below)
    for ax in (above, below):
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False)
    return above, below


def _draw(plan: Plan, above: "Axes", below: "Axes") -> None:
    k, rows = plan.k, plan.rows
    epsilons = [float(row.epsilon) for row in rows]
    names, estimates = [row.names for row in rows], [row.estimates for row in rows]
    for lists, released, style in (
        (names, "names and gaps", _SOLID),
        (estimates, "counts too", _DASHED),
    ):
        right = [each.right for each in lists]
        part = [Figure(each.overlap.value / k, each.overlap.standard_error / k) for each in lists]
        label = f"chance that the list is right: {released}"
        _line(above, epsilons, right, color=_BLUE, label=label, **style)
        label = f"part of the list that is right: {released}"
        _line(above, epsilons, part, color=_BROWN, label=label, **style)
    above.set_ylim(-0.03, 1.03)
    above.set_ylabel("chance, or part")
    above.set_title(plan.title)

    alone, combined = [row.measured_error for row in rows], [row.combined_error for row in rows]
    label = "error of a winner's count: measured alone"
    _line(below, epsilons, alone, color=_BLUE, label=label, **_DASHED)
    label = "error of a winner's count: with the gaps"
    _line(below, epsilons, combined, color=_BROWN, label=label, **_SOLID)
    if any(0 < row.measured_error.value < _LARGEST for row in rows):
        below.set_yscale("log")
    below.set_ylabel("error of a count")
    below.set_xlabel("ε")
    for ax in (above, below):
        ax.set_xscale("log")
        ax.grid(color="#d5dbe1", linewidth=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)


def _line(ax: "Axes", epsilons: list[float], figures: list[Figure], **how: Any) -> None:
    """A line through the figures, and the simulation's own error around them."""
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
