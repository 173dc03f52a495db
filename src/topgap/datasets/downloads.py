"""Fetch a data set into a folder: all of it with the right checksum, or nothing."""

import os
import tempfile
import zipfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPException, IncompleteRead
from pathlib import Path
from typing import IO, TypeAlias
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from topgap.datasets.catalogue import CatalogueEntry, Source
from topgap.datasets.content import open_unpacked
from topgap.datasets.dataset import matches_checksum
from topgap.display.text import format_path, to_line
from topgap.errors import DatasetError

Progress: TypeAlias = Callable[[int, int | None], object]
"""Called with the bytes that have come, and how many there will be if the server says so."""

_BLOCK = 1 << 18
_MOST = 1 << 31
"""A file that is larger, packed or unpacked, is none of these data sets."""

_SECONDS = 30.0
"""So long a server may be silent."""


class _DownloadError(Exception):
    """A source did not give the file; why, in a few words."""


def fetch(entry: CatalogueEntry, folder: Path, progress: Progress | None = None) -> Path:
    """Download a data set from the first of its sources that has it.

    It is written under another name, and gets its own when the checksum of all that it holds has
    been found right. On an error or interruption nothing is left behind; a process that is killed
    while it unpacks can leave a `.part`, which nobody reads. Two processes may do this at once.

    Args:
        entry: The data set.
        folder: Where to; it is made if it is not there.
        progress: Called as the bytes come.

    Returns:
        The path of the file, unpacked.

    Raises:
        DatasetError: No source has it, or the folder cannot be written to.
    """
    failures = []
    for source in entry.sources:
        try:
            return _fetch_from(source, entry, folder, progress)
        except _DownloadError as failure:
            failures.append(f"{urlsplit(source.url).netloc}: {failure}")
    raise DatasetError(
        f"{entry.name} could not be downloaded ({'; '.join(failures)}); "
        f"get the file yourself and put it into {format_path(folder)} as {entry.file}."
    )


def _fetch_from(
    source: Source, entry: CatalogueEntry, folder: Path, progress: Progress | None
) -> Path:
    with _translate_write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        packed = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed below
    with packed, closing(_receive(source.url)) as blocks:
        for block, total in blocks:
            with _translate_write_errors(folder):
                packed.write(block)
            if progress is not None:
                progress(packed.tell(), total)
        with _translate_write_errors(folder):
            packed.seek(0)
            return _store(packed, source, entry, folder)


@contextmanager
def _translate_write_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DatasetError(
            f"Nothing can be written to {format_path(folder)}: {error.strerror or error}; "
            f"name another folder by cache= or TOPGAP_DATA."
        ) from None


def _store(packed: IO[bytes], source: Source, entry: CatalogueEntry, folder: Path) -> Path:
    """Give what has been downloaded its name in the folder, unpacked."""
    descriptor, part = tempfile.mkstemp(prefix=f".{entry.file}.", suffix=".part", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _unpack(packed, source, entry, file)
            file.flush()
            os.fsync(file.fileno())  # or a power cut could leave the name without the content
        os.replace(part, folder / entry.file)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(part)
    return folder / entry.file


def _receive(url: str) -> Generator[tuple[bytes, int | None], None, None]:
    """The bytes at an address in blocks, each with how many there are in all."""
    done = 0
    try:
        with urlopen(url, timeout=_SECONDS) as response:  # noqa: S310 - see Source
            length = response.headers.get("Content-Length", "")
            total = int(length) if length.isdigit() else None
            while block := response.read(_BLOCK):
                done += len(block)
                if done > _MOST:
                    raise _DownloadError("it is too large")
                yield block, total
    except HTTPError as error:
        with error:
            raise _DownloadError(f"it answers {error.code}") from None
    except (OSError, HTTPException) as error:
        raise _DownloadError(_describe_failure(error)) from None
    if total is not None and done != total:
        raise _DownloadError("the download is incomplete")


def _describe_failure(error: OSError | HTTPException) -> str:
    """What is the matter with a connection, in a few words."""
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, TimeoutError):
        return "it is silent"
    if isinstance(reason, IncompleteRead):
        return "the download is incomplete"
    said = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return to_line(said)


def _unpack(packed: IO[bytes], source: Source, entry: CatalogueEntry, file: IO[bytes]) -> None:
    """Write what the downloaded file holds, if it is what it should be."""
    size = 0
    with closing(_read_packed(packed, source, entry)) as blocks:
        for block in blocks:
            size += len(block)
            if size > _MOST:
                raise _DownloadError("it is too large")
            file.write(block)


def _read_packed(
    packed: IO[bytes], source: Source, entry: CatalogueEntry
) -> Generator[bytes, None, None]:
    """What the downloaded file holds in blocks; at the end, whether it has the right checksum."""
    try:
        with _member(packed, source.member) as member, open_unpacked(member) as content:
            yield from content.blocks()
    except _DownloadError:
        raise
    except Exception:  # zipfile raises many kinds: for passwords, packings, names, places
        raise _DownloadError("it cannot be unpacked") from None
    sums = content.checksums()
    if not matches_checksum(sums, entry.checksum):
        raise _DownloadError(f"it has a different checksum, sha256:{sums['sha256']}")


@contextmanager
def _member(packed: IO[bytes], name: str | None) -> Iterator[IO[bytes]]:
    """The file that is wanted of an archive; or the file itself, if there is no archive."""
    if name is None:
        yield packed
        return
    with zipfile.ZipFile(packed) as archive:
        for each in archive.namelist():
            if each.rpartition("/")[2] in {name, f"{name}.gz"}:
                with archive.open(each) as member:
                    yield member
                return
    raise _DownloadError(f"there is no {name} in it")
