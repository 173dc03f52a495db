"""What a data file holds: from a path or an open file, unpacked, summed up while it is read."""

import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeAlias

from topgap.display.text import format_path
from topgap.errors import DatasetError

File: TypeAlias = "str | os.PathLike[str] | IO[bytes]"
"""What can be read: a path, or a file that is open for reading bytes."""

LONGEST_LINE = 1 << 21
"""So many bytes a line may have; the longest one of Kosarak has about 15,000."""

_BLOCK = 1 << 20
_GZIP = b"\x1f\x8b"


class Content:
    """The unpacked bytes of a file, and the checksums of what has been read of them.

    Attributes:
        label: What to call the file in an error.
        line: The number of the line that was read last, from 1.
    """

    def __init__(self, stream: io.BufferedIOBase, label: str) -> None:
        self.label = label
        self.line = 0
        self._sums = {
            "sha256": hashlib.sha256(),
            # For what others have published by it; to make another file of a given sum is out of
            # reach with SHA-1, too.
            "sha1": hashlib.sha1(usedforsecurity=False),
        }
        self._file = io.BufferedReader(_PrefixedStream(partial(self._next, stream)), _BLOCK)

    def lines(self) -> Iterator[bytes]:
        """The lines one by one, with their ends.

        Raises:
            DatasetError: The file is damaged, or has a line that is too long or ends in another way
                than by a line feed.
        """
        for line in iter(partial(self._file.readline, LONGEST_LINE + 1), b""):
            self.line += 1
            if len(line) > LONGEST_LINE:
                raise self.line_error(f"is longer than {LONGEST_LINE:,} bytes")
            if b"\r" in line and b"\r" in line.rstrip(b"\r\n"):
                raise self.line_error("has a carriage return inside; end lines with a line feed")
            yield line

    def blocks(self) -> Iterator[bytes]:
        """All bytes in blocks.

        Raises:
            DatasetError: The file is damaged.
        """
        return iter(partial(self._file.read, _BLOCK), b"")

    def line_error(self, why: str) -> DatasetError:
        """What to raise about the line that was read last."""
        return DatasetError(f"Line {self.line:,} of {self.label} {why}.")

    def checksums(self) -> dict[str, str]:
        """The checksums of what has been read, by the names that hashlib has for them."""
        return {name: each.hexdigest() for name, each in self._sums.items()}

    def _next(self, stream: io.BufferedIOBase, size: int) -> bytes:
        try:
            block = stream.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise DatasetError(f"What {self.label} holds is damaged or incomplete.") from None
        except OSError as error:
            raise _read_error(self.label, error) from None
        for each in self._sums.values():
            each.update(block)
        return block


@contextmanager
def open_unpacked(source: File) -> Iterator[Content]:
    """Open a file to read what it holds; gzip is told by the first bytes, whatever the name is.

    Args:
        source: A path, or an open binary file, which is read from where it stands and left open.

    Raises:
        DatasetError: The file cannot be opened or read.
    """
    label = format_label(source)
    with _open(source, label) as file:
        first = b""
        while len(first) < len(_GZIP) and (more := _read(file, label, len(_GZIP) - len(first))):
            first += more
        whole = io.BufferedReader(_PrefixedStream(partial(_read, file, label), first), _BLOCK)
        yield Content(gzip.GzipFile(fileobj=whole) if first == _GZIP else whole, label)


def format_label(source: File) -> str:
    """What to call a file in an error: its name on one line."""
    if isinstance(source, str | os.PathLike):
        return format_path(Path(source).name or source)
    return "the open file"


def _open(source: File, label: str) -> Any:
    if not isinstance(source, str | os.PathLike):
        return nullcontext(source)
    try:
        return open(source, "rb")
    except (OSError, ValueError) as error:
        raise _read_error(label, error) from None


def _read(file: IO[bytes], label: str, size: int) -> bytes:
    try:
        block = file.read(size)
    except (AttributeError, OSError, ValueError) as error:
        raise _read_error(label, error) from None
    if not isinstance(block, bytes):
        raise DatasetError("A file must be open for reading bytes.")
    return block


def _read_error(label: str, error: Exception) -> DatasetError:
    why = getattr(error, "strerror", None) or "it is not a file that is open for reading"
    return DatasetError(f"Reading {label} failed: {why}.")


class _PrefixedStream(io.RawIOBase):
    """A stream of whatever `read` gives, after what has been read of it already."""

    def __init__(self, read: Callable[[int], bytes], first: bytes = b"") -> None:
        self._read, self._first = read, first

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self._first or self._read(len(buffer))
        self._first = b""
        buffer[: len(block)] = block
        return len(block)
