"""Which k items are the largest, and by how much, under pure ε-differential privacy.

    top_k(answers, k, epsilon, …)         the k largest and the gaps between them: a Release
    noisy_max(answers, epsilon, …)        the largest alone
    TopK(k, epsilon, …).release(answers)  the same, with parameters that are read once
    topgap.reference                      the paper's algorithms, in plain Python
    topgap.law                            the exact probability of every possible output

The guarantee holds on a real computer: integers and exact fractions lead from answers to gaps.
"""

from topgap import law, reference
from topgap._core import __version__
from topgap.errors import (
    AnswersError,
    AnswersTypeError,
    ItemsError,
    KernelError,
    MissingExtraError,
    ParameterError,
    ParameterTypeError,
    ReleaseError,
    TopgapError,
)
from topgap.mechanism import noisy_max, top_k
from topgap.parameters import TopK
from topgap.release import Release

__all__ = [
    "AnswersError",
    "AnswersTypeError",
    "ItemsError",
    "KernelError",
    "MissingExtraError",
    "ParameterError",
    "ParameterTypeError",
    "Release",
    "ReleaseError",
    "TopK",
    "TopgapError",
    "__version__",
    "law",
    "noisy_max",
    "reference",
    "top_k",
]
