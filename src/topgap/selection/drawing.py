"""The winners of prepared answers, drawn by the kernel or, for larger numbers, a pool: `draw`."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from topgap.parameters import TopK
from topgap.selection.answers import KernelArray
from topgap.selection.candidate_pool import CandidatePool, cut_noisy_answers
from topgap.selection.preparation import Prepared, shift_in_steps

Units: TypeAlias = bytes | list[int]
"""Numbers of steps, as int64 in bytes, or a list where one does not fit."""


class Drawn(NamedTuple):
    """What was drawn.

    Attributes:
        places: The winners' positions among the answers, as int64 in bytes.
        gap_units: The gaps.
        value_units: The winners' noisy answers, with Laplace noise.
        unlisted: The names of the winners that have no answer, whose positions go on from those of
            the answers.
    """

    places: bytes
    gap_units: Units
    value_units: Units | None = None
    unlisted: Sequence[Any] = ()


def draw(parameters: TopK, data: Prepared) -> Drawn:
    """Draw the winners and their gaps."""
    kernel, array = parameters.kernel, data.kernel_array
    if kernel is None or array is None:
        return _draw_by_pool(parameters, data)
    floor, sentinel = (None, data.cut) if parameters.has_sentinel else (data.cut, None)
    if data.unlisted is not None:
        # The members that have no answer have 0, shifted as the others.
        asked: list[Any] = []
        places, units = kernel.release_with_runs(
            array.numbers,
            runs=[data.unlisted.as_run(-array.shift)],
            find_listed=partial(data.unlisted.find_places, asked),
            in_steps=array.in_steps,
            threads=data.threads,
            floor=floor,
            sentinel=sentinel,
        )
        return read_drawn(parameters, array, places, units, asked)
    if data.constant_work:
        places, units = kernel.release_constant_work(
            array.numbers, in_steps=array.in_steps, sentinel=sentinel
        )
    else:
        places, units = kernel.release(
            array.numbers,
            in_steps=array.in_steps,
            threads=data.threads,
            floor=floor,
            sentinel=sentinel,
        )
    return read_drawn(parameters, array, places, units)


def read_drawn(
    parameters: TopK,
    array: KernelArray,
    places: bytes,
    units: Units,
    unlisted: Sequence[Any] = (),
) -> Drawn:
    """What the kernel drew: gaps, or with Laplace noise the noisy answers, shifted as the array."""
    if parameters.noise == "exponential":
        return Drawn(places, units, None, unlisted)
    shift = shift_in_steps(parameters, array)
    cut = _cut_in_int64(parameters, units, shift) if isinstance(units, bytes) else None
    if cut is None:
        noisy = unpack_places(units).tolist() if isinstance(units, bytes) else units
        values, gaps = cut_noisy_answers(parameters, [each + shift for each in noisy])
        return Drawn(places[: 8 * len(values)], gaps, values, unlisted)
    return Drawn(places[: len(cut[0])], cut[1], cut[0], unlisted)


def _cut_in_int64(parameters: TopK, units: bytes, shift: int) -> tuple[bytes, bytes] | None:
    """What `cut_noisy_answers` gives for the shifted answers, in int64.

    None if there is no answer, or if one of the numbers, or of their differences, may not fit.
    """
    noisy, threshold = unpack_places(units), parameters.threshold_units
    if not units:
        return None
    ends = int(noisy[0]) + shift, int(noisy[-1]) + shift, shift, threshold or 0
    if min(ends) < -(2**62) or max(ends) >= 2**62:
        return None
    values, next_one = noisy + shift, threshold
    if threshold is not None:
        values = values[values >= threshold]
    if len(values) > parameters.k:
        values, next_one = values[:-1], values[-1]
    if not len(values):
        return None
    gaps = values.copy()
    gaps[:-1] -= values[1:]
    gaps[-1] -= next_one
    return values.tobytes(), gaps.tobytes()


def _draw_by_pool(parameters: TopK, data: Prepared) -> Drawn:
    """Draw from numbers too large for the kernel: a pool has the same law, and takes its time."""
    names, unlisted = data.names, data.unlisted
    if unlisted is None:
        pool = CandidatePool(parameters)
        pool.add(data.numbers, None)
        ranking = pool.rank()
        places = np.array(ranking.items, dtype=np.int64).tobytes()
        return Drawn(places, ranking.gap_units, ranking.value_units)
    pool = CandidatePool(parameters, domain=unlisted.domain, find_listed=unlisted.find_listed)
    pool.add(data.numbers, names)
    ranking = pool.rank()
    listed = {name: place for place, name in enumerate(names)}
    others = [name for name in ranking.items if name not in listed]
    listed |= {name: len(names) + i for i, name in enumerate(others)}
    places = np.array([listed[name] for name in ranking.items], dtype=np.int64).tobytes()
    return Drawn(places, ranking.gap_units, ranking.value_units, others)


def unpack_places(places: bytes) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Return positions as an array."""
    return np.frombuffer(places, dtype=np.int64)
