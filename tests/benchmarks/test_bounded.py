"""The comparison of bounds on a person's items, and the joint exponential mechanism in it."""

import shutil
from collections import Counter
from fractions import Fraction
from itertools import permutations
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.numpy_baselines import select_difference, select_laplace
from benchmarks.pages import DOCS
from benchmarks.utility import bounded, bounded_plot, bounded_tables, joint
from benchmarks.utility.bounded_tables import THRESHOLD, TOPGAP, Accuracy
from benchmarks.utility.contributions import Baskets
from benchmarks.utility.domains import Truth
from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from topgap.law import Bounds

# --- The joint exponential mechanism

TINY = [((4, 2, 2, 0), 2), ((3, 3, 3), 1), ((0, 5, 1, 1, 2), 3), ((1, 0), 2), ((0, 0, 0), 2)]


def loss(counts: tuple[int, ...], sequence: tuple[int, ...]) -> int:
    best = sorted(counts, reverse=True)
    return max(best[rank] - counts[item] for rank, item in enumerate(sequence))


def law_by_definition(counts: tuple[int, ...], k: int, epsilon: float) -> dict[Any, float]:
    weights = {
        sequence: exp(-epsilon * loss(counts, sequence) / 2)
        for sequence in permutations(range(len(counts)), k)
    }
    return {sequence: weight / sum(weights.values()) for sequence, weight in weights.items()}


@pytest.mark.parametrize(("counts", "k"), TINY)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_joint_mechanism_has_its_law(counts: tuple[int, ...], k: int, epsilon: float) -> None:
    mechanism = joint.JointMechanism(np.array(counts), k)
    probabilities = mechanism.bounds(epsilon).tolist()
    law = law_by_definition(counts, k, epsilon)
    sequences = [sum(loss(counts, s) <= t for s in law) for t in range(len(probabilities))]
    assert np.exp(mechanism.log_sequences).tolist() == pytest.approx(sequences)
    for sequence, probability in law.items():
        uniform = [p / n for p, n in zip(probabilities, sequences, strict=True)]
        assert sum(uniform[loss(counts, sequence) :]) == pytest.approx(probability)


def misfits_of_draws(module: Any) -> list[str]:
    """Of 20,000 sequences with a fixed seed: what does not fit the law."""
    counts, k, epsilon = (0, 5, 1, 1, 2), 3, 1.0
    law = law_by_definition(counts, k, epsilon)
    generator = np.random.default_rng(11)
    drawn = module.JointMechanism(np.array(counts), k).draw(epsilon, 20_000, generator)

    def bounds(sequence: Any) -> Bounds:
        return Bounds(*(Fraction(law[sequence] * (1 + e)) for e in (-1e-9, 1e-9)))

    return misfits(Counter(map(tuple, drawn)), [*law], bounds, 1e-6)


# The seed is fixed, so this cannot fail by chance: it did not when it was written.
def test_the_joint_mechanism_draws_by_its_law() -> None:
    assert misfits_of_draws(joint) == []


@pytest.mark.parametrize("mutant", [
    Mutant("half the noise", "half = epsilon / 2", "half = epsilon"),
    Mutant("no tail", "logs[-1] -= log(-expm1(-half))", "pass"),
    Mutant("counts all sequences", "- rank)", ")"),
    Mutant("not uniform", "int(uniform[rank] * len(left))", "int(uniform[rank] ** 2 * len(left))"),
    Mutant("stops a place early", "left.extend(range(known, reached))",
           "left.extend(range(known, max(reached - 1, rank + 1)))"),
], ids=lambda each: each.name)  # fmt: skip
def test_another_joint_law_is_found(mutant: Mutant) -> None:
    assert misfits_of_draws(mutated(joint, mutant)) != []


# --- NumPy


@pytest.mark.statistical(false_alarm=1e-14)
@pytest.mark.parametrize("select", [select_laplace, select_difference])
def test_numpy_names_the_largest_with_laplace_noise(select: Any) -> None:
    # Noise of 1 bridges 10^6 with a probability below e^-400,000.
    names, noisy = select(np.array([0, 3 * 10**6, 10**6, 2 * 10**6]), 2, 1.0)
    assert names.tolist() == [1, 3]
    assert noisy.tolist() == pytest.approx([3e6, 2e6], abs=100)
    # The variance is 2·scale². Of 10^6 its relative standard error is 0.0023; 0.03 is 13 of them.
    _, noise = select(np.zeros(10**6, dtype=np.int64), 10**6, 3.0)
    assert noise.var() == pytest.approx(18, rel=0.03)


# --- The comparison


def test_lists_are_judged_by_the_counts_before_anything_was_cut() -> None:
    truth = Truth.of(np.array([9, 7, 5, 1]), 3)
    off = bounded.judge(truth, [0, 2, 3], [8, 8, 6])
    assert tuple(off) == pytest.approx((2 / 3, 3))
    assert bounded.judge(truth, [3], [1]).error == 0
    without = bounded.judge(truth, [0, 1, 2])
    assert without.share == 1
    assert np.isnan(without.error)


def test_what_cutting_leaves_is_told() -> None:
    # Of ten persons five have both items: these keep one, and each count falls by a part of 5.
    data = Baskets.of("any", [[0, 1]] * 5 + [[0]] * 5, (1, 2))
    cuts = {1: [np.array([8, 2]), np.array([7, 3])], 2: [np.array([10, 5])]}
    one, two = bounded.describe_cuts(data, cuts)
    assert one[:2] == ("any", 1)
    assert one[2:] == pytest.approx((0.5, 2 / 3, 0.375, 0.25, 0.5))
    assert two[2:] == (0, 1, 0, 0, 0)
    kept = [*bounded.cut(data, 1, 3)]
    assert [each.sum() for each in kept] == [10, 10, 10]


def accuracy(who: str, bound: int, share: float, k: int = 10, kind: str = "measured") -> Accuracy:
    return Accuracy("any", "1", k, who, kind, bound, 9, share, 0.001, 100 - bound, 0.5)


def test_the_best_bound_names_the_most_and_is_the_smallest_of_equals() -> None:
    tried = [accuracy(TOPGAP, *each) for each in ((1, 0.8), (2, 0.9), (5, 0.9), (20, 0.95))]
    assert bounded.best_bound(tried, TOPGAP, "1", 10) == 20
    assert bounded.best_bound(tried[:3], TOPGAP, "1", 10) == 2
    # topgap takes Laplace noise for bounds below k alone; a simulated list is not shown.
    table = bounded_tables.accuracy_table(
        [*tried, accuracy(THRESHOLD, 3, 0.5), accuracy(THRESHOLD, 5, 0.7, kind="simulated")],
        counts=False,
    )
    row = "| any | 10 | 1 | 80.0% ± 0.1 | 90.0% ± 0.1, L = 2 | – | – | – | 50.0% ± 0.1, L = 3 | – |"
    assert row in table
    assert "| 99.0 ± 0.5 | 98.0 ± 0.5, L = 2 |" in bounded_tables.accuracy_table(tried, counts=True)


@pytest.mark.slow
def test_the_command_measures_and_fills_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Three items stand out, and so they do where each person keeps one of them.
    rows = [[0, 1, 2]] * 9_000 + [[1, 2]] * 3_000 + [[2]] * 3_000 + [[3], [4], [5]]
    settings = bounded.Settings(
        sources=(lambda: Baskets.of("made up", rows, (1, 2)),),
        counts_alone=("T40I10D100K",),
        epsilons=("1",),
        ks=(3,),
        plotted=(2, 3),
        cuts=2,
        lists=2,
        opendp=2,
    )
    monkeypatch.setattr(bounded, "QUICK", settings)
    monkeypatch.setattr("sys.argv", ["bounded", "--quick"])
    assert bounded.main() == 0
    cells = ["100.0% ± 0.0", "100.0% ± 0.0, L = 1", *["100.0% ± 0.0"] * 2]
    cells += [*["100.0% ± 0.0, L = 1"] * 2, "100.0% ± 0.0"]
    assert f"| made up | 3 | 1 | {' | '.join(cells)} |" in capsys.readouterr().out
    (tmp_path / "utility").mkdir()
    shutil.copy(DOCS / "utility.md", tmp_path)
    monkeypatch.setattr(bounded, "FULL", settings)
    monkeypatch.setattr(bounded, "DOCS", tmp_path)
    monkeypatch.setattr("sys.argv", ["bounded"])
    assert bounded.main() == 0
    assert "| made up | 2 | 60.0% |" in (tmp_path / "utility.md").read_text(encoding="utf-8")
    names = {path.name for path in (tmp_path / "utility").iterdir()}
    assert names == {"bounded.csv", "bounded.svg", "bounded_map.csv", "truncation.csv"}


def test_the_picture_is_the_same_each_time(tmp_path: Path) -> None:
    found = [
        accuracy(*each, k)
        for k in (10, 25)
        for each in ((bounded_tables.TOP_K, 0, 0.5), (TOPGAP, 1, 0.7), (TOPGAP, 20, 0.4))
    ]
    for name in ("one.svg", "two.svg"):
        bounded_plot.draw(found, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
