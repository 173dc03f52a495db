"""Ready counts in one pass: from whatever streams them, of any types, told as it goes."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from tests.checking.systems import IS_LINUX, IS_POSIX
from tests.streams.sample_streams import (
    COUNTS,
    NEVER,
    TABLE,
    a_directory,
    a_pipe,
    changed_inside,
    file_of,
    frame,
    halves,
    in_batches,
    is_right,
    named_twice,
    of_any_names,
    opened,
    parquet,
    stream_of,
    top_2,
    written,
)
from topgap.selection import arrow_columns
from topgap.selection.candidate_pool import CandidatePool
from topgap.streams import rows


class Streaming:
    """Whatever streams Arrow and is nothing else."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return in_batches(3).__arrow_c_stream__(requested_schema)


def a_named_pipe(path: Path, content: bytes) -> Path:
    if not IS_POSIX:
        pytest.skip("needs POSIX: a pipe that has a name")
    os.mkfifo(path)
    threading.Thread(target=path.write_bytes, args=[content], daemon=True).start()
    return path


def a_feather(folder: Path) -> Path:
    feather.write_feather(TABLE, folder / "counts.feather", compression="lz4")
    return folder / "counts.feather"


def an_odd_name(folder: Path) -> str:
    """Not valid Unicode, with the marks of a pattern in it."""
    if not IS_LINUX:
        pytest.skip("needs Linux: a name that is bytes")
    path = os.path.join(os.fsencode(folder), b"[odd]*\xff")
    with open(path, "wb") as file:
        pq.write_table(TABLE, file)
    return os.fsdecode(path)


def among_others() -> pa.Table:
    """The columns the other way round, and dictionaries that nobody asked for."""
    words = pa.array([*COUNTS]).dictionary_encode()
    return pa.table({"a": words, "people": TABLE["people"], "what": words, "z": words})


SOURCES: dict[str, Callable[[Path], Any]] = {
    "parquet": parquet,
    "its name": lambda folder: str(parquet(folder)),
    "parquet, row groups": lambda folder: parquet(folder, row_group_size=1),
    "parquet, packed": lambda folder: parquet(folder, compression="zstd", version="1.0"),
    "parquet, split pages": lambda folder: parquet(folder, data_page_size=1, use_dictionary=False),
    "files": lambda folder: halves(folder),
    "a tuple of files": lambda folder: (*halves(folder),),
    "a pattern": lambda folder: str(halves(folder)[0].with_stem("half-?")),
    "a directory": a_directory,
    "a directory, any names": of_any_names,
    "named twice": named_twice,
    "an odd name": an_odd_name,
    "feather": a_feather,
    "arrow file": lambda folder: written(folder / "a.arrow", file_of(in_batches(1))),
    "arrow file, packed": lambda folder: written(folder / "a", file_of(TABLE, compression="zstd")),
    "arrow stream": lambda folder: written(folder / "a.arrow", stream_of(in_batches(1))),
    "arrow file, among others": lambda _: io.BytesIO(file_of(among_others())),
    "arrow stream, among others": lambda _: io.BytesIO(stream_of(among_others())),
    "both kinds": lambda folder: [
        written(folder / "a.arrow", stream_of(TABLE.slice(0, 1))),
        written(folder / "b.ipc", file_of(TABLE.slice(1))),
    ],
    "parquet and arrow": lambda folder: [
        halves(folder)[0],
        written(folder / "b.ipc", file_of(TABLE.slice(2))),
    ],
    "open parquet": lambda folder: parquet(folder).open("rb"),
    "open arrow file": lambda _: io.BytesIO(file_of(TABLE)),
    "open arrow stream": lambda _: io.BytesIO(stream_of(TABLE)),
    "a pipe": lambda _: a_pipe(stream_of(in_batches(1))),
    "a named pipe": lambda folder: a_named_pipe(folder / "pipe", stream_of(TABLE)),
    "table": lambda _: TABLE,
    "table of many batches": lambda _: in_batches(1),
    "record batch": lambda _: TABLE.to_batches()[0],
    "reader": lambda _: in_batches(2).to_reader(),
    "reader with an empty batch": lambda _: pa.RecordBatchReader.from_batches(
        TABLE.schema, [TABLE.to_batches()[0].slice(0, 0), *TABLE.to_batches()]
    ),
    "dataset": lambda folder: ds.dataset(halves(folder)),
    "filtered dataset": lambda _: ds.dataset(
        pa.concat_tables([TABLE, TABLE.set_column(2, "people", pa.array([-1, -1, -1, -1]))])
    ).filter(ds.field("people") >= 0),
    "polars": lambda _: pl.from_arrow(TABLE.select(["people", "what"])),
    "polars, categories": lambda _: pl.DataFrame(
        {"what": pl.Series([*COUNTS], dtype=pl.Categorical), "people": [*COUNTS.values()]}
    ),
    "pandas": lambda _: frame(),
    "pandas, categories": lambda _: frame().astype({"what": "category"}),
    "duckdb": lambda _: duckdb.from_arrow(TABLE),
    "what streams": lambda _: Streaming(),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.statistical(false_alarm=NEVER)
def test_every_source_gives_the_release(name: str, tmp_path: Path) -> None:
    with opened(SOURCES[name](tmp_path)) as source:
        assert is_right(top_2(source))
        assert not getattr(source, "closed", False)


WORDS = pa.array([*COUNTS])
ITEMS = {
    "large_string": WORDS.cast(pa.large_string()),
    "string_view": WORDS.cast(pa.string_view()),
    "dictionary": WORDS.dictionary_encode(),
    "dictionary of views": pa.DictionaryArray.from_arrays(
        [3, 0, 1, 2], pa.array(["flu", "gout", "cold", "cough"], pa.string_view())
    ),
    "dictionary that repeats": pa.DictionaryArray.from_arrays(
        [4, 0, 1, 2], ["flu", "gout", "cold", None, "cough", "flu"]
    ),
}  # fmt: skip
NUMBERED: dict[Any, pa.DataType] = {
    **{kind: kind for kind in (pa.int8(), pa.uint16(), pa.int32(), pa.int64(), pa.uint64())},
    **{kind: kind for kind in (pa.decimal32(9, 2), pa.decimal64(12, 2))},
    **{kind: kind for kind in (pa.decimal128(20, 2), pa.decimal256(50, 2))},
    pa.dictionary(pa.int8(), pa.int32()): pa.int32(),
}


@pytest.mark.parametrize("stored", ["table", "parquet", "arrow"])
@pytest.mark.parametrize("kind", ITEMS)
@pytest.mark.statistical(false_alarm=NEVER)
def test_text_may_be_stored_in_any_way(kind: str, stored: str, tmp_path: Path) -> None:
    table = pa.table({"what": ITEMS[kind], "people": [*COUNTS.values()]})
    path = tmp_path / "counts"
    if stored == "parquet":
        try:
            pq.write_table(table, path)
        except pa.ArrowNotImplementedError:
            return
    elif stored == "arrow":
        path.write_bytes(file_of(table))
    assert is_right(top_2(table if stored == "table" else path))


@pytest.mark.parametrize("kind", NUMBERED, ids=str)
@pytest.mark.statistical(false_alarm=NEVER)
def test_items_may_be_numbers(kind: pa.DataType) -> None:
    numbers = pa.array([7, 1, 3, 5], pa.int64())
    if pa.types.is_dictionary(kind):
        items = numbers.cast(kind.value_type).dictionary_encode()
    else:
        items = pa.array([Decimal(n) for n in numbers.to_pylist()]).cast(kind)
    made = top_2(pa.table({"what": items, "people": [*COUNTS.values()]}))
    assert made.items == (1, 5)


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64()])
@pytest.mark.statistical(false_alarm=NEVER)
def test_items_may_be_dates(kind: pa.DataType) -> None:
    days = [date(2026, 1, day) for day in (4, 1, 3, 2)]
    made = top_2(pa.table({"what": pa.array(days, kind), "people": [*COUNTS.values()]}))
    assert made.items == (date(2026, 1, 1), date(2026, 1, 2))


@pytest.mark.parametrize("kind", [
    pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(),
    pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.decimal32(9, 2), pa.decimal64(12, 3),
    pa.decimal128(38, 0), pa.decimal128(20, 5), pa.decimal256(60, 2),
    pa.dictionary(pa.int8(), pa.int64()), pa.dictionary(pa.int8(), pa.float64()),
], ids=str)  # fmt: skip
@pytest.mark.statistical(false_alarm=NEVER)
def test_counts_may_be_any_numbers(kind: pa.DataType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_columns, "ROWS", 3)  # so that the second look begins elsewhere
    numbers = pa.array([*COUNTS.values()], pa.int64())
    if pa.types.is_dictionary(kind):
        counts = numbers.cast(kind.value_type).dictionary_encode()
    elif pa.types.is_decimal(kind):
        counts = numbers.cast(pa.decimal128(38, kind.scale)).cast(kind)
    else:
        counts = numbers.cast(kind)
    assert is_right(top_2(pa.table({"what": [*COUNTS], "people": counts})))


EXACT = [
    pa.array([2**64 - 1, 2**64 - 11, 0], pa.uint64()),
    pa.array([-(2**63) + 20, -(2**63) + 10, -(2**63)], pa.int64()),
    pa.array([Decimal(10**30), Decimal(10**30 - 10), Decimal(0)]),
    pa.array([Decimal(2**65 + 10), Decimal(2**65), Decimal(2**63 - 1)]),
    pa.array([Decimal("10.75"), Decimal("0.25"), Decimal("-3.5")]),
    pa.array([2.0**60, 2.0**60 - 1024, 0.5]),
]


@pytest.mark.parametrize("counts", EXACT, ids=str)
@pytest.mark.statistical(false_alarm=NEVER)
def test_counts_are_exact(counts: pa.Array) -> None:
    # Noise of mean 2e-6 moves a gap by a resolution with probability below e^-50000.
    made = top_2(pa.table({"what": ["a", "b", "c"], "people": counts}), k=1, epsilon=10**6)
    first, second, _ = (Fraction(each) for each in counts.to_pylist())
    assert made.items == ("a",)
    assert made.gaps is not None
    assert first - second - made.gaps[0] in {0, Fraction(1, 10)}


@pytest.mark.statistical(false_alarm=NEVER)
def test_items_are_what_is_stored() -> None:
    made = top_2(pa.table({"what": [" flu", "flu", "cafe\u0301", ""], "people": [99, 50, 0, 1]}))
    assert made.items == (" flu", "flu")


def test_of_a_file_no_other_column_is_read() -> None:
    """The other column is damaged, and that is not even seen."""
    table = TABLE.set_column(1, "other", pa.array(["Marvin"] * 4))
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="none", use_dictionary=False)
    damaged = changed_inside(sink.getvalue(), b"\6\0\0\0Marvin", b"\xff\xff\xff\x7fMarvin")
    with pytest.raises(pa.ArrowException):
        pq.read_table(damaged)
    assert top_2(damaged).items == ("flu", "cold")


# What is told on the way.


@pytest.mark.parametrize(("name", "known"), [
    ("parquet, row groups", True), ("files", True), ("arrow file", True), ("arrow stream", True),
    ("open arrow stream", True), ("both kinds", True), ("table of many batches", True),
    ("polars", True), ("pandas", True), ("record batch", True), ("a pipe", False),
    ("reader", False), ("what streams", False), ("dataset", False),
])  # fmt: skip
def test_progress_is_told_from_nothing_to_all(
    name: str, known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_REPORT_INTERVAL", 0)
    monkeypatch.setattr(arrow_columns, "ROWS", 1)
    told: list[tuple[str, float | None]] = []
    with opened(SOURCES[name](tmp_path)) as source:
        top_2(source, progress=lambda doing, share: told.append((doing, share)))
    assert len(told) == 5
    assert all(doing.startswith("reading ") for doing, _ in told)
    shares = [share for _, share in told]
    if known:
        assert shares == sorted(shares, key=lambda share: share or 0)
        assert 0 < (shares[0] or 0) <= 0.6
        assert shares[-1] == 1
    else:
        assert {*shares} == {None}


def test_progress_is_of_bytes_whatever_the_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_REPORT_INTERVAL", 0)
    paths = SOURCES["parquet and arrow"](tmp_path)
    first, second = (path.stat().st_size for path in paths)
    told: list[float] = []
    top_2(paths, progress=lambda _, share: told.append(share))
    assert told == [pytest.approx(first / (first + second)), 1, 1]


@pytest.mark.slow
def test_progress_is_told_ten_times_a_second() -> None:
    def slowly() -> Iterator[pa.RecordBatch]:
        for start in range(50):
            time.sleep(0.01)
            yield pa.record_batch({"what": [start], "people": [start]})

    reader = pa.RecordBatchReader.from_batches(next(slowly()).schema, slowly())
    told: list[float] = []
    begin = time.monotonic()
    top_2(reader, progress=lambda *_: told.append(time.monotonic() - begin))
    assert 2 <= len(told) <= 2 + 10 * told[-1]


def test_who_watches_may_stop_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(rows, "_REPORT_INTERVAL", 0)
    released: list[object] = []
    monkeypatch.setattr(CandidatePool, "rank", lambda *_: released.append(1))

    def stop(_: str, share: float | None) -> None:
        if share is not None and share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        top_2(parquet(tmp_path, row_group_size=1), progress=stop)
    assert released == []


WAITING = """
import sys
from topgap import streams
print("begun", flush=True)
print(streams.top_k(sys.stdin.buffer, 2, 1, item="what", count="people"))
"""


@pytest.mark.slow
@pytest.mark.posix
def test_an_interruption_while_it_waits_releases_nothing() -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", WAITING], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert run.stdin is not None
    assert run.stdout is not None
    assert run.stdout.readline() == b"begun\n"
    run.stdin.write(stream_of(in_batches(1))[:-50])
    run.stdin.flush()
    time.sleep(0.5)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=30)
    assert out == b""
    assert b"KeyboardInterrupt" in err
    assert b"SourceError" not in err
