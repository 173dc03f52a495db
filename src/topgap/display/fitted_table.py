"""A table that fits a terminal: columns that matter less are left out, and long cells wrap."""

from collections.abc import Collection, Sequence
from textwrap import wrap

from topgap.display.text import Row, format_text_table, width

_NARROWEST, _DECENT = 8, 19  # columns of text, where there is little room, or some


def format_fitted_table(
    head: Row,
    rows: Sequence[Row],
    left: Collection[int],
    *,
    columns: int | None,
    dispensable: Sequence[int],
) -> tuple[str, list[str]]:
    """Return a table of at most so many columns of a terminal, and the names of what it leaves out.

    Columns without any content are left out first, and nobody need be told. If the rest is still
    too wide with the dispensable columns left out, cells that are aligned to the left wrap.

    Args:
        head: The names of the columns.
        rows: The cells.
        left: The columns that are aligned to the left.
        columns: The width of the terminal; None for the whole table, as wide as it is.
        dispensable: Which columns may be left out, the first of them first.

    >>> head, rows = ["entry", "left", "note"], [["1", "0.7", "for the board of the year"]]
    >>> table, left_out = format_fitted_table(head, rows, {2}, columns=26, dispensable=[1])
    >>> print(table)
    entry  note
        1  for the board of
           the year
    >>> left_out
    ['left']
    """
    kept, left_out = [*range(len(head))], list[str]()
    if columns is not None:
        has_content = [any(row[place] for row in rows) for place in kept]
        kept = [place for place in kept if has_content[place] or place not in dispensable]
        for place in dispensable:
            if place in kept and _measure(head, rows, kept, left) > columns:
                kept.remove(place)
                left_out.append(head[place])
    head, *rows = [[row[place] for place in kept] for row in (head, *rows)]
    left = {new for new, place in enumerate(kept) if place in left}
    if columns is not None:
        rows = _wrap_cells(head, rows, left, columns)
    return format_text_table(head, rows, left), left_out


def _measure(head: Row, rows: Sequence[Row], kept: Sequence[int], texts: Collection[int]) -> int:
    """The width of a table of these columns when long texts wrap to a decent width."""
    widths = {place: max(width(row[place]) for row in (head, *rows)) for place in kept}
    return (
        sum(2 + (min(most, _DECENT) if place in texts else most) for place, most in widths.items())
        - 2
    )


def _wrap_cells(
    head: Row, rows: Sequence[Row], left: Collection[int], columns: int
) -> list[list[str]]:
    """The rows, with as many lines each as their longest cell has when the widest are wrapped."""
    widths = [max(map(width, cells)) for cells in zip(head, *rows, strict=True)]
    texts = [place for place in left if widths[place] > _NARROWEST]
    while texts and sum(widths) + 2 * (len(widths) - 1) > columns:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    wrapped = []
    for row in rows:
        cells = [
            wrap(cell, widths[place]) or [""] if place in texts else [cell]
            for place, cell in enumerate(row)
        ]
        lines = max(map(len, cells))
        wrapped += [
            [*each] for each in zip(*(c + [""] * (lines - len(c)) for c in cells), strict=True)
        ]
    return wrapped
