"""The paper's Algorithms 1, 2 and 3 in floating point: INSECURE, for comparison only.

Their noise is a NumPy float, whose low-order bits give the answers away (Mironov 2012). Never
release what they return. Algorithm 1 is the baseline that everything is measured against; 2 and 3
are the steps by which the paper gets from 1 to the secure Algorithm 4.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from topgap.errors import AnswersError
from topgap.numbers.parse import read_whole
from topgap.parameters import TopK
from topgap.reference.paper_answers import read_steps

Floats = npt.NDArray[np.float64]


def gap_top_k_ideal(
    answers: npt.ArrayLike, parameters: TopK, generator: np.random.Generator | None = None
) -> list[tuple[int, float]]:
    """Algorithm 1, Noisy Top-k with Gap, with floats where the paper has real numbers. INSECURE.

    >>> from topgap import TopK
    >>> gap_top_k_ideal([0, 10**9, 5], TopK(k=1, epsilon=1))[0][0]
    1
    """
    q = _as_floats(answers, parameters)
    noisy = q + _noise(len(q), float(parameters.scale), generator)
    j = _largest(parameters.k + 1, noisy)
    return [(int(j[i]), float(noisy[j[i]] - noisy[j[i + 1]])) for i in range(parameters.k)]


def gap_top_k_rounded(
    answers: object, parameters: TopK, generator: np.random.Generator | None = None
) -> list[tuple[int, Fraction]]:
    """Algorithm 2, the same with answers and gaps rounded down to the resolution. INSECURE.

    >>> from topgap import TopK
    >>> gap_top_k_rounded([0, 10**9, 5], TopK(k=1, epsilon=1))[0][0]
    1
    """
    noisy = _noisy_steps(answers, parameters, generator)
    j = _largest(parameters.k + 1, noisy)
    return _rounded_gaps(noisy, j, parameters)


def gap_top_k_intermediate(
    answers: object,
    parameters: TopK,
    generator: np.random.Generator | None = None,
    *,
    refinement: int = 10,
) -> list[tuple[int, Fraction]]:
    """Algorithm 3: winners found on values rounded ever more finely, gaps on the floats. INSECURE.

    >>> from topgap import TopK
    >>> gap_top_k_intermediate([0, 10**9, 5], TopK(k=1, epsilon=1))[0][0]
    1
    """
    noisy = _noisy_steps(answers, parameters, generator)
    m = read_whole(refinement, "refinement", least=2)
    steps = 1.0  # 1/γ_t, in steps of the resolution
    j = _largest(parameters.k + 2, np.floor(noisy))
    # Real numbers are told apart by some resolution; floats that are equal never are.
    while _tie(np.floor(noisy * steps)[j]) and not _tie(noisy[j]):
        steps = steps * m
        j = _largest(parameters.k + 2, np.floor(noisy * steps))
    return _rounded_gaps(noisy, j, parameters)


def _as_floats(answers: npt.ArrayLike, parameters: TopK) -> Floats:
    """The answers as floats, checked at NumPy's speed: this is what others are measured against."""
    try:
        array = np.asarray(answers)
    except ValueError:  # lists of different lengths
        array = np.empty((0, 0))
    if array.ndim != 1 or len(array) < parameters.k + 1 or array.dtype.kind not in "iuf":
        raise AnswersError("The answers must be a list or array of k + 1 ints or floats or more.")
    floats = array.astype(np.float64)
    if not np.isfinite(floats).all():
        raise AnswersError("Every answer must be a finite number.")
    return floats


def _noise(n: int, scale: float, generator: np.random.Generator | None) -> Floats:
    return (generator or np.random.default_rng()).exponential(scale, n)


def _noisy_steps(
    answers: object, parameters: TopK, generator: np.random.Generator | None
) -> Floats:
    q = np.array(read_steps(answers, parameters), dtype=np.float64)
    return q + _noise(len(q), float(1 / parameters.rate), generator)


def _largest(count: int, noisy: Floats) -> npt.NDArray[np.intp]:
    count = min(count, len(noisy))
    top = np.argpartition(noisy, len(noisy) - count)[len(noisy) - count :]
    return top[np.argsort(noisy[top])[::-1]]


def _tie(descending: Floats) -> bool:
    return bool(np.any(descending[:-1] == descending[1:]))


def _rounded_gaps(
    noisy: Floats, j: npt.NDArray[np.intp], parameters: TopK
) -> list[tuple[int, Fraction]]:
    gaps = np.floor(noisy[j[:-1]] - noisy[j[1:]])
    return [(int(j[i]), int(gaps[i]) * parameters.resolution) for i in range(parameters.k)]
