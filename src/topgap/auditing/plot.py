"""An audit as a Matplotlib chart: for each mechanism, how much of the promised ε was shown."""

import io
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from topgap.auditing.findings import Audited
from topgap.auditing.value import Audit
from topgap.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMS = ("png", "svg", "pdf")
"""What `drawn` can write."""

# Told apart by colour and by the mark.
_STYLES: dict[str, dict[str, Any]] = {
    "private": {"color": "#0b5c8f", "marker": "o", "facecolors": "none", "label": "private"},
    "not private": {"color": "#9c3a10", "marker": "x", "label": "broken on purpose"},
    "of another law": {"color": "#7a7a7a", "marker": "+", "label": "broken in its law alone"},
}
_LEAST, _MOST = 0.003, 100.0  # what is beyond is drawn there: a logarithmic axis has no 0
_TICKS = {_LEAST: "none", 0.01: "0.01", 0.1: "0.1", 1: "1", 10: "10", _MOST: "100 or more"}


def plot(audit: Audit, ax: "Axes | None" = None) -> "Axes":
    """Draw a mark for each lower bound of ε, as a multiple of the ε that was promised.

    Left of the line at 1 a bound is within its promise; right of it more was shown than is allowed.
    What is broken in its law alone has no mark there.

    Args:
        audit: What is drawn.
        ax: The axes to draw on; new ones unless given, in a pyplot figure.

    Returns:
        The axes. Nothing is shown or saved.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    check_installed()
    if ax is None:
        from matplotlib import pyplot as plt

        ax = plt.figure(**_new(audit)).subplots()
    _draw(audit, ax)
    return ax


def drawn(audit: Audit, form: str) -> bytes:
    """The chart as a file holds it, made without pyplot and without a display.

    Args:
        audit: What is drawn.
        form: One of `FORMS`.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    check_installed()
    from matplotlib.figure import Figure

    figure = Figure(**_new(audit))
    _draw(audit, figure.subplots())
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


def _new(audit: Audit) -> dict[str, Any]:
    return {"figsize": (9, 1.6 + 0.36 * len(audit.mechanisms)), "layout": "constrained"}


def _draw(audit: Audit, ax: "Axes") -> None:
    named: set[str] = set()
    for row, each in enumerate(audit.mechanisms):
        shares = [min(max(bound.share, _LEAST), _MOST) for bound in each.bounds]
        style = _STYLES[each.should_be]
        if each.should_be in named:
            style = {**style, "label": None}
        named.add(each.should_be)
        ax.scatter(shares, [row] * len(shares), s=22, linewidths=0.9, alpha=0.7, **style)
    ax.axvline(1, color="#222222", linewidth=1.2, label="what was promised")
    ax.set_xscale("log")
    ax.set_xlim(_LEAST * 0.8, _MOST * 1.25)
    ax.set_xticks(*zip(*_TICKS.items(), strict=True))
    ax.set_yticks(range(len(audit.mechanisms)), [_said(each) for each in audit.mechanisms])
    ax.invert_yaxis()
    ax.set_xlabel("ε shown, as a multiple of the ε promised")
    ax.set_title(f"Audit of {audit.releases:,} releases")
    ax.grid(color="#d5dbe1", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False)


def _said(audited: Audited) -> str:
    """The name, with what the marks do not show."""
    name = audited.name.replace("$", r"\$")  # which Matplotlib would read as a formula
    return f"{name} (law violated)" if audited.law_violated else name
