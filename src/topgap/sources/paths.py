"""Paths from a user: which files they mean, and how an error shows them."""

import glob
import os
import re
import stat
import sys
from typing import IO, Any

from topgap.display.text import format_path
from topgap.errors import SourceError

DATABASE_SCHEMES = ("postgresql", "snowflake", "bigquery", "grpc")
"""How the addresses of databases begin that can be read."""


def is_path(source: object) -> bool:
    """Whether the source names a file."""
    return isinstance(source, str | os.PathLike)


def expand_paths(source: Any) -> list[str]:
    """List the files that a path, a pattern, or several of them mean.

    Raises:
        SourceError: There is no file.
    """
    paths = [source] if is_path(source) else [*source]
    if not paths:
        raise SourceError("There is no file to read.")
    return [path for each in paths for path in _expand(os.fspath(each))]


def label_path(path: str) -> str:
    """Write a path for an error: on one line, and if it is long, only its end.

    >>> label_path("postgresql://ann:secret@host/db")
    'postgresql://…@host/db'
    """
    shown = format_path(path)
    return shown if len(shown) <= 80 else f"…{shown[-79:]}"


def _expand(path: str) -> list[str]:
    refuse_address(path)
    if os.path.lexists(path) or not glob.has_magic(path):
        return [path]
    paths = [each for each in sorted(glob.glob(path, recursive=True)) if not os.path.isdir(each)]
    if not paths:
        raise SourceError(f"No file matches {label_path(path)}.")
    return paths


def refuse_address(path: str) -> None:
    """Refuse a network address. The error names only its scheme, because the rest may be secret.

    Raises:
        SourceError: It is the address of a server.
    """
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.\-]+):/", path)
    if scheme and ("://" in path or not os.path.lexists(path)):
        near = _find_near_scheme(scheme[1])
        is_mistyped = near is not None and near != scheme[1].lower() and "://" in path
        hint = f"; did you mean {near}://?" if is_mistyped else "."
        raise SourceError(
            f"Only files can be read, and this is a network address ({scheme[1][:20]}){hint}"
        )


def _find_near_scheme(scheme: str) -> str | None:
    """The scheme of a database that was probably meant; None if there is none."""
    from difflib import get_close_matches  # here, for it is seldom needed

    name = scheme.lower().partition("+")[0][:20]
    near = get_close_matches(name, DATABASE_SCHEMES, n=1, cutoff=0.75)
    return near[0] if near else None


def check_readable(path: str) -> os.stat_result:
    """Check that a file can be read, and return its status.

    Raises:
        SourceError: It cannot be read.
    """
    label = label_path(path)
    try:
        status = os.stat(path)
        if stat.S_ISREG(status.st_mode):
            open(path, "rb").close()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its name is not that of a file"
        raise SourceError(f"{label} cannot be read: {why}.") from None
    return status


def label_open_file(source: IO[bytes]) -> str:
    """Name an open file in an error."""
    return "Standard input" if source is getattr(sys.stdin, "buffer", None) else "The open file"
