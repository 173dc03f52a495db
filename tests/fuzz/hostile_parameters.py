"""Names, parameters, and whatever else a caller might hand in: strategies for Hypothesis."""

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import strategies as st

from tests.fuzz.hostile_values import MARK, NO_NUMBERS, FailingNumber, any_of, held, in_polars

# ---------------------------------------------------------------- names


class Unwritable:
    """A name that cannot be shown."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unwritable)

    def __hash__(self) -> int:
        return 7

    def __str__(self) -> str:
        raise RuntimeError(f"no text of {MARK}")

    __repr__ = __str__


class Unhashable(Unwritable):
    """A name that no dict can hold, and that tells nothing of itself."""

    def __hash__(self) -> int:
        raise OSError(f"no hash of {MARK}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError
        raise OSError(f"{MARK} has no {name}")


class Incomparable:
    """A name that a dict can hold as long as it meets no other."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError(f"{MARK} is not compared")

    def __hash__(self) -> int:
        return 7


NAMES = st.one_of(
    st.text(max_size=5),
    st.sampled_from(["", " ", "flu", "\ud800", "a\nb", "\x00", "</script>", "\u202e", "x" * 300]),
    st.integers(-3, 3),
    st.sampled_from([None, True, 1.5, float("nan"), (1, 2), b"x", Fraction(1, 3), Decimal("0.1")]),
    st.sampled_from([datetime.date(2026, 1, 1), np.str_("flu"), np.int8(3), np.datetime64("NaT")]),
    any_of([10**700, -(10**5000), (10**5000,), Unwritable()]),
)
ODD_NAMES = st.one_of(NAMES, NAMES, any_of([Unhashable(), Incomparable(), [1], pd.NA]))


@st.composite
def names(draw: st.DrawFn) -> Any:
    """Names of items, or None; seldom as many as there are answers, and seldom not."""
    luck = draw(st.integers(0, 19))
    if luck < 17:
        return None
    if luck == 17:
        return draw(
            st.sampled_from(
                [7, "abc", b"abc", {"a": 1}, {1, 2}, [[1], [2]], np.zeros((2, 2)), object()]
            )
        )
    listed = draw(st.lists(ODD_NAMES, max_size=8))
    holders = [list, tuple, pd.Index, pa.array, in_polars, np.array, iter, pd.Series]
    return held(draw(st.sampled_from(holders)), listed)


# ---------------------------------------------------------------- parameters

NO_PARAMETERS = any_of(
    [
        None,
        True,
        False,
        0,
        -1,
        "",
        "x",
        "1/0",
        "nan",
        "-inf",
        "1e9999",
        "0x10",
        "1/3/5",
        "１",
        "1_0",
        float("nan"),
        float("inf"),
        0.0,
        -0.0,
        -0.5,
        5e-324,
        Decimal("NaN"),
        Decimal("1e-5000"),
        Decimal("sNaN"),
        Fraction(-1, 2),
        Fraction(0),
        10**1001,
        1j,
        [1],
        (1,),
        {},
        b"1",
        object(),
        np.bool_(True),
        np.timedelta64(1, "s"),
        np.timedelta64(1),
        Unhashable(),
        FailingNumber(1),
        np.array(1),
        np.array([1]),
        np.nan,
        "9" * 3000,
        int,
        ...,
    ]
)
EPSILONS = st.sampled_from(
    [
        1,
        1,
        1,
        "1/2",
        0.1,
        10,
        Fraction(7, 3),
        Decimal("0.25"),
        "1e-3",
        10**6,
        np.float32(0.1),
        np.int8(3),
        "1e-12",
        "1e-40",
        "1e40",
        Fraction(1, 3**50),
        10**900,
        "1e-900",
        1e300,
        5e-300,
    ]
)
RESOLUTIONS = st.sampled_from(
    [
        "1/10",
        "1/10",
        1,
        "1/3",
        0.5,
        "0.001",
        Fraction(1, 2**20),
        "1/9223372036854775807",
        Fraction(1, 10**300),
        2,
        "2/3",
        0.3,
        np.float64(0.125),
        Decimal("0.01"),
    ]
)
SENSITIVITIES = st.sampled_from(
    [1, 1, 1, 1, 2, "5", 0.5, Fraction(1, 3), 10**6, 10**300, "1/10", 0.7]
)
KS = st.sampled_from([1, 1, 1, 2, 2, 3, np.int8(2), 5])
NO_KS = any_of(
    [
        0,
        -1,
        10**9,
        2**63 - 1,
        2**63,
        10**30,
        1.0,
        "1",
        None,
        True,
        np.float64(2),
        Fraction(2),
        Decimal(1),
        np.timedelta64(1),
        FailingNumber(1),
        np.array(1),
        [1],
        object(),
        ...,
    ]
)
NO_FLAGS = any_of([0, 1, None, "yes", 0.5, [], np.array(True), object(), Unhashable()])
NO_THREADS = st.sampled_from([0, -1, 1.5, True, "2", object()])
FLAGS = st.sampled_from([False, True, False, True, np.bool_(True)])
THREADS = st.sampled_from([None, None, None, 1, 2, 3, 10**9, np.int64(2)])
LEVELS = st.one_of(
    st.sampled_from([0.95, "0.9", Fraction(1, 2), "1e-9", 1, "0.999999999", 0.99]), NO_PARAMETERS
)


@st.composite
def parameters(draw: st.DrawFn, *, good: bool = False) -> dict[str, Any]:
    """k, ε and so on, as keywords; at most one of them is nothing that could be used."""
    chosen: dict[str, Any] = {"k": draw(KS), "epsilon": draw(EPSILONS)}
    luck = draw(st.integers(0, 15))
    if luck < 8:
        chosen["resolution"] = draw(RESOLUTIONS)
    if luck % 4 == 0:
        chosen["sensitivity"] = draw(SENSITIVITIES)
    if luck % 2 == 0:
        chosen["monotonic"] = draw(FLAGS)
    if luck in (9, 10) and not good:
        odd = draw(st.sampled_from(["k", "epsilon", "resolution", "sensitivity", "monotonic"]))
        kinds = {"k": NO_KS, "monotonic": NO_FLAGS}
        chosen[odd] = draw(kinds.get(odd, NO_PARAMETERS))
    return chosen


ANYTHING = st.one_of(
    st.integers(-5, 1000),
    st.floats(),
    NO_NUMBERS,
    NO_PARAMETERS,
    NAMES,
    st.binary(max_size=8),
    st.text(max_size=8),
)
"""For where a text, a path or an object of ours belongs; it is no answer."""
