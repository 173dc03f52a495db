"""How many items of a run the kernel looks at: hardly more than can win, whatever the noise is."""

from collections.abc import Sequence

import numpy as np
import pytest

from topgap import TopK

RATES = ["1/100000", "1/100", "1/50", "1/20", "1/10", "1/6", "1/4", "1/2", "1"]
MOST = 300


def count_asked(parameters: TopK, size: int, listed: Sequence[int]) -> int:
    """So many items of a run beside these answers the kernel asks about."""
    asked = 0

    def find_listed(_: int, ranks: list[bytes]) -> list[int]:
        nonlocal asked
        asked += len(ranks)
        assert asked <= 100 * MOST  # or it would go on for hours
        return []

    kernel = parameters.kernel
    assert kernel is not None
    kernel.release_with_runs(
        np.array(listed, dtype=np.int64), runs=[(0, size, 0)], find_listed=find_listed,
        in_steps=True, threads=1,
    )  # fmt: skip
    return asked


# The threshold is so low that about e^rate times 10 items reach it; that 300 do has a probability
# below e^−500 by Chernoff's bound.
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_few_items_of_a_run_are_looked_at(rate: str, noise: str) -> None:
    bound = 1 if noise == "laplace" else None
    k = 1 if noise == "exponential" else 2
    parameters = TopK(k, rate, monotonic=True, items_per_person=bound, resolution=1)
    assert parameters.noise == noise
    for size in (10**4, 10**6):
        for listed in ([], [10**7], [10**7, 9 * 10**6, 8 * 10**6, 7 * 10**6]):
            assert count_asked(parameters, size, listed) <= MOST
