"""Noisy Top-k with Gap in NumPy's floats: INSECURE, what exact noise is measured against.

The low-order bits of a float's noise give the answers away, and NumPy's generator can be foretold.
Never release what these return.
"""

import numpy as np

from benchmarks.data import Counts

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

RNG = np.random.default_rng()


def select_scalar(counts: Counts, k: int, scale: float) -> tuple[Counts, Floats]:
    """One call of NumPy for each answer, all of them sorted, and gap by gap. INSECURE.

    So the paper's baseline is made, by the older of NumPy's generators, as in its authors' script.
    """
    draw = np.random.exponential
    noisy = np.array([count + draw(scale) for count in counts.tolist()])
    order = np.argsort(noisy)[::-1]
    gaps = np.array([noisy[order[i]] - noisy[order[i + 1]] for i in range(k)])
    return order[:k], gaps


def select_vectorised(counts: Counts, k: int, scale: float) -> tuple[Counts, Floats]:
    """One call for all answers, and only what wins is sorted: NumPy at its best. INSECURE."""
    noisy = RNG.exponential(scale, len(counts))
    noisy += counts
    if 2 * k < len(noisy):
        top = np.argpartition(noisy, len(noisy) - k - 1)[-k - 1 :]
        order = top[np.argsort(noisy[top])[::-1]]
    else:  # where most win, to sort all of them once is faster
        order = np.argsort(noisy)[: -k - 2 : -1]
    values = noisy[order]
    return order[:k], values[:-1] - values[1:]


def select_laplace(counts: Counts, k: int, scale: float) -> tuple[Counts, Floats]:
    """Laplace noise on all, and only the k largest are sorted: names and noisy counts. INSECURE."""
    noisy = RNG.laplace(0, scale, len(counts))
    return _largest(noisy, counts, k)


def select_difference(counts: Counts, k: int, scale: float) -> tuple[Counts, Floats]:
    """The same law, and faster: Laplace noise is the difference of two exponentials. INSECURE."""
    noisy = RNG.standard_exponential(len(counts))
    noisy -= RNG.standard_exponential(len(counts))
    noisy *= scale
    return _largest(noisy, counts, k)


def _largest(noisy: Floats, counts: Counts, k: int) -> tuple[Counts, Floats]:
    noisy += counts
    top = np.argpartition(noisy, len(noisy) - k)[-k:]
    order = top[np.argsort(noisy[top])[::-1]]
    return order, noisy[order]


def select_rows_vectorised(
    answers: np.ndarray, k: int, scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """Do the same in each row of a two-dimensional array."""
    noisy = answers + np.random.default_rng().exponential(scale, answers.shape)
    best = np.argpartition(noisy, -(k + 1), axis=1)[:, -(k + 1) :]
    values = np.take_along_axis(noisy, best, axis=1)
    order = np.argsort(-values, axis=1)
    best = np.take_along_axis(best, order, axis=1)
    values = np.take_along_axis(values, order, axis=1)
    return best[:, :k], values[:, :-1] - values[:, 1:]
