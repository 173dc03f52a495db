"""A Matplotlib chart of an audit: how much of the promised ε was shown for each mechanism."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from topgap.auditing.results.findings import Bound, MechanismAudit
from topgap.display.figure import (
    BLUE,
    BROWN,
    new_figure,
    place_legend_beside,
    require_matplotlib,
    style_axes,
    to_bytes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Marks differ in colour and in shape.
_STYLES: dict[str, dict[str, Any]] = {
    "private": {
        "color": BLUE,
        "marker": "o",
        "facecolors": "none",
        "label": "must be private",
    },
    "not private": {"color": BROWN, "marker": "x", "label": "broken on purpose"},
    "of another law": {"color": "#7a7a7a", "marker": "+", "label": "broken in its law alone"},
}
_VIOLATED: dict[str, Any] = {
    "color": "#d00000",
    "marker": "D",
    "label": "must be private, and is not",
}
_LEAST, _MOST = 0.003, 100.0  # values beyond are drawn there: a logarithmic axis has no 0
_TICKS = {_LEAST: "none", 0.01: "0.01", 0.1: "0.1", 1: "1", 10: "10", _MOST: "100 or more"}


def plot(mechanisms: Sequence[MechanismAudit], ax: "Axes | None" = None) -> "Axes":
    """Draw a mark for each lower bound of ε, as a multiple of the ε that was promised.

    A bound left of the line at 1 is within the promise; a bound right of it is a violation. A
    mechanism that is broken in its law alone has no mark there. A violation by a mechanism that
    must be private has a mark of its own.

    Args:
        mechanisms: What was found of each mechanism.
        ax: The axes to draw on. Default: new ones in a pyplot figure.

    Returns:
        The axes. Nothing is shown or saved.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    require_matplotlib()
    if ax is None:
        ax = new_figure(*_size(mechanisms), pyplot=True).subplots()
    _draw(mechanisms, ax)
    return ax


def render(mechanisms: Sequence[MechanismAudit], form: str) -> bytes:
    """Draw the same chart as the contents of a file, without pyplot and without a display.

    Args:
        mechanisms: What was found of each mechanism.
        form: One of `topgap.display.figure.FORMS`.

    Raises:
        MissingExtraError: Matplotlib is not installed.
    """
    figure = new_figure(*_size(mechanisms))
    _draw(mechanisms, figure.subplots())
    return to_bytes(figure, form)


def _size(mechanisms: Sequence[MechanismAudit]) -> tuple[float, float]:
    return 9, 1.6 + 0.36 * len(mechanisms)


def _draw(mechanisms: Sequence[MechanismAudit], ax: "Axes") -> None:
    named: set[str] = set()
    for row, each in enumerate(mechanisms):
        for style, bounds in _marks(each):
            shares = [min(max(bound.share, _LEAST), _MOST) for bound in bounds]
            label = style["label"] if style["label"] not in named else None
            named.add(style["label"])
            options = {**style, "label": label, "s": 22, "linewidths": 0.9, "alpha": 0.7}
            ax.scatter(shares, [row] * len(shares), **options)
    ax.axvline(1, color="#222222", linewidth=1.2, label="what was promised")
    ax.set_xscale("log")
    ax.set_xlim(_LEAST * 0.8, _MOST * 1.25)
    ax.set_xticks(*zip(*_TICKS.items(), strict=True))
    ax.set_yticks(range(len(mechanisms)), [_label(each) for each in mechanisms])
    ax.invert_yaxis()
    ax.set_xlabel("ε shown, as a multiple of the ε promised")
    ax.set_title(f"Audit of {sum(each.releases for each in mechanisms):,} releases")
    style_axes(ax)
    place_legend_beside(ax)


def _marks(found: MechanismAudit) -> Iterator[tuple[dict[str, Any], list[Bound]]]:
    """The bounds of a mechanism, grouped by style."""
    usual = _STYLES[found.should_be]
    if found.should_be != "private":
        yield usual, [*found.bounds]
        return
    for violated, style in ((False, usual), (True, _VIOLATED)):
        bounds = [each for each in found.bounds if each.violated is violated]
        if bounds:
            yield style, bounds


def _label(found: MechanismAudit) -> str:
    """The name, with a violation that the marks do not show."""
    name = found.name.replace("$", r"\$")  # which Matplotlib would read as a formula
    return f"{name} (law violated)" if found.law_violated else name
