"""What a result for each group can do, whether it is a `Release` or `Estimates`: `ByGroup`."""

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self, TypeVar

import numpy as np

from topgap.display import dataframes
from topgap.display.items import split_items
from topgap.errors import ReleaseError
from topgap.grouped_parameters import TopKByGroup
from topgap.numbers.parse import LEVEL, Number
from topgap.release.parsing import has_json

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class _Result(Protocol):
    """What there is for one group."""

    @property
    def items(self) -> tuple[Any, ...]: ...
    def columns(self, level: "Number" = ...) -> dict[str, Any]: ...
    def __len__(self) -> int: ...


R = TypeVar("R", bound=_Result)


class ByGroup(Mapping[Any, R]):
    """A mapping from each group to its result, all of which were drawn for one `epsilon`."""

    __slots__ = ()

    @property
    @abstractmethod
    def groups(self) -> tuple[Any, ...]:
        """All groups, in their public order."""

    @property
    @abstractmethod
    def parameters(self) -> TopKByGroup:
        """What the lists were made with."""

    @property
    @abstractmethod
    def epsilon(self) -> Fraction:
        """The privacy loss of publishing all of it."""

    @abstractmethod
    def with_items(self, items: Sequence[Sequence[Any]], groups: Sequence[Any]) -> Self:
        """Return the same with other names for winners and groups, and without positions.

        For the ledger and the command, which write names as text.

        Raises:
            ReleaseError: There is not one name for each.
        """

    @abstractmethod
    def to_dict(self, level: "Number" = LEVEL) -> dict[str, Any]:
        """Everything in a dict, as JSON can hold it but for the items."""

    def to_json(self, level: "Number" = LEVEL, *, indent: int | None = None) -> str:
        """All of it as JSON, from which `from_json` makes an equal one.

        Args:
            level: That of intervals that are written.
            indent: Spaces by which inner lines are indented; None for a single line.

        Raises:
            ReleaseError: A group or an item is no string, number, True, False or None, and no tuple
                of these, or a whole number of more than 600 digits.
        """
        items = (item for result in self.values() for item in result.items)
        if not all(map(has_json, (*self.groups, *items))):
            raise ReleaseError(
                "Only groups and items that are strings, finite numbers of at most 600 digits, "
                "True, False or None, or tuples of them, can be written as JSON; name them by "
                "strings."
            )
        return json.dumps(self.to_dict(level), ensure_ascii=False, indent=indent)

    def to_pandas(self, level: "Number" = LEVEL) -> "pd.DataFrame":
        """A pandas data frame in long form: a row for each winner of each group.

        The columns are `group`, or `group_1`, `group_2` and so on for groups of several columns,
        `rank`, and those of one group's own data frame. A group without winners has no row.

        Args:
            level: That of the intervals.

        Raises:
            ReleaseError: Groups, items or an enormous number fit no column.
            ParameterError, ParameterTypeError: The level does not lie between 0 and 1.
            MissingExtraError: pandas is not installed.
        """
        return dataframes.to_pandas(self.columns(level))

    def to_polars(self, level: "Number" = LEVEL) -> "pl.DataFrame":
        """A polars data frame with the columns of `to_pandas`, and the same errors."""
        return dataframes.to_polars(self.columns(level))

    def to_arrow(self, level: "Number" = LEVEL) -> "pa.Table":
        """An Arrow table with the columns of `to_pandas`, and the same errors."""
        return dataframes.to_arrow(self.columns(level))

    def columns(self, level: "Number" = LEVEL) -> dict[str, Any]:
        """What the data frames are made of: a list or array by each name.

        Args:
            level: That of the intervals.

        Raises:
            ReleaseError: An enormous number fits no column.
        """
        results = [result for result in self.values() if len(result)] or [*self.values()][:1]
        items = [item for result in results for item in result.items]
        parts = [result.columns(level) for result in results]
        sizes = [len(result) for result in self.values()]
        groups = [group for group, size in zip(self.groups, sizes, strict=True) for _ in [0] * size]
        named = split_items(groups)
        ranks = [np.arange(1, size + 1) for size in sizes]
        columns: dict[str, Any] = {
            name.replace("item", "group", 1): column for name, column in named.items()
        }
        columns["rank"] = np.concatenate(ranks) if ranks else np.array([], dtype=np.int64)
        columns |= split_items(items)  # which a tuple for all groups may split otherwise
        for name in parts[0]:
            if not name.startswith("item"):
                columns[name] = _join([part[name] for part in parts if name in part])
        return columns

    def __iter__(self) -> Iterator[Any]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __contains__(self, group: object) -> bool:
        try:
            self[group]
        except (KeyError, TypeError):
            return False
        return True

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"A {type(self).__name__} is frozen.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"A {type(self).__name__} is frozen.")


def _join(columns: Sequence[Any]) -> Any:
    if all(isinstance(each, np.ndarray) for each in columns):
        return np.concatenate(columns)
    return [value for column in columns for value in column]
