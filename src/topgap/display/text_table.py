"""A table of cells as text and as HTML: the second column to the left, others to the right."""

from collections.abc import Collection, Sequence
from html import escape

from topgap.display.text import width

Row = Sequence[str]


def format_text(head: Row, rows: Sequence[Row], left: Collection[int] = (1,)) -> str:
    """The table for a terminal or a file, with these columns to the left.

    >>> print(format_text(["rank", "item"], [["1", "flu"]]))
    rank  item
       1  flu
    """
    widths = [max(map(width, column)) for column in zip(head, *rows, strict=True)]
    lines = []
    for row in [head, *rows]:
        spaces = [" " * (most - width(cell)) for cell, most in zip(row, widths, strict=True)]
        cells = [
            cell + space if column in left else space + cell
            for column, (cell, space) in enumerate(zip(row, spaces, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def format_html(head: Row, rows: Sequence[Row]) -> str:
    """The table for a notebook.

    >>> format_html(["rank", "item"], [["1", "<flu>"]]).count("&lt;flu&gt;")
    1
    """
    body = "".join(f"<tr>{_line(row, 'td')}</tr>" for row in rows)
    return f"<table><thead><tr>{_line(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"


def _line(cells: Row, tag: str) -> str:
    sides = ["right", "left", *["right"] * (len(cells) - 2)]
    return "".join(
        f'<{tag} style="text-align: {side}">{escape(cell)}</{tag}>'
        for cell, side in zip(cells, sides, strict=True)
    )
