"""From events to counts: how many distinct persons each item of a public list has.

    count_events(source, person=…, item=…, domain=…)   rows that say who had what
    count_transactions(source, domain=…)               FIMI files, one person a line
    read_counts(source, item=…, count=…, domain=…)     counts that somebody made before
    Domain, read_domain, FROM_DATA                     the public list of items
    Counts                                             what they give: a dict that knows its list

Each person counts once for an item, however often they had it, so that one person moves a count by
at most 1: that is the sensitivity of `topgap.top_k`. And one person more moves all counts the same
way, which is what `monotonic` says. All items of the domain take part, with 0 if nobody has them;
items outside of it are left out without a word, because how many there are is a secret too.

DuckDB does the work, within a fixed amount of memory and on disk beyond it. The counts are secret.
"""

from topgap.counting.domain import Domain, read_domain
from topgap.counting.engine import MEMORY
from topgap.counting.events import count_events, count_transactions, read_counts
from topgap.counting.sources import FORMATS, Format, format_by_name
from topgap.domain import FROM_DATA, Counts
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
    "Progress",
    "count_events",
    "count_transactions",
    "format_by_name",
    "read_counts",
    "read_domain",
]
