"""Leads and uncertain orders, computed from the gaps of a release; and what count stands out."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil, exp, expm1, inf, log, log1p

from topgap import laplace_margins, sentinel_margins
from topgap.errors import ParameterError
from topgap.numbers.format import to_float
from topgap.numbers.parse import LEVEL, Number, read_number, read_parameter, read_whole
from topgap.parameters import TopK

ONE_IN = 20
"""An order is uncertain if the gap of two equal items is as large once in this many releases."""

_LEAST_MISSING = Fraction(1, 10**100)
_LARGEST_LOG = 700.0  # of a number that a float holds

NEAR_TIES = (
    "Where an order or the last place is uncertain, the estimates are biased and their standard "
    "errors understate the error; the intervals allow for that, and the measurements, which files "
    "and the page have too, are not biased."
)
"""The note on estimates if any order or the last place is uncertain."""


def leads(gaps: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return the lead of each winner over the first item that is not named.

    >>> leads([Fraction("12.5"), Fraction("0.3")])
    (Fraction(64, 5), Fraction(3, 10))
    """
    total = Fraction(0)
    ahead = []
    for gap in reversed(gaps):
        total += gap
        ahead.append(total)
    return tuple(reversed(ahead))


def least_certain_gap(parameters: TopK) -> Fraction:
    """Return the smallest gap whose order is not called uncertain: scale · ln 20, nearly.

    The difference of two independent exponential noises has an exponentially distributed size, of
    the same mean, so two items with equal answers come out at least g apart with probability
    e to the power of −g/scale: here, once in 20 times.

    With Laplace noise that probability is (1 + g/(2·scale)) times as large, but for the steps of
    the resolution, as either noise may go either way. So the gap is about 4.11 · scale: the least
    multiple of the resolution that two equal items reach at most once in 20 times.

    >>> round(float(least_certain_gap(TopK(k=2, epsilon=1))), 3)  # noise of mean 4
    11.983
    >>> few = TopK(k=9, epsilon=1, items_per_person=2, monotonic=True)  # Laplace noise of scale 2
    >>> least_certain_gap(few)
    Fraction(9, 1)
    """
    if parameters.noise == "laplace":
        return laplace_margins.least_certain_steps(parameters, ONE_IN) * parameters.resolution
    return parameters.scale * Fraction(log(ONE_IN))


def is_uncertain(gap: Fraction, parameters: TopK) -> bool:
    """Whether noise alone often separates two equal items by this gap.

    >>> parameters = TopK(k=2, epsilon=1)
    >>> is_uncertain(Fraction(10), parameters), is_uncertain(Fraction(15), parameters)
    (True, False)
    """
    return gap < least_certain_gap(parameters)


def is_any_uncertain(gaps: Iterable[Fraction], parameters: TopK) -> bool:
    """Whether the order of any two adjacent winners, or the last place, is uncertain.

    >>> is_any_uncertain([Fraction("12.5"), Fraction("0.3")], TopK(k=2, epsilon=1))
    True
    """
    return any(is_uncertain(gap, parameters) for gap in gaps)


def near_the_end(gaps: Sequence[Fraction], parameters: TopK) -> tuple[bool, ...]:
    """Return for each winner whether noise may have decided that it is named.

    That is where its lead over the first item that is not named, or over the threshold, is less
    than the least gap that is called certain.

    >>> near_the_end([Fraction("12.5"), Fraction("0.3")], TopK(k=2, epsilon=1))
    (False, True)
    """
    least = least_certain_gap(parameters)
    return tuple(lead < least for lead in leads(gaps))


def are_biased(gaps: Sequence[Fraction], parameters: TopK) -> tuple[bool, ...]:
    """Return for each winner whether noise may have decided on its rank, or that it is named.

    The number of such a winner is biased. These are the winners beside an uncertain order or place;
    those near the end of the list are among them. With exponential noise it is all of them where
    the threshold took the last place: had one more item come out above it, there would be no
    counts, and how far it was from that is not known.

    >>> gaps = [Fraction(each) for each in (90, 2, 90, 9)]   # gaps below about 30 are uncertain
    >>> are_biased(gaps, TopK(k=10, epsilon=1, monotonic=True, threshold=500))
    (False, True, True, True)
    >>> are_biased(gaps, TopK(k=5, epsilon="1/2", monotonic=True, threshold=500))
    (True, True, True, True)
    """
    if takes_last_place(parameters, len(gaps)):
        return (True,) * len(gaps)
    small = [is_uncertain(gap, parameters) for gap in gaps]
    return tuple(map(any, zip(small, [False, *small], strict=False)))


def takes_last_place(parameters: TopK, winners: int) -> bool:
    """Whether the threshold, with noise of its own, came k-th: with one more item, it had not.

    >>> takes_last_place(TopK(k=5, epsilon=1, threshold=500), 4)
    True
    """
    return parameters.has_sentinel and winners == parameters.k - 1


def count_to_stand_out(parameters: TopK, size: int) -> Fraction:
    """Return about how large a count must be to stand out in a domain of this size.

    The k-th largest of `size` independent exponential noises lies near scale · (ln size − ln k), so
    an item whose count is below that comes out among items that nobody has. It is a public number.
    Half of all Laplace noise is below 0, and so it is scale · ln 2 less there. It is not less than
    a threshold.

    Args:
        parameters: The parameters of the release.
        size: The number of items in the domain; an integer of any size.

    >>> parameters = TopK(k=10, epsilon=1, monotonic=True)
    >>> [round(count_to_stand_out(parameters, size)) for size in (10**12, 26**12, 2**160)]
    [253, 368, 1086]
    >>> few = TopK(k=10, epsilon=1, monotonic=True, items_per_person=2)
    >>> round(count_to_stand_out(few, 10**12))
    50
    """
    if parameters.noise == "laplace":
        steps = laplace_margins.steps_to_stand_out(parameters, size)
        return max(steps * parameters.resolution, parameters.threshold or Fraction(0))
    least = max(Fraction(0), parameters.threshold or Fraction(0))
    return max(least, parameters.scale * Fraction(log(size) - log(parameters.k)))


def expected_above_threshold(parameters: TopK, size: int) -> float:
    """Return how many items of a domain would be named on average, if nobody had any of them.

    With Laplace noise an item that nobody has reaches a threshold of x with probability
    t^x/(1 + t), where x is in steps of the resolution and t = e^−rate; and at most k are named.
    With exponential noise the threshold has noise, too, and an item is above it with probability
    e^−(threshold/scale)/2; the number is then an upper bound of the mean, which is nearly it: at
    most 1.4 times the mean if k is 1, and closer the larger k is. Without a threshold it is always
    k. It is a public number.

    Args:
        parameters: The parameters of the release.
        size: The number of items in the domain; an integer of any size.

    >>> few = TopK(k=None, epsilon=1, monotonic=True, items_per_person=2, threshold=50)
    >>> round(expected_above_threshold(few, 10**12), 1)
    8.6
    >>> twenty = TopK(k=20, epsilon=1, monotonic=True, threshold=500)
    >>> round(expected_above_threshold(twenty, 10**12), 1)
    6.9
    """
    threshold = parameters.threshold_units
    if threshold is None:
        return float(parameters.k)
    if parameters.has_sentinel:
        return sentinel_margins.expected_above(parameters, size)
    return min(float(parameters.k), laplace_margins.expected_to_reach(parameters, size, threshold))


def probability_above_threshold(parameters: TopK, answer: "Number") -> float:
    """Return the probability that an item with this answer comes out above the threshold.

    At most k items are named, so that it is named with this probability if fewer than k others come
    out above it.

    Args:
        parameters: The parameters of a release with a threshold and exponential noise.
        answer: The answer of the item.

    Raises:
        ParameterError, ParameterTypeError: There is no threshold, or the answer is not a number.

    >>> few = TopK(k=4, epsilon=1, monotonic=True, threshold=500)   # noise of mean 4
    >>> probability_above_threshold(few, 500), round(probability_above_threshold(few, 510), 3)
    (0.5, 0.959)
    """
    if not parameters.has_sentinel:
        raise ParameterError("probability_above_threshold needs a threshold and exponential noise.")
    exact = read_number(answer, "answer") // parameters.resolution * parameters.resolution
    return sentinel_margins.probability_above(parameters, exact)


def people_needed(parameters: TopK, size: int, probability: "Number" = LEVEL) -> int:
    """Return how many people an item needs to be named with at least this probability.

    That holds if at most k items have anybody, and the item is one of them: then it is named if it
    comes out above all of the size − k items that nobody has, and reaches the threshold if there is
    one. If the others have far more people it is named only then, so no smaller number would do. It
    is a public number.

    Args:
        parameters: The parameters of the release. If its sensitivity is not 1, it is not the people
            that are counted here, but the count that is needed.
        size: The number of items in the domain; an integer of any size, above k if there is no
            threshold.
        probability: The probability to be named; between 0 and 1.

    Raises:
        ParameterError, ParameterTypeError: One of them cannot be used; the sentence says why.

    >>> parameters = TopK(k=10, epsilon=1, monotonic=True)
    >>> people_needed(parameters, 10**12), people_needed(parameters, 10**12, "1/2")
    (299, 272)
    >>> few = TopK(k=10, epsilon=1, monotonic=True, items_per_person=2)
    >>> people_needed(few, 10**12), people_needed(few, 10**12, "1/2")
    (62, 55)
    """
    size = _read_size(size, parameters)
    missing = 1 - read_probability(probability)
    # By the union bound this is enough: the item comes out below each other with probability t/2.
    enough = ceil(parameters.scale * Fraction(log(size) - log(2 * missing)))
    low, high = -1, max(0, enough)
    if parameters.threshold is not None or parameters.noise == "laplace":
        # A threshold, or noise of the item itself that takes it down, asks for more.
        high += max(0, ceil(parameters.threshold or 0)) + 1
        while _probability_missed(parameters, size, high) > missing:
            low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _probability_missed(parameters, size, middle) <= missing:
            high = middle
        else:
            low = middle
    return high


def probability_named(parameters: TopK, size: int, count: int) -> float:
    """Return the probability that an item with this count is named, in the case of `people_needed`.

    That is: k − 1 items have far larger counts, and all others have 0. With n = size − k + 1 and
    t = e^−(count/scale) the probability is (1 − (1 − t)^n) / (n·t). For if the noise of the item is
    x times the scale, with density e^−x, each of the n − 1 others comes out above it with
    probability t·e^−x; and (1 − t·u)^(n − 1) is to be integrated over u = e^−x from 0 to 1.

    With Laplace noise, where the item's own noise can be negative, too, and a threshold can be
    missed, the same is integrated in steps: see `topgap.laplace_margins.probability_missed`. With a
    threshold and exponential noise the item must come out above the threshold, too: see
    `topgap.sentinel_margins.probability_missed`.

    Args:
        parameters: The parameters of the release.
        size: The number of items in the domain; an integer of any size, above k if there is no
            threshold.
        count: The count of the item; at least 0.

    Raises:
        ParameterError, ParameterTypeError: One of them cannot be used; the sentence says why.

    >>> one = TopK(k=1, epsilon=1, monotonic=True)
    >>> probability_named(one, 4, 0), round(probability_named(one, 2, 1), 4)   # 1 − 1/(2e)
    (0.25, 0.8161)
    >>> few = TopK(k=2, epsilon=1, monotonic=True, items_per_person=1, threshold=3)
    >>> round(probability_named(few, 10**6, 3), 4), round(probability_named(few, 10**6, 20), 4)
    (0.0, 0.9962)
    """
    size = _read_size(size, parameters)
    return 1 - _probability_missed(parameters, size, read_whole(count, "count", least=0))


def read_probability(probability: "Number") -> Fraction:
    """Return the probability that an item is to be named with, between 0 and 1.

    Raises:
        ParameterError, ParameterTypeError: It is no such number, or too close to 1.

    >>> read_probability(0.95)
    Fraction(19, 20)
    """
    exact = read_parameter(probability, "probability")
    if exact >= 1:
        raise ParameterError("probability must be below 1, such as 0.95.")
    if exact > 1 - _LEAST_MISSING:
        raise ParameterError("probability must be at most 1 - 1e-100, such as 0.95.")
    return exact


def _read_size(size: int, parameters: TopK) -> int:
    size, k = read_whole(size, "size", least=1), parameters.fewest_winners
    if size <= k:
        raise ParameterError(
            f"size must be above k = {k}, because a domain has more items than are named."
        )
    return size


def _probability_missed(parameters: TopK, size: int, count: int) -> float:
    """One minus `probability_named`, to full precision where that is close to 1, too."""
    n = max(1, size - parameters.k + 1)  # with a threshold there can be room for all
    if parameters.noise == "laplace":
        return laplace_margins.probability_missed(parameters, n, count, _share_beaten)
    if parameters.has_sentinel:
        return sentinel_margins.probability_missed(parameters, n, count)
    return _share_beaten(n, -to_float(count / parameters.scale))


def _share_beaten(n: int, log_t: float) -> float:
    """The mean of 1 − (1 − s)^(n − 1) over s from 0 to t, which is 1 − (1 − (1 − t)^n)/(n·t)."""
    if log_t == 0:
        return float(Fraction(n - 1, n))
    t, log_nt = exp(log_t), log(n) + log_t
    if log_nt > _LARGEST_LOG:
        return 1.0
    nt = exp(log_nt)
    if nt > 1:
        # So that (1 − t)^n is e^−(n·t·per_t); a t that rounds to 1 is as good as 1.
        per_t = 1.0 if t == 0 else -log1p(-t) / t if t < 1 else inf
        return 1 + expm1(-nt * per_t) / nt
    # The binomial series (n−1)t/2 − (n−1)(n−2)t²/6 + …, in which each term is at most half of the
    # one before.
    total, term, j = 0.0, -1.0, 0
    while abs(term) > 1e-18 * total:
        j += 1
        term *= -max(0.0, nt - j * t) / (j + 1)
        total += term
    return total
