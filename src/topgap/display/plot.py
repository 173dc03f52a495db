"""Matplotlib charts for notebooks and papers: gaps, values or counts, and estimates."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

from topgap.display.items import format_item
from topgap.display.numbers import ChartScale, format_about, format_aligned
from topgap.display.text import to_line
from topgap.errors import MissingExtraError
from topgap.margins import is_uncertain, leads, least_certain_gap
from topgap.parameters import TopK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REST: dict[str, Any] = {"color": "#7f91a4"}
_CERTAIN: dict[str, Any] = {"color": "#9c3a10", "label": "its end: gap to the next item"}
_UNCERTAIN: dict[str, Any] = {
    "facecolor": "none",
    "edgecolor": "#9c3a10",
    "hatch": "//////",
    "label": "gap so small that the order is uncertain",
}
_INTERVAL: dict[str, Any] = {"fmt": "none", "ecolor": "#1d2730", "capsize": 4}
_POINT: dict[str, Any] = {
    "linestyle": "none",
    "marker": "o",
    "color": "#9c3a10",
    "label": "estimate",
}
_NEAR_A_TIE: dict[str, Any] = {
    **_POINT,
    "markerfacecolor": "white",
    "label": "estimate that may be biased",
}
_NUMBERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "value": (
        {**_POINT, "label": "value: the answer with its noise"},
        {
            **_NEAR_A_TIE,
            "label": "value biased upward, because noise helped to name the item",
        },
    ),
    "count": (
        {**_POINT, "label": "count: the threshold plus the gaps down to it"},
        {
            **_NEAR_A_TIE,
            "label": "count that may be biased: noise may have decided who is named or ranked",
        },
    ),
}
_THRESHOLD: dict[str, Any] = {
    "color": "#1d2730",
    "linestyle": (0, (4, 3)),
    "linewidth": 1.2,
    "label": "threshold",
}
_LONGEST_NAME = 40
_MOST_LABELS = 100
_LARGEST = 10**300  # nearly all that a float can hold


def plot_gaps(
    items: Sequence[Any],
    gaps: Sequence[Fraction],
    parameters: TopK,
    ax: "Axes | None" = None,
    *,
    title: str,
    domain_from_data: bool = False,
) -> "Axes":
    """Draw a horizontal bar per winner: its lead, which ends in its gap.

    A bar is as long as the lead over what came next after the last winner. Its end, in another
    colour, is the gap to the next item, hatched where the order of the two is uncertain.

    Args:
        items: The winners' names, from the largest down.
        gaps: The gap from each to the next.
        parameters: What they were released with.
        ax: The axes to draw on; new ones unless given, in a pyplot figure that grows with k.
        title: The title.
        domain_from_data: Whether the title says that the list of items is not protected.

    Returns:
        The axes. Nothing is shown or saved.

    Raises:
        MissingExtraError: Matplotlib is not installed.

    >>> from matplotlib.figure import Figure
    >>> gaps, axes = [Fraction("12.5"), Fraction("0.3")], Figure().subplots()
    >>> plot_gaps(["flu", "cold"], gaps, TopK(k=2, epsilon=1), axes, title="Two").get_title()
    'Two'
    """
    ahead = leads(gaps)
    chart = _Chart(items, ax, domain_from_data=domain_from_data)
    ax = chart.ax
    k = len(items)
    full = max(ahead[0], least_certain_gap(parameters))
    unit = Fraction(1) if full < _LARGEST else full
    starts = [float((lead - gap) / unit) for gap, lead in zip(gaps, ahead, strict=True)]
    lengths = [float(gap / unit) for gap in gaps]
    uncertain = [is_uncertain(gap, parameters) for gap in gaps]
    last = "what came next" if parameters.has_sentinel else "the first item not named"
    ax.barh(range(k), starts, label=f"whole bar: lead over {last}", **_REST)
    for kind, hatched in ((_CERTAIN, False), (_UNCERTAIN, True)):
        ranks = [rank for rank in range(k) if uncertain[rank] == hatched]
        if ranks:
            ax.barh(ranks, [lengths[r] for r in ranks], left=[starts[r] for r in ranks], **kind)

    for rank in chart.labelled:
        text = format_aligned(gaps[rank], parameters.resolution)
        chart.annotate(text, starts[rank] + lengths[rank], rank)
    ax.set_xlim(0, 1.15 * float(full / unit))
    ax.set_xlabel("lead" if unit == 1 else f"lead as a share of {format_about(full)}")
    chart.entitle(title)
    chart.finish()
    return ax


def plot_estimates(
    items: Sequence[Any],
    scale: ChartScale,
    labels: Sequence[str],
    near_ties: Sequence[bool],
    ax: "Axes | None" = None,
    *,
    level: str,
    cost: str,
    domain_from_data: bool = False,
) -> "Axes":
    """Draw a point per winner, its estimate, and an error bar, its interval.

    The point is hollow where the estimate may be biased: an order or the last place is uncertain.

    Args:
        items: The winners' names, from the largest down.
        scale: Where their estimates and intervals lie.
        labels: What is written beside each.
        near_ties: Which estimates may be biased.
        ax: The axes to draw on; new ones unless given, in a pyplot figure that grows with k.
        level: That of the intervals, such as "95%".
        cost: What the title says after "The largest".
        domain_from_data: Whether the title says that the list of items is not protected.

    Returns:
        The axes. Nothing is shown or saved.

    Raises:
        MissingExtraError: Matplotlib is not installed.

    >>> from matplotlib.figure import Figure
    >>> from topgap.display.numbers import place_intervals
    >>> scale = place_intervals([Fraction(60)], [60.0], [(53.5, 66.5)])
    >>> axes = Figure().subplots()
    >>> _ = plot_estimates(["flu"], scale, ["60 ± 3"], [False], axes, level="95%", cost="at ε = 1")
    >>> axes.get_title()
    'The largest, at ε = 1'
    """
    chart = _Chart(items, ax, domain_from_data=domain_from_data)
    _draw_intervals(chart, scale, labels, near_ties, level, (_POINT, _NEAR_A_TIE), "estimate")
    k = len(items)
    chart.entitle(f"The {f'{k} ' * (k > 1)}largest, {cost}")
    chart.finish()
    return chart.ax


def plot_numbers(
    items: Sequence[Any],
    scale: ChartScale,
    labels: Sequence[str],
    are_biased: Sequence[bool],
    ax: "Axes | None" = None,
    *,
    name: Literal["value", "count"],
    level: str,
    title: str,
    threshold: Fraction | None = None,
    domain_from_data: bool = False,
) -> "Axes":
    """Draw a point per winner, its value or count, and an error bar, its interval.

    The point is hollow where that is biased. A threshold is a dashed line. Without any winner the
    axes are empty but for that.

    Args:
        items: The winners' names, from the largest down; there may be none.
        scale: Where their numbers and intervals lie.
        labels: What is written beside each.
        are_biased: Which of them are biased.
        ax: The axes to draw on; new ones unless given, in a pyplot figure that grows with k.
        name: What the numbers are called.
        level: That of the intervals, such as "95%".
        title: The title.
        threshold: The threshold, if there is one.
        domain_from_data: Whether the title says that the list of items is not protected.

    Returns:
        The axes. Nothing is shown or saved.

    Raises:
        MissingExtraError: Matplotlib is not installed.

    >>> from matplotlib.figure import Figure
    >>> from topgap.display.numbers import place_intervals
    >>> scale, axes, t = place_intervals([], [], []), Figure().subplots(), Fraction(5)
    >>> words = {"name": "value", "level": "95%", "title": "No item"}
    >>> _ = plot_numbers([], scale, [], [], axes, threshold=t, **words)
    >>> axes.get_title(), axes.get_lines()[0].get_xdata()
    ('No item', [5.0, 5.0])
    """
    chart = _Chart(items, ax, domain_from_data=domain_from_data)
    _draw_intervals(chart, scale, labels, are_biased, level, _NUMBERS[name], name, threshold)
    chart.entitle(title)
    chart.finish()
    return chart.ax


def _draw_intervals(
    chart: "_Chart",
    scale: ChartScale,
    labels: Sequence[str],
    are_hollow: Sequence[bool],
    level: str,
    styles: tuple[dict[str, Any], dict[str, Any]],
    name: str,
    threshold: Fraction | None = None,
) -> None:
    """Draw points with error bars, and the threshold; points in one of two styles."""
    ax, k = chart.ax, len(labels)
    full = max(scale.end, -scale.start, abs(threshold or Fraction(0)))
    unit = Fraction(1) if full < _LARGEST else full
    spans = [tuple(float(each / unit) for each in span) for span in scale.spans]
    lows, points, highs = ([span[part] for span in spans] for part in range(3))
    if k:
        # From the low end on, for a point need not lie within the interval if its level is low.
        lengths = [high - low for low, high in zip(lows, highs, strict=True)]
        bars = {**_INTERVAL, "label": f"{level} interval"}
        ax.errorbar(lows, range(k), xerr=([0.0] * k, lengths), **bars)
    for style, hollow in zip(styles, (False, True), strict=True):
        ranks = [rank for rank in range(k) if are_hollow[rank] == hollow]
        if ranks:
            ax.plot([points[rank] for rank in ranks], ranks, **style)
    cut = [] if threshold is None else [float(threshold / unit)]
    for x in cut:
        ax.axvline(x, **_THRESHOLD)

    for rank in chart.labelled:
        chart.annotate(labels[rank], max(points[rank], highs[rank]), rank)
    first, last = min(lows + points + cut), max(highs + points + cut)
    width = last - first or abs(last) or 1
    ax.set_xlim(first - width / 20, last + width / 4)
    ax.set_xlabel(name if unit == 1 else f"{name} as a share of {format_about(full)}")


class _Chart:
    """Axes with a row for each winner, from the largest down."""

    def __init__(self, items: Sequence[Any], ax: "Axes | None", *, domain_from_data: bool) -> None:
        try:
            drawable = find_drawable()
        except ImportError:
            raise MissingExtraError("plot needs matplotlib: pip install matplotlib.") from None
        self._k = len(items)
        self._domain_from_data = domain_from_data
        self.labelled = range(0, self._k, max(1, ceil(self._k / _MOST_LABELS)))
        self._names = [make_label(items[rank], drawable) for rank in self.labelled]
        self._own = ax is None
        self.ax = _new_axes(self._k) if ax is None else ax

    def entitle(self, title: str) -> None:
        """Set the title, with a line that says what is not protected."""
        caveat = "\nNot protected: the list of items was taken from the data"
        self.ax.set_title(title + caveat * self._domain_from_data)

    def annotate(self, text: str, x: float, rank: int) -> None:
        """Write the text to the right of this position."""
        self.ax.annotate(
            text,
            (x, rank),
            xytext=(4, 0),
            textcoords="offset points",
            verticalalignment="center",
        )

    def finish(self) -> None:
        """Name the rows, and put the legend where it hides nothing."""
        self.ax.set_yticks(self.labelled, self._names, parse_math=False)
        self.ax.set_ylim(max(1, self._k) - 0.5, -0.5)
        self.ax.spines[["top", "right"]].set_visible(False)
        if self._own:
            self.ax.figure.legend(loc="outside lower center")
        else:
            self.ax.legend()


def _new_axes(k: int) -> "Axes":
    from matplotlib import pyplot as plt

    height = 2.2 + 0.32 * min(k, _MOST_LABELS)
    axes: Axes = plt.subplots(figsize=(8, height), layout="constrained")[1]
    return axes


def find_drawable() -> set[int]:
    """Return the characters of the fonts in use; others cause warnings and are drawn as boxes."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    fonts = [findfont(FontProperties(family=[each])) for each in FontProperties().get_family()]
    return {code for font in fonts for code in get_font(font).get_charmap()}


def make_label(item: Any, drawable: set[int]) -> str:
    """Return the item's name, shortened, with a code for each character that cannot be drawn."""
    name = to_line(format_item(item))
    if len(name) > _LONGEST_NAME:
        name = name[: _LONGEST_NAME - 1] + "…"
    return "".join(
        char if ord(char) in drawable else char.encode("unicode_escape").decode() for char in name
    )
