"""Releases of every shape: few answers and many, alike and far apart, parameters of all sizes."""

import random
from collections.abc import Iterator
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from topgap import TopK

MOST_NOISE = 64
"""Noise is at most so many times its mean, but for a chance of e^−64."""


class Shape(NamedTuple):
    """What is released, how often in a row, and how."""

    answers: int
    parameters: TopK
    kind: str
    times: int
    threads: int
    way: str


_EPSILONS = ("1", "1", "1", "1/2", "0.1", "10", "7/3", "1/1000", "1000000", "1e-12")
_RESOLUTIONS = ("1/10", "1/10", "1", "1/3", "1/1000", "1/1048576")
_SENSITIVITIES = (1, 1, 1, 5, 1000)
_SIZES = ((2, 20, 200), (21, 300, 100), (301, 3_000, 30), (3_001, 30_000, 5), (30_001, 100_000, 2))
_SIZE_WEIGHTS = (60, 25, 10, 4, 1)
KINDS = ("random", "skewed", "sorted", "tied", "all equal", "extreme", "apart")


def shapes(chance: random.Random) -> Iterator[Shape]:
    """Shapes without end: first the largest, so that memory does not grow by them later."""
    for threads in (1, 4):
        for k in (1, 50_000, 99_999):
            yield Shape(100_000, TopK(k, 1), "random", 2, threads, "kernel")
    while True:
        yield _shape(chance)


def _shape(chance: random.Random) -> Shape:
    least, most, times = chance.choices(_SIZES, _SIZE_WEIGHTS)[0]
    count = chance.randint(least, most)
    draw = chance.random()
    k = 1 if draw < 0.2 else count - 1 if draw > 0.93 else int((count - 1) ** chance.random())
    parameters = TopK(
        k,
        chance.choice(_EPSILONS),
        resolution=chance.choice(_RESOLUTIONS),
        sensitivity=chance.choice(_SENSITIVITIES),
        monotonic=chance.random() < 0.5,
    )
    threads = chance.randint(2, 4) if chance.random() < 0.03 else 1
    way = (
        chance.choices(("kernel", "method", "constant work"), (75, 20, 5))[0]
        if threads == 1
        else "kernel"
    )
    slower = 1 + 20 * (threads > 1) + k // 300 + count // 100 * (way == "constant work")
    times = max(1, times // slower)
    return Shape(count, parameters, chance.choice(KINDS), times, threads, way)


def answers_of(shape: Shape, rng: np.random.Generator) -> Any:
    """Answers of that kind, as int64."""
    count = shape.answers
    if shape.kind == "random":
        return rng.integers(0, 10 ** int(rng.integers(1, 12)), count)
    if shape.kind == "skewed":
        return (10**6 / np.arange(1, count + 1)).astype(np.int64)[rng.permutation(count)]
    if shape.kind == "sorted":
        answers = np.sort(rng.integers(-(10**6), 10**6, count))
        return answers if rng.random() < 0.5 else answers[::-1].copy()
    if shape.kind == "tied":
        return rng.integers(0, 3, count)
    if shape.kind == "all equal":
        return np.full(count, rng.integers(-(2**63), 2**63 - 1))
    ends = np.array([-(2**63), -(2**63) + 1, -1, 0, 1, 2**63 - 2, 2**63 - 1])
    if shape.kind == "extreme":
        return ends[rng.integers(0, len(ends), count)]
    return np.arange(count)[rng.permutation(count)] * (far(shape) or 10**9)


def far(shape: Shape) -> int | None:
    """A distance of answers at which noise changes no order, if int64 is long enough for it."""
    distance = 1 + ceil(MOST_NOISE * shape.parameters.scale)
    return distance if distance <= 2**62 // shape.answers else None
