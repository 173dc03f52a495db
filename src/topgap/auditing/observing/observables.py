"""Observables: functions from outcomes to labels, the same for all mechanisms.

By post-processing, each of them must be ε-differentially private if the release is. An audit finds
a violation only if it shows in at least one of them.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import NamedTuple

from topgap.auditing.observing.gap_bins import GapBins, bin_start
from topgap.auditing.observing.outcomes import (
    MinusZero,
    Number,
    OffGrid,
    Outcome,
    explain_impossible,
    releases_values,
)
from topgap.auditing.observing.value_bins import value_bin
from topgap.parameters import TopK

Labels = Counter[Hashable]
ITEMS_AND_GAPS, ITEMS, ALL_LAST_BITS = "items and gaps", "items", "last bits of all gaps"
ITEMS_VALUES_AND_LAST_GAP = "items, values and last gap"
MODULUS = 8
"""The last bits of a gap, or of a value, are its remainder by this, in steps."""
JOINT_MODULUS = 4
"""The same for the last bits of all gaps together."""
MOST_DIGITS = 128
"""Numbers with more binary digits have the same labels as those with this number."""


class Observable(NamedTuple):
    """What an observer looks at.

    Attributes:
        winners: In outcomes with this number of winners, and in no others; None for any number.
        name: What of them.
    """

    winners: int | None
    name: str


class Tally(NamedTuple):
    """How often each label of each observable came.

    Attributes:
        releases: The number of outcomes.
        counts: For each observable of outcomes with one number of winners, how many of them have
            each label.
        impossible: The number of impossible outcomes, by the reason.
    """

    releases: int
    counts: dict[Observable, Labels]
    impossible: Counter[str]

    def __add__(self, other: "Tally") -> "Tally":  # type: ignore[override]
        counts = dict(self.counts)
        for each, labels in other.counts.items():
            counts[each] = counts[each] + labels if each in counts else labels
        return Tally(self.releases + other.releases, counts, self.impossible + other.impossible)

    def labels(self, observable: Observable) -> Labels:
        """The labels of this observable."""
        if observable.winners is not None:
            return self.counts.get(observable, Counter())
        found: Labels = Counter()
        for each, labels in self.counts.items():
            if each.name == observable.name:
                found.update(labels)
        return found


def observables_of(parameters: TopK, *, gaps: bool) -> tuple[Observable, ...]:
    """All observables of outcomes with any possible number of winners, one number at a time.

    >>> observables_of(TopK(1, 1, threshold=0), gaps=False)
    (Observable(winners=0, name='items'), Observable(winners=1, name='items'))
    """
    values = releases_values(parameters, gaps=gaps)
    return tuple(
        Observable(winners, name)
        for winners in range(parameters.fewest_winners, parameters.k + 1)
        for name in list_observables(winners, gaps=gaps, values=values)
    )


@lru_cache
def list_observables(k: int, *, gaps: bool, values: bool = False) -> tuple[str, ...]:
    """List the observables of an outcome with k winners, by name.

    >>> list_observables(1, gaps=True)[:3]
    ('items and gaps', 'items', 'items and size of gap 1')
    >>> list_observables(1, gaps=True)[3:]
    ('low bits of gap 1', 'last bits of gap 1')
    >>> list_observables(1, gaps=True, values=True)[5:8]
    ('items and value 1', 'low bits of value 1', 'last bits of value 1')
    >>> list_observables(1, gaps=True, values=True)[8:]
    ('items, values and last gap',)
    """
    if not gaps or k == 0:
        return (ITEMS,)
    each = ("items and size of gap", "low bits of gap", "last bits of gap")
    of_gaps = [f"{name} {i + 1}" for name in each for i in range(k)]
    of_all = (ITEMS_AND_GAPS, ITEMS, *of_gaps, *[ALL_LAST_BITS] * (k > 1))
    if not values:
        return of_all
    each = ("items and value", "low bits of value", "last bits of value")
    of_values = [f"{name} {i + 1}" for name in each for i in range(k)]
    return (*of_all, *of_values, ITEMS_VALUES_AND_LAST_GAP)


def tally_outcomes(outcomes: Mapping[Outcome, int], items: int, bins: GapBins) -> Tally:
    """Count the labels of these outcomes.

    Args:
        outcomes: How often each came.
        items: The number of items.
        bins: The bins for the sizes of gaps.
    """
    counts: dict[int, dict[str, Labels]] = {}
    wrong: Counter[str] = Counter()
    for outcome, times in outcomes.items():
        labels, winners = _labels(outcome, bins), len(outcome.indices)
        if winners not in counts:
            gaps, values = outcome.gaps is not None, outcome.values is not None
            names = list_observables(winners, gaps=gaps, values=values)
            counts[winners] = {name: Counter() for name in names}
        for count, label in zip(counts[winners].values(), labels, strict=True):
            count[label] += times
        why = explain_impossible(outcome, items)
        if why is not None:
            wrong[why] += times
    found = {Observable(n, name): each for n, some in counts.items() for name, each in some.items()}
    return Tally(sum(outcomes.values()), found, wrong)


def _labels(outcome: Outcome, bins: GapBins) -> list[Hashable]:
    indices, gaps = outcome.indices, outcome.gaps
    if not gaps:
        return [indices]
    steps = list(map(_below, gaps))
    whole = tuple([bin_start(each, edges) for each, edges in zip(steps, bins.joint, strict=False)])
    sizes = [bin_start(each, edges) for each, edges in zip(steps, bins.fine, strict=False)]
    labels: list[Hashable] = [(indices, whole), indices, *[(indices, size) for size in sizes]]
    labels += map(_low_bits, gaps)
    labels += [(_binary_digits(each), each % MODULUS) for each in steps]
    if len(steps) > 1:
        labels.append(tuple([each % JOINT_MODULUS for each in steps]))
    if outcome.values is not None:
        labels += _labels_of_values(indices, outcome.values, steps[-1], bins)
    return labels


def _labels_of_values(
    indices: tuple[int, ...], values: tuple[Number, ...], last_gap: int, bins: GapBins
) -> list[Hashable]:
    assert bins.values is not None  # noqa: S101 - they are made for the case
    steps = list(map(_below, values))
    fine, joint = (
        [value_bin(each, edges) for each, edges in zip(steps, some, strict=True)]
        for some in (bins.values.fine, bins.values.joint)
    )
    labels: list[Hashable] = [(indices, number) for number in fine]
    labels += map(_low_bits, values)
    labels += [(_signed_digits(each), each % MODULUS) for each in steps]
    labels.append((indices, (*joint, bin_start(last_gap, bins.values.last_gap))))
    return labels


def _below(number: Number) -> int:
    return number if isinstance(number, int) else number.steps


def _binary_digits(steps: int) -> int:
    """The number of binary digits, up to `MOST_DIGITS`; −1 for a negative number."""
    return min(steps.bit_length(), MOST_DIGITS) if steps >= 0 else -1


def _signed_digits(steps: int) -> int:
    """The number of binary digits, up to `MOST_DIGITS`, with the sign of the number."""
    digits = min(steps.bit_length(), MOST_DIGITS)
    return digits if steps >= 0 else -digits


def _low_bits(number: Number) -> Hashable:
    """The lowest bit that is set: of the steps, or of the number itself if it is off the grid."""
    if isinstance(number, MinusZero):
        return ("minus zero",)
    if isinstance(number, OffGrid):
        far = number.lowest_bit
        return ("off", None if far is None else max(far, -MOST_DIGITS))
    if number == 0:
        return ("zero",)
    return ("on", min((number & -number).bit_length() - 1, MOST_DIGITS))
