"""The names of the items: checked before the release, and looked up only for the winners."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from topgap.errors import ItemsError
from topgap.sealing import seal_errors

MOST_REMEMBERED = 2**18
"""So many names are remembered, to find an item that is given twice."""

MOST_TEXT = 2**24
"""And so many characters of them."""

TWICE = "An item was given twice; its noise is drawn once, so give each item once."

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
    if own is None or _has_distinct_keys(answers):
        return own
    return check_names(own, count)


@seal_errors
def check_names(names: Any, count: int) -> Any:
    """Return `names` in a form that can be looked up by position, if there are `count` of them.

    Raises:
        ItemsError: They have no order, are not as many as the answers, or not distinct.

    >>> check_names(dict(ash=1, oak=2).keys(), 2)
    ['ash', 'oak']
    """
    names = to_indexable_names(names)
    if len(names) != count:
        raise ItemsError(
            f"There are {len(names)} items for {count} answers; give one for each answer."
        )
    if not _are_distinct(names):
        raise ItemsError("Two items have the same name; each must have its own.")
    return names


def to_indexable_names(names: Any) -> Any:
    """The names in a form that can be looked up by position, however many, and distinct or not.

    Raises:
        ItemsError: They are not a list, or have no order.

    >>> to_indexable_names(iter(["ash", "ash"]))
    ['ash', 'ash']
    """
    try:
        _check_order(names)
        if _can_be_looked_up(names):
            return names
        # All at once, for nothing may go wrong after the winners have been drawn.
        return names.to_pylist() if _is_arrow(names) else [*names]
    except ItemsError:
        raise
    except Exception:  # whose text is not ours
        raise ItemsError("items must be names that can be listed.") from None


def look_up(names: Any, indices: list[int]) -> list[Any]:
    """The names at these positions, as plain Python objects where NumPy has such.

    Nothing of the names' own is run, for the winners have been drawn.

    >>> look_up(np.array(["ash", "oak"]), [1])
    ['oak']
    """
    if _is_arrow(names):
        return [names[index].as_py() for index in indices]
    return [_plain(names[index]) for index in indices]


def to_list(names: Any) -> Any:
    """All names, as `look_up` gives them.

    >>> to_list(np.array(["ash", "oak"]))
    ['ash', 'oak']
    """
    if _is_arrow(names):
        return names.to_pylist()
    if type(names) is np.ndarray and names.dtype.kind in _PLAIN:
        return names.tolist()
    return names if type(names) in (list, tuple, range) else [_plain(name) for name in names]


class SeenNames:
    """The names of earlier parts, remembered to find an item that is given twice.

    Beyond `MOST_REMEMBERED` names, or `MOST_TEXT` characters of them, none is remembered any more.

    Args:
        names: Those that are remembered from the start; None to remember none.
        forget: Whether too many names are forgotten. If not, all are remembered, however many.

    Attributes:
        names: The names that are remembered; None if there are too many, or they are not known.

    >>> seen = SeenNames()
    >>> seen.add(seen.check(["ash", "oak"]))
    >>> seen.check(["elm", "oak"])
    Traceback (most recent call last):
    topgap.errors.ItemsError: An item was given twice; its noise is drawn once, so give each item \
once.
    """

    __slots__ = ("_characters", "_forget", "names")

    def __init__(self, names: "Iterable[Any] | None" = (), *, forget: bool = True) -> None:
        self.names: set[Any] | None = None if names is None else {*names}
        self._forget = forget
        self._characters = _count_characters(self.names or ())

    def check(self, names: Any) -> Any:
        """The names as they are remembered, if none of them was given before.

        Raises:
            ItemsError: One was, or is not equal to itself.
        """
        is_too_much = self._forget and not self.names and len(names) > MOST_REMEMBERED
        if self.names is None or is_too_much:
            return None  # there is nothing to compare with, or nothing will be remembered
        new = to_list(names)
        try:
            is_odd = any(name != name for name in new)
        except Exception:  # of a name of somebody's own
            is_odd = True
        if is_odd:
            raise ItemsError("A name is not equal to itself, such as NaN; use another name.")
        if not self.names.isdisjoint(new):
            raise ItemsError(TWICE)
        return new

    def add(self, names: Any) -> None:
        """Remember these names, too; if they are None or too many, remember none any more."""
        if names is None or self.names is None:
            self.names = None
            return
        characters = self._characters + _count_characters(names)
        is_too_much = len(self.names) + len(names) > MOST_REMEMBERED or characters > MOST_TEXT
        if self._forget and is_too_much:
            self.names = None
        else:
            self.names.update(names)
            self._characters = characters


def _count_characters(names: Any) -> int:
    """How many characters names of text have."""
    return sum(len(name) for name in names if isinstance(name, str | bytes))


def _check_order(names: Any) -> None:
    if isinstance(names, str | bytes | Mapping) or not isinstance(names, Iterable):
        raise ItemsError(f"items must be a list of names, not {type(names).__name__}.")
    if isinstance(names, set | frozenset):
        raise ItemsError("items must have an order; make a list of them.")
    if getattr(names, "ndim", 1) != 1:
        raise ItemsError("items must be one-dimensional: one name per answer.")


def _has_distinct_keys(answers: object) -> bool:
    """Whether it is a dict that goes through its keys as a dict does."""
    return isinstance(answers, dict) and type(answers).__iter__ is dict.__iter__


def _can_be_looked_up(names: Any) -> bool:
    """Whether one name after the other can be had without an error."""
    if _is_pandas_index(names):
        return isinstance(names.dtype, np.dtype)
    if _is_arrow(names):
        names.validate(full=True)
        return str(names.type) in _ARROW_TYPES  # each value of which Python has too
    return type(names) in (list, tuple, np.ndarray, range)


def _are_distinct(names: Any) -> bool:
    if type(names) is range:
        return True
    try:
        if _is_pandas_index(names):
            return bool(names.is_unique)
        if _is_arrow(names):
            return len(names.unique()) == len(names)
        return len({*to_list(names)}) == len(names)
    except Exception:  # of a name that is a list, or of somebody's own
        raise ItemsError(
            "Each item's name must be of an immutable type, such as a string."
        ) from None


def _is_pandas_index(names: Any) -> bool:
    return type(names).__module__.startswith("pandas.") and not hasattr(names, "iloc")


def _is_arrow(names: Any) -> bool:
    return type(names).__module__.startswith("pyarrow.") and hasattr(names, "to_pylist")


def _plain(name: Any) -> Any:
    kind = type(name)
    return name.item() if issubclass(kind, np.generic) and name.dtype.kind in _PLAIN else name
