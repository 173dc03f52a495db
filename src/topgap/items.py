"""The names of the items: checked before the release, and looked up only for the winners."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from topgap.errors import ItemsError


def check_names(names: Any, count: int) -> Any:
    """Return `names` in a form that can be looked up by position, if there are `count` of them.

    Raises:
        ItemsError: They have no order, are not as many as the answers, or not distinct.

    >>> check_names(dict(ash=1, oak=2).keys(), 2)
    ['ash', 'oak']
    """
    if isinstance(names, str | bytes | Mapping) or not isinstance(names, Iterable):
        raise ItemsError(f"items must be a list of names, not {type(names).__name__}.")
    if isinstance(names, set | frozenset):
        raise ItemsError("items must have an order; make a list of them.")
    if getattr(names, "ndim", 1) != 1:
        raise ItemsError("items must be one-dimensional: one name per answer.")
    if not isinstance(names, list | tuple | np.ndarray) and not _is_pandas_index(names):
        # All at once, for nothing may go wrong after the winners have been drawn.
        try:
            names = names.to_pylist() if hasattr(names, "to_pylist") else [*names]
        except Exception:  # whose text is not ours
            raise ItemsError("items must be names that can be listed.") from None
    if len(names) != count:
        raise ItemsError(f"There are {len(names)} items for {count} answers; give each one.")
    if not _are_distinct(names):
        raise ItemsError("Two items have the same name; each must have its own.")
    return names


def look_up(names: Any, indices: list[int]) -> list[Any]:
    """The names at these positions, as plain Python objects where NumPy has such.

    >>> look_up(np.array(["ash", "oak"]), [1])
    ['oak']
    """
    return [_plain(names[index]) for index in indices]


def _are_distinct(names: Any) -> bool:
    if _is_pandas_index(names):
        return bool(names.is_unique)
    listed = names.tolist() if isinstance(names, np.ndarray) else names
    try:
        return len({*listed}) == len(listed)
    except TypeError:
        raise ItemsError(
            "Each item's name must be of a type that cannot change, such as a string."
        ) from None


def _is_pandas_index(names: Any) -> bool:
    return type(names).__module__.startswith("pandas.") and not hasattr(names, "iloc")


def _plain(name: Any) -> Any:
    return name.item() if isinstance(name, np.generic) and name.dtype.kind in "biufU" else name
