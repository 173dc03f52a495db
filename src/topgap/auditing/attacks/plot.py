"""A Matplotlib chart of attacks: what an observer of gaps sees on either data set."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from topgap.auditing.attacks.game import AttackResult
from topgap.display.figure import BLUE, BROWN, new_figure, require_matplotlib, style_axes, to_bytes
from topgap.errors import ParameterError
from topgap.numbers.format import format_short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 0.42
_MOST_TICKS = 10


def render(results: Sequence[AttackResult], form: str) -> bytes:
    """Draw a chart as the contents of a file, without pyplot and without a display.

    Each attack is a row and each target a column. A panel shows how many releases of D, and of D′,
    had 0, 1, 2, … of the gaps that the observer counts. Where the two distributions differ, the
    observer can distinguish the data sets.

    Args:
        results: What the attacks showed.
        form: One of `topgap.display.figure.FORMS`.

    Raises:
        MissingExtraError: Matplotlib is not installed.
        ParameterError: There is nothing to draw.
    """
    require_matplotlib()
    if not results:
        raise ParameterError("There is no attack to plot; run one first.")
    rows = list(dict.fromkeys(each.name for each in results))
    columns = list(dict.fromkeys(each.target for each in results))
    figure = new_figure(1 + 3.6 * len(columns), 0.7 + 2.7 * len(rows))
    axes = figure.subplots(len(rows), len(columns), squeeze=False)
    for ax in axes.flat:
        ax.set_visible(False)
    for each in results:
        row, column = rows.index(each.name), columns.index(each.target)
        ax = axes[row, column]
        ax.set_visible(True)
        _draw(ax, each, _largest_count([other for other in results if other.name == each.name]))
        if column == 0:
            ax.set_ylabel(
                f"{each.name}, ε = {format_short(each.epsilon, 10)}\nshare of the releases"
            )
    handles, labels = axes[0, columns.index(results[0].target)].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    return to_bytes(figure, form)


def _largest_count(results: Sequence[AttackResult]) -> int:
    """The largest number of counted gaps in any of the releases."""
    sides = [side for each in results for side in each.seen]
    return max([1] + [count for side in sides for count, times in enumerate(side) if times])


def _draw(ax: "Axes", result: AttackResult, last: int) -> None:
    styles: tuple[tuple[str, dict[str, Any]], ...] = (
        ("released of D", {"color": BLUE}),
        (
            "released of its neighbour D′",
            {"facecolor": "white", "edgecolor": BROWN, "hatch": "////", "linewidth": 1.1},
        ),
    )
    for number, (side, (label, style)) in enumerate(zip(result.seen, styles, strict=True)):
        whole = max(1, sum(side))
        heights = [releases / whole for releases in side[: last + 1]]
        places = [count + (number - 0.5) * _WIDTH for count in range(last + 1)]
        ax.bar(places, heights, width=_WIDTH, label=label, **style)
    ax.set_ylim(0, 1.03)
    ax.set_xticks(range(0, last + 1, 1 + last // _MOST_TICKS))
    ax.set_xlabel(result.looks_at)
    ax.set_title(_title(result), loc="left", fontsize=9)
    style_axes(ax, lines="y")


def _title(result: AttackResult) -> str:
    """The target, the verdict, and how often a guess is right."""
    share = result.share
    right = "no guess" if share is None else f"{share:.1%} of {result.guesses:,} guesses right"
    verdict = "broken" if result.exceeded else "not broken by this"
    return f"{result.target}: {verdict}\n{right}; ε allows {result.allowed:.1%}"
