"""A publication on a terminal: the list, the numbers, and a bar chart."""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from topgap.cli.release.publication import Publication
from topgap.display.numbers import format_about, format_aligned
from topgap.display.text import width
from topgap.margins import is_uncertain, leads, least_certain_gap
from topgap.release import Release

_WIDEST, _NARROWEST = 34, 8  # bars; a narrower one would show nothing, and there is none
_LONGEST_NAME = 14  # what names need not share with a bar
_MARK = " ?"


class Signs(NamedTuple):
    """The characters of a bar."""

    rest: str
    gap: str
    uncertain: str


_BLOCKS, _PLAIN = Signs("░", "█", "▒"), Signs(".", "#", "=")


@dataclass(frozen=True)
class TerminalTable:
    """A table with bars, which Rich prints.

    Each bar ends at the item's lead over the first item that is not named, and its full part is
    the item's own gap; that part is lighter where the order is uncertain. Where there is no room
    for bars, a mark alone says that.

    Attributes:
        publication: What is published.
    """

    publication: Publication

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        head, rows, note = self._rows()
        release = self.publication.release
        if rows:
            yield from self._table(head, rows, options)
        yield Text(note, style="dim")
        yield from (Text(each, style="dim") for each in self.publication.explanations)
        yield from (Text(each, style="yellow") for each in self.publication.notes)
        yield from (Text(each, style="bold red") for each in release.caveats)

    def _table(
        self, head: list[str], rows: list[list[str]], options: ConsoleOptions
    ) -> RenderResult:
        release = self.publication.release
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        table.add_column(head[0], justify="right", no_wrap=True)
        table.add_column(head[1], overflow="fold")
        for name in head[2:]:
            table.add_column(name, justify="right", no_wrap=True)
        if release.gaps is None:
            for row in rows:
                table.add_row(*map(Text, row))
            yield table
        else:
            room = _room(head, rows, options.max_width)
            table.add_column("", no_wrap=True, min_width=room)
            signs = _PLAIN if options.ascii_only else _BLOCKS  # as in a pipe on Windows
            for row, bar in zip(rows, _bars(release, room, signs), strict=True):
                table.add_row(*map(Text, row), bar)
            yield table
            yield _legend(release, room, signs)

    def _rows(self) -> tuple[list[str], list[list[str]], str]:
        """The rows, with aligned gaps and, if there are more columns, a narrow head for them."""
        head, rows, note = self.publication.rows()
        resolution = self.publication.release.parameters.resolution
        for row, gap in zip(rows, self.publication.release.gaps or (), strict=False):
            row[2] = format_aligned(gap, resolution)
        if len(head) > 3:
            head[2] = "ahead of\nthe next by"
        return head, rows, note


def show(publication: Publication) -> None:
    """Print it on the terminal."""
    Console(highlight=False).print(TerminalTable(publication))


def _room(head: list[str], rows: list[list[str]], columns: int) -> int:
    """How many columns of the terminal are left for a bar; 0 if too few."""
    needed = [
        max(width(line) for cell in column for line in cell.split("\n"))
        for column in zip(head, *rows, strict=True)
    ]
    needed[1] = min(needed[1], _LONGEST_NAME)
    left = columns - sum(needed) - 2 * len(needed) - len(_MARK)
    return 0 if left < _NARROWEST else min(left, _WIDEST)


def _bars(release: Release, room: int, signs: Signs) -> list[Text]:
    ahead = leads(release.gaps or ())
    full = max([*ahead, least_certain_gap(release.parameters)])
    ends = [round(room * lead / full) for lead in [*ahead, Fraction(0)]]
    bars = []
    for gap, end, next_end in zip(release.gaps or (), ends, ends[1:], strict=False):
        uncertain = is_uncertain(gap, release.parameters)
        bar = Text(signs.rest * next_end, style="dim")
        own = signs.uncertain if uncertain else signs.gap
        bar.append(own * (end - next_end), style="not dim cyan")
        bar.append(_MARK if uncertain else "", style="not dim yellow")
        bars.append(bar)
    return bars


def _legend(release: Release, room: int, signs: Signs) -> Text:
    below = format_about(least_certain_gap(release.parameters))
    own = f"{signs.gap} its own gap  {signs.rest} the lead of the next  {signs.uncertain}"
    parts = own if room else ""
    return Text(
        f"{parts}{_MARK} order uncertain: below {below}; equal items come out that far apart once "
        f"in 20 times".strip(),
        style="dim",
    )
