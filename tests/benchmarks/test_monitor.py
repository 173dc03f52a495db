"""The comparison of a monitor with a list that is released at once."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks.pages import DOCS
from benchmarks.utility import monitor
from benchmarks.utility.monitor import MONITOR, TOP_K, Named

# Noise of mean 28, and of 280 at ε = 0.1, bridges 9,000 with a probability below e^−32.
COUNTS = np.array([30_000] * 4 + [1_000] * 40)
THRESHOLD = 10_000


@pytest.mark.parametrize("epsilon", ["1", "0.1"])
def test_both_name_what_is_far_above(epsilon: str) -> None:
    generator = np.random.default_rng(1)
    asked = monitor.ask_about_each(COUNTS, THRESHOLD, epsilon, generator)
    released = monitor.release(COUNTS, THRESHOLD, epsilon)
    for named in (asked, released):
        assert sorted(named.items) == [0, 1, 2, 3]
        assert all(abs(told - 30_000) < 9_000 for told in named.counts)
        assert len(named.counts) == 4
    assert asked.spent == pytest.approx(float(epsilon))
    assert released.spent == pytest.approx(float(epsilon) / 5)


def test_it_stops_after_25_and_a_full_list_tells_no_counts() -> None:
    many = np.array([30_000] * 40)
    asked = monitor.ask_about_each(many, THRESHOLD, "1", np.random.default_rng(1))
    released = monitor.release(many, THRESHOLD, "1")
    assert len({*asked.items}) == len({*released.items}) == 25
    assert released.counts == []


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-10)
def test_a_count_that_is_told_is_unbiased_far_above() -> None:
    # The mean of 1,600 counts, each with noise of its own of scale 27.9, and with 400 of scale 9.5.
    # By Chernoff's bound n independent exponential numbers have a mean that is 1 + d times theirs
    # with a probability of at most e^(−n(d − ln(1 + d))): below 10^−14 for 7.5 of 27.9 and for 4.5
    # of 9.5, and less so below them. Without the correction it would be 18.4 off.
    generator = np.random.default_rng(1)
    told = [
        count
        for _ in range(400)
        for count in monitor.ask_about_each(COUNTS, THRESHOLD, "1", generator).counts
    ]
    assert abs(float(np.mean(told)) - 30_000) < 12


def test_runs_are_judged_by_the_true_counts() -> None:
    runs = [Named([0, 2], [9.5, 8.0], 1.0), Named([0], [7.0], 0.5)]
    row = monitor.summarize(np.array([9, 7, 5]), 7, ("1", 2, TOP_K), runs)
    assert row[:4] == ("1", 2, TOP_K, 2)
    assert (row.right[0], row.false[0], row.spent, row.error) == (1.0, 0.5, 0.75, 2.0)
    none = monitor.summarize(np.array([9, 7, 5]), 7, ("1", 2, TOP_K), [Named([0], [], 1.0)] * 2)
    assert none.error is None


@pytest.mark.slow
def test_the_command_measures_and_fills_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(monitor, "load", lambda _: ("made up", COUNTS))
    monkeypatch.setattr(monitor, "RANKS", (4,))
    monkeypatch.setattr("sys.argv", ["monitor", "--quick"])
    assert monitor.main() == 0
    printed = capsys.readouterr().out
    assert f"| 0.1 | 4: 30,000 | {MONITOR} | 2 |" in printed
    shutil.copy(DOCS / "monitor.md", tmp_path)
    monkeypatch.setattr(monitor, "FULL", (3, 4))
    monkeypatch.setattr(monitor, "DOCS", tmp_path)
    monkeypatch.setattr("sys.argv", ["monitor"])
    assert monitor.main() == 0
    page = (tmp_path / "monitor.md").read_text(encoding="utf-8")
    assert f"| 1 | 4: 30,000 | {TOP_K} | 4 |" in page
    assert "| data | made up, 44 counts |" in page
