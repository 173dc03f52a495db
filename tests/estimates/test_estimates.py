"""Estimates: what a user gets, in all its forms, and what is refused."""

import copy
import json
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import exp, inf, isinf, isnan, log, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import topgap
from tests.checking.secrets_held import secrets_held
from tests.display.sample_releases import VISITS
from tests.display.sample_values import EMPTY, REACHED
from topgap import (
    Estimates,
    EstimatesError,
    ParameterError,
    ParameterTypeError,
    Release,
    ReleaseError,
    TopgapError,
    TopK,
    estimate,
    select,
    streams,
    top_k_with_estimates,
)
from topgap.estimates.noise import Noise
from topgap.selection.measurement import Shares

PAGES = {"start": 51_260, "search": 20_110, "help": 960, "legal": 12}


def released(k: int = 3, gap: int = 10_000, items: Any = None, **more: Any) -> Release:
    parameters = TopK(k, 1, monotonic=True, **more)
    return Release(parameters, [*range(k)], [gap] * k, items)


# What is made.
def test_a_user_gets_who_by_how_much_and_how_many() -> None:
    """Noise of mean 8 moves an estimate by 500 with a chance below e^−50."""
    made = top_k_with_estimates(PAGES, k=2, epsilon=1, monotonic=True)
    assert made.release.items == ("start", "search")
    assert [round(each, -3) for each in made.estimates] == [51_000, 20_000]
    assert [item for item, _ in made] == ["start", "search"]
    assert [each for _, each in made] == [*made.estimates]
    assert len(made) == 2
    for (low, high), truth in zip(made.intervals("0.999999"), (51_260, 20_110), strict=True):
        assert low < high
        assert low - 500 < truth < high + 500


def test_the_parts_of_epsilon_sum_to_it() -> None:
    made = top_k_with_estimates(PAGES, 3, "1/7", selection_share="2/5")
    assert made.release.epsilon == Fraction(2, 35)
    assert made.noise.epsilon == Fraction(3, 35) / 3
    assert made.epsilon == Fraction(1, 7)
    assert made.noise == Noise.discrete_laplace(made.release.parameters, Fraction(1, 35))


def test_it_holds_nothing_that_was_not_released_or_measured() -> None:
    """With noise of mean 2 on each, which is 0.0 in both measurements once in 10^4 times."""
    answers = {"ash": 10**9 + 12345, "elm": 7, "oak": 10**6 + 54321, "runner-up": 10**3 + 4711}
    tabled = pa.table({"tree": [*answers], "many": [*answers.values()]})
    for made in (
        top_k_with_estimates(answers, 2, 2, monotonic=True),
        streams.top_k_with_estimates(tabled, 2, 2, item="tree", count="many", monotonic=True),
    ):
        unsaid = {"elm", "runner-up", *answers.values()} - {*made.measurements}
        assert secrets_held(made, unsaid) == set()
        assert secrets_held([made, answers], unsaid) == unsaid
        assert [*map(type, made.measurements)] == [Fraction, Fraction]
        assert made.release.items == ("ash", "oak")
        pickled = pickle.loads(pickle.dumps(made))  # noqa: S301  (our own)
        with pytest.raises(ReleaseError, match="no positions"):
            _ = pickled.release.indices


def test_nothing_is_drawn_before_all_that_could_go_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    def drawn(*_: object) -> None:
        pytest.fail("winners were drawn")

    monkeypatch.setattr(Noise, "for_one_winner", fail)
    monkeypatch.setattr(Shares, "select_and_measure", drawn)
    with pytest.raises(KeyboardInterrupt):
        top_k_with_estimates(PAGES, 2, 1)


@pytest.mark.parametrize("answer", [2**60 + 101, 10**17 + 1, -(2**60) - 101])
def test_ends_beyond_what_floats_tell_apart_are_rounded_outwards(answer: int) -> None:
    """Noise is 0 but for a chance of e^−1000, and the ends lie 1/2 from the answer."""
    for how in ({}, {"measured_only": True}):
        made = top_k_with_estimates([answer, answer - 10**18], 1, 2_000, resolution=1)
        ((low, high),) = made.intervals(**how)
        assert [*map(int, made.measurements)] == [answer]
        assert Fraction(low) < answer < Fraction(high)


def test_measurements_are_multiples_of_the_resolution() -> None:
    made = top_k_with_estimates({"a": 1.25, "b": 7.9, "c": 0}, 2, 1, resolution="1/4")
    assert all(each % Fraction(1, 4) == 0 for each in made.measurements)


def test_the_share_changes_who_gets_how_much_noise() -> None:
    much, little = (
        top_k_with_estimates(PAGES, 2, 1, selection_share=share) for share in ("9/10", "1/10")
    )
    assert much.release.parameters.scale < little.release.parameters.scale
    assert much.measurement_errors[0] > little.measurement_errors[0]


# The numbers.
def test_the_gap_pulls_two_measurements_together() -> None:
    """v_m = 8, v_s = β² = 4: w = 1/3, and the residual 12.55 − 19 moves each by a third of it."""
    release = Release(TopK(2, 1, monotonic=True), None, [125, 10_000], ["flu", "cold"])
    made = estimate(release, [60, 41], variance=8)
    assert made.estimates == pytest.approx((60 - 6.45 / 3, 41 + 6.45 / 3), abs=1e-3)
    assert made.standard_errors == pytest.approx((sqrt(8 * 2 / 3),) * 2, rel=1e-4)
    assert made.measurement_errors == pytest.approx((sqrt(8),) * 2)


def test_half_a_step_is_given_back() -> None:
    """With a coarse resolution and perfect selection, the estimates stand a gap and half apart."""
    release = Release(TopK(2, 10**6, resolution=1), None, [10, 100], ["a", "b"])
    made = estimate(release, [0, 0], variance=10**6)
    assert made.estimates[0] - made.estimates[1] == pytest.approx(10.5, rel=1e-4)


def test_the_sum_of_equally_measured_winners_stays() -> None:
    made = estimate(released(5), [40_000, 31_000, 20_000, 9_000, 100], variance=50)
    assert sum(made.estimates) == pytest.approx(100_100)


def test_a_single_winner_keeps_its_measurement() -> None:
    made = estimate(released(1), [17.5], variance=2, noise="laplace")
    assert made.estimates == (17.5,)
    assert made.standard_errors == pytest.approx((sqrt(2),))
    low, high = made.intervals(0.95)[0]
    half_a_step = 0.05
    assert (low, high) == pytest.approx(
        (17.5 - log(20) - half_a_step, 17.5 + log(20) + half_a_step)
    )


def test_a_winner_that_was_measured_better_counts_more() -> None:
    """Of the residual of 100 nearly all falls to the winner that is hardly known."""
    made = estimate(released(2), [1_100, 0], variance=[10**6, 1])
    assert made.estimates == pytest.approx((1_000, 0), abs=1)
    assert made.standard_errors[0] < sqrt(10**6) / 100


def test_measurements_may_go_by_name() -> None:
    release = released(3, items=["x", "y", "z"])
    by_name = estimate(release, {"z": 1, "x": 3, "y": 2}, variance={"z": 7, "x": 5, "y": 6})
    assert by_name == estimate(release, [3, 2, 1], variance=[5, 6, 7])
    named, counted = pd.Series({"z": 1, "x": 3, "y": 2}), pd.Series([5, 6, 7])
    assert estimate(release, named, variance=counted) == by_name
    with pytest.raises(EstimatesError, match="a named item without a measurement"):
        estimate(release, pd.Series({"z": 1, "x": 3, "w": 2}), variance=1)
    by_position = Release(release.parameters, [7, 0, 2], [9, 9, 9])
    of_positions = pd.Series({0: 2, 2: 1, 7: 3})
    assert [*map(int, estimate(by_position, of_positions, variance=1).measurements)] == [3, 2, 1]


@pytest.mark.parametrize(
    "measurements",
    [
        [1, 2, 3],
        (1.0, 2.0, 3.0),
        np.array([1, 2, 3]),
        np.array([1, 2, 3], dtype=np.float32),
        [Fraction(1), Decimal(2), 3],
        (each for each in (1, 2, 3)),
    ],
)
def test_measurements_of_any_kind_are_read_exactly(measurements: Any) -> None:
    read = estimate(released(), measurements, variance=1).measurements
    assert [*map(type, read)] == [Fraction] * 3
    assert [*map(int, read)] == [1, 2, 3]


# Intervals.
def test_intervals_of_normal_noise() -> None:
    made = estimate(released(1), [0], variance=4, noise="normal")
    low, high = made.intervals("0.9", measured_only=True)[0]
    assert high == pytest.approx(NormalDist(0, 2).inv_cdf(0.95))
    assert low == -high


def test_intervals_of_unknown_noise_are_chebyshevs() -> None:
    made = estimate(released(2), [0, 0], variance=4)
    for (low, high), error in zip(made.intervals("0.75"), made.standard_errors, strict=True):
        assert (high - low) / 2 == pytest.approx(2 * error + 0.05)
    for low, high in made.intervals("0.75", measured_only=True):
        assert (low, high) == pytest.approx((-4, 4))


def test_simultaneous_intervals_share_what_may_be_missed() -> None:
    made = estimate(released(10), [10_000 - 1_000 * i for i in range(10)], variance=200,
                    noise="laplace")  # fmt: skip
    for how in ({}, {"measured_only": True}):
        each = made.intervals("0.995", **how)
        assert made.intervals("0.95", simultaneous=True, **how) == each


def discrete(chance: Callable[[int], float], within: float) -> float:
    """The chance that noise on whole numbers is not beyond this."""
    whole = [chance(x) for x in range(-400, 401)]
    return sum(chance(x) for x in range(-int(within), int(within) + 1)) / sum(whole)


@pytest.mark.parametrize("spread", [0.3, 0.5, 1, 2, 7])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("noise", ["laplace", "normal"])
def test_intervals_of_discrete_noise_cover(noise: Any, spread: float, level: float) -> None:
    """Of whole numbers, as other libraries draw them; by summing up their chances."""

    def chance(x: int) -> float:
        return exp(-abs(x) / spread if noise == "laplace" else -(x**2) / (2 * spread**2))

    whole = range(-400, 401)
    variance = sum(chance(x) * x**2 for x in whole) / sum(map(chance, whole))
    if noise == "normal" and spread < 0.5:
        with pytest.raises(ParameterError, match="so coarse a step"):
            estimate(released(1), [0], variance=variance, noise=noise, step=1)
        noise = None
    made = estimate(released(1), [0], variance=variance, noise=noise, step=1)
    ((_, high),) = made.intervals(level, measured_only=True)
    assert discrete(chance, high) >= level
    if high >= 1 and noise:
        assert discrete(chance, high - 1) < level + 0.05


@pytest.mark.parametrize("k", [2, 5, 30])
@pytest.mark.parametrize("epsilon", [1, 40, 2_000])
def test_standard_errors_are_right_where_rounding_is_coarse(k: int, epsilon: int) -> None:
    """Against least squares on dense matrices, from variances that are summed up."""
    parameters = TopK(k, epsilon, resolution=1, monotonic=True)
    noise = Noise.discrete_laplace(parameters, Fraction(epsilon, 3 * k))
    made = Estimates(Release(parameters, [*range(k)], [10**6] * k), (Fraction(0),) * k, noise)
    steps = np.arange(3_000)
    geometric, laplace = (
        _variance(steps, np.exp(-float(rate) * steps))
        for rate in (parameters.rate, Fraction(epsilon, 3 * k))
    )
    d = np.eye(k)[:-1] - np.eye(k, k, 1)[:-1]
    covariance = np.zeros((2 * k - 1, 2 * k - 1))
    covariance[:k, :k] = 2 * laplace * np.eye(k)  # the difference of two geometric numbers
    covariance[k:, k:] = (geometric + 1 / 12) * d @ d.T + np.eye(k - 1) / 12
    design = np.vstack([np.eye(k), d])
    expected = np.linalg.inv(design.T @ np.linalg.inv(covariance) @ design)
    assert made.standard_errors == pytest.approx(np.sqrt(np.diag(expected)))
    assert made.measurement_errors == pytest.approx([sqrt(2 * laplace)] * k)


def _variance(values: Any, weights: Any) -> float:
    chances = weights / weights.sum()
    return float(chances @ values**2 - (chances @ values) ** 2)


@pytest.mark.parametrize("k", [2, 5, 30])
def test_ends_are_those_of_the_standard_error_where_all_is_normal(k: int) -> None:
    """Hardly any noise of the selection; the measurements' is normal, and rounding taken for it."""
    release = Release(TopK(k, 10**7, resolution=1), [*range(k)], [100] * k)
    made = estimate(release, [-100 * i for i in range(k)], variance=2, noise="normal")
    reach = NormalDist().inv_cdf(0.99)
    for (low, high), each, error in zip(
        made.intervals("0.98"), made.estimates, made.standard_errors, strict=True
    ):
        assert high - each == pytest.approx(reach * error + 0.5, rel=1e-3)
        assert high - each == pytest.approx(each - low)


def test_gaps_make_intervals_narrower_and_simultaneous_ones_are_wider() -> None:
    made = estimate(released(10), [10_000 - 1_000 * i for i in range(10)], variance=200,
                    noise="laplace")  # fmt: skip
    widths = [
        [high - low for low, high in made.intervals(**how)]
        for how in ({}, {"simultaneous": True}, {"measured_only": True}, {"level": 0.999})
    ]
    for each, at_once, alone, sure in zip(*widths, strict=True):
        assert each < 0.7 * alone < at_once
        assert each < sure


def test_where_a_place_is_in_doubt_the_interval_reaches_to_that_of_the_measurement() -> None:
    gaps = [10_000, 10_000, 5, 10_000, 10_000]
    release = Release(TopK(5, 1, monotonic=True), [*range(5)], gaps)
    made = estimate(release, [4_000, 3_000, 2_000, 1_990, 990], variance=50, noise="laplace")
    doubts = made.in_doubt("0.95")
    assert doubts == (False, False, True, True, False)
    alone = made.intervals(measured_only=True)
    for doubt, (low, high), (alone_low, alone_high), each in zip(
        doubts, made.intervals(), alone, made.estimates, strict=True
    ):
        assert low < each < high
        assert (low <= alone_low and alone_high <= high) == doubt


def test_if_the_last_place_is_in_doubt_all_are() -> None:
    release = Release(TopK(3, 1, monotonic=True), [*range(3)], [10_000, 10_000, 5])
    made = estimate(release, [3_000, 2_000, 1_000], variance=50)
    assert made.in_doubt("0.95") == (True, True, True)


def test_any_doubt_is_one_for_all_if_their_order_matters_to_the_others() -> None:
    """Measured with unequal variances, or rounded to coarse steps; and not if neither is so."""
    gaps = [10_000, 1, 10_000, 10_000]
    for resolution, variance, all_of_them in (
        ("1/10", 50, False), ("1/10", [50, 50, 51, 50], True), (1, 50, True)
    ):  # fmt: skip
        release = Release(TopK(4, 1, monotonic=True, resolution=resolution), [*range(4)], gaps)
        made = estimate(release, [4, 3, 2, 1], variance=variance)
        expected = (True,) * 4 if all_of_them else (False, True, True, False)
        assert made.in_doubt("0.95") == expected
        clear = Release(release.parameters, [*range(4)], [10_000] * 4)
        assert not any(estimate(clear, [4, 3, 2, 1], variance=variance).in_doubt("0.95"))


def test_doubt_begins_where_equal_items_come_out_so_far_apart_too_often() -> None:
    """With chance e^−g/β = α/2: at g = β·ln(2/α), here 2·ln 40 = 7.38."""
    for gap, doubt in ((73, True), (74, False)):
        release = Release(TopK(2, 1, monotonic=True), None, [gap, 10_000], ["a", "b"])
        assert estimate(release, [9, 1], variance=1).in_doubt("0.95") == (doubt, doubt)


@pytest.mark.parametrize("level", [0, -0.5, 1, 1.5, "nan", "high", "0." + "9" * 120])
def test_a_level_lies_between_0_and_1(level: Any) -> None:
    made = estimate(released(), [1, 2, 3], variance=1)
    for use in (made.intervals, made.to_dict, made.to_json, made.to_text, made.to_pandas):
        call: Callable[[Any], object] = use
        with pytest.raises(ParameterError, match=r"^level must .*\.$"):
            call(level)


def test_flags_are_flags() -> None:
    made = estimate(released(), [1, 2, 3], variance=1)
    with pytest.raises(ParameterTypeError, match="simultaneous must be True or False"):
        made.intervals(simultaneous=1)  # type: ignore[arg-type]
    with pytest.raises(ParameterTypeError, match="measured_only must be True or False"):
        made.intervals(measured_only="yes")  # type: ignore[arg-type]


def test_a_level_close_to_1_is_still_reckoned() -> None:
    made = estimate(released(2), [2_000, 1_000], variance=50, noise="laplace")
    ((low, high), _) = made.intervals("0." + "9" * 60)
    # 60·ln 10 times the largest term: the scale 5 with its weight w + (1 − w)/2, w = 4/54
    assert (high - low) / 2 == pytest.approx(60 * log(10) * 5 * 58 / 108, rel=0.02)


# What is refused.
REFUSED: list[tuple[Callable[[], object], type[TopgapError], str]] = [
    (lambda: estimate(released(), [1, 2], variance=1), EstimatesError, "the 3 named items, not 2"),
    (lambda: estimate(released(), [], variance=1), EstimatesError, "3 named items, not 0"),
    (lambda: estimate(released(), 5, variance=1), EstimatesError, "as a list, not int"),
    (lambda: estimate(released(), np.array(5), variance=1), EstimatesError, "not ndarray"),
    (lambda: estimate(released(), memoryview(b"abcdef").cast("B", (3, 2)), variance=1),
     EstimatesError, "not memoryview"),
    (lambda: Estimates.from_json(
        estimate(released(items=["flu", "cold", "ache"]), [1, 2, 3], variance=1)
        .to_json().replace('"flu"', "NaN")),
     ReleaseError, "can be written as JSON"),
    (lambda: estimate(REACHED, [1, 2, 3], variance=1), EstimatesError,
     "A release with Laplace noise has its own estimates, release.values"),
    (lambda: estimate(EMPTY, [], variance=1), EstimatesError, "A release with Laplace noise has"),
    (lambda: estimate(released(), "123", variance=1), EstimatesError, "as a list, not str"),
    (lambda: estimate(released(), {1, 2, 3}, variance=1), EstimatesError, "as a list, not set"),
    (lambda: estimate(released(), {0: 1, 1: 2}, variance=1), EstimatesError,
     "There is a named item without a measurement"),
    (lambda: estimate(released(), {0: 1, 1: 2, 2: 3, 3: 4}, variance=1), EstimatesError,
     "There is a measurement of an item that is not named"),
    (lambda: estimate(released(), [1, 2, float("nan")], variance=1), EstimatesError,
     "Each measurement must be a finite number"),
    (lambda: estimate(released(), [1, 2, None], variance=1), EstimatesError,
     "Each measurement must be a finite number"),
    (lambda: estimate(released(), [1, 2, True], variance=1), EstimatesError,
     "Each measurement must be a finite number"),
    (lambda: estimate(released(), [1, 2, inf], variance=1), EstimatesError,
     "Each measurement must be a finite number"),
    (lambda: estimate(released(), [1, 2, 3], variance=0), ParameterError,
     "variance must be greater than 0, not zero"),
    (lambda: estimate(released(), [1, 2, 3], variance=-1), ParameterError,
     "variance must be greater than 0, not negative"),
    (lambda: estimate(released(), [1, 2, 3], variance=[1, 2, -3]), ParameterError,
     "variance must be greater than 0, not negative"),
    (lambda: estimate(released(), [1, 2, 3], variance=[1, 2]), EstimatesError,
     "one variance for each of the 3 named items, not 2"),
    (lambda: estimate(released(), [1, 2, 3], variance=[1, 10**13, 1]), ParameterError,
     "The variances must differ by a factor of at most 10^12"),
    (lambda: estimate(released(), [1, 2, 3], variance=1, step=0), ParameterError,
     "step must be greater than 0"),
    (lambda: estimate(released(), [1, 2, 3], variance="much"), ParameterError, "cannot be read"),
    (lambda: estimate(released(), [1, 2, 3], variance=None),  # type: ignore[arg-type]
     ParameterTypeError, "variance must be"),
    (lambda: estimate(released(), [1, 2, 3], variance=1, noise="gauss"),  # type: ignore[arg-type]
     ParameterError, "noise must be 'laplace', 'normal' or None"),
    (lambda: estimate([1, 2, 3], [1, 2, 3], variance=1),  # type: ignore[arg-type]
     ParameterTypeError, "release must be a Release, not list"),
    (lambda: estimate(select(TopK(1, 1), [5, 10**6], gaps=False), [1], variance=1), EstimatesError,
     "A release without gaps has nothing to improve measurements with"),
    (lambda: top_k_with_estimates(PAGES, 2, 1, selection_share="-1/2"), ParameterError,
     "selection_share must be greater than 0, not negative"),
    (lambda: top_k_with_estimates(PAGES, 2, 1, selection_share=1), ParameterError,
     "selection_share must be below 1"),
    (lambda: top_k_with_estimates(PAGES, 2, "1e-900", selection_share="1e-900"), ParameterError,
     "selection_share must have fewer digits, or epsilon"),
    (lambda: top_k_with_estimates(PAGES, 4, 1), topgap.AnswersError, "k = 4 needs"),
    (lambda: top_k_with_estimates(PAGES, 0, 1), ParameterError, "k must be at least 1"),
    (lambda: top_k_with_estimates(PAGES, 1, -1), ParameterError, "epsilon must be greater"),
    (lambda: top_k_with_estimates(PAGES, 1, 1, items=["a"] * 4), topgap.ItemsError, "already name"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("run", "error", "sentence"), REFUSED, ids=[sentence for *_, sentence in REFUSED]
)
def test_what_cannot_be_used_gets_a_sentence(
    run: Callable[[], object], error: type[TopgapError], sentence: str
) -> None:
    with pytest.raises(error) as refusal:
        run()
    text = str(refusal.value)
    assert sentence in text
    assert text.endswith(".")
    assert "\n" not in text


# Forms.
@pytest.fixture(params=["here", "laplace", "normal", "unknown"])
def made(request: pytest.FixtureRequest) -> Estimates:
    if request.param == "here":
        return top_k_with_estimates(PAGES, 2, 1, selection_share="1/3", monotonic=True)
    noise = None if request.param == "unknown" else request.param
    release = released(2, items=["</b>\n", "日本"])
    step = None if request.param == "unknown" else "1/30"
    return estimate(release, [Fraction(2, 3), -0.1], variance=["1/3", 2], noise=noise, step=step)


def test_json_brings_back_the_same(made: Estimates) -> None:
    again = Estimates.from_json(made.to_json())
    assert again == made
    assert again.estimates == made.estimates
    assert again.intervals() == made.intervals()
    assert hash(again) == hash(made)
    assert Estimates.from_json(made.to_json("0.5", indent=2).encode()) == made


def test_json_has_what_readers_need(made: Estimates) -> None:
    read = json.loads(made.to_json("4/5"))
    assert read["level"] == "0.8"
    assert Release.from_dict(read["release"]) == made.release
    for row, estimate_, error, alone, at_once, doubt in zip(
        read["estimates"], made.estimates, made.standard_errors, made.intervals("0.8"),
        made.intervals("0.8", simultaneous=True), made.in_doubt("0.8"), strict=True,
    ):  # fmt: skip
        assert row == {
            "estimate": estimate_,
            "standard_error": error,
            "interval": [*alone],
            "simultaneous_interval": [*at_once],
            "in_doubt": doubt,
        }


def _changed(change: Callable[[dict[str, Any]], object]) -> str:
    read = estimate(released(2), [2, 1], variance=3, noise="laplace").to_dict()
    change(read)
    return json.dumps(read)


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "null", '{"format": "topgap.release/1"}',
        _changed(lambda read: read.pop("noise")),
        _changed(lambda read: read.update(more=1)),
        _changed(lambda read: read.update(measurements=["1"])),
        _changed(lambda read: read.update(measurements=["1", "x"])),
        _changed(lambda read: read.update(measurements=5)),
        _changed(lambda read: read.update(noise={"kind": "laplace"})),
        _changed(lambda read: read["noise"].update(step="-1")),
        _changed(lambda read: read.update(level="2")),
        _changed(lambda read: read.update(estimates="nonsense")),
        _changed(lambda read: read["noise"].update(kind="gauss")),
        _changed(lambda read: read["noise"].update(variances=["1", "-1"])),
        _changed(lambda read: read.update(noise={"kind": "discrete laplace", "epsilon_each": "0"})),
        _changed(lambda read: read.update(noise={"kind": "discrete laplace", "epsilon_each": "1"})),
        _changed(lambda read: read.update(epsilon="1")),
        _changed(lambda read: read.update(noise=None)),
        _changed(lambda read: read["release"].pop("winners")),
        _changed(lambda read: [winner.pop("gap") for winner in read["release"]["winners"]]),
    ],
)  # fmt: skip
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises((EstimatesError, ReleaseError), match=r"^[^\n]*\.$"):
        Estimates.from_json(text)


def test_items_that_json_has_not_are_refused() -> None:
    with pytest.raises(ReleaseError, match="Only items that are strings"):
        estimate(released(1, items=[b"a"]), [1], variance=1).to_json()


def test_frames_have_the_same_columns(made: Estimates) -> None:
    frame = made.to_pandas("0.9")
    names = ["item", "gap", "gap_units", "measurement", "estimate", "standard_error", "low", "high",
             "in_doubt"]  # fmt: skip
    assert [*frame.columns] == names
    assert made.to_polars("0.9").columns == names
    assert made.to_arrow("0.9").column_names == names
    assert frame["estimate"].tolist() == [*made.estimates]
    assert [*zip(frame["low"], frame["high"], strict=True)] == [*made.intervals("0.9")]
    assert made.to_arrow("0.9").to_pandas().equals(frame)


def test_tuples_and_the_domain_pass_through() -> None:
    made = estimate(VISITS, [400, 160, 130], variance=8)
    assert Estimates.from_json(made.to_json()) == made
    assert made.items == VISITS.items
    for shown in (made.to_text(), made._repr_html_()):
        assert shown.count("domain: a list; with the texts that match") == 1
        assert shown.count("need not occur in the data") == 1
    names = made.to_polars().columns
    assert (names[:3], names[-2:]) == (["item_1", "item_2", "gap"], ["in_doubt", "domain"])


def test_text_shows_as_many_digits_as_mean_something() -> None:
    made = estimate(released(2), [12_345.678, 1_234.5678], variance=12_345, noise="normal")
    assert made.to_text("0.9").splitlines()[0].split()[-6:] == [
        "by", "estimate", "±", "90%", "from", "to"
    ]  # fmt: skip
    first = made.to_text().splitlines()[1].split()
    assert all("." not in number for number in first[3:])
    assert str(made).splitlines()[-1].startswith("ε = 1 to select, measured elsewhere, resolution")


def test_the_note_says_what_the_parts_cost() -> None:
    made = top_k_with_estimates(PAGES, 2, "1/2", monotonic=True)
    assert str(made).splitlines()[-1] == (
        "ε = 0.5: 0.25 to select and 0.125 for each measurement, resolution 0.1, sensitivity 1, "
        "monotonic"
    )


def test_a_long_table_is_cut_and_to_text_is_not() -> None:
    made = estimate(released(100), [0] * 100, variance=1)
    assert "… and 40 more" in str(made)
    assert len(made.to_text().splitlines()) == 102
    assert len(str(made).splitlines()) == 63


def test_names_cannot_change_the_html(made: Estimates) -> None:
    html = made._repr_html_()
    assert "</b>" not in html
    assert html.count("<tr>") == 3


def test_it_is_frozen_and_can_be_copied(made: Estimates) -> None:
    with pytest.raises(AttributeError):
        made.measurements = ()  # type: ignore[misc]
    pickled = pickle.loads(pickle.dumps(made))  # noqa: S301  (our own)
    for again in (pickled, copy.deepcopy(made)):
        assert again == made
        assert again.intervals() == made.intervals()
    assert repr(made).startswith("<Estimates of the top 2: ")


# The ends of what can be had.
@pytest.mark.parametrize("epsilon", ["1e-400", "1e-30", "1", "1e30", "1e400"])
@pytest.mark.parametrize("share", ["1e-300", "1/2", 1 - Fraction(1, 10**300)])
def test_parameters_of_any_size_give_numbers(epsilon: str, share: Any) -> None:
    made = top_k_with_estimates([10**6, 10, 0], 2, epsilon, selection_share=share)
    for low, each, high in (
        (low, each, high)
        for (low, high), each in zip(made.intervals(), made.estimates, strict=True)
    ):
        assert low <= each <= high
    assert Estimates.from_json(made.to_json()) == made
    str(made)
    made.to_pandas() if all(gap < 2**60 for gap in made.release.gaps or ()) else None


def test_answers_beyond_floats_are_measured_and_the_estimates_infinite() -> None:
    made = top_k_with_estimates({"a": 10**400, "b": -(10**400), "c": 2 * 10**400}, 2, 1)
    assert all(map(isinf, made.estimates))
    assert 10**399 < made.measurements[1] < 10**401
    assert json.loads(made.to_json())["estimates"][0]["estimate"] is None
    assert Estimates.from_json(made.to_json()) == made


@pytest.mark.slow
def test_many_winners_take_a_moment() -> None:
    counts = [10**9 - 10**5 * i for i in range(5_001)]
    made = top_k_with_estimates(counts, 5_000, 1, monotonic=True)
    assert len(made.estimates) == len(made.intervals()) == 5_000


@pytest.mark.parametrize("variances", [[10**12, 1, 10**12], [1, 10**12, 1], [1, 1, 10**12]])
def test_measurements_beyond_all_floats_and_variances_far_apart(variances: list[int]) -> None:
    parameters = TopK(3, 10**9, resolution="1/1000000000", monotonic=True)
    release = Release(parameters, [0, 1, 2], [0, 0, 0])
    made = estimate(release, [10**400, -(10**400), 10**400], variance=variances)
    assert all(low <= high for low, high in made.intervals())
    assert not any(isnan(each) for each in made.estimates)
