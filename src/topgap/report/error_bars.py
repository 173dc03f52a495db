"""The estimates as the rows of a table: each row has its bar, with an error bar on it."""

from fractions import Fraction

from topgap.display.chart_scale import ChartScale, Span
from topgap.display.rounding import format_aligned, format_estimate
from topgap.estimates import Estimates
from topgap.numbers.parse import Number
from topgap.report.chart import name, percent, row


def error_bars(estimates: Estimates, level: "Number") -> str:
    """A row per winner: its bar, the estimate, the interval, and what was measured.

    A bar reaches from 0 to the estimate, and its error bar from one end of the interval to the
    other. All bars have one scale.

    >>> from topgap import Release, TopK, estimate
    >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
    >>> rows = error_bars(estimate(release, [60], variance=8, noise="laplace"), 0.95)
    >>> "60.0 ± 2.8" in rows, "54.0 to 66.0" in rows
    (True, True)
    """
    release = estimates.release
    scale = estimates.chart_scale(level)
    columns = zip(
        release.items,
        estimates.near_ties,
        scale.of,
        estimates.estimates,
        estimates.standard_errors,
        estimates.intervals(level),
        estimates.measurements,
        strict=True,
    )
    rows = []
    for rank, each in enumerate(columns, 1):
        item, may_lean, span, estimate, error, (low, high), measured = each
        mark = ' <span class="mark">may lean</span>' if may_lean else ""
        rows.append(
            row(
                str(rank),
                name(item) + _bar(span, scale),
                estimate=f"{format_estimate(estimate, error)} ± "
                f"{format_estimate(error, error)}{mark}",
                interval=f"{format_estimate(low, error)} to {format_estimate(high, error)}",
                measured=_exactly(measured, release.parameters.resolution),
            )
        )
    return "\n".join(rows)


def _exactly(measured: Fraction, resolution: Fraction) -> str:
    text = format_aligned(abs(measured), resolution)
    if measured >= 0:
        return text
    return text.replace("≈ ", "≈ −") if text.startswith("≈") else f"−{text}"


def _bar(span: Span, scale: ChartScale) -> str:
    full = scale.end - scale.start
    zero, low, estimate, high = ((each - scale.start) / full for each in (Fraction(0), *span))
    start, length = min(zero, estimate), abs(estimate - zero)
    ends = "".join(
        f'<line class="error" x1="{percent(x)}" x2="{percent(x)}" y1="5%" y2="95%"/>'
        for x in (low, high)
    )
    return (
        '<svg class="bar" aria-hidden="true" focusable="false">'
        f'<rect class="rest" x="{percent(start)}" width="{percent(length)}" height="100%"/>'
        f'<line class="error" x1="{percent(low)}" x2="{percent(high)}" y1="50%" y2="50%"/>'
        f"{ends}</svg>"
    )
