"""Columns as a pandas, polars or Arrow table."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from topgap.errors import MissingExtraError, ReleaseError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Columns = dict[str, Any]
Frame = TypeVar("Frame")


def to_pandas(columns: Columns) -> "pd.DataFrame":
    """A pandas data frame.

    Raises:
        ReleaseError: The values fit no column.
        MissingExtraError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise _missing_extra_error("to_pandas", "pandas") from None
    return _build_frame(pd.DataFrame, columns)


def to_polars(columns: Columns) -> "pl.DataFrame":
    """A polars data frame; with the errors of `to_pandas`."""
    try:
        import polars as pl
    except ImportError:
        raise _missing_extra_error("to_polars", "polars") from None
    return _build_frame(pl.DataFrame, columns)


def to_arrow(columns: Columns) -> "pa.Table":
    """An Arrow table; with the errors of `to_pandas`."""
    try:
        import pyarrow as pa
    except ImportError:
        raise _missing_extra_error("to_arrow", "pyarrow") from None
    return _build_frame(pa.table, columns)


def _build_frame(frame: Callable[[Columns], Frame], columns: Columns) -> Frame:
    try:
        for name, column in columns.items():
            if name.startswith("item"):
                [*map(repr, column)]  # which a library would do where no error can leave
        return frame(columns)
    except Exception:  # whose text is not ours
        raise ReleaseError(
            "The items have types that do not fit in one column; name the items by strings."
        ) from None


def _missing_extra_error(method: str, library: str) -> MissingExtraError:
    return MissingExtraError(f"{method} needs {library}: pip install {library}.")
