"""Files to be read: which they are, and of what format."""

import glob
import os
import re
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, get_args

from topgap.counting.engine import Engine
from topgap.display.text import format_path
from topgap.errors import ParameterError, SourceError

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


def is_path(source: object) -> bool:
    """Whether the source names a file."""
    return isinstance(source, str | os.PathLike)


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
        label = label_of_open(source)
        copy = _copied(engine, source, label, engine.new_path(""), most_copied)
        return Found([copy], [label], label)
    found: dict[tuple[int, int], str] = {}  # a file that is named twice is read once
    for path in matching(source):
        status = _check(path)
        found.setdefault((status.st_dev, status.st_ino), path)
    labels = [label_of(path) for path in found.values()]
    many = "" if len(labels) == 1 else f" (or another of the {len(labels)} files)"
    paths = [_plain(engine, path, most_copied) for path in found.values()]
    return Found(paths, labels, labels[0] + many)


def matching(source: Any) -> list[str]:
    """The names of the files that a path, a pattern, or several of them mean.

    Raises:
        SourceError: There is none.
    """
    given = [source] if is_path(source) else [*source]
    if not given:
        raise SourceError("There is no file to read.")
    return [path for each in given for path in _expanded(os.fspath(each))]


def label_of(path: str) -> str:
    """A path as an error shows it: on one line, and if it is long, the end that tells the file.

    >>> label_of("postgresql://ann:secret@host/db")
    'postgresql://…@host/db'
    """
    shown = format_path(path)
    return shown if len(shown) <= 80 else f"…{shown[-79:]}"


def format_of(paths: list[str], label: str, given: Format | None) -> Format:
    """The format that all the files have: by their first bytes, or else by their names.

    Raises:
        ParameterError: A format was given that is not known.
        SourceError: It cannot be told, or they have several.
    """
    if given is not None:
        if given not in FORMATS:
            raise ParameterError(f"The format of a source must be one of {', '.join(FORMATS)}.")
        return given
    formats = {_seen_in(path) or format_by_name(path) for path in paths}
    if len(formats) > 1:
        raise SourceError(f"{label}: the files must all have the same format.")
    (only,) = formats
    if only is None:
        raise SourceError(
            f"{label} does not tell its format by its name; say which of {', '.join(FORMATS)} it "
            f"is (format=, --source-format)."
        )
    return only


def _expanded(path: str) -> list[str]:
    refuse_address(path)
    if os.path.lexists(path) or not glob.has_magic(path):
        return [path]
    paths = [each for each in sorted(glob.glob(path, recursive=True)) if not os.path.isdir(each)]
    if not paths:
        raise SourceError(f"No file matches {label_of(path)}.")
    return paths


def refuse_address(path: str) -> None:
    """Refuse what names no file; of an address its scheme alone is said, the rest may be secret.

    Raises:
        SourceError: It is the address of a server.
    """
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.\-]+):/", path)
    if scheme and ("://" in path or not os.path.lexists(path)):
        raise SourceError(f"Only files are read, and this is a network address ({scheme[1][:20]}).")


def _check(path: str) -> os.stat_result:
    if os.path.isdir(path):
        label = label_of(path)
        raise SourceError(f"{label} is a directory; name the files in it, as in '{label}/*.csv'.")
    return status_of(path)


def status_of(path: str) -> os.stat_result:
    """What the system says of a file that can be read.

    Raises:
        SourceError: It cannot.
    """
    label = label_of(path)
    try:
        status = os.stat(path)
        if stat.S_ISREG(status.st_mode):
            open(path, "rb").close()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its name is not that of a file"
        raise SourceError(f"{label} cannot be read: {why}.") from None
    return status


def _plain(engine: Engine, path: str, most_copied: int | None) -> str:
    """A name of the file that DuckDB does not take for a pattern, nor for a pipe's only reading."""
    ends = [each.lower() for each in Path(path).suffixes[-2:]]  # such as .csv.gz
    ending = "".join(each for each in ends if each[1:].isalnum() and each.isascii())
    if not os.path.isfile(path):
        label = label_of(path)
        try:
            pipe = open(path, "rb")  # noqa: SIM115 - closed below, and its errors are another's
        except OSError as error:
            raise SourceError(f"{label} cannot be read: {error.strerror}.") from None
        with pipe:
            return _copied(engine, pipe, label, engine.new_path(ending), most_copied)
    if path.isascii() and path.isprintable() and not (glob.has_magic(path) or path[0] == "~"):
        return path
    link = engine.new_path(ending)
    try:
        link.symlink_to(os.path.abspath(path))
    except OSError:  # as on Windows, where not everybody may make one
        with open(path, "rb") as file:
            return _copied(engine, file, label_of(path), link, None)
    return str(link)


def _seen_in(path: str) -> Format | None:
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


def label_of_open(source: IO[bytes]) -> str:
    """What to call an open file in an error."""
    return "Standard input" if source is getattr(sys.stdin, "buffer", None) else "The open file"


def _copied(engine: Engine, source: IO[bytes], label: str, path: Path, most: int | None) -> str:
    """A private copy on disk: a stream can be read only once, and only from its start."""
    copied = 0
    with open(path, "wb") as copy:
        for chunk in _chunks(source, label):
            copied += len(chunk)
            if most is not None and copied > most:
                raise SourceError(f"{label} has more than {most:,} bytes.")
            try:
                copy.write(chunk)
            except OSError:
                raise SourceError(f"{label} cannot be copied: there is no space left.") from None
            engine.tell(f"reading {label}", None)
    return str(path)


def _chunks(source: IO[bytes], label: str) -> Iterable[bytes]:
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
