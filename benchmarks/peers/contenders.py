"""Who is measured: each as its users call it, at ε = 1 and sensitivity 1, not monotonic.

What depends on public parameters alone is made before the clock starts, and so is the input in the
form that the contender takes. What looks at the answers is timed.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import opendp.prelude as dp
from diffprivlib.mechanisms import Exponential, PermuteAndFlip

import topgap
from benchmarks import numpy_baselines
from benchmarks.data import Counts
from benchmarks.peers.fraction_samplers import noisy_top_k
from topgap.reference import SystemBits, gap_top_k_pruned

EPSILON = 1
ARRAY, LIST = "int64 array", "list of ints"
Call = Callable[[], object]


def flat(n: int) -> Counts:
    """Counts that are all equal, where `data.zipf` makes steep ones."""
    return np.full(n, 15, dtype=np.int64)


class Answers:
    """Counts in each form that a contender takes."""

    def __init__(self, array: Counts) -> None:
        self.array = array

    @cached_property
    def listed(self) -> list[int]:
        """The same as Python's integers."""
        return self.array.tolist()


class Contender(NamedTuple):
    """Somebody who names the largest.

    Attributes:
        name: As it stands in the tables.
        takes: In which form it takes the answers.
        prepare: The answers and k → the call that is timed.
        most: The largest k, if there is one.
    """

    name: str
    takes: str
    prepare: Callable[[Answers, int], Call]
    most: int | None = None

    def can(self, n: int, k: int) -> bool:
        """Whether it names so many of so many."""
        return k < n and (self.most is None or k <= self.most)


def _one_thread(answers: Answers, k: int) -> Call:
    array = answers.array
    return lambda: topgap.top_k(array, k, EPSILON, threads=1)


def _all_cores(answers: Answers, k: int) -> Call:
    array = answers.array
    return lambda: topgap.top_k(array, k, EPSILON)


def _reference(answers: Answers, k: int) -> Call:
    parameters, listed = topgap.TopK(k, EPSILON), answers.listed
    return lambda: gap_top_k_pruned(listed, parameters)


def _vectorised(answers: Answers, k: int) -> Call:
    array, scale = answers.array, float(topgap.TopK(k, EPSILON).scale)
    return lambda: numpy_baselines.select_vectorised(array, k, scale)


def _scalar(answers: Answers, k: int) -> Call:
    array, scale = answers.array, float(topgap.TopK(k, EPSILON).scale)
    return lambda: numpy_baselines.select_scalar(array, k, scale)


def opendp_measurement(k: int, *, monotonic: bool = False) -> dp.Measurement:
    """OpenDP's noisy top k with the scale that we have at this ε."""
    dp.enable_features("contrib")
    return dp.m.make_noisy_top_k(
        dp.vector_domain(dp.atom_domain(T="i64")),
        dp.linf_distance(T="i64", monotonic=monotonic),
        dp.max_divergence(),
        k=k,
        scale=float(topgap.TopK(k, EPSILON, monotonic=monotonic).scale),
    )


def _opendp(answers: Answers, k: int) -> Call:
    measurement, listed = opendp_measurement(k), answers.listed
    return lambda: measurement(listed)


# diffprivlib's mechanisms take the utilities when they are made, so making them is timed too.
def _exponential(answers: Answers, _: int) -> Call:
    listed = answers.listed
    return lambda: Exponential(epsilon=EPSILON, sensitivity=1, utility=listed).randomise()


def _permute_and_flip(answers: Answers, _: int) -> Call:
    listed = answers.listed
    return lambda: PermuteAndFlip(epsilon=EPSILON, sensitivity=1, utility=listed).randomise()


def _fractions(answers: Answers, k: int) -> Call:
    parameters, listed = topgap.TopK(k, EPSILON), answers.listed
    steps_per_unit, rate = parameters.resolution.denominator, parameters.rate
    return lambda: noisy_top_k([c * steps_per_unit for c in listed], k, rate, SystemBits())


KERNEL = Contender("topgap, one thread", ARRAY, _one_thread)
CORES = Contender("topgap, all cores", ARRAY, _all_cores)
REFERENCE = Contender("topgap.reference", LIST, _reference)
VECTORISED = Contender("NumPy vectorised (insecure)", ARRAY, _vectorised)
SCALAR = Contender("NumPy scalar (insecure)", ARRAY, _scalar)
OPENDP = Contender("OpenDP noisy top k", LIST, _opendp)
EXPONENTIAL = Contender("diffprivlib Exponential", LIST, _exponential, most=1)
FLIP = Contender("diffprivlib PermuteAndFlip", LIST, _permute_and_flip, most=1)
FRACTIONS = Contender("IBM-style Fractions", LIST, _fractions)

ALL = (
    KERNEL,
    CORES,
    VECTORISED,
    SCALAR,
    EXPONENTIAL,
    FLIP,
    OPENDP,
    REFERENCE,
    FRACTIONS,
)
