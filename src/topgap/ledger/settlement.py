"""What a charge is settled to once its result is known: `settled_cost`.

A list that a threshold ends early costs less than the ε that was reserved for it. That bound is one
of this very output, and such bounds of the releases of a data set may be added up, also if each
release was chosen after the ones before (docs/ledger.md). Of lists for many groups it is the sum
over the costliest groups that one person can be in. Who settles a charge and who verifies a
settlement compute it here, from the entry of the charge and the recorded text of the result alone.
"""

import json
from dataclasses import fields
from fractions import Fraction
from typing import Any

from topgap.errors import ReleaseError
from topgap.ledger.entry import (
    NUMBER_OF_GROUPS,
    Entry,
    conversion_factor,
    parse_epsilon,
    relation_of,
)
from topgap.parameters import Neighbours, TopK
from topgap.release import GroupedRelease, Release

_GROUPING = "groups_per_person", "group_epsilon"
_PARAMETERS = *(field.name for field in fields(TopK)), *_GROUPING


def settled_cost(charge: Entry, result: str, relation: Neighbours) -> Fraction | None:
    """Return what a charge counts for after this result; None if all of its ε stays charged.

    It is what the output cost, converted as the ε of the charge was. There is nothing to settle
    unless the result is a release, of as many groups as were charged for, its parameters are those
    of the charge, all of its ε was charged, and the output cost less: so it has a sentinel.

    Args:
        charge: The entry of the charge.
        result: The result as it was recorded.
        relation: The relation of the data set.

    >>> parameters = TopK(k=4, epsilon=1, monotonic=True, threshold=500)
    >>> charge = Entry(number=2, kind="charge", at="2026-01-01T00:00:00.000000Z", dataset="visits",
    ...                epsilon="2", spent="2", mechanism="topgap.top_k", who="ana",
    ...                parameters=json.dumps(parameters.to_dict()), software="topgap 0.1.0",
    ...                neighbours="add-remove", stated="1")
    >>> result = Release(parameters, None, [125], ["flu"]).to_json()
    >>> settled_cost(charge, result, "replace")
    Fraction(1, 1)
    """
    listed = json.loads(charge.parameters or "{}")
    if listed.get("threshold") is None:
        return None
    release = _read_release(listed, result)
    if release is None:
        return None
    parameters = release.parameters
    noted = {name: listed[name] for name in _PARAMETERS if name in listed}
    if not _has_all_groups(release, listed) or noted != parameters.to_dict():
        return None
    factor = conversion_factor(charge.neighbours, relation)
    least = conversion_factor(relation_of(parameters), relation)
    if factor is None or least is None or factor < least:
        return None
    reserved, cost = parse_epsilon(charge.epsilon), release.spent * factor
    return cost if cost < reserved == parameters.epsilon * factor else None


def _read_release(listed: dict[str, Any], result: str) -> Release | GroupedRelease | None:
    """The release of the kind that was charged for; None if the result is something else."""
    kind = GroupedRelease if "groups_per_person" in listed else Release
    try:
        return kind.from_json(result)
    except ReleaseError:
        return None


def _has_all_groups(release: Release | GroupedRelease, listed: dict[str, Any]) -> bool:
    """Whether it has as many groups as were noted: without a costly one it would look cheaper."""
    if isinstance(release, Release):
        return True
    return bool(listed.get(NUMBER_OF_GROUPS, len(release)) == len(release))
