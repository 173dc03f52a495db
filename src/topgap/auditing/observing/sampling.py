"""Many releases of the audited functions, in one process or in several."""

import multiprocessing
import os
import pickle
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import islice
from typing import NamedTuple

from topgap.auditing.cases.neighbours import ReleaseFunction
from topgap.auditing.observing.gap_bins import GapBins
from topgap.auditing.observing.observables import Tally, tally_outcomes
from topgap.auditing.observing.outcomes import Outcome, read_outcome
from topgap.auditing.observing.user_errors import describe_error
from topgap.errors import AuditError
from topgap.parameters import TopK

BATCH = 10_000
"""The number of releases in one part of a task."""
_OPENING = 32  # first releases, compared to find processes that repeat each other

Report = Callable[[int], None]


class Task(NamedTuple):
    """A number of releases of one function on one data set.

    Attributes:
        place: What the releases are for; tallies with the same place are added up.
        release: The function.
        answers: The data set.
        parameters: The parameters of its calls.
        gaps: Whether it releases gaps.
        bins: See `observables.tally_outcomes`.
        releases: How many.
    """

    place: tuple[int, ...]
    release: ReleaseFunction
    answers: tuple[int, ...]
    parameters: TopK
    gaps: bool
    bins: GapBins
    releases: int


def run_task(task: Task) -> Tally:
    """Make the releases and count what they show.

    Raises:
        AuditError: The function raised an error.
        ReleaseError: It returned something that is not a release.
    """
    return tally_outcomes(Counter(_outcomes(task)), len(task.answers), task.bins)


def _outcomes(task: Task) -> Iterator[Outcome]:
    release, answers, parameters, gaps = task.release, task.answers, task.parameters, task.gaps
    for _ in range(task.releases):
        try:
            returned = release(answers, parameters)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit must not end the audit as if it were done
            raise AuditError(describe_error(error)) from error
        yield read_outcome(returned, parameters, gaps=gaps)


class TaskResult(NamedTuple):
    """What a worker made: a tally, and its first outcomes when the function was new to it."""

    tally: Tally
    opening: tuple[Outcome, ...] | None


_FUNCTIONS_SEEN: set[object] = set()


def _run_in_worker(task: Task, opening: Task) -> TaskResult:
    if task.release in _FUNCTIONS_SEEN:
        return TaskResult(run_task(task), None)
    _FUNCTIONS_SEEN.add(task.release)
    first = tuple(_outcomes(opening))
    return TaskResult(run_task(task), first)


def sample(tasks: Sequence[Task], processes: int, report: Report) -> dict[tuple[int, ...], Tally]:
    """Run all tasks and add up the tallies by place.

    A function that workers cannot import runs in this process. So does, in the end, a function
    whose first releases are the same in two workers: if its module sets a seed when it is imported,
    all workers make the same releases, and the counts are not binomial.

    Args:
        tasks: The tasks.
        processes: The number of processes; 1 for this one alone.
        report: Is called with the number of releases made since the last call, less those that are
            not counted.
    """
    tallies: dict[tuple[int, ...], Tally] = {}
    importable = {
        id(task.release): processes > 1 and _is_importable(task.release) for task in tasks
    }
    elsewhere = _split(task for task in tasks if importable[id(task.release)])
    here = _split(task for task in tasks if not importable[id(task.release)])
    openings = {id(task.release): task._replace(releases=_OPENING) for task in reversed(tasks)}
    begun: set[tuple[int, tuple[Outcome, ...]]] = set()
    repeated: set[int] = set()

    def take(task: Task, one: Tally) -> None:
        tallies[task.place] = tallies[task.place] + one if task.place in tallies else one
        report(task.releases)

    def take_from_elsewhere(task: Task, ran: TaskResult) -> None:
        which = id(task.release)
        if ran.opening is not None:
            if (which, ran.opening) in begun:
                repeated.add(which)
            begun.add((which, ran.opening))
        take(task, ran.tally)

    with _pool(processes if any(importable.values()) else 0) as submit:
        under_way: dict[Future[TaskResult], Task] = {}

        def hand_out(number: int) -> None:
            for part in islice(elsewhere, number):
                if id(part.release) not in repeated:
                    under_way[submit(part, openings[id(part.release)])] = part

        def collect(seconds: float) -> None:
            done, _ = wait(under_way, timeout=seconds, return_when=FIRST_COMPLETED)
            for future in done:
                take_from_elsewhere(under_way.pop(future), _result(future))
                hand_out(1)

        hand_out(4 * processes)
        for part in here:
            take(part, run_task(part))
            collect(0)
        while under_way:
            collect(1)
            hand_out(4 * processes - len(under_way))
    again = [task for task in tasks if id(task.release) in repeated]
    for task in again:
        if task.place in tallies:
            report(-tallies.pop(task.place).releases)
    for part in _split(again):
        take(part, run_task(part))
    return tallies


def _split(tasks: Iterable[Task]) -> Iterator[Task]:
    """Split tasks into parts of at most `BATCH` releases."""
    for task in tasks:
        for start in range(0, task.releases, BATCH):
            yield task._replace(releases=min(BATCH, task.releases - start))


def _is_importable(release: ReleaseFunction) -> bool:
    """Whether another process can import the function by its name.

    An object with a state would be sent as it is now, with each part of the work, and would repeat
    its releases. Functions in `__main__` usually cannot be imported.
    """
    if getattr(release, "__module__", "__main__") == "__main__":
        return False
    try:
        return pickle.loads(pickle.dumps(release)) is release  # noqa: S301 - just dumped
    except Exception:  # whatever it does when it is pickled
        return False


@contextmanager
def _pool(processes: int) -> Iterator[Callable[[Task, Task], "Future[TaskResult]"]]:
    """Start workers that end with the block, at once if it ends with an error.

    They ignore Ctrl-C from their start, because a terminal sends it to all processes of a command:
    this process handles it and ends them.
    """
    if processes < 1:
        yield _submit_nothing
        return
    before = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(
        processes, mp_context=multiprocessing.get_context("spawn"), initializer=_prepare_worker
    )

    def submit(task: Task, opening: Task) -> "Future[TaskResult]":
        with _block_interrupts():
            return executor.submit(_run_in_worker, task, opening)

    try:
        yield submit
    except BaseException:
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    finally:
        executor.shutdown(cancel_futures=True)  # waits until they have ended


def _submit_nothing(task: Task, opening: Task) -> "Future[TaskResult]":
    raise AssertionError(task, opening)


def _result(future: "Future[TaskResult]") -> TaskResult:
    try:
        return future.result()
    except BrokenProcessPool:
        raise AuditError("A process ended while it ran the audited function.") from None


def _prepare_worker() -> None:
    """Ignore Ctrl-C in a worker, and send what it prints to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):  # there may be no standard error
        os.dup2(2, 1)


@contextmanager
def _block_interrupts() -> Iterator[None]:
    """Block Ctrl-C until the end of the block; processes started in it inherit that."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
