"""The mechanisms of `audit()`: topgap in all its forms, and those broken on purpose."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from topgap import reference
from topgap.auditing.cases.default_cases import (
    FEW_ITEMS_CASES,
    FULL_CASES,
    QUICK_CASES,
    QUICK_FEW_ITEMS_CASES,
    QUICK_THRESHOLD_CASES,
    THRESHOLD_CASES,
)
from topgap.auditing.cases.neighbours import Cost, Neighbours, ReleaseFunction
from topgap.auditing.results.findings import ShouldBe
from topgap.parameters import TopK
from topgap.release import Release
from topgap.selection.mechanism import top_k
from topgap.selection.selector import Selector


class Mechanism(NamedTuple):
    """A function to audit, and how.

    Attributes:
        name: Its name.
        what: What it is, in a sentence.
        release: The function.
        gaps: Whether it releases gaps.
        cases: What it is audited on.
        releases: The total number of releases.
        should_be: The expected result.
        law: Whether it is compared with the exact law, too.
        yours: Whether it is a function of the user.
        cost: What it says that an output with so many winners cost.
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
    cost: Cost = TopK.cost


CaseKind = Literal["usual", "few items", "threshold"]


class OwnMechanism(NamedTuple):
    """A mechanism of topgap, its share of all releases, and the step from case to case.

    Nearly all releases go to the functions that users call; slow mechanisms get few. The steps have
    no factor in common with 6, so that every ε occurs, with and without monotonic answers. It is
    audited on the usual cases, on those with a bound on the items of one person, or on those with a
    threshold.
    """

    name: str
    what: str
    release: ReleaseFunction
    share: Fraction
    every: int = 1
    gaps: bool = True
    k: int | None = None
    on: CaseKind = "usual"


def make_own(releases: int, *, quick: bool) -> tuple[Mechanism, ...]:
    """Make the list of our own mechanisms, which share this number of releases.

    The reference implementations get a few releases on top of it.
    """
    made = []
    for own in OWN_MECHANISMS:
        cases = _cases(own.on, quick=quick)
        fitting = [each for each in cases if own.k in (None, each.parameters.k)]
        step = 1 if quick and own.share != _SLOW else own.every
        chosen = tuple(fitting[min(step // 2, len(fitting) - 1) :: step])
        number = max(int(own.share * releases), _FEWEST)
        made.append(Mechanism(own.name, own.what, own.release, own.gaps, chosen, number))
    return tuple(made)


def _cases(on: CaseKind, *, quick: bool) -> tuple[Neighbours, ...]:
    match on:
        case "usual":
            return QUICK_CASES if quick else FULL_CASES
        case "few items":
            return QUICK_FEW_ITEMS_CASES if quick else FEW_ITEMS_CASES
        case "threshold":
            return QUICK_THRESHOLD_CASES if quick else THRESHOLD_CASES


def make_broken(releases: int) -> tuple[Mechanism, ...]:
    """Make the list of broken mechanisms, each with this number of releases on its own cases."""
    # Neither is needed for a user's function.
    from topgap.auditing.mechanisms.broken_laplace import BROKEN_LAPLACE
    from topgap.auditing.mechanisms.broken_mechanisms import BROKEN_MECHANISMS
    from topgap.auditing.mechanisms.broken_threshold import BROKEN_THRESHOLD

    return tuple(
        Mechanism(
            each.name,
            each.what,
            each.release,
            each.gaps,
            each.shown_on,
            releases,
            "of another law" if each.breaks == "law" else "not private",
            cost=each.cost,
        )
        for each in (*BROKEN_MECHANISMS, *BROKEN_LAPLACE, *BROKEN_THRESHOLD)
    )


@lru_cache(maxsize=1024)
def _array(answers: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The answers as most users have them, in an array that the kernel reads without a copy."""
    return np.array(answers, dtype=np.int64)


_KEYWORDS: dict[int, tuple[TopK, dict[str, Any]]] = {}


def _to_keywords(parameters: TopK) -> dict[str, Any]:
    """The parameters as keywords with exact text, as a user may write them.

    The cache uses their identity as a key, because hashing fractions takes longer than a release.
    """
    known = _KEYWORDS.get(id(parameters))
    if known is None:  # the cache keeps it, so no other object gets its identity
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
    release = _merge(answers, parameters)
    return list(zip(release.items, release.gaps or (), strict=True))


def _merged_few_items(
    answers: Sequence[int], parameters: TopK
) -> list[tuple[int, Fraction, Fraction]]:
    release = _merge(answers, parameters)
    return list(zip(release.items, release.gaps or (), release.values or (), strict=True))


def _merge(answers: Sequence[int], parameters: TopK) -> Release:
    """Release from two merged selectors, the second half first: not in the order of the items."""
    half = len(answers) // 2
    first, second = Selector(parameters), Selector(parameters)
    second.add(_array(answers[half:]), items=range(half, len(answers)))
    first.add(_array(answers[:half]), items=range(half))
    second.merge(first)
    return second.release()


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

# A new way to release needs one more line here and a function above. The shares other than _SLOW
# add up to 1.
OWN_MECHANISMS = (
    OwnMechanism("topgap.top_k", "What users call.", _top_k, Fraction(40, 100)),
    OwnMechanism("topgap.top_k, gaps=False", "The winners alone.", _top_k_without_gaps,
        Fraction(25, 100), every=5, gaps=False),
    OwnMechanism("topgap.top_k, constant_work", "The same work for any answers.", _constant_work,
        Fraction(10, 100), every=5),
    OwnMechanism("Selector", "Two parts, merged.", _merged, Fraction(2, 100), every=5),
    OwnMechanism("items_per_person", "topgap.top_k with Laplace noise.", _top_k, Fraction(10, 100),
        on="few items"),
    OwnMechanism("items_per_person, gaps=False", "Its winners alone.", _top_k_without_gaps,
        Fraction(1, 100), every=5, gaps=False, on="few items"),
    OwnMechanism("items_per_person, constant_work", "The same work for any answers.",
        _constant_work, Fraction(1, 100), every=5, on="few items"),
    OwnMechanism("items_per_person, Selector", "Two parts, merged.", _merged_few_items,
        Fraction(1, 100), every=5, on="few items"),
    OwnMechanism("threshold", "topgap.top_k with a threshold.", _top_k, Fraction(7, 100),
        on="threshold"),
    OwnMechanism("threshold, gaps=False", "Its winners alone.", _top_k_without_gaps,
        Fraction(1, 100), every=5, gaps=False, on="threshold"),
    OwnMechanism("threshold, constant_work", "The same work for any answers.", _constant_work,
        Fraction(1, 100), every=5, on="threshold"),
    OwnMechanism("threshold, Selector", "Two parts, merged.", _merged, Fraction(1, 100), every=5,
        on="threshold"),
    OwnMechanism("reference.gap_top_k", "Algorithm 4 of the paper.", _reference, _SLOW, every=7),
    OwnMechanism("reference.gap_top_k_pruned", "The same with pruning.", _reference_pruned,
        _SLOW, every=7),
    OwnMechanism("reference.top_k", "Winners alone, by the paper.", _reference_without_gaps, _SLOW,
        every=7, gaps=False),
    OwnMechanism("reference.noisy_max", "One winner, by the paper.", _reference_max, _SLOW,
        every=5, gaps=False, k=1),
)  # fmt: skip
