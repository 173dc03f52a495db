"""The counts that are measured on: real ones where they are, else a Zipf law of the same size."""

from pathlib import Path

import numpy as np

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
    path = SHARED / file
    if not path.exists():
        return f"Zipf like {name}", zipf(n)
    counts = [int(line.split(",")[1]) for line in path.read_text().splitlines()]
    return name, np.random.default_rng(1).permutation(np.array(counts))


def zipf(n: int) -> Counts:
    """Counts that fall as one over the rank, in random order."""
    ranks = np.random.default_rng(1).permutation(n) + 1
    counts: Counts = (15 * n) // ranks
    return counts
