"""Numerical integration of smooth functions, by Gauss and Legendre."""

from functools import lru_cache

import numpy as np

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


@lru_cache(maxsize=1)
def unit_nodes() -> tuple[Array, Array]:
    """Return 16 nodes on (0, 1) and their weights.

    They are made when they are needed: NumPy's polynomials take time to load.

    >>> nodes, weights = unit_nodes()
    >>> round(float(nodes**2 @ weights), 12)
    0.333333333333
    """
    nodes, weights = np.polynomial.legendre.leggauss(16)
    return nodes / 2 + 0.5, weights / 2
