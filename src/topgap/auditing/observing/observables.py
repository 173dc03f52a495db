"""Observables: functions from outcomes to labels, the same for all mechanisms.

By post-processing, each of them must be ε-differentially private if the release is. An audit finds
a violation only if it shows in at least one of them.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import NamedTuple

from topgap.auditing.observing.gap_bins import GapBins, bin_start
from topgap.auditing.observing.outcomes import (
    MinusZero,
    Number,
    OffGrid,
    Outcome,
    explain_impossible,
)
from topgap.auditing.observing.value_bins import value_bin

Labels = Counter[Hashable]
ITEMS_AND_GAPS, ITEMS, ALL_LAST_BITS = "items and gaps", "items", "last bits of all gaps"
ITEMS_VALUES_AND_LAST_GAP = "items, values and last gap"
MODULUS = 8
"""The last bits of a gap, or of a value, are its remainder by this, in steps."""
JOINT_MODULUS = 4
"""The same for the last bits of all gaps together."""
MOST_DIGITS = 128
"""Numbers with more binary digits have the same labels as those with this number."""


class Tally(NamedTuple):
    """How often each label of each observable came.

    Attributes:
        releases: The number of outcomes.
        counts: For each observable, the number of outcomes with each label.
        impossible: The number of impossible outcomes, by the reason.
    """

    releases: int
    counts: tuple[Labels, ...]
    impossible: Counter[str]

    def __add__(self, other: "Tally") -> "Tally":  # type: ignore[override]
        return Tally(
            self.releases + other.releases,
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
            self.impossible + other.impossible,
        )


def list_observables(k: int, *, gaps: bool, values: bool = False) -> tuple[str, ...]:
    """List the observables of an outcome, by name.

    >>> list_observables(1, gaps=True)[:3]
    ('items and gaps', 'items', 'items and size of gap 1')
    >>> list_observables(1, gaps=True)[3:]
    ('low bits of gap 1', 'last bits of gap 1')
    >>> list_observables(1, gaps=True, values=True)[5:8]
    ('items and value 1', 'low bits of value 1', 'last bits of value 1')
    >>> list_observables(1, gaps=True, values=True)[8:]
    ('items, values and last gap',)
    """
    if not gaps:
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
    counts: list[Labels] = []
    wrong: Counter[str] = Counter()
    for outcome, times in outcomes.items():
        labels = _labels(outcome, bins)
        counts = counts or [Counter() for _ in labels]
        for count, label in zip(counts, labels, strict=True):
            count[label] += times
        why = explain_impossible(outcome, items)
        if why is not None:
            wrong[why] += times
    return Tally(sum(outcomes.values()), tuple(counts), wrong)


def _labels(outcome: Outcome, bins: GapBins) -> list[Hashable]:
    indices, gaps = outcome.indices, outcome.gaps
    if gaps is None:
        return [indices]
    steps = list(map(_below, gaps))
    whole = tuple([bin_start(each, edges) for each, edges in zip(steps, bins.joint, strict=True)])
    sizes = [bin_start(each, edges) for each, edges in zip(steps, bins.fine, strict=True)]
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
