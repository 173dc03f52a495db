"""Cells of a case with Laplace noise, whose noisy values are released, too.

The outcomes are put into cells by the winners; by the winners and the size of one gap; by the
winners and the bin of one value; by the winners and the bins of all gaps; by the winners and the
bins of all values and of the last gap; and by what one value leaves when it is divided by 8. All
have their probabilities from `laplace_probability`.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import product
from math import perm

from topgap.auditing.cases.neighbours import Neighbours
from topgap.auditing.checks.cells import Cell, Key, OrderLaw
from topgap.auditing.observing.event_text import describe_values_and_last_gap, format_steps
from topgap.auditing.observing.gap_bins import bin_end, make_gap_bins
from topgap.auditing.observing.observables import ITEMS_VALUES_AND_LAST_GAP, MODULUS
from topgap.auditing.observing.value_bins import ValueBins, value_bin, value_range
from topgap.auditing.probability.event_probability import Range, Winners
from topgap.auditing.probability.laplace_probability import (
    MOST_STEPS,
    Box,
    NoisyValues,
    ValueRange,
    count_grid_steps,
)
from topgap.law import Bounds

_MOST_WORK = 10**9
_FROM_0: Range = (0, None)
_ANY: ValueRange = (None, None)


class LaplaceLaw(OrderLaw[Box]):
    """The law of one data set with Laplace noise."""

    def is_computable(self, cells: int) -> bool:
        """Whether this number of cells for each order does not take too long."""
        steps = count_grid_steps(self.steps, self.rate)
        return steps <= MOST_STEPS and self.patterns * cells * steps * self.k**2 <= _MOST_WORK

    @cached_property
    def _values(self) -> NoisyValues:
        return NoisyValues(self.steps, self.rate)

    def box(self, gaps: Sequence[Range]) -> Box:
        """What is asked of the gaps, and any values."""
        return Box(tuple(gaps), (_ANY,) * self.k)

    def bound(self, winners: Winners, losers: Winners, box: Box) -> Bounds:
        """Bound the probability of winners with these answers, in this order, and of the box."""
        return self._values.bound(winners, losers, box)


def count_cells_of_values(case: Neighbours) -> int:
    """The number of cells with values."""
    k, n, bins = case.parameters.k, len(case.answers), make_gap_bins(case)
    assert bins.values is not None  # noqa: S101 - its noise is Laplace
    of_each = sum(len(edges) + 1 for edges in bins.values.law)
    return (
        perm(n, bins.prefix) * of_each
        + MODULUS * k
        + perm(n, bins.values.joint_prefix) * len(_joint_numbers(bins.values))
    )


def make_cells_of_values(case: Neighbours, law: LaplaceLaw) -> Iterator[Cell]:
    """Make the cells with values."""
    k, bins = case.parameters.k, make_gap_bins(case)
    assert bins.values is not None  # noqa: S101 - its noise is Laplace
    everything = law.box([_FROM_0] * k)
    for i, edges in enumerate(bins.values.law):
        name = f"value {i + 1}" if k > 1 else "value"
        ranges = [value_range(number, edges) for number in range(len(edges) + 1)]
        boxes = [
            (
                (number,),
                f"{name} of {format_steps(*each)}",
                everything._replace(values=_replace(everything.values, i, each)),
            )
            for number, each in enumerate(ranges)
        ]
        yield from law.make_cells(_value(i), bins.prefix, boxes)
        for left in range(MODULUS):
            bounds = law.sum_over_orders(everything._replace(remainder=(i, left, MODULUS)))
            said = f"{name} that leaves {left} when divided by {MODULUS} steps"
            yield Cell(k, _last_bits_of_value(i), ((), (left,)), said, bounds)
    joint = [
        (numbers, describe_values_and_last_gap(numbers, bins.values), _box(numbers, bins.values))
        for numbers in _joint_numbers(bins.values)
    ]
    yield from law.make_cells(ITEMS_VALUES_AND_LAST_GAP, bins.values.joint_prefix, joint)


def read_labels_of_values(case: Neighbours) -> dict[str, Callable[..., Key]]:
    """For each observable with values, how the key of a cell is read from its finer label."""
    bins = make_gap_bins(case)
    assert bins.values is not None  # noqa: S101 - its noise is Laplace
    prefix, joint_prefix = bins.prefix, bins.values.joint_prefix
    keys: dict[str, Callable[..., Key]] = {
        ITEMS_VALUES_AND_LAST_GAP: lambda order, numbers: (order[:joint_prefix], numbers)
    }
    for i, (edges, fine) in enumerate(zip(bins.values.law, bins.values.fine, strict=True)):
        coarser = tuple(_coarser(number, fine, edges) for number in range(len(fine) + 1))
        keys[_value(i)] = lambda order, number, coarser=coarser: (
            order[:prefix],
            (coarser[number],),
        )
        keys[_last_bits_of_value(i)] = lambda _, left: ((), (left,))
    return keys


def _coarser(number: int, fine: tuple[int, ...], edges: tuple[int, ...]) -> int:
    """The bin of the law that holds a fine one; the edges of the law are among the fine ones."""
    first, _ = value_range(number, fine)
    return 0 if first is None else value_bin(first, edges)


def _joint_numbers(bins: ValueBins) -> list[tuple[int, ...]]:
    """All combinations of a bin of each value and one of the last gap, by its first step."""
    each = [range(len(edges) + 1) for edges in bins.joint]
    return [*product(*each, bins.last_gap)]


def _box(numbers: tuple[int, ...], bins: ValueBins) -> Box:
    *values, gap = numbers
    last: Range = (gap, bin_end(gap, bins.last_gap))
    ranges = tuple(value_range(*each) for each in zip(values, bins.joint, strict=True))
    return Box((*[_FROM_0] * (len(values) - 1), last), ranges)


def _replace(ranges: tuple[ValueRange, ...], i: int, one: ValueRange) -> tuple[ValueRange, ...]:
    return (*ranges[:i], one, *ranges[i + 1 :])


def _value(i: int) -> str:
    return f"items and value {i + 1}"


def _last_bits_of_value(i: int) -> str:
    return f"last bits of value {i + 1}"
