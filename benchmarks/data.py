"""The counts that are measured on: real ones where they are, else made-up ones of about that size.

A whole data set counts before anything else, if `topgap.datasets` finds it on this computer: in the
folder that TOPGAP_DATA names, or in the user's cache, with the checksum that is known for it.
Nothing is downloaded here. After it come the counts in ../shared/data, if that is there. Of BMS-POS
those are a part, which is why it is asked for by that name. Those of Kosarak count occurrences: a
few persons have an item twice.
"""

import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np

from topgap import datasets
from topgap.datasets import CATALOGUE, T40I10D100K, Dataset, Quest

SHARED = Path(__file__).parents[2] / "shared" / "data"
FILES = {
    "Kosarak": "kosarak.counts.csv",
    "part of BMS-POS": "bms-pos.partial-275k.counts.csv",
    "T40I10D100K": "t40i10d100k.counts.csv",
}
Counts = np.ndarray[tuple[int], np.dtype[np.int64]]


def load(name: str) -> tuple[str, Counts]:
    """The counts of a data set in random order, and what they are."""
    known = name.removeprefix("part of ")
    dataset = find_whole(known)
    if dataset is not None:
        return known, _shuffled(dataset.counts.values())
    path = SHARED / FILES[name]
    if path.exists():
        lines = path.read_text().splitlines()
        return name, _shuffled(int(line.split(",")[1]) for line in lines)
    if known == "T40I10D100K":  # the public file is made up by this generator, too
        return f"{known}-like by Quest", _shuffled(_made_up(T40I10D100K))
    return f"Zipf like {known}", zipf(CATALOGUE[known].items)


def find_whole(name: str) -> Dataset | None:
    """A whole data set, if it is on this computer and is certain to be it."""
    path = datasets.find(name)
    return None if path is None else _verified(name, path)


def zipf(n: int) -> Counts:
    """Counts that fall as one over the rank, in random order."""
    ranks = np.random.default_rng(1).permutation(n) + 1
    counts: Counts = (15 * n) // ranks
    return counts


@cache  # counting takes seconds, and some ask often
def _verified(name: str, path: Path) -> Dataset | None:
    dataset = datasets.load(name, path)
    if dataset.verified:
        return dataset
    # Its numbers are right, but that does not make it the same data.
    print(f"{path.name} does not have the checksum of {name}, and is not used.", file=sys.stderr)
    return None


@cache
def _made_up(quest: Quest) -> list[int]:
    return [*Counter(chain.from_iterable(datasets.baskets(quest, seed=1))).values()]


def _shuffled(counts: Iterable[int]) -> Counts:
    return np.random.default_rng(1).permutation(np.array([*counts]))
