"""The counts of each group, of which only what occurs is kept: `GroupedCounts`."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from topgap.domains.counts import Counts
from topgap.domains.domain import Domain

Whole = np.ndarray[tuple[int], np.dtype[np.int64]]


class GroupedCounts(Mapping[Any, Counts]):
    """The counts of each group: a mapping from the group to the `Counts` of what occurs in it.

    Groups times items are never written out. All counts are in one array, group after group, and
    each item is told by its place among the names. All other members of the domain have 0.

    Args:
        groups: All groups, in their public order.
        domain: The items that take part in each of them.
        names: The members that occur anywhere, in the domain's spelling, each once.
        ends: Where the counts of each group end.
        places: Which of the names each count is of; ascending within a group.
        counts: The counts.
        groups_per_person: In how many groups a person was counted, at most; None if that is not
            known.
        items_per_person: The contribution bound of each person in each group; None if there is
            none.
        domain_from_data: Whether the items were taken from the data.

    >>> regions = GroupedCounts(
    ...     ["North", "South"], Domain(["flu", "cold"]), ["flu", "cold"],
    ...     ends=np.array([2, 3]), places=np.array([0, 1, 0]), counts=np.array([7, 2, 1]),
    ... )
    >>> regions["North"], regions["South"]
    ({'flu': 7, 'cold': 2}, {'flu': 1})
    """

    def __init__(
        self,
        groups: Sequence[Any],
        domain: Domain,
        names: Sequence[Any],
        *,
        ends: Whole,
        places: Whole,
        counts: Whole,
        groups_per_person: int | None = None,
        items_per_person: int | None = None,
        domain_from_data: bool = False,
    ) -> None:
        self.groups = tuple(groups)
        self.domain = domain
        self.names = names
        self.ends = ends
        self.places = places
        self.counts = counts
        self.groups_per_person = groups_per_person
        self.items_per_person = items_per_person
        self.domain_from_data = domain_from_data

    def __getitem__(self, group: Any) -> Counts:
        found = self._slice(self._group_places[group])
        names = map(self.names.__getitem__, self.places[found].tolist())
        counts = dict(zip(names, self.counts[found].tolist(), strict=True))
        if self.domain_from_data:  # what occurs elsewhere takes part here, too
            counts = dict.fromkeys(self.domain, 0) | counts
        return Counts(
            counts,
            domain=None if self.domain_from_data else self.domain,
            domain_from_data=self.domain_from_data,
            items_per_person=self.items_per_person,
            groups_per_person=self.groups_per_person,
        )

    def find(self, group: int, names: Sequence[Any]) -> list[int]:
        """Find which of a few members occur in a group.

        Args:
            group: The place of the group.
            names: Members, in the domain's spelling.

        Returns:
            Their places among these names.
        """
        places = [self._places_of_names.get(name, -1) for name in names]
        here = self.places[self._slice(group)]
        if not len(here):
            return []
        at = np.searchsorted(here, places).clip(max=len(here) - 1)
        return np.flatnonzero(here[at] == places).tolist()

    def _slice(self, group: int) -> slice:
        return slice(int(self.ends[group - 1]) if group else 0, int(self.ends[group]))

    @cached_property
    def _group_places(self) -> dict[Any, int]:
        return {group: place for place, group in enumerate(self.groups)}

    @cached_property
    def _places_of_names(self) -> dict[Any, int]:
        return {name: place for place, name in enumerate(self.names)}

    def __iter__(self) -> Iterator[Any]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __repr__(self) -> str:
        return f"<GroupedCounts of {len(self)} groups>"
