"""Text files in other encodings: read if they are named, and named in the error if they are not."""

import gzip
import io
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.counting.sample_events import one
from topgap import counting
from topgap.counting import read_domain
from topgap.counting.engine import Engine
from topgap.counting.source_files import decode_files, find_files
from topgap.errors import DomainError, ParameterError, SourceError

TEXT = "who,what\nMüller,grün\nMüller,grün\nBob,grün\nEve,“flu”\n"
DOMAIN = ["grün", "“flu”"]
COUNTS = {"grün": 2, "“flu”": 1}
ENCODINGS = ["windows-1252", "utf-16", "utf-16-be", "utf-7"]


def json_lines(text: str) -> str:
    rows = [line.split(",") for line in text.splitlines()[1:]]
    return "".join(f'{{"who": "{who}", "what": "{what}"}}\n' for who, what in rows)


def count(path: Path, **how: Any) -> dict[Any, int]:
    return one(path, **{"domain": DOMAIN, **how})


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_any_text_file_can_have_any_encoding(encoding: str, tmp_path: Path) -> None:
    for name, text, opened in (
        ("v.csv", TEXT, open),
        ("v.csv.gz", TEXT, gzip.open),
        ("v.tsv", TEXT.replace(",", "\t"), open),
        ("v.txt", TEXT.replace(",", ";"), open),
        ("v.jsonl", json_lines(TEXT), open),
    ):
        with opened(tmp_path / name, "wb") as file:
            file.write(text.encode(encoding))
        assert count(tmp_path / name, encoding=encoding) == COUNTS, name
    stream = io.BytesIO(TEXT.encode(encoding))
    assert count(stream, encoding=encoding, format="csv") == COUNTS  # type: ignore[arg-type]
    baskets = io.BytesIO("grün x\nx grün\nx\n".encode(encoding))
    counted = counting.count_transactions(baskets, domain=["grün", "x"], encoding=encoding)
    assert counted == {"grün": 2, "x": 3}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_tells_the_encoding(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(TEXT, encoding=encoding)
    assert count(tmp_path / "v.csv") == COUNTS
    (tmp_path / "d.txt").write_text("grün\n“flu”\n", encoding=encoding)
    assert read_domain(tmp_path / "d.txt").names == DOMAIN
    (tmp_path / "d.csv").write_text("code\ngrün\n", encoding=encoding)
    assert read_domain(tmp_path / "d.csv", "code").names == ["grün"]


LATE = "who,what\n" + "Ann,flu\n" * 300_000 + "Zaphod,grün\n"
GUESSED = {
    "latin-1": ("who,what\nZaphod,grün\n", "latin-1"),
    "windows-1252": ("who,what\nZaphod,“grün”\n", "windows-1252"),
    "utf-16-le": ("who,what\nZaphod,flu\n", "utf-16-le"),
    "utf-16-be": ("who,what\nZaphod,flu\n", "utf-16-be"),
    "late": (LATE, "latin-1"),
}


@pytest.mark.parametrize(
    "name", [pytest.param(e, marks=pytest.mark.slow if e == "late" else ()) for e in GUESSED]
)
def test_an_error_names_the_likely_encoding_and_the_option(name: str, tmp_path: Path) -> None:
    text, encoding = GUESSED[name]
    (tmp_path / "a.csv").write_text("who,what\nAnn,flu\n")
    path = tmp_path / "v.csv"
    path.write_bytes(text.encode(encoding))
    said = f"looks like {encoding}; say so .*--encoding {encoding}"
    with pytest.raises(SourceError, match=said) as error:
        count(path)
    assert "Zaphod" not in str(error.value)
    assert count(path, encoding=encoding, domain=["flu", "grün", "“grün”"])
    with pytest.raises(SourceError, match=f"v.csv is not UTF-8.*{encoding}"):
        one([tmp_path / "a.csv", path])
    path.with_suffix(".jsonl").write_bytes(json_lines(text).encode(encoding))
    with pytest.raises(SourceError, match=said):
        count(path.with_suffix(".jsonl"))
    with pytest.raises(SourceError, match=said):
        counting.count_transactions(path, domain=DOMAIN)
    for column in (None, "what"):
        domain = path.rename(tmp_path / ("d.csv" if column else "d.txt"))
        with pytest.raises(DomainError, match=said.replace("--enc", "--domain-enc")):
            read_domain(domain, column)
        path = domain


def test_an_encoding_that_the_file_does_not_have_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_bytes(b"who,what\nZaphod,\x81\n")
    for encoding in ("utf-8", "ascii"):
        with pytest.raises(SourceError, match="not UTF-8"):
            count(path, encoding=encoding)
    with pytest.raises(SourceError, match="not text in the encoding cp1252") as error:
        count(path, encoding="windows-1252")
    assert error.value.__context__ is None
    with pytest.raises(SourceError, match="say which encoding it has"):
        count(path)
    path.write_bytes(TEXT.encode("utf-16-le")[:-1])  # half a character
    with pytest.raises(SourceError, match="not text in the encoding"):
        count(path, encoding="utf-16-le")
    with pytest.raises(DomainError, match="not text in the encoding"):
        read_domain(path.rename(tmp_path / "d.txt"), encoding="utf-16-le")


@pytest.mark.parametrize("encoding", ["", "nothing", "base64", "rot13", "a\0b", "undefined"])
def test_what_is_no_encoding_of_text_is_refused(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("who,what\n")
    with pytest.raises((ParameterError, SourceError), match="encoding"):
        count(tmp_path / "v.csv", encoding=encoding)
    (tmp_path / "d.txt").write_text("flu\n")
    with pytest.raises((ParameterError, DomainError), match="encoding"):
        read_domain(tmp_path / "d.txt", encoding=encoding)


def test_only_text_has_an_encoding(events_as_parquet: Path) -> None:
    with pytest.raises(ParameterError, match="Only text files"):
        count(events_as_parquet, encoding="latin-1")


@pytest.fixture
def events_as_parquet(tmp_path: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"who": ["Ann"], "what": ["flu"]}), tmp_path / "v.parquet")
    return tmp_path / "v.parquet"


def test_decoding_reports_progress_and_can_be_stopped(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_bytes(LATE.encode("latin-1"))
    seen: list[float | None] = []

    def stop(doing: str, share: float | None) -> None:
        if doing.startswith("decoding"):
            seen.append(share)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count(path, encoding="latin-1", progress=stop)
    assert seen[0] is not None
    assert 0 < seen[0] < 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["v.csv", "V.CSV.GZ"])
def test_decoding_takes_little_memory(name: str, tmp_path: Path) -> None:
    line = "Zaphod,grün\n".encode("latin-1")
    with (gzip.open if name.endswith("GZ") else open)(tmp_path / name, "wb") as file:
        for part in (b"who,what\n", *[line * 100_000] * 20):
            file.write(part)
    with Engine() as engine:
        files = find_files(engine, tmp_path / name)
        tracemalloc.start()
        try:
            (path,) = decode_files(engine, files, "latin-1").paths
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert Path(path).stat().st_size == len(b"who,what\n") + 2_000_000 * (len(line) + 1)
    assert peak < 15_000_000  # of 24,000,000 bytes, in blocks of 1,048,576
    assert count(tmp_path / name, encoding="latin-1") == {"grün": 1, "“flu”": 0}
