"""INSECURE: mechanisms with a threshold that are broken on purpose, each in one way.

Apart from the stated fault they are exact: the kernel draws geometric noise for each answer and for
the sentinel, and `selection.candidate_pool.rank` orders them and makes the gaps.
"""

from collections.abc import Sequence
from fractions import Fraction

from topgap.auditing.cases.neighbours import Neighbours
from topgap.auditing.mechanisms.broken_mechanisms import (
    BrokenMechanism,
    Pairs,
    add_noise,
    laplace,
)
from topgap.parameters import TopK
from topgap.release import Release
from topgap.sampling.sampler import Sampler
from topgap.selection.candidate_pool import SENTINEL, Candidate, rank
from topgap.selection.mechanism import select

Answers = Sequence[int]


def as_it_should_be(answers: Answers, parameters: TopK) -> Release:
    """Nothing is wrong with the release; what it is said to cost is."""
    return select(parameters, answers)


def charge_for_winners(parameters: TopK, winners: int) -> Fraction:
    """j/k·ε: the share of the sentinel is forgotten."""
    return parameters.epsilon * Fraction(winners, parameters.k)


def charge_for_monotonic(parameters: TopK, winners: int) -> Fraction:
    """(j + 1)/(2k)·ε: as if all others could not rise while a winner falls."""
    if winners == parameters.k:
        return parameters.epsilon
    return parameters.epsilon * Fraction(winners + 1, 2 * parameters.k)


def sentinel_without_noise(answers: Answers, parameters: TopK) -> Pairs:
    """The items whose noisy answers reach the threshold itself."""
    noisy, threshold = add_noise(answers, parameters), _threshold(parameters)
    reached = [Candidate(x, i) for i, x in enumerate(noisy) if x >= threshold]
    items, gaps = rank(reached, parameters.k, 0, Sampler())
    if len(gaps) < len(items):
        gaps.append(noisy[items[-1]] - threshold)
    return _pairs(items, gaps, parameters)


def two_sided_sentinel(answers: Answers, parameters: TopK) -> Pairs:
    """Discrete Laplace noise of the same scale for the sentinel."""
    (noise,) = laplace(parameters.rate).draw(1)
    items, gaps = _rank(answers, parameters, _threshold(parameters) + noise, parameters.k)
    return _pairs(items[: _place(items)], gaps, parameters)


def cut_too_late(answers: Answers, parameters: TopK) -> Pairs:
    """One item below the sentinel is named, too, with the gap that stands in its place."""
    items, gaps = _rank(answers, parameters, _noisy_threshold(parameters), parameters.k + 1)
    winners = [item for item in items if item is not SENTINEL]
    return _pairs(winners[: min(_place(items) + 1, parameters.k)], gaps, parameters)


def tells_who_came_next(answers: Answers, parameters: TopK) -> Pairs:
    """After k winners a gap of 0, unless the sentinel came next: then it is the lead over it."""
    k = parameters.k
    items, gaps = _rank(answers, parameters, _noisy_threshold(parameters), k + 1)
    if _place(items) > k:
        gaps[k - 1] = 0
    return _pairs(items[: min(_place(items), k)], gaps, parameters)


def _rank(
    answers: Answers, parameters: TopK, sentinel: int, places: int
) -> tuple[list[object], list[int]]:
    """The items and the sentinel, which has this noisy answer, on the first places."""
    noisy = add_noise(answers, parameters)
    candidates = [*map(Candidate, noisy, range(len(noisy))), Candidate(sentinel, SENTINEL)]
    return rank(candidates, places, 0, Sampler())


def _place(items: list[object]) -> int:
    """How many items come before the sentinel."""
    return items.index(SENTINEL) if SENTINEL in items else len(items)


def _noisy_threshold(parameters: TopK) -> int:
    (noisy,) = add_noise((0,), parameters)
    return _threshold(parameters) + noisy


def _threshold(parameters: TopK) -> int:
    units = parameters.threshold_units
    assert units is not None  # noqa: S101 - as they are made below
    return units


def _pairs(items: list[object], gaps: list[int], parameters: TopK) -> Pairs:
    return [
        (item, gap * parameters.resolution)
        for item, gap in zip(items, gaps, strict=False)
        if isinstance(item, int)
    ]


_ONE = TopK(1, 1, resolution=1, monotonic=True, threshold=0)
_HIGH = TopK(1, 1, resolution=1, monotonic=True, threshold=3)
_TWO = TopK(2, 1, resolution=1, monotonic=True, threshold=0)
_FINE = TopK(1, 1, monotonic=True, threshold=0)
_BOTH_WAYS = TopK(2, 4, resolution=1, threshold=0)
_OTHERS_RISE = ((0, 0), (0, 1))

BROKEN_THRESHOLD: tuple[BrokenMechanism, ...] = (
    BrokenMechanism(
        "threshold, charges j/k",
        "What is right is said to cost j/k·ε, without the share of the sentinel.",
        as_it_should_be,
        (
            Neighbours((0, 0), (1, 1), _TWO),
            Neighbours((0, 0, 0), (0, 1, 1), TopK(3, 3, resolution=1, monotonic=True, threshold=0)),
        ),
        "cost",
        cost=charge_for_winners,
    ),
    BrokenMechanism(
        "threshold, charges as if monotonic",
        "What is right is said to cost (j + 1)/(2k)·ε where winners fall and others rise.",
        as_it_should_be,
        (Neighbours((1, 0), (0, 1), _BOTH_WAYS),),
        "cost",
        cost=charge_for_monotonic,
    ),
    BrokenMechanism(
        "threshold, without noise",
        "Noisy answers are held against the threshold itself, which one-sided noise cannot bear.",
        sentinel_without_noise,
        (Neighbours((-1, -1), (0, 0), _ONE),),
        "privacy",
    ),
    BrokenMechanism(
        "threshold, two-sided noise",
        "Laplace noise for the sentinel: another law, and as private.",
        two_sided_sentinel,
        (Neighbours(*_OTHERS_RISE, _ONE), Neighbours((0, 0, 0), (0, 1, 1), _TWO)),
        "law",
    ),
    BrokenMechanism(
        "threshold, cut one too late",
        "One item below the sentinel is named, too, which costs a share that nobody charged.",
        cut_too_late,
        (Neighbours(*_OTHERS_RISE, _HIGH),),
        "privacy",
    ),
    BrokenMechanism(
        "threshold, tells who came next",
        "It can be seen whether the k-th gap is to the sentinel, which costs a share more than ε.",
        tells_who_came_next,
        (Neighbours((1, 0), (1, 1), _FINE),),
        "privacy",
    ),
)
"""All of them."""
