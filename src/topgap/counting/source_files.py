"""Which files a source means, and their format; what is packed or in another encoding is copied."""

import glob
import os
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, get_args

from topgap.counting.encodings import (
    find_mark,
    find_zeros,
    is_utf8,
    make_decoder,
    not_decodable,
    not_utf8,
    open_text,
    read_encoding,
)
from topgap.counting.engine import Engine
from topgap.counting.packed_files import find_workbook, safe_ending, unpack_file, write_chunk
from topgap.errors import ParameterError, SourceError
from topgap.sources.paths import (
    check_readable,
    expand_paths,
    label_open_file,
    label_path,
)

Format = Literal["csv", "tsv", "jsonl", "parquet", "fimi", "duckdb", "sqlite", "xlsx", "xls", "ods"]
FORMATS: tuple[Format, ...] = get_args(Format)
WORKBOOKS: tuple[Format, ...] = ("xlsx", "xls", "ods")

_SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".dat": "fimi",
    ".duckdb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".xlsb": "xlsx",
    ".xls": "xls",
    ".ods": "ods",
}
_PACKED = (".gz", ".zst", ".zip")
_CHUNK = 1 << 20
_GLANCE = 1024


class SourceFiles(NamedTuple):
    """The files of a source.

    Attributes:
        labels: What an error calls each file, by a path that DuckDB takes as it is.
        label: What an error calls all of them.
    """

    labels: dict[str, str]
    label: str

    @property
    def paths(self) -> list[str]:
        """The paths of the files."""
        return [*self.labels]


def find_files(engine: Engine, source: Any, most_copied: int | None = None) -> SourceFiles:
    """Find the files that a source means.

    Args:
        engine: Keeps a copy of what can be read only once, and links to what has an odd name.
        source: A path, a pattern such as `visits-*.parquet`, several of them, or an open binary
            file such as standard input.
        most_copied: How many bytes a stream may have; as many as the disk holds unless given.

    Raises:
        SourceError: There is no such file, or it cannot be read.
    """
    if hasattr(source, "read"):
        label = label_open_file(source)
        name = getattr(source, "name", None)
        ending = safe_ending(name) if isinstance(name, str) else ""
        copy = _copy(engine, source, label, engine.new_path(ending), most_copied)
        return SourceFiles({unpack_file(engine, copy, label): label}, label)
    found: dict[tuple[int, int], str] = {}  # a file that is named twice is read once
    for path in expand_paths(source):
        status = _check_file(path)
        found.setdefault((status.st_dev, status.st_ino), path)
    labels = {}
    for path in found.values():
        label = label_path(path)
        labels[unpack_file(engine, _make_readable(engine, path, most_copied), label)] = label
    first = next(iter(labels.values()))
    others = "" if len(labels) == 1 else f" (or another of the {len(labels)} files)"
    return SourceFiles(labels, first + others)


def decode_files(engine: Engine, files: SourceFiles, encoding: str | None) -> SourceFiles:
    """Make text files UTF-8: copy those of another encoding to private temporary files.

    A mark at the start of a file tells UTF-16 and UTF-32, unless an encoding is given.

    Raises:
        ParameterError: The encoding is not one of text that Python knows.
        SourceError: A file does not have it, or is plainly not UTF-8.
    """
    given = read_encoding(encoding)
    labels = {}
    for path, label in files.labels.items():
        start = _read_start(path, label)
        actual = given or find_mark(start)
        if not is_utf8(actual):
            labels[_decode(engine, path, label, str(actual))] = label
            continue
        if zeros := find_zeros(start):
            raise SourceError(not_utf8(label, zeros))
        labels[path] = label
    engine.text_files = labels
    return SourceFiles(labels, files.label)


def _read_start(path: str, label: str) -> bytes:
    try:
        with open_text(path) as file:
            start: bytes = file.read(_GLANCE)
            return start
    except (EOFError, OSError, zlib.error):
        raise SourceError(f"{label} is damaged or incomplete.") from None


def _decode(engine: Engine, path: str, label: str, encoding: str) -> str:
    is_gzip = path.lower().endswith(".gz")
    target = engine.new_path(safe_ending(path[:-3] if is_gzip else path))
    size = 0 if is_gzip else os.path.getsize(path)
    decoder, done = make_decoder(encoding), 0
    try:
        with open_text(path) as file, open(target, "wb") as copy:
            for chunk in chain(_read_chunks(file, label), [b""]):
                text = decoder.decode(chunk, final=not chunk).encode("utf-8")
                write_chunk(copy, text, label)
                done += len(chunk)
                engine.report_progress(f"decoding {label}", done / size if size else None)
    except (UnicodeError, ValueError):
        raise SourceError(not_decodable(label, encoding)) from None
    except (EOFError, zlib.error):
        raise SourceError(f"{label} is damaged or incomplete.") from None
    return str(target)


def detect_format(files: SourceFiles, given: Format | None) -> Format:
    """Detect the format of all files, by their first bytes or else by their names.

    Raises:
        ParameterError: A format was given that is not known.
        SourceError: It cannot be told, or they have several.
    """
    if given is not None:
        if given not in FORMATS:
            raise ParameterError(f"The format of a source must be one of {', '.join(FORMATS)}.")
        return given
    formats = {_detect_by_content(path) or format_by_name(path) for path in files.paths}
    if len(formats) > 1:
        raise SourceError(f"{files.label}: the files must all have the same format.")
    (only,) = formats
    if only is None:
        raise SourceError(
            f"{files.label} has a name that does not show its format; give one of "
            f"{', '.join(FORMATS)} (format=, --source-format)."
        )
    return only


def _check_file(path: str) -> os.stat_result:
    if os.path.isdir(path):
        label = label_path(path)
        raise SourceError(f"{label} is a directory; name the files in it, as in '{label}/*.csv'.")
    return check_readable(path)


def _make_readable(engine: Engine, path: str, most_copied: int | None) -> str:
    """Give a file a path that DuckDB takes for no pattern; copy what can be read only once."""
    ending = safe_ending(path)
    if not os.path.isfile(path):
        label = label_path(path)
        try:
            pipe = open(path, "rb")  # noqa: SIM115 - closed below, and its errors are another's
        except OSError as error:
            raise SourceError(f"{label} cannot be read: {error.strerror}.") from None
        with pipe:
            return _copy(engine, pipe, label, engine.new_path(ending), most_copied)
    if path.isascii() and path.isprintable() and not (glob.has_magic(path) or path[0] == "~"):
        return path
    link = engine.new_path(ending)
    try:
        link.symlink_to(os.path.abspath(path))
    except OSError:  # as on Windows, where not everybody may make one
        with open(path, "rb") as file:
            return _copy(engine, file, label_path(path), link, None)
    return str(link)


def _detect_by_content(path: str) -> Format | None:
    with open(path, "rb") as file:
        start = file.read(16)
    if start == b"SQLite format 3\0":
        return "sqlite"
    if start[8:12] == b"DUCK":
        return "duckdb"
    if start[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
        return "xls"
    if start[:4] == b"PK\x03\x04":
        return find_workbook(path)
    return "parquet" if start[:4] == b"PAR1" else None


def format_by_name(path: str) -> Format | None:
    """Detect the format by the end of a name; None if it shows none.

    >>> format_by_name("visits.csv.gz"), format_by_name("visits.log")
    ('csv', None)
    """
    name = Path(path)
    if name.suffix.lower() in _PACKED:
        name = name.with_suffix("")
    return _SUFFIXES.get(name.suffix.lower())


def _copy(engine: Engine, source: IO[bytes], label: str, path: Path, most: int | None) -> str:
    """Make a private copy on disk: a stream can be read only once, and only from its start."""
    copied = 0
    with open(path, "wb") as copy:
        for chunk in _read_chunks(source, label):
            copied += len(chunk)
            if most is not None and copied > most:
                raise SourceError(f"{label} has more than {most:,} bytes.")
            write_chunk(copy, chunk, label)
            engine.report_progress(f"reading {label}", None)
    return str(path)


def _read_chunks(source: Any, label: str) -> Iterator[bytes]:
    while True:
        try:
            chunk = source.read(_CHUNK)
        except (OSError, ValueError):
            raise SourceError(f"{label} cannot be read.") from None
        if not isinstance(chunk, bytes):
            raise SourceError(f"{label} must be open for reading bytes.")
        if not chunk:
            return
        yield chunk
