"""A release, or estimates, as one HTML file that explains itself, to read, to print and to keep.

    to_html(result, Details(title=…))    the page: one table that is a chart, and what it means
    to_card(result, Details(title=…))    a card for machines: JSON-LD with the registry's fields
    read_labels(path)                    labels of items from a CSV file of two columns
    read_release(html)                   the release that a page holds, exactly
    read_estimates(html)                 the estimates that a page holds, exactly
    read_grouped(html)                   the lists of all groups that a page holds, exactly

The page asks nothing of the network, and is the same for the same arguments. It runs no script; but
where it shows the lists of many groups, a box to search for a group.
"""

from topgap.report.card import to_card
from topgap.report.details import Details
from topgap.report.label_file import read_labels
from topgap.report.page import read_estimates, read_grouped, read_release, to_html

__all__ = [
    "Details",
    "read_estimates",
    "read_grouped",
    "read_labels",
    "read_release",
    "to_card",
    "to_html",
]
