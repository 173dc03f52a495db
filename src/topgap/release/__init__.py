"""`Release` and `GroupedRelease`: what is published, between secret and public data."""

from topgap.release.counts import Count
from topgap.release.grouped import GroupedRelease, Lists
from topgap.release.notes import (
    NOT_PROTECTED,
    explain_bias,
    explain_domain,
    format_domain,
    format_items_per_person,
)
from topgap.release.parsing import FORMAT
from topgap.release.result import Release
from topgap.release.text import format_number
from topgap.release.threshold_notes import (
    describe_room,
    describe_spent,
    explain_last_gap,
    explain_threshold,
    format_most_named,
    format_threshold,
)

__all__ = [
    "FORMAT",
    "NOT_PROTECTED",
    "Count",
    "GroupedRelease",
    "Lists",
    "Release",
    "describe_room",
    "describe_spent",
    "explain_bias",
    "explain_domain",
    "explain_last_gap",
    "explain_threshold",
    "format_domain",
    "format_items_per_person",
    "format_most_named",
    "format_number",
    "format_threshold",
]
