"""`list_columns`: which columns a source has, for the data holder."""

from typing import Any

from topgap.counting.database_addresses import find_engine_file
from topgap.counting.databases import is_database, list_database_columns
from topgap.counting.duckdb_files import list_duckdb_columns
from topgap.counting.engine import Engine
from topgap.counting.extraction import SourceColumns
from topgap.counting.parquet import list_parquet_columns
from topgap.counting.source_files import (
    WORKBOOKS,
    Format,
    SourceFiles,
    decode_files,
    detect_format,
    find_files,
)
from topgap.counting.spreadsheets import list_sheet_columns
from topgap.counting.sqlite_files import list_sqlite_columns
from topgap.counting.text_files import list_delimited_columns, list_json_columns
from topgap.errors import ParameterError, SourceError
from topgap.sealing import seal_library_errors
from topgap.sources.paths import is_path


@seal_library_errors(SourceError, "The source")
def list_columns(
    source: Any,
    *,
    format: Format | None = None,  # noqa: A002 - what everyone calls it
    table: str | None = None,
    header: bool = True,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> SourceColumns:
    r"""List the columns of a file, or the tables if there are several.

    What it returns is for the holder of the data alone: the first line of a text file may be data.

    Args:
        source: As for `count_events`, but no data frame.
        format: As there, and so are the others.
        table: As there.
        header: As there.
        delimiter: As there; unless given, the one that the first line of a file has most of.
        encoding: As there.

    Returns:
        The names, each with its type if the source has types. Of several files, all columns that
        any of them has.

    Raises:
        SourceError, ParameterError, MissingExtraError: As for `count_events`.

    >>> import io
    >>> list_columns(io.BytesIO(b"who;what\nAnn;flu\n"), format="csv").columns
    [('who', None), ('what', None)]
    """
    source = find_engine_file(source) or source
    if is_database(source):
        with Engine() as engine:
            return list_database_columns(engine, source, table)
    several = isinstance(source, list | tuple) and all(map(is_path, source))
    if not (is_path(source) or several or hasattr(source, "read")):
        raise SourceError("A data frame lists its own columns; give a file.")
    with Engine() as engine:
        files = find_files(engine, source)
        form = detect_format(files, format)
        if form in ("csv", "tsv", "jsonl"):
            files = decode_files(engine, files, encoding)
        if form in ("duckdb", "sqlite") or form in WORKBOOKS:
            return _list_in_tables(engine, files, form, table, header=header)
        if table is not None:
            raise ParameterError("Only a database has tables, and only a workbook has sheets.")
        found: dict[str, str | None] = {}
        if form == "jsonl":
            found = dict.fromkeys(list_json_columns(engine, files.paths, files.label))
        elif form == "fimi":
            raise ParameterError("The FIMI format has no columns: each line holds the items.")
        for path, label in files.labels.items():
            if form == "parquet":
                found |= list_parquet_columns(engine, path, label)
            elif form != "jsonl":
                names = list_delimited_columns(
                    path, label, form, header=header, delimiter=delimiter
                )
                found |= dict.fromkeys(names)
        return SourceColumns([*found.items()])


def _list_in_tables(
    engine: Engine, files: SourceFiles, form: Format, table: str | None, *, header: bool
) -> SourceColumns:
    path, label = next(iter(files.labels.items()))
    if form == "duckdb":
        return list_duckdb_columns(engine, path, label, table)
    if form == "sqlite":
        return list_sqlite_columns(path, label, table)
    return list_sheet_columns(engine, path, label, table, header=header)
