"""What a result must be, whatever was handed in."""

import copy
import inspect
import pickle
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from topgap import Estimates, Release, ReleaseError, TopK


def look_at(value: Any) -> None:
    """Look at all that a value tells of itself: none of its properties fails."""
    for name, member in inspect.getmembers(type(value)):
        if isinstance(member, property | cached_property) and not name.startswith("_"):
            getattr(value, name)


def is_release(release: Any, *, answers: int | None = None, gaps: bool = True) -> None:
    """Check that it is a release: k winners, distinct and in range, with gaps that can be."""
    assert type(release) is Release
    parameters = release.parameters
    assert type(parameters) is TopK
    assert parameters.fewest_winners <= len(release) == len(release.items) <= parameters.k
    assert type(release.epsilon) is Fraction
    if release._indices is not None:
        indices = release.indices.tolist()
        assert len({*indices}) == len(release)
        assert min(indices, default=0) >= 0
        assert answers is None or max(indices, default=0) < answers
    assert (release.gaps is not None) == gaps
    if release.gaps is not None:
        units = release.gap_units
        assert units is not None
        assert units.dtype in (np.int64, object)
        assert all(type(unit) is int and unit >= 0 for unit in units.tolist())
        assert all(gap % parameters.resolution == 0 for gap in release.gaps)
    survives(release)
    look_at(parameters)
    for shown in (repr(release), str(release), release._repr_html_()):
        assert type(shown) is str
        assert shown


def survives(release: Release) -> None:
    """Check that it comes back from where it is kept."""
    assert copy.deepcopy(release) is release
    hash(release)
    try:
        written = release.to_json()
    except ReleaseError:  # an item is nothing that JSON has
        written = None
    if written is not None:
        read = Release.from_json(written)
        assert read == release
        assert read.to_json() == written
    try:
        kept = pickle.dumps(release)
    except (TypeError, AttributeError, pickle.PicklingError):  # an item that Python cannot keep
        return
    again = pickle.loads(kept)  # noqa: S301 - it is ours
    # A name that is not equal to itself is not equal to its copy either.
    if all(item == item for item in release.items):
        assert again == release


def is_estimates(made: Any, k: int) -> None:
    """Check that these are estimates: k numbers with errors, and intervals around them."""
    assert type(made) is Estimates
    is_release(made.release)
    look_at(made)
    assert len(made.measurements) == len(made.estimates) == len(made.standard_errors) == k
    assert all(type(each) is Fraction for each in made.measurements)
    assert all(type(each) is float for each in (*made.estimates, *made.standard_errors))
    assert not any(each != each or each < 0 for each in made.standard_errors)
    assert type(str(made)) is str
    assert type(repr(made)) is str
