"""What all Matplotlib charts share: a new figure, the look of its axes, and the bytes of a file.

Matplotlib is imported when something is drawn, so that nobody waits for it who draws nothing.
"""

import io
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from topgap.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMS = ("png", "svg", "pdf")
"""The file formats that `to_bytes` writes."""

BLUE, BROWN = "#0b5c8f", "#9c3a10"
"""Two colours that most colour-blind people can tell apart."""
_GRID = "#d5dbe1"


def require_matplotlib() -> None:
    """Check that Matplotlib is installed, before any work is done for a chart.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    try:
        found = find_spec("matplotlib") is not None
    except ValueError:  # `sys.modules` holds None for it
        found = False
    if not found:
        raise MissingExtraError("plot needs matplotlib: pip install matplotlib.")


def new_figure(width: float, height: float, *, pyplot: bool = False) -> "Figure":
    """Create an empty figure, its size in inches.

    Args:
        width: Its width.
        height: Its height.
        pyplot: Whether pyplot manages the figure, so that a notebook shows it. A figure that is
            only written to a file needs neither pyplot nor a display.

    Raises:
        MissingExtraError: Matplotlib is not installed.

    >>> new_figure(8, 3).get_size_inches().tolist()
    [8.0, 3.0]
    """
    require_matplotlib()
    if pyplot:
        from matplotlib import pyplot as plt

        return plt.figure(figsize=(width, height), layout="constrained")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def to_bytes(figure: "Figure", form: str) -> bytes:
    """Write the figure as the contents of a file.

    Args:
        figure: The figure.
        form: One of `FORMS`.

    >>> to_bytes(new_figure(1, 1), "pdf")[:4]
    b'%PDF'
    """
    file = io.BytesIO()
    figure.savefig(file, format=form, dpi=150)
    return file.getvalue()


def style_axes(ax: "Axes", *, lines: Literal["x", "y", "both"] = "both") -> None:
    """Draw pale grid lines behind the data, and no frame at the top and on the right.

    Args:
        ax: The axes.
        lines: The axis whose ticks have grid lines.
    """
    ax.grid(axis=lines, color=_GRID, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def place_legend_beside(ax: "Axes") -> None:
    """Put the legend at the right of the axes, where it hides nothing."""
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False)
