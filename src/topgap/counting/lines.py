"""Lines too long to be read: DuckDB loses the last of a file if it is larger than a buffer."""

import gzip
import zlib
from collections.abc import Iterator
from typing import IO

from topgap.counting.engine import LONGEST_LINE
from topgap.errors import SourceError

_GLANCE = 1 << 16


def refuse_long_lines(path: str, label: str) -> None:
    """Refuse a file with a line of more than twice `LONGEST_LINE`; of shorter ones DuckDB tells.

    Such a line fills one of the blocks into which the file is cut here, whole and without an end of
    line. In most files a glance at the start of each block is enough.

    Raises:
        SourceError: There is one, or the file cannot be unpacked.
    """
    try:
        if path.lower().endswith(".gz"):
            with gzip.open(path, "rb") as file:
                fine = all(map(_has_line_end, _read_blocks(file)))
        else:
            with open(path, "rb") as plain:
                fine = all(_block_has_line_end(plain, start) for start in _block_starts(plain))
    except (EOFError, OSError, zlib.error):
        raise SourceError(f"{label} is damaged, or cut short.") from None
    if not fine:
        raise SourceError(f"{label} has a line that is longer than {LONGEST_LINE:,} bytes.")


def _block_starts(file: IO[bytes]) -> range:
    """Where the blocks start that are full; what is left at the end is shorter than one."""
    return range(0, file.seek(0, 2) - LONGEST_LINE + 1, LONGEST_LINE)


def _block_has_line_end(file: IO[bytes], start: int) -> bool:
    file.seek(start)
    return _has_line_end(file.read(_GLANCE)) or _has_line_end(file.read(LONGEST_LINE - _GLANCE))


def _read_blocks(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while len(block := file.read(LONGEST_LINE)) == LONGEST_LINE:
        yield block


def _has_line_end(block: bytes) -> bool:
    return b"\n" in block or b"\r" in block
