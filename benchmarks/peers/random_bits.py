"""How many random bits a call asks its source for, where that can be counted.

Counted is what the algorithm asks for, whatever the source makes in reserve: the kernel's is a
ChaCha20 stream whose key of 256 bits from the system each release has for itself, so it is counted
too. The reference and the Fractions ask the system each time. NumPy has PCG64, whose outputs are 64
bits each, and its older functions have MT19937, whose are 32; diffprivlib asks the system for
floats of 53 bits. OpenDP's source is inside the library and cannot be counted from outside.
"""

import random
import statistics
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from diffprivlib.mechanisms import Exponential, PermuteAndFlip
from numpy.random.mtrand import get_bit_generator

import topgap
from benchmarks import numpy_baselines
from benchmarks.data import zipf
from benchmarks.peers import contenders
from benchmarks.peers.contenders import EPSILON, Answers
from benchmarks.peers.fraction_samplers import noisy_top_k
from benchmarks.peers.probe import bits_of_releases
from benchmarks.peers.times import Sizes, Timing
from topgap.reference import Sampler, SystemBits, gap_top_k_pruned

SAMPLE = 100_000  # items that are looked at in all runs at one n together, if there are fewer
MOST_RUNS = 20
KEY = 256  # bits of the kernel's key, a fresh one for each release
CORES = contenders.CORES.name  # is the kernel once more
NOT_COUNTED = "its source cannot be counted from outside"


class CountedBits:
    """The system's bits, and how many were asked for."""

    def __init__(self) -> None:
        self.asked = 0
        self._bits = SystemBits()

    def take(self, count: int) -> int:
        """Return `count` fresh bits as one integer."""
        self.asked += count
        return self._bits.take(count)


class CountedFloats(random.SystemRandom):
    """The system's floats of 53 bits, as diffprivlib draws them, and how many were asked for."""

    asked = 0

    def random(self) -> float:
        """A float from 0 to 1."""
        self.asked += 1
        return super().random()


def outputs_between(start: np.random.PCG64, end: np.random.PCG64) -> int:
    """How many outputs of 64 bits lie between two states of one PCG64.

    The last b bits of its state repeat after 2^b outputs, so the number is found bit by bit.
    """
    walker = np.random.PCG64()
    walker.state = start.state
    target = end.state["state"]["state"]
    outputs = 0
    for bit in range(128):
        if (walker.state["state"]["state"] ^ target) >> bit & 1:
            walker.advance(1 << bit)
            outputs += 1 << bit
    return outputs


def words_between(start: np.random.MT19937, end: np.random.MT19937) -> int:
    """How many outputs of 32 bits lie between two states of one MT19937.

    It makes 624 words at once and tells which is next, so it is run until it has made the same.
    """
    walker = np.random.MT19937()
    walker.state = start.state
    target = end.state["state"]
    words = target["pos"] - walker.state["state"]["pos"]
    while not np.array_equal(walker.state["state"]["key"], target["key"]):
        walker.random_raw(624, output=False)
        words += 624
    return words


class Bits(NamedTuple):
    """How many random bits a call asks for, divided by n: the mean of some calls."""

    contender: str
    n: int
    k: int
    per_item: float | None
    calls: int = 0
    left_out: str = ""


def _reference(answers: Answers, k: int) -> int:
    counted = CountedBits()
    gap_top_k_pruned(answers.listed, topgap.TopK(k, EPSILON), sampler=Sampler(counted))
    return counted.asked


def _fractions(answers: Answers, k: int) -> int:
    counted, parameters = CountedBits(), topgap.TopK(k, EPSILON)
    steps = [count * parameters.resolution.denominator for count in answers.listed]
    noisy_top_k(steps, k, parameters.rate, counted)
    return counted.asked


def _vectorised(answers: Answers, k: int) -> int:
    generator = numpy_baselines.RNG.bit_generator
    if not isinstance(generator, np.random.PCG64):
        raise TypeError("The baseline's generator is not PCG64, whose outputs are counted here.")
    start = np.random.PCG64()
    start.state = generator.state
    numpy_baselines.select_vectorised(answers.array, k, float(topgap.TopK(k, EPSILON).scale))
    return 64 * outputs_between(start, generator)


def _scalar(answers: Answers, k: int) -> int:
    generator = get_bit_generator()
    if not isinstance(generator, np.random.MT19937):
        raise TypeError("NumPy's older generator is not MT19937, whose outputs are counted here.")
    start = np.random.MT19937()
    start.state = generator.state
    numpy_baselines.select_scalar(answers.array, k, float(topgap.TopK(k, EPSILON).scale))
    return 32 * words_between(start, generator)


def _diffprivlib(
    mechanism: type[Exponential] | type[PermuteAndFlip],
) -> Callable[[Answers, int], int]:
    def bits(answers: Answers, _: int) -> int:
        floats = CountedFloats()
        made = mechanism(
            epsilon=EPSILON, sensitivity=1, utility=answers.listed, random_state=floats
        )
        made.randomise()
        return 53 * floats.asked

    return bits


COUNTED: dict[str, Callable[[Answers, int], int]] = {
    contenders.VECTORISED.name: _vectorised,
    contenders.SCALAR.name: _scalar,
    contenders.EXPONENTIAL.name: _diffprivlib(Exponential),
    contenders.FLIP.name: _diffprivlib(PermuteAndFlip),
    contenders.REFERENCE.name: _reference,
    contenders.FRACTIONS.name: _fractions,
}


def count(timings: list[Timing], sizes: Sizes, limit: float) -> list[Bits]:
    """Count the bits of all contenders at each n and k, but for calls longer than the limit."""
    found = []
    for n in sizes.ns:
        answers = Answers(zipf(n))
        print(f"random bits: n = {n:,}", file=sys.stderr)
        for k in sizes.ks:
            took = {each.contender: each for each in timings if (each.n, each.k) == (n, k)}
            found += [_count(took[name], answers, limit) for name in took if name != CORES]
    return found


def _count(timing: Timing, answers: Answers, limit: float) -> Bits:
    name, n, k = timing.contender, timing.n, timing.k
    calls = max(1, min(MOST_RUNS, SAMPLE // n))
    if name == contenders.OPENDP.name:
        return Bits(name, n, k, None, left_out=NOT_COUNTED)
    if name == contenders.KERNEL.name:
        asked = bits_of_releases(answers.array, topgap.TopK(k, EPSILON), MOST_RUNS)
        return Bits(name, n, k, (KEY + statistics.fmean(asked)) / n, MOST_RUNS)
    if timing.left_out or timing.median > limit:
        return Bits(name, n, k, None, left_out=f"a call takes more than {limit:g} s")
    asked = [COUNTED[name](answers, k) for _ in range(calls)]
    return Bits(name, n, k, statistics.fmean(asked) / n, calls)
