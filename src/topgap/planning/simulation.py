"""Many releases of the same counts, with the noise that a release has."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from topgap.parameters import TopK
from topgap.planning.counts import Counts, Whole, Winners
from topgap.planning.errors import Errors
from topgap.planning.figures import Mean, chance, root
from topgap.planning.result import Lists, Row
from topgap.selection.measurement import Shares

Told = Callable[[int], None]
"""Is told how many releases have been simulated since it was told last."""

_MOST_AT_ONCE = 1_000
_MOST_WINNERS_AT_ONCE = 2**19


class Released(NamedTuple):
    """Winners and gaps of many releases, one in each row; the gaps in steps of the resolution."""

    winners: Winners
    gaps: Whole


def simulate(counts: Counts, shares: Shares, parameters: TopK, releases: int, told: Told) -> Row:
    """Simulate so many releases with all of ε for the names, and as many with these shares."""
    names, named = _Judge(counts), _Judge(counts)
    for drawn in _drawn(counts, parameters, releases, told):
        names.add(drawn.winners)
    errors, alone, combined = Errors(shares), Mean(), Mean()
    for drawn in _drawn(counts, shares.selection, releases, told):
        named.add(drawn.winners)
        steps = counts.steps(drawn.winners, parameters, drawn.gaps.dtype)
        for mean, squared in zip((alone, combined), errors.squared(steps, drawn.gaps), strict=True):
            mean.add(squared)
    return Row(
        epsilon=parameters.epsilon,
        names=names.lists(),
        estimates=named.lists(),
        measured_error=root(alone, errors.unit),
        combined_error=root(combined, errors.unit),
        measured_formula=errors.expected[0],
        combined_formula=errors.expected[1],
    )


class _Judge:
    """Judges lists that come in parts."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._means = Mean(), Mean(), Mean()

    def add(self, winners: Winners) -> None:
        for mean, values in zip(self._means, self._counts.judge(winners), strict=True):
            mean.add(values)

    def lists(self) -> Lists:
        overlap, right, in_order = self._means
        return Lists(chance(right), chance(in_order), overlap.figure())


def _drawn(counts: Counts, parameters: TopK, releases: int, told: Told) -> Iterator[Released]:
    """So many releases, in parts that take little memory."""
    at_once = max(1, min(_MOST_AT_ONCE, _MOST_WINNERS_AT_ONCE // parameters.k))
    for start in range(0, releases, at_once):
        number = min(at_once, releases - start)
        yield _released(counts, parameters, number)
        told(number)


def _released(counts: Counts, parameters: TopK, number: int) -> Released:
    kernel, counted, in_steps = parameters.kernel, counts.counted, counts.in_steps
    drawn: list[tuple[bytes, Any]]
    if kernel is not None and counted is not None:
        drawn = [kernel.release(counted, in_steps=in_steps, threads=0) for _ in range(number)]
    else:  # too large for the kernel: it takes its time
        made = [parameters.release(counts.numbers) for _ in range(number)]
        drawn = [(each.indices.tobytes(), _listed(each.gap_units)) for each in made]
    winners = np.frombuffer(b"".join(each for each, _ in drawn), dtype=np.int64)
    if _is_narrow(counts, parameters) and kernel is not None:
        gaps = np.frombuffer(b"".join(each for _, each in drawn), dtype=np.int64)
    else:
        gaps = np.array([_listed(each) for _, each in drawn], dtype=object)
    shape = number, parameters.k
    return Released(winners.reshape(shape), gaps.reshape(shape))


def _is_narrow(counts: Counts, parameters: TopK) -> bool:
    """Whether gaps, and how far they are off, have less than 63 bits.

    A gap is larger than the span of the counts by no more than one item's noise, and that is 2^11
    times its mean with a chance of e^−2048.
    """
    return counts.counted is not None and counts.span < 2**61 and 1 / parameters.rate < 2**50


def _listed(gaps: Any) -> list[int]:
    if isinstance(gaps, bytes):
        gaps = np.frombuffer(gaps, dtype=np.int64)
    return list(gaps.tolist()) if isinstance(gaps, np.ndarray) else list(gaps)
