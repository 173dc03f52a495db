"""An audit as a Matplotlib chart: for each mechanism, how much of the promised ε was shown."""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from topgap.auditing.results.audit import Audit
from topgap.auditing.results.findings import Audited, Bound
from topgap.planning.plot import FORMS, check_installed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FORMS", "check_installed", "plot", "render"]

# Told apart by colour and by the mark.
_STYLES: dict[str, dict[str, Any]] = {
    "private": {
        "color": "#0b5c8f",
        "marker": "o",
        "facecolors": "none",
        "label": "must be private",
    },
    "not private": {"color": "#9c3a10", "marker": "x", "label": "broken on purpose"},
    "of another law": {"color": "#7a7a7a", "marker": "+", "label": "broken in its law alone"},
}
_VIOLATED: dict[str, Any] = {
    "color": "#d00000",
    "marker": "D",
    "label": "must be private, and is not",
}
_LEAST, _MOST = 0.003, 100.0  # what is beyond is drawn there: a logarithmic axis has no 0
_TICKS = {_LEAST: "none", 0.01: "0.01", 0.1: "0.1", 1: "1", 10: "10", _MOST: "100 or more"}


def plot(audit: Audit, ax: "Axes | None" = None) -> "Axes":
    """Draw a mark for each lower bound of ε, as a multiple of the ε that was promised.

    Left of the line at 1 a bound is within its promise; right of it more was shown than is allowed.
    What is broken in its law alone has no mark there. A bound that breaks the promise of what must
    be private has a mark of its own.

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


def render(audit: Audit, form: str) -> bytes:
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


def _new(audit: Audit) -> dict[str, Any]:
    return {"figsize": (9, 1.6 + 0.36 * len(audit.mechanisms)), "layout": "constrained"}


def _draw(audit: Audit, ax: "Axes") -> None:
    named: set[str] = set()
    for row, each in enumerate(audit.mechanisms):
        for style, bounds in _marks(each):
            shares = [min(max(bound.share, _LEAST), _MOST) for bound in bounds]
            label = style["label"] if style["label"] not in named else None
            named.add(style["label"])
            drawn_so = {**style, "label": label, "s": 22, "linewidths": 0.9, "alpha": 0.7}
            ax.scatter(shares, [row] * len(shares), **drawn_so)
    ax.axvline(1, color="#222222", linewidth=1.2, label="what was promised")
    ax.set_xscale("log")
    ax.set_xlim(_LEAST * 0.8, _MOST * 1.25)
    ax.set_xticks(*zip(*_TICKS.items(), strict=True))
    ax.set_yticks(range(len(audit.mechanisms)), [_label(each) for each in audit.mechanisms])
    ax.invert_yaxis()
    ax.set_xlabel("ε shown, as a multiple of the ε promised")
    ax.set_title(f"Audit of {audit.releases:,} releases")
    ax.grid(color="#d5dbe1", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False)


def _marks(audited: Audited) -> Iterator[tuple[dict[str, Any], list[Bound]]]:
    """The bounds of a mechanism by the way they are drawn."""
    usual = _STYLES[audited.should_be]
    if audited.should_be != "private":
        yield usual, [*audited.bounds]
        return
    for violated, style in ((False, usual), (True, _VIOLATED)):
        bounds = [each for each in audited.bounds if each.violated is violated]
        if bounds:
            yield style, bounds


def _label(audited: Audited) -> str:
    """The name, with what the marks do not show."""
    name = audited.name.replace("$", r"\$")  # which Matplotlib would read as a formula
    return f"{name} (law violated)" if audited.law_violated else name
