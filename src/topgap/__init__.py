"""Which k items are the largest, and by how much, under pure ε-differential privacy.

    TopK(k, epsilon, …)                   the exact parameters of a release
    topgap.reference.gap_top_k(…)         the paper's algorithm, in plain Python
    topgap.law                            the exact probability of every possible output

The guarantee holds on a real computer: integers and exact fractions lead from answers to gaps.
"""

from topgap import law, reference
from topgap._core import __version__
from topgap.errors import (
    AnswersError,
    AnswersTypeError,
    ParameterError,
    ParameterTypeError,
    TopgapError,
)
from topgap.parameters import TopK

__all__ = [
    "AnswersError",
    "AnswersTypeError",
    "ParameterError",
    "ParameterTypeError",
    "TopK",
    "TopgapError",
    "__version__",
    "law",
    "reference",
]
