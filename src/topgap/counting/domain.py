"""Domains from files: the reading of `read_domain`, and of whatever a user gives as one."""

import gzip
import os
import zlib
from contextlib import ExitStack
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from topgap.counting.cells import build_item_sql, is_integer
from topgap.counting.encodings import (
    find_mark,
    find_wrong_text,
    find_zeros,
    is_utf8,
    not_decodable,
    not_utf8,
    of_domain,
    open_text,
    read_encoding,
)
from topgap.counting.engine import LONGEST_LINE, Engine, Table
from topgap.counting.packed_files import find_workbook, is_packed, unpack_file
from topgap.counting.source_files import Format, format_by_name
from topgap.counting.sources import open_table
from topgap.domains import MOST_ITEMS, Domain, FromData
from topgap.domains.cell_text import normalize_text
from topgap.errors import DomainError, ParameterError, SourceError
from topgap.sealing import seal_library_errors
from topgap.sources.paths import check_readable, is_path, label_path, refuse_address

MOST_TEXT = 500_000_000
"""The number of characters that all items of a file may have together."""

_MOST_COPIED = 2**31


@seal_library_errors(DomainError, "The domain")
def read_domain(
    path: str | os.PathLike[str],
    column: str | None = None,
    *,
    form: Format | None = None,
    header: bool = True,
    encoding: str | None = None,
    table: str | None = None,
) -> Domain:
    """Read a domain from a file: an item a line, or a column of a table.

    Args:
        path: A text file with an item in each line, blank lines left out, of at most 10,000,000
            lines and 500,000,000 characters; or, with a column, any file that can be counted. It
            may be packed by gzip or zstd, or in a ZIP archive.
        column: The column of a CSV, TSV, JSON lines or Parquet file, or of a workbook.
        form: The format of the table, if its name does not tell.
        header: Whether a CSV or TSV file, or a sheet, has the names of its columns in its first
            line.
        encoding: The encoding of a text file. Default: that of a byte order mark, or else UTF-8.
        table: The sheet of a workbook, or the table of a database; the only one unless given.

    Raises:
        DomainError: The file cannot be read, or the list cannot be used.
        ParameterError: The encoding is not one that Python knows.
    """
    name = os.fspath(path)
    read_encoding(encoding)
    try:
        refuse_address(name)
        check_readable(name)
    except SourceError as error:
        raise DomainError(str(error)) from None
    if column is not None:
        return _read_column(name, column, form, header=header, encoding=encoding, table=table)
    label = label_path(name)
    if format_by_name(name) is not None and not _is_plain_text(name):
        raise DomainError(_is_table(label))
    try:
        with ExitStack() as opened:
            items = _read_text(opened, name, label, encoding)
    except (SourceError, ParameterError) as error:
        raise DomainError(of_domain(str(error))) from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DomainError(f"{label} is damaged or incomplete.") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its name is not that of a file"
        raise DomainError(f"{label} cannot be read: {why}.") from None
    if not items:
        raise DomainError(f"{label} holds no items.")
    return Domain(items)


def _is_table(label: str) -> str:
    return (
        f"{label} is a table; say which of its columns holds the items (column=, --domain-column)."
    )


def _is_plain_text(name: str) -> bool:
    """Whether a file without a column is a list of lines: a name ends in .txt, packed or not."""
    return ".txt" in Path(name).suffixes[-2:] or Path(name).suffix == ".dat"


def _read_text(opened: ExitStack, path: str, label: str, encoding: str | None) -> list[str]:
    """Read the lines of a text file, which may be packed and have any encoding.

    Raises:
        SourceError: It cannot be unpacked or decoded, or has too many lines.
    """
    if os.path.isfile(path) and is_packed(path):
        path = unpack_file(opened.enter_context(Engine()), path, label)
        if find_workbook(path) or (format_by_name(path) and not _is_plain_text(path)):
            raise SourceError(_is_table(label))
    binary = opened.enter_context(open_text(path))
    start = binary.peek(1024)
    actual = read_encoding(encoding) or find_mark(start)
    if actual is None and (zeros := find_zeros(start[:1024])):
        raise SourceError(not_utf8(label, zeros))
    text = opened.enter_context(TextIOWrapper(binary, actual or "utf-8-sig"))
    try:
        return _read_lines(text, label)
    except UnicodeError:
        if actual is not None and not is_utf8(actual):
            raise SourceError(not_decodable(label, actual)) from None
        wrong = find_wrong_text([path]) if os.path.isfile(path) else None
        raise SourceError(not_utf8(label, wrong and wrong[1])) from None


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
            "The domain is missing; give the public list of items, or topgap.counting.FROM_DATA."
        )
    return Domain(domain)


def _read_column(
    path: str,
    column: str,
    form: Format | None,
    *,
    header: bool,
    encoding: str | None,
    table: str | None,
) -> Domain:
    is_unknown = form is None and format_by_name(path) is None
    if is_unknown and not (os.path.isfile(path) and is_packed(path)):
        label = label_path(path)
        raise DomainError(
            f"{label} does not have the extension of a table, such as .csv; leave the column out."
        )
    with Engine() as engine:
        try:
            opened = open_table(
                engine, path, [column], form=form, header=header, encoding=encoding, table=table,
                most_copied=_MOST_COPIED,
            )  # fmt: skip
            items = opened.column(column)
            text = build_item_sql(items.cell, items.kind)
            if text is None:
                raise SourceError(f"{opened.label} has a column that cannot name items.")
            _check_length(engine, opened, text)
            cell = items.cell if is_integer(items.kind) else text
            values = engine.run(f"SELECT {cell} FROM {opened.relation}", label=opened.label)
        except (SourceError, ParameterError) as error:
            raise DomainError(f"The domain cannot be read: {of_domain(str(error))}") from None
    if not values:
        raise DomainError(f"{opened.label} holds no items.")
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
