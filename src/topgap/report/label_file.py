"""Labels from a file of two columns: `read_labels`."""

import csv
import io
from pathlib import Path

from topgap.display.text import format_path
from topgap.domains.cell_text import normalize_text
from topgap.errors import SourceError
from topgap.report.details import LONGEST_LABEL

_MOST_BYTES = 100_000_000
_DELIMITERS = (",", "\t", ";")


def read_labels(path: "str | Path") -> dict[str, str]:
    r"""Return the labels of a CSV file with two columns: an item as text, and its label.

    Commas, tabs or semicolons separate them: whichever parts the first line in two. A header does
    no harm, for it labels no item; so every line is read. White space at the ends does not count.
    Labels are public: never take them from the data.

    Args:
        path: A file in UTF-8.

    Raises:
        SourceError: It cannot be read; the sentence says why.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "codes.csv"
    ...     _ = path.write_text("code,label\nJ10,Influenza\n")
    ...     read_labels(path)["J10"]
    'Influenza'
    """
    shown = format_path(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(_MOST_BYTES + 1)  # the size of a device or a pipe is not known
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it has no such name"
        raise SourceError(f"{shown} cannot be read: {why}.") from None
    if len(content) > _MOST_BYTES:
        raise SourceError(
            f"{shown} has more than {_MOST_BYTES // 10**6} MB; keep only the labels that you need."
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SourceError(
            f"{shown} is not a text file in UTF-8; save the labels as CSV in UTF-8."
        ) from None
    return _parse(text, shown)


def _parse(text: str, shown: str) -> dict[str, str]:
    lines = io.StringIO(text, newline="")  # which ends lines as CSV does, and nowhere else
    first = next((line for line in lines if line.strip()), "")
    lines.seek(0)
    delimiter = next((each for each in _DELIMITERS if _split(first, each) == 2), None)
    if delimiter is None:
        raise SourceError(f"{shown} must have two columns in each line: an item and its label.")
    labels: dict[str, str] = {}
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if not row:
                continue
            where = f"{shown}, line {reader.line_num:,}:"
            if len(row) != 2:
                raise SourceError(
                    f"{where} there must be two columns, an item and its label, not {len(row)}."
                )
            item, label = normalize_text(row[0]), row[1].strip()
            if not label:
                continue
            if len(label) > LONGEST_LABEL:
                raise SourceError(f"{where} a label has at most {LONGEST_LABEL} characters.")
            if labels.setdefault(item, label) != label:
                raise SourceError(f"{where} an item has two labels.")
    except csv.Error:
        raise SourceError(f"{shown}, line {reader.line_num:,}: this is not CSV.") from None
    return labels


def _split(line: str, delimiter: str) -> int:
    """How many columns a line has."""
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:
        return 0
