"""`Release`: the published result, at the boundary between secret and public data."""

from topgap.release.notes import (
    NOT_PROTECTED,
    explain_bias,
    explain_domain,
    explain_last_gap,
    explain_threshold,
    format_domain,
    format_items_per_person,
    format_most_named,
    format_threshold,
)
from topgap.release.parsing import FORMAT
from topgap.release.result import Release

__all__ = [
    "FORMAT",
    "NOT_PROTECTED",
    "Release",
    "explain_bias",
    "explain_domain",
    "explain_last_gap",
    "explain_threshold",
    "format_domain",
    "format_items_per_person",
    "format_most_named",
    "format_threshold",
]
