"""Whatever holds events or counts, as a table that DuckDB can read."""

from collections.abc import Sequence
from typing import Any

from topgap.counting import files
from topgap.counting.data_frames import read_frame
from topgap.counting.databases import Extraction, read_duckdb, read_sqlite
from topgap.counting.engine import Engine
from topgap.counting.files import Format
from topgap.counting.lines import refuse_long_lines
from topgap.counting.tables import (
    Column,
    Table,
    build_table,
    describe_table,
    locate_columns,
    quote_literal,
)
from topgap.counting.text_files import build_lines_sql, read_delimited
from topgap.errors import ParameterError, SourceError
from topgap.sources.columns import quote
from topgap.sources.paths import is_path

_FIRST = 10_000
_NO_HIVE = "hive_partitioning = false"  # no column is taken from the names of directories


def open_table(
    engine: Engine,
    source: Any,
    wanted: Sequence[str],
    *,
    form: Format | None = None,
    table: str | None = None,
    query: str | None = None,
    person: str | None = None,
    header: bool = True,
    delimiter: str | None = None,
    most_copied: int | None = None,
    run: bool = True,
    counts: bool = False,
) -> Table:
    """The table that a source holds, with the columns that are wanted.

    A text file without a single byte has no rows, whatever its columns would be called.

    Args:
        engine: Reads it.
        source: Whatever holds the table.
        wanted: The names of the columns.
        form: The format of files, if their names do not tell.
        table: The table of a database.
        query: A SELECT to ask of it instead.
        person: The column that identifies persons, if each row of a query or view must be seen to
            come from one person's rows alone.
        header: Whether CSV and TSV files have names in their first lines.
        delimiter: What stands between the cells of a CSV file.
        most_copied: So many bytes at most are taken from a pipe; any number if None.
        run: Whether a query is run; otherwise it gives no rows.
        counts: Whether a query computes counts.

    Raises:
        SourceError: It cannot be read, or has no such columns.
        ParameterError: What was said of it does not fit its format.
    """
    for name in wanted:
        if not isinstance(name, str) or not name:
            raise ParameterError("The name of a column must be a string.")
    if len({*wanted}) < len(wanted):
        raise ParameterError("Persons, items and counts must be in different columns.")
    for text in (*wanted, table or "", query or ""):
        if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            raise ParameterError("The name of a column or table, or a query, is not valid Unicode.")
    if not _is_file(source):
        found = read_frame(engine, source, wanted)
    else:
        named = files.find(engine, source, most_copied)
        paths, label = named.paths, named.label
        form = files.detect_format(paths, label, form)
        if form not in {"duckdb", "sqlite"} and (table is not None or query is not None):
            raise ParameterError(
                "Only a DuckDB or SQLite file can be asked for a table or a query."
            )
        extraction = Extraction(wanted, table, query, person, run, counts)
        if table is not None and query is not None:
            raise ParameterError("Give a table or a query, not both.")
        if form in {"csv", "tsv"}:
            found = read_delimited(named, form, wanted, header, delimiter)
        elif form == "jsonl":
            found = _read_json_lines(engine, paths, label, wanted)
        elif form == "parquet":
            found = _read_parquet(engine, paths, label, wanted)
        elif form == "fimi":
            raise ParameterError(
                "The FIMI format has no columns: each line is a person, and holds the items."
            )
        elif len(paths) > 1:
            raise SourceError("Only one database can be read at a time.")
        elif form == "duckdb":
            found = read_duckdb(engine, paths[0], label, extraction)
        else:
            found = read_sqlite(engine, paths[0], label, extraction)
    for name in wanted:
        found.column(name)
    return found


def open_lines(engine: Engine, source: Any) -> Table:
    """The lines of text files, in the column `line`.

    Raises:
        SourceError: They cannot be read.
    """
    if not _is_file(source):
        raise SourceError("Transactions are read from files alone.")
    found = files.find(engine, source)
    for path, label in zip(found.paths, found.labels, strict=True):
        refuse_long_lines(path, label)
    return Table(
        found.label,
        build_lines_sql(found.paths),
        {"line": Column("line", "VARCHAR")},
        names_are_schema=False,
    )


def _is_file(source: Any) -> bool:
    several = isinstance(source, list | tuple) and all(map(is_path, source))
    return is_path(source) or several or hasattr(source, "read")


def _read_parquet(engine: Engine, paths: Sequence[str], label: str, wanted: Sequence[str]) -> Table:
    """DuckDB would read the other files as if they had the first one's types: they must.

    And it gives a name of its own to a column whose name is there twice, or in other case. So each
    column is found by its place in a file; files in which DuckDB calls the wanted ones alike are
    read together.
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    kinds: dict[str, str] = {}
    for path in paths:
        places = locate_columns(wanted, _parquet_names(engine, path, label), label)
        columns = [*describe_table(engine, label, _parquet([path])).columns.values()]
        found = [columns[place] for place in places]
        for name, column in zip(wanted, found, strict=True):
            if kinds.setdefault(name, column.kind) != column.kind:
                raise SourceError(
                    f"{label} has a column {quote(name)} of another type in other files."
                )
        alike.setdefault(tuple(column.cell for column in found), []).append(path)
    selects = []
    for cells, together in alike.items():
        listed = ", ".join(f"{cell} AS w{n}" for n, cell in enumerate(cells))
        selects.append(f"SELECT {listed} FROM {_parquet(together)}")
    return build_table(label, f"({' UNION ALL '.join(selects)})", wanted, kinds.values())


def _parquet_names(engine: Engine, path: str, label: str) -> list[str]:
    """The names of the columns as they are in the file, before DuckDB makes others of them."""
    rows = engine.run(
        f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({quote_literal(path)})",
        of=label,
    )
    names = []
    inside = 0  # of how many nodes of a tree, each before its children, the next is a part
    for name, children in rows[1:]:
        if inside == 0:
            names.append(name)
            inside = 1
        inside += children - 1
    return names


def _parquet(paths: Sequence[str]) -> str:
    listed = ", ".join(map(quote_literal, paths))
    return f"read_parquet([{listed}], union_by_name = true, {_NO_HIVE})"


def _read_json_lines(
    engine: Engine, paths: Sequence[str], label: str, wanted: Sequence[str]
) -> Table:
    listed = f"[{', '.join(map(quote_literal, paths))}], format = 'newline_delimited', {_NO_HIVE}"
    names = ", ".join(f"bool_or(list_contains(names, {quote_literal(name)}))" for name in wanted)
    # The first objects tell which names there are; in later ones a name that lacks is a NULL.
    first = f"SELECT json_keys(json) AS names FROM read_json_objects({listed}) LIMIT {_FIRST}"
    (seen,) = engine.run(f"SELECT {names} FROM ({first})", of=label)
    for name, is_there in zip(wanted, seen, strict=True):
        if is_there is False:
            raise SourceError(
                f"{label} has no column {quote(name)} in its first objects (upper and lower case "
                f"differ)."
            )
    if len({name.casefold() for name in wanted}) < len(wanted):
        raise SourceError(
            f"{label}: DuckDB cannot read two names of JSON objects that differ by case alone; "
            f"rename one."
        )
    columns = ", ".join(f"{quote_literal(name)}: 'JSON'" for name in wanted)
    return describe_table(engine, label, f"read_json({listed}, columns = {{{columns}}})")
