"""Parquet files: columns are found by their position, and types must be alike in all files."""

from collections.abc import Sequence

from topgap.counting.engine import Engine, Table, build_table, locate_columns, quote_literal
from topgap.errors import SourceError
from topgap.sources.columns import quote


def read_parquet_files(
    engine: Engine, paths: Sequence[str], label: str, wanted: Sequence[str]
) -> Table:
    """Read Parquet files, whose wanted columns must have the same types in all files.

    DuckDB would read the other files as if they had the first one's types. And it renames a column
    whose name is there twice, or in other case. So each column is found by its position in a file.
    Files in which DuckDB gives the wanted columns the same names are read together.

    Raises:
        SourceError: They cannot be read, have no such columns, or differ in their types.
    """
    paths_by_names: dict[tuple[str, ...], list[str]] = {}
    kinds: dict[str, str] = {}
    for path in paths:
        places = locate_columns(wanted, _read_names(engine, path, label), label)
        columns = [*engine.describe(label, _build_sql([path])).columns.values()]
        found = [columns[place] for place in places]
        for name, column in zip(wanted, found, strict=True):
            if kinds.setdefault(name, column.kind) != column.kind:
                raise SourceError(
                    f"{label} has a column {quote(name)} whose type differs in other files."
                )
        paths_by_names.setdefault(tuple(column.cell for column in found), []).append(path)
    selects = []
    for cells, together in paths_by_names.items():
        listed = ", ".join(f"{cell} AS w{n}" for n, cell in enumerate(cells))
        selects.append(f"SELECT {listed} FROM {_build_sql(together)}")
    return build_table(label, f"({' UNION ALL '.join(selects)})", wanted, kinds.values())


def list_parquet_columns(engine: Engine, path: str, label: str) -> list[tuple[str, str]]:
    """List the columns of a Parquet file, with DuckDB's names of their types."""
    names = _read_names(engine, path, label)
    columns = engine.describe(label, _build_sql([path])).columns.values()
    return [(name, column.kind) for name, column in zip(names, columns, strict=True)]


def _read_names(engine: Engine, path: str, label: str) -> list[str]:
    """Read the names of the columns as they are in the file, before DuckDB renames them."""
    rows = engine.run(
        f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({quote_literal(path)})",
        label=label,
    )
    names = []
    inside = 0  # of how many nodes of a tree, each before its children, the next is a part
    for name, children in rows[1:]:
        if inside == 0:
            names.append(name)
            inside = 1
        inside += children - 1
    return names


def _build_sql(paths: Sequence[str]) -> str:
    listed = ", ".join(map(quote_literal, paths))
    return f"read_parquet([{listed}], union_by_name = true, hive_partitioning = false)"
