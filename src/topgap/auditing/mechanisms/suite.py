"""What the audit's own suite looks at: topgap in all its forms, and what is broken on purpose."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from topgap import reference
from topgap.auditing.cases.default_cases import FULL_CASES, QUICK_CASES
from topgap.auditing.cases.neighbours import Neighbours, ReleaseFunction
from topgap.auditing.results.findings import ShouldBe
from topgap.parameters import TopK
from topgap.release import Release
from topgap.selection.mechanism import top_k
from topgap.selection.selector import Selector


class Mechanism(NamedTuple):
    """A function to be audited.

    Attributes:
        name: Its name.
        what: What it is, in a sentence.
        release: The function.
        gaps: Whether it gives gaps.
        cases: What it is audited on.
        releases: How many releases are made in all.
        should_be: What it must turn out to be.
        law: Whether it is held against the law, too.
        yours: Whether it is a function of a user's.
    """

    name: str
    what: str
    release: ReleaseFunction
    gaps: bool
    cases: tuple[Neighbours, ...]
    releases: int
    should_be: ShouldBe = "private"
    law: bool = True
    yours: bool = False


class OwnMechanism(NamedTuple):
    """One of our own: with the part of all releases that is made by it, and every how many cases.

    The slow ones get little, and nearly all goes to what users call. The steps from case to case
    have no factor in common with 6, so that every ε is met, both ways.
    """

    name: str
    what: str
    release: ReleaseFunction
    share: Fraction
    every: int = 1
    gaps: bool = True
    k: int | None = None


def make_own(releases: int, *, quick: bool) -> tuple[Mechanism, ...]:
    """Our own mechanisms, with so many releases in all, and a few more of the reference."""
    cases = QUICK_CASES if quick else FULL_CASES
    made = []
    for own in OWN_MECHANISMS:
        fitting = [each for each in cases if own.k in (None, each.parameters.k)]
        step = 1 if quick and own.share != _SLOW else own.every
        chosen = tuple(fitting[min(step // 2, len(fitting) - 1) :: step])
        number = max(int(own.share * releases), _FEWEST)
        made.append(Mechanism(own.name, own.what, own.release, own.gaps, chosen, number))
    return tuple(made)


def make_broken(releases: int) -> tuple[Mechanism, ...]:
    """What is broken on purpose, each on the cases that show it, with so many releases each."""
    from topgap.auditing.mechanisms.broken_mechanisms import (
        BROKEN_MECHANISMS,  # which nobody needs who audits a function of theirs
    )

    return tuple(
        Mechanism(
            each.name,
            each.what,
            each.release,
            each.gaps,
            each.shown_on,
            releases,
            "not private" if each.breaks == "privacy" else "of another law",
        )
        for each in BROKEN_MECHANISMS
    )


@lru_cache(maxsize=1024)
def _array(answers: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """As most users have them; the kernel reads it where it lies."""
    return np.array(answers, dtype=np.int64)


_KEYWORDS: dict[int, tuple[TopK, dict[str, Any]]] = {}


def _to_keywords(parameters: TopK) -> dict[str, Any]:
    """The parameters as a user may type them: as text, which is exact.

    They are looked up by their identity, because hashing fractions takes longer than a release.
    """
    known = _KEYWORDS.get(id(parameters))
    if known is None:  # and kept, so that no other one can have the same identity
        known = _KEYWORDS[id(parameters)] = parameters, parameters.to_dict()
    return known[1]


def _top_k(answers: Sequence[int], parameters: TopK) -> Release:
    made: Release = top_k(_array(answers), **_to_keywords(parameters))
    return made


def _top_k_without_gaps(answers: Sequence[int], parameters: TopK) -> Release:
    made: Release = top_k(_array(answers), gaps=False, **_to_keywords(parameters))
    return made


def _constant_work(answers: Sequence[int], parameters: TopK) -> Release:
    made: Release = top_k(_array(answers), constant_work=True, **_to_keywords(parameters))
    return made


def _merged(answers: Sequence[int], parameters: TopK) -> list[tuple[int, Fraction]]:
    """The second half is added first, so that the order of parts is not that of the items."""
    half = len(answers) // 2
    first, second = Selector(parameters), Selector(parameters)
    second.add(_array(answers[half:]), items=range(half, len(answers)))
    first.add(_array(answers[:half]), items=range(half))
    second.merge(first)
    release = second.release()
    return list(zip(release.items, release.gaps or (), strict=True))


def _reference(answers: Sequence[int], parameters: TopK) -> list[tuple[int, Fraction]]:
    return reference.gap_top_k(answers, parameters)


def _reference_pruned(answers: Sequence[int], parameters: TopK) -> list[tuple[int, Fraction]]:
    return reference.gap_top_k_pruned(answers, parameters)


def _reference_without_gaps(answers: Sequence[int], parameters: TopK) -> list[int]:
    return reference.top_k(answers, parameters)


def _reference_max(answers: Sequence[int], parameters: TopK) -> list[int]:
    return [reference.noisy_max(answers, parameters)]


_SLOW = Fraction(1, 250)
_FEWEST = 6_000

# A further way to release is one more line here, with a function above. The shares of what is not
# _SLOW add up to 1.
OWN_MECHANISMS = (
    OwnMechanism("topgap.top_k", "What users call.", _top_k, Fraction(63, 100)),
    OwnMechanism("topgap.top_k, gaps=False", "The winners alone.", _top_k_without_gaps,
        Fraction(25, 100), every=5, gaps=False),
    OwnMechanism("topgap.top_k, constant_work", "The same work for any answers.", _constant_work,
        Fraction(10, 100), every=5),
    OwnMechanism("Selector", "Two parts, merged.", _merged, Fraction(2, 100), every=5),
    OwnMechanism("reference.gap_top_k", "Algorithm 4 of the paper.", _reference, _SLOW, every=7),
    OwnMechanism("reference.gap_top_k_pruned", "The same with pruning.", _reference_pruned,
        _SLOW, every=7),
    OwnMechanism("reference.top_k", "Winners alone, by the paper.", _reference_without_gaps, _SLOW,
        every=7, gaps=False),
    OwnMechanism("reference.noisy_max", "One winner, by the paper.", _reference_max, _SLOW,
        every=5, gaps=False, k=1),
)  # fmt: skip
