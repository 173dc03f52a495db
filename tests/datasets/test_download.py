"""Downloads, from a real server on this computer: all of a file with the right sum, or nothing."""

import gzip
import io
import os
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from hashlib import sha1, sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any

import pytest

from tests.checking.mutants import Mutant, mutated
from topgap import DatasetError
from topgap.datasets import CatalogueEntry, Source, downloads, load

TEXT = b"".join(b"%d %d\n" % (i % 7, i * i) for i in range(9_000))
PACKED = gzip.compress(TEXT, mtime=0)
SHA256 = f"sha256:{sha256(TEXT).hexdigest()}"
RECORDS, ITEMS = 9_000, 9_004  # the squares, and those of 0 to 6 that are none: 2, 3, 5, 6


def archive(name: str, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as made:
        made.writestr("readme.txt", "not this one")
        made.writestr(name, PACKED if name.endswith(".gz") else TEXT)
    return file.getvalue()


def damaged(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def patched(content: bytes, record: bytes, at: int, more: int) -> bytes:
    """An archive with bits set in its last record of this kind."""
    place = content.rindex(record) + at
    return content[:place] + bytes([content[place] | more]) + content[place + 1 :]


ARCHIVE = archive("small.dat")
DIRECTORY, END = b"PK\1\2", b"PK\5\6"
SERVED = {
    "encrypted-archive": patched(ARCHIVE, DIRECTORY, 8, 1),
    "unknown-packing": patched(ARCHIVE, DIRECTORY, 10, 0x40),
    "damaged-bzip2": damaged(archive("small.dat", zipfile.ZIP_BZIP2)),
    "damaged-lzma": damaged(archive("small.dat", zipfile.ZIP_LZMA)),
    "no-text-for-a-name": patched(patched(ARCHIVE, DIRECTORY, 9, 8), DIRECTORY, 46, 0x80),
    "nowhere-in-archive": patched(ARCHIVE, END, 19, 0x40),  # it begins before the file does
    "plain": TEXT,
    "packed": PACKED,
    "archive": archive("assoc/small.dat.gz"),
    "plain-archive": archive("small.dat", zipfile.ZIP_STORED),
    "damaged": damaged(PACKED),
    "damaged-archive": damaged(archive("assoc/small.dat.gz")),
    "damaged-plain": damaged(TEXT),
    "another-archive": archive("assoc/other.dat.gz"),
    "cut-packed": PACKED[:-100],
    "empty": b"",
}


class Server(ThreadingHTTPServer):
    """Serves what it has been told to, and remembers who asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.release = Event()  # lets those go that were to wait
        self.both = Barrier(2, timeout=60)

    def entry(
        self, *paths: str, member: str | None = None, checksum: str = SHA256
    ) -> CatalogueEntry:
        base = f"http://127.0.0.1:{self.server_port}"
        return CatalogueEntry(
            name="Small",
            records=RECORDS,
            items=ITEMS,
            form="fimi",
            checksum=checksum,
            sources=tuple(Source(url=f"{base}/{path}", member=member) for path in paths),
        )


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        name = self.path[1:]
        self.server.asked.append(name)
        match name:
            case "gone":
                self.send_error(404)
            case "hung-up":
                self.connection.shutdown(socket.SHUT_RDWR)
            case "silent":
                self.server.release.wait(60)
            case "no-http":
                self.wfile.write(b"220 mail.example.org ESMTP\r\n")
            case "moved":
                self.send_response(302)
                self.send_header("Location", "/packed")
                self.end_headers()
            case "cut-short":
                self.send_response(200)
                self.send_header("Content-Length", str(len(TEXT)))
                self.end_headers()
                self.wfile.write(TEXT[:-1_000])
            case "unmeasured":
                self.send_response(200)
                self.end_headers()
                self.wfile.write(TEXT)
            case "together":
                self.server.both.wait()
                self._send(PACKED)
            case _:
                self._send(SERVED[name])

    def _send(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.release.set()
        running.shutdown()
        thread.join()


GOOD = [
    ("plain", None),
    ("packed", None),
    ("archive", "small.dat"),
    ("plain-archive", "small.dat"),
    ("moved", None),
    ("unmeasured", None),
]
BAD = [
    ("gone", None, "it answers 404"),
    ("hung-up", None, ""),
    ("no-http", None, "220 mail.example.org ESMTP"),
    ("cut-short", None, "the download is incomplete"),
    ("cut-packed", None, "it cannot be unpacked"),
    ("damaged", None, "it cannot be unpacked"),
    (
        "damaged-plain",
        None,
        f"it has a different checksum, sha256:{sha256(damaged(TEXT)).hexdigest()}",
    ),
    ("empty", None, f"it has a different checksum, sha256:{sha256(b'').hexdigest()}"),
    ("archive", None, "it has a different checksum"),
    ("damaged-archive", "small.dat", "it cannot be unpacked"),
    ("plain", "small.dat", "it cannot be unpacked"),
    ("another-archive", "small.dat", "there is no small.dat in it"),
    ("encrypted-archive", "small.dat", "it cannot be unpacked"),
    ("unknown-packing", "small.dat", "it cannot be unpacked"),
    ("damaged-bzip2", "small.dat", "it cannot be unpacked"),
    ("damaged-lzma", "small.dat", "it cannot be unpacked"),
    ("no-text-for-a-name", "small.dat", "it cannot be unpacked"),
    ("nowhere-in-archive", "small.dat", "it cannot be unpacked"),
]


@pytest.mark.parametrize(("path", "member"), GOOD)
def test_a_good_file_is_kept_unpacked(
    path: str, member: str | None, server: Server, tmp_path: Path
) -> None:
    folder = tmp_path / "not" / "there"
    steps: list[tuple[int, int | None]] = []
    entry = server.entry(path, member=member)
    found = load(
        "small",
        cache=folder,
        download=True,
        progress=lambda done, total: steps.append((done, total)),
        catalogue={"Small": entry},
    )
    assert (found.records, found.items, found.verified) == (RECORDS, ITEMS, True)
    assert [each.name for each in folder.iterdir()] == ["Small.dat"]
    assert found.path.read_bytes() == TEXT
    done, total = steps[-1]
    assert total == (None if path == "unmeasured" else done)
    assert [each for each, _ in steps] == sorted({each for each, _ in steps})
    asked = len(server.asked)
    again = load("small", cache=folder, download=True, catalogue={"Small": entry})
    assert again == found
    assert len(server.asked) == asked


def held(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def complaint(entry: CatalogueEntry, folder: Path, module: Any = downloads) -> str:
    """What the error says, or that there is none; and whether the folder is as it was."""
    before = held(folder)
    try:
        module.fetch(entry, folder)
    except DatasetError as error:
        return str(error) if held(folder) == before else f"{error} Left: {[*held(folder)]}"
    return "none"


def flaws(server: Server, folder: Path, module: Any = downloads) -> list[str]:
    """What of the bad files does not end as it should."""
    found = []
    for number, (path, member, why) in enumerate(BAD):
        (each := folder / str(number)).mkdir()
        if number % 2:
            (each / "Small.dat").write_bytes(b"here before")
        said = complaint(server.entry(path, member=member), each, module)
        start = f"Small could not be downloaded (127.0.0.1:{server.server_port}: {why}"
        if not (said.startswith(start) and said.endswith(f"put it into {each} as Small.dat.")):
            found.append(said)
    return found


def test_bad_files_are_told_and_not_kept(server: Server, tmp_path: Path) -> None:
    assert flaws(server, tmp_path) == []


MUTANTS = [
    Mutant("any content is right", "if not matches_checksum(sums, entry.checksum):", "if False:"),
    Mutant("lengths do not matter", "if total is not None and done != total:", "if False:"),
    Mutant("parts stay", "os.unlink(part)", "pass"),
    Mutant("written in place", "tempfile.mkstemp(prefix=", "in_place(prefix="),
    Mutant("any member will do", '{name, f"{name}.gz"}', "archive.namelist()[-1]"),
    Mutant(
        "damage is ignored",
        '        raise _DownloadError("it cannot be unpacked") from None',
        "        return",
    ),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_download_is_found(mutant: Mutant, server: Server, tmp_path: Path) -> None:
    broken = mutated(downloads, mutant)
    broken.in_place = lambda dir, **_: (  # noqa: A006 - as it is called there
        os.open(dir / "Small.dat", os.O_CREAT | os.O_WRONLY | os.O_TRUNC),
        dir / "Small.dat",
    )
    assert flaws(server, tmp_path, broken)


def test_the_next_source_is_asked_if_one_does_not_have_it(server: Server, tmp_path: Path) -> None:
    entry = server.entry("gone", "damaged", "cut-short", "packed", "plain")
    assert downloads.fetch(entry, tmp_path).read_bytes() == TEXT
    assert server.asked == ["gone", "damaged", "cut-short", "packed"]
    (tmp_path / "Small.dat").unlink()
    said = complaint(server.entry("gone", "damaged"), tmp_path)
    assert said.count("127.0.0.1") == 2


@pytest.mark.parametrize("bad", [path for path, member, _ in BAD if member])
def test_the_next_source_is_asked_if_an_archive_is_bad(
    bad: str, server: Server, tmp_path: Path
) -> None:
    entry = server.entry(bad, "archive", member="small.dat")
    assert downloads.fetch(entry, tmp_path).read_bytes() == TEXT
    assert server.asked == [bad, "archive"]


def test_a_file_is_known_by_sha1_where_no_more_is_published(server: Server, tmp_path: Path) -> None:
    right = f"sha1:{sha1(TEXT).hexdigest()}"  # noqa: S324
    assert downloads.fetch(server.entry("packed", checksum=right), tmp_path).exists()
    (tmp_path / "Small.dat").unlink()
    said = complaint(server.entry("damaged-plain", checksum=right), tmp_path)
    assert "a different checksum" in said


def test_without_a_network_it_is_said_where_the_file_may_be_put(tmp_path: Path) -> None:
    with socket.socket() as unused:  # it is bound, but nobody listens
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/small.dat"
        entry = CatalogueEntry(
            name="Small",
            records=1,
            items=1,
            form="fimi",
            checksum=SHA256,
            sources=(Source(url=url),),
        )
        said = complaint(entry, tmp_path)
    assert said.startswith("Small could not be downloaded (127.0.0.1:")
    assert said.endswith(f"put it into {tmp_path} as Small.dat.")


def test_a_server_that_says_nothing_is_not_waited_for(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "_SECONDS", 0.1)
    said = complaint(server.entry("silent"), tmp_path)
    assert ": it is silent);" in said


@pytest.mark.parametrize("path", ["plain", "packed"])
def test_what_is_too_large_is_not_kept(
    path: str, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "_MOST", len(TEXT) - 1)
    steps: list[int] = []
    with pytest.raises(DatasetError, match=r": it is too large\);"):
        downloads.fetch(server.entry(path), tmp_path, lambda done, _: steps.append(done))
    assert held(tmp_path) == {}
    assert bool(steps) == (path == "packed")  # what is too large already is not even stored


def test_nothing_is_asked_of_the_network_unless_allowed(server: Server, tmp_path: Path) -> None:
    catalogue = {"Small": server.entry("packed")}
    with pytest.raises(DatasetError, match=r"^Small is not in .* as Small\.dat, or let it be"):
        load("Small", cache=tmp_path, catalogue=catalogue)
    with pytest.raises(DatasetError, match=r"^Reading none\.dat failed"):
        load("Small", tmp_path / "none.dat", download=True, catalogue=catalogue)
    assert server.asked == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, MemoryError])
def test_an_interrupted_download_leaves_nothing(
    error: type[BaseException], server: Server, tmp_path: Path
) -> None:
    def interrupt(done: int, total: int | None) -> None:
        assert 0 < done <= (total or 0)
        raise error("as it is")

    with pytest.raises(error, match="as it is"):
        downloads.fetch(server.entry("packed"), tmp_path, interrupt)
    assert [*tmp_path.iterdir()] == []
    assert downloads.fetch(server.entry("packed"), tmp_path).read_bytes() == TEXT


def test_a_folder_that_cannot_be_written_to_is_told(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folders = [tmp_path / "file" / "folder"]
    if os.name == "posix" and os.getuid() != 0:
        folders.append(tmp_path / "locked")
        folders[-1].mkdir(mode=0o500)
    for folder in folders:
        with pytest.raises(DatasetError) as caught:
            downloads.fetch(server.entry("packed"), folder)
        assert str(caught.value).startswith(f"Nothing can be written to {folder}: ")
        assert str(caught.value).endswith("name another folder by cache= or TOPGAP_DATA.")
    assert server.asked == []


def started(entry: CatalogueEntry, folder: Path, progress: str) -> subprocess.Popen[bytes]:
    """A process that downloads, and ends well if it has the file."""
    code = f"""
import os, signal
from topgap.datasets import CatalogueEntry, Source, load
given = {{"cache": {str(folder)!r}, "catalogue": {{"Small": {entry!r}}}}}
assert load("small", download=True, progress={progress}, **given).verified
"""
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)


@pytest.mark.slow
def test_two_processes_download_at_once(server: Server, tmp_path: Path) -> None:
    # The server answers when both have asked: neither finds what the other has stored.
    both = [started(server.entry("together"), tmp_path, "None") for _ in range(2)]
    assert [each.communicate(timeout=120)[1] for each in both] == [b"", b""]
    assert [each.returncode for each in both] == [0, 0]
    assert server.asked == ["together"] * 2
    assert held(tmp_path) == {"Small.dat": TEXT}


@pytest.mark.skipif(os.name != "posix", reason="files without a name are a thing of POSIX")
def test_a_process_that_is_killed_leaves_nothing(server: Server, tmp_path: Path) -> None:
    kill = "lambda *_: os.kill(os.getpid(), signal.SIGKILL)"
    killed = started(server.entry("packed"), tmp_path, kill)
    killed.communicate(timeout=120)
    assert killed.returncode == -9
    assert server.asked == ["packed"]
    assert held(tmp_path) == {}
