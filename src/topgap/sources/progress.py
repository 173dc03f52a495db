"""Progress functions."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, float | None], None]
"""A function of the current activity and its completed share; None if the share is unknown."""
