"""The counts that are measured on: real ones where they are, else a Zipf law of the same size.

A whole data set counts before anything else, if `topgap.datasets` finds it on this computer: in the
folder that TOPGAP_DATA names, or in the user's cache. Nothing is downloaded here. After it come the
counts in ../shared/data, if that is there. Of BMS-POS those are a part, which is why it is asked
for by that name. Those of Kosarak count occurrences: a few persons have an item twice.
"""

from functools import cache
from pathlib import Path

import numpy as np

from topgap import datasets

SHARED = Path(__file__).parents[2] / "shared" / "data"
REAL = {
    "Kosarak": ("kosarak.counts.csv", 41_270),
    "part of BMS-POS": ("bms-pos.partial-275k.counts.csv", 1_515),
    "T40I10D100K": ("t40i10d100k.counts.csv", 942),
}
Counts = np.ndarray[tuple[int], np.dtype[np.int64]]


def load(name: str) -> tuple[str, Counts]:
    """The counts of a data set in random order, and what they are."""
    file, n = REAL[name]
    whole = name.removeprefix("part of ")
    if datasets.find(whole) is not None:
        return whole, _shuffled(_counted(whole))
    path = SHARED / file
    if not path.exists():
        return f"Zipf like {name}", zipf(n)
    return name, _shuffled([int(line.split(",")[1]) for line in path.read_text().splitlines()])


def zipf(n: int) -> Counts:
    """Counts that fall as one over the rank, in random order."""
    ranks = np.random.default_rng(1).permutation(n) + 1
    counts: Counts = (15 * n) // ranks
    return counts


@cache  # counting takes seconds, and some ask often
def _counted(name: str) -> list[int]:
    return [*datasets.load(name).counts.values()]


def _shuffled(counts: list[int]) -> Counts:
    return np.random.default_rng(1).permutation(np.array(counts))
