"""The plot of docs/peers.md: time over n and over k, the same bytes for the same times."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.peers.contenders import ALL
from benchmarks.peers.times import Timing

# The colours of Okabe and Ito, which differ for the colour-blind too; markers differ beside them.
STYLES = dict(
    zip(
        (contender.name for contender in ALL),
        (
            ("#0072B2", "o"),
            ("#56B4E9", "x"),
            ("#E69F00", "s"),
            ("#B8860B", "D"),
            ("#CC79A7", "^"),
            ("#8B5A8B", "v"),
            ("#D55E00", "P"),
            ("#009E73", "*"),
            ("#555555", "d"),
        ),
        strict=True,
    )
)


def draw(timings: list[Timing], n: int, k: int, path: Path) -> None:
    """Draw the times over n at this k and over k at this n, as SVG."""
    with mpl.rc_context({"svg.hashsalt": "topgap", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(9.5, 4.8), layout="constrained")
        over_n, over_k = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        _lines(over_n, timings, "n", {"k": k})
        _lines(over_k, timings, "k", {"n": n})
        over_n.set_ylabel("seconds of a call, median")
        over_n.set_xlabel(f"n, at k = {k:,}")
        over_k.set_xlabel(f"k, at n = {n:,}")
        handles, labels = over_n.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right upper", frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _lines(axes: Axes, timings: list[Timing], over: str, at: dict[str, int]) -> None:
    for name, (colour, marker) in STYLES.items():
        cells = sorted(
            (getattr(each, over), each.median)
            for each in timings
            if each.contender == name
            and each.rounds
            and all(getattr(each, other) == value for other, value in at.items())
        )
        if cells:
            xs, ys = zip(*cells, strict=True)
            axes.plot(xs, ys, color=colour, marker=marker, markersize=5, lw=1.2, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(which="major", color="#dddddd", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
