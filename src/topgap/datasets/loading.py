"""The data sets of the paper by name: from a path, the user's cache, or the network."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from topgap.datasets.catalogue import CATALOGUE, CatalogueEntry, find_entry
from topgap.datasets.dataset import AnyForm, Dataset, read_as
from topgap.datasets.folders import data_folder, find_in, guess_form
from topgap.display.text import format_path
from topgap.errors import DatasetError

if TYPE_CHECKING:
    from topgap.datasets.downloads import Progress


def load(
    name: str,
    path: str | os.PathLike[str] | None = None,
    *,
    form: AnyForm | None = None,
    cache: str | os.PathLike[str] | None = None,
    download: bool = False,
    progress: "Progress | None" = None,
    catalogue: Mapping[str, CatalogueEntry] = CATALOGUE,
) -> Dataset:
    """Load T40I10D100K, BMS-POS or Kosarak.

    A download must have the right checksum. Of a file that you put there yourself only the
    numbers of records and items are checked, which must be those of the paper's first table: there
    are copies in several forms. So it may hold something else with the same numbers; `verified`
    says whether its content is the known one.

    Args:
        name: Which one; capitals, hyphens and spaces do not matter.
        path: The file, if you have it. Else it is sought in the cache.
        form: What a line of the file is: see `topgap.datasets.fimi`. Or "counts", for precomputed
            counts, of which only the number of items is checked. Unless given, it follows from the
            name of the file: `.counts.csv` are precomputed counts, `.csv` is "commas",
            `_sequences.txt` is "spmf", and others have the form in which it is downloaded, which is
            "pairs" for BMS-POS and "fimi" for the rest.
        cache: The folder to look into and to download to; `topgap.datasets.data_folder()` unless
            given.
        download: Whether the network may be asked if the cache does not have it. By downloading
            BMS-POS you accept the terms of the KDD Cup 2000; see docs/datasets.md.
        progress: Called during a download with the number of bytes so far and the total, or None
            for that.
        catalogue: What is known about the data sets.

    Raises:
        ParameterError: There is no data set or form of this name.
        DatasetError: It is not there, cannot be read or downloaded, or has other numbers.
    """
    entry = find_entry(name, catalogue)
    if path is None:
        file = find(name, cache=cache, catalogue=catalogue)
        if file is None:
            folder = _folder(cache)
            if not download:
                raise DatasetError(
                    f"{entry.name} is not in {format_path(folder)}; put it there as {entry.file}, "
                    f"or let it be downloaded (download=True)."
                )
            from topgap.datasets.downloads import fetch  # what it needs takes a while to import

            file = fetch(entry, folder, progress)
    else:
        file = Path(path)
    if form is None:
        form = guess_form(file, entry)
    dataset = read_as(file, name=entry.name, form=form, checksum=entry.checksum)
    _check(dataset, entry)
    return dataset


def find(
    name: str,
    *,
    cache: str | os.PathLike[str] | None = None,
    catalogue: Mapping[str, CatalogueEntry] = CATALOGUE,
) -> Path | None:
    """Where a data set lies on this computer, as far as its name shows; None if it does not.

    Args:
        name: Which one; capitals, hyphens and spaces do not matter.
        cache: The folder to look into; `topgap.datasets.data_folder()` unless given.
        catalogue: What is known about the data sets.

    Raises:
        ParameterError: There is no data set of this name.
    """
    return find_in(_folder(cache), find_entry(name, catalogue))


def _folder(cache: str | os.PathLike[str] | None) -> Path:
    return data_folder() if cache is None else Path(cache)


def _check(dataset: Dataset, entry: CatalogueEntry) -> None:
    """Refuse a file that cannot be the whole data set of this name."""
    # Ready counts do not tell how many records there were.
    records = entry.records if dataset.records is None else dataset.records
    if (records, dataset.items) != (entry.records, entry.items):
        counted = "" if dataset.records is None else f"{dataset.records:,} records and "
        raise DatasetError(
            f"{format_path(dataset.path)} is not {entry.name}, which has {entry.records:,} records "
            f"and {entry.items:,} items: read in the form {dataset.form} it has {counted}"
            f"{dataset.items:,} items; give its form=, or read it by topgap.datasets.read."
        )
