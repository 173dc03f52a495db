"""INSECURE: mechanisms with Laplace noise that are broken on purpose, each in one way.

Apart from the stated fault they are exact: the kernel draws discrete Laplace noise for each answer,
and the reference draws the order of ties. Each releases triples (index, gap, noisy value).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from topgap._core import Laplace
from topgap.auditing.cases.neighbours import Neighbours
from topgap.auditing.mechanisms.broken_mechanisms import BrokenMechanism
from topgap.parameters import TopK
from topgap.sampling.sampler import Sampler

Answers = Sequence[int]
Triples = list[tuple[int, Fraction, Fraction]]


def noise_for_one_item(answers: Answers, parameters: TopK) -> Triples:
    """The scale of somebody who is in one item, 1/ε, whatever L is."""
    assert parameters.items_per_person is not None  # noqa: S101 - or there was no Laplace noise
    noisy = _add(answers, parameters, _laplace(parameters.rate * parameters.items_per_person))
    return _release(noisy, _break_ties(noisy), parameters)


def one_sided_noise(answers: Answers, parameters: TopK) -> Triples:
    """The size of the noise without its sign."""
    noisy = _add(answers, parameters, lambda n: [abs(x) for x in _laplace(parameters.rate)(n)])
    return _release(noisy, _break_ties(noisy), parameters)


def zero_twice(answers: Answers, parameters: TopK) -> Triples:
    """Geometric size and a fair sign, drawn separately: 0 and −0 are two ways to draw 0."""
    sampler = Sampler()

    def draw(n: int) -> list[int]:
        return [sampler.geometric(parameters.rate) * (2 * sampler.uniform(2) - 1) for _ in range(n)]

    noisy = _add(answers, parameters, draw)
    return _release(noisy, _break_ties(noisy), parameters)


def values_of_other_noise(answers: Answers, parameters: TopK) -> Triples:
    """The order and the gaps of one noise, and the first value of another."""
    draw = _laplace(parameters.rate)
    noisy = _add(answers, parameters, draw)
    order = _break_ties(noisy)
    first = order[0]
    again = _add(answers, parameters, draw)[first]
    return _release({i: again + x - noisy[first] for i, x in noisy.items()}, order, parameters)


def ties_by_index(answers: Answers, parameters: TopK) -> Triples:
    """Of equals the one that stands first wins."""
    noisy = _add(answers, parameters, _laplace(parameters.rate))
    return _release(noisy, sorted(noisy, key=lambda i: (-noisy[i], i)), parameters)


def ties_by_true_order(answers: Answers, parameters: TopK) -> Triples:
    """Of equals the one with the larger true answer wins."""
    noisy = _add(answers, parameters, _laplace(parameters.rate))
    return _release(noisy, sorted(noisy, key=lambda i: (-noisy[i], -answers[i])), parameters)


def _add(answers: Answers, parameters: TopK, draw: Callable[[int], list[int]]) -> dict[int, int]:
    """The noisy answers in steps, by their index."""
    per_unit = parameters.resolution.denominator
    return {
        i: answer * per_unit + x
        for i, (answer, x) in enumerate(zip(answers, draw(len(answers)), strict=True))
    }


def _break_ties(noisy: dict[int, int]) -> list[int]:
    """The indices from the largest down, those of equal values in a uniform order."""
    marks = Sampler().shuffle(len(noisy))
    return sorted(noisy, key=lambda i: (noisy[i], marks[i]), reverse=True)


def _release(noisy: dict[int, int], order: list[int], parameters: TopK) -> Triples:
    unit = parameters.resolution
    top = order[: parameters.k + 1]
    return [(i, (noisy[i] - noisy[j]) * unit, noisy[i] * unit) for i, j in pairwise(top)]


@lru_cache
def _laplace(rate: Fraction) -> Callable[[int], list[int]]:
    return Laplace(rate.numerator, rate.denominator).draw


_ONE_ITEM = TopK(1, 1, monotonic=True, items_per_person=1, noise="laplace")
_TWO_ITEMS = TopK(3, 1, monotonic=True, items_per_person=2)
_PAIR = Neighbours((0, 0), (1, 0), _ONE_ITEM)

BROKEN_LAPLACE: tuple[BrokenMechanism, ...] = (
    BrokenMechanism(
        "Laplace, noise for one item",
        "The scale 1/ε where a person may be in two items.",
        noise_for_one_item,
        (Neighbours((0, 0, 0, 0), (1, 1, 0, 0), _TWO_ITEMS),),
        "privacy",
    ),
    BrokenMechanism(
        "Laplace, one-sided",
        "Noise without its sign: no value is below its answer.",
        one_sided_noise,
        (_PAIR,),
        "privacy",
    ),
    BrokenMechanism(
        "Laplace, zero twice",
        "Size and sign drawn separately: noise of 0 comes twice as often as it should.",
        zero_twice,
        (_PAIR,),
        "privacy",
    ),
    BrokenMechanism(
        "Laplace, values of other noise",
        "The first value has fresh noise, not that which decided the order: ε is spent twice.",
        values_of_other_noise,
        (Neighbours((1, 0, 0, 0, 0), (0, 0, 0, 0, 0), _ONE_ITEM),),
        "privacy",
    ),
    BrokenMechanism(
        "Laplace, ties by index",
        "Ties to whoever stands first in a public list.",
        ties_by_index,
        (_PAIR,),
        "law",
    ),
    BrokenMechanism(
        "Laplace, ties by true order",
        "Ties to whoever stands first in a list sorted by the true answers.",
        ties_by_true_order,
        (Neighbours((0, 1), (0, 0), _ONE_ITEM),),
        "privacy",
    ),
)
"""All of them."""
