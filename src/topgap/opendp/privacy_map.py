"""What a release costs at a distance: the privacy map, exact up to its last step.

**Claim.** Let noise of mean β be added to answers that were rounded down to steps of γ. If between
two inputs no rounded answer rises by more than r steps and none falls by more than f, then no
output is more than e^ε times as likely for one as for the other, with ε = k·(r + f)·γ/β.

**Proof.** Give each item the larger of its two rounded answers. From the first input to these no
answer falls and none rises by more than r steps; from these to the second none rises and none falls
by more than f. Both are neighbours in the monotonic sense, with sensitivity r·γ and f·γ, for which
noise of mean β costs k·r·γ/β and k·f·γ/β: that is Theorem 1 of docs/proofs/privacy.md, and
tests/law/test_privacy.py holds the exact law to it. One factor after the other, the exponents add
up.

**From a distance to steps.** ⌊x + d⌋ ≤ ⌊x⌋ + ⌈d⌉, so numbers that are d apart are no more than
⌈d/γ⌉ steps apart once they are rounded down. It is d/γ if they are integers, because 1/γ is one.

- `linf_distance(monotonic=True)`: inputs in which one answer rises and another falls are infinitely
  far apart. At a distance of d either r or f is 0, and the other one at most ⌈d/γ⌉.
- `linf_distance`: r and f are both at most ⌈d/γ⌉.
- `l1_distance`: the largest rise and the largest fall are those of two items, so together they are
  at most d. For integers r + f ≤ d/γ. For others r + f < d/γ + 2, and so at most ⌈d/γ⌉ + 1.
- `l01inf_distance`, that is (how many answers move, all their moves together, the largest): both of
  the last two; and where only one answer moves, either r or f is 0.

**With Laplace noise.** Let each answer get discrete Laplace noise, P(x) ∝ e^(−|x|·γ/β) in steps.
If between two inputs the rounded answers move by s steps in all, a rise or a fall alike, then no
output is more than e^ε times as likely for one as for the other, with ε = s·γ/β, whatever k is: the
noisy answers are independent, an answer that moves by m steps changes the probability of any value
of its own by a factor of at most e^(m·γ/β), and what is released is read off the noisy answers.

- `l1_distance` of integers: s = d/γ. Of others it has no bound, as any number of answers may move
  by less than a step and be rounded otherwise; so it is refused.
- `l01inf_distance`, of distances n, d and e: with n answers that move, s is at most n·⌈e/γ⌉, and at
  most d/γ for integers. For others each adds less than a step to that, so that s < d/γ + n, and s
  is at most ⌈d/γ⌉ + n − 1.

Leaving items out makes none of these distances larger, and a key that is missing counts as 0.

Rows that are counted are l1: each moves one count by 1, so after d rows came or went, in whatever
mixture, the counts are d apart. That is why counts cost k·d/β without any monotonic flag, and why
the flag would be wrong for them: one row may come and another go.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, nextafter
from typing import Any, NamedTuple, TypeAlias

from opendp.metrics import absolute_distance, l01inf_distance, l1_distance, linf_distance
from opendp.mod import Metric

from topgap.errors import ParameterError, ParameterTypeError
from topgap.parameters import TopK

Distance: TypeAlias = "int | float"

_NUMBERS = {"u32", "u64", "usize", "i32", "i64", "f32", "f64"}


class Difference(NamedTuple):
    """How two inputs at a distance can differ."""

    each: Distance
    """No answer moves by more."""
    together: Distance
    """The largest rise and the largest fall add up to no more."""
    one_way: bool
    """No answer rises while another falls."""
    moving: int | None = None
    """No more answers move, if there is a bound."""
    all_moves: Distance = inf
    """The moves of all answers add up to no more."""


class MetricInfo(NamedTuple):
    """What a metric says: which moves are possible at a distance, and of what kind they are."""

    moves: Callable[[Any], Difference]
    monotonic: bool
    """Whether no answer rises while another falls, at any distance."""
    additive: bool
    """Whether the moves of all answers together are bounded, and not only that of each."""
    counts_moves: bool = False
    """Whether it bounds how many answers move."""


def read_metric(metric: object) -> MetricInfo:
    """What an OpenDP metric says, if the privacy map is proved for it.

    Raises:
        ParameterTypeError: `metric` is not a Metric of OpenDP.
        ParameterError: It is another one than `linf_distance`, `l1_distance` and `l01inf_distance`.

    >>> read_metric(linf_distance(T="i32", monotonic=True)).moves(3)
    Difference(each=3, together=3, one_way=True, moving=None, all_moves=inf)
    >>> read_metric(l01inf_distance(absolute_distance(T="i32"))).moves((5, 4, 1))
    Difference(each=1, together=4, one_way=False, moving=5, all_moves=4)
    """
    if not isinstance(metric, Metric):
        raise ParameterTypeError(
            f"input_metric must be a metric of OpenDP, such as linf_distance(T='i32'), "
            f"not {type(metric).__name__}."
        )
    kind: Any = metric.distance_type
    if kind in _NUMBERS:
        if metric == linf_distance(T=kind, monotonic=True):
            return MetricInfo(_monotonic, monotonic=True, additive=False)
        if metric == linf_distance(T=kind):
            return MetricInfo(_linf, monotonic=False, additive=False)
        if metric == l1_distance(T=kind):
            return MetricInfo(_l1, monotonic=False, additive=True)
    else:
        number = getattr(kind, "args", [None])[-1]
        if number in _NUMBERS and metric == l01inf_distance(absolute_distance(T=number)):
            return MetricInfo(_l01inf, monotonic=False, additive=True, counts_moves=True)
    raise ParameterError(
        "input_metric must be linf_distance, l1_distance, or l01inf_distance of absolute_distance; "
        "the privacy map has no proof for others."
    )


def _monotonic(d_in: Distance) -> Difference:
    return Difference(each=d_in, together=d_in, one_way=True)


def _linf(d_in: Distance) -> Difference:
    return Difference(each=d_in, together=inf, one_way=False)


def _l1(d_in: Distance) -> Difference:
    return Difference(each=d_in, together=d_in, one_way=False, all_moves=d_in)


def _l01inf(d_in: tuple[int, Distance, Distance]) -> Difference:
    moving, together, each = d_in
    each = min(each, together) if moving else 0
    return Difference(each, together, one_way=moving <= 1, moving=moving, all_moves=together)


@dataclass(frozen=True)
class PrivacyMap:
    """From the distance of two inputs to the ε between their outputs.

    Attributes:
        parameters: Their scale is β, their resolution γ.
        closeness: What the metric says of two inputs at a distance.
        whole: Whether all answers are integers.

    >>> closeness = read_metric(linf_distance(T="f64"))
    >>> privacy_map = PrivacyMap(TopK(k=1, epsilon=1), closeness, whole=False)
    >>> privacy_map(1.0), privacy_map(0.25)   # a quarter may cross three of ten steps
    (1.0, 0.30000000000000004)
    >>> closeness = read_metric(l01inf_distance(absolute_distance(T="i32")))
    >>> noisy = TopK(k=100, epsilon=1, items_per_person=1, noise="laplace", monotonic=True)
    >>> PrivacyMap(noisy, closeness, whole=True)((2, 10, 3))   # two answers, by 3 each
    6.0
    """

    parameters: TopK
    closeness: MetricInfo
    whole: bool

    def __call__(self, d_in: Any) -> float:
        """The ε at this distance, rounded up to a float; infinite if it has no bound.

        Raises:
            ParameterError: A distance is negative or no number.
        """
        distances = d_in if isinstance(d_in, tuple) else (d_in,)
        if not all(distance >= 0 for distance in distances):  # NaN is not either
            raise ParameterError("d_in must be a distance: 0 or a number greater than 0.")
        moves = self.closeness.moves(d_in)
        if self.parameters.noise == "laplace":
            steps = self._all_steps(moves)
            return inf if steps is None else round_up(steps * self.parameters.rate)
        if moves.each == inf:
            return inf
        return round_up(self.parameters.k * self._steps(moves) * self.parameters.rate)

    def _steps(self, moves: Difference) -> int:
        """How far the largest rise and the largest fall, in whole steps, can add up: r + f."""
        each = self._ceil_to_steps(moves.each)
        if moves.one_way:
            return each
        if moves.together == inf:
            return 2 * each
        crossing = 0 if self.whole else 1
        return min(2 * each, self._ceil_to_steps(moves.together) + crossing)

    def _all_steps(self, moves: Difference) -> int | None:
        """How far all answers can move, in whole steps that are added up: s; None without bound."""
        moving = moves.moving
        if moves.each == 0 or moving == 0:
            return 0
        bounds = []
        if moves.each != inf and moving is not None:
            bounds.append(moving * self._ceil_to_steps(moves.each))
        if moves.all_moves != inf and self.whole:
            bounds.append(self._ceil_to_steps(moves.all_moves))
        elif moves.all_moves != inf and moving is not None:
            bounds.append(self._ceil_to_steps(moves.all_moves) + moving - 1)
        return min(bounds, default=None)

    def _ceil_to_steps(self, distance: Distance) -> int:
        # A float is the dyadic number that it stores: OpenDP reckons with those too.
        return ceil(Fraction(distance) / self.parameters.resolution)


def round_up(exact: Fraction) -> float:
    """The least float that is not below `exact`; infinite above the largest.

    >>> round_up(Fraction(1, 2)), round_up(Fraction(1, 10)), round_up(Fraction(3, 10))
    (0.5, 0.1, 0.30000000000000004)
    """
    try:
        nearest = float(exact)  # rounded correctly, up or down
    except OverflowError:
        return inf
    return nearest if nearest >= exact else nextafter(nearest, inf)
