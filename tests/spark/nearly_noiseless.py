"""Releases with hardly any noise, which say what was counted."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

from topgap import Release

CERTAIN = 10**6
"""An ε with which noise reaches a step of 1/10 with a chance of e^−2000 or so at these k."""


def is_about(release: Release, expected: dict[Any, int]) -> bool:
    """Whether, with hardly any noise, these are the winners and the gaps between their counts."""
    ranked = sorted(expected, key=lambda item: -expected[item])
    gaps = [expected[a] - expected[b] for a, b in pairwise(ranked)]
    released = release.gaps or ()
    off = [gap - found for gap, found in zip(gaps, released, strict=False)]
    return release.items == tuple(ranked[: len(release)]) and {*off} <= {0, Fraction(1, 10)}
