"""The leads and gaps of a release as a Matplotlib chart, for notebooks and papers."""

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from topgap.errors import MissingExtraError, ReleaseError
from topgap.leads import certain_from, is_uncertain, leads
from topgap.release import Release
from topgap.report.numbers import about, for_columns
from topgap.text import on_one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REST: dict[str, Any] = {
    "color": "#7f91a4",
    "label": "whole bar: lead over the first item not named",
}
_CERTAIN: dict[str, Any] = {"color": "#9c3a10", "label": "its end: gap, the lead over the next"}
_UNCERTAIN: dict[str, Any] = {
    "facecolor": "none",
    "edgecolor": "#9c3a10",
    "hatch": "//////",
    "label": "gap so small that the order is uncertain",
}
_LONGEST_NAME = 40
_MOST_LABELS = 100
_LARGEST = 10**300  # nearly all that a float can hold


def plot(release: Release, ax: "Axes | None" = None) -> "Axes":
    """Draw a horizontal bar per winner: its lead, which ends in its gap.

    A bar is as long as the lead over the first item that is not named. Its end, in another colour,
    is the gap to the next item, hatched where the order of the two is uncertain.

    Args:
        release: What is drawn; it must have gaps.
        ax: The axes to draw on; new ones unless given, in a pyplot figure that grows with k.

    Returns:
        The axes. Nothing is shown or saved.

    Raises:
        ReleaseError: The release has no gaps.
        MissingExtraError: Matplotlib is not installed.

    >>> from matplotlib.figure import Figure
    >>> from topgap import TopK
    >>> release = Release(TopK(k=2, epsilon=1), [4, 0], [125, 3], ["flu", "cold"])
    >>> plot(release, Figure().subplots()).get_title()
    'The 2 largest at ε = 1'
    """
    gaps, ahead = release.gaps, leads(release)
    if gaps is None:
        raise ReleaseError("A release without gaps has no lengths to plot; print it instead.")
    try:
        drawable = _drawable()
    except ImportError:
        raise MissingExtraError("plot needs matplotlib: pip install matplotlib.") from None
    own = ax is None
    if ax is None:
        ax = _new_axes(len(release))

    parameters, k = release.parameters, len(release)
    full = max(ahead[0], certain_from(parameters))
    unit = Fraction(1) if full < _LARGEST else full
    starts = [float((lead - gap) / unit) for gap, lead in zip(gaps, ahead, strict=True)]
    lengths = [float(gap / unit) for gap in gaps]
    uncertain = [is_uncertain(gap, parameters) for gap in gaps]
    ax.barh(range(k), starts, **_REST)
    for kind, hatched in ((_CERTAIN, False), (_UNCERTAIN, True)):
        ranks = [rank for rank in range(k) if uncertain[rank] == hatched]
        if ranks:
            ax.barh(ranks, [lengths[r] for r in ranks], left=[starts[r] for r in ranks], **kind)

    labelled = range(0, k, ceil(k / _MOST_LABELS))
    for rank in labelled:
        ax.annotate(
            for_columns(gaps[rank], parameters.resolution),
            (starts[rank] + lengths[rank], rank),
            xytext=(4, 0),
            textcoords="offset points",
            verticalalignment="center",
        )
    names = [_label(release.items[rank], drawable) for rank in labelled]
    ax.set_yticks(labelled, names, parse_math=False)
    ax.set_ylim(k - 0.5, -0.5)
    ax.set_xlim(0, 1.15 * float(full / unit))
    ax.set_xlabel("lead" if unit == 1 else f"lead as a part of {about(full)}")
    ax.set_title(f"The {f'{k} ' * (k > 1)}largest at ε = {release.epsilon}")
    ax.spines[["top", "right"]].set_visible(False)
    if own:
        ax.figure.legend(loc="outside lower center")
    else:
        ax.legend()
    return ax


def _new_axes(k: int) -> "Axes":
    from matplotlib import pyplot as plt

    height = 2.2 + 0.32 * min(k, _MOST_LABELS)
    axes: Axes = plt.subplots(figsize=(8, height), layout="constrained")[1]
    return axes


def _drawable() -> set[int]:
    """The characters that the fonts in use have; others would be warned of and drawn as boxes."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    fonts = [findfont(FontProperties(family=[each])) for each in FontProperties().get_family()]
    return {code for font in fonts for code in get_font(font).get_charmap()}


def _label(item: Any, drawable: set[int]) -> str:
    """The item's name, not too long, with a number for each character that cannot be drawn."""
    name = on_one_line(item)
    if len(name) > _LONGEST_NAME:
        name = name[: _LONGEST_NAME - 1] + "…"
    return "".join(
        char if ord(char) in drawable else char.encode("unicode_escape").decode() for char in name
    )
