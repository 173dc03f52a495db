"""The compiled kernel of topgap."""

from typing import Final, final

import numpy as np

__all__ = ["Kernel", "__version__", "floor_to_steps"]

__version__: Final[str]

@final
class Kernel:
    """What of the parameters the kernel works with, prepared once."""

    def __new__(cls, k: int, numerator: int, denominator: int, steps_per_unit: int) -> Kernel:
        """The kernel for k winners and noise of rate numerator/denominator per step."""

    def release(
        self, answers: np.ndarray[tuple[int], np.dtype[np.int64]], in_steps: bool
    ) -> tuple[bytes, bytes | list[int]]:
        """Release the top k of the answers, given in units or in steps: indices and gaps.

        Both are bytes of int64; the gaps are a list of int where one is larger.
        """

def floor_to_steps(
    numbers: np.ndarray[tuple[int], np.dtype[np.float64]], steps_per_unit: int
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Round floats down to steps; ValueError if one is not finite, OverflowError if too large."""
