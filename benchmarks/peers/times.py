"""How long a call of each contender takes, at each n and k: in turn, in one run."""

import math
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from interleaving import seconds
from peers.contenders import Answers, Call, Contender

BLOCK = 0.02  # seconds that a fast call is repeated for, so that the clock sees enough of it
ROUNDS, MORE_ROUNDS = 3, 6
MORE = 0.5  # seconds; who takes no longer has the further rounds


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


def measure(contenders: Sequence[Contender], sizes: Sizes, limit: float) -> list[Timing]:
    """Time all contenders; a call that would take longer than the limit is left out."""
    found: list[Timing] = []
    answers = Answers(sizes.ns[0])
    for n, k in sizes.pairs():
        if len(answers.array) != n:
            answers = Answers(n)
        able = [contender for contender in contenders if contender.can(n, k)]
        print(f"times: n = {n:,}, k = {k:,}", file=sys.stderr)
        found += _measure_at(able, answers, k, found, limit)
    return found


def expected(before: Iterable[Timing], n: int) -> float | None:
    """The seconds of a call at n, from smaller n; None if there are none.

    Time grows at least as n does and at most as its square; between, as fast as it last did while n
    became ten times as large.
    """
    known = {timing.n: timing.median for timing in before if timing.rounds and timing.n < n}
    if not known:
        return None
    last = max(known)
    earlier = max((each for each in known if each <= 0.11 * last), default=None)
    power = 1.0
    if earlier is not None:
        power = math.log(known[last] / known[earlier]) / math.log(last / earlier)
    return known[last] * math.pow(n / last, min(2.0, max(1.0, power)))


def _measure_at(
    contenders: list[Contender], answers: Answers, k: int, found: list[Timing], limit: float
) -> list[Timing]:
    n = len(answers.array)
    made: list[Timing] = []
    runs: dict[str, Call] = {}
    calls: dict[str, int] = {}
    quick: set[str] = set()
    for contender in contenders:
        same = [each for each in found if (each.contender, each.k) == (contender.name, k)]
        guess = expected(same, n)
        if guess is not None and guess > limit:
            made.append(Timing(contender.name, n, k, left_out=f"would take {guess:.1f} s"))
            continue
        run = contender.prepare(answers, k)
        if guess is None:
            guess = _second_call(run)
        calls[contender.name] = max(1, min(1000, int(BLOCK / guess)))
        runs[contender.name] = _repeated(run, calls[contender.name])
        if guess * calls[contender.name] <= MORE:
            quick.add(contender.name)
    rounds = seconds(runs, ROUNDS)
    further = seconds({name: runs[name] for name in runs if name in quick}, MORE_ROUNDS)
    for name, took in rounds.items():
        each = [t / calls[name] for t in took + further.get(name, [])]
        made.append(Timing(name, n, k, tuple(each), calls[name]))
    return made


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
