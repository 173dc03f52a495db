"""No error leaves counting with anything of the data in it, not even behind it."""

import gc
import io
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.counting.sample_events import one
from topgap import counting, streams, top_k
from topgap.counting import Domain, read_domain
from topgap.counting.engine import Engine
from topgap.errors import DomainError, SourceError, TopgapError

SAID = "Zaphod"
PACKAGE = str(Path(counting.__file__).parents[1])


class Unshowable:
    """A value that says a secret in whatever goes wrong with it."""

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        raise ValueError(SAID)

    def __eq__(self, other: object) -> bool:
        raise KeyError(SAID)


def frame(*values: Any, kind: Any = object) -> pd.DataFrame:
    return pd.DataFrame({"who": pd.Series([*values], dtype=kind), "what": "flu"})


def failing_batches() -> Iterator[Any]:
    yield pa.record_batch({"who": ["Ann"], "what": ["flu"]})
    raise ValueError(SAID)


def broken_text() -> Any:
    ends = pa.py_buffer(np.array([0, 8], dtype=np.int32).tobytes())
    text = pa.Array.from_buffers(pa.string(), 1, [None, ends, pa.py_buffer(b"Zaphod\xff\xff")])
    return pa.table({"who": text, "what": ["flu"]})


SOURCES: dict[str, Callable[[], Any]] = {
    "a lone surrogate": lambda: frame(f"\ud800{SAID}"),
    "a value that cannot be compared": lambda: frame(Unshowable()),
    "a value of another kind": lambda: frame([SAID]),
    "complex numbers": lambda: frame(1j, kind=complex),
    "polars objects": lambda: pl.DataFrame(
        {"who": pl.Series([Unshowable()], dtype=pl.Object), "what": ["flu"]}
    ),
    "a lazy frame that fails": lambda: pl.LazyFrame({"who": [SAID], "what": ["flu"]}).with_columns(
        pl.col("who").cast(pl.Int64)
    ),
    "a stream that fails": lambda: pa.RecordBatchReader.from_batches(
        pa.schema([("who", pa.string()), ("what", pa.string())]), failing_batches()
    ),
    "text that is none": broken_text,
    "a struct": lambda: pl.DataFrame({"who": [{SAID: 1}], "what": ["flu"]}),
    "single halves": lambda: pa.table({"who": np.array([1], dtype="f2"), "what": ["flu"]}),
    "CSV that is no UTF-8": lambda: io.BytesIO(b"who,what\nZaphod\xff,flu\n"),
    "CSV with half a character": lambda: io.BytesIO(
        b"\xff\xfe" + "who,what\nZaphod,flu\n".encode("utf-16-le") + b"\0"
    ),
    "CSV of differing width": lambda: io.BytesIO(b"who,what\nZaphod,flu,more\n"),
}


def behind(error: BaseException) -> str:
    """All that a program can find in an error: its text, what it was raised from, its frames."""
    found = [repr(error), *traceback.format_exception(error)]
    for each in (error.__cause__, error.__context__):
        if each is not None:
            found.append(repr(vars(each)) + behind(each))
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(PACKAGE):
            named = trace.tb_frame.f_locals
            found += [repr(value) for name, value in named.items() if name not in {"args", "named"}]
        trace = trace.tb_next
    return "\n".join(found)


@pytest.mark.parametrize("name", SOURCES)
def test_an_error_holds_no_value_of_the_data(name: str) -> None:
    how = {"format": "csv"} if name.startswith("CSV") else {}
    with pytest.raises(SourceError) as error:
        one(SOURCES[name](), **how)
    assert error.value.__context__ is error.value.__cause__ is None
    assert SAID not in behind(error.value)
    assert str(error.value).endswith(".")
    with pytest.raises(TopgapError) as error_of_counts:
        counting.read_counts(SOURCES[name](), item="what", count="who", domain=["flu"], **how)  # type: ignore[call-overload]
    assert error_of_counts.value.__context__ is None
    assert SAID not in behind(error_of_counts.value)


def test_an_error_of_transactions_and_of_a_domain_holds_none(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_bytes(b"Zaphod\xff\n")
    calls: list[Callable[[], object]] = [
        lambda: counting.count_transactions(io.BytesIO(b"Zaphod\xff\n"), domain=["flu"]),
        lambda: read_domain(tmp_path / "d.txt"),
        lambda: Domain([Unshowable(), SAID]),
        lambda: Domain([pd.NA, SAID]),
        lambda: Domain(each for each in failing_batches()),
    ]
    for call in calls:
        with pytest.raises((SourceError, DomainError)) as error:
            call()
        assert error.value.__context__ is None
        assert SAID not in str(error.value)


def test_an_interruption_stays_one_and_holds_nothing() -> None:
    def interrupted(*_: object) -> None:
        try:
            raise ValueError(SAID)
        except ValueError:
            raise KeyboardInterrupt from None

    with pytest.raises(KeyboardInterrupt) as error:
        one(io.BytesIO(b"who,what\nAnn,flu\n"), format="csv", progress=interrupted)
    assert error.value.__context__ is None


def test_whoever_watches_may_stop_with_an_error_of_their_own() -> None:
    class StoppedError(Exception):
        pass

    def stop(*_: object) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        one(io.BytesIO(b"who,what\nAnn,flu\n"), format="csv", progress=stop)


def test_a_wrong_call_is_told_as_python_does_and_the_error_before_is_kept() -> None:
    with pytest.raises(TypeError, match="frmat"):
        one(frame("Ann"), frmat="csv")
    try:
        raise LookupError("ours")
    except LookupError:
        with pytest.raises(SourceError) as error:
            one(frame([SAID]))
    assert isinstance(error.value.__context__, LookupError)


@pytest.mark.slow
def test_an_error_leaves_no_cycle_behind() -> None:
    gc.collect()
    gc.disable()
    try:
        with pytest.raises(SourceError):
            one(object())
        # By the type, for objects of other tests may raise if they are asked for their class.
        found = [each for each in gc.get_objects() if issubclass(type(each), Engine)]
    finally:
        gc.enable()
    assert found == []


class Failing:
    """Says a secret when it is made an array of."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError(SAID)


@pytest.mark.parametrize(
    "answers",
    [Failing(), np.array([1.0, np.nan, 2.0]), [1.0, float("inf"), 2.0]],
    ids=["no array", "an array with NaN", "a list with an infinite number"],
)
def test_an_error_of_answers_holds_no_answer(answers: Any) -> None:
    with pytest.raises(TopgapError) as error:
        top_k(answers, k=1, epsilon=1)
    assert error.value.__context__ is None


def test_an_error_of_items_or_of_a_stream_holds_none() -> None:
    with pytest.raises(TopgapError) as error:
        top_k([1, 2], k=1, epsilon=1, items=failing_batches())
    assert error.value.__context__ is None
    batch = pa.record_batch({"who": ["Ann", "Bob"], "n": [1, 2]})

    def failing() -> Iterator[Any]:
        yield batch
        raise ValueError(SAID)

    stream = pa.RecordBatchReader.from_batches(batch.schema, failing())
    with pytest.raises(SourceError) as streamed:
        streams.top_k(stream, k=1, epsilon=1, item="who", count="n")
    assert streamed.value.__context__ is None
