"""The comparison of utility in pictures: peers measured as points, simulated as lines."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.utility.libraries import LISTS, MEASURES
from benchmarks.utility.results import Figures, peer_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES: dict[str, dict[str, Any]] = {
    "topgap": {"color": "C0", "linewidth": 2, "marker": "o", "markersize": 4},
    "permute and flip": {"color": "C1", "linestyle": "--"},
    "exponential": {"color": "C2", "linestyle": ":"},
}
LABELS = {
    "topgap": "topgap, measured",
    "permute and flip": "peeled permute and flip, simulated",
    "exponential": "peeled exponential, simulated",
}
POINTS: dict[str, dict[str, Any]] = {
    "OpenDP": {"color": "C1", "marker": "s"},
    "diffprivlib, permute and flip": {"color": "C3", "marker": "^"},
    "diffprivlib, exponential": {"color": "C2", "marker": "D"},
}


def draw_lists(found: Figures, path: Path) -> None:
    """The probability of a right list over ε: a row for each k, a column for each data set."""
    plt = pyplot()
    ks, data = found.ks(), found.data()
    figure, axes = plt.subplots(
        len(ks), len(data), figsize=(11, 2.8 * len(ks)), sharey=True, squeeze=False,
        sharex="row", layout="constrained",
    )  # fmt: skip
    for row, k in zip(axes, ks, strict=True):
        for ax, name in zip(row, data, strict=True):
            _draw_probabilities(ax, found, name, k)
            ax.set(xscale="log", ylim=(-0.03, 1.03), title=f"{name}, k = {k}")
    for ax in axes[-1]:
        ax.set_xlabel("ε")
    for ax in axes[:, 0]:
        ax.set_ylabel("list right")
    handles, labels = _each_once(axes.flat)
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    save(figure, path)


def _draw_probabilities(ax: "Axes", found: Figures, data: str, k: int) -> None:
    for who, style in LINES.items():
        shown = [
            (float(case.epsilon), found.lists_of(case)[who].right)
            for case in found.cases(k)
            if case.data == data
        ]
        ax.plot(*zip(*shown, strict=True), label=LABELS[who], **style)
    for who in LISTS:
        points = [each for each in found.lists if each.who == who and each.case[:2] == (data, k)]
        if points:
            right = [each.right for each in points]
            down = [each.right - each.low for each in points]
            up = [each.high - each.right for each in points]
            epsilons = [float(each.case.epsilon) for each in points]
            _draw_points(ax, who, epsilons, right, [down, up])


def draw_errors(found: Figures, path: Path) -> None:
    """The error of a count with gaps over ε, divided by the peers' formula."""
    plt = pyplot()
    ks, data = found.ks(), found.data()
    figure, axes = plt.subplots(
        1, len(ks), figsize=(11, 4), sharey=True, squeeze=False, layout="constrained"
    )
    for ax, k in zip(axes[0], ks, strict=True):
        ax.axhline(1, color="black", linewidth=1, label="peers, formula")
        for number, name in enumerate(data):
            shown = [
                (
                    float(case.epsilon),
                    found.errors_of(case)["topgap, with gaps"].error / peer_error(case),
                )
                for case in found.cases(k)
                if case.data == name
            ]
            label = f"topgap with gaps, {name}"
            style = {"color": f"C{(0, 4, 5)[number % 3]}", "marker": "o", "markersize": 4}
            ax.plot(*zip(*shown, strict=True), label=label, **style)
        for who in MEASURES:
            points = [each for each in found.errors if each.who == who and each.case.k == k]
            formulas = [peer_error(each.case) for each in points]
            ratios = [each.error / by for each, by in zip(points, formulas, strict=True)]
            spread = [
                1.96 * each.standard_error / by for each, by in zip(points, formulas, strict=True)
            ]
            _draw_points(ax, who, [float(each.case.epsilon) for each in points], ratios, spread)
        ax.set(xscale="log", title=f"k = {k}", xlabel="ε")
    axes[0, 0].set_ylim(bottom=0)  # of all charts, once the largest error is drawn
    axes[0, 0].set_ylabel("error / error of the peers' formula")
    handles, labels = _each_once(axes.flat)
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    save(figure, path)


def _draw_points(ax: "Axes", who: str, at: list[float], values: list[float], spread: Any) -> None:
    # Side by side, so that none hides another.
    shift = 1 + 0.12 * ([*LISTS].index(who) - 1)
    ax.errorbar(
        [each * shift for each in at], values, spread, linestyle="none", markersize=4,
        elinewidth=1, label=f"{who}, measured", **POINTS[who],
    )  # fmt: skip


def _each_once(axes: Any) -> tuple[list[Any], list[str]]:
    """The entries of a legend for all charts."""
    by_label: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            by_label.setdefault(label, handle)
    return [*by_label.values()], [*by_label]


def pyplot() -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "topgap"
    import matplotlib.pyplot as plt

    return plt


def save(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    pyplot().close(figure)
