"""Many releases of the audited functions, in this process or in several."""

import multiprocessing
import pickle
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple

from topgap.auditing.cases import AuditError, ReleaseFunction
from topgap.auditing.features import Tally, tally
from topgap.auditing.outcomes import Outcome, read
from topgap.parameters import TopK
from topgap.text import on_one_line

AT_ONCE = 10_000
"""So many releases are made between two looks at what else is to be done."""

Told = Callable[[int], None]


class Task(NamedTuple):
    """So many releases of one function on one data set.

    Attributes:
        place: What the releases are for; tallies of one place are added up.
        release: The function.
        answers: The data set.
        parameters: What it is called with.
        gaps: Whether it gives gaps.
        cap: See `features.tally`.
        releases: How many.
    """

    place: tuple[int, ...]
    release: ReleaseFunction
    answers: tuple[int, ...]
    parameters: TopK
    gaps: bool
    cap: int
    releases: int


def run(task: Task) -> Tally:
    """Make the releases and count what they show.

    Raises:
        AuditError: The function raised an error.
        ReleaseError: It returned what cannot be read.
    """
    release, answers, parameters, gaps = task.release, task.answers, task.parameters, task.gaps
    outcomes: Counter[Outcome] = Counter()
    for _ in range(task.releases):
        try:
            returned = release(answers, parameters)
        except (Exception, SystemExit) as error:  # which must not end the audit as if it were done
            raise AuditError(_said(error)) from error
        outcomes[read(returned, parameters, gaps=gaps)] += 1
    return tally(outcomes, len(answers), task.cap)


def sample(tasks: Sequence[Task], processes: int, told: Told) -> dict[tuple[int, ...], Tally]:
    """Run all tasks and add up what came, by place.

    Functions that cannot be handed to other processes run in this one.

    Args:
        tasks: What is to be done.
        processes: How many processes do it; 1 for this one alone.
        told: Is told how many releases have been made since it was told last.
    """
    tallies: dict[tuple[int, ...], Tally] = {}
    movable = {id(task.release): processes > 1 and _is_movable(task.release) for task in tasks}
    elsewhere = _parts(task for task in tasks if movable[id(task.release)])
    here = _parts(task for task in tasks if not movable[id(task.release)])

    def take(task: Task, one: Tally) -> None:
        tallies[task.place] = tallies[task.place] + one if task.place in tallies else one
        told(task.releases)

    with _pool(processes if any(movable.values()) else 0) as submit:
        under_way = {submit(part): part for part in islice(elsewhere, 4 * processes)}

        def collect(seconds: float) -> None:
            done, _ = wait(under_way, timeout=seconds, return_when=FIRST_COMPLETED)
            for future in done:
                take(under_way.pop(future), _result(future))
                under_way.update((submit(part), part) for part in islice(elsewhere, 1))

        for part in here:
            take(part, run(part))
            collect(0)
        while under_way:
            collect(1)
    return tallies


def _parts(tasks: Iterable[Task]) -> Iterator[Task]:
    """The same in parts, none of which takes long."""
    for task in tasks:
        for start in range(0, task.releases, AT_ONCE):
            yield task._replace(releases=min(AT_ONCE, task.releases - start))


def _is_movable(release: ReleaseFunction) -> bool:
    """Whether another process can import it; what is in `__main__` it could not, as a rule."""
    try:
        pickle.dumps(release)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return getattr(release, "__module__", "__main__") != "__main__"


@contextmanager
def _pool(processes: int) -> Iterator[Callable[[Task], "Future[Tally]"]]:
    """Processes that end with the block, at once if it ends early.

    They ignore Ctrl-C, which a terminal sends to all processes of a command, from their first
    moment on: this one hears it, and ends them.
    """
    if processes < 1:
        yield _nothing
        return
    before = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(
        processes, mp_context=multiprocessing.get_context("spawn"), initializer=_ignore_interrupts
    )

    def submit(task: Task) -> "Future[Tally]":
        with _interrupts_kept():
            return executor.submit(run, task)

    try:
        yield submit
    except BaseException:
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    finally:
        executor.shutdown(cancel_futures=True)  # which waits until they have ended


def _nothing(task: Task) -> "Future[Tally]":
    raise AssertionError(task)


def _result(future: "Future[Tally]") -> Tally:
    try:
        return future.result()
    except BrokenProcessPool:
        raise AuditError("A process ended in the midst of the audited function.") from None


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Interruptions wait until the end of the block; what is started in it hears of none."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _said(error: BaseException) -> str:
    text = on_one_line(error)
    said = f"The audited function raised {type(error).__name__}{f': {text}' * bool(text)}"
    return said if said.endswith(".") else f"{said}."
