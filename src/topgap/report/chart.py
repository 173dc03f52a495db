"""The rows of the page's tables: a bar for each winner shows its gap, count or estimate."""

from fractions import Fraction
from html import escape

from topgap.display.items import format_item
from topgap.display.numbers import (
    ChartScale,
    Span,
    format_about,
    format_aligned,
    format_estimate,
    format_signed,
    place_intervals,
)
from topgap.display.text import to_line
from topgap.estimates import Estimates
from topgap.margins import ONE_IN, is_uncertain, leads, least_certain_gap
from topgap.numbers.format import to_float
from topgap.numbers.parse import Number
from topgap.parameters import TopK
from topgap.release import Count, Release, format_number


def render_names(release: Release) -> str:
    """Return a row per winner, for a release without gaps.

    >>> from topgap.parameters import TopK
    >>> render_names(Release(TopK(k=1, epsilon=1), items=["flu"])).count("<tr")
    1
    """
    ranked = enumerate(release.items, 1)
    return "\n".join(_render_row(str(rank), _render_item(item)) for rank, item in ranked)


def render_gaps(release: Release, *, with_leads: bool = True) -> tuple[str, str]:
    """Return a row per winner with its bar and numbers, and the row of the yardstick below them.

    A bar is as long as the lead over the first item that is not named, and its end is the item's
    own gap. The yardstick is the gap from which on an order is certain. The full width is the
    longest lead, or the yardstick if that is longer, so that small leads look small.

    Args:
        release: A release with gaps.
        with_leads: Whether a row has the lead as a number, too.

    >>> from topgap.parameters import TopK
    >>> release = Release(TopK(k=2, epsilon=1), [4, 0], [125, 3], ["flu", "cold"])
    >>> rows, yardstick = render_gaps(release)
    >>> rows.count("<tr"), yardstick.count("<tr")
    (2, 1)
    """
    parameters = release.parameters
    ahead = leads(release.gaps or ())
    yardstick = least_certain_gap(parameters)
    full = max(yardstick, *ahead)
    rows = []
    columns = zip(release.items, release.gaps or (), ahead, strict=True)
    for rank, (item, gap, lead) in enumerate(columns, 1):
        uncertain = is_uncertain(gap, parameters)
        bar = _render_gap_bar((lead - gap) / full, gap / full, uncertain=uncertain)
        numbers = {"ahead": _render_gap(gap, parameters)}
        if with_leads:
            numbers["lead"] = format_aligned(lead, parameters.resolution)
        rows.append(_render_row(str(rank), _render_item(item) + bar, **numbers))
    entry = f"<span>Two equal items come out so far apart once in {ONE_IN} times</span>"
    entry += _render_gap_bar(Fraction(0), yardstick / full, uncertain=True)
    return "\n".join(rows), _render_row("", entry, ahead=f"≈ {format_about(yardstick)}", lead="")


def render_estimates(estimates: Estimates, level: "Number", *, with_gaps: bool = False) -> str:
    """Return a row per winner: its bar, the estimate, the interval, and the measurement.

    A bar reaches from 0 to the estimate, and its error bar from one end of the interval to the
    other. All bars have one scale.

    Args:
        estimates: What is shown.
        level: That of the intervals.
        with_gaps: Whether a row has the gap in place of the measurement.

    >>> from topgap import TopK, estimate
    >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
    >>> rows = render_estimates(estimate(release, [60], variance=8, noise="laplace"), 0.95)
    >>> "60.0 ± 2.8" in rows, "54.0 to 66.0" in rows
    (True, True)
    """
    release = estimates.release
    intervals, parameters = estimates.intervals(level), release.parameters
    scale = place_intervals(estimates.measurements, estimates.estimates, intervals)
    columns = zip(
        release.items,
        estimates.near_ties,
        scale.spans,
        estimates.estimates,
        estimates.standard_errors,
        intervals,
        (release.gaps or ()) if with_gaps else estimates.measurements,
        strict=True,
    )
    rows = []
    for rank, each in enumerate(columns, 1):
        item, near_tie, span, estimate, error, (low, high), last = each
        if with_gaps:
            number = {"ahead": _render_gap(last, parameters)}
        else:
            number = {"measured": format_signed(last, parameters.resolution)}
        label = ' <span class="mark">may lean</span>' if near_tie else ""
        rows.append(
            _render_row(
                str(rank),
                _render_item(item) + _render_error_bar(span, scale),
                estimate=f"{format_estimate(estimate, error)} ± "
                f"{format_estimate(error, error)}{label}",
                interval=f"{format_estimate(low, error)} to {format_estimate(high, error)}",
                **number,
            )
        )
    return "\n".join(rows)


def render_counts(release: Release, level: "Number") -> str:
    """Return a row per winner: its bar, its count or value, the interval, and the gap.

    A bar reaches from 0 to the count, and its error bar from one end of the interval to the other.
    All bars have one scale.

    >>> from topgap.parameters import TopK
    >>> few = TopK(k=2, epsilon=1, items_per_person=1, monotonic=True)
    >>> release = Release(few, None, [20, 4], ["flu", "cold"], value_units=[45, 25])
    >>> rows = render_counts(release, 0.95)
    >>> "45 ± 1.4" in rows, "42 to 48" in rows, rows.count("uncertain")
    (True, True, 1)
    """
    scale = release.chart_scale(level)
    kind = "noisy" if release.parameters.noise == "laplace" else "counted"
    columns = zip(
        release.counts(level), release.near_the_end, scale.spans, release.gaps or (), strict=True
    )
    rows = []
    for rank, (count, late, span, gap) in enumerate(columns, 1):
        place = ' <span class="mark">place uncertain</span>' if late else ""
        low, high = (_format_end(each, count, release) for each in (count.low, count.high))
        numbers = {
            kind: f"{format_number(count, release.parameters)}{place}",
            "interval": f"{low} to {high}",
            "ahead": _render_gap(gap, release.parameters, is_last=rank == len(release)),
        }
        entry = _render_item(count.item) + _render_error_bar(span, scale)
        rows.append(_render_row(str(rank), entry, **numbers))
    return "\n".join(rows)


def _render_gap(gap: Fraction, parameters: TopK, *, is_last: bool = False) -> str:
    """Return a gap with its mark; beside counts, of which the last has a mark of its own, none."""
    is_tied = is_uncertain(gap, parameters) and not is_last
    mark = ' <span class="mark">order uncertain</span>' if is_tied else ""
    return format_aligned(gap, parameters.resolution) + mark


def _format_end(end: Fraction, count: Count, release: Release) -> str:
    if release.parameters.noise == "laplace":
        return format_signed(end, release.parameters.resolution)
    return format_estimate(to_float(end), count.standard_error)


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
    zero, low, estimate, high = ((each - scale.start) / full for each in (Fraction(0), *span))
    start, length = min(zero, estimate), abs(estimate - zero)
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


def _render_item(item: object) -> str:
    """Return an item's name as markup that changes nothing around it.

    >>> _render_item("<flu>")
    '<bdi>&lt;flu&gt;</bdi>'
    """
    return f"<bdi>{escape(to_line(format_item(item)))}</bdi>"


def _percent(part: Fraction) -> str:
    """Return a part of the full width as CSS.

    >>> _percent(Fraction(1, 3))
    '33.3333%'
    """
    return f"{float(100 * part):.4f}%"


def _render_row(rank: str, entry: str, **numbers: str) -> str:
    """Return a row of the table; `numbers` are the further cells by their class."""
    # The roles are those of the elements; they outlast the layout for phones, which is no table.
    cells = "".join(
        f'<td role="cell" class="{kind}">{number}</td>' for kind, number in numbers.items()
    )
    return (
        f'<tr role="row"><td role="cell" class="rank">{rank}</td>'
        f'<th role="rowheader" scope="row"><div class="entry">{entry}</div></th>{cells}</tr>'
    )
