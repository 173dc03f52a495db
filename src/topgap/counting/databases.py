"""Databases that are reached by an address or a connection, and not by a file of their own.

PostgreSQL is read by `postgresql`, which checks queries and views. Of any other database that
returns Arrow, what a table or a query gives is taken as it is: that each row comes from one
person's rows alone is the user's word then.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from topgap.counting.database_addresses import find_address, is_postgresql, prepare_connect
from topgap.counting.database_errors import explain_failure
from topgap.counting.database_session import Session, copy_batches, open_session
from topgap.counting.duckdb_files import read_duckdb_catalogue
from topgap.counting.engine import Engine, Table, build_table, locate_columns, quote_identifier
from topgap.counting.extraction import QUERY_LABEL, Extraction, SourceColumns
from topgap.counting.postgresql import list_postgresql_columns, read_postgresql
from topgap.counting.query_check import check_rows, check_view
from topgap.counting.query_tree import rewrite_query
from topgap.display.text import name_type
from topgap.errors import ParameterError, SourceError
from topgap.sources.paths import label_path

_LABEL = "The database"
_FETCHES = ("fetch_record_batch", "fetch_arrow_table", "fetchall_arrow", "fetch_arrow_all")
_BACKTICKS = ("bigquery", "databricks", "mysql")


def is_database(source: Any) -> bool:
    """Whether a source is the address of a database, or a connection to one.

    Raises:
        SourceError: It is an address among others.
    """
    return find_address(source) is not None or _is_connection(source)


def read_database(engine: Engine, source: Any, extraction: Extraction) -> Table:
    """Copy the wanted columns of a table or a query of a database into DuckDB.

    Raises:
        SourceError: It cannot be reached or read; the sentence has no words of others.
        MissingExtraError: The driver is not installed.
        ParameterError: What was said of the source does not fit it.
    """
    if extraction.table is not None and extraction.query is not None:
        raise ParameterError("Give a table or a query, not both.")
    address = find_address(source)
    if address is not None:
        label, connect = label_path(address), prepare_connect(address)
        if is_postgresql(address):
            with open_session(engine, connect, label) as session:
                _check_engine(source, session)
                return read_postgresql(engine, session, extraction)
        _check_other(extraction)
        with open_session(engine, connect, label) as session:
            session.copy_rows(_write_select(source, extraction, address), "stream_of_rows")
        return _choose_columns(engine, extraction, label)
    if _is_adbc(source) and _name_vendor(source) == "postgresql":
        # A session of its own, so that nothing of the user's is changed or rolled back.
        with open_session(engine, lambda: _clone(source), _LABEL) as session:
            return read_postgresql(engine, session, extraction)
    with _open_reader(engine, source, extraction) as (reader, cancel):
        copy_batches(
            engine, reader, "stream_of_rows", _LABEL, cancel=cancel,
            explain=lambda error: explain_failure(error, _LABEL),
        )  # fmt: skip
    return _choose_columns(engine, extraction, _LABEL)


def list_database_columns(engine: Engine, source: Any, table: str | None) -> SourceColumns:
    """List the columns of a table of PostgreSQL, or its tables and views if there are several.

    Raises:
        SourceError: It is another database, or cannot be reached or read, or has no such table.
        MissingExtraError: The driver is not installed.
    """
    address = find_address(source)
    if address is None or not is_postgresql(address):
        raise SourceError(
            "Columns are listed only for files and for the address of a PostgreSQL database; query "
            "the catalogue of any other."
        )
    with open_session(engine, prepare_connect(address), label_path(address)) as session:
        return list_postgresql_columns(session, table)


def _is_connection(source: Any) -> bool:
    if isinstance(source, type) or hasattr(type(source), "read"):
        return False
    kind = type(source)
    return callable(getattr(kind, "cursor", None)) and callable(getattr(kind, "close", None))


def _is_adbc(source: Any) -> bool:
    return hasattr(type(source), "adbc_clone")


def _name_vendor(connection: Any) -> str:
    """What an ADBC connection is to, in lower case."""
    try:
        return str(connection.adbc_get_info().get("vendor_name", "")).lower()
    except Exception:  # of the driver
        raise SourceError("The connection cannot be used; open a new one.") from None


def _clone(connection: Any) -> Any:
    clone = connection.adbc_clone()
    clone.adbc_connection.set_autocommit(True)
    return clone


def _check_other(extraction: Extraction) -> None:
    """Refuse what only PostgreSQL can do, and rows that nobody has confirmed."""
    if extraction.count_there:
        raise ParameterError(
            "Only PostgreSQL can count in the database (count_in_database, --count-in-database); "
            "leave it out to transfer the rows."
        )
    if extraction.table is None and extraction.query is None:
        raise ParameterError("A database needs a table or a query; give one.")
    if extraction.person is not None:
        raise SourceError(
            "Views and queries of this database cannot be checked; if each row of the table or "
            "query comes from only one person's rows, confirm that (rows_are_per_person=True, "
            "--rows-are-per-person)."
        )


def _write_select(source: Any, extraction: Extraction, address: str = "") -> str:
    """Write the SELECT for the rows, or for none of them; a table can have a schema before it."""
    relation = f"({extraction.query}\n) AS selected" if extraction.query is not None else ""
    kind = f"{address.partition(':')[0]} {type(source).__module__}".lower()
    is_ticked = any(each in kind for each in _BACKTICKS)

    def quote(name: str) -> str:
        return f"`{name.replace('`', '')}`" if is_ticked else quote_identifier(name)

    relation = relation or ".".join(map(quote, str(extraction.table).split(".")))
    columns = ", ".join(map(quote, extraction.columns)) or "*"
    return f"SELECT {columns} FROM {relation}" + ("" if extraction.run else " WHERE 1 = 0")


@contextmanager
def _open_reader(
    engine: Engine, connection: Any, extraction: Extraction
) -> Iterator[tuple[Any, Callable[[], None]]]:
    """Run the SELECT at a connection, and read what it gives as Arrow."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise SourceError("Reading a connection needs pyarrow: pip install pyarrow.") from None
    try:
        cursor = connection.cursor()
    except Exception:
        raise SourceError("The connection cannot be used; open a new one.") from None
    is_duckdb = type(cursor).__name__ == "DuckDBPyConnection"
    fetch = "" if is_duckdb else next((f for f in _FETCHES if hasattr(cursor, f)), None)

    def cancel() -> None:
        for name in ("adbc_cancel", "cancel", "interrupt"):
            if hasattr(cursor, name):
                with suppress(Exception):
                    getattr(cursor, name)()
                return

    try:
        if fetch is None:
            raise SourceError(
                f"{name_type(connection)} does not return Arrow; give the address of the database "
                f"(postgresql://…), a connection of ADBC, or a data frame that you read with it."
            )
        if is_duckdb:
            extraction = _check_duckdb(engine, cursor, extraction)
        _check_other(extraction)
        if is_duckdb:
            _locate_in_duckdb(cursor, connection, extraction)
        sql = _write_select(connection, extraction)

        def run() -> Any:
            if is_duckdb:  # whose own cursor copies the rows
                return _open_relation(cursor.sql(sql))
            cursor.execute(sql)
            return getattr(cursor, fetch)()

        try:
            found = engine.watch(run, "reading the database", cancel)
        except Exception as error:
            raise explain_failure(error, _LABEL) from None
        yield (found.to_reader() if hasattr(found, "to_reader") else found), cancel
    finally:
        with suppress(Exception):
            cursor.close()


def _check_duckdb(engine: Engine, cursor: Any, extraction: Extraction) -> Extraction:
    """Check the query or view of a connection of DuckDB, as those of its files are.

    The user must still confirm it where names may mean those of another database or schema.
    """
    if extraction.person is None or extraction.count_there:
        return extraction

    def run(sql: str) -> Any:
        return cursor.execute(sql).fetchall()

    ((database, schema),) = run("SELECT current_database(), current_schema()")
    others = run("SELECT database_name FROM duckdb_databases() WHERE NOT internal")
    if others != [(database,)] or schema != "main":
        return extraction
    known, person = read_duckdb_catalogue(run, database), extraction.person
    if extraction.query is not None:
        query = rewrite_query(engine, extraction.query)
        check_rows(engine, query, person, known)
        return extraction._replace(query=query, person=None)
    name = str(extraction.table).lower().removeprefix("main.")
    if name in known.views:
        check_view(engine, name, person, known)
    return extraction._replace(person=None) if name in known.tables else extraction


def _locate_in_duckdb(cursor: Any, connection: Any, extraction: Extraction) -> None:
    """Find the wanted columns by their exact names, which DuckDB does not tell apart by case.

    Raises:
        SourceError: There is no such table or column.
    """
    none = extraction._replace(columns=(), run=False)
    try:
        names = cursor.sql(_write_select(connection, none)).columns
    except Exception:
        what = "query" if extraction.table is None else "table"
        raise SourceError(
            f"{_LABEL} has no such {what}, or cannot run it; a registered frame or a temporary "
            f"table belongs to only one connection; give the frame itself."
        ) from None
    is_query = extraction.query is not None
    label = QUERY_LABEL if is_query else _LABEL
    locate_columns(extraction.columns, [*names], label, names_are_schema=not is_query)


def _check_engine(source: Any, session: Session) -> None:
    """Refuse an engine of SQLAlchemy that is more than its URL: it would read other tables.

    Raises:
        SourceError: Its own connections are to another server, database, user or schemas.
    """
    if not hasattr(source, "get_execution_options"):
        return
    settings = (
        "SELECT current_database()::text, current_user::text, current_setting('search_path'), "
        "current_setting('port')"
    )
    try:
        with source.connect() as connection:
            own = [*connection.exec_driver_sql(settings).fetchone()]
    except Exception:
        raise SourceError("The engine cannot connect; give the address of the database.") from None
    translates = source.get_execution_options().get("schema_translate_map")
    if translates or own != [*session.read_rows(settings)[0]]:
        raise SourceError(
            "The engine has settings that are not in its URL, such as connect_args, creator or "
            "schema_translate_map; give the address of the database, or put them into the URL."
        )


def _open_relation(relation: Any) -> Any:
    import pyarrow as pa

    return pa.RecordBatchReader.from_stream(relation)


def _choose_columns(engine: Engine, extraction: Extraction, label: str) -> Table:
    """Make the table of what was copied, whose columns are those that were wanted."""
    label = label if extraction.query is None else QUERY_LABEL
    columns = engine.describe(label, "stream_of_rows").columns.values()
    return build_table(label, "stream_of_rows", extraction.columns, [each.kind for each in columns])
