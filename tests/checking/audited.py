"""Functions to be audited, in a module that other processes can import in a moment."""

import multiprocessing
import os
from collections.abc import Sequence

from topgap import Release, TopK


def ours(answers: Sequence[int], parameters: TopK) -> Release:
    """As it should be."""
    return parameters.release(answers)


def from_a_process(_: Sequence[int], __: TopK) -> list[tuple[int, int]]:
    """Has a gap of 7 if it was made in another process than the first."""
    return [(0, 0 if multiprocessing.parent_process() is None else 7)]


def ending(_: Sequence[int], __: TopK) -> None:
    """Ends its process."""
    os._exit(3)


def failing(_: Sequence[int], __: TopK) -> None:
    """Fails."""
    raise ValueError("so it is!")
