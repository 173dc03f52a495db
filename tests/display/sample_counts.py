"""Releases with a threshold and exponential noise: cut ones with counts, and those without."""

from typing import Any

from tests.display.sample_releases import ATTACK, HOSTILE, VISITS
from topgap import Release, TopK

FEW = TopK(5, 1, monotonic=True, threshold=500)
"""Noise of mean 5: gaps below about 15 are uncertain."""
REACHED = Release(FEW, None, [1250, 43, 207], ["flu", "cold", "<b>&"])
LAST_PLACE = Release(FEW, None, [1250, 430, 1507, 333], ["flu", "cold", "gout", "mumps"])
FULL = Release(FEW, None, [900, 20, 310, 400, 5], ["flu", "cold", "gout", "mumps", "pox"])
NONE = Release(FEW, None, [], [])
ONE = Release(FEW, None, [5003], ["flu"])
NAMES = Release(FEW, None, None, ["flu", "cold"])


def reached(k: int, gaps: list[int], items: Any = None, **more: Any) -> Release:
    """The release of these items, of at most k, with a threshold that ended the list."""
    marks = {name: more.pop(name) for name in ("domain", "domain_from_data") if name in more}
    indices = None if items is not None else range(3, 3 + len(gaps))
    return Release(TopK(k, 1, **{"threshold": 500, **more}), indices, gaps, items, **marks)


COUNTED = {
    "cut": REACHED,
    "the threshold is the last": LAST_PLACE,
    "none": NONE,
    "one winner": ONE,
    "below 0": reached(3, [30, 700], ["flu", "cold"], threshold=-700),
    "positions": reached(4, [100, 37], resolution="1/3", threshold="1/7"),
    "hostile": reached(99, [*range(100, 900, 100)], HOSTILE.items),
    "an attack": reached(2, [9], [(ATTACK, 1)]),
    "tuples": reached(
        9, [300], VISITS.items[:1], domain=VISITS.domain, domain_from_data=True
    ),
    "gigantic": reached(9, [3 * 10**400, 10**400], ["a", "b"]),
    "gigantic noise": reached(2, [10**401], ["a"], sensitivity=10**400),
    "a gigantic threshold": reached(2, [5], ["a"], threshold=-(10**400)),
    "a thousand": reached(2000, [200] * 1000, [f"item {rank}" for rank in range(1000)]),
}  # fmt: skip
"""Releases that have counts."""
UNCOUNTED = {"full": FULL, "names": NAMES}
"""With a threshold, and without counts."""
