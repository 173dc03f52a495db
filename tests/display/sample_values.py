"""Releases with values to show: an everyday one, cut ones, and those that are hardest to show."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from tests.display.sample_releases import ATTACK, HOSTILE, VISITS
from topgap import Release, TopK


def valued(
    parameters: TopK, values: list[int], end: int, items: Sequence[Any] | None = None, **marks: Any
) -> Release:
    """The release of these values, in steps, of which the last is ahead of `end`."""
    gaps = [above - below for above, below in pairwise([*values, end])]
    indices = None if items is not None else range(3, 3 + len(values))
    return Release(parameters, indices, gaps, items, value_units=values, **marks)


FEW = TopK(4, 1, items_per_person=2, monotonic=True)
"""Laplace noise of scale 2: gaps below 9 are uncertain."""
CUT = TopK(None, 1, items_per_person=2, monotonic=True, threshold=50)
AT_MOST_TWO = TopK(2, 1, items_per_person=1, monotonic=True, threshold=50)
_SMALL = TopK(2, 1, items_per_person=1, monotonic=True)

DIAGNOSES = valued(FEW, [97, 57, 54, 45], 40, ["flu", "cold", "gout", "<b>&"])
REACHED = valued(CUT, [97, 57, 54], 50, ["flu", "cold", "gout"])
EMPTY = valued(CUT, [], 50, [])
ONE = valued(CUT, [83], 50, ["flu"])
FULL = valued(AT_MOST_TWO, [97, 80], 60, ["flu", "cold"])

VALUED = {
    "everyday": DIAGNOSES,
    "cut": REACHED,
    "empty": EMPTY,
    "one winner": ONE,
    "as many as k": FULL,
    "below 0": valued(_SMALL, [-3, -50], -70, ["flu", "cold"]),
    "positions": valued(TopK(2, 1, items_per_person=1, resolution="1/3"), [100, 37], 7),
    "hostile": valued(
        TopK(8, 1, items_per_person=7), [*range(900, 100, -100)], 0, HOSTILE.items
    ),
    "an attack": valued(TopK(1, 1, items_per_person=1, noise="laplace"), [9], 3, [(ATTACK, 1)]),
    "tuples": valued(
        TopK(3, 1, items_per_person=2), [300, 200, 90], 2, VISITS.items, domain=VISITS.domain
    ),
    "tuples, cut": valued(
        TopK(3, 1, items_per_person=2, threshold=60), [300], 60, VISITS.items[:1],
        domain=VISITS.domain, domain_from_data=True,
    ),
    "gigantic": valued(_SMALL, [4 * 10**400, 10**400], 0, ["a", "b"]),
    "gigantic noise": valued(
        TopK(2, 1, items_per_person=1, sensitivity=10**400), [10**401, 5], -(10**400), ["a", "b"]
    ),
    "a gigantic threshold": valued(
        TopK(2, 1, items_per_person=1, threshold=-(10**400)), [5], -(10**400), ["a"]
    ),
    "a thousand": valued(
        TopK(1000, 1, items_per_person=9), [*range(20_000, 0, -20)], -50,
        [f"item {rank}" for rank in range(1000)],
    ),
}  # fmt: skip
