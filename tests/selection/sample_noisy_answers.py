"""Answers far apart, of people that have few items, and what a release of them must hold."""

import pickle
from itertools import pairwise
from typing import Any

from tests.selection.sample_selectors import FAR
from topgap import Release

# Noise of scale 6 or less exceeds NEAR with a probability below e^−166.
NEAR = 1000
TREES = {"ash": 3 * FAR, "elm": -FAR, "fir": 0, "oak": 2 * FAR}
FEW: dict[str, Any] = {"monotonic": True, "items_per_person": 1}


def holds(release: Release, items: list[Any], values: list[Any]) -> None:
    """See whether these are the winners, with these answers but for noise, and their own gaps."""
    assert [*release.items] == items
    assert release.values is not None
    assert release.gaps is not None
    assert all(abs(a - b) < NEAR for a, b in zip(release.values, values, strict=True))
    assert [*release.gaps[:-1]] == [a - b for a, b in pairwise(release.values)]
    assert Release.from_json(release.to_json()) == release
    assert pickle.loads(pickle.dumps(release)) == release  # noqa: S301
