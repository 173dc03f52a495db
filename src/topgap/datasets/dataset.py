"""A data set that has been read: how many persons there are, and how many have each item."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias

from topgap.datasets.content import Content, open_unpacked
from topgap.datasets.fimi import FORMS, Form, parse_transactions, read_form, transactions
from topgap.display.text import format_path
from topgap.errors import DatasetError, ParameterError

AnyForm: TypeAlias = Form | Literal["counts"]
"""A form of transactions; or precomputed counts, an item, a comma and its count in each line."""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A public data set.

    Attributes:
        name: What it is called.
        records: The number of persons. None for precomputed counts, which do not show it.
        counts: How many persons have each item, in the order of the items' numbers. One person
            moves each by at most 1, and all in the same direction, so that they are monotonic; in
            precomputed counts this is so if whoever made them counted persons, not occurrences.
        path: The file that it was read from.
        form: The form of that file.
        sha256: The SHA-256 of what the file holds, unpacked.
        verified: Whether what it held when it was read has the checksum that is known for this data
            set. Where it has not, numbers alone were checked; of what `read` gives, nothing was.
    """

    name: str
    records: int | None
    counts: dict[int, int] = field(repr=False, hash=False)
    path: Path
    form: AnyForm
    sha256: str
    verified: bool

    @property
    def items(self) -> int:
        """How many items somebody has."""
        return len(self.counts)

    def transactions(self) -> Iterator[list[int]]:
        """The transactions one by one, read from the file again as it is now; nothing is checked.

        Raises:
            DatasetError: There are precomputed counts alone, or the file cannot be read any more.
        """
        if self.form == "counts":
            name = format_path(self.path.name)
            raise DatasetError(f"{name} has only counts, and no transactions.")
        return transactions(self.path, form=self.form)


def read(path: str | os.PathLike[str], *, form: AnyForm = "fimi") -> Dataset:
    r"""Read and count any public file; nothing is known about how it should be.

    Args:
        path: The file. It may be packed by gzip.
        form: What a line is: see `topgap.datasets.fimi`. Or "counts", for lines of an item and its
            count with a comma between.

    Returns:
        What it holds; it is called as the file is.

    Raises:
        ParameterError: There is no such form.
        DatasetError: The file cannot be read, or is of another form.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "three.dat")
    ...     _ = file.write_text("7 3 7\n\n3\n")
    ...     dataset = read(file)
    >>> dataset.records, dataset.items, dataset.counts
    (3, 2, {3: 2, 7: 1})
    """
    return read_as(Path(path), name=Path(path).name, form=form)


def read_as(path: Path, *, name: str, form: AnyForm, checksum: str | None = None) -> Dataset:
    """Read a file under a name; `checksum` is one that is known for it, such as `sha256:…`."""
    if form != "counts" and form not in FORMS:
        raise ParameterError(f"The form of a file must be one of {', '.join(FORMS)}, counts.")
    records: int | None = None
    with open_unpacked(path) as content:
        if form == "counts":
            counts = _read_counts(content)
        else:
            records, counts = _tally(parse_transactions(content, read_form(form)))
        sums = content.checksums()
    return Dataset(
        name=name,
        records=records,
        counts=dict(sorted(counts.items())),
        path=path,
        form=form,
        sha256=sums["sha256"],
        verified=checksum is not None and matches_checksum(sums, checksum),
    )


def matches_checksum(sums: dict[str, str], checksum: str) -> bool:
    """Whether a checksum, written with its algorithm before it, is one of these.

    >>> matches_checksum({"sha1": "b9", "sha256": "b7"}, "sha256:b7")
    True
    """
    algorithm, _, expected = checksum.partition(":")
    return sums[algorithm] == expected


def _tally(transactions: Iterable[list[int]]) -> tuple[int, dict[int, int]]:
    records = 0

    def counted() -> Iterator[list[int]]:
        nonlocal records
        for basket in transactions:
            records += 1
            yield basket

    counts = Counter(chain.from_iterable(counted()))  # in C, hence seconds for millions of items
    return records, counts


def _read_counts(content: Content) -> dict[int, int]:
    counts: dict[int, int] = {}
    for line in content.lines():
        item, _, count = (part.strip() for part in line.partition(b","))
        if not (item.isdigit() and count.isdigit()) or len(item) > 18 or len(count) > 18:
            raise content.line_error("is not an item and its count, as in 7,1200")
        if int(count) == 0:
            raise content.line_error("has a count of 0; leave out items that nobody has")
        if int(item) in counts:
            raise content.line_error("has an item that an earlier line already has")
        counts[int(item)] = int(count)
    return counts
