"""Spreadsheets of Excel and LibreOffice: one sheet of a workbook, by python-calamine.

A number that is whole is written without a point, as `cells` says of all numbers, so that 7 in a
sheet is the text `7`. A cell that is empty, or whose formula gives an error, is missing.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date, datetime, time
from itertools import islice
from threading import Event, Thread
from typing import IO, Any

import numpy as np

from topgap.counting.engine import Column, Engine, Table
from topgap.counting.extraction import SourceColumns, choose_table
from topgap.counting.source_files import SourceFiles
from topgap.domains.cell_text import INVISIBLE, to_text
from topgap.errors import MissingExtraError, SourceError
from topgap.sealing import CallerError
from topgap.signals import defer_signals
from topgap.sources.columns import LISTS_COLUMNS, quote, repeated_column

_ROWS = 1 << 16
_CHUNK = 1 << 20
_MOST_BYTES = 2_000_000_000
"""So many bytes may the parts of a workbook have when they are unpacked."""

_MOST_CELLS = 100_000_000
_CELL = re.compile(rb'<(?:\w+:)?c\s[^>]{0,200}?\br="([A-Z]{1,3})([0-9]{1,7})"[^>]{0,200}(?<!/)>')


def read_workbook(
    engine: Engine,
    files: SourceFiles,
    wanted: Sequence[str],
    *,
    sheet: str | None,
    header: bool,
) -> Table:
    """Copy the wanted columns of a sheet of each workbook into DuckDB, as text.

    Args:
        engine: Takes them.
        files: The workbooks.
        wanted: The names of the columns; without a header, their numbers, from 1.
        sheet: The sheet; the only one unless given.
        header: Whether the first row that is not blank holds the names of the columns.

    Raises:
        SourceError: A workbook cannot be read, or has no such sheet or columns.
        MissingExtraError: python-calamine is not installed.
    """
    names = [f"w{n}" for n in range(len(wanted))]
    columns = ", ".join(f"{name} VARCHAR" for name in names)
    engine.run(f"CREATE TEMP TABLE sheet ({columns})", label=files.label)
    for path, label in files.labels.items():
        rows = read_rows(engine, path, label, sheet)
        first = next(rows, None)
        if first is None:  # a sheet without a cell has no rows, and any column
            continue
        heads = name_columns(first, header=header)
        places = _locate(wanted, heads, label, header=header)
        if not header:
            rows = _chain(first, rows)
        while batch := [*islice(rows, _ROWS)]:
            cells = {
                name: np.array([_to_cell(row[at], label) for row in batch], dtype=object)
                for name, at in zip(names, places, strict=True)
            }
            engine.connection.register("rows_here", cells)
            # A column of NULL alone has no type of text.
            texts = ", ".join(f"CAST({name} AS VARCHAR)" for name in names)
            engine.run(f"INSERT INTO sheet SELECT {texts} FROM rows_here", label=label)
            engine.connection.unregister("rows_here")
            engine.report_progress(f"reading {label}", None)
    found = {name: Column(f"w{n}", "VARCHAR") for n, name in enumerate(wanted)}
    return Table(files.label, "sheet", found, names_are_schema=False, is_quick=True)


def read_rows(engine: Engine, path: str, label: str, sheet: str | None) -> Iterator[list[Any]]:
    """Read the rows of a sheet, from the first that is not blank on.

    Raises:
        SourceError, MissingExtraError: As of `read_workbook`.
    """
    with _open_workbook(engine, path, label) as workbook:
        chosen = choose_table(workbook.sheet_names, sheet, label, noun="sheet")
        rows = _load_sheet(engine, workbook, chosen, label).iter_rows()
    return (row for row in rows if any(cell != "" for cell in row))


@contextmanager
def _open_workbook(engine: Engine, path: str, label: str) -> Iterator[Any]:
    calamine = _import_calamine()
    _refuse_large(engine, path, label)
    engine.report_progress(f"reading {label}", None)
    try:
        # By its content: the name may end in anything.
        with open(path, "rb") as file, calamine.CalamineWorkbook.from_filelike(file) as workbook:
            yield workbook
    except calamine.PasswordError:
        raise SourceError(
            f"{label} is protected by a password; save it without one, or save the sheet as CSV."
        ) from None
    except calamine.CalamineError:
        raise SourceError(_refusal(path, label)) from None


def _load_sheet(engine: Engine, workbook: Any, name: str, label: str) -> Any:
    """Load a sheet in a thread of its own, so that this one can be interrupted meanwhile."""
    loaded: list[Any] = []
    failed: list[BaseException] = []
    done = Event()

    def load() -> None:
        try:
            loaded.append(workbook.get_sheet_by_name(name))
        except BaseException as error:
            failed.append(error)
        finally:
            done.set()

    Thread(target=load, name="topgap-sheet", daemon=True).start()
    while not done.wait(0.1):
        engine.report_progress(f"reading {label}", None)
    if failed:
        raise failed[0]
    return loaded[0]


def list_sheet_columns(
    engine: Engine, path: str, label: str, sheet: str | None, *, header: bool
) -> SourceColumns:
    """List the columns of a sheet of a workbook, or its sheets if none is named.

    Raises:
        SourceError, MissingExtraError: As of `read_workbook`.
    """
    with _open_workbook(engine, path, label) as workbook:
        names = [*workbook.sheet_names]
    if sheet is None and len(names) != 1:
        return SourceColumns([], names)
    first = next(read_rows(engine, path, label, sheet), [])
    return SourceColumns([(name, None) for name in name_columns(first, header=header)])


def name_columns(first: Sequence[Any], *, header: bool) -> list[str]:
    """The names of the columns, by the cells of the first row, or their numbers."""
    if not header:
        return [str(number) for number in range(1, len(first) + 1)]
    return [(to_text(cell) or "").strip(INVISIBLE) for cell in first]


def _import_calamine() -> Any:
    try:
        with defer_signals():
            import python_calamine
    except ImportError:
        raise MissingExtraError(
            "Reading spreadsheets needs python-calamine: pip install python-calamine."
        ) from None
    return python_calamine


def _locate(wanted: Sequence[str], heads: Sequence[str], label: str, *, header: bool) -> list[int]:
    for name in wanted:
        if heads.count(name) > 1:
            raise repeated_column(label, name)
        if name not in heads:
            where = (
                " in its first row that is not blank (names are case-sensitive)"
                if header
                else "; without a header columns are numbered from 1"
            )
            raise SourceError(f"{label} has no column {quote(name)}{where}; {LISTS_COLUMNS}.")
    return [heads.index(name) for name in wanted]


def _chain(first: list[Any], rows: Iterator[list[Any]]) -> Iterator[list[Any]]:
    yield first
    yield from rows


def _to_cell(value: Any, label: str) -> str | None:
    """The text of a cell; None if it is blank."""
    if value == "" or value is None:
        return None
    if isinstance(value, datetime | time) and type(value) is not date:
        text = value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat()
        return text.rstrip("0") if "." in text else text  # as DuckDB writes fractions of seconds
    text_of = to_text(value)
    if text_of is None:
        raise SourceError(
            f"{label} has a value in these columns that is neither text nor a number."
        )
    return text_of


def _refusal(path: str, label: str) -> str:
    """Say why a workbook cannot be read."""
    with open(path, "rb") as file, suppress(OSError):
        if file.read(4) not in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):  # as some systems export
            return (
                f"{label} is not a workbook, although its name says so; if it is delimited text, "
                f"give its format (format='csv', --source-format csv)."
            )
        # Excel puts what it encrypts into a file of the old kind, beside the key's parameters.
        if "EncryptedPackage".encode("utf-16-le") in file.read(_CHUNK):
            return (
                f"{label} is protected by a password; save it without one, or save the sheet as "
                f"CSV."
            )
    return f"{label} is damaged or is not a workbook of Excel or LibreOffice."


def _refuse_large(engine: Engine, path: str, label: str) -> None:
    """Refuse a workbook that unpacks to too much, or to more than it says.

    A sheet is loaded as a rectangle, so that two cells far apart would take all memory.
    """
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if sum(each.file_size for each in members) > _MOST_BYTES:
                raise SourceError(
                    f"{label} unpacks to more than {_MOST_BYTES:,} bytes; save the sheet as CSV."
                )
            for member in members:  # of which Python reads no more than is said
                with archive.open(member) as file:
                    is_sheet = member.filename.startswith("xl/worksheets/")
                    cells = _measure_sheet(engine, file, label, looks=is_sheet)
                if cells > _MOST_CELLS:
                    raise SourceError(
                        f"{label} has a sheet of more than {_MOST_CELLS:,} cells; save it as CSV, "
                        f"or remove the cells far from the table."
                    )
    except (SourceError, CallerError):
        raise
    except Exception:  # calamine may read what Python does not
        raise SourceError(_refusal(path, label)) from None


def _measure_sheet(engine: Engine, file: IO[bytes], label: str, *, looks: bool) -> int:
    """Read a part of a workbook to its end; of a sheet, the cells of the rectangle around all."""
    rows: set[int] = set()  # the first and the last
    columns: set[int] = set()
    rest = b""
    while chunk := file.read(_CHUNK):
        engine.report_progress(f"reading {label}", None)
        if not looks:
            continue
        found = _CELL.findall(rest + chunk)
        rest = chunk[-500:]  # a cell may begin in one part and end in the next
        if found:
            rows |= {int(row) for _, row in found}
            columns |= {_number_letters(letters) for letters in {name for name, _ in found}}
            rows, columns = {min(rows), max(rows)}, {min(columns), max(columns)}
    if not rows:
        return 0
    return (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1)


def _number_letters(letters: bytes) -> int:
    """The number of a column.

    >>> _number_letters(b"A"), _number_letters(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number
