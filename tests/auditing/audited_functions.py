"""Functions to be audited, in a module that other processes can import in a moment."""

import multiprocessing
import os
import random
from collections.abc import Sequence

from topgap import Release, TopK, select

SEEDED = random.Random(0)


def ours(answers: Sequence[int], parameters: TopK) -> Release:
    """As it should be."""
    return select(parameters, answers)


def from_a_process(_: Sequence[int], __: TopK) -> list[tuple[int, int]]:
    """Names item 1 if it was made in another process than the first; its gaps are random."""
    is_first = multiprocessing.parent_process() is None
    return [(0 if is_first else 1, os.urandom(1)[0])]


class Stateful:
    """The same, as an object with a state, which could be sent to another process as it is."""

    def __init__(self) -> None:
        self.generator = random.Random()

    def __call__(self, answers: Sequence[int], parameters: TopK) -> list[tuple[int, int]]:
        """As above, with its own random numbers."""
        ((item, _),) = from_a_process(answers, parameters)
        return [(item, self.generator.randrange(256))]

    def release(self, answers: Sequence[int], parameters: TopK) -> list[tuple[int, int]]:
        """The same by name."""
        return self(answers, parameters)


def seeded(_: Sequence[int], __: TopK) -> list[tuple[int, int]]:
    """Has random gaps, the same ones in each process that imports this."""
    return [(0, SEEDED.randrange(256))]


def ending(_: Sequence[int], __: TopK) -> None:
    """Ends its process."""
    os._exit(3)


def failing(_: Sequence[int], __: TopK) -> None:
    """Fails."""
    raise ValueError("so it is!")
