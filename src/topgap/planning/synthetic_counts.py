"""Made-up counts, which are of no real person."""

import numpy as np

from topgap.errors import ParameterError
from topgap.numbers.parse import read_whole

_MOST_ITEMS = 10**9


def zipf(items: int, largest: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Make counts that fall like one over the rank, as those of words and products often do.

    Args:
        items: The number of items.
        largest: The count of the largest; the r-th largest has ⌊largest/r⌋.

    Raises:
        ParameterError, ParameterTypeError: One is not a positive integer, or too large.

    >>> zipf(5, 100)
    array([100,  50,  33,  25,  20])
    """
    items, largest = read_whole(items, "items", least=1), read_whole(largest, "largest", least=1)
    if items > _MOST_ITEMS:
        raise ParameterError(f"items must be at most {_MOST_ITEMS:,}, which fill the memory.")
    if largest >= 2**62:
        raise ParameterError("largest must be below 2**62.")
    counts: np.ndarray[tuple[int], np.dtype[np.int64]] = largest // np.arange(1, items + 1)
    return counts
