"""Numbers in the order of the ranks, and none below 0: post-processing that costs no ε.

Estimates have noise of their own, so they can stand in another order than the ranks, and below 0.
The vector x with x₁ ≥ … ≥ x_k ≥ 0 that is closest to the numbers y, by Σ wᵢ(xᵢ − yᵢ)² with the
weights 1/variance, has neither. It is a function of what is published, and so costs nothing.

Pool adjacent violators finds it. Let blocks be runs of neighbours, each with the weighted mean of
its y. Begin with single numbers, and merge two neighbouring blocks while the mean of the second is
larger. Claim: the means x of the blocks that remain are the closest without the bound at 0.

- They do not increase: else two blocks could be merged.
- In each block, the weighted mean of any first part is at most that of the block. So it is with a
  single number; and if blocks with means a < b are merged to mean m, then a < m < b: a part within
  the first block has a mean of at most a, and one that reaches into the second adds numbers to the
  first block of which the mean is at most b, so that its mean is at most m.
- Let z not increase. Within a block sum by parts: Σ wᵢ(yᵢ − xᵢ)(zᵢ − xᵢ) = Σⱼ Sⱼ(zⱼ − zⱼ₊₁), where
  Sⱼ = Σ_{i ≤ j} wᵢ(yᵢ − xᵢ) ≤ 0 by the last point, and Sⱼ = 0 at its end. So this is at most 0, and
  Σ w(y − z)² = Σ w(y − x)² + Σ w(x − z)² − 2 Σ w(y − x)(z − x) ≥ Σ w(y − x)². ∎

With the bound, the closest is max(x, 0). Let z ≥ 0. A block with a mean below 0 becomes 0 whole,
and Σ wᵢ(yᵢ − 0)(zᵢ − 0) = Σⱼ Tⱼ(zⱼ − zⱼ₊₁) + T_end · z_end, where Tⱼ = Σ_{i ≤ j} wᵢyᵢ < 0, as the
first part of a block has at most its mean. So this is at most 0, too; the rest is as above. ∎
"""

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

from topgap.numbers.parse import LEVEL, Number
from topgap.release import Release

End = Fraction | float


class Ordered(NamedTuple):
    """How large the answer of a winner is, in the order of the ranks and at least 0.

    Attributes:
        item: The winner.
        value: The number.
        low: The lower end of its interval; at most the number, and at least 0.
        high: The upper end; at least the number, and infinite beyond the largest float.
    """

    item: Any
    value: Fraction
    low: End
    high: End


def counts_in_order(release: Release, level: "Number" = LEVEL) -> tuple[Ordered, ...]:
    """Return the counts or values of a release, at least 0 and in the order of its ranks.

    They are in that order already, so only what is below 0 changes.

    Args:
        release: A release with counts, or with values of Laplace noise.
        level: That of the intervals.

    Raises:
        ParameterError, ParameterTypeError: The level does not lie between 0 and 1.
        ReleaseError: The release has no counts; the sentence says why.

    >>> from topgap import TopK
    >>> few = TopK(k=2, epsilon=1, items_per_person=1, monotonic=True)
    >>> release = Release(few, None, [7, 4], ["flu", "cold"], value_units=[5, -2])
    >>> [(each.item, int(each.value), int(each.low), int(each.high))
    ...     for each in counts_in_order(release)]
    [('flu', 5, 2, 8), ('cold', 0, 0, 1)]
    """
    counts = release.counts(level)
    return put_in_order(
        [each.item for each in counts],
        [each.value for each in counts],
        [Fraction(1)] * len(counts),
        [(each.low, each.high) for each in counts],
    )


def put_in_order(
    items: Sequence[Any],
    numbers: Sequence[Fraction],
    weights: Sequence[Fraction],
    intervals: Sequence[tuple[End, End]],
) -> tuple[Ordered, ...]:
    """Return each winner with its number in order, and the interval that holds both.

    The interval is cut at 0, which answers that are counts are not below, and reaches to the new
    number where that lies outside. So it covers such answers at least as often as before.
    """
    rows = zip(items, order_numbers(numbers, weights), intervals, strict=True)
    return tuple(
        Ordered(item, value, max(Fraction(0), min(low, value)), max(high, value))
        for item, value, (low, high) in rows
    )


def order_numbers(numbers: Sequence[Fraction], weights: Sequence[Fraction]) -> list[Fraction]:
    """Return the closest numbers that do not increase and are at least 0, exactly.

    Args:
        numbers: From the first rank down.
        weights: A positive weight for each.

    >>> numbers = [Fraction(each) for each in (9, 3, 5, -2)]
    >>> [int(each) for each in order_numbers(numbers, [Fraction(1)] * 4)]
    [9, 4, 4, 0]
    """
    blocks: list[tuple[Fraction, Fraction, int]] = []  # mean, weight, length
    for number, weight in zip(numbers, weights, strict=True):
        mean, total, length = number, weight, 1
        while blocks and blocks[-1][0] < mean:
            other_mean, other_weight, other_length = blocks.pop()
            both = total + other_weight
            mean = (mean * total + other_mean * other_weight) / both
            total, length = both, length + other_length
        blocks.append((mean, total, length))
    return [max(Fraction(0), mean) for mean, _, length in blocks for _ in range(length)]


def weigh(variances: Sequence[float]) -> list[Fraction]:
    """Return 1/variance for each, as a float has it; equal weights if one cannot be held.

    >>> weigh([4.0, 2.0]), weigh([4.0, 0.0])
    ([Fraction(1, 4), Fraction(1, 2)], [Fraction(1, 1), Fraction(1, 1)])
    """
    in_floats = all(0 < each < inf and 0 < 1 / each < inf for each in variances)
    if len({*variances}) == 1 or not in_floats:
        return [Fraction(1)] * len(variances)
    return [Fraction(1 / each) for each in variances]
