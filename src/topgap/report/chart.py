"""The rows of the page's table, which is its chart: a bar for each named item, and its numbers."""

from collections.abc import Sequence
from fractions import Fraction
from html import escape

from topgap.display.items import format_item
from topgap.display.numbers import ChartScale, Span, format_aligned
from topgap.display.text import to_line
from topgap.margins import is_uncertain, leads, least_certain_gap, near_the_end
from topgap.release import Release
from topgap.report.details import Details
from topgap.report.figures import Figure, Figures
from topgap.report.numerals import find_numerals

ORDER, PLACE, BELOW = "order uncertain", "place uncertain", "below 0 by noise"


def render_rows(
    release: Release, figures: Figures | None, details: Details, marks: Sequence[str]
) -> str:
    """Return a row for each named item: its bar, its number if it has one, and its gap.

    With numbers, a bar reaches from 0 to the number, and its error bar from one end of the interval
    to the other. With gaps alone, it is as long as the lead over the first item that is not named,
    and its end is the item's own gap; the full width is the longest lead, or the least gap that is
    called certain if that is longer, so that small leads look small.

    Args:
        release: What is shown.
        figures: Its numbers, if there are any.
        details: What the publisher says.
        marks: As of `find_marks`.

    >>> from topgap.parameters import TopK
    >>> release = Release(TopK(k=2, epsilon=1), [4, 0], [125, 3], ["flu", "cold"])
    >>> rows = render_rows(release, None, Details(), find_marks(release))
    >>> rows.count("<tr"), rows.count("<rect"), rows.count("place uncertain")
    (2, 4, 1)
    """
    write = find_numerals(details.locale).write
    gaps, bars = release.gaps, _render_bars(release, figures)
    rows = []
    for place, item in enumerate(release.items):
        cells: dict[str, str] = {}
        if figures is not None:
            cells |= _render_figure(figures, figures.rows[place], details)
        if gaps is not None:
            mark = f' <span class="mark">{marks[place]}</span>' if marks[place] else ""
            gap = write(format_aligned(gaps[place], release.parameters.resolution))
            cells["ahead"] = f"{gap}{mark}"
        name = _render_item(item, details)
        rows.append(_render_row(write(str(place + 1)), name + bars[place], cells))
    return "\n".join(rows)


def find_marks(release: Release) -> list[str]:
    """Return the mark of each named item: what noise may have decided; empty for most.

    >>> from topgap.parameters import TopK
    >>> gaps = [125, 3, 900, 3]
    >>> find_marks(Release(TopK(k=4, epsilon=1, monotonic=True), None, gaps, [*"abcd"]))
    ['', 'order uncertain', '', 'place uncertain']
    """
    gaps = release.gaps
    if gaps is None:
        return [""] * len(release)
    parameters = release.parameters
    pairs = zip(gaps, near_the_end(gaps, parameters), strict=True)
    return [
        PLACE if late else ORDER if is_uncertain(gap, parameters) else "" for gap, late in pairs
    ]


def _render_figure(figures: Figures, figure: Figure, details: Details) -> dict[str, str]:
    write = find_numerals(details.locale).write
    number, error, low, high = (write(figures.format(each)) for each in figure)
    mark = f' <span class="mark">{BELOW}</span>' if figure.number < 0 else ""
    return {
        "figure": f'{number} <span class="error-size">± {error}</span>{mark}',
        "interval": f"{low} to {high}",
    }


def _render_bars(release: Release, figures: Figures | None) -> list[str]:
    if figures is not None:
        return [_render_error_bar(span, figures.scale) for span in figures.scale.spans]
    gaps, parameters = release.gaps, release.parameters
    if not gaps:
        return [""] * len(release)
    ahead = leads(gaps)
    full = max(least_certain_gap(parameters), *ahead)
    return [
        _render_gap_bar((lead - gap) / full, gap / full, uncertain=is_uncertain(gap, parameters))
        for gap, lead in zip(gaps, ahead, strict=True)
    ]


def _render_gap_bar(start: Fraction, length: Fraction, *, uncertain: bool) -> str:
    """Return a bar up to the next item's end, and from there the gap, as parts of the width."""
    fill = ' fill="url(#hatch)"' if uncertain else ""
    return (
        '<svg class="bar" aria-hidden="true" focusable="false">'
        f'<rect class="rest" width="{_percent(start)}" height="100%"/>'
        f'<rect class="gap{" uncertain" * uncertain}"{fill} x="{_percent(start)}" '
        f'width="{_percent(length)}" height="100%"/></svg>'
    )


def _render_error_bar(span: Span, scale: ChartScale) -> str:
    full = scale.end - scale.start
    zero, low, number, high = ((each - scale.start) / full for each in (Fraction(0), *span))
    start, length = min(zero, number), abs(number - zero)
    ends = "".join(
        f'<line class="error" x1="{_percent(x)}" x2="{_percent(x)}" y1="5%" y2="95%"/>'
        for x in (low, high)
    )
    return (
        '<svg class="bar" aria-hidden="true" focusable="false">'
        f'<rect class="rest" x="{_percent(start)}" width="{_percent(length)}" height="100%"/>'
        f'<line class="error" x1="{_percent(low)}" x2="{_percent(high)}" y1="50%" y2="50%"/>'
        f"{ends}</svg>"
    )


def _render_item(item: object, details: Details) -> str:
    """Return an item's name, with its label, as markup that changes nothing around it.

    >>> _render_item("<flu>", Details())
    '<span class="name"><bdi>&lt;flu&gt;</bdi></span>'
    """
    label = details.label(item)
    beside = "" if label is None else f' <bdi class="label">{escape(to_line(label))}</bdi>'
    return f'<span class="name"><bdi>{escape(to_line(format_item(item)))}</bdi>{beside}</span>'


def _percent(part: Fraction) -> str:
    """Return a part of the full width as CSS.

    >>> _percent(Fraction(1, 3))
    '33.3333%'
    """
    return f"{float(100 * part):.4f}%"


def _render_row(rank: str, entry: str, cells: dict[str, str]) -> str:
    """Return a row of the table; the further cells are by their class."""
    # The roles are those of the elements; they outlast the layout for phones, which is no table.
    more = "".join(f'<td role="cell" class="{kind}">{cell}</td>' for kind, cell in cells.items())
    return (
        f'<tr role="row"><td role="cell" class="rank">{rank}</td>'
        f'<th role="rowheader" scope="row"><div class="entry">{entry}</div></th>{more}</tr>'
    )
