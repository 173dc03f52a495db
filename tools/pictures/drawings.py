"""Drawings of the pages: `python -m tools.pictures drawings` writes them to docs/pictures.

They are illustrations. Nothing in them is drawn at random: answers and noise are made up and stand
below, and probabilities come from the exact law (`topgap.law`) or from a formula beside the code.
"""

from collections.abc import Callable
from fractions import Fraction
from math import exp, log
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from tools.pictures.example import PAGES, THREE, ranked
from tools.pictures.release import draw_release
from topgap import TopK, law
from topgap.margins import least_certain_gap
from topgap.planning import zipf

GAP, REST, INK, FAINT = "#9c3a10", "#7f91a4", "#1d2730", "#c9d2da"
STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 10,
    "hatch.color": GAP,
    "hatch.linewidth": 0.8,
    "savefig.facecolor": "white",  # readable on a dark page too
    "svg.fonttype": "none",  # text stays text: to be searched, scaled and read aloud
    "svg.hashsalt": "topgap",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
HOLLOW: dict[str, Any] = {"facecolor": "white", "edgecolor": GAP, "hatch": "//////"}
BESIDE: dict[str, Any] = {"textcoords": "offset points", "va": "center"}
BELOW: dict[str, Any] = {"textcoords": "offset points", "va": "top", "ha": "center", "color": GAP}
SPAN = {
    "arrowstyle": "|-|,widthA=0.25,widthB=0.25",
    "color": GAP,
    "linewidth": 2,
    "shrinkA": 0,
    "shrinkB": 0,
}


FIVE = TopK(k=1, epsilon="1/5", resolution=1, monotonic=True)  # noise of mean 5, as of k = 5, ε = 1


def line() -> Figure:
    """Answers, noise, noisy answers and gaps, on a line."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    ax = figure.subplots()
    bottom = len(PAGES) + 0.35
    for row, page in enumerate(PAGES):
        noisy = float(page.noisy)
        if noisy >= ranked()[-1][1].noisy:
            ax.plot([noisy, noisy], [row, bottom], color=FAINT, linewidth=1, zorder=0)
        ax.plot([page.people, noisy], [row, row], color=REST, linewidth=2, zorder=1)
        ax.plot(page.people, row, "o", markerfacecolor="white", color=REST, markersize=8)
        ax.plot(noisy, row, "o", color=INK, markersize=8)
        ax.annotate(page.name, (page.people, row), (-9, 0), **{**BESIDE, "ha": "right"})
    for page, after, gap in ranked():
        left, right = float(after.noisy), float(page.noisy)
        certain = gap >= least_certain_gap(THREE)
        ax.annotate("", (left, bottom), (right, bottom), arrowprops=SPAN)
        text = f"gap {float(gap)}" + ("" if certain else "\nuncertain")
        ax.annotate(text, ((left + right) / 2, bottom), (0, -5), **BELOW)
    order = [page for page, *_ in ranked()]
    for rank, page in enumerate(order, start=1):
        ax.annotate(f"{rank}.", (float(page.noisy), PAGES.index(page)), (8, 0), **BESIDE)
    ax.plot([], [], "o", markerfacecolor="white", color=REST, markersize=8, label="answer: secret")
    ax.plot([], [], "-", color=REST, linewidth=2, label="noise: never negative")
    ax.plot([], [], "o", color=INK, markersize=8, label="noisy answer: secret")
    ax.plot([], [], "-", color=GAP, linewidth=2, label="gap: published")
    ax.legend(frameon=False, loc="upper left")
    ax.set(xlim=(0, 72), ylim=(bottom + 1.1, -0.6), yticks=[], xlabel="people (all made up)")
    ax.spines["left"].set_visible(False)
    return figure


def gap_laws() -> Figure:
    """The exact probability of each gap, for three true leads."""
    figure = Figure(figsize=(8, 6), layout="constrained")
    panels = figure.subplots(3, 1, sharex=True, sharey=True)
    gaps = range(51)
    for ax, lead in zip(panels, (0, 5, 25), strict=True):
        right, wrong = (
            np.array([float(_gap_law(lead, winner, gap)) for gap in gaps]) for winner in (0, 1)
        )
        if lead:
            ax.bar(gaps, right, 0.8, 0, align="edge", color=GAP, label="the larger is named first")
            ax.bar(gaps, wrong, 0.8, right, align="edge", **HOLLOW, label="the smaller is")
            share = float(law.top_k([lead, 0], FIVE, [1]).low)
            told = f"true lead {lead}: the order is wrong in {share:.2%}"
        else:
            ax.bar(gaps, right + wrong, 0.8, align="edge", color=REST)
            told = "true lead 0: the items are equal, but there is a gap"
        ax.axvline(lead, color=INK, linewidth=1.2)
        ax.axvline(float(least_certain_gap(FIVE)), color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
        ax.set_title(told)
        ax.yaxis.set_major_formatter(mpl.ticker.PercentFormatter(1, 0))
    certain = float(least_certain_gap(FIVE))
    said = f"from {certain:.2f} on the order is called certain: probability 5%"
    panels[0].annotate(said, (certain, 0.13), (6, 0), **BESIDE)
    panels[1].legend(frameon=False, loc="upper right")
    panels[1].annotate("true lead", (5, 0.165), (6, 0), **BESIDE)
    panels[2].annotate("true lead", (25, 0.165), (6, 0), **BESIDE)
    panels[1].set_ylabel("probability of the gap")
    panels[2].set(xlim=(-0.5, 51), xlabel="gap between two items; noise of mean 5, resolution 1")
    return figure


def _gap_law(lead: int, winner: int, gap: int) -> Fraction:
    return law.gap_top_k([lead, 0], FIVE, [(winner, gap)], bits=64).low


class Order(NamedTuple):
    """Probabilities of the order of two items, and of a gap that calls it certain or not."""

    right_certain: float
    right_uncertain: float
    wrong_uncertain: float
    wrong_certain: float


def order_probabilities(lead: float, certain: float = log(20)) -> Order:
    """Of two items whose true answers are so many means of the noise apart.

    The difference of the noises is L with density e^−|L| / 2; the order is called certain from a
    gap of `certain` on.

    >>> round(sum(order_probabilities(2.0)), 12)
    1.0
    >>> round(order_probabilities(0.0).wrong_certain, 12)  # half of one in twenty
    0.025
    """

    def above(height: float) -> float:
        return exp(-height) / 2 if height > 0 else 1 - exp(height) / 2

    right, right_certain = above(-lead), above(certain - lead)
    wrong, wrong_certain = above(lead), above(certain + lead)
    return Order(right_certain, right - right_certain, wrong - wrong_certain, wrong_certain)


def order() -> Figure:
    """When an order is right, and when the gap says so."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    ax = figure.subplots()
    leads = np.linspace(0, 8, 161)
    probabilities = np.array([order_probabilities(lead) for lead in leads]).T
    parts = ax.stackplot(leads, probabilities, colors=[GAP, "#e7c9bb", FAINT, INK])
    parts[1].set_hatch("//////")
    ax.axvline(log(20), color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
    ax.text(log(20) + 0.1, 0.07, f"ln 20 = {log(20):.3f}", color="white", va="center")
    ax.text(5.6, 0.45, "right, and called certain", color="white", ha="center", weight="bold")
    boxed = {"facecolor": "white", "edgecolor": "none", "pad": 3}
    ax.text(1.65, 0.45, "right, but the gap is small", ha="center", bbox=boxed)
    ax.text(0.08, 0.87, "wrong, but the\ngap is small", va="center", size=9)
    least = {"arrowstyle": "-", "color": INK}
    said = "wrong, and called certain: at most 2.5%"
    ax.annotate(said, (0.12, 0.988), (0.5, 1.07), arrowprops=least, va="center")
    ax.set(
        xlim=(0, 8), ylim=(0, 1), xlabel="true lead, in means of the noise", ylabel="probability"
    )
    ax.yaxis.set_major_formatter(mpl.ticker.PercentFormatter(1, 0))
    return figure


def list_right(counts: "np.ndarray[Any, Any]", k: int, epsilon: float) -> float:
    """The probability that all k named are the k largest of counts in descending order, monotonic.

    That is the integral, over the height y of the largest noisy loser, of the probability that each
    of the k largest is above y; taken here as a sum over small steps of y.

    >>> two = list_right(np.array([3.0, 0.0]), 1, 1.0)   # 1 − e^−3 / 2
    >>> abs(two - (1 - exp(-3) / 2)) < 1e-3
    True
    """
    scale = k / epsilon
    edges = counts[k] + scale * np.linspace(0, 30, 601)
    losers, alike = np.unique(counts[k:], return_counts=True)
    reached = -np.expm1(-np.maximum(edges - losers[:, None], 0) / scale)
    below = np.prod(reached ** alike[:, None], axis=0)
    middles = (edges[1:] + edges[:-1]) / 2
    above = np.prod(np.exp(-np.maximum(middles - counts[:k, None], 0) / scale), axis=0)
    return float(below[0] + np.diff(below) @ above)


def lists() -> Figure:
    """How likely the whole list is right, over ε, for a few k."""
    figure = Figure(figsize=(8, 3.8), layout="constrained")
    ax = figure.subplots()
    counts = zipf(items=1_000, largest=10_000).astype(float)
    epsilons = np.geomspace(0.01, 10, 46)
    for k, colour, dash in ((5, GAP, "-"), (10, INK, "--"), (25, REST, "-.")):
        probabilities = [list_right(counts, k, epsilon) for epsilon in epsilons]
        ax.plot(epsilons, probabilities, dash, color=colour, linewidth=2.2)
        middle = float(np.interp(0.5, probabilities, epsilons))
        ax.annotate(f"k = {k}", (middle, 0.5), (9, 0), **BESIDE, weight="bold")
    ax.set(xscale="log", xlim=(0.01, 10), ylim=(0, 1.02), xlabel="ε")
    ax.set_xticks([0.01, 0.1, 1, 10], ["0.01", "0.1", "1", "10"])
    ax.yaxis.set_major_formatter(mpl.ticker.PercentFormatter(1, 0))
    ax.set_title("Probability that the whole list is right")
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    "line.svg": line,
    "gap-laws.svg": gap_laws,
    "order.svg": order,
    "lists.svg": lists,
}


def save(figure: Figure, path: Path) -> None:
    """Write a picture that is the same each time."""
    figure.savefig(path, metadata={"Date": None, "Creator": None})


def draw(folder: Path) -> None:
    """Write all drawings to this folder."""
    (folder / "release.svg").write_text(draw_release(), encoding="utf-8")
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        for name, picture in PICTURES.items():
            save(picture(), folder / name)
