"""Made-up shopping baskets, by the Quest generator of Agrawal and Srikant.

The description is section 2.4.3 of "Fast Algorithms for Mining Association Rules" (VLDB 1994).
There are *patterns*, sets of items that tend to be bought together. A basket gets a size, and
patterns are put in until it is full, each without some of its items.

Some things are left open there, or are different in the public file T40I10D100K. They are settled
here so that the public file looks like one more seed; `benchmarks.statistics.quest` measures it:

- Items are "picked at random", but not equally likely: 58 of the 1,000 are in no basket of the
  file. Each has a weight here, exponential with mean 1, unless `equal_items` is set.
- The size of a basket counts different items. But a pattern fits if all that is left of it would
  fit, whether or not some of it is there already: this makes the mean 39.6 and not 40.
- The pattern that does not fit is the basket's last. If it is put in anyway, it is not cut. An
  empty basket takes any pattern, and its size is at least 1: nobody leaves with nothing.
- Correlation and corruption have the mean 0.5 in the paper, and 0.25 in the program of its authors
  unless given (there it is a confidence of 0.75). The file fits 0.25.
"""

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import cos, exp, log, pi, sqrt
from pathlib import Path
from random import Random
from typing import TypeAlias

from topgap.errors import ParameterError, ParameterTypeError
from topgap.numbers.parse import read_flag, read_whole

Uniform: TypeAlias = Callable[[], float]
"""The only source of randomness: a number from 0 to below 1 at each call."""

Pattern: TypeAlias = tuple[list[int], float]
"""Items that tend to be bought together, and the corruption level."""

_PATIENCE = 100
"""So many draws may bring nothing new before a basket or pattern stays smaller than its size.

It ends baskets that no pattern can fill. Others reach their size long before.
"""

_MOST_MEAN = 700  # e to the power of minus this is still a float


def _check(value: float, name: str, *, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterTypeError(f"{name} must be an int or float, not {type(value).__name__}.")
    if not 0 <= value <= most:
        raise ParameterError(f"{name} must be a number from 0 to {most}.")


@dataclass(frozen=True, kw_only=True)
class Quest:
    """What the baskets are like; as in the public file T40I10D100K unless given.

    Attributes:
        transactions: |D|, how many baskets there are.
        mean_size: |T|, the mean of the Poisson law of a basket's size; at least 1 is drawn.
        mean_pattern: |I|, the same for a pattern.
        patterns: |L|, how many patterns there are.
        items: N, how many items there are; they are numbered from 0.
        correlation: The mean of the exponential law of the share of a pattern's items that come
            from the pattern before it; more than all is all.
        corruption: The mean of the normal law of a pattern's corruption level. With the
            probability of its level a pattern drops an item, then another one, and so on.
        corruption_variance: The variance of that law.
        equal_items: Whether all items are equally likely in a pattern.

    Raises:
        ParameterTypeError: A parameter is not a number, or not a whole number where that is needed.
        ParameterError: A parameter is out of range.

    >>> Quest(transactions=10, mean_size=5).items
    1000
    """

    transactions: int = 100_000
    mean_size: float = 40
    mean_pattern: float = 10
    patterns: int = 2_000
    items: int = 1_000
    correlation: float = 0.25
    corruption: float = 0.25
    corruption_variance: float = 0.1
    equal_items: bool = False

    def __post_init__(self) -> None:
        read_whole(self.transactions, "transactions", least=0)
        read_whole(self.patterns, "patterns", least=1)
        read_whole(self.items, "items", least=1)
        read_flag(self.equal_items, "equal_items")
        _check(self.mean_size, "mean_size", most=_MOST_MEAN)
        _check(self.mean_pattern, "mean_pattern", most=_MOST_MEAN)
        for name in ("correlation", "corruption", "corruption_variance"):
            _check(getattr(self, name), name, most=1)


T40I10D100K = Quest()
"""Baskets like those of the public file of this name."""


def baskets(quest: Quest, seed: int) -> Iterator[list[int]]:
    """Make the baskets one by one; the same seed makes the same ones.

    Args:
        quest: What they are like.
        seed: Any whole number that is not negative.

    Returns:
        An iterator over the baskets: the item numbers in each, sorted, none twice. None is empty,
        but where the patterns lose all their items.

    Raises:
        ParameterTypeError: The seed is not a whole number.
        ParameterError: The seed is negative.

    >>> for basket in baskets(Quest(transactions=3, mean_size=5, mean_pattern=2), seed=1):
    ...     print(basket)
    [109, 351, 581, 610, 787, 848, 878, 892, 897, 945, 992]
    [188, 419, 588, 930]
    [96, 217, 256, 817, 874, 993]
    """
    # This makes data, never noise. Of all that `random` has, random() alone is promised to stay
    # the same in later versions of Python, so every law below is made of it.
    uniform = Random(read_whole(seed, "seed", least=0)).random
    draw_size = _make_sizer(quest.mean_size, uniform)
    sizes = (draw_size() for _ in range(quest.transactions))
    return _fill_baskets(sizes, _draw_patterns([*_make_patterns(quest, uniform)], uniform), uniform)


def write(path: str | Path, baskets: Iterable[Iterable[int]]) -> None:
    r"""Write baskets as FIMI text: one basket a line, item numbers with spaces between them.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write(Path(folder, "two.dat"), [[0, 3], [1]])
    ...     Path(folder, "two.dat").read_text()
    '0 3\n1\n'
    """
    with Path(path).open("w", encoding="ascii", newline="\n") as file:
        file.writelines(" ".join(map(str, basket)) + "\n" for basket in baskets)


def _fill_baskets(
    sizes: Iterable[int], drawn: Iterator[list[int]], uniform: Uniform
) -> Iterator[list[int]]:
    """Baskets of these sizes, each filled with what is drawn until the next does not fit."""
    moved: list[int] = []
    for size in sizes:
        basket: set[int] = set()
        for _ in range(size + _PATIENCE):
            if len(basket) >= size:
                break
            pattern = moved or next(drawn)
            moved = []
            fits = len(basket) + len(pattern) <= size
            if fits or not basket or uniform() < 0.5:
                basket.update(pattern)
            else:
                moved = pattern
            if not fits:
                break
        yield sorted(basket)


def _draw_patterns(patterns: list[Pattern], uniform: Uniform) -> Iterator[list[int]]:
    """Patterns without end, drawn by weight, each without the items that it drops."""
    pick = _make_picker([_draw_exponential(uniform) for _ in patterns], uniform)
    while True:
        items, corruption = patterns[pick()]
        kept = items.copy()
        while kept and uniform() < corruption:
            del kept[int(uniform() * len(kept))]
        yield kept


def _make_patterns(quest: Quest, uniform: Uniform) -> Iterator[Pattern]:
    """The patterns; each takes some items from the one before it."""
    weights = [1.0 if quest.equal_items else _draw_exponential(uniform) for _ in range(quest.items)]
    pick = _make_picker(weights, uniform)
    draw_size = _make_sizer(quest.mean_pattern, uniform)
    deviation = sqrt(quest.corruption_variance)
    items: list[int] = []
    for _ in range(quest.patterns):
        size = draw_size()
        share = min(1.0, quest.correlation * _draw_exponential(uniform))
        shuffled = sorted(items, key=lambda _: uniform())
        chosen = set(shuffled[: round(share * size)])
        for _ in range(size + _PATIENCE):
            if len(chosen) >= size:
                break
            chosen.add(pick())
        items = sorted(chosen)
        yield items, quest.corruption + deviation * _draw_normal(uniform)


def _make_picker(weights: list[float], uniform: Uniform) -> Callable[[], int]:
    """What picks a position with probability proportional to its weight, at each call."""
    added_up = list(accumulate(weights))
    total, last = added_up[-1], len(weights) - 1
    return lambda: bisect(added_up, uniform() * total, 0, last)


def _make_sizer(mean: float, uniform: Uniform) -> Callable[[], int]:
    """What draws a size at each call: from the Poisson law of this mean, but at least 1."""
    added_up = []
    total, term = 0.0, exp(-mean)
    while total + term > total:  # so far as floats can tell
        total += term
        added_up.append(total)
        term *= mean / len(added_up)
    return lambda: max(1, bisect(added_up, uniform()))


def _draw_exponential(uniform: Uniform) -> float:
    """An exponential number with mean 1, by inversion."""
    return -log(1 - uniform())


def _draw_normal(uniform: Uniform) -> float:
    """A normal number with mean 0 and variance 1, by the method of Box and Muller."""
    return sqrt(2 * _draw_exponential(uniform)) * cos(2 * pi * uniform())
