"""What a caller might hand in, by mistake or on purpose: strategies for Hypothesis.

Numbers lie where something changes: around powers of two, at the ends of floats, at none at all.
What holds them is whatever Python, NumPy, pandas, polars and Arrow have, whole or broken. Most are
right, so that calls get far; of the others, one is enough.

`MARK` stands in many answers, and in what broken objects say, so that an error which shows an
answer can be told.
"""

import array
import collections
import datetime
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

MARK = 73_195_508
"""No error may say this number."""


def any_of(things: Sequence[Any]) -> st.SearchStrategy[Any]:
    """One of them, whatever they do when they are hashed, as Hypothesis does with samples."""
    return st.integers(0, len(things) - 1).map(lambda place: things[place])


class Failing(Sequence[Any]):
    """A sequence that says how long it is, and fails when it is read."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        if place == len(self.values) - 1:
            raise RuntimeError(f"answer {MARK} is broken")
        return self.values[place]


class FailingArray:
    """What cannot make the array that it promises."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise ValueError(f"no array of {MARK} and {self.values}")


class WrongArray(FailingArray):
    """What makes no array but a list."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values


class GoodArray(FailingArray):
    """What does make an array."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values)


class FailingArrow:
    """What cannot keep the promise of Arrow's protocol."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        raise KeyError(f"{MARK}")


class ArrowStream:
    """What hands over Arrow's batches and nothing else."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return pa.chunked_array([pa.array(self.values)]).__arrow_c_stream__(requested_schema)


class FewNames(dict[Any, Any]):
    """A dict that goes through fewer names than it has answers."""

    def __iter__(self) -> Iterator[Any]:
        return iter([*self.keys()][1:])


class SameNames(dict[Any, Any]):
    """A dict that goes through the same name again and again."""

    def __iter__(self) -> Iterator[Any]:
        return iter([*self.keys()][:1] * len(self))


class LyingLength(dict[Any, Any]):
    """A dict that says it has more than it has."""

    def __len__(self) -> int:
        return 10**6


class FailingNumber(int):
    """A whole number that cannot be told apart from others, nor read."""

    def __hash__(self) -> int:
        raise RuntimeError(f"no hash of {MARK}")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError(f"{MARK} is not compared")

    def __int__(self) -> int:
        raise OSError(f"{MARK} is not read")

    @property
    def numerator(self) -> Any:
        """None, for it fails."""
        raise ValueError(f"{MARK} has none")


def _failing_iterator(values: list[Any]) -> Iterator[Any]:
    yield from values
    raise OSError(f"{MARK} cannot be read")


# ---------------------------------------------------------------- numbers

POWERS = [2**7, 2**8, 2**31, 2**32, 2**53, 2**63, 2**64, 2**100, 10**30, 10**300, 10**4000]
WHOLE = st.one_of(
    st.integers(0, 20),
    st.integers(-5, 1000),
    st.builds(
        lambda power, more, sign: sign * (power + more),
        st.sampled_from(POWERS),
        st.integers(-2, 2),
        st.sampled_from([1, 1, -1]),
    ),
    st.integers(0, 99).map(lambda more: MARK * 100 + more),
)
FLOATS = st.one_of(
    st.floats(-1000, 1000),
    st.sampled_from(
        [0.0, -0.0, 5e-324, -5e-324, 2.3e-308, 0.1, 0.3, -0.05, 1e300, 1.7e308, 2**53 + 1.0]
    ),
    st.integers(0, 99).map(lambda more: MARK + more / 100),
)
EXACT = st.sampled_from(
    [Fraction(1, 3), Fraction(-22, 7), Fraction(MARK, 7), Fraction(2**70, 3), Fraction(1, 10**400)]
    + [
        Decimal(each)
        for each in ("0.1", "-0.05", "1e30", f"{MARK}.5", "1e-400", "0e99999", "9e9999")
    ]
)
NUMPY = st.sampled_from(
    [
        np.int8(-128),
        np.uint8(255),
        np.int64(-(2**63)),
        np.uint64(2**64 - 1),
        np.float16(0.1),
        np.float32(MARK),
        np.float64(0.3),
        np.longdouble("1e4000"),
        np.longdouble("0.1"),
    ]
)
NO_NUMBERS = any_of(
    [
        None,
        True,
        False,
        "7",
        "",
        b"7",
        float("nan"),
        float("inf"),
        -float("inf"),
        1j,
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("-Infinity"),
        Decimal("1e10000"),
        Decimal("-9e999999"),
        np.float32("nan"),
        np.longdouble("inf"),
        np.bool_(True),
        np.complex64(1),
        np.str_("7"),
        np.datetime64("2026-01-01"),
        np.timedelta64(3, "s"),
        np.timedelta64("NaT"),
        np.ma.masked,
        pd.NA,
        pd.NaT,
        datetime.date(2026, 1, 1),
        object(),
        [1],
        (1, 2),
        {1: 2},
        {3},
        np.array([1]),
        np.array(5),
        int,
        len,
        ...,
        NotImplemented,
        FailingNumber(7),
    ]
)
NUMBERS = st.one_of(WHOLE, WHOLE, FLOATS, EXACT, NUMPY)


# ---------------------------------------------------------------- what holds them


def _strided(values: Any) -> Any:
    return np.repeat(np.array(values), 2)[::2]


def _swapped(values: Any) -> Any:
    found = np.array(values)
    return found.astype(found.dtype.newbyteorder())


def _read_only(values: Any) -> Any:
    found = np.array(values)
    found.flags.writeable = False
    return found


def _containing_itself(values: Any) -> Any:
    found = [*values]
    found.append(found)
    return found


def _structured(values: Any) -> Any:
    return np.array([(each,) for each in values], dtype=[("a", np.int64)])


def _of_type(kind: str) -> Callable[[Any], Any]:
    return lambda values: np.array([int(each) % 100 for each in values]).astype(kind)


def in_polars(values: Any, **how: Any) -> Any:
    """A Series of plain integers; others let polars itself panic."""
    if not all(type(each) is int and abs(each) < 2**53 for each in values):
        raise TypeError
    return pl.Series(values, **how)


def _unaligned(values: Any) -> Any:
    found = np.zeros(8 * len(values) + 1, dtype=np.uint8)[1:].view(np.int64)
    found[:] = values
    return found


GOOD_HOLDERS: list[Callable[[Any], Any]] = [
    list, list, list, tuple, np.array, np.array, np.array,
    lambda values: {f"item {number}": each for number, each in enumerate(values)},
    lambda values: collections.Counter({(number,): each for number, each in enumerate(values)}),
    lambda values: types.MappingProxyType({number / 2: each for number, each in enumerate(values)}),
    lambda values: np.array(values, dtype=object),
    pd.Series, lambda values: pd.Series(values, index=[f"n{i}" for i in range(len(values))]),
    lambda values: pd.Series(values, dtype="Int64"), lambda values: pd.array(values),
    in_polars, lambda values: in_polars(values, dtype=pl.Decimal(38, 2)),
    pa.array, lambda values: pa.chunked_array([pa.array(values)]),
    lambda values: pa.array(values, type=pa.decimal128(38, 1)),
    _strided, _swapped, _read_only, _unaligned,
    *map(_of_type, ("i1", "u1", "i2", "u2", "<i4", ">i4", "u4", "u8")),
    *map(_of_type, ("f2", "f4", "f8", ">f8", "g")),
    lambda values: array.array("q", values), lambda values: memoryview(array.array("d", values)),
    collections.deque, lambda values: dict(enumerate(values)).values(),
    GoodArray, ArrowStream, np.ma.array, lambda values: np.array(values)[::-1],
]  # fmt: skip
"""What answers may come in; some of them refuse some numbers."""

BAD_HOLDERS: list[Callable[[Any], Any]] = [
    lambda _: None, lambda _: 7, lambda _: "123", lambda _: b"123", lambda _: bytearray(b"123"),
    lambda _: [], lambda _: {}, lambda _: np.array([]), lambda _: pd.Series([], dtype=float), set,
    frozenset, iter, lambda values: (each for each in values), _failing_iterator, Failing,
    FailingArray, WrongArray, lambda _: FailingArrow(), _containing_itself, _structured,
    lambda values: np.array(values).reshape(-1, 1), lambda values: np.array(values[0]),
    lambda values: [values], lambda values: [*values, None], lambda values: [*values, float("nan")],
    lambda values: np.array([*map(str, values)]), lambda values: np.array(values).astype(complex),
    lambda values: np.zeros(len(values), dtype="M8[s]"), lambda _: np.zeros(3, dtype="m8[s]"),
    lambda values: np.ma.array(values, mask=[True] + [False] * (len(values) - 1)),
    lambda values: pd.Series([*values, None], dtype="Float64"),
    lambda _: pd.Series(["a", "b", "c"]),
    lambda values: pd.DataFrame({"a": values}), lambda values: pd.Index(values),
    lambda _: pd.Series(pd.to_datetime(["2026-01-01"] * 3)), lambda _: pd.Categorical([1, 2, 1]),
    lambda values: pd.Series([*values], index=["same"] * len(values)),
    lambda _: pl.Series([5, None]), lambda _: pl.DataFrame({"a": [1, 2]}),
    lambda _: pl.Series(["a", "b"]), lambda _: pl.Series([[1], [2]]),
    lambda _: pl.Series([True, False]),
    lambda values: pa.array([*values, None]), lambda values: pa.table({"a": pa.array(values)}),
    lambda _: pa.array([None, None]), lambda _: pa.array([{"a": 1}, {"a": 2}]),
    lambda _: pa.array(["a"]), lambda _: pa.array(["b", "a", "b"]).dictionary_encode(),
    lambda _: pa.array([True, False, True]),
    lambda _: object(), lambda _: len, lambda _: int, lambda _: range(5), lambda _: ...,
    *(
        lambda values, kind=kind: kind(zip(map(str, range(99)), values, strict=False))
        for kind in (FewNames, SameNames, LyingLength)
    ),
    lambda _: memoryview(b"abc"), lambda _: memoryview(b"abcd").cast("B", (2, 2)),
]  # fmt: skip
"""What they may not come in, but for a range and the like, which are good after all."""


def held(holder: Callable[[Any], Any], values: list[Any]) -> Any:
    """The values in what holds them, or as a list if that cannot hold these."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return holder(values)
    except Exception:
        return [*values]


@st.composite
def answers(draw: st.DrawFn) -> Any:
    """Answers of every kind, most of them usable."""
    values = draw(
        st.one_of(
            st.lists(st.integers(0, 20), min_size=1, max_size=12),
            st.lists(WHOLE, min_size=2, max_size=8),
            st.lists(NUMBERS, min_size=2, max_size=8),
            st.lists(FLOATS, min_size=2, max_size=8),
        )
    )
    luck = draw(st.integers(0, 9))
    if luck == 0:
        values.insert(draw(st.integers(0, len(values))), draw(NO_NUMBERS))
    holder = draw(st.sampled_from(BAD_HOLDERS if luck == 1 else GOOD_HOLDERS))
    return held(holder, values)


@st.composite
def usable_answers(draw: st.DrawFn) -> Any:
    """Answers that are more than a few, and numbers."""
    values = draw(st.lists(st.one_of(WHOLE, st.integers(0, 20)), min_size=4, max_size=12))
    return held(draw(st.sampled_from(GOOD_HOLDERS)), values)
