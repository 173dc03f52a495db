"""The source of a request: how it is opened and read."""

import sys
from typing import Any

from topgap.cli.progress import Bar
from topgap.cli.release.domain_choice import read_request_domain, read_request_groups
from topgap.cli.release.request import ReleaseRequest
from topgap.errors import SourceError
from topgap.events.event_table import EventTable


def open_source(request: ReleaseRequest) -> Any:
    """The sources as they are read: paths, or standard input.

    Raises:
        SourceError: Standard input is closed.
    """
    if request.sources != ["-"]:
        return request.sources
    if sys.stdin is None:
        raise SourceError("Standard input is closed.")
    return sys.stdin.buffer


def read_table(request: ReleaseRequest, bar: Bar) -> EventTable:
    """Read from a request what is counted, and how; nothing of the source is read yet.

    Raises:
        DomainError, ParameterError: The domain or the groups cannot be used.
        SourceError: Standard input is closed.
    """
    is_fimi = request.resolved_source_format == "fimi"
    reading: dict[str, Any] = {
        "memory": request.memory,
        "progress": bar,
        "encoding": request.encoding,
        "fold_case": request.fold_case,
    }
    if not is_fimi:
        is_piped = request.sources == ["-"]
        reading |= {
            "format": request.resolved_source_format if is_piped else request.source_format,
            "table": request.table,
            "query": request.query,
            "header": request.header,
            "delimiter": request.delimiter,
        }
        if request.count is None:
            reading["rows_are_per_person"] = request.rows_are_per_person
            reading["count_in_database"] = request.count_in_database
    groups = read_request_groups(request) if request.has_groups else None
    return EventTable(
        source=open_source(request),
        domain=read_request_domain(request),
        person=request.person,
        item=None if is_fimi else request.item,
        count=request.count,
        by=request.by,
        groups=groups,
        groups_per_person=request.groups_per_person or 1,
        items_per_person=request.items_per_person,
        reading=reading,
    )
