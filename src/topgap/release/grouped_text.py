"""The lists of all groups as one table for people, and as one line."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from topgap.display.bars import Bar
from topgap.display.text import to_line, to_repr
from topgap.numbers.parse import Number
from topgap.parameters import TopK
from topgap.release.grouped_notes import format_group
from topgap.release.threshold_notes import name_winners

MOST_ROWS = 60
"""So many rows are shown of many groups, if not all are asked for."""

_MOST_IN_LINE = 5


class Tabled(Protocol):
    """A result that is shown as a table."""

    def rows(  # noqa: D102 - as of `Release`
        self, *, level: "Number", most: int
    ) -> tuple[list[str], list[list[str]], str]: ...
    def bars(self, level: "Number") -> list[Bar]: ...  # noqa: D102 - as of `Release`
    def __len__(self) -> int: ...


def list_rows(
    results: Iterable[tuple[Any, Tabled]],
    parameters: TopK,
    level: "Number",
    most: int | None,
) -> tuple[list[str], list[list[str]], int]:
    """Return the head of the table, its rows, and how many groups they show.

    The name of a group stands in its first row. A group without winners has a row that says so.

    Args:
        results: Each group and its result.
        parameters: The parameters of each list.
        level: That of the intervals.
        most: After so many rows no other group is begun; None for all of them.
    """
    head: list[str] = []
    rows: list[list[str]] = []
    groups = 0
    for group, result in results:
        if most is not None and len(rows) >= most:
            break
        own, listed, _ = result.rows(level=level, most=len(result) if most is None else most)
        head = max(head, own, key=len)
        left = len(result) - len(listed)
        listed += [["", f"… and {left:,} more"]] * (left > 0)
        if not listed:
            none = name_winners(parameters, 0)
            listed = [["", f"{none[0].lower()}{none[1:]}"]]
        rows += [[format_group(group) if first else "", *row] for first, row in _mark(listed)]
        groups += 1
    head = ["group", *head]
    return head, [row + [""] * (len(head) - len(row)) for row in rows], groups


def list_group_bars(
    results: Iterable[tuple[Any, Tabled]], level: "Number", most: int
) -> list[Bar | None]:
    """Return a bar for each row that `list_rows` returns, or None for a row without an item."""
    bars: list[Bar | None] = []
    for _, result in results:
        if len(bars) >= most:
            break
        bars += result.bars(level)[:most] or [None] * min(len(result), most)
        if len(result) > most or not len(result):
            bars.append(None)
    return bars


def _mark(rows: Sequence[list[str]]) -> Iterable[tuple[bool, list[str]]]:
    """Each row, with whether it is the first."""
    return ((place == 0, row) for place, row in enumerate(rows))


def describe_groups(kind: str, groups: Sequence[Any], epsilon: str, caveat: str = "") -> str:
    """Return a result for each group on one line, with the first of the groups.

    >>> describe_groups("GroupedRelease", ["North", "South"], "1")
    "<GroupedRelease of 2 groups at ε = 1 for all together: 'North', 'South'>"
    """
    many = "1 group" if len(groups) == 1 else f"{len(groups):,} groups"
    shown = ", ".join(to_line(to_repr(group)) for group in groups[:_MOST_IN_LINE])
    more = ", …" if len(groups) > _MOST_IN_LINE else ""
    return f"<{kind} of {many} at ε = {epsilon} for all together{caveat}: {shown}{more}>"
