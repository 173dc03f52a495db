"""`Release`: the published result, at the boundary between secret and public data."""

from topgap.release.notes import NOT_PROTECTED, format_domain
from topgap.release.parsing import FORMAT
from topgap.release.result import Release

__all__ = ["FORMAT", "NOT_PROTECTED", "Release", "format_domain"]
