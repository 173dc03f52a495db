"""What cannot be streamed: one sentence for each, and no value of the data in it."""

import io
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import topgap
from tests.streams.sample_streams import (
    COUNTS,
    TABLE,
    a_directory,
    a_pipe,
    changed_inside,
    estimates_2,
    file_of,
    frame,
    halves,
    opened,
    parquet,
    stream_of,
    top_2,
    written,
)
from topgap import (
    AnswersError,
    ItemsError,
    MissingExtraError,
    ParameterError,
    ParameterTypeError,
    SourceError,
    TopgapError,
)

WORDS = pa.array([*COUNTS])


def column(**changed: Any) -> pa.Table:
    return pa.table({"what": [*COUNTS], "people": [*COUNTS.values()], **changed})


def broken_reader() -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        yield from TABLE.to_batches()
        raise ValueError("Zaphod")

    return pa.RecordBatchReader.from_batches(TABLE.schema, batches())


def not_unicode() -> pa.Table:
    data = [None, pa.py_buffer(np.array([0, 1, 2, 3, 4], np.int32)), pa.py_buffer(b"ab\xffd")]
    return column(what=pa.Array.from_buffers(pa.string(), 4, data))


Wrong = tuple[Callable[[Path], Any], type[TopgapError], str]
WRONG: dict[str, Wrong] = {
    "no file": (lambda folder: folder / "none.parquet", SourceError, "No such file"),
    "no match": (lambda folder: str(folder / "*.parquet"), SourceError, "No file matches"),
    "no list": (lambda _: [], SourceError, "no file"),
    "a network address": (lambda _: "s3://bucket/counts.parquet", SourceError, "network address"),
    "an impossible name": (lambda _: "a\0b", SourceError, "not that of a file"),
    "empty": (lambda folder: written(folder / "a.parquet", b""), SourceError, "is empty"),
    "open and empty": (lambda _: io.BytesIO(), SourceError, "is empty"),
    "an empty pipe": (lambda _: a_pipe(b""), SourceError, "not an Arrow stream"),
    "csv": (lambda folder: written(folder / "a.csv", b"what,people\n"), SourceError, "neither"),
    "text": (lambda _: io.StringIO("what"), SourceError, "for reading bytes"),
    "parquet in a pipe": (
        lambda folder: a_pipe(parquet(folder).read_bytes()), SourceError, "by its name"
    ),
    "half a parquet file": (
        lambda folder: written(folder / "b", parquet(folder).read_bytes()[:-20]),
        SourceError, "damaged",
    ),
    "half an arrow file": (
        lambda folder: written(folder / "b", file_of(TABLE)[:-20]), SourceError, "damaged"
    ),
    "half a stream": (lambda _: io.BytesIO(stream_of(TABLE)[:-60]), SourceError, "damaged"),
    "damaged inside": (
        lambda folder: changed_inside(
            parquet(folder, compression="none", use_dictionary=False, column_encoding="PLAIN",
                    write_page_checksum=False).read_bytes(),
            b"\x03\x00\x00\x00flu", b"\xff\xff\xff\x7fflu",
        ),
        SourceError, "damaged",
    ),
    "offsets out of bounds": (
        lambda _: changed_inside(
            stream_of(TABLE), np.array([0, 5, 8, 12, 16], np.int32).tobytes(),
            np.array([0, 5, 1 << 29, 12, 16], np.int32).tobytes(),
        ),
        SourceError, "damaged",
    ),
    "not Unicode": (lambda _: not_unicode(), SourceError, "damaged"),
    "a stream that breaks off": (lambda _: broken_reader(), SourceError, "cannot be read"),
    "an empty directory": (lambda folder: folder, SourceError, "without Parquet"),
    "another file in a directory": (
        lambda folder: written(a_directory(folder) / "z.csv", b"Zaphod,3\n").parent,
        SourceError, "z.csv is neither a Parquet file nor",
    ),
    "an empty file in a directory": (
        lambda folder: written(a_directory(folder) / "z", b"").parent, SourceError, "z is empty"
    ),
    "directories in it": (
        lambda folder: a_directory(folder).parent, SourceError, "has directories in it"
    ),
    "a number": (lambda _: 7, SourceError, "An int cannot be streamed"),
    "numbers": (lambda _: [7], SourceError, "A list cannot be streamed"),
    "a series": (lambda _: pl.Series([1, 2]), SourceError, "cannot be read"),
    "a lazy frame": (lambda _: pl.LazyFrame({"what": [1]}), SourceError, "A LazyFrame cannot"),
    "a mixed column": (
        lambda _: frame().assign(what=frame()["mixed"]), SourceError, "cannot be read"
    ),
    "no such column": (
        lambda _: TABLE.drop_columns("what"), SourceError,
        "has no column 'what'; it has 'other', 'people'.",
    ),
    "no such column in a frame": (
        lambda _: frame().rename(columns={"people": "n"}), SourceError, "no column 'people'; it has"
    ),
    "no such column in a file": (
        lambda folder: [parquet(folder), *halves(folder / "x"),
                        written(folder / "y", file_of(TABLE.select(["what"])))],
        SourceError, "no column 'people'; it has 'what'.",
    ),
    "two such columns": (
        lambda _: pa.table([WORDS, WORDS, [1] * 4], names=["what", "what", "people"]),
        SourceError, "more than one column 'what'",
    ),
    "other types elsewhere": (
        lambda folder: [parquet(folder), written(folder / "b", file_of(column(what=[1, 2, 3, 4])))],
        SourceError, "'what' of another type",
    ),
    "items of floats": (lambda _: column(what=[1.5] * 4), SourceError, "'what' of type"),
    "items of bytes": (lambda _: column(what=[b"Zaphod"] * 4), SourceError, "'what' of type"),
    "items of lists": (lambda _: column(what=[["Zaphod"]] * 4), SourceError, "'what' of type"),
    "items of truth": (lambda _: column(what=[True] * 4), SourceError, "'what' of type"),
    "items of nothing": (lambda _: column(what=[None] * 4), SourceError, "'what' of type"),
    "items of times": (
        lambda _: column(what=pa.array([1] * 4, pa.timestamp("ns"))), SourceError,
        "'what' of type",
    ),
    "counts of text": (lambda _: column(people=["Zaphod"] * 4), SourceError, "'people' of type"),
    "counts of truth": (lambda _: column(people=[True] * 4), SourceError, "'people' of type"),
    "counts of nothing": (lambda _: column(people=[None] * 4), SourceError, "'people' of type"),
    "counts of spans": (
        lambda _: column(people=pa.array([1] * 4, pa.duration("s"))), SourceError,
        "'people' of type",
    ),
    "a count missing": (lambda _: column(people=[7, 8, None, 9]), AnswersError, "missing"),
    "a count missing in a dictionary": (
        lambda _: column(people=pa.DictionaryArray.from_arrays([0, 1, 0, 0], pa.array([7, None]))),
        AnswersError, "missing",
    ),
    "a decimal missing": (
        lambda _: column(people=[Decimal(7), None, Decimal(1), Decimal(2)]), AnswersError, "missing"
    ),
    "not a number": (lambda _: column(people=[7, 1, float("nan"), 2]), AnswersError, "finite"),
    "infinite": (lambda _: column(people=[7, 1, float("inf"), 2]), AnswersError, "finite"),
    "an item missing": (
        lambda _: column(what=["flu", "Zaphod", None, "gout"]), ItemsError, "A row has no item"
    ),
    "an item missing in a dictionary": (
        lambda _: column(what=pa.DictionaryArray.from_arrays([0, 1, 2, 3], ["a", "b", None, "d"])),
        ItemsError, "A row has no item",
    ),
    "an item twice": (
        lambda _: column(what=["flu", "Zaphod", "gout", "Zaphod"]), ItemsError, "same name"
    ),
    "an item twice in a dictionary": (
        lambda _: column(what=pa.DictionaryArray.from_arrays([0, 1, 2, 3], ["a", "b", "c", "a"])),
        ItemsError, "same name",
    ),
    "an item in two batches": (
        lambda _: pa.concat_tables([TABLE, TABLE]), ItemsError, "given twice"
    ),
    "an item in two files": (
        lambda folder: [parquet(folder), *halves(folder / "more")], ItemsError, "given twice"
    ),
    "no row": (lambda _: TABLE.slice(0, 0), AnswersError, "empty"),
    "no row in a file": (
        lambda folder: written(folder / "a", stream_of(TABLE.slice(0, 0))), AnswersError, "empty"
    ),
    "too few rows": (lambda _: TABLE.slice(0, 2), AnswersError, "at least 3 answers"),
}  # fmt: skip


@pytest.mark.parametrize("call", [top_2, estimates_2])
@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_used_is_told_in_a_sentence(
    name: str, call: Callable[[Any], object], tmp_path: Path
) -> None:
    make, kind, said = WRONG[name]
    with opened(make(tmp_path)) as source, pytest.raises(kind) as told:
        call(source)
    text = str(told.value)
    assert said in text
    assert text.endswith(".")
    assert not any(each in text for each in ("Zaphod", "flu", "cough", "\n"))
    assert re.search(r"(?<![-\w])100\b", text) is None  # but a folder may be called pytest-100
    assert told.value.__cause__ is None
    assert told.value.__context__ is None or told.value.__suppress_context__


WRONG_PARAMETERS: list[tuple[dict[str, Any], type[TopgapError], str]] = [
    ({"k": 0}, ParameterError, "k must be"),
    ({"epsilon": -1}, ParameterError, "epsilon"),
    ({"resolution": "2/3"}, ParameterError, "resolution"),
    ({"sensitivity": "nan"}, ParameterError, "sensitivity"),
    ({"monotonic": 1}, ParameterTypeError, "monotonic"),
    ({"threads": 0}, ParameterError, "threads"),
    ({"progress": 7}, ParameterTypeError, "progress must be a function, not int."),
    ({"item": ""}, ParameterError, "must be a string"),
    ({"count": 2}, ParameterError, "must be a string"),
    ({"count": "what"}, ParameterError, "different columns"),
]
BOTH = [(call, *wrong) for call in (top_2, estimates_2) for wrong in WRONG_PARAMETERS]


@pytest.mark.parametrize(("call", "wrong", "kind", "said"), [
    *BOTH,
    (top_2, {"gaps": "no"}, ParameterTypeError, "gaps"),
    (estimates_2, {"selection_share": 1}, ParameterError, "selection_share must be below 1"),
    (estimates_2, {"selection_share": 0}, ParameterError, "selection_share must be greater"),
    (estimates_2, {"selection_share": None}, ParameterTypeError, "selection_share must be"),
])  # fmt: skip
def test_parameters_are_looked_at_before_the_source(
    call: Callable[..., object], wrong: dict[str, Any], kind: type[TopgapError], said: str
) -> None:
    with pytest.raises(kind, match=said):
        call("there is no such file", **wrong)


@pytest.mark.slow
@pytest.mark.parametrize("call", ["top_k", "top_k_with_estimates"])
def test_without_pyarrow_it_says_what_to_install(call: str) -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None; from topgap import streams\n"
        f"streams.{call}('x', 1, 1, item='a', count='b')"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError: Reading streams needs pyarrow: pip install pyarrow." in run.stderr
    assert issubclass(MissingExtraError, ImportError)


def test_an_enormous_k_is_refused_before_it_takes_memory() -> None:
    source = pa.table({"what": ["a", "b"], "people": [1, 2]})
    with pytest.raises(AnswersError, match="needs at least"):
        topgap.streams.top_k_with_estimates(source, 2**63 - 1, 1, item="what", count="people")
