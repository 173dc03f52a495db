"""What the gaps are worth: the squared error of counts with them, divided by that without them.

`make bench` runs it. Each k has its own releases, of ε = 1 with half of it for the selection, on
real counts where they are. With `--plot FILE` it draws the plot of docs/estimates.md too.
"""

import sys
from pathlib import Path

import numpy as np

from benchmarks.data import Counts, load
from topgap import TopK, select
from topgap._core import Laplace
from topgap.estimates.combination import Combination
from topgap.estimates.noise import Noise
from topgap.selection.measurement import Shares

KS = range(1, 101)
SHOWN = (1, 2, 3, 5, 10, 20, 50, 100)
RELEASES = 5_000
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def formula(k: int, monotonic: bool) -> float:
    """(1 + λk)/(k + λk), λ = β²/(2b²) for exponential noise of mean β and Laplace noise of b."""
    ratio = 1 / 2 if monotonic else 2
    return (1 + ratio * k) / (k + ratio * k)


def squared_errors(counts: Counts, k: int, monotonic: bool) -> tuple[float, float, float]:
    """Of the estimates and of the measurements alone, per winner; and the error of their ratio."""
    shares = Shares.of(TopK(k, 1, monotonic=monotonic), "1/2")
    drawn = [select(shares.selection, counts) for _ in range(RELEASES)]
    winners = np.array([release.indices for release in drawn])
    gaps = np.array([release.gap_units for release in drawn]) / 10
    rate = shares.rate
    noise = np.array(Laplace(rate.numerator, rate.denominator).draw(RELEASES * k)).reshape(-1, k)
    off = noise / 10
    variance = float(
        Noise.discrete_laplace(shares.selection, shares.measurement_epsilon).variances[0]
    )
    between = float(shares.selection.scale) ** 2
    combination = Combination([variance] * k, between, 0.01 / 12)
    weights: Matrix = np.array([-combination.weights(i)[2] for i in range(k)]).reshape(k, k - 1)
    measured = counts[winners] + off
    residuals = gaps[:, :-1] + 0.05 + np.diff(measured, axis=1)
    combined = off + residuals @ weights.T
    with_gaps, without = (combined**2).mean(axis=1), (off**2).mean(axis=1)
    ratio = with_gaps.mean() / without.mean()
    spread = np.std(with_gaps - ratio * without) / without.mean() / RELEASES**0.5
    return float(with_gaps.mean()), float(without.mean()), float(spread)


def main() -> None:
    curves = {}
    for monotonic in (True, False):
        kind = "monotonic" if monotonic else "not monotonic"
        for name in ("T40I10D100K", "Kosarak"):
            label, counts = load(name)
            print(
                f"\n{label}, {kind}: squared error with gaps / without, {RELEASES:,} releases each"
            )
            print(f"{'k':>5}{'measured':>10}{'±':>8}{'formula':>9}")
            ratios = []
            for k in KS:
                with_gaps, without, spread = squared_errors(counts, k, monotonic)
                ratios.append(with_gaps / without)
                if k in SHOWN:
                    expected = formula(k, monotonic)
                    print(f"{k:>5}{ratios[-1]:>10.3f}{spread:>8.3f}{expected:>9.3f}")
            curves[label, monotonic] = ratios
    if "--plot" in sys.argv:
        draw(curves, Path(sys.argv[sys.argv.index("--plot") + 1]))


def draw(curves: dict[tuple[str, bool], list[float]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "topgap"
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    markers = iter("o^sD")
    for (label, monotonic), ratios in curves.items():
        kind = "" if monotonic else ", not monotonic"
        ax.plot(KS, ratios, next(markers), markersize=3, label=f"measured: {label}{kind}")
    for monotonic, line in ((True, "-"), (False, "--")):
        kind = "" if monotonic else ", not monotonic"
        expected = [formula(k, monotonic) for k in KS]
        ax.plot(KS, expected, line, color="black", linewidth=1, label=f"(1 + λk)/(k + λk){kind}")
    ax.set(xlabel="k", ylabel="squared error with gaps / without", ylim=(0, 1.05), xlim=(0, 101))
    ax.legend(frameon=False, ncols=2)
    figure.savefig(path, metadata={"Date": None})
    print(f"\nWritten: {path}")


if __name__ == "__main__":
    main()
