"""The comparison of ways to release the items above a threshold."""

import csv
import shutil
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.pages import DOCS
from benchmarks.utility import threshold, threshold_tables
from benchmarks.utility.domains import Truth
from benchmarks.utility.threshold import Outcome, Question, Source


def judged(counts: list[int], k: int, rank: int, names: list[int]) -> threshold.Judgement:
    question = Question(np.array(counts), k, rank, "1")
    outcome = Outcome(names, [], Fraction(1))
    return threshold.judge(question, Truth.of(question.counts, k), outcome)


@pytest.mark.parametrize(("counts", "k", "rank", "names", "found", "false"), [
    ([9, 7, 5, 3, 1], 4, 2, [0, 1], 1, 0), ([9, 7, 5, 3, 1], 4, 2, [2, 0, 3], 0.5, 2),
    ([9, 7, 5, 3, 1], 4, 2, [], 0, 0),
    # More are above t than are named: the k largest of them are right, of equal ones any.
    ([9, 7, 5, 3, 1], 2, 3, [0, 1], 1, 0), ([9, 7, 5, 3, 1], 2, 3, [0, 2], 0.5, 1),
    ([9, 5, 5, 3, 1], 2, 3, [0, 2], 1, 0), ([9, 5, 5, 3, 1], 2, 3, [1, 2], 0.5, 1),
    # Ties at t: none of them is above it.
    ([9, 5, 5, 3, 1], 4, 2, [0, 2], 1, 1),
])  # fmt: skip
def test_what_should_be_named(
    counts: list[int], k: int, rank: int, names: list[int], found: float, false: float
) -> None:
    judgement = judged(counts, k, rank, names)
    assert (judgement.found, judgement.false) == (found, false)
    assert (judgement.square, judgement.last_error, judgement.spent) == (None, None, 1)


def direct_deviation(named: int, share: float) -> float:
    """The same by least squares, from the covariance of all that is observed."""
    a, b = 1 / share**2, 2 / (1 - share) ** 2
    ones, unit = np.ones((named, named)), np.eye(named)
    zero = np.zeros((named, named))
    covariance = np.block([[a * (unit + ones), zero], [zero, b * unit]])
    design = np.vstack([unit, unit])
    inverse = np.linalg.inv(design.T @ np.linalg.inv(covariance) @ design)
    return sqrt(float(inverse[0, 0]))


@pytest.mark.parametrize("named", [1, 2, 7])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_combination_is_that_of_least_squares(named: int, share: float) -> None:
    assert threshold.combined_deviation(named, share) == pytest.approx(
        direct_deviation(named, share)
    )


CLEAR = np.array([10**6, 2 * 10**6, 3 * 10**6, *[0] * 20])


def misfit_of_free_counts(module: Any) -> float:
    """By how many of its standard errors the mean square is off, and by how many the mean."""
    question = module.Question(CLEAR, 4, 3, "1")
    truth = Truth.of(CLEAR, 4)
    outcomes = [question.ask_threshold() for _ in range(4_000)]
    off = np.array([np.array(each.counts) - CLEAR[each.names] for each in outcomes])
    found = module.summarize(
        ("any", "1", 4, 3, question.threshold, "threshold", 0),
        [module.judge(question, truth, each) for each in outcomes],
    )
    assert (found.found, found.false, found.counted, found.spent) == (1, 0, 4_000, 1)
    by_mean = abs(float(off.mean())) / float(off.mean(axis=1).std() / sqrt(len(off)))
    return max(float(abs(found.error - 4 * sqrt(2)) / found.error_error), by_mean)


# The error is √2·k/ε where items are clear. Means of 4,000 are nearly normal: one of two is off by
# 7 of its standard errors with a probability of 5·10^−12, and 12 leave room for the longer tails.
@pytest.mark.statistical(false_alarm=1e-10)
def test_free_counts_are_off_by_what_the_formula_says() -> None:
    assert misfit_of_free_counts(threshold) < 12


@pytest.mark.slow
def test_the_command_measures_and_fills_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = threshold.Settings(
        sources=(lambda: Source("made up", CLEAR, 2), lambda: Source("alone", CLEAR, None)),
        epsilons=("1",),
        ks=(4,),
        ranks=(2, 3),
        lists=5,
    )
    monkeypatch.setattr(threshold, "QUICK", settings)
    monkeypatch.setattr("sys.argv", ["threshold", "--quick"])
    assert threshold.main() == 0
    shown = capsys.readouterr().out
    right = "100.0%, 0.0"
    assert f"| made up | 4 | 1 | 2 | {right} | 75.0% | {right} | {right} |" in shown
    assert f"| alone | 4 | 1 | 3 | {right} | 100.0% | {right} | – |" in shown
    (tmp_path / "utility").mkdir()
    shutil.copy(DOCS / "threshold.md", tmp_path)
    monkeypatch.setattr(threshold, "FULL", settings)
    monkeypatch.setattr(threshold, "DOCS", tmp_path)
    monkeypatch.setattr("sys.argv", ["threshold"])
    assert threshold.main() == 0
    assert "| made up | 4 | 1 | 2 |" in (tmp_path / "threshold.md").read_text(encoding="utf-8")
    lines = (tmp_path / "utility" / "threshold.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 2 * (4 + 3)
    assert lines[0].split(",") == [*threshold_tables.Accuracy._fields]
    judged_rows = [*csv.DictReader(lines)]
    assert {(float(row["found"]), float(row["false"])) for row in judged_rows} == {(1, 0)}


def test_a_way_without_counts_has_none_in_the_table() -> None:
    full = threshold.summarize(
        ("any", "1", 2, 3, 4, "threshold", 0),
        [judged([9, 7, 5, 3], 2, 3, [0, 1])] * 3,
    )
    assert threshold_tables.error_cell(full) == "–"
    assert (full.counted, full.found, full.false) == (0, 1, 0)
    table = threshold_tables.count_table([full])
    assert "| any | 2 | 1 | 3 | – | 0.0% | – | – | – |" in table
