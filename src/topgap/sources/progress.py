"""How far the work is, for whoever waits."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, float | None], None]
"""A function that is told what is done and which share of it; None where that is not known."""
