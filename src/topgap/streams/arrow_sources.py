"""Whatever holds rows of items and counts, as parts that hand over Arrow's batches."""

import io
import os
import stat
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from topgap.display.text import name_type
from topgap.errors import SourceError, TopgapError
from topgap.selection.arrow_columns import ROWS, ColumnPair
from topgap.sources.paths import check_readable, expand_paths, is_path, label_open_file, label_path

Batches = Generator[tuple[Any, float], None, None]
"""Batches, each with how much of the part's size it is."""

_BUFFER = 2**20


@dataclass(frozen=True)
class Part:
    """Rows of one schema.

    Attributes:
        label: What to call it in an error.
        schema: Arrow's schema of it.
        size: How long it is, in bytes if it is a file and otherwise in rows; None if it does not
            tell.
        read: Begins to read it.
        can_be_reread: Whether it can be read more than once.
    """

    label: str
    schema: Any
    size: float | None
    read: Callable[[], Batches]
    can_be_reread: bool = True


def open_source(source: Any, wanted: ColumnPair, at_end: ExitStack) -> list[Part]:
    """Open a source as parts; of a file only the metadata are read.

    Args:
        source: Whatever `topgap.streams.top_k` takes.
        wanted: The columns to read.
        at_end: Closes what must be closed when all has been read.

    Raises:
        SourceError: It cannot be read, or is of a type that cannot.
    """
    if is_path(source) or (isinstance(source, list | tuple) and all(map(is_path, source))):
        return _open_files(source, wanted, at_end)
    if hasattr(source, "read") and not hasattr(source, "__arrow_c_stream__"):
        return [_open_file(source, wanted)]
    library = type(source).__module__.partition(".")[0]
    if library == "pyarrow" and hasattr(source, "scanner"):
        return [_open_dataset(source, wanted)]
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if not hasattr(source, "__arrow_c_stream__"):
        raise SourceError(
            f"{name_type(source)} cannot be streamed; give the path of a Parquet or Arrow "
            f"file, a data frame (of a lazy one, collect it), or any other Arrow stream, such as "
            f"RecordBatchReader.from_batches."
        )
    label, size = "The stream", None
    if library in {"pandas", "polars"} and hasattr(source, "columns"):
        has_all = {*wanted.names} <= {*source.columns}
        source = source[wanted.names] if has_all else source.head(0)
        label, size = "The data frame", len(source)
    elif isinstance(source, pa.Table):
        label, size = "The table", len(source)
    with _hide_library_errors(label):
        reader = pa.RecordBatchReader.from_stream(source)
    if size is None:
        return [
            Part(label, reader.schema, None, lambda: _iterate(label, reader), can_be_reread=False)
        ]
    return [Part(label, reader.schema, size, lambda: _iterate(label, _open_reader(label, source)))]


def _open_reader(label: str, held: Any) -> Any:
    """Read a table in memory from its start."""
    with _hide_library_errors(label):
        return pa.RecordBatchReader.from_stream(held)


@contextmanager
def _hide_library_errors(label: str) -> Generator[None, None, None]:
    """Replace errors of Arrow and of whoever feeds it: their texts quote data."""
    try:
        yield
    except TopgapError:
        raise
    except MemoryError:
        raise SourceError(f"{label} does not fit in memory.") from None
    except Exception:
        raise SourceError(f"{label} cannot be read: it is damaged or in another format.") from None


def _iterate(label: str, batches: Any, size: Callable[[Any], float] = len) -> Batches:
    """Iterate over batches, with library errors replaced."""
    batches = iter(batches)
    while True:
        with _hide_library_errors(label):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch, size(batch)


def _open_files(source: Any, wanted: ColumnPair, at_end: ExitStack) -> list[Part]:
    found: dict[tuple[int, int], str] = {}  # a file that is named twice is read once
    for given in expand_paths(source):
        for path in _list_directory(given) if os.path.isdir(given) else [given]:
            status = check_readable(path)
            if stat.S_ISREG(status.st_mode) and status.st_size == 0:
                raise SourceError(f"{label_path(path)} is empty.")
            found.setdefault((status.st_dev, status.st_ino), path)
    return [_open_path(path, wanted, at_end) for path in found.values()]


def _list_directory(path: str) -> list[str]:
    """List the files of a directory, without those that begin with `_` or `.`."""
    label = label_path(path)
    try:
        inside = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError as error:
        raise SourceError(f"{label} cannot be read: {error.strerror}.") from None
    inside = [entry for entry in inside if not entry.name.startswith(("_", "."))]
    if any(entry.is_dir() for entry in inside):
        raise SourceError(
            f"{label} has directories in it; name the files, as in '{label}/**/*.parquet'."
        )
    if not inside:
        raise SourceError(f"{label} is a directory without Parquet or Arrow files.")
    return [entry.path for entry in inside]


def _open_path(path: str, wanted: ColumnPair, at_end: ExitStack) -> Part:
    label = label_path(path)
    with _hide_library_errors(label):
        if not os.path.isfile(path):  # a pipe, which can be read only once
            return _open_pipe(at_end.enter_context(open(path, "rb")), label)
        with open(path, "rb") as file:
            start = file.read(8)

        def open_file() -> Any:
            return pa.OSFile(os.fsencode(path))  # as bytes, for a name need not be Unicode

        return _open_by_content(start, open_file, label, wanted, os.path.getsize(path))


def _open_file(source: Any, wanted: ColumnPair) -> Part:
    """An open binary file: from its start, if one can go back to it, and otherwise a stream."""
    label = label_open_file(source)
    if isinstance(source, io.TextIOBase):
        raise SourceError(f"{label} must be open for reading bytes.")
    with _hide_library_errors(label):
        if not (hasattr(source, "seekable") and source.seekable()):
            return _open_pipe(source, label)
        size = source.seek(0, os.SEEK_END)
        source.seek(0)
        start = source.read(8)

        def open_file() -> Any:
            source.seek(0)
            return pa.PythonFile(source, mode="r")

        return _open_by_content(start, open_file, label, wanted, size)


def _open_by_content(
    start: bytes, open_file: Callable[[], Any], label: str, wanted: ColumnPair, size: int
) -> Part:
    """Open a file by the format that its first bytes show."""
    if start[:4] == b"PAR1":
        return _open_parquet(open_file, label, wanted, size)
    if start[:6] == b"ARROW1":
        return _open_arrow_file(open_file, label, wanted, size)
    if start[:4] == b"\xff\xff\xff\xff":
        return _open_stream_file(open_file, label, wanted, size)
    if not start:
        raise SourceError(f"{label} is empty.")
    raise SourceError(f"{label} is neither a Parquet file nor an Arrow file or stream.")


def _open_parquet(open_file: Callable[[], Any], label: str, wanted: ColumnPair, size: int) -> Part:
    import pyarrow.parquet as pq

    def file() -> Any:
        # Through a buffer, or the columns of a whole row group would lie in memory; without
        # threads, for each would keep memory of its own.
        return pq.ParquetFile(open_file(), buffer_size=_BUFFER, pre_buffer=False)

    def read() -> Batches:
        with _hide_library_errors(label):
            batches = file().iter_batches(ROWS, columns=wanted.names, use_threads=False)
        yield from _iterate(label, batches, lambda batch: size * len(batch) / rows)

    seen = file()
    rows = max(seen.metadata.num_rows, 1)
    return Part(label, seen.schema_arrow, size, read)


def _open_arrow_file(
    open_file: Callable[[], Any], label: str, wanted: ColumnPair, size: int
) -> Part:
    schema = pa.ipc.open_file(open_file()).schema

    def read() -> Batches:
        with _hide_library_errors(label):
            file = pa.ipc.open_file(open_file(), options=_select_columns(wanted, schema))
            number = file.num_record_batches
        yield from _iterate(label, map(file.get_batch, range(number)), lambda _: size / number)

    return Part(label, schema, size, read)


def _open_stream_file(
    open_file: Callable[[], Any], label: str, wanted: ColumnPair, size: int
) -> Part:
    schema = pa.ipc.open_stream(open_file()).schema

    def read() -> Batches:
        with _hide_library_errors(label):
            file = open_file()
            before = file.tell()
            batches = pa.ipc.open_stream(file, options=_select_columns(wanted, schema))
        for batch, _ in _iterate(label, batches):
            now = file.tell()
            yield batch, now - before
            before = now

    return Part(label, schema, size, read)


def _open_pipe(pipe: Any, label: str) -> Part:
    try:
        reader = pa.ipc.open_stream(pipe)
    except pa.ArrowException:
        raise SourceError(
            f"{label} is not an Arrow stream; give a Parquet or Arrow file by its name."
        ) from None
    return Part(label, reader.schema, None, lambda: _iterate(label, reader), can_be_reread=False)


def _select_columns(wanted: ColumnPair, schema: Any) -> Any:
    """Make the options that read only the wanted columns."""
    places = [schema.get_field_index(name) for name in wanted.names]
    return pa.ipc.IpcReadOptions(included_fields=places)


def _open_dataset(source: Any, wanted: ColumnPair) -> Part:
    label = "The dataset"

    def read() -> Batches:
        with _hide_library_errors(label):
            batches = source.scanner(
                columns=wanted.names,
                batch_size=ROWS,
                batch_readahead=1,
                fragment_readahead=1,
                use_threads=False,
            ).to_batches()
        yield from _iterate(label, batches)

    return Part(label, source.schema, None, read)
