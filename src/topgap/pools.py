"""The items that can still win, with their noisy answers: how pools are cut, and how one is ranked.

A *value* is a noisy answer rounded down to the grid on which noise is drawn: 2^refinement of its
units make a step of the resolution. A *pool* of some items holds their values but for those that
have k + 1 larger ones above them, which can neither win nor come next.

So pools of disjoint items, put together, are a pool of all of these, in whatever order that is
done; and a pool stays one if all below its (k+1)-th largest value are cut off.
"""

from itertools import pairwise
from typing import Any, NamedTuple

from topgap.reference.samplers import Sampler


class Pool(NamedTuple):
    """The values, and whose they are, one beside the other."""

    values: list[int]
    items: list[Any]


def cut(pool: Pool, needed: int) -> Pool:
    """Every value that is at least the `needed`-th largest: that many, and what ties with it.

    >>> cut(Pool([5, 9, 2, 5], ["ash", "elm", "fir", "oak"]), 2)
    Pool(values=[5, 9, 5], items=['ash', 'elm', 'oak'])
    """
    if len(pool.values) <= needed:
        return pool
    least = sorted(pool.values)[-needed]
    kept = [i for i, value in enumerate(pool.values) if value >= least]
    return Pool([pool.values[i] for i in kept], [pool.items[i] for i in kept])


def rank(pool: Pool, k: int, refinement: int, sampler: Sampler) -> tuple[list[Any], list[int]]:
    """The k items with the largest noisy answers, and the lead of each over the next, in steps.

    The real noisy answers are the values plus remainders below one. These are independent of the
    values and all alike, so their order is a uniform one, and nothing else of them matters: the
    same order breaks ties and corrects the gaps (docs/paper.md, "One order is enough").

    >>> rank(Pool([2**32, 2**30], ["ash", "oak"]), 1, 20, Sampler())[0]
    ['ash']
    """
    values, items = pool
    order = sampler.shuffle(len(values))
    ranked = sorted(zip(values, order, items, strict=True), key=_key, reverse=True)[: k + 1]
    gaps = [
        (value - next_value - (remainder < next_remainder)) >> refinement
        for (value, remainder, _), (next_value, next_remainder, _) in pairwise(ranked)
    ]
    return [item for _, _, item in ranked[:k]], gaps


def _key(ranked: tuple[int, int, Any]) -> tuple[int, int]:
    value, remainder, _ = ranked
    return value, remainder
