"""Two plots: running times, and the parts of the pruned algorithm, the paper's as open markers."""

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl

from benchmarks.paper.published import KS, PARTS, TIMES
from benchmarks.paper.runs import Measured, Parts

MARKERS = "s^oD"

Values = Callable[[Measured, str], Sequence[float]]


def draw_times(all_found: Sequence[Measured], path: Path) -> None:
    """Draw the running times against k, one panel for each data set."""

    def ours(found: Measured, way: str) -> list[float]:
        return [found.typical(way, k) * 1e3 for k in KS]

    def paper(found: Measured, way: str) -> Sequence[float]:
        return TIMES[found.source.paper].get(way, ())

    _draw(all_found, ["Secure", "Opt. Secure", "Baseline", "Kernel"], ours, paper, path)


def draw_parts(all_found: Sequence[Measured], path: Path) -> None:
    """Draw the times of the three parts against k, one panel for each data set."""
    names = dict(zip(PARTS["Kosarak"], Parts._fields, strict=True))

    def ours(found: Measured, name: str) -> list[float]:
        part = names[name]
        return [statistics.fmean(getattr(r.parts, part) for r in found.runs[k]) * 1e3 for k in KS]

    def paper(found: Measured, name: str) -> Sequence[float]:
        return PARTS[found.source.paper][name]

    _draw(all_found, [*names], ours, paper, path)


def _draw(
    all_found: Sequence[Measured], names: list[str], ours: Values, paper: Values, path: Path
) -> None:
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "topgap"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(all_found), figsize=(11, 4.5), sharey=True, layout="constrained", squeeze=False
    )
    lines: dict[str, Any] = {}
    for ax, found in zip(axes[0], all_found, strict=True):
        for i, name in enumerate(names):
            marker, colour = MARKERS[i], f"C{i}"
            (lines[name],) = ax.plot(KS, ours(found, name), f"{marker}-", color=colour)
            reported = paper(found, name)
            if reported:
                (lines[f"{name}, paper"],) = ax.plot(
                    KS, reported, f"{marker}:", color=colour, markerfacecolor="white"
                )
        ax.set(title=f"{found.source.label}, n = {found.source.n:,}", xlabel="k")
        ax.set(xscale="log", yscale="log")
        ax.set_xticks(KS, [str(k) for k in KS])
        ax.minorticks_off()
        ax.grid(visible=True, axis="y", alpha=0.3)
    axes[0][0].set_ylabel("milliseconds")
    figure.legend(
        lines.values(), lines, loc="outside lower center", ncols=len(names), frameon=False
    )
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
