"""Answers and names are taken from whatever holds them, or refused without showing any."""

import sys
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import topgap
from topgap import AnswersError, AnswersTypeError, ItemsError, MissingExtraError, counting

SPEAKING = {"ash": 5, "elm": 10**9, "fir": 0, "oak": 10**6}
NUMBERS = [*SPEAKING.values()]


class Buffered:
    """Speaks Arrow's protocol and nothing else."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._array.__arrow_c_array__(requested_schema)


class Streamed:
    """Speaks Arrow's protocol of streams and nothing else."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._array.__arrow_c_stream__(requested_schema)


class OwnSeries(pd.Series):
    """What people make of pandas."""


UNNAMED: list[Any] = [
    NUMBERS,
    tuple(NUMBERS),
    SPEAKING.values(),
    pd.Index(NUMBERS),
    [float(number) for number in NUMBERS],
    [*NUMBERS[:3], Fraction(10**6)],
    [Decimal(number) for number in NUMBERS],
    *(
        np.array(NUMBERS, dtype=t)
        for t in ["i4", "i8", "u4", "u8", "f4", "f8", "g", "O", ">i8", ">f8", ">u8"]
    ),
    np.array([5, 120, 0, 60], dtype=np.int8),
    np.array([5, 120, 0, 60], dtype=np.float16),
    np.array([NUMBERS, NUMBERS]).T[:, 1],
    np.ma.masked_array(NUMBERS, mask=[False] * 4),
    *(
        np.frombuffer(b"." + np.array(NUMBERS, dtype=t).tobytes(), dtype=t, offset=1)
        for t in ["i8", "f8", "u8"]
    ),
    array("q", NUMBERS),
    memoryview(array("q", NUMBERS)),
    pl.Series(NUMBERS),
    pl.Series(NUMBERS, dtype=pl.Float64),
    pl.Series(NUMBERS, dtype=pl.Decimal(20, 2)),
    pl.Series(NUMBERS, dtype=pl.Int128),
    pa.array(NUMBERS),
    pa.array(NUMBERS, type=pa.float64()),
    pa.array([Decimal(n) for n in NUMBERS], type=pa.decimal128(20, 2)),
    pa.chunked_array([NUMBERS[:1], NUMBERS[1:]]),
    Buffered(pa.array(NUMBERS)),
    Streamed(pa.chunked_array([NUMBERS[:1], NUMBERS[1:]])),
]

NAMED: list[Any] = [
    SPEAKING,
    counting.Counts(SPEAKING),
    OrderedDict(SPEAKING),
    pd.Series(SPEAKING),
    pd.Series(SPEAKING, dtype="Int64"),
    pd.Series(SPEAKING, dtype="float64"),
    pd.Series(SPEAKING, dtype="int64[pyarrow]"),
    pd.Series({name: Fraction(count) for name, count in SPEAKING.items()}),
    OwnSeries(SPEAKING),
]


@pytest.mark.parametrize("answers", UNNAMED, ids=lambda answers: type(answers).__name__)
def test_answers_are_taken_from_whatever_holds_them(answers: Any) -> None:
    release = topgap.top_k(answers, 2, epsilon=10, sensitivity=1)
    assert release.items == (1, 3)
    named = topgap.top_k(answers, 2, epsilon=10, items=[*SPEAKING])
    assert named.items == ("elm", "oak")


@pytest.mark.parametrize("answers", NAMED, ids=lambda answers: type(answers).__name__)
def test_names_come_with_the_answers(answers: Any) -> None:
    release = topgap.top_k(answers, 2, epsilon=10)
    assert release.items == ("elm", "oak")
    assert release.indices.tolist() == [1, 3]
    with pytest.raises(ItemsError, match="already name their items"):
        topgap.top_k(answers, 2, epsilon=10, items=[*SPEAKING])


@pytest.mark.parametrize(
    "items",
    [
        ["ash", "elm", "fir", "oak"],
        ("ash", "elm", "fir", "oak"),
        SPEAKING.keys(),
        np.array(["ash", "elm", "fir", "oak"]),
        pd.Index(["ash", "elm", "fir", "oak"]),
        pd.Series(["ash", "elm", "fir", "oak"], index=[3, 2, 1, 0]),
        pl.Series(["ash", "elm", "fir", "oak"]),
        pa.array(["ash", "elm", "fir", "oak"]),
    ],
    ids=lambda items: type(items).__name__,
)
def test_items_may_be_any_ordered_names(items: Any) -> None:
    release = topgap.top_k(NUMBERS, 2, epsilon=10, items=items)
    assert release.items == ("elm", "oak")
    assert {type(item) for item in release.items} == {str}


@pytest.mark.parametrize(
    ("items", "word"),
    [
        (["ash"], "1 items for 4 answers"),
        (["ash", "elm", "ash", "oak"], "same name"),
        (np.array(["ash", "elm", "ash", "oak"]), "same name"),
        (pd.Index(["ash", "elm", "ash", "oak"]), "same name"),
        ([["ash"], ["elm"], ["fir"], ["oak"]], "immutable"),
        ({"ash", "elm", "fir", "oak"}, "order"),
        ("abcd", "not str"),
        (dict(enumerate("abcd")), "not dict"),
        (4, "not int"),
        (np.zeros((4, 1)), "one-dimensional"),
    ],
)
def test_names_that_do_not_fit_are_refused(items: Any, word: str) -> None:
    with pytest.raises(ItemsError, match=word):
        topgap.top_k(NUMBERS, 2, epsilon=1, items=items)


MISSING: list[Callable[[int], Any]] = [
    lambda s: [s, None],
    lambda s: {"ash": s, "oak": None},
    lambda s: pd.Series([s, None]),
    lambda s: pd.Series([s, pd.NA], dtype="Int64"),
    lambda s: [s, pd.NA],
    lambda s: np.array([s, None], dtype=object),
    lambda s: pd.Series([s, None], dtype="int64[pyarrow]"),
    lambda s: pl.Series([s, None]),
    lambda s: pa.array([s, None]),
    lambda s: pa.chunked_array([[s], [None]]),
    lambda s: Buffered(pa.array([s, None])),
]
NO_NUMBERS: list[Callable[[int], Any]] = [
    lambda s: pd.Series([str(s), "x"]),
    lambda s: pd.Series(pd.to_datetime([s, 0])),
    lambda s: pl.Series([str(s), "x"]),
    lambda s: pl.Series([s % 2 == 0, True]),
    lambda s: pa.array([str(s), "x"]),
    lambda s: pa.array([s % 2 == 0, True]),
    lambda s: pa.chunked_array([[s % 2 == 0], [True]]),
    lambda s: pl.DataFrame({"x": [s, 1]}),
    lambda s: pl.col(f"x{s}"),
    lambda s: pd.DataFrame({"x": [s, 1]}),
    lambda s: pd.DataFrame({"x": [s, 1]}).groupby("x"),
    lambda s: pa.table({"x": [s, 1]}),
    lambda s: bytearray([s % 256, 1]),
    lambda s: Buffered(s),
    lambda s: {"ash": s, "oak": "x"},
]


@pytest.mark.parametrize("make", [*MISSING, *NO_NUMBERS])
def test_columns_that_are_no_answers_are_refused_without_showing_any(
    make: Callable[[int], Any],
) -> None:
    error = AnswersError if make in MISSING else AnswersTypeError
    texts = set()
    for secret in (987654321, 123456789):
        with pytest.raises(error) as caught:
            topgap.noisy_max(make(secret), epsilon=1)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
        texts.add(str(caught.value))
    (text,) = texts
    assert text.endswith(".")
    assert "\n" not in text


def test_arrow_without_pyarrow_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = Buffered(pa.array(NUMBERS))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="pip install pyarrow"):
        topgap.noisy_max(answers, epsilon=1)


def test_int64_is_read_where_it_lies() -> None:
    answers = np.arange(100_000)
    taken = topgap.selection.answers.to_kernel_array(answers, 10)
    assert taken is not None
    assert taken[0] is answers
    frozen = np.arange(10)
    frozen.flags.writeable = False
    assert topgap.noisy_max(frozen * 10**9, epsilon=1).items == (9,)
    assert (answers == np.arange(100_000)).all()


class FailingSequence(Sequence[Any]):
    """Fails as it is read, and says what must not be said."""

    def __init__(self, secret: int) -> None:
        self.secret = secret

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError(f"{self.secret} is broken")


class FailingMapping(Mapping[str, Any]):
    """The same by name."""

    def __init__(self, secret: int) -> None:
        self.secret = secret

    def __len__(self) -> int:
        return 3

    def __iter__(self) -> Iterator[str]:
        return iter(("ash", "elm", "oak"))

    def __getitem__(self, name: str) -> Any:
        raise RuntimeError(f"{self.secret} is broken")


@pytest.mark.parametrize(
    "answers",
    [
        FailingSequence(987654321),
        FailingMapping(987654321),
        pd.Series([Decimal("sNaN987654321"), Decimal(1)]),
    ],
    ids=["sequence", "mapping", "signalling NaN"],
)
def test_what_fails_as_it_is_read_speaks_in_our_words(answers: object) -> None:
    with pytest.raises(AnswersError) as caught:
        topgap.noisy_max(answers, epsilon=1)
    assert "987654321" not in str(caught.value)
    assert caught.value.__suppress_context__
