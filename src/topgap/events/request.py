"""What a caller of `top_k_events` says of the events: `EventRequest`."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from topgap.counting import FORMATS, Domain, format_by_name
from topgap.counting.domain import to_domain
from topgap.counting.fitting import make_sets
from topgap.counting.groups import read_grouping, read_grouping_of_lines
from topgap.counting.options import LineOptions
from topgap.domains import FromData
from topgap.errors import ParameterError
from topgap.events.event_table import EventTable
from topgap.sources.paths import is_path


class EventRequest(NamedTuple):
    """What a caller says of the events, as given; see `top_k_events`."""

    source: Any
    person: str | None
    item: str | Sequence[str] | None
    domain: Any
    by: str | Sequence[str] | None
    groups: Any
    groups_per_person: int
    together: int | None
    items_per_person: int | None
    reading: Mapping[str, Any]

    def describe(self) -> dict[str, Any]:
        """What the ledger notes of them: names of columns, and a query."""
        reading = self.reading
        noted = {
            "person": self.person,
            "item": self.item,
            "by": self.by,
            "together": self.together,
            "table": reading.get("table"),
            "query": reading.get("query"),
            "rows_are_per_person": reading.get("rows_are_per_person") or None,
            "domain_from_data": isinstance(self.domain, FromData) or None,
        }
        return {name: value for name, value in noted.items() if value is not None}

    def read_table(self) -> EventTable:
        """Read what is counted, and how; nothing of the source is read yet.

        Raises:
            ParameterError, ParameterTypeError, DomainError: It cannot be used.
        """
        domain: Domain | FromData = to_domain(self.domain)
        if self.together is not None:
            domain = make_sets(domain, self.together)
        reading, by = dict(self.reading), self.by
        if self.person is None and self.item is None:
            _check_lines(self)
            reading.pop("format", None)
            grouping = read_grouping_of_lines(self.groups)
        elif self.person is None or self.item is None:
            raise ParameterError("person and item go together: name the column of each.")
        else:
            grouping = read_grouping(by, self.groups, self.groups_per_person)
        return EventTable(
            source=self.source,
            domain=domain,
            person=self.person,
            item=self.item,
            by=by,
            groups=None if grouping is None else grouping.groups,
            groups_per_person=1 if grouping is None else grouping.most,
            items_per_person=self.items_per_person,
            reading=reading,
        )


def _check_lines(request: EventRequest) -> None:
    """See that a source without columns can be of the FIMI format.

    Raises:
        ParameterError: It cannot, or something is said of its columns.
    """
    source, reading = request.source, request.reading
    paths = source if isinstance(source, list | tuple) else [source]
    formats = {format_by_name(str(each)) for each in paths if is_path(each)}
    form = reading.get("format")
    if form not in (None, *FORMATS) or {form or "fimi", *formats} - {"fimi", None}:
        raise ParameterError(
            "Say with person and item which columns to count; only files of the FIMI format have "
            "none."
        )
    known = {*LineOptions.__annotations__, "format"}
    if request.by is not None or request.groups_per_person != 1 or {*reading} - known:
        raise ParameterError(
            "A file of the FIMI format has no columns: each line is a person in one group, whose "
            "name comes first if there are groups; leave by, groups_per_person and what is for "
            "tables out."
        )
