"""A release on a terminal: the list, the gaps, and a chart in which they can be seen."""

from fractions import Fraction

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from topgap.leads import certain_from, is_uncertain, leads
from topgap.release import Release
from topgap.report.numbers import about, for_columns
from topgap.text import on_one_line

_WIDTH = 34
_REST, _GAP, _UNCERTAIN = "░", "█", "▒"


def shown(release: Release, caveat: str | None = None) -> Group:
    """The release as Rich prints it.

    Each bar ends at the item's lead over the first item that is not named, and its full part is
    the item's own gap; that part is lighter where the order is uncertain.
    """
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("rank", justify="right")
    table.add_column("item", overflow="fold")
    if release.gaps is not None:
        table.add_column("ahead of the next by", justify="right", no_wrap=True)
        table.add_column("", no_wrap=True, min_width=_WIDTH)
    bars = _bars(release)
    resolution = release.parameters.resolution
    for rank, item in enumerate(release.items, 1):
        row: list[Text] = [Text(str(rank)), Text(on_one_line(item))]
        if release.gaps is not None:
            row += [Text(for_columns(release.gaps[rank - 1], resolution)), bars[rank - 1]]
        table.add_row(*row)
    below = release.to_text().splitlines()[-1]
    notes = [Text(below, style="dim")]
    if release.gaps is not None:
        notes.insert(0, _legend(release))
    if caveat:
        notes.append(Text(caveat, style="bold red"))
    return Group(table, *notes)


def print_release(release: Release, caveat: str | None = None) -> None:
    """Print it on the terminal."""
    Console().print(shown(release, caveat))


def _bars(release: Release) -> list[Text]:
    ahead = leads(release)
    full = max([*ahead, certain_from(release.parameters)])
    ends = [round(_WIDTH * lead / full) for lead in [*ahead, Fraction(0)]]
    bars = []
    for gap, end, next_end in zip(release.gaps or (), ends, ends[1:], strict=False):
        uncertain = is_uncertain(gap, release.parameters)
        bar = Text(_REST * next_end, style="dim")
        bar.append((_UNCERTAIN if uncertain else _GAP) * (end - next_end), style="not dim cyan")
        bar.append(" ?" if uncertain else "", style="not dim yellow")
        bars.append(bar)
    return bars


def _legend(release: Release) -> Text:
    below = about(certain_from(release.parameters))
    return Text(
        f"{_GAP} its own gap  {_REST} the lead of the next  {_UNCERTAIN} ? order uncertain: below "
        f"{below}, noise parts equal items so far once in 20 times",
        style="dim",
    )
