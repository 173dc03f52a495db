"""What a release is made of: its parts are checked, and numbers are packed into bytes."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from topgap.domains import DomainDescription
from topgap.numbers.parse import is_whole
from topgap.parameters import TopK
from topgap.release.parsing import require

Units: TypeAlias = np.ndarray[tuple[int], np.dtype[Any]]
"""Whole numbers of steps: of int64, or Python integers if one is too large for that."""

PackedUnits: TypeAlias = "bytes | tuple[int, ...] | None"
"""The same as they are kept; None if there are none."""


class Packed(NamedTuple):
    """The parts of a release, checked, as it keeps them."""

    parameters: TopK
    indices: bytes | None  # of int64
    gap_units: PackedUnits
    items: tuple[Any, ...] | None
    value_units: PackedUnits
    domain_from_data: bool
    domain: DomainDescription | None


def pack_checked(
    parameters: TopK,
    indices: Sequence[int] | None,
    gap_units: Sequence[int] | None,
    items: Sequence[Any] | None,
    value_units: Sequence[int] | None,
    domain_from_data: bool,  # noqa: FBT001 - as `Release` was given it
    domain: DomainDescription | None,
) -> Packed:
    """Return the parts of a release, which can have been released with these parameters.

    Raises:
        ReleaseError: They cannot.
    """
    require(isinstance(parameters, TopK), "its parameters must be a TopK")
    require(indices is not None or items is not None, "it must name its items")
    k = _count_winners(parameters, indices if items is None else items)
    if indices is not None:
        indices = _read_list(indices, k, "one index per named item")
        fits = all(is_whole(i) and 0 <= i < 2**63 for i in indices)
        require(fits, "an index is a position, an int from 0 to below 2**63")
        require(len({*indices}) == k, "no item can be named twice")
    if gap_units is not None:
        gap_units = _read_list(gap_units, k, "one gap per named item")
        require(all(is_whole(g) and g >= 0 for g in gap_units), "a gap is never negative")
    if value_units is not None:
        value_units = _read_list(value_units, k, "one noisy answer per named item")
        require(all(map(is_whole, value_units)), "a noisy answer is a whole number of steps")
    is_laplace = parameters.noise == "laplace"
    fits = (value_units is not None) == (is_laplace and gap_units is not None)
    require(fits, "noisy answers come with the gaps, and with Laplace noise alone")
    if value_units is not None and gap_units is not None:
        _check_values(parameters, value_units, gap_units)
    if items is not None:
        items = _read_list(items, k, "one name per named item")
    require(isinstance(domain_from_data, bool | np.bool_), "domain_from_data is True or False")
    if domain is not None:
        require(isinstance(domain, DomainDescription), "domain is a DomainDescription")
        few = parameters.fewest_winners
        require(domain.size > few, "its domain must have more items than k says")
    return Packed(
        parameters,
        None if indices is None else np.array(indices, dtype=np.int64).tobytes(),
        None if gap_units is None else pack_units(gap_units),
        None if items is None else tuple(items),
        None if value_units is None else pack_units(value_units),
        bool(domain_from_data),
        domain,
    )


def pack_units(units: Sequence[int]) -> bytes | tuple[int, ...]:
    """Return whole numbers as the bytes of int64, or as a tuple if one is too large for that."""
    fits = not units or (min(units) >= -(2**63) and max(units) < 2**63)
    return np.array(units, dtype=np.int64).tobytes() if fits else tuple(map(int, units))


def unpack_units(packed: PackedUnits) -> Units | None:
    """Return what `pack_units` packed as a read-only array.

    >>> unpack_units(pack_units([125, 3])), unpack_units(pack_units([2**63]))
    (array([125,   3]), array([9223372036854775808], dtype=object))
    """
    if isinstance(packed, tuple):
        units = np.array(packed, dtype=object)
        units.flags.writeable = False
        return units
    return None if packed is None else np.frombuffer(packed, dtype=np.int64)


def list_units(units: Units | None) -> list[int] | None:
    """Return them as Python integers."""
    return None if units is None else units.tolist()


def to_exact(units: Units | None, resolution: Fraction) -> tuple[Fraction, ...] | None:
    """Return the exact numbers of so many steps of the resolution."""
    return None if units is None else tuple(each * resolution for each in units.tolist())


def _check_values(parameters: TopK, value_units: Sequence[int], gap_units: Sequence[int]) -> None:
    least = parameters.threshold_units
    reached = least is None or all(value >= least for value in value_units)
    require(reached, "a noisy answer is below the threshold")
    falls = zip(gap_units, pairwise(value_units), strict=False)
    require(all(gap == a - b for gap, (a, b) in falls), "its gaps do not match its answers")
    if least is not None and value_units:
        lead, gap = value_units[-1] - least, gap_units[-1]
        fits = gap == lead if len(value_units) < parameters.k else gap <= lead
        require(fits, "its last gap is not over the threshold")


def _count_winners(parameters: TopK, winners: Any) -> int:
    """How many winners there are: k, or with a threshold at most so many."""
    if parameters.threshold is None:
        return parameters.k
    try:
        count = len([*winners])
    except Exception:  # it is no list, or fails as it is read
        count = -1
    require(0 <= count <= parameters.k, "it must have a list of at most k named items")
    return count


def _read_list(given: Any, k: int, what: str) -> list[Any]:
    try:
        values = [] if isinstance(given, str | bytes) else [*given]
    except Exception:  # it is no list, or fails as it is read
        values = []
    require(len(values) == k, f"it must have a list of {what}, as many as k says")
    return values
