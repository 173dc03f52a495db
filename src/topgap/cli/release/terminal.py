"""A publication on a terminal: the list, the numbers, and a bar chart."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from topgap.cli.release.publication import Publication
from topgap.display.bars import Bar, explain_uncertain
from topgap.display.numbers import format_aligned, format_level
from topgap.display.text import width
from topgap.estimates import Estimates

_WIDEST, _NARROWEST = 34, 8  # bars; a narrower one would show nothing, and there is none
_LONGEST_NAME = 14  # what names need not share with a bar
_GAP = 2  # the column of the gaps
_MARK = " ?"
_WITHOUT_GAPS = (
    "The gaps are left out for the bars; a wider terminal, or a file (--output), has them."
)


class Signs(NamedTuple):
    """The characters of a bar."""

    rest: str
    gap: str
    uncertain: str
    line: str
    end: str


_BLOCKS, _PLAIN = Signs("░", "█", "▒", "─", "┤"), Signs(".", "#", "=", "-", "|")


@dataclass(frozen=True)
class TerminalTable:
    """A table with bars, which Rich prints.

    Where it is known how many, each bar ends at that number, and a line reaches to both ends of its
    interval. Otherwise each bar ends at the item's lead over the first item that is not named, and
    its full part is the item's own gap. It is lighter where the order is uncertain. Where there is
    no room for bars, the gaps make room; or else only a mark says that.

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
        bars = self.publication.result.bars(self.publication.level)
        room, columns = 0, len(head)
        if bars:
            room = _room(head, rows, options.max_width)
            if room == 0 and bars[0].interval is not None and columns > _GAP + 1:
                fewer, *shorter = [row[:_GAP] + row[_GAP + 1 :] for row in (head, *rows)]
                room = _room(fewer, shorter, options.max_width)
                if room:
                    head, rows = fewer, shorter
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        table.add_column(head[0], justify="right", no_wrap=True)
        table.add_column(head[1], overflow="fold")
        for name in head[2:]:
            table.add_column(name, justify="right", no_wrap=True)
        if not bars:
            for row in rows:
                table.add_row(*map(Text, row))
            yield table
            return
        table.add_column("", no_wrap=True, min_width=room)
        signs = _PLAIN if options.ascii_only else _BLOCKS  # as in a pipe on Windows
        for row, bar in zip(rows, _draw(bars, room, signs), strict=True):
            table.add_row(*map(Text, row), bar)
        yield table
        yield self._legend(bars, room, signs)
        if len(head) < columns:
            yield Text(_WITHOUT_GAPS, style="dim")

    def _legend(self, bars: Sequence[Bar], room: int, signs: Signs) -> Text:
        parts = [f"{_MARK.strip()} {explain_uncertain(self.publication.parameters)}"]
        if room and bars[0].interval is None:
            parts = [
                f"{signs.gap} its own gap", f"{signs.rest} the lead of the next",
                f"{signs.uncertain}{_MARK} {parts[0].removeprefix('? ')}",
            ]  # fmt: skip
        elif room:
            name, level = self._name_of_numbers(), format_level(self.publication.level)
            interval = f"{signs.rest}{signs.line}{signs.line}{signs.end}"
            doubtful = f"{signs.uncertain}{_MARK} {parts[0].removeprefix('? ')}"
            parts = [f"{signs.gap}{signs.rest} {name}", f"{interval} its {level} interval"]
            parts += [doubtful] * any(bar.is_uncertain for bar in bars)
        return Text("  ".join(parts), style="dim")

    def _name_of_numbers(self) -> str:
        if isinstance(self.publication.result, Estimates):
            return "estimate"
        return "value" if self.publication.parameters.noise == "laplace" else "count"

    def _rows(self) -> tuple[list[str], list[list[str]], str]:
        """The rows, with aligned gaps and, if there are more columns, a narrow head for them."""
        head, rows, note = self.publication.rows()
        resolution = self.publication.release.parameters.resolution
        for row, gap in zip(rows, self.publication.release.gaps or (), strict=False):
            row[_GAP] = format_aligned(gap, resolution)
        if len(head) > _GAP + 1:
            head[_GAP] = "ahead of\nthe next by"
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


def _draw(bars: Sequence[Bar], room: int, signs: Signs) -> list[Text]:
    """The bars on one axis; the interval of one begins inside it and ends beyond it."""
    full = max(bar.reach for bar in bars) or Fraction(1)
    return [_draw_one(bar, room / full, signs) for bar in bars]


def _draw_one(bar: Bar, scale: Fraction, signs: Signs) -> Text:
    start, end = round(bar.start * scale), round(bar.end * scale)
    own = signs.uncertain if bar.is_uncertain else signs.gap
    drawn = Text(signs.rest * start, style="dim")
    if bar.interval is None:
        drawn.append(own * (end - start), style="not dim cyan")
    else:
        low, high = (round(each * scale) for each in bar.interval)
        drawn.append(own * (low - start), style="not dim cyan")
        drawn.append(signs.rest * (end - low), style="not dim cyan")
        line = signs.line * (high - end)
        drawn.append(line[:-1] + signs.end if line else "", style="not dim")
    drawn.append(_MARK if bar.is_uncertain else "", style="not dim yellow")
    return drawn
