"""INSECURE: mechanisms that are broken on purpose, each in one way. An audit must find them.

Apart from the stated fault they are exact: the kernel draws geometric noise, and the reference
draws orders. docs/floats.md explains how each of them fails, and by how much.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from topgap._core import Laplace
from topgap.auditing.cases.neighbours import Cost, Neighbours, ReleaseFunction
from topgap.parameters import TopK
from topgap.reference.insecure_floats import gap_top_k_ideal
from topgap.sampling.sampler import Sampler
from topgap.selection.mechanism import select

Answers = Sequence[int]
Pairs = list[tuple[int, Fraction]]
Rank = Callable[[int], tuple[int, int]]


class BrokenMechanism(NamedTuple):
    """A mechanism with a fault.

    Attributes:
        name: What is wrong, in a few words.
        what: The same in a sentence.
        release: From answers and parameters to k pairs (index, gap), k triples (index, gap, value)
            or k indices.
        shown_on: Neighbours on which the fault shows.
        breaks: Whether it violates ε, only has another law than it should have, or has the right
            law and says that it cost less than it did.
        gaps: Whether it releases gaps.
        cost: What it says that an output with so many winners cost.
    """

    name: str
    what: str
    release: ReleaseFunction
    shown_on: tuple[Neighbours, ...]
    breaks: Literal["privacy", "law", "cost"]
    gaps: bool = True
    cost: Cost = TopK.cost


def floats(answers: Answers, parameters: TopK) -> list[tuple[int, float]]:
    """Algorithm 1 with floats for real numbers."""
    return gap_top_k_ideal(answers, parameters)


def rounded_floats(answers: Answers, parameters: TopK) -> Pairs:
    """The same, its gaps rounded down to the resolution; exactly, so that this adds no error."""
    unit = parameters.resolution
    return [(i, Fraction(gap) // unit * unit) for i, gap in gap_top_k_ideal(answers, parameters)]


def ties_by_index(answers: Answers, parameters: TopK) -> Pairs:
    """Geometric noise; of equals the one that stands first wins; gaps are plain differences."""
    noisy = add_noise(answers, parameters)
    return _plain_gaps(noisy, _rank(noisy, lambda i: (noisy[i], -i), parameters), parameters)


def names_with_ties_by_index(answers: Answers, parameters: TopK) -> list[int]:
    """The same without gaps."""
    noisy = add_noise(answers, parameters)
    return _rank(noisy, lambda i: (noisy[i], -i), parameters)[: parameters.k]


def names_with_ties_by_true_order(answers: Answers, parameters: TopK) -> list[int]:
    """The same on a list that is sorted by the true answers, the largest first."""
    noisy = add_noise(answers, parameters)
    rank = _rank(noisy, lambda i: (noisy[i], answers[i]), parameters)
    return rank[: parameters.k]


def uniform_ties(answers: Answers, parameters: TopK) -> Pairs:
    """The paper's Option 1: geometric noise, a uniform order of equals, plain differences."""
    noisy, order = add_noise(answers, parameters), Sampler().shuffle(len(answers))
    rank = _rank(noisy, lambda i: (noisy[i], order[i]), parameters)
    return _plain_gaps(noisy, rank, parameters)


def two_orders(answers: Answers, parameters: TopK) -> Pairs:
    """Ties refined among the tied alone, and then a new uniform order of all for the gaps."""
    sampler = Sampler()
    noisy, order = add_noise(answers, parameters), sampler.shuffle(len(answers))
    rank = _rank(noisy, lambda i: (noisy[i], order[i]), parameters)
    another = sampler.shuffle(len(answers))
    return [
        (i, (noisy[i] - noisy[j] - _is_lowered(noisy, another, i, j)) * parameters.resolution)
        for i, j in pairwise(rank)
    ]


def half_the_noise(answers: Answers, parameters: TopK) -> Pairs:
    """Exact in everything, but with noise of half the mean."""
    return _release(_change_parameters(parameters, 2 * parameters.epsilon), answers)


def noise_without_k(answers: Answers, parameters: TopK) -> Pairs:
    """Exact in everything, but with the noise for one winner."""
    return _release(_change_parameters(parameters, parameters.k * parameters.epsilon), answers)


def one_sided_scale(answers: Answers, parameters: TopK) -> Pairs:
    """Exact in everything, but with the noise for monotonic answers, whatever they are."""
    return _release(_change_parameters(parameters, parameters.epsilon, monotonic=True), answers)


def rounded_to_nearest(answers: Answers, parameters: TopK) -> Pairs:
    """Gaps rounded to the nearest step: half steps rounded down, plus a half, rounded down."""
    halves = _release(_change_parameters(parameters, parameters.epsilon, parts=2), answers)
    unit = parameters.resolution
    return [(i, (gap + unit / 2) // unit * unit) for i, gap in halves]


def fixed_seed(answers: Answers, parameters: TopK) -> Pairs:
    """One order breaks ties and lowers gaps, as it should; but all calls draw the same numbers."""
    generator = np.random.default_rng(0)
    order = generator.permutation(len(answers)).tolist()
    # NumPy's geometric numbers begin at 1, and the order of the answers does not change by it.
    success = -np.expm1(-float(parameters.rate))
    noise = generator.geometric(success, len(answers)).tolist()
    noisy = [q + n for q, n in zip(_to_steps(answers, parameters), noise, strict=True)]
    rank = _rank(noisy, lambda i: (noisy[i], order[i]), parameters)
    return [
        (i, (noisy[i] - noisy[j] - (order[i] < order[j])) * parameters.resolution)
        for i, j in pairwise(rank)
    ]


def add_noise(answers: Answers, parameters: TopK) -> list[int]:
    """Add geometric noise to the answers, in steps: discrete Laplace noise that is not negative."""
    drawn: list[int] = []
    while len(drawn) < len(answers):
        drawn += [x for x in laplace(parameters.rate).draw(3 * len(answers)) if x >= 0]
    steps = _to_steps(answers, parameters)
    return [q + noise for q, noise in zip(steps, drawn, strict=False)]


def _to_steps(answers: Answers, parameters: TopK) -> list[int]:
    return [answer * parameters.resolution.denominator for answer in answers]


def _rank(noisy: list[int], rank: Rank, parameters: TopK) -> list[int]:
    """Rank the winners and the runner-up, from the largest down."""
    return sorted(range(len(noisy)), key=rank, reverse=True)[: parameters.k + 1]


def _plain_gaps(noisy: list[int], rank: list[int], parameters: TopK) -> Pairs:
    return [(i, (noisy[i] - noisy[j]) * parameters.resolution) for i, j in pairwise(rank)]


def _is_lowered(noisy: list[int], order: list[int], i: int, j: int) -> bool:
    return noisy[i] > noisy[j] and order[i] < order[j]


def _release(parameters: TopK, answers: Answers) -> Pairs:
    release = select(parameters, answers)
    return list(zip(release.indices.tolist(), release.gaps or (), strict=True))


@lru_cache
def laplace(rate: Fraction) -> Laplace:
    """The kernel's sampler of discrete Laplace noise in steps."""
    return Laplace(rate.numerator, rate.denominator)


@lru_cache
def _change_parameters(
    parameters: TopK, epsilon: Fraction, *, monotonic: bool | None = None, parts: int = 1
) -> TopK:
    return TopK(
        parameters.k,
        epsilon,
        resolution=parameters.resolution / parts,
        sensitivity=parameters.sensitivity,
        monotonic=parameters.monotonic if monotonic is None else monotonic,
    )


_ONE = TopK(1, 1, resolution=1, monotonic=True)
_TWO = TopK(2, 1, resolution=1, monotonic=True)
_BOTH_WAYS = TopK(1, 1, resolution=1)
_PAIR = Neighbours((0, 0), (0, 1), _ONE)
_TRIPLE = Neighbours((0, 0, 0), (1, 0, 0), _ONE)
_FIVE = Neighbours((0,) * 5, (1, 0, 0, 0, 0), TopK(1, 2, resolution=1, monotonic=True))

# A diagnosis of 1,024 patients, one of whom leaves: see attacks/last_bits.py.
_DIAGNOSES = Neighbours(
    (1090, 1062, 1031, 1023, 640), (1090, 1062, 1031, 1024, 640), TopK(3, 1, monotonic=True)
)
# Noise of 2^53 and more is an even number: the smallest case of attacks/last_bits.py.
_EVEN = Neighbours(
    (2 - 2**53, 2 - 2**53),
    (2 - 2**53, 1 - 2**53),
    TopK(1, Fraction(1, 2**54), resolution=1, monotonic=True),
)

BROKEN_MECHANISMS: tuple[BrokenMechanism, ...] = (
    BrokenMechanism(
        "floats",
        "Algorithm 1 with floats for real numbers: the last bits of a gap tell where it was made.",
        floats,
        (_DIAGNOSES,),
        "privacy",
    ),
    BrokenMechanism(
        "floats, gaps rounded",
        "The same with gaps rounded down: large noise comes in even numbers only.",
        rounded_floats,
        (_EVEN,),
        "privacy",
    ),
    BrokenMechanism(
        "ties by index",
        "Geometric noise, ties to whoever stands first, plain differences for gaps.",
        ties_by_index,
        (Neighbours((0, 1, 1), (0, 0, 0), _ONE),),
        "privacy",
    ),
    BrokenMechanism(
        "ties by true order, no gaps",
        "Geometric noise, ties to whoever stands first in a list sorted by the true answers.",
        names_with_ties_by_true_order,
        (_PAIR,),
        "privacy",
        gaps=False,
    ),
    BrokenMechanism(
        "ties by index, no gaps",
        "Geometric noise, ties to whoever stands first in a public list: who stands first wins "
        "too often.",
        names_with_ties_by_index,
        (_PAIR,),
        "law",
        gaps=False,
    ),
    BrokenMechanism(
        "uniform ties, plain gaps",
        "The paper's Option 1: geometric noise, ties broken uniformly, plain differences for gaps, "
        "which are too large.",
        uniform_ties,
        (_PAIR, _TRIPLE),
        "law",
    ),
    BrokenMechanism(
        "one order for ties, one for gaps",
        "Ties refined among the tied alone, and a new uniform order for the gaps.",
        two_orders,
        (_FIVE,),
        "law",
    ),
    BrokenMechanism(
        "gaps rounded to nearest",
        "Gaps rounded to the nearest step in place of down.",
        rounded_to_nearest,
        (_PAIR,),
        "law",
    ),
    BrokenMechanism(
        "half the noise",
        "Noise of half the mean that ε asks for.",
        half_the_noise,
        (_PAIR,),
        "privacy",
    ),
    BrokenMechanism(
        "noise without k",
        "The noise for one winner, however many are named.",
        noise_without_k,
        (Neighbours((0, 0, 0), (0, 0, 1), _TWO),),
        "privacy",
    ),
    BrokenMechanism(
        "one-sided scale",
        "The noise for monotonic answers where some go up and some down.",
        one_sided_scale,
        (Neighbours((0, 0), (-1, 1), _BOTH_WAYS),),
        "privacy",
    ),
    BrokenMechanism(
        "a fixed seed",
        "The same random numbers at each call.",
        fixed_seed,
        (_PAIR, _TRIPLE),
        "privacy",
    ),
)
"""All of them."""
