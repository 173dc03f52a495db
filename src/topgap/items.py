"""The names of the items: checked before the release, and looked up only for the winners."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from topgap.errors import ItemsError
from topgap.sealing import sealed

_PLAIN = "biufUV"
_ARROW_TYPES = {
    "string", "large_string", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64",
}  # fmt: skip


def choose_names(answers: object, own: Any, given: object, count: int) -> Any:
    """The items' names: those that the answers have of their own, or those given with them.

    Returns:
        The names in a form that can be looked up by position; None if items go by their position.

    Raises:
        ItemsError: There are both, or they cannot be used; see `check_names`.
    """
    if given is not None:
        if own is not None:
            raise ItemsError("The answers already name their items; give no items with them.")
        own = given
    if own is None or isinstance(answers, dict):  # whose keys are distinct
        return own
    return check_names(own, count)


@sealed
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
    if not _can_be_looked_up(names):
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


def listed(names: Any) -> Any:
    """All names, as `look_up` gives them.

    >>> listed(np.array(["ash", "oak"]))
    ['ash', 'oak']
    """
    if hasattr(names, "to_pylist"):
        return names.to_pylist()
    if isinstance(names, np.ndarray) and names.dtype.kind in _PLAIN:
        return names.tolist()
    return names if isinstance(names, list | tuple | range) else [_plain(name) for name in names]


def _can_be_looked_up(names: Any) -> bool:
    """Whether one name after the other can be had without an error."""
    if _is_pandas_index(names):
        return isinstance(names.dtype, np.dtype)
    if _is_arrow(names):
        try:
            names.validate(full=True)
        except ValueError:
            raise ItemsError("items must be names that can be listed.") from None
        return str(names.type) in _ARROW_TYPES  # each value of which Python has too
    return isinstance(names, list | tuple | np.ndarray | range)


def _are_distinct(names: Any) -> bool:
    if isinstance(names, range):
        return True
    if _is_pandas_index(names):
        return bool(names.is_unique)
    try:
        if _is_arrow(names):
            return len(names.unique()) == len(names)
        return len({*listed(names)}) == len(names)
    except TypeError:
        raise ItemsError(
            "Each item's name must be of a type that cannot change, such as a string."
        ) from None


def _is_pandas_index(names: Any) -> bool:
    return type(names).__module__.startswith("pandas.") and not hasattr(names, "iloc")


def _is_arrow(names: Any) -> bool:
    return type(names).__module__.startswith("pyarrow.") and hasattr(names, "to_pylist")


def _plain(name: Any) -> Any:
    if hasattr(name, "as_py"):
        return name.as_py()
    return name.item() if isinstance(name, np.generic) and name.dtype.kind in _PLAIN else name
