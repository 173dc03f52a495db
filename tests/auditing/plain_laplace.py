"""Top-k with Laplace noise, written out: noise for every answer, in integers of any size."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from topgap import TopK
from topgap.sampling.sampler import Sampler


def plain_laplace(answers: Sequence[int], parameters: TopK) -> list[tuple[int, Fraction, Fraction]]:
    """Triples (index, gap, noisy value) from the largest down; equals come in a uniform order."""
    sampler = Sampler()
    unit = parameters.resolution
    noisy = [
        answer * unit.denominator + sampler.discrete_laplace(parameters.rate) for answer in answers
    ]
    marks = sampler.shuffle(len(answers))
    order = sorted(range(len(answers)), key=lambda i: (noisy[i], marks[i]), reverse=True)
    top = order[: parameters.k + 1]
    return [(i, (noisy[i] - noisy[j]) * unit, noisy[i] * unit) for i, j in pairwise(top)]
