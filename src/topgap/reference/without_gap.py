"""Noisy Max and Noisy Top-k, which name the winners and say nothing of the gaps.

Geometric noise and uniformly broken ties have exactly the law of real exponential noise: the
paper's lemma on secure Noisy Max, and the same argument for k winners.
"""

from topgap.errors import ParameterError
from topgap.parameters import TopK
from topgap.reference.paper_answers import read_steps
from topgap.sampling.sampler import Sampler, sampler_or_default


def noisy_max(answers: object, parameters: TopK, *, sampler: Sampler | None = None) -> int:
    """Name the largest answer: the mechanism of the paper's lemma on secure Noisy Max.

    Args:
        answers: One number per item; at least 2 of them.
        parameters: Their k must be 1.
        sampler: What draws and counts; a fresh one on the system's generator unless given.

    Returns:
        The index of the winner: its position among the answers, from 0.

    Raises:
        AnswersError, AnswersTypeError: The answers cannot be used; see `read_steps`.
        ParameterError: k is not 1.
        KernelError: The system gave no randomness.

    >>> from topgap import TopK
    >>> noisy_max([0, 10**9, 5], TopK(k=1, epsilon=1))
    1
    """
    q = read_steps(answers, parameters)
    if parameters.k != 1:
        raise ParameterError("noisy_max names one item; use k=1, or top_k for more.")
    sampler = sampler_or_default(sampler)
    rate = parameters.rate
    x = [answer + sampler.geometric(rate) for answer in q]
    best = max(x)
    s = [i for i in range(len(x)) if x[i] == best]
    return s[sampler.uniform(len(s))]


def top_k(answers: object, parameters: TopK, *, sampler: Sampler | None = None) -> list[int]:
    """Name the k largest answers, from the largest down.

    Args:
        answers: One number per item; at least k + 1 of them.
        parameters: k, ε, resolution, sensitivity, and whether the answers are monotonic.
        sampler: What draws and counts; a fresh one on the system's generator unless given.

    Returns:
        The indices of the winners: their positions among the answers, from 0.

    Raises:
        AnswersError, AnswersTypeError: The answers cannot be used; see `read_steps`.
        KernelError: The system gave no randomness.

    >>> from topgap import TopK
    >>> top_k([0, 10**9, 5, 10**6], TopK(k=2, epsilon=1))
    [1, 3]
    """
    q = read_steps(answers, parameters)
    sampler = sampler_or_default(sampler)
    rate = parameters.rate
    x = [answer + sampler.geometric(rate) for answer in q]
    # The remainders below the resolution are independent and alike, so their order is uniform.
    order = sampler.shuffle(len(x))
    sampler.calls["argsort"] += 1
    ranked = sorted(range(len(x)), key=lambda i: (x[i], order[i]), reverse=True)
    return ranked[: parameters.k]
