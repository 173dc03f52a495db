"""Data frames of pandas and polars, and Arrow tables and streams."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from topgap.counting.cells import text_of
from topgap.counting.engine import Engine
from topgap.counting.tables import Table, described, quoted
from topgap.errors import MissingExtraError, SourceError

_LABEL = "The data frame"


def read_frame(engine: Engine, frame: Any, wanted: Sequence[str]) -> Table:
    """The wanted columns of a frame: pandas, polars (lazy too), or whatever streams Arrow.

    Raises:
        SourceError: It is none of these, or has no such columns.
        MissingExtraError: pyarrow, by which polars hands over its frames, is not installed.
    """
    if type(frame).__module__.partition(".")[0] == "pandas":
        _register(engine, "frame", _from_pandas(frame, wanted))
    elif type(frame).__module__.partition(".")[0] == "polars":
        _register(engine, "frame", _from_polars(frame, wanted))
    elif hasattr(frame, "__arrow_c_stream__"):
        _register(engine, "stream", frame)
        # Some can be read only once, so all of it is carried over; what is too much goes to disk.
        engine.run("CREATE TEMP TABLE frame AS SELECT * FROM stream", of=_LABEL)
        engine.connection.unregister("stream")
    else:
        raise SourceError(
            f"A {type(frame).__name__} cannot be counted; give a path, a pandas or polars data "
            f"frame, or an Arrow table."
        )
    return described(engine, _LABEL, "frame")


def _register(engine: Engine, name: str, frame: Any) -> None:
    try:
        engine.connection.register(name, frame)
    except Exception:  # DuckDB's own, or Python's of a text that is no Unicode; both quote data
        raise SourceError(f"{_LABEL} has a column of a type that cannot be used.") from None


def _from_pandas(frame: Any, wanted: Sequence[str]) -> Any:
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise SourceError(f"A pandas {type(frame).__name__} has no columns; give a data frame.")
    names = [*frame.columns]
    for name in wanted:
        if names.count(name) != 1:
            many = "more than one column" if name in names else "no column"
            raise SourceError(f"{_LABEL} has {many} {quoted(str(name))}.")
    frame = frame[[*dict.fromkeys(wanted)]]
    mixed = [name for name, kind in frame.dtypes.items() if kind == np.dtype(object)]
    frame = frame.copy(deep=False)
    for name in mixed:
        try:
            texts = [_cell(each) for each in frame[name]]
        except (TypeError, ValueError) as error:
            if isinstance(error, SourceError):
                raise
            raise SourceError(f"{_LABEL} has a value that is no text and no number.") from None
        frame[name] = pd.Series(texts, dtype=object, index=frame.index)
    return frame


def _cell(value: Any) -> str | None:
    """A value of a column that may hold anything; missing values are None, NaN and their like."""
    if isinstance(value, str):
        return value
    if value is None or type(value).__name__ in {"NAType", "NaTType"} or value != value:
        return None
    text = text_of(value)
    if text is None:
        raise SourceError(
            f"{_LABEL} has a {type(value).__name__} in one of its columns, which is no text and no "
            f"number."
        )
    return text


def _from_polars(frame: Any, wanted: Sequence[str]) -> Any:
    import polars as pl

    try:
        import pyarrow as _  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "Counting a polars frame needs pyarrow: pip install pyarrow."
        ) from None
    if isinstance(frame, pl.LazyFrame):
        frame = frame.select(each for each in wanted if each in frame.collect_schema().names())
        frame = frame.collect()
    if not isinstance(frame, pl.DataFrame):
        raise SourceError(f"A polars {type(frame).__name__} has no columns; give a data frame.")
    return frame
