"""A release, or estimates, as one HTML file that explains itself, to read, to print and to keep.

    to_html(result, title=…, caveat=…)   the page: chart, numbers, what they mean, how to cite
    read_release(html)                   the release that a page holds, exactly
    read_estimates(html)                 the estimates that a page holds, exactly
    read_grouped(html)                   the lists of all groups that a page holds, exactly

The page asks nothing of the network, and is the same for the same release. It runs no script; but
where it shows the lists of many groups, a box to search for a group.
"""

from topgap.report.page import read_estimates, read_grouped, read_release, to_html

__all__ = ["read_estimates", "read_grouped", "read_release", "to_html"]
