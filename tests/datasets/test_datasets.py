"""Public data sets: what goes by a known name, where it lies, and what it must hold."""

import gzip
import io
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

import pytest

from tests.checking.mutants import Mutant, mutated
from tests.checking.public_files import public_file
from topgap import DatasetError, ParameterError, datasets, top_k
from topgap.datasets import CATALOGUE, CatalogueEntry, Source, content, loading
from topgap.datasets import dataset as dataset_module
from topgap.datasets.folders import data_folder, find_in, guess_form

TEXT = b"7 3\n12 3\n\n3\n"
SMALL = {
    "Small-Set": CatalogueEntry(
        name="Small-Set",
        records=4,
        items=3,
        form="fimi",
        checksum=f"sha256:{sha256(TEXT).hexdigest()}",
        sources=(Source(url="http://localhost:1/small.dat"),),
    )
}
COUNTS = {3: 3, 7: 1, 12: 1}


def load(path: Path, module: Any = loading, **given: Any) -> datasets.Dataset:
    found: datasets.Dataset = module.load("small set", path, catalogue=SMALL, **given)
    return found


def written(folder: Path, name: str, text: bytes) -> Path:
    (folder / name).write_bytes(text)
    return folder / name


@pytest.mark.parametrize(
    ("name", "form", "text", "verified"),
    [
        ("a.dat", None, TEXT, True),
        ("a.dat", None, gzip.compress(TEXT, mtime=0), True),
        ("a.dat", None, TEXT.replace(b"\n", b"\r\n"), False),
        ("a.csv", None, TEXT.replace(b" ", b","), False),
        ("a.CSV.gz", None, gzip.compress(TEXT.replace(b" ", b","), mtime=0), False),
        ("a_sequences.txt", None, b"7 -1 3 -1 -2\n12 -1 3 -1 -2\n-2\n3 -1 -2\n", False),
        ("a.csv", "fimi", TEXT, True),
    ],
)
def test_it_is_the_same_data_set_in_each_form(
    name: str, form: Any, text: bytes, verified: bool, tmp_path: Path
) -> None:
    found = load(written(tmp_path, name, text), form=form)
    assert (found.name, found.records, found.items, found.counts) == ("Small-Set", 4, 3, COUNTS)
    assert [*found.counts] == sorted(found.counts)
    assert found.verified == verified
    assert [sorted(basket) for basket in found.transactions()] == [[3, 7], [3, 12], [], [3]]


def test_a_data_set_is_frozen_short_to_show_and_ready_for_a_release(tmp_path: Path) -> None:
    found = load(written(tmp_path, "a.dat", TEXT))
    assert found.sha256 == sha256(TEXT).hexdigest()
    assert (found.path, found.form) == (tmp_path / "a.dat", "fimi")
    assert "12" not in repr(found).partition("path")[0]
    assert found == load(tmp_path / "a.dat")
    assert hash(found) == hash(load(tmp_path / "a.dat"))
    with pytest.raises(FrozenInstanceError):
        found.records = 5  # type: ignore[misc]
    assert {*top_k(found.counts, k=2, epsilon=1, monotonic=True).items} < {3, 7, 12}


def test_ready_counts_tell_of_items_alone(tmp_path: Path) -> None:
    found = load(written(tmp_path, "a.counts.csv", b"12,1\r\n3, 3\n7,1"))
    assert (found.counts, found.records, found.verified) == (COUNTS, None, False)
    assert [*found.counts] == [3, 7, 12]
    with pytest.raises(DatasetError, match=r"^a\.counts\.csv has only counts"):
        found.transactions()
    with pytest.raises(DatasetError, match="form counts it has 2 items; give its form"):
        load(written(tmp_path, "b.counts.csv", b"12,1\n3,3\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"3,3\n3,4\n", "Line 2 of a.csv has an item that an earlier line already has"),
        (b"3,0\n", "Line 1 of a.csv has a count of 0"),
        (b"item,count\n", "Line 1 of a.csv is not an item and its count"),
        (b"3\n", "is not an item and its count"),
        (b"3,-1\n", "is not an item and its count"),
        (b"3,1,1\n", "is not an item and its count"),
        (b"3," + b"9" * 5_000, "is not an item and its count"),
    ],
    ids=range(7),
)
def test_what_are_no_ready_counts_is_refused(text: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=message):
        datasets.read(written(tmp_path, "a.csv", text), form="counts")
    with pytest.raises(ParameterError, match="pairs, counts"):
        datasets.read(tmp_path / "a.csv", form="xlsx")  # type: ignore[arg-type]


OTHER = [b"7 3\n12 3\n3\n", b"7 3\n12 3\n\n3\n\n", b"7 3\n7 3\n\n3\n", b"7 3\n12 3\n1\n3\n"]


def accepted(folder: Path, module: Any = loading) -> list[bytes]:
    """Which of the files with other numbers are taken for the data set."""
    found, refusals = [], []
    for text in OTHER:
        try:
            load(written(folder, "a.dat", text), module)
        except DatasetError as error:
            refusals.append(str(error))
        else:
            found.append(text)
    start = f"{folder / 'a.dat'} is not Small-Set, which has 4 records and 3 items: "
    assert all(each.startswith(start) for each in refusals)
    return found


def test_other_numbers_are_refused(tmp_path: Path) -> None:
    assert accepted(tmp_path) == []


def test_other_content_with_the_same_numbers_passes_and_is_not_verified(tmp_path: Path) -> None:
    found = load(written(tmp_path, "a.dat", b"1\n2\n3\n\n"))
    assert (found.counts, found.verified) == ({1: 1, 2: 1, 3: 1}, False)
    ready = load(written(tmp_path, "a.counts.csv", b"1,1\n2,1\n3,1\n"))
    assert (ready.counts, ready.verified) == (found.counts, False)


def test_transactions_are_those_that_are_there_now(tmp_path: Path) -> None:
    found = load(written(tmp_path, "a.dat", TEXT))
    written(tmp_path, "a.dat", b"99\n")
    assert [*found.transactions()] == [[99]]
    assert (found.counts, found.verified) == (COUNTS, True)


@pytest.mark.parametrize(
    "mutant",
    [
        Mutant("nothing is checked", "    _check(dataset, entry)\n", ""),
        Mutant("records do not matter", "!= (entry.records,", "!= (records,"),
        Mutant("items do not matter", "entry.items):", "dataset.items):"),
    ],
    ids=lambda mutant: mutant.name,
)  # fmt: skip
def test_a_broken_check_is_found(mutant: Mutant, tmp_path: Path) -> None:
    assert accepted(tmp_path, mutated(loading, mutant))


@pytest.mark.parametrize(
    "mutant",
    [
        Mutant("items are not in order", "dict(sorted(counts.items()))", "counts"),
        Mutant(
            "nothing is verified",
            "checksum is not None and matches_checksum(sums, checksum)",
            "True",
        ),
        Mutant("records count from 1", "records = 0", "records = 1"),
    ],
    ids=lambda mutant: mutant.name,
)
def test_a_broken_reading_is_found(mutant: Mutant, tmp_path: Path) -> None:
    path = written(tmp_path, "a.dat", TEXT)
    given: dict[str, Any] = {"name": "", "form": "fimi", "checksum": "sha256:0"}
    right, broken = (
        m.read_as(path, **given) for m in (dataset_module, mutated(dataset_module, mutant))
    )
    figures = [(each.records, [*each.counts.items()], each.verified) for each in (right, broken)]
    assert figures[0] == (4, [(3, 3), (7, 1), (12, 1)], False)
    assert figures[0] != figures[1]


def test_a_checksum_is_of_the_algorithm_that_it_names() -> None:
    sums = {"sha1": sha1(TEXT).hexdigest(), "sha256": sha256(TEXT).hexdigest()}  # noqa: S324
    with content.open_unpacked(io.BytesIO(gzip.compress(TEXT, mtime=0))) as found:
        assert b"".join(found.blocks()) == TEXT
        assert found.checksums() == sums
    assert dataset_module.matches_checksum(sums, f"sha1:{sums['sha1']}")
    assert not dataset_module.matches_checksum(sums, f"sha1:{sums['sha256']}")


def test_the_numbers_are_those_of_the_paper() -> None:
    table = {
        "T40I10D100K": (100_000, 942),
        "BMS-POS": (515_597, 1_657),
        "Kosarak": (990_002, 41_270),
    }
    assert {name: (each.records, each.items) for name, each in CATALOGUE.items()} == table
    for each in CATALOGUE.values():
        algorithm, _, digest = each.checksum.partition(":")
        assert len(digest) == {"sha256": 64, "sha1": 40}[algorithm]
        assert each.sources[0].url.startswith("https://")


@pytest.mark.parametrize("name", ["BMS-POS", "bms-pos", "BMSPOS", "bms pos", "BMS_POS"])
def test_names_are_known_however_they_are_spelt(name: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"^BMS-POS is not in .* as BMS-POS\.dat, or let it be"):
        datasets.load(name, cache=tmp_path)


def test_unknown_names_are_refused() -> None:
    for name in ("webdocs", "", None):
        with pytest.raises(ParameterError, match="are T40I10D100K, BMS-POS, Kosarak; "):
            datasets.load(name)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="https:// or http://"):
        Source(url="file:///etc/passwd")


def test_the_cache_is_where_the_system_has_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("USERPROFILE", "/home/ann")
    for environment, platform, expected in [
        ({"XDG_CACHE_HOME": "/x"}, "linux", "/x/topgap"),
        ({"XDG_CACHE_HOME": "x"}, "linux", "/home/ann/.cache/topgap"),
        ({}, "linux", "/home/ann/.cache/topgap"),
        ({"XDG_CACHE_HOME": "/x"}, "darwin", "/home/ann/Library/Caches/topgap"),
        ({"LOCALAPPDATA": "/l"}, "win32", "/l/topgap"),
        ({}, "win32", "/home/ann/AppData/Local/topgap"),
        ({"TOPGAP_DATA": "~/d", "XDG_CACHE_HOME": "/x"}, "linux", "/home/ann/d"),
    ]:
        given: Mapping[str, str] = environment
        assert data_folder(given, platform).as_posix() == expected
    monkeypatch.setenv("TOPGAP_DATA", str(tmp_path))
    assert datasets.data_folder() == tmp_path
    assert datasets.find("Kosarak") is None
    (tmp_path / "kosarak.dat.gz").touch()
    assert datasets.find("Kosarak") == tmp_path / "kosarak.dat.gz"


def test_the_cache_is_searched_by_name_and_the_whole_data_set_comes_first(tmp_path: Path) -> None:
    entry = SMALL["Small-Set"]
    assert find_in(tmp_path / "none", entry) is None
    for name in [
        "small-set.counts.csv",
        ".Small-Set.dat.x.part",
        "Small-Set.dat.part",
        "small.dat",
    ]:
        (tmp_path / name).touch()
    assert find_in(tmp_path, entry) is None
    for name in [
        "SMALL-SET.csv",
        "small-set_sequences.txt.gz",
        "small-set.DAT.gz",
        "Small-Set.dat",
    ]:
        (tmp_path / name).touch()
        assert find_in(tmp_path, entry) == tmp_path / name
    written(tmp_path, "Small-Set.dat", TEXT)
    assert loading.load("small-set", cache=tmp_path, catalogue=SMALL).verified


def test_forms_by_name() -> None:
    pos = CATALOGUE["BMS-POS"]
    names = ["BMS-POS.dat", "BMS-POS.dat.gz", "x.csv", "x.counts.csv.gz", "x_Sequences.txt", "x"]
    assert [guess_form(Path(name), pos) for name in names] == [
        "pairs", "pairs", "commas", "counts", "spmf", "pairs",
    ]  # fmt: skip


@pytest.mark.slow
def test_the_public_t40i10d100k_is_what_it_should_be() -> None:
    file, counts = public_file("t40i10d100k.dat.gz"), public_file("t40i10d100k.counts.csv")
    found = datasets.load("t40i10d100k", cache=file.parent)
    assert found.path.name == "t40i10d100k.dat.gz"
    assert (found.records, found.items, found.verified) == (100_000, 942, True)
    ready = datasets.load("T40I10D100K", counts)
    assert [*found.counts.items()] == [*ready.counts.items()]


def test_counts_pass_for_kosarak_and_a_part_does_not_pass_for_bms_pos() -> None:
    assert datasets.load("Kosarak", public_file("kosarak.counts.csv")).records is None
    part = public_file("bms-pos.partial-275k.counts.csv")
    with pytest.raises(DatasetError, match=r"is not BMS-POS, .* it has 1,515 items"):
        datasets.load("BMS-POS", part)
