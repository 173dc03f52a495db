"""Who has what, and what is left of it if each person may contribute only so much.

topgap counts all that a person has. A threshold needs a bound: of each person's items, or pairs of
items, at most so many are kept, drawn uniformly from that person's own.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, Protocol

import numpy as np

from benchmarks.data import SHARED, Counts, load
from topgap import datasets
from topgap.datasets import T40I10D100K, Quest

AT_ONCE = 2**22
RETAIL_LIKE = Quest(transactions=88_162, mean_size=10, mean_pattern=4, items=16_470)

Array = np.ndarray[Any, np.dtype[np.int64]]


class Data(Protocol):
    """What both sides count.

    Attributes:
        label: What it is, as a table says it.
        bounds: The contribution bounds to try.
        counts: How many persons have each thing; the place in the array is its name.
    """

    @property
    def label(self) -> str: ...
    @property
    def bounds(self) -> tuple[int, ...]: ...
    @property
    def counts(self) -> Counts: ...
    def bounded(self, most: int, generator: np.random.Generator, /) -> Counts:
        """Count again, where each person keeps at most so many."""


@dataclass(frozen=True, eq=False)
class Baskets:
    """Baskets of items; in `pairs`, what is counted are the unordered pairs in them.

    Attributes:
        label: What they are.
        bounds: The contribution bounds to try.
        starts: Where each basket begins in `items`, and where the last one ends.
        items: All baskets one after another, each in rising order; items are numbered from 0.
        pairs: Whether pairs are counted, which have the name lower · number of items + higher.
    """

    label: str
    bounds: tuple[int, ...]
    starts: Array
    items: Array
    pairs: bool = False

    @classmethod
    def of(
        cls,
        label: str,
        baskets: Iterable[Iterable[int]],
        bounds: tuple[int, ...],
        *,
        pairs: bool = False,
    ) -> "Baskets":
        """Number the items anew, so that there are no gaps; a bound that keeps all is added."""
        rows = [sorted(set(basket)) for basket in baskets]
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        items = np.unique(np.array([*chain.from_iterable(rows)]), return_inverse=True)[1]
        all_kept = cls(label, (), starts, items.reshape(-1), pairs).sizes.max()
        kept = (*(bound for bound in bounds if bound < all_kept), int(all_kept))
        return cls(label, kept, starts, items.reshape(-1), pairs)

    @property
    def sizes(self) -> Array:
        """How many things each person has."""
        lengths = np.diff(self.starts)
        return lengths * (lengths - 1) // 2 if self.pairs else lengths

    @property
    def counts(self) -> Counts:
        return self._count(draw_ranks(self.sizes, int(self.sizes.max()), np.random.default_rng()))

    def bounded(self, most: int, generator: np.random.Generator) -> Counts:
        return self._count(draw_ranks(self.sizes, most, generator))

    def _count(self, parts: Iterator[tuple[Array, Array]]) -> Counts:
        width = int(self.items.max()) + 1
        counts: Counts = np.zeros(width * width if self.pairs else width, dtype=np.int64)
        for persons, ranks in parts:
            starts = self.starts[persons]
            if self.pairs:
                high = ((1 + np.sqrt(1 + 8 * ranks)) // 2).astype(np.int64)
                low = ranks - high * (high - 1) // 2
                named = self.items[starts + low] * width + self.items[starts + high]
            else:
                named = self.items[starts + ranks]
            counts += np.bincount(named, minlength=len(counts))
        return counts


@dataclass(frozen=True, eq=False)
class CountsAlone:
    """Counts without the persons behind them: nothing can be kept back, and nothing is.

    This favours who must bound contributions. There is one bound, which sets the noise alone.
    """

    label: str
    bounds: tuple[int]
    counts: Counts

    def bounded(self, _most: int, _generator: np.random.Generator) -> Counts:
        return self.counts


def draw_ranks(
    sizes: Array, most: int, generator: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """Of each person's things 0 … size − 1 draw at most so many, without replacement.

    In parts: an array of persons, and beside it one of what they keep. The things of a person that
    has more are put in random order, and the first of them are kept.
    """
    order = np.argsort(sizes, kind="stable")[np.count_nonzero(sizes == 0) :]
    begin = 0
    while begin < len(order):
        widest = sizes[order[begin:]][: max(1, AT_ONCE // int(sizes[order[begin]]))].max()
        persons = order[begin : begin + max(1, AT_ONCE // int(widest))]
        begin += len(persons)
        own = sizes[persons]
        places = np.arange(own.max())
        if own.max() <= most:
            kept = np.nonzero(places < own[:, None])
            yield persons[kept[0]], kept[1]
            continue
        keys = generator.random((len(persons), len(places)), dtype=np.float32)
        keys[places >= own[:, None]] = 2  # behind all others
        drawn = np.argpartition(keys, most - 1, axis=1)[:, :most]
        row, column = np.nonzero(drawn < own[:, None])
        yield persons[row], drawn[row, column]


@cache
def retail() -> Baskets:
    bounds = 1, 2, 3, 5, 10, 20, 50
    path = SHARED / "retail.dat.gz"
    if path.exists():
        return Baskets.of("Retail", datasets.transactions(path), bounds)
    return Baskets.of("made-up baskets like Retail", datasets.baskets(RETAIL_LIKE, seed=1), bounds)


@cache
def t40() -> Baskets:
    bounds = 1, 2, 3, 5, 10, 20, 50
    path = SHARED / "t40i10d100k.dat.gz"
    if path.exists():
        return Baskets.of("T40I10D100K", datasets.transactions(path), bounds)
    return Baskets.of("T40I10D100K-like", datasets.baskets(T40I10D100K, seed=1), bounds)


@cache
def pairs_of_t40() -> Baskets:
    bounds = 1, 3, 10, 30, 100, 300, 1000
    path = SHARED / "t40i10d100k.dat.gz"
    if path.exists():
        label, baskets = "pairs of T40I10D100K", datasets.transactions(path)
    else:
        label, baskets = "pairs of T40I10D100K-like", datasets.baskets(T40I10D100K, seed=1)
    return Baskets.of(label, baskets, bounds, pairs=True)


def kosarak(bound: int) -> CountsAlone:
    label, counts = load("Kosarak")
    return CountsAlone(f"{label}, nothing clipped, L = {bound}", (bound,), counts)
