"""The paper's Algorithm 4, Noisy Top-k with Gap (Secure), plain and with early query pruning.

Both have exactly the law of adding real Exponential(β) noise to the rounded answers, sorting, and
rounding each gap down to a multiple of the resolution.
"""

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from topgap.numbers.parse import read_whole
from topgap.parameters import TopK
from topgap.reference.paper_answers import read_steps
from topgap.sampling.sampler import Sampler, sampler_or_default


def gap_top_k(
    answers: object, parameters: TopK, *, refinement: int = 10, sampler: Sampler | None = None
) -> list[tuple[int, Fraction]]:
    """Name the k largest answers, and the gap from each to the next: Algorithm 4 of the paper.

    Args:
        answers: One number per item; at least k + 1 of them.
        parameters: k, ε, resolution, sensitivity, and whether the answers are monotonic.
        refinement: The paper's M ≥ 2, the factor between two resolutions while ties are broken;
            it changes the cost and never the law.
        sampler: What draws and counts; a fresh one on the system's generator unless given.

    Returns:
        The winners from the largest down as (index, gap): the position among the answers, from 0,
        and the lead over the next, a multiple of the resolution.

    Raises:
        AnswersError, AnswersTypeError: The answers cannot be used; see `read_steps`.
        ParameterError, ParameterTypeError: `refinement` is not an integer of at least 2,
            `parameters` not a `TopK` or `sampler` not a `Sampler`.
        KernelError: The system gave no randomness.

    >>> from topgap import TopK
    >>> [(winner, gap)] = gap_top_k([10**30, 0, 5], TopK(k=1, epsilon=1))
    >>> winner, gap.denominator in (1, 2, 5, 10)
    (0, True)
    """
    return _algorithm_4(answers, parameters, refinement, sampler, pruning=False)


def gap_top_k_pruned(
    answers: object, parameters: TopK, *, refinement: int = 10, sampler: Sampler | None = None
) -> list[tuple[int, Fraction]]:
    """Like `gap_top_k`, with early query pruning: only answers that can still matter are refined.

    The law, arguments, result and errors are those of `gap_top_k`.

    >>> from topgap import TopK
    >>> [index for index, gap in gap_top_k_pruned([0, 10**9, 10**6, 5], TopK(k=2, epsilon=1))]
    [1, 2]
    """
    return _algorithm_4(answers, parameters, refinement, sampler, pruning=True)


def _algorithm_4(
    answers: object, parameters: TopK, refinement: int, sampler: Sampler | None, *, pruning: bool
) -> list[tuple[int, Fraction]]:
    q = read_steps(answers, parameters)
    m = read_whole(refinement, "refinement", least=2)  # or ties would never be broken
    sampler = sampler_or_default(sampler)
    k = parameters.k

    # Possible top k. Values are whole multiples of the current resolution γ_t = γ*/M^t.
    t = 0
    rate = parameters.rate
    noisy = {i: q[i] + sampler.geometric(rate) for i in range(len(q))}
    j = _largest(k + 2, noisy, sampler)

    # Resolve ties. When there are k + 1 answers in all, there is no (k + 2)-th to tie with.
    while _tie(noisy[i] for i in j):
        if pruning:
            # What lies below the (k + 2)-th at this resolution lies below it at every finer one.
            noisy = {i: noisy[i] for i in noisy if noisy[i] >= noisy[j[-1]]}
        t = t + 1
        rate = rate / m
        noisy = {i: noisy[i] * m + sampler.truncated_geometric(rate, m) for i in noisy}
        j = _largest(k + 2, noisy, sampler)

    # Find gaps. One shared random order stands for the order of the remainders below γ_t.
    x = sampler.shuffle(k + 1)
    release = []
    for i in range(k):
        gap = noisy[j[i]] - noisy[j[i + 1]]
        if x[i] < x[i + 1]:
            gap = gap - 1
        release.append((j[i], gap // m**t * parameters.resolution))
    return release


def _largest(count: int, noisy: dict[int, int], sampler: Sampler) -> list[int]:
    sampler.calls["argsort"] += 1
    return sorted(noisy, key=noisy.__getitem__, reverse=True)[:count]


def _tie(descending: Iterable[int]) -> bool:
    return any(high == low for high, low in pairwise(descending))
