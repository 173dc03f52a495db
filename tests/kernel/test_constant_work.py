"""`constant_work=True`: the same law, by work that knows nothing of the answers."""

import _thread
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from operator import call
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import topgap
from tests.checking.frequencies import misfits_of
from tests.kernel.probe import Probe
from topgap import AnswersTypeError, ParameterError, ParameterTypeError, TopK, select
from topgap.law import Bounds, gap_top_k

# Sorted, reversed, equal, far apart, at both ends of int64, and with one that leads.
SHAPES = {
    "rising": [*range(12)],
    "falling": [*range(11, -1, -1)],
    "equal": [5] * 12,
    "far": [10**15 * (i % 3) for i in range(12)],
    "extremes": [2**62, -(2**62)] * 6,
    "one leads": [0] * 11 + [10**9],
}


def draws(probe: Probe, units: list[int], k: int, constant_work: bool) -> str:
    asked = f"draws units={','.join(map(str, units))} per_unit=10 k={k} rate=1/100 grid=30"
    return probe.ask(
        [f"{asked} refinement=24 parts=1{' constant_work=1' if constant_work else ''}"]
    )[0]


@pytest.mark.parametrize("k", [1, 2, 3, 7, 8, 11])
def test_the_same_draws_are_asked_for_whatever_the_answers_are(probe: Probe, k: int) -> None:
    asked = {draws(probe, units, k, constant_work=True) for units in SHAPES.values()}
    order = [f"below{bound}" for bound in range(12, 1, -1)]
    assert asked == {" ".join([*order, *["geometric0"] * 12, "checkpoint"])}


def test_the_usual_way_asks_for_draws_by_the_answers(probe: Probe) -> None:
    """What the test above sees, if there is anything to see."""
    assert len({draws(probe, units, 2, constant_work=False) for units in SHAPES.values()}) > 1


# The commonest outcomes by exact binomial tails, which have no more than the rate declared.
@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-9)
def test_the_law_through_the_whole_call(false_alarm: float) -> None:
    parameters = TopK(k=1, epsilon=2, resolution=1, monotonic=True)
    answers = [1, 0, 2]
    given = np.array(answers)

    def run() -> tuple[int, Fraction]:
        made = select(parameters, given, constant_work=True)
        assert made.gaps is not None
        return int(made.indices[0]), made.gaps[0]

    def law(outcome: tuple[int, Fraction]) -> Bounds:
        return gap_top_k(answers, parameters, [outcome])

    assert misfits_of(run, 20_000, law, false_alarm) == []


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 7, 8, 9, 31, 32, 33, 1000, 4095, 4097, 20_000])
def test_the_order_is_right_where_answers_lie_far_apart(n: int) -> None:
    # Noise of mean k/ε reaches a distance of 10^12 with chance e^−(10^12·ε/k), below e^−(10^7).
    answers = np.arange(n, dtype=np.int64) * 10**12
    np.random.default_rng(n).shuffle(answers)
    downwards = np.argsort(answers)[::-1]
    for k in sorted({1, min(25, n - 1), n // 2, n - 1} - {0}):
        made = topgap.top_k(answers, k, 1, monotonic=True, constant_work=True)
        assert made.indices.tolist() == downwards[:k].tolist()
        assert made.gaps is not None
        assert all(9 * 10**11 < gap < 11 * 10**11 for gap in made.gaps)


def test_the_ends_of_int64() -> None:
    ends = np.array([-(2**63), 2**63 - 1, 0])
    made = topgap.top_k(ends, 2, 1, constant_work=True)
    assert made.indices.tolist() == [1, 2]
    assert made.gaps is not None
    assert all(abs(gap - 2**63) < 10**6 for gap in made.gaps)


def test_every_call_that_takes_it(tmp_path: Path) -> None:
    counts = pandas.Series({"ash": 10**9, "elm": 0, "oak": 10**6})
    ledger = topgap.Ledger(tmp_path / "ledger.db")
    ledger.add_dataset("trees", 10)
    assert topgap.noisy_max(counts, 1, constant_work=True).items == ("ash",)
    paid = topgap.top_k(counts, 2, 1, constant_work=True, ledger=ledger, dataset="trees")
    assert paid.items == ("ash", "oak")
    made = topgap.top_k_with_estimates(
        counts, 2, 1, constant_work=True, ledger=ledger, dataset="trees"
    )
    assert made.release.items == ("ash", "oak")
    assert ledger.budget("trees").spent == 2


def test_what_cannot_be_done_by_constant_work_is_refused() -> None:
    answers = np.array([1, 2])
    with pytest.raises(ParameterTypeError, match="constant_work must be True or False"):
        topgap.top_k(answers, 1, 1, constant_work=1)  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="runs in one thread; leave threads out"):
        topgap.top_k(answers, 1, 1, threads=2, constant_work=True)
    with pytest.raises(ParameterError, match="noise that the kernel's integers can hold"):
        topgap.top_k(answers, 1, "1e-40", constant_work=True)
    assert len(topgap.top_k(answers, 1, 1, threads=1, constant_work=True)) == 1


@pytest.mark.parametrize(
    "answers",
    [[1, 2], {"ash": 1, "elm": 2}, np.array([1.0, 2.0]), np.array([1, 2], dtype=object)],
    ids=["list", "dict", "floats", "objects"],
)
def test_whether_answers_are_taken_depends_on_their_type_alone(answers: object) -> None:
    with pytest.raises(AnswersTypeError, match="needs an array of integers, such as"):
        topgap.top_k(answers, 1, 1, constant_work=True)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i8"])
def test_integers_of_every_size_are_taken_up_to_their_ends(dtype: str) -> None:
    ends = np.iinfo(dtype)
    answers = np.array([ends.min, ends.max], dtype=dtype)
    for resolution in (1, "1/10", "1/1000000007"):
        release = topgap.top_k(answers, 1, 100, resolution=resolution, constant_work=True)
        assert release.indices.tolist() == [1]


def test_the_usual_way_is_not_taken() -> None:
    parameters = TopK(k=1, epsilon=1)
    kernel, calls = parameters.kernel, list[str]()

    class Watched:
        def __getattr__(self, name: str) -> Any:
            calls.append(name)
            return getattr(kernel, name)

    object.__setattr__(parameters, "_kernel", Watched())
    select(parameters, np.array([1, 2]), constant_work=True)
    select(parameters, [1, 2])
    assert calls == ["release_constant_work", "release"]


@pytest.mark.parametrize(
    ("n", "k"), [(2**20, 10), (40_000, 30_000)], ids=["many answers", "many winners"]
)
def test_ctrl_c_ends_it(n: int, k: int) -> None:
    """The signal waits when the kernel starts, and no Python runs before it ends."""
    kernel = TopK(k, 1).kernel
    assert kernel is not None
    went_on: list[bool] = []
    steps: list[Callable[[], object]] = [
        _thread.interrupt_main,
        partial(kernel.release_constant_work, np.zeros(n, dtype=np.int64), in_steps=False),
        partial(went_on.append, True),
    ]
    with pytest.raises(KeyboardInterrupt):
        list(map(call, steps))
    assert went_on == []
