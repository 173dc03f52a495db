"""Lower bounds of ε from neighbouring data sets, with an event chosen on a sample of its own.

For an event E and neighbours D, D′, ε-differential privacy says P[E | D] ≤ e^ε·P[E | D′]. If p is a
lower bound of the first probability and p′ an upper bound of the second, then ε ≥ ln(p/p′). The
event is chosen on other releases, so that it is independent of the counts that measure it.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import log
from typing import NamedTuple

import numpy as np

from topgap.auditing.cases.neighbours import Neighbours
from topgap.auditing.observing.event_text import describe_event
from topgap.auditing.observing.gap_bins import make_gap_bins
from topgap.auditing.observing.observables import Labels, Tally, list_observables
from topgap.auditing.observing.outcomes import releases_values
from topgap.auditing.probability.binomial import exceeds, log_ratio_bound, lower_bound, upper_bound
from topgap.auditing.probability.directed_rounding import round_down, round_up
from topgap.auditing.results.findings import Bound

Event = frozenset[Hashable]


class Sides(NamedTuple):
    """What came on one data set and on the other."""

    here: Tally
    there: Tally


def count_tails(case: Neighbours, *, gaps: bool) -> int:
    """The number of one-sided bounds: two for each observable and direction."""
    return 4 * len(_observables(case, gaps=gaps))


def _observables(case: Neighbours, *, gaps: bool) -> tuple[str, ...]:
    values = releases_values(case.parameters, gaps=gaps)
    return list_observables(case.parameters.k, gaps=gaps, values=values)


def bound_epsilon(
    case: Neighbours,
    learnt: Sequence[Tally],
    measured: Sequence[Tally],
    level: Fraction,
    *,
    gaps: bool,
) -> tuple[Bound, ...]:
    """Bound ε from below, once for each observable and direction.

    Args:
        case: The neighbours and the parameters.
        learnt: What came on each data set, to choose events.
        measured: What came on each data set in other releases, to measure them.
        level: The largest probability that a bound is wrong.
        gaps: Whether there are gaps.
    """
    made = []
    for number, feature in enumerate(_observables(case, gaps=gaps)):
        for likelier_on in (0, 1):
            step = -1 if likelier_on else 1
            first, second = Sides(*learnt[::step]), Sides(*measured[::step])
            event = choose_event(first, number, second, level)
            made.append(_measure(case, likelier_on, feature, number, event, second, level))
    return tuple(made)


def choose_event(learnt: Sides, feature: int, measured: Sides, level: Fraction) -> Event:
    """Choose the event that promises the largest bound, among the labels that came.

    Labels are added from the largest ratio of counts down, until the bound that the second sample
    is expected to give is the largest. Any choice is valid; a good one only improves the bound. So
    plain floats may decide it.
    """
    here, there = learnt.here.counts[feature], learnt.there.counts[feature]
    labels = sorted(here, key=lambda label: _ratio(label, here, there), reverse=True)
    more_here = measured.here.releases / learnt.here.releases
    more_there = measured.there.releases / learnt.there.releases
    a = np.cumsum([here[label] for label in labels]) * more_here
    b = np.cumsum([there[label] for label in labels]) * more_there
    fewest = log(level.denominator) - log(level.numerator)  # the upper bound of a count of 0
    rest = 1 - a / measured.here.releases
    at_least = a - np.sqrt(2 * fewest * a * np.maximum(rest, 0)) - np.where(rest <= 0, fewest, 0)
    at_most = b + np.sqrt(2 * fewest * b) + fewest
    best = int(np.argmax(at_least / at_most))
    return frozenset(labels[: best + 1])


def _ratio(label: Hashable, here: Labels, there: Labels) -> float:
    return (here[label] + 0.5) / (there[label] + 0.5)


def _measure(
    case: Neighbours,
    likelier_on: int,
    feature: str,
    number: int,
    event: Event,
    sides: Sides,
    level: Fraction,
) -> Bound:
    n, other_n = sides.here.releases, sides.there.releases
    count = sum(sides.here.counts[number][label] for label in event)
    other = sum(sides.there.counts[number][label] for label in event)
    p, other_p = lower_bound(n, count, level), upper_bound(other_n, other, level)
    return Bound(
        case=case,
        likelier_on=likelier_on,
        feature=feature,
        event=describe_event(feature, event, make_gap_bins(case)),
        count=count,
        releases=n,
        other_count=other,
        other_releases=other_n,
        probability_at_least=round_down(p),
        other_at_most=round_up(other_p),
        epsilon=log_ratio_bound(p, other_p),
        violated=exceeds(p, other_p, case.parameters.epsilon),
    )
