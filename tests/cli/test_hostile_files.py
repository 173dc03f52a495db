"""Files that nobody should have to read: each refused in one sentence, with nothing written."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.command import is_one_sentence, topgap

pytestmark = [
    pytest.mark.linux(reason="limits files and rights as Linux does, and has odd names"),
    pytest.mark.slow,
]

PERSON = "Zaphod"
GIB = 1 << 30
AS_TABLE = ("--person", "who", "--item", "what")
ASKED = (
    "--domain",
    "domain.txt",
    "-k",
    1,
    "--epsilon",
    1,
    "--output",
    "out.csv",
    "--report",
    "r.html",
)


def bytes_of(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def with_long_line(before: bytes, after: bytes) -> Callable[[Path], None]:
    """A line of 1 GiB: of NUL characters, because a hole in a file takes no space on disk."""

    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.write(before)
            file.seek(GIB, os.SEEK_CUR)
            file.truncate()
            file.write(after)

    return make


def long_json(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b'{"who": 1, "what": "')
        for _ in range(1024):
            file.write(b"x" * 2**20)
        file.write(b'"}\n')


def truncated_parquet(path: Path) -> None:
    pq.write_table(pa.table({"who": [PERSON] * 1000, "what": ["flu"] * 1000}), path)
    path.write_bytes(path.read_bytes()[:-100])


def broken_parquet(path: Path) -> None:
    path.write_bytes(b"PAR1" + os.urandom(2000) + b"\x20\0\0\0PAR1")


def columns(names: str, cells: str) -> bytes:
    return f"{names}\n{cells}\n".encode()


MANY = 10**6
COMMAS = "," * MANY
HOSTILE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "empty parquet": ("e.parquet", bytes_of(b"")),
    "an empty line": ("e.csv", bytes_of(b"\n")),
    "binary": ("e.csv", bytes_of(bytes(range(256)) * 1000)),
    "binary, called parquet": ("e.parquet", bytes_of(bytes(range(256)) * 1000)),
    "binary, called json lines": ("e.jsonl", bytes_of(bytes(range(256)) * 1000)),
    "binary, called duckdb": ("e.duckdb", bytes_of(bytes(range(256)) * 1000)),
    "binary, called sqlite": ("e.sqlite", bytes_of(bytes(range(256)) * 1000)),
    "sqlite that only begins so": ("e.sqlite", bytes_of(b"SQLite format 3\0" + bytes(5000))),
    "wrong columns": ("e.csv", bytes_of(columns("person,item", f"{PERSON},flu"))),
    "no header": ("e.csv", bytes_of(columns(f"{PERSON},flu", f"{PERSON},cold"))),
    "a column twice": ("e.csv", bytes_of(columns("who,what,what", f"{PERSON},flu,cold"))),
    "10^6 columns": ("e.csv", bytes_of(columns("who,what" + COMMAS, f"{PERSON},flu" + COMMAS))),
    "10^6 columns with names": ("e.csv", bytes_of(columns(",".join(map(str, range(MANY))), ""))),
    "broken UTF-8": ("e.csv", bytes_of(f"who,what\n{PERSON},caf".encode() + b"\xe9\n")),
    "broken UTF-8 in the first line": ("e.csv", bytes_of(b"who,what,caf\xe9\n1,2,3\n")),
    "UTF-16": ("e.csv", bytes_of(f"who,what\n{PERSON},flu\n".encode("utf-16-le"))),
    "broken UTF-8 in JSON": ("e.jsonl", bytes_of(b'{"who": "Zaphod", "what": "\xff"}\n')),
    "a 1 GiB line": ("e.csv", with_long_line(b"who,what\n1,", b"\n2,flu\n")),
    "a 1 GiB line at the end": ("e.csv", with_long_line(b"who,what\n1,flu\n2,", b"")),
    "a 1 GiB line at the start": ("e.csv", with_long_line(b"", b"\n1,2\n")),
    "a 1 GiB line of JSON": ("e.jsonl", long_json),
    "a 1 GiB line of a basket": ("e.dat", with_long_line(b"1 2\n", b"")),
    "a truncated parquet": ("e.parquet", truncated_parquet),
    "a parquet with nothing but its ends": ("e.parquet", broken_parquet),
    "a packed file that is cut": ("e.csv.gz", bytes_of(b"\x1f\x8b\x08\0\0\0\0\0\0\x03abc")),
    "a packed file that is none": ("e.csv.gz", bytes_of(b"who,what\n1,flu\n")),
    "too few cells": ("e.csv", bytes_of(f"who,what\nAnn,flu\n{PERSON}\n".encode())),
    "too many cells": ("e.csv", bytes_of(f"who,what\nAnn,flu\n{PERSON},flu,cold\n".encode())),
    "an open quote": ("e.csv", bytes_of(f'who,what\nAnn,flu\n"{PERSON},flu\n'.encode() * 3)),
    "JSON that ends early": ("e.jsonl", bytes_of(f'{{"who": "{PERSON}", "what": "fl'.encode())),
    "JSON of numbers": ("e.jsonl", bytes_of(b"1\n2\n")),
    "JSON of other names": ("e.jsonl", bytes_of(f'{{"{PERSON}": 1}}\n'.encode())),
    "JSON within JSON": ("e.jsonl", bytes_of(f'{{"who": "{PERSON}", "what": ["flu"]}}\n'.encode())),
    "a directory": ("e.csv", Path.mkdir),
    "no such file": ("e.csv", lambda _: None),
    "a link to nowhere": ("e.csv", lambda path: path.symlink_to("nowhere")),
    "a name of an unknown format": ("e.xyz", bytes_of(b"who,what\n1,flu\n")),
    "an address": ("https://example.org/e.csv", lambda _: None),
    "a pattern without files": ("e*.csv", lambda _: None),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    file, make = HOSTILE[name]
    (tmp_path / "domain.txt").write_text("flu\ncold\n")
    if "://" not in file:
        make(tmp_path / file)
    before = sorted(os.listdir(tmp_path))
    columns = () if file.endswith(".dat") else AS_TABLE
    ended = topgap("release", file, *columns, *ASKED, folder=tmp_path)
    assert ended.code == 1
    assert ended.out == ""
    assert is_one_sentence(ended.err), ended.err
    assert PERSON not in ended.err
    assert sorted(os.listdir(tmp_path)) == before
    if (tmp_path / file).is_file():
        (tmp_path / file).unlink()  # some are large


@pytest.mark.parametrize("place", ["source", "folder of the output"])
def test_what_may_not_be_touched_is_refused(place: str, tmp_path: Path) -> None:
    # The superuser may touch everything, so the command runs without that right.
    asks = [*AS_TABLE, *map(str, ASKED)]
    command = [sys.executable, "-m", "topgap.cli", "release", "e.csv", *asks]
    if os.getuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("setpriv is missing, by which the superuser gives up rights")
        rights = "-dac_override,-dac_read_search"
        command = ["setpriv", "--bounding-set", rights, "--inh-caps", rights, *command]
    (tmp_path / "domain.txt").write_text("flu\ncold\n")
    (tmp_path / "e.csv").write_text(f"who,what\n{PERSON},flu\n")
    if place == "source":
        (tmp_path / "e.csv").chmod(0)
    else:
        tmp_path.chmod(0o555)
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    tmp_path.chmod(0o755)
    assert ended.returncode == 1
    assert is_one_sentence(ended.stderr), ended.stderr
    assert sorted(os.listdir(tmp_path)) == ["domain.txt", "e.csv"]


@pytest.mark.parametrize("form", ["table", "csv", "json", "parquet"])
def test_a_full_disk_leaves_nothing_behind(form: str, tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))

    (tmp_path / "domain.txt").write_text("".join(f"item {n}\n" for n in range(100)))
    (tmp_path / "e.csv").write_text("who,what\nAnn,item 1\n")
    asked = [*AS_TABLE, "--domain", "domain.txt", "-k", 50, "--epsilon", 1, "--format", form]
    ended = topgap(
        "release", "e.csv", *asked, "-o", "out", "--report", "r.html", folder=tmp_path,
        preexec_fn=small_files,
    )  # fmt: skip
    assert (ended.code, ended.out) == (1, "")
    assert is_one_sentence(ended.err)
    assert "cannot be written" in ended.err
    assert sorted(os.listdir(tmp_path)) == ["domain.txt", "e.csv"]


def test_output_that_takes_nothing_is_an_error(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("/dev/full is missing")
    (tmp_path / "domain.txt").write_text("flu\ncold\n")
    (tmp_path / "e.csv").write_text("who,what\nAnn,flu\n")
    asked = ["e.csv", *AS_TABLE, "--domain", "domain.txt", "-k", 1, "--epsilon", 1, "-q"]
    to_file = topgap("release", *asked, "-o", "/dev/full", folder=tmp_path)
    assert to_file.code == 1
    assert is_one_sentence(to_file.err)
    with open("/dev/full", "wb") as full:
        run = subprocess.run(
            [sys.executable, "-m", "topgap.cli", "release", *map(str, asked)],
            cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert run.returncode == 1
    assert is_one_sentence(run.stderr)
