"""The items that a release can name: lists, ranges, patterns, products and subsets of items.

    Domain             the items, listed or given by a rule, of any number
    DomainDescription  the same in words, with its size, for whoever reads a release
    FROM_DATA          in place of a domain: take the items from the data
    Counts             the count of each item: a dict that knows its domain
    GroupedCounts      the counts of each group: a mapping from the group to its Counts

A domain is public: nothing here sees an answer.
"""

from topgap.domains.counts import Counts
from topgap.domains.description import DomainDescription
from topgap.domains.domain import Domain
from topgap.domains.from_data import FROM_DATA, FromData
from topgap.domains.grouped_counts import GroupedCounts
from topgap.domains.kind import ABSENT
from topgap.domains.limits import LARGEST_SIZE, MOST_ITEMS

__all__ = [
    "ABSENT",
    "FROM_DATA",
    "LARGEST_SIZE",
    "MOST_ITEMS",
    "Counts",
    "Domain",
    "DomainDescription",
    "FromData",
    "GroupedCounts",
]
