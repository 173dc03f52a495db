"""Release and release again, on all cores, in shapes of every kind: what must hold holds each time.

    python -m tests.soak.run 100000000                so many releases, on all cores
    python -m tests.soak.run 100000 1 "keeps all"     in one process, and broken in this way

Every release is looked at. Its winners are distinct and in range, no gap is negative, and order and
gaps are what the answers and noise make possible: an answer has noise of mean β, which exceeds
`MOST_NOISE`·β with a chance of e^−64. Answers that are farther apart than that stay in their order.
That one of 10^8 releases is found wrong by chance, if each has 10^5 answers, has a probability
below 10^13·e^−64 < 10^−14.
"""

import gc
import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from ctypes import CDLL
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

import numpy as np

from tests.soak.release_shapes import MOST_NOISE, Shape, answers_of, far, shapes
from topgap import TopK, select

MOST_GROWTH = 8 * 2**20
"""Bytes by which a process may grow after its first hundredth. What it holds at a time has been as
large before, so that only the allocator's gaps remain. The least that a release could leave behind
is a `bytes` of one number, 48 bytes: of 5·10^7 releases, 300 times as much as this."""

Releasing = Callable[[TopK, Any, int], tuple[Any, Any]]
"""Release the top k of int64 answers, with so many threads: indices and gaps in steps."""


class Seen(NamedTuple):
    """How far a process has come."""

    releases: int
    shapes: int
    memory: int
    wrong: str | None = None


# ---------------------------------------------------------------- how it is released


def release(parameters: TopK, answers: Any, threads: int) -> tuple[Any, Any]:
    """Release as the package does, at its innermost."""
    kernel = parameters.kernel
    if kernel is None:
        return release_as_users_do(parameters, answers, threads)
    return kernel.release(answers, False, threads)


def release_as_users_do(parameters: TopK, answers: Any, threads: int) -> tuple[Any, Any]:
    """Release by the method of `TopK`."""
    made = select(parameters, answers, threads=threads)
    return made.indices.tobytes(), made._gap_units


def release_evenly(parameters: TopK, answers: Any, threads: int) -> tuple[Any, Any]:
    """Release with constant work."""
    if parameters.kernel is None:
        return release(parameters, answers, threads)
    return parameters.kernel.release_evenly(answers, False)


_WAYS: dict[str, Releasing] = {
    "kernel": release,
    "method": release_as_users_do,
    "evenly": release_evenly,
}
_KEPT: list[object] = []


def _keeps_all(*given: Any) -> tuple[Any, Any]:
    _KEPT.append(release(*given))
    return _KEPT[-1]  # type: ignore[return-value]


def _changed(change: Callable[[list[int], list[int], int], object]) -> Releasing:
    """A release of which one in some hundreds is changed."""
    chance = random.Random(1)

    def broken(parameters: TopK, answers: Any, threads: int) -> tuple[Any, Any]:
        indices, gaps = release(parameters, answers, threads)
        if chance.random() > 1 / 300:
            return indices, gaps
        indices = np.frombuffer(indices, dtype=np.int64).tolist()
        gaps = [*gaps] if isinstance(gaps, list) else np.frombuffer(gaps, dtype=np.int64).tolist()
        change(indices, gaps, len(answers))
        return np.array(indices, dtype=np.int64).tobytes(), gaps

    return broken


def _put(numbers: list[int], place: int, number: int) -> None:
    numbers[place] = number


BROKEN: dict[str, Releasing] = {
    "keeps all": _keeps_all,
    "negative gap": _changed(lambda _, gaps, __: _put(gaps, -1, -1)),
    "item twice": _changed(lambda indices, _, __: _put(indices, -1, indices[0])),
    "out of range": _changed(lambda indices, _, count: _put(indices, 0, count)),
    "before the first": _changed(lambda indices, _, __: _put(indices, 0, -1)),
    "wrong order": _changed(lambda indices, _, __: indices.reverse()),
    "wrong gap": _changed(lambda _, gaps, __: _put(gaps, 0, gaps[0] + 2**40)),
    "gap lost": _changed(lambda _, gaps, __: gaps.pop()),
}
"""Releases that are broken, to see that each is found."""


# ---------------------------------------------------------------- what must hold


def find_wrong(shape: Shape, answers: Any, released: list[tuple[Any, Any]]) -> str | None:
    """What is wrong with releases of these answers, if anything is."""
    k, times = shape.parameters.k, len(released)
    winners = np.frombuffer(b"".join([each[0] for each in released]), dtype=np.int64)
    gaps = _gaps([each[1] for each in released])
    if len(winners) != times * k or len(gaps) != times * k:
        return "there are not k winners and k gaps"
    winners, gaps = winners.reshape(times, k), gaps.reshape(times, k)
    if winners.min() < 0 or winners.max() >= shape.answers:
        return "a winner is not among the items"
    if k > 1 and (np.diff(np.sort(winners, axis=1), axis=1) == 0).any():
        return "an item has won twice"
    if gaps.min() < 0:
        return "a gap is negative"
    in_steps = answers * float(shape.parameters.resolution.denominator)
    noise = float(MOST_NOISE / shape.parameters.rate)
    in_order = shape.kind == "apart" and far(shape) is not None
    if in_order and (winners != np.argsort(-answers)[:k]).any():
        return "answers that lie far apart are not in their order"
    # The noisy value after the last winner's is at least the plain answer of that rank, and at most
    # that plus the noise. A gap is rounded down, and a double has 53 bits.
    following = np.partition(in_steps, shape.answers - k - 1)[shape.answers - k - 1]
    leads = in_steps[winners]
    leads[:, :-1] -= leads[:, 1:].copy()
    leads[:, -1] -= following
    slack = noise + 2 + 2.0**-45 * (np.abs(in_steps).max() + noise)
    if (np.abs(gaps - leads) > slack).any():
        return "order or gaps are not what noise makes of the answers"
    return None


def _gaps(released: list[Any]) -> Any:
    if all(isinstance(each, bytes) for each in released):
        return np.frombuffer(b"".join(released), dtype=np.int64)
    # A gap is beyond int64: a double, which has its sign and its size.
    listed = [
        np.frombuffer(each, dtype=np.int64) if isinstance(each, bytes) else each
        for each in released
    ]
    return np.concatenate([np.array(each, dtype=float) for each in listed])


def memory_in_use() -> int:
    """The bytes of this process that are in memory, without what is free already."""
    gc.collect()
    CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ---------------------------------------------------------------- who does it


def soak(releases: int, seed: int, broken: str | None) -> Iterator[Seen]:
    """Release so many times, and tell now and then how far it is, or what is wrong."""
    rng = np.random.default_rng(seed)
    done = told = 0
    for number, shape in enumerate(shapes(random.Random(seed))):
        if done >= releases:
            break
        answers = answers_of(shape, rng)
        releasing = _WAYS[shape.way] if broken is None else BROKEN[broken]
        parameters, threads = shape.parameters, shape.threads
        made = [releasing(parameters, answers, threads) for _ in range(shape.times)]
        done += shape.times
        wrong = find_wrong(shape, answers, made)
        del answers, made
        if wrong:
            yield Seen(done, number + 1, 0, f"{wrong}; seed {seed}, shape {number}: {shape}")
            return
        if done - told >= releases / 200:
            told = done
            yield Seen(done, number + 1, memory_in_use())
    yield Seen(done, number, memory_in_use())


def _work(releases: int, seed: int, broken: str | None, to: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it ends it
    for seen in soak(releases, seed, broken):
        to.send(seen)
    to.close()


def main(releases: int, processes: int, broken: str | None = None) -> int:
    """Soak in so many processes, and say how it went: 0 if nothing was wrong."""
    began = time.monotonic()
    seed = random.SystemRandom().getrandbits(32)
    spawning = multiprocessing.get_context("spawn")
    last: list[Seen] = [Seen(0, 0, 0)] * processes
    early: list[int] = [0] * processes  # bytes in use after the first hundredth
    open_ends: dict[Connection, int] = {}
    workers = []
    for number in range(processes):
        here, there = spawning.Pipe(duplex=False)
        share = releases // processes + (number < releases % processes)
        given = (share, seed + number, broken, there)
        workers.append(spawning.Process(target=_work, args=given, daemon=True))
        workers[-1].start()
        there.close()
        open_ends[here] = number
    wrong: list[str] = []
    told = 0.0
    try:
        while open_ends and not wrong:
            ready: list[Any] = wait([*open_ends])
            for end in ready:
                number = open_ends[end]
                try:
                    seen: Seen = end.recv()
                except EOFError:
                    del open_ends[end]
                    continue
                last[number] = seen
                wrong += [seen.wrong] if seen.wrong else []
                if not early[number] and seen.releases >= releases / processes / 100:
                    early[number] = seen.memory
                if early[number] and seen.memory > early[number] + MOST_GROWTH:
                    grown = (seen.memory - early[number]) / 2**20
                    wrong.append(f"memory grew by {grown:.1f} MiB; seed {seed + number}")
            done = sum(seen.releases for seen in last)
            if done >= (told + 0.05) * releases and not wrong:
                told = done / releases
                print(f"soak: {done:>13,} releases, {time.monotonic() - began:,.0f} s", flush=True)
    except KeyboardInterrupt:
        print(f"soak: interrupted after {sum(seen.releases for seen in last):,} releases")
        return 130
    finally:
        for worker in workers:
            if open_ends:
                worker.terminate()
            worker.join()
    done = sum(seen.releases for seen in last)
    if not wrong and done < releases:
        wrong.append("a process ended before its work")
    seconds = time.monotonic() - began
    print(
        f"soak: {done:,} releases of {sum(seen.shapes for seen in last):,} shapes in "
        f"{seconds:,.0f} s by {processes} processes, seed {seed}; memory in use "
        f"{sum(early) / 2**20:.1f} MiB after a hundredth, "
        f"{sum(seen.memory for seen in last) / 2**20:.1f} MiB at the end"
    )
    for each in wrong:
        print(f"soak: WRONG: {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    given = sys.argv[1:]
    cores = len(os.sched_getaffinity(0))
    sys.exit(main(int(given[0]), int(given[1]) if given[1:] else cores, *given[2:3]))
