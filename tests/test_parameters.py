"""TopK reads every number exactly, and refuses the rest by name in one sentence."""

import copy
import dataclasses
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topgap
from topgap import ParameterError, ParameterTypeError, TopK


@pytest.mark.parametrize(
    ("given_value", "meant"),
    [
        (1, Fraction(1)),
        (Fraction(2, 6), Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        ("0.25", Fraction(1, 4)),
        (" 1e-3 ", Fraction(1, 1000)),
        (0.1, Fraction(1, 10)),
        (1e-9, Fraction(1, 10**9)),
        (1e22, Fraction(10**22)),
        (5e-324, Fraction(5, 10**324)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float16(0.1), Fraction(1, 10)),
        (np.int8(3), Fraction(3)),
        (Fraction(np.int64(3)), Fraction(3)),  # type: ignore[call-overload]
    ],
)
def test_numbers_are_read_exactly(given_value: Any, meant: Fraction) -> None:
    epsilon = TopK(1, given_value).epsilon
    assert epsilon == meant
    assert type(epsilon.numerator) is int


@given(st.floats(min_value=0, exclude_min=True, allow_infinity=False))
def test_a_float_means_its_shortest_decimal(value: float) -> None:
    epsilon = TopK(1, value).epsilon
    assert epsilon == Fraction(repr(value))
    assert float(epsilon) == value


NO_POSITIVE_NUMBERS = [
    (float("nan"), ParameterError, "NaN"),
    (np.float32("nan"), ParameterError, "NaN"),
    (Decimal("sNaN"), ParameterError, "NaN"),
    ("nan", ParameterError, "NaN"),
    (float("inf"), ParameterError, "infinite"),
    (Decimal("-Infinity"), ParameterError, "infinite"),
    ("inf", ParameterError, "infinite"),
    (0, ParameterError, "zero"),
    (-0.0, ParameterError, "zero"),
    ("0/5", ParameterError, "zero"),
    ("0e-2000", ParameterError, "zero"),
    (Decimal("0e999999999"), ParameterError, "zero"),
    (-1, ParameterError, "negative"),
    ("-1/3", ParameterError, "negative"),
    (True, ParameterTypeError, "bool"),
    (np.bool_(True), ParameterTypeError, "bool"),
    ([1], ParameterTypeError, "list"),
    (1 + 0j, ParameterTypeError, "complex"),
    (b"1", ParameterTypeError, "bytes"),
    (np.timedelta64(1, "s"), ParameterTypeError, "timedelta64"),
    (np.array([1.0]), ParameterTypeError, "ndarray"),
    ("", ParameterError, "cannot be read"),
    ("one", ParameterError, "cannot be read"),
    ("1/0", ParameterError, "cannot be read"),
    ("1/3/5", ParameterError, "cannot be read"),
    ("0.5/2", ParameterError, "cannot be read"),
    pytest.param("1" * 1500, ParameterError, "digits", id="1500 digits"),
    pytest.param("1" * 5000, ParameterError, "digits", id="5000 digits"),
    pytest.param("1/" + "9" * 1500, ParameterError, "digits", id="1/1500 digits"),
    ("1e999999999", ParameterError, "digits"),
    (Decimal("1e-999999999"), ParameterError, "digits"),
    pytest.param(10**5000, ParameterError, "digits", id="10**5000"),
]


@pytest.mark.parametrize("name", ["epsilon", "resolution", "sensitivity"])
@pytest.mark.parametrize(("value", "error", "word"), NO_POSITIVE_NUMBERS)
def test_what_is_no_positive_number_is_refused_by_name(
    name: str, value: Any, error: type[Exception], word: str
) -> None:
    with pytest.raises(error, match=name) as caught:
        TopK(**{"k": 1, "epsilon": 1, name: value})
    assert word in str(caught.value)
    assert_one_sentence(caught.value)


@pytest.mark.parametrize("name", ["epsilon", "sensitivity"])
def test_none_is_no_number_but_for_what_has_a_default(name: str) -> None:
    given_: dict[str, Any] = {"k": 1, "epsilon": 1, name: None}
    with pytest.raises(ParameterTypeError, match=f"^{name} must be .* not NoneType") as caught:
        TopK(**given_)
    assert_one_sentence(caught.value)
    defaults: dict[str, Any] = {"items_per_person": None, "threshold": None, "noise": None}
    assert TopK(1, 1, resolution=None, **defaults) == TopK(1, 1)


@pytest.mark.parametrize("resolution", [1, "1/10", 0.001, Fraction(1, 7), "1/1000000000"])
def test_a_resolution_is_one_over_an_integer(resolution: Any) -> None:
    assert TopK(1, 1, resolution=resolution).resolution.numerator == 1


@pytest.mark.parametrize("resolution", [2, "2/3", 0.3, "1.5"])
def test_any_other_resolution_is_refused(resolution: Any) -> None:
    with pytest.raises(ParameterError, match="resolution must be one divided by") as caught:
        TopK(1, 1, resolution=resolution)
    assert_one_sentence(caught.value)


def test_a_sensitivity_between_two_steps_is_refused_with_a_resolution_that_fits() -> None:
    with pytest.raises(ParameterError, match="resolution '1/20' fits") as caught:
        TopK(1, 1, sensitivity="1/4")
    assert_one_sentence(caught.value)
    assert TopK(1, 1, sensitivity="1/4", resolution="1/20").sensitivity == Fraction(1, 4)


@pytest.mark.parametrize(
    ("k", "error"),
    [
        (0, ParameterError),
        (-3, ParameterError),
        pytest.param(10**5000, ParameterError, id="10**5000"),
        (2.0, ParameterTypeError),
        ("3", ParameterTypeError),
        (True, ParameterTypeError),
        (np.bool_(True), ParameterTypeError),
        (Fraction(3), ParameterTypeError),
        (np.timedelta64(3, "s"), ParameterTypeError),
    ],
)
def test_k_is_a_whole_number_of_at_least_one(k: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^k must be") as caught:
        TopK(k, 1)
    assert_one_sentence(caught.value)


def test_only_a_threshold_can_say_how_many_are_named() -> None:
    with pytest.raises(
        ParameterError, match=r"^k is missing; it can be None only with a threshold"
    ) as caught:
        TopK(None, 1)
    assert_one_sentence(caught.value)


def test_a_threshold_with_exponential_noise_is_a_sentinel() -> None:
    parameters = TopK(3, 1, threshold="7/2", resolution="1/3")
    assert (parameters.noise, parameters.has_sentinel) == ("exponential", True)
    assert (parameters.threshold, parameters.threshold_units) == (Fraction(10, 3), 10)
    assert parameters.scale == TopK(3, 1).scale
    assert parameters.fewest_winners == 0
    assert not TopK(3, 1).has_sentinel
    assert not TopK(3, 1, threshold=5, items_per_person=1).has_sentinel
    assert TopK(**parameters.to_dict()) == parameters
    assert eval(repr(parameters), {"TopK": TopK}) == parameters  # noqa: S307


def test_an_output_costs_what_the_design_says() -> None:
    one_way = TopK(5, "1/3", monotonic=True, threshold=0)
    costs = [Fraction(1, 15), Fraction(2, 15), Fraction(1, 5), Fraction(4, 15), Fraction(1, 3)]
    assert [one_way.cost(j) for j in range(6)] == [*costs, Fraction(1, 3)]
    any_way = TopK(2, 1, threshold=0)
    assert [any_way.cost(j) for j in range(3)] == [Fraction(1, 4), Fraction(3, 4), Fraction(1)]
    laplace = TopK(5, "1/3", threshold=0, items_per_person=1)
    assert {laplace.cost(j) for j in range(6)} == {Fraction(1, 3)}
    assert TopK(2, 1).cost(2) == 1


@pytest.mark.parametrize(
    ("parameters", "winners", "error", "word"),
    [
        (TopK(2, 1, threshold=0), 3, ParameterError, "winners must be at most k"),
        (TopK(2, 1, threshold=0), -1, ParameterError, "winners must be at least 0"),
        (TopK(2, 1), 1, ParameterError, "always k = 2 named items"),
        (TopK(2, 1, threshold=0), "1", ParameterTypeError, "winners must be"),
    ],
    ids=str,
)
def test_so_many_winners_as_cannot_be_have_no_cost(
    parameters: TopK, winners: Any, error: type[Exception], word: str
) -> None:
    with pytest.raises(error, match=word) as caught:
        parameters.cost(winners)
    assert_one_sentence(caught.value)


@pytest.mark.parametrize("monotonic", [0, 1, "no", None])
def test_monotonic_is_true_or_false(monotonic: Any) -> None:
    with pytest.raises(ParameterTypeError, match="monotonic must be True or False"):
        TopK(1, 1, monotonic=monotonic)


def test_scale_and_rate_are_the_papers() -> None:
    parameters = TopK(k=3, epsilon="1/2", resolution="1/10", sensitivity=2)
    assert parameters.scale == 2 * 3 * 2 / Fraction(1, 2) == 24
    assert parameters.rate == Fraction(1, 10) / 24
    monotonic = TopK(k=3, epsilon="1/2", resolution="1/10", sensitivity=2, monotonic=True)
    assert monotonic.scale == parameters.scale / 2
    assert monotonic.rate == parameters.rate * 2


@given(
    st.integers(1, 10**9),
    st.fractions(Fraction(1, 10**9), 10**6),
    st.integers(1, 10**9),
    st.integers(1, 10**6),
    st.booleans(),
)
def test_they_are_so_for_all_parameters(
    k: int, epsilon: Fraction, steps: int, multiple: int, monotonic: bool
) -> None:
    step = Fraction(1, steps)
    sensitivity = multiple * step
    given_ = TopK(k, epsilon, resolution=step, sensitivity=sensitivity, monotonic=monotonic)
    noise_by_epsilon = k * sensitivity if monotonic else 2 * k * sensitivity
    assert given_.scale * epsilon == noise_by_epsilon
    assert given_.rate * noise_by_epsilon == step * epsilon


def test_how_numpy_prints_does_not_matter() -> None:
    with np.printoptions(legacy="1.13", precision=3):
        assert TopK(1, np.float64(1 / 3)).epsilon == Fraction("0.3333333333333333")
        assert TopK(1, np.float32(0.1)).epsilon == Fraction(1, 10)


def test_it_is_a_frozen_value() -> None:
    parameters = TopK(np.int64(2), 0.5, monotonic=np.bool_(True))  # type: ignore[arg-type]
    same = TopK(2, "1/2", monotonic=True)
    assert parameters == same
    assert hash(parameters) == hash(same)
    assert parameters != TopK(2, "1/2")
    assert type(parameters.k) is int
    assert type(parameters.monotonic) is bool
    for changed in ("k", "scale", "other"):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
            setattr(parameters, changed, 1)
    assert pickle.loads(pickle.dumps(parameters)) == parameters  # noqa: S301
    assert copy.deepcopy(parameters) == parameters
    assert dataclasses.replace(parameters, k=5) == TopK(5, "1/2", monotonic=True)


def test_its_repr_makes_it_again() -> None:
    parameters = TopK(4, "2/7", resolution="1/3", sensitivity="2/3", monotonic=True)
    assert eval(repr(parameters), {"TopK": TopK}) == parameters  # noqa: S307


def test_every_error_is_a_topgap_error_and_one_of_pythons() -> None:
    assert issubclass(topgap.ParameterError, ValueError)
    assert issubclass(topgap.ParameterTypeError, TypeError)
    assert issubclass(topgap.AnswersError, ValueError)
    assert issubclass(topgap.AnswersTypeError, TypeError)
    for error in (ParameterError, ParameterTypeError, topgap.AnswersError, topgap.AnswersTypeError):
        assert issubclass(error, topgap.TopgapError)


def assert_one_sentence(error: Exception) -> None:
    text = str(error)
    assert text.endswith(".")
    assert "\n" not in text
    assert len(text) < 200
