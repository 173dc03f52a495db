"""Monitors that are made of anything and asked about anything, and their law."""

import copy
import pickle
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.fuzz import hostile_parameters, hostile_values
from tests.fuzz.judge import Judge
from topgap import Monitor, SparseVector, law
from topgap.errors import (
    AnswersError,
    AnswersTypeError,
    MonitorError,
    ParameterError,
    ParameterTypeError,
)

PARAMETERS = (ParameterError, ParameterTypeError)
ANSWERS = (AnswersError, AnswersTypeError)


@st.composite
def monitored(draw: st.DrawFn) -> dict[str, Any]:
    """What a monitor is made of, and the answers that it is asked about."""
    chosen = draw(hostile_parameters.parameters())
    chosen["answers"] = chosen.pop("k")
    luck = draw(st.integers(0, 15))
    numbers = st.one_of(hostile_values.NUMBERS, hostile_values.NUMBERS, hostile_values.NO_NUMBERS)
    chosen["threshold"] = draw(
        hostile_parameters.NO_PARAMETERS
        if luck == 0
        else st.sampled_from([0, "1/3", -2.5, 10**300])
    )
    if luck in (1, 2):
        shares = st.sampled_from(["1/2", 0.9, "1e-9", 1, 2])
        chosen["threshold_share"] = draw(st.one_of(shares, hostile_parameters.NO_PARAMETERS))
    near = st.one_of(st.none(), st.integers(-1, 4), st.just(Fraction(1, 3)))
    return {
        "parameters": chosen,
        "asked": draw(st.lists(numbers, max_size=6)),
        "answered": draw(st.one_of(st.integers(-1, 4), hostile_parameters.NO_PARAMETERS)),
        "near": draw(st.lists(st.integers(-3, 3), max_size=3)),
        "outcome": draw(
            st.one_of(st.lists(near, max_size=3), st.lists(near, max_size=3),
                      hostile_parameters.ANYTHING)
        ),
    }  # fmt: skip


def fuzz_monitor(given: dict[str, Any], call: Judge) -> None:
    """Ask until it stops, and a few times more."""
    parameters = call("topgap.SparseVector", PARAMETERS, SparseVector, **given["parameters"])
    made = call("topgap.Monitor", PARAMETERS, Monitor, **given["parameters"])
    assert (parameters is None) == (made is None)
    if parameters is None or made is None:
        return
    assert made.parameters == parameters
    assert pickle.loads(pickle.dumps(parameters)) == parameters  # noqa: S301 - it is ours
    call("topgap.SparseVector.to_dict", (), parameters.to_dict)
    cost = call("topgap.SparseVector.cost", PARAMETERS, parameters.cost, given["answered"])
    assert cost is None or 0 < cost <= parameters.epsilon
    for answer in given["asked"]:
        left = made.left
        gap = call("topgap.Monitor.ask", (*ANSWERS, MonitorError), made.ask, answer)
        if gap is not None:
            assert type(gap) is Fraction
            assert gap >= 0
            assert gap % parameters.resolution == 0
        assert made.left == left - (gap is not None) >= 0
    for misuse in (copy.copy, copy.deepcopy, pickle.dumps):
        assert call("copied", (MonitorError,), misuse, made) is None
    assert repr(made)
    bounds = call(
        "topgap.law.sparse_vector", (*PARAMETERS, *ANSWERS), law.sparse_vector,
        given["near"], SparseVector(0, 2, 3), given["outcome"],
    )  # fmt: skip
    assert bounds is None or 0 <= bounds.low <= bounds.high <= 1
