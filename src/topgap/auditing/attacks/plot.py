"""Attacks as a Matplotlib chart: what an observer of gaps sees on either data set."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from topgap.auditing.attacks import AttackResult
from topgap.errors import ParameterError
from topgap.planning.plot import FORMS, check_installed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FORMS", "render"]

# Told apart by colour, and by being filled or not.
_BLUE, _BROWN = "#0b5c8f", "#9c3a10"
_WIDTH = 0.42
_MOST_TICKS = 10


def render(results: Sequence[AttackResult], form: str) -> bytes:
    """The chart as a file holds it, made without pyplot and without a display.

    Each attack is a row and each target a column. A panel shows how many releases of D, and of D′,
    had 0, 1, 2, … of the gaps that the observer counts: where the two are apart they can be told
    apart.

    Args:
        results: What is drawn.
        form: One of `FORMS`.

    Raises:
        MissingExtraError: Matplotlib is not installed.
        ParameterError: There is nothing to draw.
    """
    check_installed()
    if not results:
        raise ParameterError("There is no attack to draw; play one first.")
    from matplotlib.figure import Figure

    rows = list(dict.fromkeys(each.name for each in results))
    columns = list(dict.fromkeys(each.target for each in results))
    size = (1 + 3.6 * len(columns), 0.7 + 2.7 * len(rows))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(rows), len(columns), squeeze=False)
    for ax in axes.flat:
        ax.set_visible(False)
    for each in results:
        row, column = rows.index(each.name), columns.index(each.target)
        ax = axes[row, column]
        ax.set_visible(True)
        _draw(ax, each, _largest_count([other for other in results if other.name == each.name]))
        if column == 0:
            ax.set_ylabel(f"{each.name}, ε = {_format_epsilon(each)}\nshare of the releases")
    handles, labels = axes[0, columns.index(results[0].target)].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    file = io.BytesIO()
    figure.savefig(file, format=form, dpi=150)
    return file.getvalue()


def _largest_count(results: Sequence[AttackResult]) -> int:
    """The largest number of telling gaps that any of them saw."""
    sides = [side for each in results for side in each.seen]
    return max([1] + [count for side in sides for count, times in enumerate(side) if times])


def _draw(ax: "Axes", result: AttackResult, last: int) -> None:
    styles: tuple[tuple[str, dict[str, Any]], ...] = (
        ("released of D", {"color": _BLUE}),
        (
            "released of its neighbour D′",
            {"facecolor": "white", "edgecolor": _BROWN, "hatch": "////", "linewidth": 1.1},
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
    ax.grid(axis="y", color="#d5dbe1", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def _title(result: AttackResult) -> str:
    """What is attacked, and how often a guess is right."""
    share = result.share
    right = "no guess" if share is None else f"{share:.1%} of {result.guesses:,} guesses right"
    verdict = "broken" if result.exceeded else "not broken by this"
    return f"{result.target}: {verdict}\n{right}; ε allows {result.allowed:.1%}"


def _format_epsilon(result: AttackResult) -> str:
    epsilon = result.epsilon
    return str(epsilon) if epsilon.denominator <= 10**6 else f"{float(epsilon):.1e}"
