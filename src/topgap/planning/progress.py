"""How far the simulation of a plan is."""

from collections.abc import Callable

Progress = Callable[[str, float | None], None]
"""Called with what is being done and the share of it that is done."""
Report = Callable[[int], None]
"""Called with the number of releases that were simulated since the last call."""


def count_releases(progress: Progress | None, all_of_them: int) -> Report:
    """Return what adds up the simulated releases, and tells the caller the share of them.

    Args:
        progress: What the caller gave.
        all_of_them: How many releases are to be simulated.

    >>> report = count_releases(print, 200)
    >>> report(50)
    simulating releases 0.25
    >>> report(100)
    simulating releases 0.75
    """
    done = 0

    def report(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress("simulating releases", done / all_of_them)

    return report
