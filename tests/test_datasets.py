"""Public data sets: files in all their forms, what is refused, and what goes by a known name."""

import gzip
import io
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from hashlib import sha1, sha256
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import pytest

from checking.mutants import Mutant, mutated
from topgap import DatasetError, ParameterError, datasets, top_k
from topgap.datasets import CATALOGUE, Entry, Quest, Source, baskets, content, fimi, loading
from topgap.datasets import dataset as dataset_module
from topgap.datasets.folders import data_folder, find_in, form_by_name

SHARED = Path(__file__).parents[2] / "shared" / "data"
HERE = pytest.mark.skipif(not SHARED.exists(), reason="the public files are not at hand")

READ: list[tuple[fimi.Form, bytes, list[list[int]]]] = [
    ("fimi", b"", []),
    ("fimi", b"7 3\n12", [[7, 3], [12]]),
    ("fimi", b" 7\t 3 \t\n12 \n", [[7, 3], [12]]),
    ("fimi", b"7 3\r\n12\r\n", [[7, 3], [12]]),
    ("fimi", b"7 3 7 07\n", [[7, 3]]),
    ("fimi", b"7\n\n \n3\n", [[7], [], [], [3]]),
    ("fimi", b"999999999999999999\n", [[10**18 - 1]]),
    ("commas", b"7,3,\n12\n\n3, 7 ,3\r\n", [[7, 3], [12], [], [3, 7]]),
    ("spmf", b"7 -1 3 -1 7 -1 -2\n-2\r\n12 -1 -2\n", [[7, 3], [], [12]]),
    ("pairs", b"1\t7\n1\t3\n1\t7\n\n5 12\r\n2\t3\n\n", [[7, 3], [12], [3]]),
    ("pairs", b"", []),
]
REFUSED: list[tuple[fimi.Form, bytes, str]] = [
    ("fimi", b"7\n3 x\n", "Line 2 of the open file has 'x' where a whole number from 0 "),
    ("fimi", b"7 -3\n", "has '-3' where"),
    ("fimi", b"1_0\n", "has '1_0' where"),
    ("fimi", b"+1\n", "has '+1' where"),
    ("fimi", b"7.0\n", "has '7.0' where"),
    ("fimi", "٣\n".encode(), "where a whole number"),
    ("fimi", b"\xef\xbb\xbf7\n", "where a whole number"),
    ("fimi", b"1" * 19, "of at most 18 digits"),
    ("fimi", b"7,3\n", "has '7,3' where"),
    ("fimi", b"7 -1 3 -1 -2\n", "has '-1' where"),
    ("fimi", b"7 3\r12\r", "Line 1 of the open file has a carriage return inside"),
    ("fimi", b"7\n" + b"3 " * (1 << 20) + b"3\n", "Line 2 of the open file is longer than"),
    ("commas", b"7;3\n", "has '7;3' where"),
    ("spmf", b"7 -1 -2\n7 3\n", "Line 2 of the open file does not end in -2"),
    ("spmf", b"7 -1 -2\n\n", "Line 2 of the open file does not end in -2"),
    ("spmf", b"7 -1 -2 -2\n", "has '-2' where"),
    ("pairs", b"1 2 3\n", "Line 1 of the open file is no pair"),
    ("pairs", b"1\n", "is no pair"),
    ("pairs", b"x 1\n", "has 'x' where"),
    ("pairs", b"1 2\n2 2\n1 3\n", "Line 3 of the open file goes back to a transaction"),
]


def read_by(fimi: Any, content: Any, form: fimi.Form, given: bytes) -> list[list[int]]:
    with content.unpacked(io.BytesIO(given)) as found:
        return list(fimi.parsed(found, form))


def outcome(fimi: Any, content: Any, form: fimi.Form, given: bytes) -> Any:
    """The transactions, or what the error says."""
    try:
        return read_by(fimi, content, form, given)
    except (DatasetError, ValueError) as error:
        return str(error)


def wrongs(fimi: Any = fimi, content: Any = content) -> list[Any]:
    """The cases of both tables that come out otherwise; those to be read are tried packed, too."""
    read = [
        (form, given)
        for form, given, expected in READ
        for packed in (given, gzip.compress(given, 1))
        if outcome(fimi, content, form, packed) != expected
    ]
    refused = [
        (form, given[:20])
        for form, given, message in REFUSED
        if message not in (found := outcome(fimi, content, form, given)) or found[-1] != "."
    ]
    return read + refused


def test_all_forms_are_read_and_all_else_is_refused() -> None:
    assert wrongs() == []


FIMI_MUTANTS = [
    Mutant("repeats stay", "dict.fromkeys(map(number, line.split()))", "map(number, line.split())"),
    Mutant("empty lines are nobody", "in lines:", "in filter(bytes.strip, lines):"),
    Mutant("signs are read", "not token.isdigit() or", "False or"),
    Mutant("items of any length", "or len(token) > _MOST_DIGITS", ""),
    Mutant("commas stay", 'line.replace(b",", b" ")', "line"),
    Mutant("the end is not looked at", 'if last != b"-2":', "if False:"),
    Mutant("marks are items", ' if token != b"-1")', ")"),
    Mutant("a transaction may come back", "if transaction in ended:", "if False:"),
    Mutant("the last transaction is lost", "\n    if basket:", "\n    if False:"),
    Mutant("wide lines are pairs", "if len(tokens) != 2:", "if len(tokens) < 2:"),
]  # fmt: skip
CONTENT_MUTANTS = [
    Mutant("packed files are text", "if first == _GZIP else whole", "if False else whole"),
    Mutant("the first bytes are lost", "file, label), first)", "file, label))"),
    Mutant("lines of any length", "if len(line) > LONGEST_LINE:", "if False:"),
    Mutant("lines are cut", "raise self.refused(f\"is longer", "self.refused(f\"is longer"),
    Mutant("carriage returns are spaces", 'if b"\\r" in line and', "if False and"),
    Mutant("Windows is refused", 'line.rstrip(b"\\r\\n")', "line"),
    Mutant("lines are numbered from 0", "self.line += 1", "self.line += self.line > 0"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", FIMI_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_reader_is_found(mutant: Mutant) -> None:
    assert wrongs(fimi=mutated(fimi, mutant))


@pytest.mark.parametrize("mutant", CONTENT_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_unpacking_is_found(mutant: Mutant) -> None:
    assert wrongs(content=mutated(content, mutant))


class Trickle(io.RawIOBase):
    """A file that gives one byte at a time, has no name, and cannot go back."""

    def __init__(self, given: bytes) -> None:
        self._given = iter(given)

    def read(self, size: int = -1) -> bytes:
        assert size > 0
        return bytes(islice(self._given, 1))


def test_open_files_are_read_from_where_they_stand_and_left_open() -> None:
    packed = gzip.compress(b"7 3\n12\n")
    assert list(datasets.transactions(cast(IO[bytes], Trickle(packed)))) == [[7, 3], [12]]
    file = io.BytesIO(b"heading\n7\n")
    file.readline()
    assert list(datasets.transactions(file)) == [[7]]
    assert not file.closed


@pytest.mark.parametrize("size", [1, 9, 12, 22, 30])
def test_a_packed_file_that_is_cut_short_is_refused(size: int, tmp_path: Path) -> None:
    path = tmp_path / "three.dat"
    path.write_bytes(gzip.compress(b"7 3 12 99 1234\n" * 9)[:size])
    with pytest.raises(DatasetError, match=r"three\.dat (holds is damaged|has )"):
        list(datasets.transactions(path))


def test_a_packed_file_with_a_wrong_byte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "three.dat"
    packed = bytearray(gzip.compress(b"".join(b"%d " % (i * i) for i in range(900))))
    for at in (12, len(packed) // 2, len(packed) - 6):
        packed[at] ^= 1
        path.write_bytes(packed)
        with pytest.raises(DatasetError, match=r"three\.dat holds is damaged, or cut short\.$"):
            list(datasets.transactions(path))
        packed[at] ^= 1


def test_what_cannot_be_read_is_told_in_a_sentence(tmp_path: Path) -> None:
    closed = io.BytesIO()
    closed.close()
    for source, message in [
        (tmp_path / "none.dat", "Reading none.dat failed: No such file or directory."),
        (tmp_path, f"Reading {tmp_path.name} failed: "),
        ("nul\0.dat", "failed: it is no file that is open for reading."),
        (closed, "Reading the open file failed: it is no file"),
        (io.StringIO("7\n"), "A file must be open for reading bytes."),
        (7, "Reading the open file failed: it is no file"),
    ]:
        with pytest.raises(DatasetError) as caught:
            list(datasets.transactions(source))  # type: ignore[arg-type]
        assert message in str(caught.value)
    with pytest.raises(ParameterError, match="one of fimi, commas, spmf, pairs"):
        datasets.transactions(io.BytesIO(), form="dat")  # type: ignore[arg-type]


def test_transactions_come_one_by_one() -> None:
    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            return b"7 3\n" * (size // 4)

    endless = datasets.transactions(cast(IO[bytes], Endless()))
    assert [*islice(endless, 3)] == [[7, 3]] * 3


def test_made_up_baskets_are_read_as_they_were_written(tmp_path: Path) -> None:
    made = list(baskets(Quest(transactions=200), seed=1))
    datasets.write(tmp_path / "made.dat", made)
    read = datasets.read(tmp_path / "made.dat")
    assert list(read.transactions()) == made
    assert read.records == 200
    assert [*read.counts] == sorted({item for basket in made for item in basket})
    assert all(n == sum(item in basket for basket in made) for item, n in read.counts.items())
    assert not read.verified


TEXT = b"7 3\n12 3\n\n3\n"
SMALL = {
    "Small-Set": Entry(
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
        ("a.dat", None, gzip.compress(TEXT), True),
        ("a.dat", None, TEXT.replace(b"\n", b"\r\n"), False),
        ("a.csv", None, TEXT.replace(b" ", b","), False),
        ("a.CSV.gz", None, gzip.compress(TEXT.replace(b" ", b",")), False),
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
    with pytest.raises(DatasetError, match=r"^a\.counts\.csv has counts alone"):
        found.transactions()
    with pytest.raises(DatasetError, match="form counts it has 2 items; give its form"):
        load(written(tmp_path, "b.counts.csv", b"12,1\n3,3\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"3,3\n3,4\n", "Line 2 of a.csv has an item that has been there before"),
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
        Mutant("nothing is verified", "checksum is not None and agrees(sums, checksum)", "True"),
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
    with content.unpacked(io.BytesIO(gzip.compress(TEXT))) as found:
        assert b"".join(found.blocks()) == TEXT
        assert found.sums() == sums
    assert dataset_module.agrees(sums, f"sha1:{sums['sha1']}")
    assert not dataset_module.agrees(sums, f"sha1:{sums['sha256']}")


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
    assert [form_by_name(Path(name), pos) for name in names] == [
        "pairs", "pairs", "commas", "counts", "spmf", "pairs",
    ]  # fmt: skip


@HERE
def test_the_public_t40i10d100k_is_what_it_should_be() -> None:
    found = datasets.load("t40i10d100k", cache=SHARED)
    assert found.path.name == "t40i10d100k.dat.gz"
    assert (found.records, found.items, found.verified) == (100_000, 942, True)
    ready = datasets.load("T40I10D100K", SHARED / "t40i10d100k.counts.csv")
    assert [*found.counts.items()] == [*ready.counts.items()]


@HERE
def test_counts_pass_for_kosarak_and_a_part_does_not_pass_for_bms_pos() -> None:
    assert datasets.load("Kosarak", SHARED / "kosarak.counts.csv").records is None
    with pytest.raises(DatasetError, match=r"is not BMS-POS, .* it has 1,515 items"):
        datasets.load("BMS-POS", SHARED / "bms-pos.partial-275k.counts.csv")
