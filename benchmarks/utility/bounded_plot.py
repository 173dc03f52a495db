"""Which mechanism names more over k and L, in a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.utility.bounded_tables import TOP_K, TOPGAP, Accuracy
from benchmarks.utility.plots import pyplot, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = 10, 25, 100, 400
"""A line for each of these k."""


def draw(found: Sequence[Accuracy], path: Path) -> None:
    """Left the shares over L; right, over k and L, how many points more a bound names."""
    plt = pyplot()
    figure, (lines, differences) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    data, epsilon = found[0].data, found[0].epsilon
    figure.suptitle(f"{data}, ε = {epsilon}: Laplace noise, scale L/ε, or exponential, scale k/ε")
    _draw_lines(lines, found)
    _draw_differences(differences, found)
    save(figure, path)


def _draw_lines(ax: "Axes", found: Sequence[Accuracy]) -> None:
    ks = sorted({each.k for each in found} & {*LINES}) or sorted({each.k for each in found})
    for number, k in enumerate(ks):
        bounded = [each for each in found if each.k == k and each.who == TOPGAP]
        bounds, shares = zip(*((each.bound, each.share) for each in bounded), strict=True)
        ax.plot(bounds, shares, marker="o", markersize=4, color=f"C{number}", label=f"k = {k}")
        for each in (each for each in found if each.k == k and each.who == TOP_K):
            ax.axhline(each.share, color=f"C{number}", linestyle="--", linewidth=1)
    ax.plot([], [], color="gray", linestyle="--", linewidth=1, label="without a bound")
    ax.set(xscale="log", xlabel="L, items kept of each person", ylabel="share of the true top k")
    ax.set(ylim=(-0.03, 1.03), xticks=sorted({each.bound for each in found if each.bound}))
    ax.set_xticklabels([str(bound) for bound in ax.get_xticks().astype(int)])
    ax.minorticks_off()
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, frameon=False)


def _draw_differences(ax: "Axes", found: Sequence[Accuracy]) -> None:
    """A cell for each k and L, blue where the bound names more; a step between L < k and L ≥ k."""
    ks = sorted({each.k for each in found})
    bounds = sorted({each.bound for each in found if each.who == TOPGAP})
    shares = {(each.k, each.bound): each.share for each in found}
    points = np.array([[100 * (shares[k, b] - shares[k, 0]) for k in ks] for b in bounds])
    ax.pcolormesh(points, cmap="RdBu", vmin=-100, vmax=100)
    for row, column in np.ndindex(points.shape):
        value = round(float(points[row, column]))
        color = "white" if abs(value) > 60 else "black"
        text = f"{value:+}".replace("-", "−") if value else "0"
        ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=color, fontsize=8)
    # topgap takes Laplace noise below this line, where its scale is the smaller one.
    edges = [sum(bound < k for bound in bounds) for k in ks]
    ax.step(range(len(ks) + 1), [*edges, edges[-1]], where="post", color="black")
    ax.set_xticks(np.arange(len(ks)) + 0.5, [str(k) for k in ks])
    ax.set_yticks(np.arange(len(bounds)) + 0.5, [str(bound) for bound in bounds])
    ax.set(xlabel="k", ylabel="L", title="points more with the bound; below the line L < k")
