"""Data frames of pandas and polars, and Arrow tables and streams."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from topgap.counting.engine import Engine, Table, build_table, locate_columns
from topgap.display.text import name_type
from topgap.domains.cell_text import to_text
from topgap.errors import MissingExtraError, SourceError

_LABEL = "The data frame"


def read_frame(engine: Engine, frame: Any, wanted: Sequence[str]) -> Table:
    """Read the wanted columns of a frame: pandas, polars (also lazy), or whatever streams Arrow.

    Raises:
        SourceError: It is none of these, or has no such columns.
        MissingExtraError: pyarrow, by which polars and Arrow hand over theirs, is not installed.
    """
    # Under names of our own, because DuckDB does not distinguish names by case.
    if type(frame).__module__.partition(".")[0] == "pandas":
        _register(engine, "frame", _select_from_pandas(frame, wanted))
    elif type(frame).__module__.partition(".")[0] == "polars":
        _register(engine, "frame", _select_from_polars(frame, wanted))
    elif hasattr(frame, "__arrow_c_stream__"):
        reader = _open_reader(frame)
        places = locate_columns(wanted, reader.schema.names, _LABEL)
        _register(engine, "stream", reader)
        # Some can be read only once, so all of it is carried over; what is too much goes to disk.
        head = ", ".join(f"c{n}" for n in range(len(reader.schema)))
        cells = ", ".join(f"c{place} AS w{n}" for n, place in enumerate(places))
        engine.run(
            f"CREATE TEMP TABLE frame AS SELECT {cells} FROM stream AS stream({head})", label=_LABEL
        )
        engine.connection.unregister("stream")
    else:
        raise SourceError(
            f"{name_type(frame)} cannot be counted; give a path, a pandas or polars data "
            f"frame, or an Arrow table."
        )
    columns = engine.describe(_LABEL, "frame").columns.values()
    return build_table(_LABEL, "frame", wanted, [column.kind for column in columns])


def refuse_spark(source: Any) -> None:
    """Refuse a data frame of Spark, by its type: it makes up any other attribute.

    Raises:
        SourceError: It is one.
    """
    if type(source).__module__.partition(".")[0] == "pyspark":
        raise SourceError(
            "A Spark data frame is counted in Spark; use topgap.spark, such as "
            "topgap.spark.top_k_events, or pass its collected rows, df.toArrow()."
        )


def _register(engine: Engine, name: str, frame: Any) -> None:
    try:
        engine.connection.register(name, frame)
    except Exception:  # DuckDB's own, or Python's of a text that is no Unicode; both quote data
        raise SourceError(f"{_LABEL} has a column of a type that cannot be used.") from None


def _import_arrow(for_what: str) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError(
            f"Counting {for_what} needs pyarrow: pip install pyarrow."
        ) from None
    return pa


def _open_reader(stream: Any) -> Any:
    """Open the stream by pyarrow, which keeps the names of its columns."""
    pa = _import_arrow("Arrow tables and streams")
    try:
        return pa.RecordBatchReader.from_stream(stream)
    except Exception:  # of whoever feeds it
        raise SourceError(f"{_LABEL} cannot be read.") from None


def _select_from_pandas(frame: Any, wanted: Sequence[str]) -> Any:
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise SourceError(f"A pandas {type(frame).__name__} has no columns; give a data frame.")
    names = [each if isinstance(each, str) else "" for each in frame.columns]
    # They are not listed in an error: whoever made a pivot has data among them.
    frame = frame.iloc[:, locate_columns(wanted, names, _LABEL, names_are_schema=False)]
    frame = frame.set_axis([f"w{n}" for n in range(len(wanted))], axis="columns")
    mixed = [name for name, kind in frame.dtypes.items() if kind == np.dtype(object)]
    frame = frame.copy(deep=False)
    for name in mixed:
        try:
            texts = [_cell_text(each) for each in frame[name]]
        except UnicodeError:
            raise SourceError(f"{_LABEL} has text that is not valid Unicode.") from None
        except (TypeError, ValueError) as error:
            if isinstance(error, SourceError):
                raise
            raise SourceError(f"{_LABEL} has a value that is neither text nor a number.") from None
        frame[name] = pd.Series(texts, dtype=object, index=frame.index)
    return frame


def _cell_text(value: Any) -> str | None:
    """Convert a value of a column of objects; missing values are None, NaN and their like.

    Raises:
        UnicodeError: It is text that cannot be written.
        SourceError: It is neither text nor a number.
    """
    if isinstance(value, str):
        if not value.isascii():
            value.encode()
        return value
    if value is None or type(value).__name__ in {"NAType", "NaTType"} or value != value:
        return None
    text = to_text(value)
    if text is None:
        raise SourceError(
            f"{_LABEL} has {name_type(value, 'a')} in one of its columns, which is neither text "
            f"nor a number."
        )
    return text


def _select_from_polars(frame: Any, wanted: Sequence[str]) -> Any:
    import polars as pl

    _import_arrow("a polars frame")
    if not isinstance(frame, pl.LazyFrame | pl.DataFrame):
        raise SourceError(f"A polars {type(frame).__name__} has no columns; give a data frame.")
    locate_columns(wanted, frame.collect_schema().names(), _LABEL)
    # Not by pl.col, to which some names are patterns.
    frame = frame.select(pl.selectors.by_name(name).alias(f"w{n}") for n, name in enumerate(wanted))
    return frame.collect() if isinstance(frame, pl.LazyFrame) else frame
