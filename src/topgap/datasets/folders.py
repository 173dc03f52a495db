"""Where data sets lie on this computer, and what form a file there has by its name."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from topgap.datasets.catalogue import CatalogueEntry
from topgap.datasets.dataset import AnyForm

_FORMS: tuple[tuple[str, AnyForm], ...] = (
    (".counts.csv", "counts"),
    (".csv", "commas"),
    ("_sequences.txt", "spmf"),
)
_SOUGHT = (".dat", "_sequences.txt", ".csv")


def data_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The folder for data sets: `TOPGAP_DATA` if that is set, else one in the user's cache.

    Which that is depends on the system: `XDG_CACHE_HOME` or `~/.cache` on Linux and its like,
    `~/Library/Caches` on macOS, `LOCALAPPDATA` on Windows. The folder need not be there yet.

    >>> data_folder({"TOPGAP_DATA": "/data"}).as_posix()
    '/data'
    >>> data_folder({"XDG_CACHE_HOME": "/home/ann/.cache"}, "linux").as_posix()
    '/home/ann/.cache/topgap'
    """
    if given := environment.get("TOPGAP_DATA"):
        return Path(given).expanduser()
    if platform == "win32":
        base = environment.get("LOCALAPPDATA") or "~/AppData/Local"
    elif platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = environment.get("XDG_CACHE_HOME", "")
        if not base.startswith("/"):  # then it is to be ignored, by the XDG specification
            base = "~/.cache"
    return Path(base).expanduser() / "topgap"


def find_in(folder: Path, entry: CatalogueEntry) -> Path | None:
    """The file of a data set in a folder, or None.

    It is called as the data set is, in capitals or not, and ends in `.dat`, `_sequences.txt` or
    `.csv`, with or without `.gz`. Precomputed counts are not sought: they are less than the
    data set.
    """
    try:
        there = {each.name.casefold(): each for each in folder.iterdir()}
    except OSError:
        return None
    names = (f"{entry.name}{end}{packed}" for end in _SOUGHT for packed in ("", ".gz"))
    return next((there[name.casefold()] for name in names if name.casefold() in there), None)


def guess_form(path: Path, entry: CatalogueEntry) -> AnyForm:
    """The form that a file of this name has, as far as names go.

    Precomputed counts end in `.counts.csv`, transactions with commas in `.csv`, and those of the
    SPMF library in `_sequences.txt`. All others have the form in which the data set is downloaded.
    """
    name = path.name.casefold().removesuffix(".gz")
    return next((form for end, form in _FORMS if name.endswith(end)), entry.form)
