"""What users call: exact on whatever holds their answers, and nothing else than the law."""

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topgap
from tests.checking.frequencies import misfits, misfits_of
from topgap import (
    AnswersError,
    AnswersTypeError,
    KernelError,
    ParameterError,
    ParameterTypeError,
    Release,
    TopK,
    law,
    select,
)
from topgap._core import Kernel
from topgap.law import Bounds, exp_minus
from topgap.selection import drawing
from topgap.selection.candidate_pool import cut_noisy_answers

# --- The law, as released


def outcome(release: Release) -> tuple[tuple[int, Fraction], ...]:
    return tuple(zip(release.indices.tolist(), release.gaps or (), strict=True))


LAW_CASES = [
    ([2, 1], TopK(1, 2, resolution=1)),
    ([1, 1], TopK(1, "1/2", resolution=1, monotonic=True)),
    ([0, 3, 3], TopK(2, 4, resolution=1)),
    ([2, 0, 1], TopK(1, 1, resolution="1/2", monotonic=True)),
    ([0.3, 0.1, 0.25, 0.9], TopK(3, 20, resolution="1/10", sensitivity="1/10")),
    ([5, 5, 5, 5], TopK(2, 6, resolution=1)),
    ([90, 1, 0], TopK(2, 3, resolution=1)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("answers", "parameters"), LAW_CASES)
@pytest.mark.statistical(false_alarm=1e-9)
def test_releases_have_the_law(answers: list[Any], parameters: TopK, false_alarm: float) -> None:
    def probability(pairs: tuple[tuple[int, Fraction], ...]) -> Bounds:
        return law.gap_top_k(answers, parameters, pairs)

    def run() -> tuple[tuple[int, Fraction], ...]:
        return outcome(select(parameters, answers))

    assert misfits_of(run, 50_000, probability, false_alarm) == []


@pytest.mark.slow
@pytest.mark.parametrize(("answers", "parameters"), LAW_CASES)
@pytest.mark.statistical(false_alarm=1e-9)
def test_releases_without_gaps_have_the_law(
    answers: list[Any], parameters: TopK, false_alarm: float
) -> None:
    def probability(indices: tuple[int, ...]) -> Bounds:
        return law.top_k(answers, parameters, indices)

    def run() -> tuple[int, ...]:
        return tuple(select(parameters, answers, gaps=False).indices.tolist())

    assert misfits_of(run, 20_000, probability, false_alarm) == []


@pytest.mark.deep
@pytest.mark.statistical(false_alarm=1e-9)
def test_a_wrong_law_would_be_seen(false_alarm: float) -> None:
    answers, parameters = [2, 1], TopK(1, 2, resolution=1)
    noisier = TopK(1, "9/5", resolution=1)

    def probability(pairs: tuple[tuple[int, Fraction], ...]) -> Bounds:
        return law.gap_top_k(answers, noisier, pairs)

    def run() -> tuple[tuple[int, Fraction], ...]:
        return outcome(select(parameters, answers))

    assert misfits_of(run, 100_000, probability, false_alarm) != []


# The kernel looks at blocks of two from 220 items on, at blocks of four from 440, and releases the
# lock from 10,001.
SIZES = [2, 3, 219, 220, 221, 439, 440, 441, 2050, 4097,
         *(pytest.param(n, marks=pytest.mark.deep) for n in (10_001, 70_001))]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.statistical(false_alarm=1e-9)
def test_of_equal_answers_any_may_win_and_gaps_do_not_depend_on_their_number(
    n: int, false_alarm: float
) -> None:
    """By Rényi, the i-th gap of n exponential variables is exponential with i times the rate."""
    k = min(3, n - 1)
    parameters = TopK(k, 4 * k, resolution=1)
    answers = np.full(n, -7)
    runs = 20_000
    winners: Counter[str] = Counter()
    gaps: list[Counter[int]] = [Counter() for _ in range(k)]
    edge = max(1, n - (n % 2 or 2))  # the last block, where it is not full
    for _ in range(runs):
        release = select(parameters, answers)
        first = int(release.indices[0])
        winners["first" if first == 0 else "last" if first >= edge else "between"] += 1
        assert release.gap_units is not None
        for seen, gap in zip(gaps, release.gap_units.tolist(), strict=True):
            seen[gap] += 1

    share = {"first": Fraction(1, n), "last": Fraction(n - edge, n)}
    share["between"] = 1 - share["first"] - share["last"]
    cells = [cell for cell in share if share[cell] > 0]
    alarm = false_alarm / (k + 1)
    assert misfits(winners, cells, lambda c: Bounds(share[c], share[c]), alarm) == []
    for i, seen in enumerate(gaps, start=1):

        def probability(gap: int, i: int = i) -> Bounds:
            here, next_ = (exp_minus(i * parameters.rate * g, 96) for g in (gap, gap + 1))
            return Bounds(here.low - next_.high, here.high - next_.low)

        assert misfits(seen, [0, 1, 2, 3], probability, alarm) == []


@pytest.mark.parametrize("n", SIZES)
def test_an_enormous_answer_wins_wherever_it_stands(n: int) -> None:
    for place in {0, 1, n // 2, n - 2, n - 1}:
        answers = np.arange(n) % 7
        answers[place] = 10**12
        release = topgap.noisy_max(answers, epsilon=1)
        assert release.indices.tolist() == [place]
        assert release.gap_units is not None
        assert abs(release.gap_units[0] - 10**13) < 10**6


@pytest.mark.parametrize("n", [2, 3, 50, 3000, 40_000])
@pytest.mark.parametrize("arranged", ["rising", "falling", "mixed"])
def test_all_but_one_can_win(n: int, arranged: str) -> None:
    answers = np.arange(n) * 10**9
    if arranged == "falling":
        answers = answers[::-1]
    elif arranged == "mixed":
        answers = np.random.default_rng(1).permutation(answers)
    release = topgap.top_k(answers, n - 1, epsilon=10**6)
    assert release.indices.tolist() == np.argsort(answers)[::-1][: n - 1].tolist()


# --- Extremes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "resolution", "sensitivity"),
    [*product(["1e-9", "1e-3", 1, 10**6], ["1e-9", "1/10", 1], ["1e-9", 1, 10**6])],
)
@pytest.mark.statistical(false_alarm=1e-11)
def test_noise_has_its_law_at_every_scale(
    epsilon: Any, resolution: Any, sensitivity: Any, false_alarm: float
) -> None:
    """Two equal answers: the gap is the noise of one, and exceeds its median every other time."""
    if sensitivity == "1e-9":
        resolution = "1e-9"
    parameters = TopK(1, epsilon, resolution=resolution, sensitivity=sensitivity)
    assert parameters.kernel is not None
    quarters = [_reached(parameters.rate, Fraction(i, 4)) for i in (3, 2, 1)]
    seen: Counter[int] = Counter()
    for _ in range(2_000):
        (gap,) = select(parameters, [7, 7]).gap_units.tolist()  # type: ignore[union-attr]
        seen[sum(gap >= edge for edge in quarters)] += 1

    def probability(quarter: int) -> Bounds:
        edges = [0, *quarters, None]
        here, next_ = edges[quarter], edges[quarter + 1]
        above = exp_minus(parameters.rate * (here or 0), 96)
        beyond = (
            Bounds(Fraction(0), Fraction(0))
            if next_ is None
            else exp_minus(parameters.rate * next_, 96)
        )
        return Bounds(max(Fraction(0), above.low - beyond.high), above.high - beyond.low)

    assert misfits(seen, [0, 1, 2, 3], probability, false_alarm) == []


def _reached(rate: Fraction, chance: Fraction) -> int:
    """A gap that is reached with about this chance; at least 1."""
    low, high = 0, 1
    while exp_minus(rate * high, 96).low > chance:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if exp_minus(rate * middle, 96).low > chance else (low, middle)
    return high


@pytest.mark.parametrize(
    ("answers", "winner", "lead"),
    [
        ([-(2**63), 2**63 - 1], 1, 2**64 - 1),
        (np.array([-(2**63), 2**63 - 1]), 1, 2**64 - 1),
        (np.array([2**64 - 1, 0], dtype=np.uint64), 0, 2**64 - 1),
        ([10**30, 0], 0, 10**30),
        ([10**30, 10**30 + 10**9], 1, 10**9),
        ([1e300, -1e300], 0, 2 * int(1e300)),
        (np.array([1e300, -1e300]), 0, 2 * int(1e300)),
        (np.array([2.0**62, 0], dtype=np.longdouble), 0, 2**62),
        ([Fraction(10**40, 3), Decimal("1e20")], 0, 10**40 // 3 - 10**20),
    ],
)
@pytest.mark.parametrize("resolution", ["1", "1/10", "1e-9"])
def test_answers_of_any_size_are_released(
    answers: Any, winner: int, lead: int, resolution: str
) -> None:
    release = topgap.noisy_max(answers, epsilon=10, resolution=resolution)
    assert release.indices.tolist() == [winner]
    assert release.gaps is not None
    assert abs(release.gaps[0] - lead) < 1000
    assert release.gap_units is not None
    assert release.gap_units.dtype == (np.int64 if release.gap_units[0] < 2**63 else object)
    assert Release.from_json(release.to_json()) == release


def test_parameters_beyond_the_kernel_are_served_by_a_pool() -> None:
    for parameters in [TopK(1, "1e-40"), TopK(1, 1, resolution="1e-40")]:
        assert parameters.kernel is None
        release = select(parameters, [10**60, 0, 1])
        assert release.indices.tolist() == [0]


# --- What is refused


def test_parameters_are_refused_in_their_own_words() -> None:
    wrong: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: topgap.top_k([1, 2], 0, 1), ParameterError, "k must be at least 1"),
        (lambda: topgap.top_k([1, 2], 1.0, 1), ParameterTypeError, "k must be a whole"),  # type: ignore[call-overload]
        (lambda: topgap.top_k([1, 2], 1, [1]), ParameterTypeError, "epsilon must be"),  # type: ignore[call-overload]
        (lambda: topgap.top_k([1, 2], 1, -1), ParameterError, "epsilon must be greater"),
        (lambda: topgap.top_k([1, 2], 1, True), ParameterTypeError, "not bool"),
        (lambda: topgap.top_k([1, 2], True, 1), ParameterTypeError, "not bool"),
        (lambda: topgap.noisy_max([1, 2], 1, gaps=1), ParameterTypeError, "gaps must be True"),  # type: ignore[call-overload]
        (lambda: topgap.noisy_max([1, 2], 1, monotonic=1), ParameterTypeError, "monotonic must"),  # type: ignore[call-overload]
        (lambda: topgap.top_k([1, 2], 2, 1), AnswersError, "needs at least 3 answers"),
        (lambda: topgap.top_k([], 2, 1), AnswersError, "empty"),
        (lambda: topgap.top_k({}, 2, 1), AnswersError, "empty"),
    ]
    for _ in range(2):  # the second time parameters may have been remembered
        topgap.noisy_max([1, 2], 1)
        for run, error, word in wrong:
            with pytest.raises(error, match=word):
                run()


def test_equal_parameters_of_different_types_are_not_mixed_up() -> None:
    assert topgap.noisy_max([1, 2], 0.1).epsilon == Fraction(1, 10)
    assert topgap.noisy_max([1, 2], np.float64(0.1)).epsilon == Fraction(1, 10)
    assert topgap.noisy_max([1, 2], Fraction(0.1)).epsilon == Fraction(0.1)
    assert topgap.noisy_max([1, 2], Decimal("0.1")).epsilon == Fraction(1, 10)


NUMBERS_OF_ANY_KIND = (
    st.integers()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats()
    | st.fractions()
    | st.decimals()
    | st.booleans()
    | st.none()
    | st.text(max_size=2)
)


@pytest.mark.slow
@given(
    st.lists(NUMBERS_OF_ANY_KIND, max_size=8)
    | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=8).map(np.array)
    | st.lists(st.floats(width=32), max_size=8).map(np.array),
    st.integers(-1, 6),
    st.sampled_from(["1e-9", "1/7", 1, 10**6, 0, -1, "x"]),
    st.sampled_from(["1e-9", "1/10", "1/7", 1, 2]),
    st.sampled_from([1, "1/7", 3, 10**6]),
)
@settings(max_examples=500)
def test_nothing_but_a_release_or_an_error_of_ours_comes_out(
    answers: Any, k: int, epsilon: Any, resolution: Any, sensitivity: Any
) -> None:
    try:
        release = topgap.top_k(answers, k, epsilon, resolution=resolution, sensitivity=sensitivity)
    except (AnswersError, AnswersTypeError, ParameterError, ParameterTypeError):
        pass  # but no other, and no KernelError
    else:
        assert len({*release.indices.tolist()}) == k
        assert all(0 <= index < len(answers) for index in release.indices)
        assert release.gaps is not None
        assert min(release.gaps) >= 0


def test_a_defect_in_the_kernel_is_an_error_that_tells_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(KernelError, match="nothing was released"):
        Kernel(1, 0, 1, 1, is_laplace=False)  # no rate at all, which no TopK has
    with pytest.raises(ValueError, match="more answers than winners"):
        Kernel(2, 1, 2, 1, is_laplace=False).release(np.array([1, 2]), in_steps=False, threads=0)
    assert capfd.readouterr().err == ""


FEW = TopK(3, 1, monotonic=True, items_per_person=1)
FEW_ABOVE_4 = TopK(3, 1, monotonic=True, items_per_person=1, threshold=4)
NOISY = [
    [9, 7, 7, 2], [4, 4, 4, 4], [3, 2, 1, 0], [9, 3, -1, -5],
    [2**61, 5, 4, -(2**61)], [2**63 - 1, 5, 4, -(2**63)],
]  # fmt: skip


@pytest.mark.parametrize("shift", [0, -3, 10**6, 2**61, 2**62, -(2**62) - 1, 2**64])
@pytest.mark.parametrize(
    ("parameters", "noisy"),
    [*product([FEW, FEW_ABOVE_4], NOISY), (FEW_ABOVE_4, [9]), (FEW_ABOVE_4, [])],
)
def test_noisy_answers_are_cut_alike_in_int64_and_in_integers_of_any_size(
    parameters: TopK, noisy: list[int], shift: int
) -> None:
    in_int64 = drawing._cut_in_int64(parameters, np.array(noisy, dtype=np.int64).tobytes(), shift)
    values, gaps = cut_noisy_answers(parameters, [each + shift for each in noisy])
    fits = all(abs(each) < 2**60 for each in (*noisy, shift))
    assert in_int64 is not None or not (fits and values)
    if in_int64 is not None:
        assert [np.frombuffer(each, dtype=np.int64).tolist() for each in in_int64] == [values, gaps]
