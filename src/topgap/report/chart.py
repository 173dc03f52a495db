"""The ranking as the rows of a table, in which the gaps are seen: each row has its bar."""

from fractions import Fraction
from html import escape

from topgap.display.rounding import format_about, format_aligned
from topgap.display.text import to_line
from topgap.margins import ONE_IN, is_uncertain, leads, least_certain_gap
from topgap.release import Release


def names(release: Release) -> str:
    """A row per winner, for a release without gaps.

    >>> from topgap.parameters import TopK
    >>> names(Release(TopK(k=1, epsilon=1), items=["flu"])).count("<tr")
    1
    """
    return "\n".join(row(str(rank), name(item)) for rank, item in enumerate(release.items, 1))


def bars(release: Release) -> tuple[str, str]:
    """A row per winner with its bar and numbers, and the row of the yardstick below them.

    A bar is as long as the lead over the first item that is not named, and its end is the item's
    own gap. The full width is the longest lead; or the yardstick, the gap from which on an order
    is certain, if no lead is as long: then all leads are small, and so they look.

    >>> from topgap.parameters import TopK
    >>> rows, yardstick = bars(Release(TopK(k=2, epsilon=1), [4, 0], [125, 3], ["flu", "cold"]))
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
        entry = name(item) + _bar((lead - gap) / full, gap / full, uncertain=uncertain)
        gap_text, lead_text = (format_aligned(each, parameters.resolution) for each in (gap, lead))
        mark = ' <span class="mark">order uncertain</span>' if uncertain else ""
        rows.append(row(str(rank), entry, ahead=gap_text + mark, lead=lead_text))
    entry = f"<span>Two equal items come out so far apart once in {ONE_IN} times</span>"
    entry += _bar(Fraction(0), yardstick / full, uncertain=True)
    return "\n".join(rows), row("", entry, ahead=f"≈ {format_about(yardstick)}", lead="")


def _bar(start: Fraction, length: Fraction, *, uncertain: bool) -> str:
    """A bar up to the next item's end, and from there the gap; both as parts of the full width."""
    fill = ' fill="url(#hatch)"' if uncertain else ""
    return (
        '<svg class="bar" aria-hidden="true" focusable="false">'
        f'<rect class="rest" width="{percent(start)}" height="100%"/>'
        f'<rect class="gap{" uncertain" * uncertain}"{fill} x="{percent(start)}" '
        f'width="{percent(length)}" height="100%"/></svg>'
    )


def name(item: object) -> str:
    """An item as text that changes nothing around it.

    >>> name("<flu>")
    '<bdi>&lt;flu&gt;</bdi>'
    """
    return f"<bdi>{escape(to_line(item))}</bdi>"


def percent(part: Fraction) -> str:
    """A part of the full width.

    >>> percent(Fraction(1, 3))
    '33.3333%'
    """
    return f"{float(100 * part):.4f}%"


def row(rank: str, entry: str, **numbers: str) -> str:
    """A row of the table: the markup in its cells, and of those with numbers the class."""
    # The roles are those of the elements; they outlast the layout for phones, which is no table.
    cells = "".join(
        f'<td role="cell" class="{kind}">{number}</td>' for kind, number in numbers.items()
    )
    return (
        f'<tr role="row"><td role="cell" class="rank">{rank}</td>'
        f'<th role="rowheader" scope="row"><div class="entry">{entry}</div></th>{cells}</tr>'
    )
