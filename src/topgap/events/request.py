"""What a caller of `top_k_events` says of the events: `EventRequest`."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from topgap.counting import Domain, format_by_name
from topgap.counting.domain import to_domain
from topgap.counting.fitting import make_sets
from topgap.counting.groups import Grouping, read_grouping, read_grouping_of_lines
from topgap.display.text import format_path
from topgap.domains import FromData
from topgap.errors import ParameterError, ParameterTypeError
from topgap.events.event_table import EventTable
from topgap.numbers.parse import read_flag
from topgap.sources.paths import expand_paths, is_path

_TEXTS = ("format", "table", "query", "delimiter", "encoding", "memory")
_FLAGS = ("rows_are_per_person", "count_in_database", "header", "fold_case")
_DEFAULTS = {
    "by": None, "groups_per_person": 1, "table": None, "query": None, "rows_are_per_person": False,
    "count_in_database": False, "header": True, "delimiter": None,
}  # fmt: skip
"""What cannot be stated of a file without columns, and its value if it is not stated."""


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
        """What the ledger notes of them: paths without passwords, names of columns, a query."""
        reading = self.reading
        noted = {
            "sources": _describe_source(self.source),
            "table": reading["table"],
            "query": reading["query"],
            "rows_are_per_person": reading["rows_are_per_person"] or None,
            "count_in_database": reading["count_in_database"] or None,
            "encoding": reading["encoding"],
            "fold_case": reading["fold_case"] or None,
            "person": self.person,
            "item": self.item,
            "domain": _describe_path(self.domain),
            "domain_from_data": isinstance(self.domain, FromData) or None,
            "by": self.by,
            "groups": _describe_path(self.groups),
            "together": self.together,
        }
        return {name: value for name, value in noted.items() if value is not None}

    def read_table(self) -> EventTable:
        """Read what is counted, and how; nothing of the source is read yet.

        Raises:
            ParameterError, ParameterTypeError, DomainError: It cannot be used.
        """
        reading = self._read_options()
        if self.person is None and self.item is None:
            self._check_lines()
            reading = {
                name: reading[name] for name in reading if name not in {*_DEFAULTS, "format"}
            }
            grouping = read_grouping_of_lines(self.groups)
        elif self.person is None or self.item is None:
            raise ParameterError("person and item go together: name the column of each.")
        else:
            grouping = read_grouping(self.by, self.groups, self.groups_per_person)
        _check_groups(grouping)
        domain: Domain | FromData = to_domain(self.domain)
        if self.together is not None:
            domain = make_sets(domain, self.together)
        return EventTable(
            source=self.source,
            domain=domain,
            person=self.person,
            item=self.item,
            by=self.by,
            groups=None if grouping is None else grouping.groups,
            groups_per_person=1 if grouping is None else grouping.most,
            items_per_person=self.items_per_person,
            reading=reading,
        )

    def _read_options(self) -> dict[str, Any]:
        """Read how the source is read: texts and flags."""
        reading = dict(self.reading)
        for name in _TEXTS:
            if reading[name] is not None and not isinstance(reading[name], str):
                raise ParameterTypeError(
                    f"{name} must be text, not {type(reading[name]).__name__}."
                )
        reading |= {name: read_flag(reading[name], name) for name in _FLAGS}
        if reading["query"] is not None and hasattr(self.source, "read"):
            raise ParameterError(
                "A query is asked of a database, by its path, address or connection; an open file "
                "can be read once, and a query is checked before it is charged and run."
            )
        return reading

    def _check_lines(self) -> None:
        """Check that a source without columns is of the FIMI format.

        Raises:
            ParameterError: It is not, or something is said of its columns.
        """
        form, source = self.reading["format"], self.source
        several = source if isinstance(source, list | tuple) else [source]
        names = [*expand_paths(source)] if several and all(map(is_path, several)) else [""]
        formats = {form} if form is not None else {format_by_name(os.fspath(n)) for n in names}
        if formats != {"fimi"}:
            raise ParameterError(
                "Name the columns with person and item; only files of the FIMI format have none "
                "(those that end in .dat, or others with format='fimi')."
            )
        said = {**self._asdict(), **self.reading}
        for name, default in _DEFAULTS.items():
            if said[name] != default:
                raise ParameterError(f"A file of the FIMI format has no columns; leave {name} out.")


def _check_groups(grouping: Grouping | None) -> None:
    if grouping is not None and grouping.most > grouping.groups.size:
        raise ParameterError(
            f"groups_per_person must be at most {grouping.groups.size:,}, the number of groups: a "
            f"larger one would waste a part of epsilon."
        )


def _describe_source(source: Any) -> list[str] | str | None:
    """The paths of a source, without passwords; None if it is no file."""
    if isinstance(source, list | tuple) and source and all(map(is_path, source)):
        return [format_path(os.fspath(each)) for each in source]
    return _describe_path(source)


def _describe_path(given: Any) -> str | None:
    return format_path(os.fspath(given)) if is_path(given) else None
