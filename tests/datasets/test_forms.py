"""Public files of transactions: all their forms are read, and all else is refused."""

import gzip
import io
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import pytest

from tests.checking.mutants import Mutant, mutated
from topgap import DatasetError, ParameterError, datasets
from topgap.datasets import Quest, baskets, content, fimi

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
    ("pairs", b"1 2 3\n", "Line 1 of the open file is not a pair"),
    ("pairs", b"1\n", "is not a pair"),
    ("pairs", b"x 1\n", "has 'x' where"),
    ("pairs", b"1 2\n2 2\n1 3\n", "Line 3 of the open file goes back to a transaction"),
]


def read_by(fimi: Any, content: Any, form: fimi.Form, given: bytes) -> list[list[int]]:
    with content.open_unpacked(io.BytesIO(given)) as found:
        return list(fimi.parse_transactions(found, form))


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
        for packed in (given, gzip.compress(given, 1, mtime=0))
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
    Mutant("lines are cut", "raise self.line_error(f\"is longer", "self.line_error(f\"is longer"),
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
    packed = gzip.compress(b"7 3\n12\n", mtime=0)
    assert list(datasets.transactions(cast(IO[bytes], Trickle(packed)))) == [[7, 3], [12]]
    file = io.BytesIO(b"heading\n7\n")
    file.readline()
    assert list(datasets.transactions(file)) == [[7]]
    assert not file.closed


@pytest.mark.parametrize("size", [1, 9, 12, 22, 30])
def test_a_packed_file_that_is_cut_short_is_refused(size: int, tmp_path: Path) -> None:
    path = tmp_path / "three.dat"
    path.write_bytes(gzip.compress(b"7 3 12 99 1234\n" * 9, mtime=0)[:size])
    with pytest.raises(DatasetError, match=r"three\.dat (holds is damaged|has )"):
        list(datasets.transactions(path))


def test_a_packed_file_with_a_wrong_byte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "three.dat"
    packed = bytearray(gzip.compress(b"".join(b"%d " % (i * i) for i in range(900))))
    for at in (12, len(packed) // 2, len(packed) - 6):
        packed[at] ^= 1
        path.write_bytes(packed)
        with pytest.raises(DatasetError, match=r"three\.dat holds is damaged or incomplete\.$"):
            list(datasets.transactions(path))
        packed[at] ^= 1


def test_what_cannot_be_read_is_told_in_a_sentence(tmp_path: Path) -> None:
    closed = io.BytesIO()
    closed.close()
    for source, message in [
        (tmp_path / "none.dat", "Reading none.dat failed: No such file or directory."),
        (tmp_path, f"Reading {tmp_path.name} failed: "),
        ("nul\0.dat", "failed: it is not a file that is open for reading."),
        (closed, "Reading the open file failed: it is not a file"),
        (io.StringIO("7\n"), "A file must be open for reading bytes."),
        (7, "Reading the open file failed: it is not a file"),
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
