"""From events to counts: the number of distinct persons of each item of a public domain.

    count_events(source, person=…, item=…, domain=…)   rows with a person and an item
    count_transactions(source, domain=…)               FIMI files, one person a line
    read_counts(source, item=…, count=…, domain=…)     precomputed counts
    counted_items(source, domain=…)                    what occurs of a domain, in batches
    list_columns(source)                               which columns a source has
    Domain, read_domain, FROM_DATA                     the public items
    Counts                                             the result: a dict that knows its domain
    GroupedCounts                                      the result for each group, with groups=

Each person counts once for an item, so that one person moves a count by at most 1: this is the
sensitivity of `topgap.top_k`. Adding a person moves all counts the same way (`monotonic`). All
items of the domain take part, with 0 if nobody has them. Items outside of it are left out silently,
because their number is secret, too.

DuckDB does the work, within a fixed amount of memory and on disk beyond it. The counts are secret.
"""

from topgap.counting.column_listing import list_columns
from topgap.counting.domain import read_domain
from topgap.counting.engine import MEMORY
from topgap.counting.events import (
    count_events,
    count_transactions,
    counted_items,
    read_counts,
)
from topgap.counting.occurring import Occurring
from topgap.counting.source_files import FORMATS, Format, format_by_name
from topgap.domains import FROM_DATA, Counts, Domain, GroupedCounts
from topgap.release import NOT_PROTECTED
from topgap.sources.progress import Progress

__all__ = [
    "FORMATS",
    "FROM_DATA",
    "MEMORY",
    "NOT_PROTECTED",
    "Counts",
    "Domain",
    "Format",
    "GroupedCounts",
    "Occurring",
    "Progress",
    "count_events",
    "count_transactions",
    "counted_items",
    "format_by_name",
    "list_columns",
    "read_counts",
    "read_domain",
]
