"""The forms that all plans have: text, JSON and data frames; and a plot, if simulated."""

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar

from topgap.display import dataframes
from topgap.display.html_table import format_html_note, format_html_table
from topgap.display.text import format_text_table
from topgap.numbers.format import format_short
from topgap.planning.chart import plot, render
from topgap.planning.formatting import format_size

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes

NOT_PRIVATE = "Not private: a plan reveals its counts, which must be public or made up."
_WIDTH = 100


class TabularPlan(ABC):
    """A plan as text, as JSON and as data frames."""

    _left: ClassVar[Collection[int]] = ()
    """The columns of the table in text that are aligned to the left."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything in a dict."""

    @abstractmethod
    def columns(self) -> Mapping[str, Sequence[float | None]]:
        """The columns of the data frames, by name."""

    @abstractmethod
    def _table(self) -> tuple[list[str], list[list[str]]]:
        """The head of the table and its rows."""

    @abstractmethod
    def _notes(self) -> list[str]:
        """The lines below the table."""

    def to_json(self, *, indent: int | None = None) -> str:
        """The dict of `to_dict` as JSON.

        Args:
            indent: Spaces by which inner lines are indented; None for a single line.
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    def to_pandas(self) -> "pd.DataFrame":
        """A pandas data frame with a row for each of `rows`, and the columns of `columns`.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        return dataframes.to_pandas({**self.columns()})

    def to_polars(self) -> "pl.DataFrame":
        """A polars data frame with the columns of `to_pandas`, and the same errors."""
        return dataframes.to_polars({**self.columns()})

    def to_arrow(self) -> "pa.Table":
        """An Arrow table with the columns of `to_pandas`, and the same errors."""
        return dataframes.to_arrow({**self.columns()})

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """The plan as a table for people, with notes below it."""
        head, rows = self._table()
        return "\n".join([format_text_table(head, rows, left=self._left), *self._notes()])

    def _repr_html_(self) -> str:
        head, rows = self._table()
        return format_html_table(head, rows) + format_html_note(self._notes())


class SimulatedPlan(TabularPlan):
    """A plan that was simulated from public counts, and that is drawn, too."""

    k: int
    items: int
    resolution: Fraction
    sensitivity: Fraction
    monotonic: bool
    releases: int
    domain_size: int | None

    @property
    @abstractmethod
    def advice(self) -> tuple[str, ...]:
        """What follows from the figures, in sentences."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What was planned, as a title."""

    @abstractmethod
    def _explanations(self) -> list[str]:
        """What the columns of the table mean, and how exact they are."""

    @abstractmethod
    def _draw(self, above: "Axes", below: "Axes") -> None:
        """Draw on two axes, without legends."""

    def plot(self, axes: "tuple[Axes, Axes] | None" = None) -> "tuple[Axes, Axes]":
        """Draw the plan over ε: the lists on the upper axes, the errors of counts on the lower.

        Args:
            axes: Two Matplotlib axes to draw on. Default: new ones in a new figure.

        Returns:
            The axes. Nothing is shown or saved.

        Raises:
            MissingExtraError: Matplotlib is not installed.
        """
        return plot(self._draw, axes)

    def render(self, form: str) -> bytes:
        """Draw the same chart as the contents of a file, without pyplot and without a display.

        Args:
            form: One of `topgap.display.figure.FORMS`.

        Raises:
            MissingExtraError: Matplotlib is not installed.
        """
        return render(self._draw, form)

    def _counts_to_dict(self) -> dict[str, Any]:
        """What was planned, for `to_dict`."""
        return {
            "caution": NOT_PRIVATE,
            "k": self.k,
            "items": self.items,
            **({} if self.domain_size is None else {"domain_size": str(self.domain_size)}),
            "resolution": str(self.resolution),
            "sensitivity": str(self.sensitivity),
            "monotonic": self.monotonic,
        }

    def _format_items(self) -> str:
        size = self.domain_size
        return f"{self.items:,} items" if size is None else f"{format_size(size)} items"

    def _notes(self) -> list[str]:
        resolution, sensitivity = map(format_short, (self.resolution, self.sensitivity))
        monotonic = ", monotonic" * self.monotonic
        return [
            f"{self.title}: resolution {resolution}, sensitivity {sensitivity}{monotonic}",
            *self._explanations(),
            NOT_PRIVATE,
            *(line for sentence in self.advice for line in wrap(sentence, _WIDTH)),
        ]
