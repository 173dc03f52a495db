"""Simulation of many releases of the same counts, with the noise of a real release."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from topgap._core import Kernel
from topgap.domains import Domain
from topgap.margins import people_needed
from topgap.numbers.format import to_float
from topgap.parameters import TopK
from topgap.planning.bounded_counts import BoundedCounts
from topgap.planning.count_errors import CountErrors, Floats, in_units
from topgap.planning.progress import Report
from topgap.planning.public_counts import PublicCounts, Steps, Whole, Winners
from topgap.planning.rows import BoundRow, Lists, ReleasedErrors, Row
from topgap.planning.statistics import (
    Figure,
    Mean,
    Median,
    estimate_probability,
    root_mean_square,
    scale,
)
from topgap.release import Release
from topgap.selection.measurement import Shares
from topgap.selection.mechanism import select

_MOST_AT_ONCE = 1_000
_MOST_WINNERS_AT_ONCE = 2**19
_MOST_STEPS = 2**500  # of noise whose size a float holds in steps, and whose sums


class SimulatedReleases(NamedTuple):
    """Many releases, one in each row.

    Attributes:
        winners: The winners.
        gaps: The gaps, in steps of the resolution; with Laplace noise, the noise of the winners.
    """

    winners: Winners
    gaps: Whole


def simulate(
    counts: PublicCounts, shares: Shares, parameters: TopK, releases: int, report: Report
) -> Row:
    """Simulate releases with all of ε for the names, and as many with these shares of ε."""
    names, named = _Accuracy(counts, parameters), _Accuracy(counts, shares.selection)
    for drawn in simulate_releases(counts, parameters, releases, report):
        names.add(drawn.winners)
    errors, alone, combined, off = CountErrors(shares), Mean(), Mean(), _Errors()
    for drawn in simulate_releases(counts, shares.selection, releases, report):
        named.add(drawn.winners)
        steps = counts.steps(drawn.winners, parameters, drawn.gaps.dtype)
        measured, estimated = errors.simulate(steps, drawn.gaps)
        alone.add((measured**2).mean(axis=1))
        combined.add((estimated**2).mean(axis=1))
        off.add(estimated)
    return Row(
        epsilon=parameters.epsilon,
        names=names.lists(),
        estimates=named.lists(),
        measured_error=root_mean_square(alone, errors.unit),
        combined_error=root_mean_square(combined, errors.unit),
        measured_formula=errors.expected[0],
        combined_formula=errors.expected[1],
        estimate_errors=off.figures(errors.unit),
    )


def simulate_bound(
    counts: PublicCounts, bounded: BoundedCounts, parameters: TopK, releases: int, report: Report
) -> BoundRow:
    """Simulate releases of counts with a contribution bound, and compare them with the others."""
    accuracy, off = _Accuracy(counts, parameters), _Errors()
    bound, resolution = parameters.items_per_person, parameters.resolution
    unit = resolution if 1 / parameters.rate < _MOST_STEPS else parameters.scale
    missing = bounded.missing / to_float(unit)
    is_laplace = parameters.noise == "laplace"
    for drawn in simulate_releases(bounded.counts, parameters, releases, report):
        accuracy.add(drawn.winners)
        if is_laplace:
            off.add(in_units(drawn.gaps, resolution / unit) - missing[drawn.winners])
    assert bound is not None  # noqa: S101 - the planner gives one
    errors = off.figures(unit) if is_laplace else None
    return BoundRow(bound, parameters.noise, parameters.scale, resolution, accuracy.lists(), errors)


class _Errors:
    """The errors of counts that come in parts, a release in each row."""

    def __init__(self) -> None:
        self._sizes, self._means = Median(), Mean()

    def add(self, errors: Floats) -> None:
        self._sizes.add(np.abs(errors))
        self._means.add(errors.mean(axis=1))

    def figures(self, unit: Fraction) -> ReleasedErrors:
        mean, error = self._means.figure()
        bias = Figure(scale(mean, unit), scale(error, unit))
        return ReleasedErrors(self._sizes.figure(unit), bias)


class _Accuracy:
    """The mean accuracy of lists that come in parts."""

    def __init__(self, counts: PublicCounts, parameters: TopK) -> None:
        self._counts = counts
        self._parameters = parameters
        self._means = Mean(), Mean(), Mean()
        self._empty = Mean()

    def add(self, winners: Winners) -> None:
        for mean, values in zip(self._means, self._counts.compare(winners), strict=True):
            mean.add(values)
        if self._counts.domain_size is not None:
            self._empty.add(self._counts.count_empty(winners))

    def lists(self) -> Lists:
        overlap, right, in_order = self._means
        lists = Lists(estimate_probability(right), estimate_probability(in_order), overlap.figure())
        size = self._counts.domain_size
        if size is None:
            return lists
        needed = people_needed(self._parameters, size)
        return replace(lists, empty=self._empty.figure(), people_needed=needed)


def simulate_releases(
    counts: PublicCounts, parameters: TopK, releases: int, report: Report
) -> Iterator[SimulatedReleases]:
    """Simulate releases in parts that take little memory."""
    at_once = max(1, min(_MOST_AT_ONCE, _MOST_WINNERS_AT_ONCE // parameters.k))
    for start in range(0, releases, at_once):
        number = min(at_once, releases - start)
        yield _simulate_batch(counts, parameters, number)
        report(number)


def _simulate_batch(counts: PublicCounts, parameters: TopK, number: int) -> SimulatedReleases:
    kernel, kernel_counts = parameters.kernel, counts.kernel_counts
    if kernel is not None and kernel_counts is not None:
        drawn = [_draw(kernel, kernel_counts, counts) for _ in range(number)]
    else:  # too large for the kernel: slow
        drawn = [_draw_slowly(parameters, counts) for _ in range(number)]
    winners = np.frombuffer(b"".join(each for each, _ in drawn), dtype=np.int64)
    if counts.unlisted:
        winners = np.minimum(winners, len(counts.numbers) - 1)  # which stands for all of them
    units = [each for _, each in drawn]
    if _is_narrow(counts, parameters) and all(isinstance(each, bytes) for each in units):
        gaps = np.frombuffer(b"".join(units), dtype=np.int64)
    else:
        gaps = np.array([_to_list(each) for each in units], dtype=object)
    winners, gaps = winners.reshape(number, parameters.k), gaps.reshape(number, -1)
    if parameters.noise == "laplace":  # the noisy counts of the winners, and maybe of the next
        gaps = gaps[:, : parameters.k] - counts.steps(winners, parameters, gaps.dtype)
    return SimulatedReleases(winners, gaps)


def _draw(kernel: Kernel, kernel_counts: Steps, counts: PublicCounts) -> tuple[bytes, Any]:
    """Draw the winners' positions, and the gaps; those that are not written out come last."""
    if not counts.unlisted:
        return kernel.release(kernel_counts, in_steps=counts.in_steps, threads=0)
    return kernel.release_with_runs(
        kernel_counts,
        runs=[(0, counts.unlisted, 0)],
        find_listed=lambda _run, _ranks: [],
        in_steps=counts.in_steps,
        threads=0,
    )


def _draw_slowly(parameters: TopK, counts: PublicCounts) -> tuple[bytes, Any]:
    """The same for numbers of any size."""
    if not counts.unlisted:
        made = select(parameters, counts.numbers)
        return made.indices.tobytes(), _list_units(made, counts)
    listed = len(counts.numbers)
    domain = Domain.range(0, listed + counts.unlisted)
    made = select(parameters, counts.numbers, range(listed), domain=domain)
    places = [min(place, listed) for place in made.items]
    return np.array(places, dtype=np.int64).tobytes(), _list_units(made, counts)


def _list_units(made: Release, counts: PublicCounts) -> list[int]:
    """The gaps, or the noisy counts as those that the kernel takes have them."""
    if made.value_units is None:
        return _to_list(made.gap_units)
    return [value - counts.shift for value in _to_list(made.value_units)]


def _is_narrow(counts: PublicCounts, parameters: TopK) -> bool:
    """Whether gaps and their errors, or Laplace noise, have less than 63 bits.

    A gap is larger than the span of the counts by no more than one item's noise, and that is 2^11
    times its mean with probability e^−2048. Of as many items as a domain may have, the largest
    noise is 2^14 times the mean with a probability below that.
    """
    largest_mean = 2**47 if counts.unlisted else 2**50
    return (
        counts.kernel_counts is not None
        and counts.span < 2**61
        and 1 / parameters.rate < largest_mean
    )


def _to_list(gaps: Any) -> list[int]:
    if isinstance(gaps, bytes):
        gaps = np.frombuffer(gaps, dtype=np.int64)
    return list(gaps.tolist()) if isinstance(gaps, np.ndarray) else list(gaps)
