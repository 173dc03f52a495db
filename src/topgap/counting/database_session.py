"""A session at a database: it runs statements, and carries their rows over into DuckDB."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

from topgap.counting.database_errors import explain_failure
from topgap.counting.engine import Engine
from topgap.errors import SourceError, TopgapError

_BETWEEN_CANCELS = 1.0  # seconds; each of them is a connection of its own to the server

_USE_COPY = "adbc.postgresql.use_copy"


class Session:
    """A session of ADBC's that may only read.

    Args:
        engine: Watches what runs, so that the user can interrupt it.
        connection: The connection, which is closed at the end.
        label: What to call the database in an error.
    """

    def __init__(self, engine: Engine, connection: Any, label: str) -> None:
        self.label = label
        self._engine = engine
        self._connection = connection
        self._cursor = connection.cursor()
        self._plain = connection.cursor()  # for what the driver cannot copy out, such as EXPLAIN
        self._cancelled = 0.0

    def run(self, sql: str) -> None:
        """Run a statement that returns nothing."""
        self._call(lambda: self._cursor.execute(sql))

    def read_rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement, and return its few rows."""
        self._plain.adbc_statement.set_options(**{_USE_COPY: "false"})
        rows: list[tuple[Any, ...]] = self._call(lambda: self._plain.execute(sql).fetchall())
        return rows

    def read_names(self, sql: str) -> list[str]:
        """The names of the columns that a statement returns, without running it."""
        schema = self._call(lambda: self._cursor.adbc_execute_schema(sql))
        return [*schema.names]

    def copy_rows(self, sql: str, table: str) -> None:
        """Run a SELECT, and copy its rows into a temporary table of DuckDB.

        Raises:
            SourceError: It failed, or the connection is lost; the sentence has no words of others.
        """
        reader = self._call(lambda: self._cursor.execute(sql).fetch_record_batch())
        copy_batches(
            self._engine, reader, table, self.label, cancel=self._cancel, explain=self._explain
        )

    def close(self) -> None:
        """End the session at the server; what it began is rolled back."""
        for each in (self._plain, self._cursor, self._connection):
            with suppress(Exception):  # of a connection that is lost already
                each.close()

    def _call(self, work: Callable[[], Any]) -> Any:
        try:
            return self._engine.watch(work, f"reading {self.label}", self._cancel)
        except TopgapError:
            raise
        except Exception as error:  # of the driver
            raise self._explain(error) from None

    def _explain(self, error: BaseException) -> SourceError:
        return explain_failure(error, self.label)

    def _cancel(self) -> None:
        """Ask the server to stop, but not too often while it does."""
        if monotonic() - self._cancelled > _BETWEEN_CANCELS:
            self._cancelled = monotonic()
            with suppress(Exception):
                self._cursor.adbc_cancel()


@contextmanager
def open_session(engine: Engine, connect: Callable[[], Any], label: str) -> Iterator[Session]:
    """Connect, and end the session at the end of the block.

    Raises:
        SourceError: There is no connection; the sentence has no words of others.
    """
    left = False

    def make() -> Any:
        connection = connect()
        if left:  # nobody waits for it any more
            connection.close()
        return connection

    try:
        connection = engine.watch(make, f"connecting to {label}")
    except TopgapError:
        raise
    except Exception as error:  # of the driver
        raise explain_failure(error, label, is_connecting=True) from None
    except BaseException:
        left = True
        raise
    session = Session(engine, connection, label)
    try:
        yield session
    finally:
        session.close()


def copy_batches(
    engine: Engine,
    reader: Any,
    table: str,
    label: str,
    *,
    cancel: Callable[[], None],
    explain: Callable[[BaseException], SourceError],
) -> None:
    """Copy a stream of Arrow into a temporary table of DuckDB, whose columns are w0, w1 and so on.

    Args:
        engine: Has the table.
        reader: The stream, of which no two columns need have different names.
        table: The name of the table.
        label: What an error calls the source.
        cancel: Stops whoever sends the stream.
        explain: Makes the error for what the stream raises.
    """
    import pyarrow as pa

    failed: list[BaseException] = []

    def read() -> Iterator[Any]:
        try:
            yield from reader
        except Exception as error:
            failed.append(error)
            raise

    stream = pa.RecordBatchReader.from_batches(reader.schema, read())
    engine.connection.register("stream", stream)
    head = ", ".join(f"w{n}" for n in range(len(reader.schema)))
    try:
        engine.run(
            f"CREATE TEMP TABLE {table} AS SELECT * FROM stream AS stream({head})",
            label=label,
            doing=f"reading {label}",
            interrupt=cancel,
        )
    except SourceError:
        if failed:
            raise explain(failed[0]) from None
        raise
    finally:
        engine.connection.unregister("stream")


def create_empty_table(engine: Engine, table: str, kinds: Sequence[str], label: str) -> None:
    """Create such a table without rows."""
    columns = ", ".join(f"w{n} {kind}" for n, kind in enumerate(kinds))
    engine.run(f"CREATE TEMP TABLE {table} ({columns})", label=label)
