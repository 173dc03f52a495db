"""Where a command writes: files that appear whole or not at all, and standard output."""

import contextlib
import glob
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from topgap.display.text import format_path
from topgap.errors import OutputError

OutputFormat = Literal["table", "csv", "json", "parquet"]
_FORMATS: dict[str, OutputFormat] = {
    ".csv": "csv",
    ".json": "json",
    ".parquet": "parquet",
    ".txt": "table",
    "": "table",
}


def format_by_name(target: Path | None) -> OutputFormat | None:
    """The format that the name of a file asks for; None if it is unknown.

    >>> format_by_name(Path("out.csv")), format_by_name(Path("out.txt"))
    ('csv', 'table')
    >>> format_by_name(Path("out.xlsx"))
    """
    return "table" if target is None else _FORMATS.get(target.suffix.lower())


def none_if_standard_output(target: Path | None) -> Path | None:
    """The file; None for `-`, which means standard output."""
    return None if target == Path("-") else target


def are_distinct(targets: list[Path]) -> bool:
    """Whether no two of the names mean the same file."""
    return len({os.path.realpath(each) for each in targets}) == len(targets)


def check(
    targets: Iterable[Path], sources: Iterable[str], *, overwrite: bool, or_else: str = ""
) -> None:
    """Check that the files can be written, before any work is done for them.

    Args:
        targets: The files.
        sources: What is read, and must not be overwritten: paths, or patterns of them.
        overwrite: Whether existing files may be overwritten.
        or_else: What the sentence advises besides another name.

    Raises:
        OutputError: A file cannot be written, or must not be overwritten.
    """
    read = [path for each in sources for path in [each, *glob.glob(each, recursive=True)]]
    for target in targets:
        try:
            _check(target, read, overwrite=overwrite, or_else=or_else)
        except OutputError:
            raise
        except OSError as error:
            raise _output_error(target, error) from None


def check_beside_ledger(targets: Iterable[Path], ledger: Path) -> None:
    """Check that no file has a name that SQLite uses for its own files beside a ledger.

    Raises:
        OutputError: One has; SQLite would take it for its own.
    """
    # In any case: some file systems ignore it.
    own = {f"{os.path.realpath(ledger)}-{e}".casefold() for e in ("journal", "wal", "shm")}
    for target in targets:
        if os.path.realpath(target).casefold() in own:
            raise OutputError(
                f"{format_path(target)} is a name that belongs to the ledger; give another name."
            )


def _check(target: Path, read: Iterable[str], *, overwrite: bool, or_else: str) -> None:
    label = format_path(target)
    if target.is_dir():
        raise OutputError(f"{label} is a directory; name a file.")
    if target.is_symlink() and not target.exists():
        raise OutputError(f"{label} is a link to nowhere; name a file.")
    if _is_special(target):
        return
    if target.exists():
        if not overwrite:
            raise OutputError(f"{label} exists already and is kept; give another name{or_else}.")
        if any(os.path.exists(path) and os.path.samefile(target, path) for path in read):
            raise OutputError(f"{label} is what is read; give another name.")
    directory = _directory(target)
    if not directory.is_dir():
        raise OutputError(
            f"{label} cannot be written: there is no directory {format_path(directory)}."
        )
    if not os.access(directory, os.W_OK | os.X_OK):
        raise OutputError(f"{label} cannot be written: its directory may not be written to.")


def write(contents: Mapping[Path, bytes], *, overwrite: bool) -> None:
    """Write the files, each whole; none gets its name before all of them are complete.

    Raises:
        OutputError: They cannot be written.
    """
    ready: dict[Path, Path] = {}
    made: list[Path] = []
    target = Path()
    try:
        for target, content in contents.items():
            if not _is_special(target):
                ready[target] = _write_beside(target, content)
        for target, content in contents.items():
            if target not in ready:
                target.write_bytes(content)
        for target, temporary in ready.items():
            if overwrite:
                os.replace(temporary, os.path.realpath(target))
            else:
                _rename_without_overwriting(temporary, target)
                made.append(target)
    except BaseException as error:
        for each in [*ready.values(), *made]:
            with contextlib.suppress(OSError):
                each.unlink()
        if isinstance(error, OSError):
            raise _output_error(target, error) from None
        raise


def describe_written(target: Path) -> str:
    """The remark about a file that has been written."""
    return f"Written: {format_path(target)}"


def check_standard_output() -> None:
    """Check that standard output is open, before any work is done for it.

    Raises:
        OutputError: It is closed.
    """
    if sys.stdout is None:
        raise OutputError("Standard output is closed.")


def write_standard_output(content: bytes) -> None:
    """Write these bytes and no others to standard output.

    Raises:
        OutputError: They cannot be written.
    """
    check_standard_output()
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"Standard output cannot be written: {error.strerror}.") from None


def _output_error(target: Path, error: OSError) -> OutputError:
    name = format_path(target)
    why = error.strerror or type(error).__name__
    return OutputError(f"{name if len(name) <= 100 else name[:99] + '…'} cannot be written: {why}.")


def _write_beside(target: Path, content: bytes) -> Path:
    """Write a complete file in the same directory, and sync it to disk."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=_directory(target))
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
    except BaseException:
        temporary.unlink()
        raise
    return temporary


def _rename_without_overwriting(temporary: Path, target: Path) -> None:
    """Give the file its name, unless another file has it by now."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:  # no hard links here
        if target.exists():
            raise FileExistsError(17, "File exists") from None
        os.replace(temporary, target)
        return
    temporary.unlink()


def _directory(target: Path) -> Path:
    return Path(os.path.realpath(target)).parent


def _is_special(target: Path) -> bool:
    """Whether it is a device or a pipe, which can only be written to."""
    return target.exists() and not stat.S_ISREG(target.stat().st_mode)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
