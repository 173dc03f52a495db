"""A table of events, or whatever else is counted, and how it is read: `EventTable`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from topgap import counting
from topgap.counting import Domain
from topgap.counting.events import check_query
from topgap.domains import Counts, FromData, GroupedCounts
from topgap.estimates import Estimates, GroupedEstimates
from topgap.events.grouped_mechanism import GroupedMechanism
from topgap.events.mechanism import Mechanism
from topgap.release import GroupedRelease, Release
from topgap.selection.unlisted import check_found

Result = Release | Estimates | GroupedRelease | GroupedEstimates
"""What is published."""


class PreparedCounts(NamedTuple):
    """Counts that can be drawn from.

    Attributes:
        draw: Draws the release.
        items: How many items take part, in all groups together if there are any.
        occurring: Says how many of them have a count other than 0. It is secret.
    """

    draw: Callable[[], Result]
    items: int
    occurring: Callable[[], int]


@dataclass(frozen=True, kw_only=True)
class EventTable:
    """What is counted, and how it is read.

    Attributes:
        source: Whatever `topgap.counting` takes.
        domain: The items that take part.
        person: The column that identifies the person; None for transactions and precomputed counts.
        item: The columns of the items; None for transactions.
        count: The column of precomputed counts, if it is these that are read.
        by: The columns of the groups; None for transactions, and without groups.
        groups: The public groups, if each gets a list.
        groups_per_person: In how many of them a person counts.
        items_per_person: How many items of each person count; None for all. Of precomputed counts
            that is the user's word.
        reading: Further parameters of the functions of `topgap.counting`.
    """

    source: Any
    domain: Domain | FromData
    person: str | None = None
    item: str | Sequence[str] | None = None
    count: str | None = None
    by: str | Sequence[str] | None = None
    groups: Domain | None = None
    groups_per_person: int = 1
    items_per_person: int | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_query(self) -> bool:
        """Whether a query selects the rows."""
        return self.reading.get("query") is not None

    @property
    def domain_from_data(self) -> bool:
        """Whether the items are taken from the data."""
        return isinstance(self.domain, FromData)

    @contextmanager
    def prepare(self, mechanism: Mechanism | GroupedMechanism) -> Iterator[PreparedCounts]:
        """Count, and check what was counted; it can be drawn from until the end of the block.

        Raises:
            SourceError: The source cannot be read.
            DomainError: The data are the domain, and have too few items.
        """
        if isinstance(mechanism, GroupedMechanism):
            grouped = self._count_groups()
            size = grouped.domain.size
            check_found(size, mechanism.selection.fewest_winners)
            yield PreparedCounts(
                mechanism.prepare(grouped), size * len(grouped), lambda: len(grouped.counts)
            )
        elif isinstance(self.domain, Domain) and not self.domain.is_listed:
            with counting.counted_items(self.source, **self._list_options()) as occurring:
                yield PreparedCounts(
                    lambda: mechanism.draw(occurring),
                    occurring.domain.size,
                    lambda: occurring.count,
                )
        else:
            counts = self._count()
            check_found(len(counts), mechanism.parameters.fewest_winners)
            yield PreparedCounts(
                mechanism.prepare(counts), len(counts), lambda: sum(map(bool, counts.values()))
            )

    def check_query(self) -> None:
        """Check the query without reading a row.

        Raises:
            SourceError, DomainError, ParameterError: It cannot be run, or the domain does not fit.
        """
        reading = {name: value for name, value in self.reading.items() if name != "progress"}
        check_query(
            self.source, item=self.item or [], domain=self.domain, by=self.by, groups=self.groups,
            person=self.person, count=self.count, items_per_person=self.items_per_person, **reading,
        )  # fmt: skip

    def _count(self) -> Counts:
        options = self._list_options()
        if self.count is not None:
            counts = counting.read_counts(self.source, by=None, **options)
            return Counts(counts, items_per_person=self.items_per_person)  # by the user's word
        if self.item is None:
            return counting.count_transactions(self.source, groups=None, **options)
        return counting.count_events(self.source, by=None, **options)

    def _count_groups(self) -> GroupedCounts:
        options: dict[str, Any] = {**self._list_options(), "groups": self.groups}
        if self.item is None:
            grouped: GroupedCounts = counting.count_transactions(self.source, **options)
            return grouped
        by = self.by or []
        if self.count is not None:
            counts = counting.read_counts(self.source, by=by, **options)
            counts.items_per_person = self.items_per_person  # by the user's word
            return counts
        most = self.groups_per_person
        return counting.count_events(self.source, by=by, groups_per_person=most, **options)

    def _list_options(self) -> dict[str, Any]:
        """The options of the function that counts, but for the groups."""
        named: dict[str, Any] = {"item": self.item, "person": self.person, "count": self.count}
        if self.count is None:
            named["items_per_person"] = self.items_per_person
        given = {name: value for name, value in named.items() if value is not None}
        return {"domain": self.domain, **given, **self.reading}
