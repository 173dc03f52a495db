"""Data of every form to be counted, or to be read row by row: tables, text, and hostile bytes."""

import gzip
import io
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
from hypothesis import strategies as st

from tests.fuzz import hostile_domains, hostile_parameters, hostile_values
from tests.fuzz.judge import Judge
from tests.fuzz.well_formed import is_release
from topgap import Domain, counting, streams
from topgap.errors import (
    AnswersError,
    AnswersTypeError,
    DomainError,
    ItemsError,
    ParameterError,
    ParameterTypeError,
    SourceError,
)

COUNTING = (SourceError, DomainError, ParameterError)
STREAMING = (ParameterError, ParameterTypeError, SourceError, AnswersError, ItemsError)

_CELLS = st.one_of(
    st.sampled_from(["flu", "cold", " flu", "7", "", "a,b", '"', "x\n", "\u0000", "é", "e\u0301"]),
    st.integers(0, 5).map(str),
    st.text(max_size=4),
    st.just(str(hostile_values.MARK)),
)
_BYTES = st.one_of(
    st.lists(st.lists(_CELLS, min_size=1, max_size=3), max_size=6).map(
        lambda rows: "\n".join(",".join(row) for row in rows).encode(errors="surrogatepass")
    ),
    st.lists(st.lists(_CELLS, min_size=2, max_size=2), min_size=1, max_size=6).map(
        lambda rows: ("who,what\n" + "\n".join(",".join(row) for row in rows)).encode(
            errors="replace"
        )
    ),
    st.binary(max_size=60),
    st.sampled_from([b"", b"\n", b"\xff\xfe", b"who,what", b"PAR1", b"ARROW1", b"\x1f\x8b\x08"]),
    st.lists(st.dictionaries(st.sampled_from(["who", "what"]), _CELLS), max_size=3).map(
        lambda rows: "\n".join(map(str, rows)).replace("'", '"').encode(errors="replace")
    ),
)
_GOOD = st.one_of(
    st.lists(st.integers(0, 2**40), min_size=3, max_size=3),
    st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3),
)
_COLUMNS = st.one_of(
    st.lists(_CELLS, min_size=3, max_size=3),
    st.lists(st.integers(-5, 10**6), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=3, max_size=3),
    st.lists(st.floats(), min_size=3, max_size=3),
    st.sampled_from([[True, False, True], [b"a", b"b", b"c"], [[1], [2], [3]], [None] * 3]),
    st.just([hostile_values.MARK, 2**63 - 1, -1]),
    st.lists(hostile_parameters.NAMES, min_size=3, max_size=3),
)
_FITTING = [
    Domain.range(0, 10), Domain.range(0, 10**400), Domain.pattern("[a-z]{3,4}"),
    Domain.strings("a-z0-9", max_length=30), Domain.subsets(["flu", "cold", "7"], size=2),
    Domain.product(Domain.pattern("[a-z]{3,4}|[0-9]"), Domain.range(0, 2**40)),
    Domain.product(["flu", "cold"], range(10)), Domain.subsets(Domain.range(0, 10**9), size=3),
]  # fmt: skip
"""Domains that have items of what is counted."""


def _frame(library: Any, table: Any) -> Any:
    """The columns in this library's table; a pandas one if they fit nothing else."""
    try:
        return library(table)
    except Exception:
        return pd.DataFrame(
            {name: [ascii(_write(each)) for each in column] for name, column in table.items()}
        )


def _parquet(data: bytes, table: Any) -> bytes:
    written = io.BytesIO()
    pa.parquet.write_table(
        pa.table({name: [*map(str, cells)] for name, cells in table.items()}), written
    )
    whole = written.getvalue()
    return whole if len(data) % 3 else whole[: len(whole) - len(data)] + data


def _arrow(data: bytes, table: Any) -> bytes:
    written = io.BytesIO()
    made = pa.table({"who": [1, 2, 3], "what": [*map(str, table["what"])]})
    with pa.ipc.new_file(written, made.schema) as file:
        file.write(made)
    whole = written.getvalue()
    return whole if len(data) % 3 else whole[: len(whole) - 4 * len(data)] + data


def _write(cell: Any) -> str:
    try:
        return str(cell)
    except Exception:  # of a number too long, or what has no text
        return type(cell).__name__


@st.composite
def sources(draw: st.DrawFn) -> dict[str, Any]:
    """Bytes, in a file of some name or in memory, or a table."""
    table = {"who": draw(_COLUMNS), "what": draw(_COLUMNS)}
    good = draw(st.booleans())
    if good:  # one that can be released from, and counted
        table = {
            "who": draw(_GOOD),
            "what": draw(st.sampled_from([["flu", "cold", "7"], [7, 8, 9]])),
        }
    data = draw(_BYTES)
    tables: list[Any] = ["parquet", "arrow", pd.DataFrame, pl.DataFrame, pa.table]
    kind = draw(st.sampled_from(tables if good else [*tables, "file", "memory", "gzip"]))
    if kind is pl.DataFrame:
        table = {
            name: [_write(each).encode("utf-8", "replace").decode() for each in cells]
            for name, cells in table.items()
        }
    return {
        "table": table,
        "data": data,
        "kind": kind,
        "name": draw(
            st.sampled_from(
                [
                    "x.csv",
                    "x.tsv",
                    "x.jsonl",
                    "x.parquet",
                    "x.dat",
                    "x.csv.gz",
                    "x.csv.zst",
                    "x.zip",
                    "x.xlsx",
                    "x.txt",
                    "x",
                    "x.arrow",
                    "x.db",
                ]
            )
        ),
        "odd": draw(st.one_of(st.none(), hostile_parameters.ANYTHING))
        if draw(st.integers(0, 9)) == 0
        else None,
        "columns": draw(
            st.sampled_from(
                [("who", "what")] * (30 if good else 6)
                + [("what", "who"), ("1", "2"), ("who", "who"), ("x", ""), ('"', "who")]
                + [("who", ["what"]), ("who", ["what", "who"]), ("who", ["what", "what"])]
                + [("who", []), (["who"], "what"), ("who", ["x", 7]), ("who", ("what", "who"))]
            )
        ),
        "together": draw(st.sampled_from([None] * 8 + [2, 2, 3, 4, 0, True, "2", 2.0])),
        "domain": draw(
            st.one_of(hostile_domains.made(), *[st.sampled_from(_FITTING)] * 3)
            if draw(st.booleans())
            else st.sampled_from(
                [
                    ["flu", "cold"],
                    range(3),
                    ["7", "5"],
                    counting.FROM_DATA,
                    [],
                    None,
                    ["flu", " flu"],
                    "x.txt",
                    7,
                    [None],
                    ["\ud800"],
                    [1.5, True],
                    b"x",
                ]
            )
        ),
        "how": draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "header": st.booleans(),
                    "delimiter": st.sampled_from([",", ";", "\t", "||", "", "\n"]),
                    "format": st.sampled_from(counting.FORMATS),
                    "table": st.sampled_from(["t", "x; drop", ""]),
                    "encoding": st.sampled_from(["latin-1", "utf-16", "ascii", "utf-7", "no", ""]),
                    "fold_case": st.booleans(),
                    "query": st.sampled_from(
                        ["select 1", "drop table t", "", "select 1; select 2"]
                    ),
                },
            )
        )
        if draw(st.integers(0, 3)) == 0
        else {},
        "parameters": draw(hostile_parameters.parameters(good=draw(st.booleans()))),
        "gaps": draw(hostile_parameters.FLAGS),
        "share": draw(st.sampled_from(["1/2", 0.25, 2, None, "x"])),
    }


def open_drawn(given: dict[str, Any], folder: str) -> Any:
    """What the source is: a path, an open file, or a table."""
    if given["odd"] is not None:
        return given["odd"]
    data, kind = given["data"], given["kind"]
    if not isinstance(kind, str):
        return _frame(kind, given["table"])
    if kind == "memory":
        return io.BytesIO(data)
    try:
        made = {"parquet": _parquet, "arrow": _arrow}.get(kind, lambda data, _: data)
        data = made(data, given["table"])
    except Exception:
        data = given["data"]
    if kind == "gzip":
        data = gzip.compress(data)[: 1000 if len(data) % 2 else 20]
    path = Path(folder, given["name"])
    path.write_bytes(data)
    Path(folder, "x.txt").write_text("flu\ncold\n")
    return path


def fuzz_counting(given: dict[str, Any], call: Judge) -> None:
    """Count: distinct persons, lines, and counts that are there already."""
    person, item = given["columns"]
    domain, how = given["domain"], given["how"]
    with tempfile.TemporaryDirectory() as folder:
        if domain == "x.txt":
            domain = Path(folder, "x.txt")
        source = open_drawn(given, folder)
        found = [
            call(
                "topgap.counting.count_events",
                COUNTING,
                counting.count_events,
                source,
                person=person,
                item=item,
                domain=domain,
                together=given["together"],
                **how,
            ),
            call(
                "topgap.counting.read_counts",
                COUNTING,
                counting.read_counts,
                open_drawn(given, folder),
                item=person,
                count=item,
                domain=domain,
                **how,
            ),
            call(
                "topgap.counting.count_transactions",
                COUNTING,
                counting.count_transactions,
                open_drawn(given, folder),
                domain=domain,
                together=given["together"],
            ),
        ]
        for counts in found:
            if counts is not None:
                assert type(counts) is counting.Counts
                assert counts.domain_from_data is (domain is counting.FROM_DATA)
                assert all(type(count) is int and 0 <= count < 2**63 for count in counts.values())
            if counts is not None and counts.domain is not None:
                assert not counts.domain.is_listed
                assert counts.domain.find([*counts]) == [*counts]
        if isinstance(domain, Domain):
            call(
                "topgap.counting.counted_items",
                COUNTING,
                _read_occurring,
                call,
                open_drawn(given, folder),
                person=person,
                item=item,
                domain=domain,
                **how,
            )
        listed = call("topgap.counting.Domain", (DomainError,), counting.Domain, given["domain"])
        if listed is not None and listed.is_listed:
            assert len(listed) == len(listed.names) == len(listed.texts) > 0
        # A domain is public, and may be shown.
        is_marked = str(hostile_values.MARK).encode() in given["data"]
        if given["odd"] is None and isinstance(source, Path) and not is_marked:
            reading = counting.read_domain
            call("topgap.counting.read_domain", (DomainError,), reading, source)
            call("topgap.counting.read_domain", (DomainError,), reading, source, column=item)
        if isinstance(source, Path):
            call("topgap.counting.list_columns", COUNTING, counting.list_columns, source)
        form = call("topgap.counting.format_by_name", (), counting.format_by_name, given["name"])
        assert form in (None, *counting.FORMATS)


def _read_occurring(call: Judge, source: Any, **how: Any) -> None:
    """Read what occurs of a domain in batches, and look for some of its items."""
    with counting.counted_items(source, **how) as occurring:
        reading = "topgap.counting.Occurring.batches"
        batches = call(reading, (), lambda: [*occurring.batches()])
        counts = call("topgap.counting.Occurring.to_counts", (), occurring.to_counts)
        assert batches is not None
        assert counts is not None
        names = [name for batch in batches for name in batch.names]
        assert occurring.count == len(counts) == len(names) == len({*names})
        domain = occurring.domain
        assert domain.find(names) == names
        others = {domain.unrank(place) for place in range(min(5, domain.size))}.difference(names)
        sought = [*names, *others]
        found = call("topgap.counting.Occurring.find", (), occurring.find, sought)
        assert found == {*names}


def fuzz_streams(given: dict[str, Any], call: Judge) -> None:
    """Release from rows, part by part."""
    item, count = given["columns"]
    how = {"item": count, "count": item}
    refusals = (*STREAMING, AnswersTypeError, DomainError)
    domain = given["domain"] if isinstance(given["domain"], Domain) else None
    with tempfile.TemporaryDirectory() as folder:
        made = call(
            "topgap.streams.top_k",
            refusals,
            streams.top_k,
            open_drawn(given, folder),
            **given["parameters"],
            **how,
            domain=domain,
            gaps=given["gaps"],
        )
        if made is not None:
            is_release(made, gaps=bool(given["gaps"]))
            assert domain is None or all(item in domain for item in made.items)
        estimates = call(
            "topgap.streams.top_k_with_estimates",
            refusals,
            streams.top_k_with_estimates,
            open_drawn(given, folder),
            **given["parameters"],
            **how,
            domain=domain,
            selection_share=given["share"],
        )
        if estimates is not None:
            is_release(estimates.release)
