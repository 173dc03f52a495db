"""Events in every form that can be counted, and what their counts must be by the plain rule."""

import csv
import gzip
import io
import json
import sqlite3
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from topgap import counting

Text = str | None
Events = Sequence[tuple[Text, Text]]
Count = Callable[[Events, Any], dict[Any, int]]

# Not the list of cells.py but Unicode's own categories: controls, formats and separators.
_INVISIBLE = {"Cc", "Cf", "Zl", "Zp", "Zs"}


def tidy(text: Text) -> Text:
    """The text without what is invisible at its ends, composed; None if nothing is left."""
    if text is None:
        return None
    text = unicodedata.normalize("NFC", text)
    while text and unicodedata.category(text[0]) in _INVISIBLE:
        text = text[1:]
    while text and unicodedata.category(text[-1]) in _INVISIBLE:
        text = text[:-1]
    return text or None


def plainly_counted(events: Events, domain: Sequence[str]) -> dict[str, int]:
    """What counting means: for each item of the domain, the number of persons who had it."""
    return {
        item: len({tidy(who) for who, what in events if tidy(what) == item} - {None})
        for item in domain
    }


def ways(folder: Path, **asked: Any) -> dict[str, Count]:
    """By name, each way of putting events somewhere and counting them there, as is asked."""

    def from_file(name: str, write: Callable[[Path, Events], None], **how: Any) -> Count:
        def count(events: Events, domain: Any) -> dict[Any, int]:
            path = folder / name
            path.unlink(missing_ok=True)
            write(path, events)
            named = {"person": "who", "item": "what", **how, **asked}
            return counting.count_events(path, domain=domain, by=None, **named)

        return count

    def from_frame(make: Callable[[Events], Any]) -> Count:
        return lambda events, domain: counting.count_events(
            make(events), person="who", item="what", domain=domain, **asked
        )

    without = {"person": "1", "item": "3", "header": False}
    return {
        "csv": from_file("e.csv", _csv()),
        "csv with semicolons": from_file("s.csv", _csv(";")),
        "csv with bars": from_file("b.csv", _csv("|")),
        "csv without header": from_file("n.csv", _csv(header=False), **without),
        "csv packed": from_file("e.csv.gz", _csv(opened=gzip.open)),
        "csv, all quoted, lines end in CR LF": from_file("q.csv", _csv(ends="\r\n", quoted=True)),
        "tsv": from_file("e.tsv", _csv("\t")),
        "standard input's like": lambda events, domain: _from_stream(events, domain, **asked),
        "json lines": from_file("e.jsonl", _json_lines),
        "parquet": from_file("e.parquet", lambda path, e: pq.write_table(_arrow(e), path)),
        "duckdb table": from_file("e.duckdb", _duckdb, table="visits"),
        "duckdb query": from_file("e.db", _duckdb, query="select * from visits -- all;"),
        "sqlite table": from_file("e.sqlite", _sqlite, table="visits"),
        "sqlite query": from_file("e.sqlite", _sqlite, query="select * from visits;"),
        "pandas": from_frame(_pandas),
        "pandas, categories": from_frame(lambda e: _pandas(e).astype("category")),
        "polars": from_frame(lambda e: pl.DataFrame(_arrow(e))),
        "polars, lazy": from_frame(lambda e: pl.DataFrame(_arrow(e)).lazy()),
        "arrow": from_frame(_arrow),
        "arrow stream": from_frame(lambda e: _arrow(e).to_reader()),
        "arrow, dictionaries": from_frame(_dictionaries),
    }


def _from_stream(events: Events, domain: Any, **asked: Any) -> dict[Any, int]:
    stream = io.BytesIO(_csv_text(events).encode())
    return counting.count_events(
        stream, person="who", item="what", domain=domain, format="csv", by=None, **asked
    )


def _csv_text(
    events: Events,
    delimiter: str = ",",
    ends: str = "\n",
    header: bool = True,
    quoted: bool = False,
) -> str:
    text = io.StringIO(newline="")
    # Python writes nothing for None, and "" for an empty string: both are missing.
    rows = csv.writer(
        text,
        delimiter=delimiter,
        lineterminator=ends,
        quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL,
    )
    if header:
        rows.writerow(["who", "when, exactly", "what"])
    rows.writerows((who, 'at "five"\nsharp', what) for who, what in events)
    return text.getvalue()


def _csv(delimiter: str = ",", *, opened: Any = open, **how: Any) -> Callable[[Path, Events], None]:
    def write(path: Path, events: Events) -> None:
        with opened(path, "wb") as file:
            file.write(_csv_text(events, delimiter, **how).encode() or b"\n")

    return write


def _json_lines(path: Path, events: Events) -> None:
    first = {"who": None, "what": None, "when": {"exactly": 5}}
    with path.open("w", encoding="utf-8") as file:
        for event in [first, *({"what": what, "who": who} for who, what in events)]:
            file.write(json.dumps(event, ensure_ascii=False) + "\n")


def _arrow(events: Events) -> Any:
    who, what = ([event[n] for event in events] for n in (0, 1))
    when = pa.array([5] * len(events), type=pa.int64())
    return pa.table(
        {"what": pa.array(what, pa.string()), "when": when, "who": pa.array(who, pa.string())}
    )


def _dictionaries(events: Events) -> Any:
    table = _arrow(events)
    return pa.table({name: table[name].dictionary_encode() for name in ("who", "what")})


def _pandas(events: Events) -> pd.DataFrame:
    who, what = ([event[n] for event in events] for n in (0, 1))
    return pd.DataFrame(
        {"who": pd.Series(who, dtype=object), "what": pd.Series(what, dtype=object)}
    )


def _duckdb(path: Path, events: Events) -> None:
    with duckdb.connect(str(path)) as database:
        database.execute("create table visits (who varchar, what varchar)")
        if events:
            database.executemany("insert into visits values (?, ?)", [*map(list, events)])


def _sqlite(path: Path, events: Events) -> None:
    database = sqlite3.connect(path)
    database.execute("create table visits (who, what)")
    database.executemany("insert into visits values (?, ?)", events)
    database.commit()
    database.close()


def one(source: Any, **how: Any) -> dict[Any, int]:
    """Count the persons `who` had `what`, flu unless told otherwise."""
    return counting.count_events(
        source, **{"person": "who", "item": "what", "domain": ["flu"], **how}, by=None
    )
