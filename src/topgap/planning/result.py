"""The result of a plan, `Plan`, as text, as JSON, as data frames and as a plot."""

import json
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from topgap.display import dataframes
from topgap.display.text import format_html_table, format_text_table
from topgap.numbers.format import format_rounded
from topgap.planning.formatting import (
    format_epsilon,
    format_people,
    format_size,
    to_column,
    to_json_number,
)
from topgap.planning.plot import plot
from topgap.planning.rows import Lists, Row

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes

FORMAT = "topgap.plan/1"
NOT_PRIVATE = "Not private: a plan tells of its counts, which must be public or made up."
NEEDED = (
    "needed: people, for an item to be named with probability 95% if at most k items have anybody."
)
_NAMES, _ESTIMATES = "names, gaps", "counts too"


@dataclass(frozen=True, repr=False)
class Plan:
    """What to expect of releases of such counts, as `topgap.plan` found it by simulation.

    It reveals the counts that it was made from, which must be public or made up.

    Attributes:
        k: How many winners are named.
        items: The number of counts.
        resolution: Gaps and measurements are multiples of this.
        sensitivity: How far one person can move any one count.
        monotonic: Whether one person's arrival moves all counts the same way.
        selection_share: The share of ε that selects, where winners are measured too.
        releases: The number of simulated releases for each ε and each kind.
        rows: What to expect at each ε, from the smallest up.
        domain_size: How many items the domain has, those without counts too; None without one.
    """

    k: int
    items: int
    resolution: Fraction
    sensitivity: Fraction
    monotonic: bool
    selection_share: Fraction
    releases: int
    rows: tuple[Row, ...]
    domain_size: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything in a dict: parameters as exact strings, simulated figures as floats.

        Each figure is a pair of its value and its standard error; what no float can hold is None.
        """
        return {
            "format": FORMAT,
            "caution": NOT_PRIVATE,
            "k": self.k,
            "items": self.items,
            **({} if self.domain_size is None else {"domain_size": str(self.domain_size)}),
            "resolution": str(self.resolution),
            "sensitivity": str(self.sensitivity),
            "monotonic": self.monotonic,
            "selection_share": str(self.selection_share),
            "releases": self.releases,
            "rows": [
                {
                    "epsilon": str(row.epsilon),
                    **{
                        name: [*map(to_json_number, figure)] for name, figure in row.figures.items()
                    },
                    **{name: to_json_number(figure) for name, figure in row.formulas.items()},
                }
                for row in self.rows
            ],
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """The dict of `to_dict` as JSON.

        Args:
            indent: Spaces by which inner lines are indented; None for a single line.
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)

    def to_pandas(self) -> "pd.DataFrame":
        """A pandas data frame with one row per ε, from the smallest up.

        The columns are `epsilon`; each of the simulated figures (`names_right`, `names_in_order`,
        `names_overlap`, `estimates_right`, `estimates_in_order`, `estimates_overlap`,
        `measured_error`, `combined_error`), followed by its standard error, whose name ends in
        `_se`; `measured_formula` and `combined_formula`. With a domain there are `names_empty` and
        `estimates_empty`, too, and `names_people_needed` and `estimates_people_needed`. See `Row`
        and `Lists` for what they mean.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        return dataframes.to_pandas(self.columns())

    def to_polars(self) -> "pl.DataFrame":
        """A polars data frame with the columns of `to_pandas`, and the same errors."""
        return dataframes.to_polars(self.columns())

    def to_arrow(self) -> "pa.Table":
        """An Arrow table with the columns of `to_pandas`, and the same errors."""
        return dataframes.to_arrow(self.columns())

    def columns(self) -> dict[str, list[float]]:
        """The columns of the data frames, by name."""
        columns: dict[str, list[float]] = {"epsilon": [float(row.epsilon) for row in self.rows]}
        for name in self.rows[0].figures:
            columns[name] = [row.figures[name].value for row in self.rows]
            columns[f"{name}_se"] = [row.figures[name].standard_error for row in self.rows]
        for name in self.rows[0].formulas:
            columns[name] = to_column([row.formulas[name] for row in self.rows])
        return columns

    def plot(self, axes: "tuple[Axes, Axes] | None" = None) -> "tuple[Axes, Axes]":
        """Draw the accuracy of the lists and the errors of the counts over ε.

        Args:
            axes: Two Matplotlib axes to draw on. Default: new ones in a new figure.

        Raises:
            MissingExtraError: Matplotlib is not installed.
        """
        return plot(self.rows, self.k, self.title, axes)

    @property
    def title(self) -> str:
        """What was planned, as a title.

        >>> Plan(2, 9_000, Fraction(1), Fraction(1), True, Fraction(1, 2), 100, ()).title
        'The 2 largest of 9,000 items'
        """
        items = f"{self.items:,}" if self.domain_size is None else format_size(self.domain_size)
        return f"The {f'{self.k} ' * (self.k > 1)}largest of {items} items"

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """The plan as a table: for each ε a line of names and gaps, and one with counts too."""
        head, rows = self._table()
        return "\n".join([format_text_table(head, rows), *self._notes()])

    def _repr_html_(self) -> str:
        head, rows = self._table()
        return f"{format_html_table(head, rows)}<p>{'<br>'.join(map(escape, self._notes()))}</p>"

    def _table(self) -> tuple[list[str], list[list[str]]]:
        head = ["ε", "released", "list right", "order too", f"of {self.k} right"]
        if self.domain_size is not None:
            head += [f"of {self.k} empty", "needed"]
        head += ["error measured", "with gaps"]
        rows = []
        for row in self.rows:
            errors = [format_rounded(*row.measured_error), format_rounded(*row.combined_error)]
            rows.append([format_epsilon(row.epsilon), _NAMES, *_cells(row.names, self.k), "", ""])
            rows.append(["", _ESTIMATES, *_cells(row.estimates, self.k), *errors])
        return head, rows

    def _notes(self) -> list[str]:
        sensitivity = f"{self.sensitivity}{', monotonic' * self.monotonic}"
        off = max(
            each.standard_error
            for row in self.rows
            for lists in (row.names, row.estimates)
            for each in (lists.right, lists.in_order)
        )
        return [
            f"{self.title}: resolution {self.resolution}, sensitivity {sensitivity}",
            f"Where counts are released too, {self.selection_share} of ε selects.",
            *self._domain_notes(),
            f"Each line is from {self.releases:,} simulated releases: chances have a standard "
            f"error of at most {100 * off:.2g}%.",
            NOT_PRIVATE,
        ]

    def _domain_notes(self) -> list[str]:
        if self.domain_size is None:
            return []
        return [f"empty: items that nobody has; {self.items:,} items have public counts.", NEEDED]

    def __repr__(self) -> str:
        return f"<Plan for the {self.title[4:]} at {len(self.rows)} values of ε>"


def _cells(lists: Lists, k: int) -> list[str]:
    overlap = lists.overlap.value
    of_k = f">{k - 0.01:.2f}" if k - 0.005 <= overlap < k else f"{overlap:.2f}"
    cells = [format_share(lists.right.value), format_share(lists.in_order.value), of_k]
    if lists.empty is not None and lists.people_needed is not None:
        empty = lists.empty.value
        cells.append("<0.01" if 0 < empty < 0.005 else f"{empty:.2f}")
        cells.append(format_people(lists.people_needed))
    return cells


def format_share(share: float) -> str:
    """Format a share in percent; only 0 and 1 look like 0% and 100%.

    >>> [format_share(share) for share in (0.5, 0.99999, 1.0, 0.0004, 0.0)]
    ['50.0%', '>99.9%', '100%', '<0.1%', '0%']
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.001:
        return "<0.1%"
    return ">99.9%" if share > 0.999 else f"{share:.1%}"
