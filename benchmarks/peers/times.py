"""How long a call of each contender takes, at each n and k: in turn, in one run."""

import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.data import Counts, zipf
from benchmarks.interleaving import measure_seconds
from benchmarks.peers.contenders import Answers, Call, Contender
from benchmarks.peers.growth import local

BLOCK = 0.02  # seconds that a fast call is repeated for, so that the clock sees enough of it
# So many rounds for whoever takes at most so many seconds: one, three or nine together.
ROUNDS = ((1, math.inf), (2, 6.0), (6, 0.5))


class Timing(NamedTuple):
    """What one contender took at one n and k: seconds of a call, one number for each round.

    Attributes:
        left_out: Why it was not measured; empty if it was.
    """

    contender: str
    n: int
    k: int
    rounds: tuple[float, ...] = ()
    calls: int = 0
    left_out: str = ""

    @property
    def median(self) -> float:
        """The median of the rounds."""
        return statistics.median(self.rounds)


class Sizes(NamedTuple):
    """Which n and k are measured: each n with each k, and some n with k = 1 alone."""

    ns: tuple[int, ...]
    ks: tuple[int, ...]
    between: tuple[int, ...]

    def pairs(self) -> list[tuple[int, int]]:
        """All n and k, by n."""
        return sorted([(n, k) for n in self.ns for k in self.ks] + [(n, 1) for n in self.between])


def measure(
    contenders: Sequence[Contender],
    sizes: Sizes,
    limit: float,
    counts: Callable[[int], Counts] = zipf,
) -> list[Timing]:
    """Time all contenders; a call that is expected to take longer than the limit is left out."""
    found: list[Timing] = []
    answers = Answers(counts(sizes.ns[0]))
    for n, k in sizes.pairs():
        if len(answers.array) != n:
            answers = Answers(counts(n))
        able = [contender for contender in contenders if contender.can(n, k)]
        print(f"times: {counts.__name__}, n = {n:,}, k = {k:,}", file=sys.stderr)
        found += _measure_at(able, answers, k, found, limit)
    return found


class Forecast(NamedTuple):
    """What a call at a larger n takes: at least so many seconds, and so many as is expected."""

    least: float
    expected: float


def forecast(before: Sequence[Timing], n: int) -> Forecast | None:
    """The seconds of a call at n, from smaller n; None if none was measured.

    Time grows at least as n does, which is all that is said of n far away. What is expected at the
    next n grows as fast as time last did while n became ten times as large, at most as the square.
    """
    known = {timing.n: timing.median for timing in before if timing.rounds and timing.n < n}
    if not known:
        return None
    last = max(known)
    least = known[last] * n / last
    lately = local(known)
    if lately is None or any(timing.left_out for timing in before):
        return Forecast(least, least)
    return Forecast(least, known[last] * (n / last) ** min(2.0, max(1.0, lately.exponent)))


def too_long(before: Sequence[Timing], n: int, limit: float) -> str:
    """Why a call at n is left out, given those at smaller n; empty if it is not."""
    ahead = forecast(before, n)
    if ahead is None:
        return ""
    more = f"more than {ahead.least:.1f} s"
    if ahead.least > limit:
        return more
    if any(timing.left_out for timing in before):
        return f"{more}, left out at smaller n"
    return f"{more}, {ahead.expected:.1f} s expected" if ahead.expected > limit else ""


def _measure_at(
    contenders: list[Contender], answers: Answers, k: int, found: list[Timing], limit: float
) -> list[Timing]:
    n = len(answers.array)
    made: list[Timing] = []
    runs: dict[str, Call] = {}
    calls: dict[str, int] = {}
    round_takes: dict[str, float] = {}
    for contender in contenders:
        same = [each for each in found if (each.contender, each.k) == (contender.name, k)]
        if reason := too_long(same, n, limit):
            made.append(Timing(contender.name, n, k, left_out=reason))
            continue
        run = contender.prepare(answers, k)
        ahead = forecast(same, n)
        guess = _second_call(run) if ahead is None else ahead.expected
        calls[contender.name] = max(1, min(1000, int(BLOCK / guess)))
        runs[contender.name] = _repeated(run, calls[contender.name])
        round_takes[contender.name] = guess * calls[contender.name]
    rounds: dict[str, list[float]] = {name: [] for name in runs}
    for count, most in ROUNDS:
        some = {name: run for name, run in runs.items() if round_takes[name] <= most}
        for name, took in measure_seconds(some, count).items():
            rounds[name] += [t / calls[name] for t in took]
    return made + [Timing(name, n, k, tuple(t), calls[name]) for name, t in rounds.items()]


def _second_call(run: Call) -> float:
    run()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _repeated(run: Call, calls: int) -> Call:
    def repeated() -> None:
        for _ in range(calls):
            run()

    return repeated
