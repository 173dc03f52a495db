"""Packed files: a ZIP archive with one file in it, and zstd. gzip is read as it is.

A packed file is unpacked, in a stream, to a private temporary file, before anything looks at it. So
a file takes as much disk as it says to hold, and no more: what does not fit is refused before.
"""

import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any, Literal

from topgap.counting.engine import Engine
from topgap.display.text import format_path
from topgap.errors import MissingExtraError, SourceError

_CHUNK = 1 << 20
_ZIP = b"PK\x03\x04"
_EMPTY_ZIP = b"PK\x05\x06"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ENCRYPTED = 0x1  # of the flags of a file in an archive
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, UnicodeError, KeyError)
_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument.spreadsheet"


def is_packed(path: str) -> bool:
    """Whether a file is a ZIP archive or packed by zstd, by its first bytes or by its name."""
    with open(path, "rb") as file:
        start = file.read(4)
    by_name = path.lower().endswith((".zst", ".zip")) and start != b""
    return start in (_ZIP, _EMPTY_ZIP, _ZSTD) or by_name


def unpack_file(engine: Engine, path: str, label: str) -> str:
    """Unpack a file to a private temporary one, if it is a ZIP archive or packed by zstd.

    Args:
        engine: Has the private directory.
        path: The path of the file.
        label: What an error calls it.

    Returns:
        The path of what is to be read; its end tells the format, if the name in the archive does.

    Raises:
        SourceError: It is damaged, encrypted, too large, or has not one file in it.
        MissingExtraError: zstd needs pyarrow, which is not installed.
    """
    if not is_packed(path) or find_workbook(path) is not None:
        return path
    with open(path, "rb") as file:
        is_zip = file.read(4) != _ZSTD and not path.lower().endswith(".zst")
    if is_zip:
        return _unpack_zip(engine, path, label)
    inner = path[:-4] if path.lower().endswith(".zst") else path
    return _unpack_zstd(engine, path, safe_ending(inner), label)


def find_workbook(path: str) -> Literal["xlsx", "ods"] | None:
    """Whether a ZIP archive is a spreadsheet, "xlsx" or "ods"; None if it is neither."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = {*archive.namelist()}
            if "[Content_Types].xml" in names:
                return "xlsx"
            if "mimetype" in names:
                with archive.open("mimetype") as file:
                    return "ods" if file.read(200).startswith(_OPEN_DOCUMENT) else None
    except (*_DAMAGED, RuntimeError):
        return None
    return None


def safe_ending(name: str) -> str:
    """The last two endings of a name, such as .csv.gz, if they are plain letters and digits.

    >>> safe_ending("Visits.2026.CSV.gz"), safe_ending("visits.*")
    ('.csv.gz', '')
    """
    ends = [each.lower() for each in Path(name).suffixes[-2:]]
    return "".join(each for each in ends if each[1:].isalnum() and each.isascii())


def _unpack_zstd(engine: Engine, path: str, ending: str, label: str) -> str:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("Reading zstd needs pyarrow: pip install pyarrow.") from None
    target = engine.new_path(ending)
    try:
        with pa.OSFile(path) as packed, pa.CompressedInputStream(packed, "zstd") as stream:
            _write(engine, target, lambda: stream.read(_CHUNK), label, None)
    except (OSError, ValueError, pa.ArrowException):
        raise SourceError(f"{label} is damaged or incomplete.") from None
    return str(target)


def _unpack_zip(engine: Engine, path: str, label: str) -> str:
    try:
        with closing(zipfile.ZipFile(path)) as archive:
            member = _choose_member(archive, label)
            free = shutil.disk_usage(engine.directory).free
            if member.file_size > free:
                raise SourceError(
                    f"{label} unpacks to {member.file_size:,} bytes, and there is no space for "
                    f"them in {format_path(engine.directory.parent)}."
                )
            target = engine.new_path(safe_ending(member.filename))
            with archive.open(member) as file:
                _write(engine, target, lambda: file.read(_CHUNK), label, member.file_size)
    except SourceError:
        raise
    except (NotImplementedError, RuntimeError):  # another method of packing than Python has
        raise SourceError(f"{label} is packed in an unknown way; unpack it.") from None
    except _DAMAGED:
        raise SourceError(f"{label} is damaged or incomplete.") from None
    return str(target)


def _choose_member(archive: zipfile.ZipFile, label: str) -> zipfile.ZipInfo:
    """The one file of an archive; files that macOS adds to describe it do not count."""
    members = [
        each
        for each in archive.infolist()
        if not each.is_dir()
        and not each.filename.startswith("__MACOSX/")
        and not os.path.basename(each.filename).startswith(".")
    ]
    if len(members) != 1:
        raise SourceError(
            f"{label} has {len(members)} files in it; give an archive with one table, or unpack it."
        )
    if members[0].flag_bits & _ENCRYPTED:
        raise SourceError(f"{label} is encrypted; unpack it, and name the file in it.")
    return members[0]


def _write(
    engine: Engine, target: Path, read: Callable[[], Any], label: str, size: int | None
) -> None:
    with open(target, "wb") as file:
        done = 0
        for chunk in iter_chunks(read):
            write_chunk(file, chunk, label)
            done += len(chunk)
            engine.report_progress(f"unpacking {label}", done / size if size else None)


def iter_chunks(read: Callable[[], Any]) -> Iterator[bytes]:
    """Read until there is no more."""
    while chunk := read():
        yield chunk


def write_chunk(file: IO[bytes], chunk: bytes, label: str) -> None:
    """Write to a private copy.

    Raises:
        SourceError: The disk is full.
    """
    try:
        file.write(chunk)
    except OSError:
        raise SourceError(f"{label} cannot be copied: there is no space left.") from None
