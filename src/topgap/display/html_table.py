"""A table for a notebook, with bars: HTML with its style inside, in light and dark, no script."""

from collections.abc import Collection, Sequence
from fractions import Fraction
from html import escape

from topgap.display.bars import Bar
from topgap.display.text import Row

# The text has the notebook's own colour, so lines and bars are what shows on white and on black.
_LINE = "rgba(128,128,128,.45)"
_BAR, _UNCERTAIN = "#3f83c9", "#c98a2b"
_TABLE = (
    "color:inherit;font-size:inherit;border-collapse:collapse;border:none;margin:.3em 0;"
    "font-variant-numeric:tabular-nums"
)
_CELL = "padding:.2em .7em;border:none;vertical-align:top;background:none"
_WIDTH = 11  # of the longest bar, in em


def format_html_table(
    head: Row,
    rows: Sequence[Row],
    left: Collection[int] = (1,),
    bars: Sequence[Bar | None] | None = None,
) -> str:
    """Return a table of cells for a notebook.

    Args:
        head: The names of the columns.
        rows: The cells.
        left: The columns that are aligned to the left; the others are aligned to the right.
        bars: A bar for each row, or None for a row that has none.

    >>> format_html_table(["rank", "item"], [["1", "<flu>"]]).count("&lt;flu&gt;")
    1
    """
    drawn = [""] * len(rows) if bars is None else _draw(bars)
    lines = [
        f"<tr>{_format_row(row, 'td', left)}{bar}</tr>"
        for row, bar in zip(rows, drawn, strict=True)
    ]
    more = "" if bars is None else f'<th style="{_CELL};border-bottom:1px solid {_LINE}"></th>'
    top = f"<tr>{_format_row(head, 'th', left)}{more}</tr>"
    return f'<table style="{_TABLE}"><thead>{top}</thead><tbody>{"".join(lines)}</tbody></table>'


def format_html_note(sentences: Sequence[str]) -> str:
    """Return what stands below a table, a sentence on a line.

    >>> format_html_note(["k < 3"])
    '<p style="margin:.3em 0;max-width:60em;font-size:.9em">k &lt; 3</p>'
    """
    below = escape("\n".join(sentences)).replace("\n", "<br>")
    return f'<p style="margin:.3em 0;max-width:60em;font-size:.9em">{below}</p>'


def _format_row(cells: Row, tag: str, left: Collection[int]) -> str:
    line = f";border-bottom:1px solid {_LINE}" * (tag == "th")
    sides = ["left" if column in left else "right" for column in range(len(cells))]
    return "".join(
        f'<{tag} style="{_CELL}{line};text-align:{side}">{escape(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )


def _draw(bars: Sequence[Bar | None]) -> list[str]:
    """Return a cell for each bar, all on one axis."""
    full = max([bar.reach for bar in bars if bar is not None], default=Fraction(0)) or Fraction(1)
    cell = f'<td aria-hidden="true" style="{_CELL};text-align:left">'
    return [f"{cell}{'' if bar is None else _draw_bar(bar, full)}</td>" for bar in bars]


def _draw_bar(bar: Bar, full: Fraction) -> str:
    colour = _UNCERTAIN if bar.is_uncertain else _BAR
    light = _draw_box(Fraction(0), bar.start / full, f"background:{colour};opacity:.3")
    own = _draw_box(bar.start / full, bar.end / full, f"background:{colour}")
    whisker = ""
    if bar.interval is not None:
        low, high = (end / full for end in bar.interval)
        ends = "border-left:1px solid;border-right:1px solid;top:.25em;height:.6em"
        line = "top:.55em;height:0;border-top:1px solid"
        whisker = _draw_box(low, high, ends) + _draw_box(low, high, line)
    mark = f'<span style="position:absolute;left:{_WIDTH + 0.3}em">?</span>'
    return (
        f'<div style="position:relative;width:{_WIDTH}em;height:1.1em;line-height:1.1em;'
        f'margin-right:1em">{light}{own}{whisker}{mark * bar.is_uncertain}</div>'
    )


def _draw_box(start: Fraction, end: Fraction, style: str) -> str:
    if end <= start:
        return ""
    place = f"left:{float(100 * start):.2f}%;width:{float(100 * (end - start)):.2f}%"
    top = "" if "top:" in style else "top:.15em;height:.8em;"
    return f'<div style="position:absolute;box-sizing:border-box;{top}{style};{place}"></div>'
