"""The names of the items: checked before the release, and looked up only for the winners."""

from collections.abc import Iterable, Set
from typing import Any

import numpy as np

from topgap.errors import ItemsError


def check_names(names: Any, count: int) -> Any:
    """Return `names` in a form that can be looked up by position, if there are `count` of them.

    Raises:
        ItemsError: They have no order, or are not as many as the answers.

    >>> check_names(dict(ash=1, oak=2).keys(), 2)
    ['ash', 'oak']
    """
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise ItemsError(f"items must be a list of names, not {type(names).__name__}.")
    if isinstance(names, set | frozenset):
        raise ItemsError("items must have an order; make a list of them.")
    if isinstance(names, Set) or not hasattr(names, "__getitem__"):
        names = [*names]
    if getattr(names, "ndim", 1) != 1:
        raise ItemsError("items must be one-dimensional: one name per answer.")
    if hasattr(names, "iloc"):
        names = names.array  # by position, whatever its labels
    if len(names) != count:
        raise ItemsError(f"There are {len(names)} items for {count} answers; give each one.")
    return names


def look_up(names: Any, indices: list[int]) -> list[Any]:
    """The names at these positions, as plain Python objects where NumPy or Arrow has such.

    >>> look_up(np.array(["ash", "oak"]), [1])
    ['oak']
    """
    return [_plain(names[index]) for index in indices]


def _plain(name: Any) -> Any:
    if isinstance(name, np.generic) and name.dtype.kind in "biufU":
        return name.item()
    return name.as_py() if hasattr(name, "as_py") else name
