"""Charts of a release: gaps as bars, or counts with error bars."""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from topgap.display.bars import Bar, list_gap_bars, list_number_bars
from topgap.display.numbers import ChartScale, format_level, place_intervals
from topgap.display.plot import plot_gaps, plot_numbers
from topgap.margins import near_the_end
from topgap.numbers.format import format_short, to_float
from topgap.numbers.parse import Number
from topgap.parameters import TopK
from topgap.release.counts import Count
from topgap.release.text import format_number
from topgap.release.threshold_notes import name_winners

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_release(
    parameters: TopK,
    items: Sequence[Any],
    gaps: Sequence[Fraction],
    counts: Sequence[Count] | None,
    ax: "Axes | None",
    *,
    level: "Number",
    domain_from_data: bool,
) -> "Axes":
    """Draw counts if there are any, and else gaps.

    Args:
        parameters: The parameters of the release.
        items: Its winners.
        gaps: Their gaps.
        counts: How large they are, if that is known.
        ax: The axes to draw on; new ones unless given.
        level: That of the intervals of the counts.
        domain_from_data: Whether the title says that the list of items is not protected.
    """
    title = f"{name_winners(parameters, len(items))} at ε = {format_short(parameters.epsilon)}"
    marks: dict[str, Any] = {"title": title, "domain_from_data": domain_from_data}
    if counts is None:
        return plot_gaps(items, gaps, parameters, ax, **marks)
    is_noisy = parameters.noise == "laplace"
    return plot_numbers(
        items,
        place_counts(counts),
        [format_number(each, parameters) for each in counts],
        near_the_end(gaps, parameters) if is_noisy else [each.is_biased for each in counts],
        ax,
        name="value" if is_noisy else "count",
        level=format_level(level),
        threshold=parameters.threshold,
        **marks,
    )


def list_bars(
    counts: Sequence[Count] | None, gaps: Sequence[Fraction] | None, parameters: TopK
) -> list[Bar]:
    """Return a bar for each winner of a table: of its count, or else of its gap."""
    if counts is None:
        return list_gap_bars(gaps or (), parameters)
    uncertain = (
        near_the_end(gaps or (), parameters)
        if parameters.noise == "laplace"
        else [each.is_biased for each in counts]
    )
    return list_number_bars(place_counts(counts), uncertain)


def place_counts(counts: Sequence[Count]) -> ChartScale:
    """Return where counts and their intervals lie on a scale of a chart."""
    values = [each.value for each in counts]
    intervals = [(to_float(each.low), to_float(each.high)) for each in counts]
    return place_intervals(values, [*map(to_float, values)], intervals)
