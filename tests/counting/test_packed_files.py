"""ZIP archives with one table in them, and zstd: read as gzip is, and refused in a sentence."""

import io
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.counting.sample_events import one
from topgap import counting
from topgap.counting import packed_files, read_domain
from topgap.errors import DomainError, MissingExtraError, SourceError

CSV = b"who,what\nAnn,flu\nBob,flu\n"


def zstd(content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return bytes(sink.getvalue())


def zipped(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"who": ["Ann", "Bob"], "what": ["flu", "flu"]}), sink)
    return sink.getvalue()


PACKED = {
    "v.csv.zip": lambda: zipped(**{"visits.csv": CSV}),
    "v.zip": lambda: zipped(**{"folder/Visits 2026.TSV": CSV.replace(b",", b"\t")}),
    "mac.zip": lambda: zipped(
        **{"folder/": b"", "v.csv": CSV, "__MACOSX/._v.csv": b"x", "folder/.DS_Store": b"x"}
    ),
    "p.zip": lambda: zipped(**{"visits.parquet": parquet()}),
    "v.csv.zst": lambda: zstd(CSV),
    "V.CSV.ZST": lambda: zstd(CSV),
    "two.csv.zst": lambda: zstd(b"who,what\nAnn,flu\n") + zstd(b"Bob,flu\n"),
    "v.jsonl.zst": lambda: zstd(b'{"who":1,"what":"flu"}\n{"who":2,"what":"flu"}\n'),
    "v.parquet.zst": lambda: zstd(parquet()),
}


@pytest.mark.parametrize("name", PACKED)
def test_what_is_packed_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(PACKED[name]())
    assert one(tmp_path / name) == {"flu": 2}
    assert one(f"{tmp_path}/*") == {"flu": 2}


def test_other_encodings_and_pipes_and_transactions_may_be_packed(tmp_path: Path) -> None:
    latin = "who,what\nAnn,grün\n".encode("latin-1")
    (tmp_path / "v.zip").write_bytes(zipped(**{"v.csv": latin}))
    assert one(tmp_path / "v.zip", encoding="latin-1", domain=["grün"]) == {"grün": 1}
    with pytest.raises(SourceError, match=r"v\.zip is not UTF-8 text, and looks like latin-1"):
        one(tmp_path / "v.zip")
    assert one(io.BytesIO(zstd(CSV)), format="csv") == {"flu": 2}
    assert one(io.BytesIO(zipped(x=CSV)), format="csv") == {"flu": 2}
    for name, content in (("b.dat.zst", zstd(b"1 2\n2\n")), ("b.dat.zip", zipped(b=b"1 2\n2\n"))):
        (tmp_path / name).write_bytes(content)
        counted = counting.count_transactions(tmp_path / name, domain=["1", "2"])
        assert counted == {"1": 1, "2": 2}


def test_a_domain_may_be_packed(tmp_path: Path) -> None:
    import gzip

    (tmp_path / "d.txt.gz").write_bytes(gzip.compress(b"flu\ngout\n"))
    (tmp_path / "d.txt.zst").write_bytes(zstd(b"flu\ngout\n"))
    (tmp_path / "d.zip").write_bytes(zipped(d=b"flu\ngout\n"))
    for name in ("d.txt.gz", "d.txt.zst", "d.zip"):
        assert read_domain(tmp_path / name).names == ["flu", "gout"], name
    (tmp_path / "c.csv.zst").write_bytes(zstd(b"code\nflu\n"))
    (tmp_path / "c.zip").write_bytes(zipped(**{"c.csv": b"code\nflu\n"}))
    for name in ("c.csv.zst", "c.zip"):
        assert read_domain(tmp_path / name, "code").names == ["flu"], name
        with pytest.raises(DomainError, match="is a table; say which"):
            read_domain(tmp_path / name)
    (tmp_path / "d.txt.gz").write_bytes(gzip.compress(b"flu\n" * 999)[:-9])
    with pytest.raises(DomainError, match="damaged or incomplete"):
        read_domain(tmp_path / "d.txt.gz")


def encrypted() -> bytes:
    packed = bytearray(zipped(**{"Zaphod.csv": CSV}))
    packed[6] |= 1  # of the file's own header
    packed[packed.index(b"PK\x01\x02") + 8] |= 1  # of the archive's list
    return bytes(packed)


def with_a_wrong_size() -> bytes:
    packed = bytearray(zipped(**{"v.csv": CSV + b"Eve,flu\n" * 10_000}))
    at = packed.index(b"PK\x01\x02") + 24
    packed[at : at + 4] = (30).to_bytes(4, "little")
    return bytes(packed)


BROKEN: dict[str, tuple[Callable[[], bytes], str]] = {
    "two.zip": (lambda: zipped(**{"Zaphod.csv": CSV, "b.csv": CSV}), "has 2 files in it"),
    "none.zip": (lambda: zipped(), "has 0 files in it"),
    "encrypted.zip": (encrypted, "is encrypted"),
    "cut.zip": (lambda: zipped(**{"v.csv": CSV * 99})[:-30], "damaged or incomplete"),
    "no.zip": (lambda: CSV, "damaged or incomplete"),
    "lies.zip": (with_a_wrong_size, "damaged or incomplete"),
    "cut.csv.zst": (lambda: zstd(CSV * 999)[:-9], "damaged or incomplete"),
    "no.csv.zst": (lambda: CSV, "damaged or incomplete"),
    "twice.zip": (lambda: zipped(x=zipped(x=CSV)), "does not show its format"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_unpacked_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    make, said = BROKEN[name]
    (tmp_path / name).write_bytes(make())
    with pytest.raises(SourceError, match=said) as error:
        one(tmp_path / name)
    assert "Zaphod" not in str(error.value)
    with pytest.raises(DomainError):
        read_domain(tmp_path / name, "what")


def test_a_bomb_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bomb.zip").write_bytes(zipped(**{"v.csv": CSV + b"\n" * 10**7}))
    usage = SimpleNamespace(free=10**6)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(SourceError, match="unpacks to 10,000,025 bytes, and there is no space"):
        one(tmp_path / "bomb.zip")


def test_zstd_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "v.csv.zst").write_bytes(zstd(CSV))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="pip install pyarrow"):
        one(tmp_path / "v.csv.zst")


def test_unpacking_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "v.zip").write_bytes(zipped(**{"v.csv": CSV * 99_999}))

    def stop(doing: str, _: Any) -> None:
        if doing.startswith("unpacking"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one(tmp_path / "v.zip", progress=stop)
    assert [each.name for each in tmp_path.iterdir()] == ["v.zip"]
    assert packed_files.safe_ending("v.zip") == ".zip"
