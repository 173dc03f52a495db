"""Ready counts in whatever streams them, and what must come out of it."""

import io
import os
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.checking.systems import IS_POSIX
from topgap import Estimates, Release, streams

# Noise of mean 2·2/100 parts counts that differ by 20 with probability below 1e-200.
NEVER = 1e-20
COUNTS = {"cough": 20, "flu": 100, "gout": 3, "cold": 60}
TABLE = pa.table({"what": [*COUNTS], "other": [[None]] * len(COUNTS), "people": [*COUNTS.values()]})


def top_2(source: Any, module: Any = streams, **how: Any) -> Release:
    """The release of two items, by this module's `top_k`."""
    made = module.top_k(source, **_given(how))
    assert isinstance(made, Release)
    return made


def estimates_2(source: Any, module: Any = streams, **how: Any) -> Estimates:
    """The estimates of two items, by this module's `top_k_with_estimates`."""
    made = module.top_k_with_estimates(source, **_given(how))
    assert isinstance(made, Estimates)
    return made


def _given(how: dict[str, Any]) -> dict[str, Any]:
    return {"item": "what", "count": "people", "k": 2, "epsilon": 100, **how}


def is_right(made: Release) -> bool:
    """Whether it is what the counts above give."""
    gaps = made.gaps or ()
    return made.items == ("flu", "cold") and all(39 < gap < 41 for gap in gaps) and len(gaps) == 2


def in_batches(rows: int) -> pa.Table:
    return pa.Table.from_batches(TABLE.to_batches(rows))


def stream_of(table: pa.Table, **how: Any) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**how)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def file_of(table: pa.Table, **how: Any) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(**how)) as writer:
        writer.write_table(table)
    return sink.getvalue()


def a_pipe(content: bytes) -> IO[bytes]:
    """An open file that can only be read on, with little in it."""
    ours, its = os.pipe()
    with open(its, "wb") as end:
        end.write(content)
    return open(ours, "rb")


def changed_inside(content: bytes, old: bytes, new: bytes) -> io.BytesIO:
    """The same content with something else inside."""
    assert content.count(old) > 0
    return io.BytesIO(content.replace(old, new))


def opened(source: Any) -> Any:
    """Closes the source at the end, if it is an open file."""
    return source if hasattr(source, "read") else nullcontext(source)


def halves(folder: Path) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = [folder / "half-1.parquet", folder / "half-2.parquet"]
    pq.write_table(TABLE.slice(0, 2), paths[0])
    pq.write_table(TABLE.slice(2).select(["people", "what"]), paths[1])
    return paths


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def parquet(folder: Path, **how: Any) -> Path:
    pq.write_table(TABLE, folder / "counts.parquet", **how)
    return folder / "counts.parquet"


def named_twice(folder: Path) -> list[Path]:
    if not IS_POSIX:
        pytest.skip("needs POSIX: links that everybody may make")
    path = parquet(folder)
    link = folder / "link.parquet"
    link.unlink(missing_ok=True)
    link.symlink_to(path)
    return [path, link, path]


def a_directory(folder: Path) -> Path:
    inside = folder / "written by Spark"
    halves(inside)
    (inside / "_SUCCESS").touch()
    (inside / ".half-1.parquet.crc").write_bytes(b"crc")
    return inside


def of_any_names(folder: Path) -> Path:
    """A directory of files whose names tell nothing."""
    first, second = halves(folder / "of any names")
    first.rename(first.with_name("part-00000"))
    second.rename(second.with_name("part-00001.c000"))
    return first.parent


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {"what": [*COUNTS], "people": [*COUNTS.values()], "mixed": [1, "Zaphod", [], 0]}
    )
