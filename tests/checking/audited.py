"""Functions to be audited, in a module that other processes can import in a moment."""

import os
from collections.abc import Sequence

from topgap import Release, TopK


def ours(answers: Sequence[int], parameters: TopK) -> Release:
    """As it should be."""
    return parameters.release(answers)


def from_a_process(_: Sequence[int], __: TopK) -> list[tuple[int, int]]:
    """Tells which process made it, but for its last 20 bits, which it has 1,000,000 times."""
    return [(0, os.getpid() << 20)]


def ending(_: Sequence[int], __: TopK) -> None:
    """Ends its process."""
    os._exit(3)


def failing(_: Sequence[int], __: TopK) -> None:
    """Fails."""
    raise ValueError("so it is!")
