"""TopK with a bound on the items of one person: its noise, scale and threshold."""

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

from tests.test_parameters import assert_one_sentence
from topgap import ParameterError, ParameterTypeError, TopK
from topgap.parameters import MOST_WINNERS

FEW = TopK(10, "2/7", monotonic=True, items_per_person=3)
CUT = TopK(None, "2/7", items_per_person=3, threshold="7/2", resolution="1/3", sensitivity="2/3")
FORCED = TopK(2, 1, items_per_person=5, noise="laplace")
KEPT = TopK(2, 1, items_per_person=5)
ALL = [FEW, CUT, FORCED, KEPT, TopK(2, 1)]


@given(
    st.integers(1, 10**6),
    st.none() | st.integers(1, 10**6),
    st.fractions(Fraction(1, 10**9), 10**6),
    st.integers(1, 10**3),
    st.booleans(),
)
def test_noise_and_scale_are_those_of_the_design(
    k: int, bound: int | None, epsilon: Fraction, sensitivity: int, monotonic: bool
) -> None:
    parameters = TopK(
        k, epsilon, items_per_person=bound, sensitivity=sensitivity, monotonic=monotonic
    )
    moved = k if bound is None else min(k, bound)
    assert parameters.scale * epsilon == (1 if monotonic else 2) * moved * sensitivity
    assert parameters.rate * parameters.scale == parameters.resolution
    assert parameters.noise == ("laplace" if bound is not None and bound < k else "exponential")
    assert parameters.resolution == (1 if parameters.noise == "laplace" else Fraction(1, 10))
    # The other noise has its own scale, if it is asked for.
    given_: dict[str, Any] = {"items_per_person": bound, "monotonic": monotonic}
    plain = TopK(k, epsilon, noise="exponential", sensitivity=sensitivity, **given_)
    assert plain.scale * epsilon == (1 if monotonic else 2) * k * sensitivity
    if bound is not None:
        laplace = TopK(k, epsilon, noise="laplace", sensitivity=sensitivity, **given_)
        assert laplace.scale * epsilon == (1 if monotonic else 2) * bound * sensitivity


@pytest.mark.parametrize(
    ("sensitivity", "resolution"), [("1", "1"), ("7", "1"), ("1/2", "1/10"), ("2.5", "1/10")]
)
def test_the_resolution_is_1_for_whole_sensitivities(sensitivity: str, resolution: str) -> None:
    laplace = TopK(2, 1, items_per_person=1, sensitivity=sensitivity)
    assert laplace.resolution == Fraction(resolution)
    assert TopK(2, 1, sensitivity=sensitivity).resolution == Fraction(1, 10)
    finer = TopK(2, 1, items_per_person=1, sensitivity=sensitivity, resolution="1/50")
    assert finer.resolution == Fraction(1, 50)


@pytest.mark.parametrize(
    ("threshold", "meant"),
    [(5, 5), ("7/2", 3), (-0.5, -1), (Decimal("1e3"), 1000), ("-7/2", -4), (0, 0),
     (np.int8(-3), -3), (2**70, 2**70), (0.999999, 0)],
)  # fmt: skip
def test_a_threshold_is_rounded_down_as_answers_are(threshold: Any, meant: int) -> None:
    parameters = TopK(2, 1, items_per_person=1, threshold=threshold)
    assert parameters.threshold == parameters.threshold_units == meant
    fine = TopK(2, 1, items_per_person=1, threshold=threshold, resolution="1/2")
    assert fine.threshold_units is not None
    assert fine.threshold == Fraction(fine.threshold_units, 2)
    assert 0 <= Fraction(str(threshold)) - fine.threshold < Fraction(1, 2)


def test_with_a_threshold_alone_there_is_no_end_to_k() -> None:
    assert CUT.k == MOST_WINNERS == TopK(MOST_WINNERS, 1).k
    assert (CUT.fewest_winners, FEW.fewest_winners) == (0, 10)
    assert FEW.threshold is None
    assert FEW.threshold_units is None
    assert CUT.threshold_units == 10  # 7/2 is 10.5 thirds


def test_they_are_frozen_values() -> None:
    for parameters in ALL:
        assert pickle.loads(pickle.dumps(parameters)) == parameters  # noqa: S301
        assert copy.deepcopy(parameters) == parameters
        assert hash(copy.deepcopy(parameters)) == hash(parameters)
        assert eval(repr(parameters), {"TopK": TopK}) == parameters  # noqa: S307
        assert TopK(**parameters.to_dict()) == parameters
        for name in ("items_per_person", "threshold", "noise"):
            with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
                setattr(parameters, name, None)
    assert len({*ALL}) == len(ALL)
    assert dataclasses.replace(FEW, k=20) == TopK(20, "2/7", monotonic=True, items_per_person=3)


def test_what_differs_is_not_equal() -> None:
    one = TopK(3, 1, items_per_person=1)
    others = [
        TopK(3, 1, items_per_person=2),
        TopK(3, 1, items_per_person=1, noise="exponential", resolution=1),
        TopK(3, 1, items_per_person=1, threshold=0),
        TopK(3, 1, items_per_person=1, resolution="1/2"),
    ]
    assert len({one, *others}) == 5
    assert one == TopK(3, 1, items_per_person=np.int64(1), noise="laplace")  # type: ignore[arg-type]
    assert type(TopK(3, 1, items_per_person=np.int64(1)).items_per_person) is int  # type: ignore[arg-type]


def test_older_parameters_are_written_as_they_were() -> None:
    written = {"k": 2, "epsilon": "1", "resolution": "1/10", "sensitivity": "1", "monotonic": False}
    assert TopK(2, 1).to_dict() == written
    assert KEPT.to_dict() == {**written, "items_per_person": 5, "noise": "exponential"}
    assert repr(TopK(2, 1)) == (
        "TopK(k=2, epsilon='1', resolution='1/10', sensitivity='1', monotonic=False)"
    )
    assert repr(CUT).endswith(", items_per_person=3, noise='laplace', threshold='10/3')")


def test_the_kernel_draws_whole_steps() -> None:
    for parameters in (FEW, CUT, FORCED):
        assert parameters.kernel is not None
        assert parameters.kernel.refinement == 0
    assert KEPT.kernel is not None
    assert KEPT.kernel.refinement > 0
    assert TopK(3, "1e-40", items_per_person=1).kernel is None


@pytest.mark.parametrize(
    ("given_", "error", "word"),
    [
        ({"items_per_person": 0}, ParameterError, "items_per_person must be at least 1"),
        ({"items_per_person": -1}, ParameterError, "items_per_person must be at least 1"),
        ({"items_per_person": 1.0}, ParameterTypeError, "items_per_person must be"),
        ({"items_per_person": True}, ParameterTypeError, "items_per_person must be"),
        ({"items_per_person": "1"}, ParameterTypeError, "items_per_person must be"),
        ({"items_per_person": Fraction(1)}, ParameterTypeError, "items_per_person must be"),
        ({"noise": "laplace"}, ParameterError, "needs items_per_person"),
        ({"noise": "Laplace", "items_per_person": 1}, ParameterError, "'exponential' or 'laplace'"),
        ({"noise": 1, "items_per_person": 1}, ParameterTypeError, "not int"),
        ({"noise": True, "items_per_person": 1}, ParameterTypeError, "not bool"),
        ({"noise": b"laplace", "items_per_person": 1}, ParameterTypeError, "not bytes"),
        ({"k": None, "threshold": 5}, ParameterError, "of any length needs Laplace noise"),
        ({"k": None, "threshold": 5, "items_per_person": 1, "noise": "exponential"}, ParameterError,
         "of any length needs Laplace noise"),
        ({"threshold": float("nan"), "items_per_person": 1}, ParameterError, "threshold.*NaN"),
        ({"threshold": "inf", "items_per_person": 1}, ParameterError, "threshold.*infinite"),
        ({"threshold": True, "items_per_person": 1}, ParameterTypeError, "threshold.*bool"),
        ({"threshold": [5], "items_per_person": 1}, ParameterTypeError, "threshold.*list"),
        ({"threshold": "five", "items_per_person": 1}, ParameterError, "threshold.*cannot be read"),
        ({"threshold": "1e999999", "items_per_person": 1}, ParameterError, "threshold.*digits"),
        ({"k": None}, ParameterError, "k is missing"),
        ({"k": None, "items_per_person": 1}, ParameterError, "k is missing"),
        ({"items_per_person": 1, "sensitivity": "1/3"}, ParameterError, "resolution '1/30' fits"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_used_is_refused(
    given_: dict[str, Any], error: type[Exception], word: str
) -> None:
    with pytest.raises(error, match=word) as caught:
        TopK(**{"k": 3, "epsilon": 1, **given_})
    assert_one_sentence(caught.value)
