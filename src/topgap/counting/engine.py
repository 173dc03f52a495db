"""DuckDB: a connection with a limit of memory and a private directory, and the tables it reads."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Any, TypeVar

from topgap.counting.encodings import find_wrong_text, not_utf8
from topgap.display.text import format_path
from topgap.errors import MissingExtraError, ParameterError, SourceError
from topgap.sealing import CallerError
from topgap.signals import defer_signals
from topgap.sources.columns import missing_column, repeated_column
from topgap.sources.progress import Progress

_T = TypeVar("_T")

MEMORY = "700MB"
LONGEST_LINE = 2_000_000
NESTED = "topgap: a value that holds others"
_PER_THREAD = 100_000_000
_PERFECT_BITS = 22  # of numbers that are counted by in an array: 40 MB for each thread
_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@dataclass(frozen=True, slots=True)
class Column:
    """A column: SQL for its cells, and DuckDB's name of its type."""

    cell: str
    kind: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table that DuckDB can read, whatever it came from.

    Attributes:
        label: What to call it in an error.
        relation: SQL for what stands after FROM.
        columns: Its columns by name.
        names_are_schema: Whether the names of the columns are a schema and not data, so that an
            error may list them. The first line of a text file and the columns of a query may be
            somebody's data.
        is_quick: Whether it is as quick to read a second time as a copy of it would be.
    """

    label: str
    relation: str
    columns: Mapping[str, Column]
    names_are_schema: bool
    is_quick: bool = False

    def column(self, name: str) -> Column:
        """Find the column of this name.

        Raises:
            SourceError: There is none.
        """
        if name in self.columns:
            return self.columns[name]
        raise missing_column(self.label, name, self.columns if self.names_are_schema else ())


def locate_columns(
    wanted: Sequence[str], names: Sequence[str], label: str, *, names_are_schema: bool = True
) -> list[int]:
    """Find the positions of the wanted columns; upper and lower case differ.

    Args:
        wanted: Their names.
        names: The names of all columns.
        label: What to call the table in an error.
        names_are_schema: Whether an error may list the names; see `Table`.

    Raises:
        SourceError: One is not there, or more than once.
    """
    for name in wanted:
        if names.count(name) > 1:
            raise repeated_column(label, name)
        if name not in names:
            raise missing_column(label, name, names if names_are_schema else ())
    return [names.index(name) for name in wanted]


def build_table(label: str, relation: str, wanted: Sequence[str], kinds: Iterable[str]) -> Table:
    """Make the table of a relation whose wanted columns are called w0, w1 and so on."""
    columns = {
        name: Column(f"w{n}", kind)
        for n, (name, kind) in enumerate(zip(wanted, kinds, strict=True))
    }
    return Table(label, relation, columns, names_are_schema=True, is_quick=True)


class Engine:
    """One connection to an embedded DuckDB, with a private directory for what memory cannot hold.

    Args:
        memory: How much memory DuckDB may use, such as "700MB" or "4GB".
        progress: A function that is called with the progress.

    Raises:
        MissingExtraError: DuckDB is not installed.
        ParameterError: The memory is not written so, or too little.
    """

    def __init__(self, memory: str = MEMORY, progress: Progress | None = None) -> None:
        try:
            with defer_signals():  # one in the middle would abort the process
                import duckdb
        except ImportError:
            raise MissingExtraError("Counting needs DuckDB: pip install duckdb.") from None
        self.memory = memory
        limit = _parse_memory(memory)
        self._progress = progress
        self._files = 0
        self.text_files: Mapping[str, str] = {}  # by paths, what an error calls them
        self._is_locked = False
        try:
            self.directory = Path(tempfile.mkdtemp(prefix="topgap-"))
        except OSError:
            raise SourceError(
                "Temporary files cannot be created; set TMPDIR to a directory that can be written "
                "to."
            ) from None
        try:
            self.connection = defer_signals()(duckdb.connect)(
                config={
                    "memory_limit": f"{limit}B",
                    "threads": min(os.cpu_count() or 1, max(1, limit // _PER_THREAD)),
                    "temp_directory": str(self.directory / "spilled"),
                    "autoinstall_known_extensions": False,
                    "autoload_known_extensions": False,
                    "python_enable_replacements": False,
                }
            )
            self.connection.execute("SET TimeZone = 'UTC'")
            # DuckDB would answer isnan() and comparisons from the least and largest value that a
            # file says to have. In a Parquet file they leave out NaN, and may be wrong.
            self.connection.execute("SET disabled_optimizers = 'statistics_propagation'")
            with suppress(duckdb.InvalidInputException):  # in Jupyter without ipywidgets
                self.connection.execute(
                    "SET enable_progress_bar = true; SET enable_progress_bar_print = false; "
                    "SET progress_bar_time = 0"
                )
        except BaseException:
            shutil.rmtree(self.directory, ignore_errors=True)
            raise

    def __enter__(self) -> "Engine":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with defer_signals():  # so that nothing is left behind
            self.connection.close()
            shutil.rmtree(self.directory, ignore_errors=True)

    def new_path(self, suffix: str) -> Path:
        """Make up an unused name of a file in the private directory."""
        self._files += 1
        return self.directory / f"{self._files}{suffix}"

    def report_progress(self, doing: str, share: float | None) -> None:
        """Tell the caller's progress function how far the work is."""
        if self._progress is None:
            return
        try:
            self._progress(doing, share)
        except Exception as error:
            raise CallerError(error) from None

    def ignore_row_order(self) -> None:
        """Let rows come in any order from here on, which takes less memory."""
        if not self._is_locked:
            self.connection.execute("SET preserve_insertion_order = false")

    def trust_statistics(self) -> None:
        """Use the least and largest values of tables: from here on all are of this connection.

        Counting by two small numbers is then twice as fast. A lock that came before forbids it.
        """
        if not self._is_locked:
            self.connection.execute(
                f"SET disabled_optimizers = ''; SET perfect_ht_threshold = {_PERFECT_BITS}"
            )

    def lock(self) -> None:
        """Let what runs from here on reach no other file, no extension and no setting."""
        self.ignore_row_order()
        self.connection.execute("SET enable_external_access = false; SET lock_configuration = true")
        self._is_locked = True

    def describe(self, label: str, relation: str) -> Table:
        """Make a table of all columns that DuckDB finds in a relation.

        Raises:
            SourceError: It cannot be read.
        """
        import duckdb

        try:
            rows = self.connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException):
            # Their words may be data: a PIVOT reads rows to name its columns, an ENUM lists its
            # values.
            raise SourceError(f"{label} cannot be read.") from None
        except duckdb.Error as error:
            raise SourceError(self.explain(error, label)) from None
        columns = {name: Column(quote_identifier(name), kind) for name, kind, *_ in rows}
        return Table(label, relation, columns, names_are_schema=True)

    def run(
        self,
        query: str,
        *,
        label: str,
        doing: str = "reading",
        fetch: str = "fetchall",
        fallback: str | None = None,
        interrupt: Callable[[], None] | None = None,
    ) -> Any:
        """Run a query to its end, or until the user interrupts it.

        Args:
            query: What to run.
            label: What an error calls the data that it reads.
            doing: What a progress function is told that it does.
            fetch: DuckDB's method for its result: `fetchall` for rows, `fetchnumpy` for columns.
            fallback: The sentence of the error if the reason is not known.
            interrupt: Stops whatever else it reads from, such as a server.

        Returns:
            The whole result.

        Raises:
            SourceError: The data cannot be read; the sentence holds nothing of what is in them.
        """
        import duckdb

        def work() -> Any:
            try:
                return getattr(self.connection.execute(query), fetch)()
            except (duckdb.Error, RuntimeError, MemoryError) as error:
                raise SourceError(self.explain(error, label, fallback)) from None

        def stop() -> None:
            if interrupt is not None:
                interrupt()
            self.connection.interrupt()

        return self.watch(work, doing, stop)

    def watch(
        self, work: Callable[[], _T], doing: str, interrupt: Callable[[], None] | None = None
    ) -> _T:
        """Do work in a thread of its own, to its end or until the user interrupts it.

        Args:
            work: What is done. It ends soon after `interrupt`.
            doing: What a progress function is told that it does.
            interrupt: Stops it; if there is none, its end is not waited for.
        """
        done_work: list[_T] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                done_work.append(work())
            except BaseException as error:
                failed.append(error)
            finally:
                done.set()

        # This thread watches the other one and can be interrupted; by an event, because
        # Thread.join takes an interruption for the thread's end.
        done, begun = Event(), False
        try:
            with defer_signals():  # so that it is known whether there is a thread to wait for
                Thread(target=run, name="topgap-counting", daemon=True).start()
                begun = True
            while not done.wait(0.1):
                percent = self.connection.query_progress()
                self.report_progress(doing, percent / 100 if 0 <= percent <= 100 else None)
        except BaseException:
            while begun and interrupt is not None and not done.is_set():
                with suppress(KeyboardInterrupt, SystemExit):  # it is being stopped already
                    interrupt()
                    done.wait(0.05)
            raise
        if failed:
            raise failed[0]
        return done_work[0]

    def explain(self, error: BaseException, label: str, fallback: str | None = None) -> str:
        """Say what went wrong without DuckDB's own words, which quote the data."""
        import duckdb

        text = str(error)
        line = re.search(r"CSV Error on Line: (\d+)", text)
        where = f"{label} (line {line[1]})" if line else label
        if isinstance(error, duckdb.OutOfMemoryException | MemoryError):
            if "temp_directory" in text and "max_temp_directory_size" in text:
                return self._no_space_message()
            return (
                f"Counting takes more than {self.memory} of memory; allow more (memory=, --memory)."
            )
        if "No space left" in text or "failed to write" in text.lower():
            return self._no_space_message()
        if NESTED in text:
            return f"{label} has a value in these columns that is neither text nor a number."
        if fallback is not None:
            return fallback
        if "invalid unicode" in text.lower() or "invalid utf-8" in text.lower():
            wrong = find_wrong_text(self.text_files)
            path, encoding = wrong or ("", None)
            return not_utf8(self.text_files.get(path, label), encoding)
        for part, message in _MESSAGES.items():
            if part in text:
                return f"{where} {message}"
        return f"{label} cannot be read: it is damaged or in another format."

    def _no_space_message(self) -> str:
        return (
            f"There is no space left for temporary files in {format_path(self.directory.parent)}."
        )


_MESSAGES = {
    "Maximum line size": f"is longer than {LONGEST_LINE:,} bytes.",
    "maximum_object_size": "has an object that is too large to be an event.",
    "Expected Number of Columns": "does not have as many columns as the first line.",
    "unterminated quote": "has a quotation mark that is not closed, or a long quoted cell.",
    "does not support a full read": f"has a line that is longer than {LONGEST_LINE:,} bytes.",
    "reached an invalid state": "breaks the rules of CSV: line ends that differ, or a stray quote.",
    "duplicate key": "has an object with the same name more than once.",
    "Malformed JSON": "is not made of JSON objects, one in each line.",
    "Expected OBJECT": "is not made of JSON objects, one in each line.",
    "No magic bytes found at end of file": "is not a complete Parquet file.",
    "Could not set lock": "is in use by another process.",
    "Permission denied": "may not be read.",
}


def _parse_memory(memory: str) -> int:
    match = re.fullmatch(r"\s*(\d{1,9})\s*([KMGT])i?B?\s*", str(memory), re.IGNORECASE)
    limit = int(match[1]) * _UNITS[f"{match[2].upper()}B"] if match else 0
    if limit < 10**8:
        raise ParameterError("memory must be at least 100MB, written like 700MB or 4GB.")
    return limit


def quote_literal(text: str) -> str:
    """Write a text as a string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def quote_identifier(name: str) -> str:
    """Write a name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'
