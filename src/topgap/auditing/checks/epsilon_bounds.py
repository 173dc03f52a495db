"""Lower bounds of ε from neighbouring data sets, with an event chosen on a sample of its own.

For an event E and neighbours D, D′, ε-differential privacy says P[E | D] ≤ e^ε·P[E | D′]. If p is a
lower bound of the first probability and p′ an upper bound of the second, then ε ≥ ln(p/p′). The
event is chosen on other releases, so that it is independent of the counts that measure it.

With a threshold, an output with few winners is promised to cost less than ε. The bound of what it
cost holds *ex post*, for each single output, and so for every event that is part of the outputs
with so many winners. These are looked at one number of winners at a time, each with its own
promise; and all of them together with ε.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import log
from typing import NamedTuple

import numpy as np

from topgap.auditing.cases.neighbours import Cost, Neighbours
from topgap.auditing.observing.event_text import describe_event, describe_number
from topgap.auditing.observing.gap_bins import make_gap_bins
from topgap.auditing.observing.observables import (
    ITEMS,
    ITEMS_AND_GAPS,
    Labels,
    Observable,
    Tally,
    observables_of,
)
from topgap.auditing.probability.binomial import exceeds, log_ratio_bound, lower_bound, upper_bound
from topgap.auditing.probability.directed_rounding import round_down, round_up
from topgap.auditing.results.findings import Bound
from topgap.errors import ParameterError
from topgap.numbers.parse import read_number
from topgap.parameters import TopK

Event = frozenset[Hashable]


class Sides(NamedTuple):
    """What came on one data set and on the other."""

    here: Tally
    there: Tally


def count_tails(case: Neighbours, *, gaps: bool) -> int:
    """The number of one-sided bounds: two for each observable and direction."""
    return 4 * len(_observables(case, gaps=gaps))


def _observables(case: Neighbours, *, gaps: bool) -> tuple[Observable, ...]:
    of_each = observables_of(case.parameters, gaps=gaps)
    if case.parameters.fewest_winners == case.parameters.k:
        return of_each
    names = (ITEMS_AND_GAPS, ITEMS) if gaps else (ITEMS,)
    return (*of_each, *(Observable(None, name) for name in names))


def read_promise(parameters: TopK, winners: int | None, cost: Cost) -> Fraction:
    """What is promised of outputs with so many winners; for any number of them, ε.

    Raises:
        ParameterError, ParameterTypeError: The cost is not an exact number, or below 0.

    >>> read_promise(TopK(4, 1, monotonic=True, threshold=5), 1, TopK.cost)
    Fraction(1, 2)
    """
    if winners is None:
        return parameters.epsilon
    promised = read_number(cost(parameters, winners), "cost")
    if promised < 0:
        raise ParameterError("cost must return 0 or more for every number of winners.")
    return promised


def check_cost(cases: Sequence[Neighbours], cost: Cost) -> None:
    """Read every cost once, so that what is wrong with one is known before there is a release.

    Raises:
        ParameterError, ParameterTypeError: As of `read_promise`.
    """
    for parameters in {case.parameters for case in cases}:
        for winners in range(parameters.fewest_winners, parameters.k + 1):
            read_promise(parameters, winners, cost)


def bound_epsilon(
    case: Neighbours,
    learnt: Sequence[Tally],
    measured: Sequence[Tally],
    level: Fraction,
    *,
    gaps: bool,
    cost: Cost = TopK.cost,
) -> tuple[Bound, ...]:
    """Bound ε from below, once for each observable and direction.

    Args:
        case: The neighbours and the parameters.
        learnt: What came on each data set, to choose events.
        measured: What came on each data set in other releases, to measure them.
        level: The largest probability that a bound is wrong.
        gaps: Whether there are gaps.
        cost: What an output with so many winners is said to cost.
    """
    made = []
    for observable in _observables(case, gaps=gaps):
        promised = read_promise(case.parameters, observable.winners, cost)
        for likelier_on in (0, 1):
            step = -1 if likelier_on else 1
            first, second = Sides(*learnt[::step]), Sides(*measured[::step])
            event = choose_event(first, observable, second, level)
            made.append(_measure(case, likelier_on, observable, promised, event, second, level))
    return tuple(made)


def choose_event(learnt: Sides, observable: Observable, measured: Sides, level: Fraction) -> Event:
    """Choose the event that promises the largest bound, among the labels that came.

    Labels are added from the largest ratio of counts down, until the bound that the second sample
    is expected to give is the largest. Any choice is valid; a good one only improves the bound. So
    plain floats may decide it.
    """
    here, there = learnt.here.labels(observable), learnt.there.labels(observable)
    if not here:
        return frozenset()
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
    observable: Observable,
    promised: Fraction,
    event: Event,
    sides: Sides,
    level: Fraction,
) -> Bound:
    n, other_n = sides.here.releases, sides.there.releases
    here, there = sides.here.labels(observable), sides.there.labels(observable)
    count, other = (sum(labels[label] for label in event) for labels in (here, there))
    winners, feature = observable
    said = describe_event(feature, event, make_gap_bins(case))
    p, other_p = lower_bound(n, count, level), upper_bound(other_n, other, level)
    return Bound(
        case=case,
        likelier_on=likelier_on,
        winners=winners,
        feature=feature,
        event=describe_number(winners, feature, said, case.parameters),
        count=count,
        releases=n,
        other_count=other,
        other_releases=other_n,
        probability_at_least=round_down(p),
        other_at_most=round_up(other_p),
        epsilon=log_ratio_bound(p, other_p),
        promised=promised,
        violated=exceeds(p, other_p, promised),
    )
