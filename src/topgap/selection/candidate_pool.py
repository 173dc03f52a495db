"""The items that can still win, with their noisy answers: how pools are cut, and how one is ranked.

A *value* is a noisy answer rounded down to the grid on which noise is drawn: 2^refinement of its
units make a step of the resolution. A *pool* of some items holds their values but for those that
have k + 1 larger ones above them, which can neither win nor come next.

So pools of disjoint items, put together, are a pool of all of these, in whatever order that is
done; and a pool stays one if all below its (k+1)-th largest value are cut off.
"""

from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from topgap.sampling.sampler import Sampler


class Noisy(NamedTuple):
    """An item and its value."""

    value: int
    item: Any


Pool: TypeAlias = "list[Noisy]"


def cut(pool: Pool, needed: int) -> Pool:
    """Every value that is at least the `needed`-th largest: that many, and what ties with it.

    >>> cut([Noisy(5, "ash"), Noisy(9, "elm"), Noisy(2, "fir"), Noisy(5, "oak")], 2)
    [Noisy(value=5, item='ash'), Noisy(value=9, item='elm'), Noisy(value=5, item='oak')]
    """
    if len(pool) <= needed:
        return pool
    least = sorted(noisy.value for noisy in pool)[-needed]
    return [noisy for noisy in pool if noisy.value >= least]


def rank(pool: Pool, k: int, refinement: int, sampler: Sampler) -> tuple[list[Any], list[int]]:
    """The k items with the largest noisy answers, and the lead of each over the next, in steps.

    The real noisy answers are the values plus remainders below one. These are independent of the
    values and all alike, so their order is a uniform one, and nothing else of them matters: the
    same order breaks ties and corrects the gaps (docs/paper.md, "One order is enough").

    >>> rank([Noisy(2**32, "ash"), Noisy(2**30, "oak")], 1, 20, Sampler())[0]
    ['ash']
    """
    order = sampler.shuffle(len(pool))
    by_size = sorted(range(len(pool)), key=lambda i: (pool[i].value, order[i]), reverse=True)
    gaps = [
        (pool[a].value - pool[b].value - (order[a] < order[b])) >> refinement
        for a, b in pairwise(by_size[: k + 1])
    ]
    return [pool[i].item for i in by_size[:k]], gaps
