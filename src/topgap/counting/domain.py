"""Domains from files: the reading of `read_domain`, and of whatever a user gives as one."""

import os
from typing import IO, Any

from topgap.counting.cells import build_item_sql, is_integer
from topgap.counting.engine import LONGEST_LINE, Engine, Table
from topgap.counting.sources import Format, format_by_name, open_table
from topgap.domains import MOST_ITEMS, Domain, FromData
from topgap.domains.cell_text import normalize_text
from topgap.errors import DomainError, ParameterError, SourceError
from topgap.sealing import seal_library_errors
from topgap.sources.paths import is_path, label_path, refuse_address

MOST_TEXT = 500_000_000
"""The number of characters that all items of a file may have together."""

_MOST_COPIED = 2**31
_TABLES = {".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet", ".pq", ".gz"}


@seal_library_errors(DomainError, "The domain")
def read_domain(
    path: str | os.PathLike[str],
    column: str | None = None,
    *,
    form: Format | None = None,
    header: bool = True,
) -> Domain:
    """Read a domain from a file: an item a line, or a column of a table.

    Args:
        path: A text file with an item in each line, blank lines left out, of at most 10,000,000
            lines and 500,000,000 characters; or, with a column, any file that can be counted.
        column: The column of a CSV, TSV, JSON lines or Parquet file.
        form: The format of the table, if its name does not tell.
        header: Whether a CSV or TSV file has the names of its columns in the first line.

    Raises:
        DomainError: The file cannot be read, or the list cannot be used.
    """
    if column is not None:
        return _read_column(path, column, form, header=header)
    label = label_path(os.fspath(path))
    if os.path.splitext(path)[1].lower() in _TABLES:
        raise DomainError(
            f"{label} is a table; say which of its columns holds the items (column=, "
            f"--domain-column)."
        )
    try:
        refuse_address(os.fspath(path))
        with open(path, encoding="utf-8-sig") as file:
            items = _read_lines(file, label)
    except SourceError as error:
        raise DomainError(str(error)) from None
    except UnicodeDecodeError:
        raise DomainError(f"{label} is not UTF-8 text.") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its name is not that of a file"
        raise DomainError(f"{label} cannot be read: {why}.") from None
    if not items:
        raise DomainError(f"{label} holds no items.")
    return Domain(items)


def _read_lines(file: IO[str], label: str) -> list[str]:
    """Read the lines that are not blank, up to the limits of a domain.

    Raises:
        SourceError: The file has more.
    """
    items, lines, text = [], 0, 0
    while line := file.readline(LONGEST_LINE + 1):
        lines += 1
        text += len(line)
        if len(line) > LONGEST_LINE:
            raise SourceError(f"{label} has a line of more than {LONGEST_LINE:,} characters.")
        if lines > MOST_ITEMS:
            raise SourceError(f"{label} has more than {MOST_ITEMS:,} lines.")
        if text > MOST_TEXT:
            raise SourceError(f"{label} has more than {MOST_TEXT:,} characters.")
        if normalize_text(line):
            items.append(line.removesuffix("\n"))
    return items


def to_domain(domain: Any) -> Domain | FromData:
    """Read whatever a user may give as a domain."""
    if isinstance(domain, Domain | FromData):
        return domain
    if is_path(domain):
        return read_domain(domain)
    if domain is None:
        raise DomainError(
            "The domain is missing: give the public list of items, or topgap.counting.FROM_DATA."
        )
    return Domain(domain)


def _read_column(
    path: str | os.PathLike[str], column: str, form: Format | None, *, header: bool
) -> Domain:
    if form is None and format_by_name(os.fspath(path)) is None:
        label = label_path(os.fspath(path))
        raise DomainError(f"{label} has no name of a table, such as .csv; give no column for it.")
    with Engine() as engine:
        try:
            refuse_address(os.fspath(path))
            table = open_table(
                engine, path, [column], form=form, header=header, most_copied=_MOST_COPIED
            )
            items = table.column(column)
            text = build_item_sql(items.cell, items.kind)
            if text is None:
                raise SourceError(f"{table.label} has a column that cannot name items.")
            _check_length(engine, table, text)
            cell = items.cell if is_integer(items.kind) else text
            values = engine.run(f"SELECT {cell} FROM {table.relation}", label=table.label)
        except (SourceError, ParameterError) as error:
            raise DomainError(f"The domain cannot be read: {error}") from None
    if not values:
        raise DomainError(f"{table.label} holds no items.")
    if any(value is None for (value,) in values):
        raise DomainError("The domain has an item that is blank or missing.")
    return Domain([value for (value,) in values])


def _check_length(engine: Engine, table: Table, text: str) -> None:
    """Check that a column fits in memory before it is read.

    Raises:
        SourceError: It has too many items, or too much text.
    """
    some = f"SELECT {text} AS text FROM {table.relation} LIMIT {MOST_ITEMS + 1}"
    ((items, length),) = engine.run(
        f"SELECT count(*), coalesce(sum(strlen(text)), 0) FROM ({some})", label=table.label
    )
    if items > MOST_ITEMS:
        raise SourceError(f"{table.label} has more than {MOST_ITEMS:,} items.")
    if length > MOST_TEXT:
        raise SourceError(f"{table.label} has items of more than {MOST_TEXT:,} bytes in all.")
