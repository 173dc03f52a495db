"""What a result for each group can do, whether it is a `Release` or `Estimates`: `ByGroup`."""

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, Self, TypeVar

import numpy as np

from topgap.display import dataframes
from topgap.display.bars import Bar, explain_uncertain
from topgap.display.html_table import format_html_note, format_html_table
from topgap.display.items import split_items
from topgap.display.small_multiples import plot_groups
from topgap.display.text import format_text_table, name_type
from topgap.domains import DomainDescription
from topgap.errors import ParameterError, ReleaseError
from topgap.grouped_parameters import TopKByGroup
from topgap.numbers.format import format_short
from topgap.numbers.parse import LEVEL, Number
from topgap.release.grouped_notes import format_grouped_note
from topgap.release.grouped_text import MOST_ROWS, describe_groups, list_group_bars, list_rows
from topgap.release.notes import NOT_PROTECTED
from topgap.release.parsing import has_json
from topgap.release.threshold_notes import format_threshold, name_winners

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Grid = tuple[list[str], list[list[str]], str]


class _Result(Protocol):
    """What there is for one group."""

    @property
    def items(self) -> tuple[Any, ...]: ...
    def columns(self, level: "Number" = ...) -> dict[str, Any]: ...
    def rows(self, *, level: "Number", most: int) -> Grid: ...
    def bars(self, level: "Number") -> list[Bar]: ...
    def plot(self, ax: "Axes | None" = None, level: "Number" = ...) -> "Axes": ...
    def __len__(self) -> int: ...


LEFT = (0, 2)
"""The columns of a table of all groups that are aligned to the left: groups and items."""

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

    @property
    @abstractmethod
    def cost(self) -> str:
        """What all of it has cost, in words."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """How many winners each group has."""

    @property
    @abstractmethod
    def domain(self) -> DomainDescription | None:
        """Which items took part in each group, in words and with their number, if that is known."""

    @property
    @abstractmethod
    def domain_from_data(self) -> bool:
        """Whether the list of items is known to be from the data, and so is not protected."""

    @property
    def caveats(self) -> tuple[str, ...]:
        """Sentences about what is not protected, which all that is shown and written has."""
        return (NOT_PROTECTED,) if self.domain_from_data else ()

    @property
    @abstractmethod
    def has_gaps(self) -> bool:
        """Whether the lists have gaps."""

    @property
    @abstractmethod
    def has_counts(self) -> bool:
        """Whether any list tells how large its winners' answers are without measurements."""

    @abstractmethod
    def cautions(self, level: "Number" = LEVEL) -> list[str]:
        """Sentences about what must not be read into it: groups whose numbers are biased.

        Args:
            level: That of the intervals.
        """

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
            ReleaseError: A group or an item is not a string, number, True, False, None or a tuple
                of these, or is a whole number of more than 600 digits.
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
        for name in max(parts, key=len):  # where a list is full, a threshold gives no counts
            if not name.startswith("item"):
                lengths = zip(parts, map(len, results), strict=True)
                columns[name] = _join([part.get(name, _Missing(size)) for part, size in lengths])
        return columns

    def rows(self, level: "Number" = LEVEL, most: int | None = None) -> Grid:
        """The table to show: its head, its rows, and what is to be said below.

        The first column has the group, in the first row of its list.

        Args:
            level: That of the intervals.
            most: After so many rows no other group is begun; None for all of them.
        """
        groups = self.groups
        head, rows, shown = list_rows(self.items(), self.parameters.each, level, most)
        left = len(groups) - shown
        more = [f"… and {left:,} more group{'s' * (left > 1)}"] if left else []
        note = format_grouped_note(
            self.parameters, self.cost, self.domain, groups, self.sizes,
            has_gaps=self.has_gaps, has_counts=self.has_counts,
        )  # fmt: skip
        return head, rows, "\n".join([*more, note])

    def __str__(self) -> str:
        return self._format(LEVEL, MOST_ROWS)

    def to_text(self, level: "Number" = LEVEL) -> str:
        """The whole table as text; `str` shows the first groups of many.

        Args:
            level: That of the intervals.
        """
        return self._format(level, None)

    def _format(self, level: "Number", most: int | None) -> str:
        head, rows, note = self.rows(level, most)
        table = format_text_table(head, rows, LEFT)
        return "\n".join([table, note, *self.cautions(level), *self.caveats])

    def _repr_html_(self) -> str:
        head, rows, note = self.rows(LEVEL, MOST_ROWS)
        bars = list_group_bars(self.items(), LEVEL, MOST_ROWS)
        table = format_html_table(head, rows, LEFT, bars if any(bars) else None)
        uncertain = any(bar is not None and bar.is_uncertain for bar in bars)
        legend = [f"? {explain_uncertain(self.parameters.each)}."] * uncertain
        return table + format_html_note([note, *legend, *self.cautions(), *self.caveats])

    def __repr__(self) -> str:
        caveat = ", of a list from the data" * self.domain_from_data
        return describe_groups(type(self).__name__, self.groups, format_short(self.epsilon), caveat)

    def plot(
        self,
        figure: "Figure | None" = None,
        level: "Number" = LEVEL,
        *,
        groups: Iterable[Any] | None = None,
    ) -> "Figure":
        """Small charts, one for each group, as `plot` of its own result draws them.

        Args:
            figure: The Matplotlib figure to draw in; a new one unless given.
            level: That of the intervals.
            groups: Which groups to show; all unless given.

        Returns:
            The figure. Nothing is shown or saved.

        Raises:
            ReleaseError: The lists have no gaps.
            ParameterError, ParameterTypeError: There are more than 60 groups, or others than were
                released, or the level does not lie between 0 and 1.
            MissingExtraError: Matplotlib is not installed.
        """
        if not self.has_gaps:
            raise ReleaseError("Lists without gaps have no lengths to plot; print them instead.")
        shown = [*(self.groups if groups is None else groups)]
        if not shown or any(group not in self for group in shown):
            raise ParameterError("groups must be some of those that have a list.")
        title = f"{self._title}, {self.cost}"
        caveat = "\nNot protected: the list of items was taken from the data"
        return plot_groups(
            shown,
            lambda group, ax: self._draw(self[group], ax, level),
            max(self.sizes, default=1),
            figure,
            title=title + caveat * self.domain_from_data,
        )

    def _draw(self, result: R, ax: "Axes", level: "Number") -> None:
        result.plot(ax, level)
        if not len(result):
            none, middle = name_winners(self.parameters.each, 0), (0.5, 0.5)
            ax.annotate(none, middle, xycoords="axes fraction", ha="center", va="center")

    @property
    def _title(self) -> str:
        each = self.parameters.each
        if each.threshold is not None:
            above = "above" if each.has_sentinel else "that reached"
            return f"The items {above} {format_threshold(each)} in each group"
        return f"The {f'{each.k:,} ' * (each.k > 1)}largest in each group"

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
        raise AttributeError(f"{name_type(self)} is frozen.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{name_type(self)} is frozen.")


class _Missing(NamedTuple):
    """So many rows that have no number in a column."""

    rows: int


def _join(columns: Sequence[Any]) -> Any:
    """The columns of all groups one after the other; what is missing is NaN, or None."""
    if any(isinstance(each, np.ndarray) and each.dtype.kind == "f" for each in columns):
        return np.concatenate(
            [np.full(each.rows, np.nan) if isinstance(each, _Missing) else each for each in columns]
        )
    if all(isinstance(each, np.ndarray) for each in columns):
        return np.concatenate(columns)
    return [
        value
        for column in columns
        for value in ([None] * column.rows if isinstance(column, _Missing) else column)
    ]
