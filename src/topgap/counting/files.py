"""Files to be read: which they are, and of what format."""

import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, get_args

from topgap.counting.engine import Engine
from topgap.errors import ParameterError, SourceError
from topgap.sources.paths import check_readable, expand_paths, label_open_file, label_path

Format = Literal["csv", "tsv", "jsonl", "parquet", "fimi", "duckdb", "sqlite"]
FORMATS: tuple[Format, ...] = get_args(Format)

_SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
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
}
_CHUNK = 1 << 20


class Found(NamedTuple):
    """The files of a source: names that DuckDB takes as they are, and what to call each and all."""

    paths: list[str]
    labels: list[str]
    label: str


def find(engine: Engine, source: Any, most_copied: int | None = None) -> Found:
    """The files that a source means.

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
        copy = _copy(engine, source, label, engine.new_path(""), most_copied)
        return Found([copy], [label], label)
    found: dict[tuple[int, int], str] = {}  # a file that is named twice is read once
    for path in expand_paths(source):
        status = _check(path)
        found.setdefault((status.st_dev, status.st_ino), path)
    labels = [label_path(path) for path in found.values()]
    many = "" if len(labels) == 1 else f" (or another of the {len(labels)} files)"
    paths = [_make_readable(engine, path, most_copied) for path in found.values()]
    return Found(paths, labels, labels[0] + many)


def detect_format(paths: list[str], label: str, given: Format | None) -> Format:
    """The format that all the files have: by their first bytes, or else by their names.

    Raises:
        ParameterError: A format was given that is not known.
        SourceError: It cannot be told, or they have several.
    """
    if given is not None:
        if given not in FORMATS:
            raise ParameterError(f"The format of a source must be one of {', '.join(FORMATS)}.")
        return given
    formats = {_detect_by_content(path) or format_by_name(path) for path in paths}
    if len(formats) > 1:
        raise SourceError(f"{label}: the files must all have the same format.")
    (only,) = formats
    if only is None:
        raise SourceError(
            f"{label} does not tell its format by its name; say which of {', '.join(FORMATS)} it "
            f"is (format=, --source-format)."
        )
    return only


def _check(path: str) -> os.stat_result:
    if os.path.isdir(path):
        label = label_path(path)
        raise SourceError(f"{label} is a directory; name the files in it, as in '{label}/*.csv'.")
    return check_readable(path)


def _make_readable(engine: Engine, path: str, most_copied: int | None) -> str:
    """A name of the file that DuckDB does not take for a pattern, nor for a pipe's only reading."""
    ends = [each.lower() for each in Path(path).suffixes[-2:]]  # such as .csv.gz
    ending = "".join(each for each in ends if each[1:].isalnum() and each.isascii())
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
    return "parquet" if start[:4] == b"PAR1" else None


def format_by_name(path: str) -> Format | None:
    """The format that the end of a name tells, None if it tells none.

    >>> format_by_name("visits.csv.gz"), format_by_name("visits.txt")
    ('csv', None)
    """
    name = Path(path)
    if name.suffix.lower() == ".gz":
        name = name.with_suffix("")
    return _SUFFIXES.get(name.suffix.lower())


def _copy(engine: Engine, source: IO[bytes], label: str, path: Path, most: int | None) -> str:
    """A private copy on disk: a stream can be read only once, and only from its start."""
    copied = 0
    with open(path, "wb") as copy:
        for chunk in _read_chunks(source, label):
            copied += len(chunk)
            if most is not None and copied > most:
                raise SourceError(f"{label} has more than {most:,} bytes.")
            try:
                copy.write(chunk)
            except OSError:
                raise SourceError(f"{label} cannot be copied: there is no space left.") from None
            engine.tell(f"reading {label}", None)
    return str(path)


def _read_chunks(source: IO[bytes], label: str) -> Iterable[bytes]:
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
