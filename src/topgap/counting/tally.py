"""How a source is counted: SQL that counts by cells, by texts, and for sets of items."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from topgap.counting.cells import (
    build_count_sql,
    build_item_sql,
    build_person_sql,
    build_person_text_sql,
    is_text,
)
from topgap.counting.engine import Column, Engine, Table
from topgap.counting.postgresql import COUNT
from topgap.counting.source_files import Format
from topgap.counting.sources import open_lines, open_table
from topgap.errors import ParameterError, SourceError
from topgap.sources.columns import quote


class SourceOptions(TypedDict, total=False):
    """What a user may say of a source; see `topgap.counting.count_events`."""

    format: Format | None
    table: str | None
    query: str | None
    rows_are_per_person: bool
    header: bool
    delimiter: str | None
    encoding: str | None
    fold_case: bool
    count_in_database: bool


@dataclass(frozen=True)
class Tally:
    """How the items of a source are counted. Columns of items are called item0, item1 and so on.

    Attributes:
        opened: The table of the source.
        kinds: The types of the items' columns.
        by_cell: SQL that counts by the cells as they are, in columns item0 … and n: quick, and
            right as long as no two cells mean the same item.
        by_text: SQL that counts by the texts that they mean, for when two do; None for precomputed
            counts, where two must not.
        events: SQL for who had what, in columns person and text0 …; None for precomputed counts.
        rows: SQL for the same by the cells as they are, in columns person and item0 …, and whatever
            else `person_text` needs; None for precomputed counts.
        person_text: SQL for the text of a person of `rows`, which is not NULL, or of `events`.
        folds: Whether upper and lower case are the same.
    """

    opened: Table
    kinds: Sequence[str]
    by_cell: str
    by_text: str | None
    events: str | None
    rows: str | None = None
    person_text: str = "person"
    folds: bool = False

    @property
    def width(self) -> int:
        """How many columns identify an item."""
        return len(self.kinds)

    @property
    def are_texts(self) -> bool:
        """Whether all columns of items hold text."""
        return all(map(is_text, self.kinds))

    def build_texts_sql(self) -> str:
        """Build SQL for the texts of the items' cells, as columns text0 and so on."""
        return ", ".join(
            f"{build_item_sql(f'item{n}', kind, folds=self.folds)} AS text{n}"
            for n, kind in enumerate(self.kinds)
        )

    def of_columns(self, which: slice) -> "Tally":
        """The same with the types of some columns alone, to see what fits them."""
        return replace(self, kinds=self.kinds[which])

    def of_texts(self) -> "Tally":
        """The same by texts: each of its items is a text."""
        return replace(self, kinds=["VARCHAR"] * self.width)


def open_tally(
    engine: Engine,
    source: Any,
    *,
    items: Sequence[str] | None,
    person: str | None = None,
    count: str | None = None,
    run: bool = True,
    first_is_group: bool = False,
    **options: Any,
) -> Tally:
    """Open a source, and build the SQL that counts its items.

    Args:
        engine: Reads it.
        source: Whatever holds it.
        items: The columns that identify an item; None for transactions, one in each line.
        person: The column that identifies persons, of events.
        count: The column of precomputed counts.
        run: Whether a query is run; otherwise it gives no rows.
        first_is_group: Whether the first item of each line of transactions is not an item but the
            line's group, which is the first of two columns then.
        **options: The `SourceOptions`.

    Raises:
        SourceError: It cannot be read, or has no such columns.
        ParameterError: What was said of it does not fit its format.
    """
    folds = options.pop("fold_case", False)
    if items is None:
        opened = open_lines(engine, source, options.get("encoding"))
        return (_tally_grouped_lines if first_is_group else _tally_lines)(opened, folds=folds)
    form = options.pop("format", None)
    trusted = options.pop("rows_are_per_person", False)
    wanted = [each for each in (person, *items, count) if each is not None]
    counts_there = options.get("count_in_database", False)
    opened = open_table(
        engine, source, wanted, form=form, person=None if trusted else person, run=run,
        counts=count is not None, **options,
    )  # fmt: skip
    columns = [opened.column(name) for name in items]
    texts = [_require_sql(opened, n, build_item_sql(c.cell, c.kind, folds=folds)) for n, c in
             zip(items, columns, strict=True)]  # fmt: skip
    if counts_there:
        return _tally_counts(opened, columns, COUNT, folds=False)
    if count is not None:
        return _tally_counts(opened, columns, count, folds=folds)
    return _tally_events(opened, columns, texts, str(person), folds=folds)


def read_item_columns(item: Any) -> list[str]:
    """Read the name of the items' column, or a list of such names.

    Raises:
        ParameterError: It is neither, or a name is given twice.

    >>> read_item_columns("page"), read_item_columns(["country", "page"])
    (['page'], ['country', 'page'])
    """
    return read_columns(item, "item", "items")


def read_columns(given: Any, name: str, holding: str) -> list[str]:
    """Read what a user gave as this parameter: the column that holds something, or several."""
    names = [*given] if isinstance(given, list | tuple) else [given]
    if not names or not all(isinstance(each, str) for each in names):
        raise ParameterError(f"{name} must name the column of the {holding}, or several in a list.")
    if any(names.count(each) > 1 for each in names):
        raise ParameterError(f"{name} must name each column once.")
    return names


def _tally_events(
    opened: Table, columns: Sequence[Column], texts: Sequence[str], person: str, *, folds: bool
) -> Tally:
    who = opened.column(person)
    key = _require_sql(opened, person, build_person_sql(who.cell, who.kind, folds=folds))
    groups = ", ".join(str(n + 1) for n in range(len(columns)))
    persons = f"count(DISTINCT {key}) AS n FROM {opened.relation} GROUP BY {groups}"
    cells = _name_columns("item", [column.cell for column in columns])
    return Tally(
        opened,
        [column.kind for column in columns],
        by_cell=f"SELECT {cells}, {persons}",
        by_text=f"SELECT {_name_columns('item', texts)}, {persons}",
        events=f"SELECT {key} AS person, {_name_columns('text', texts)} FROM {opened.relation}",
        rows=f"SELECT {key} AS person, {cells} FROM {opened.relation}",
        person_text=build_person_text_sql("person", who.kind),
        folds=folds,
    )


_CELLS = "string_split(translate(line, chr(9), ' '), ' ')"
# A line is told from others by its number, which is another if a line before it goes. So what
# of it is kept must not depend on that, but on its own items; they have no spaces within.
_CONTENT = "md5(array_to_string(list_sort(items), ' '))"


def _build_tidy_cells_sql(*, folds: bool) -> str:
    text = build_item_sql("each", "VARCHAR", folds=folds)
    return f"list_transform({_CELLS}, lambda each: {text})"


def _tally_lines(opened: Table, *, folds: bool) -> Tally:
    tidy_cells = _build_tidy_cells_sql(folds=folds)

    def lines_with(items: str) -> str:
        each = f"SELECT unnest(list_distinct({items})) AS item0 FROM {opened.relation}"
        return f"SELECT item0, count(*) AS n FROM ({each}) GROUP BY 1"

    numbered = f"SELECT row_number() OVER () AS person, line FROM {opened.relation}"
    numbered = f"SELECT person, list_distinct({tidy_cells}) AS items FROM ({numbered})"
    identified = f"SELECT person, items, {_CONTENT} AS content FROM ({numbered})"
    return Tally(
        opened,
        ["VARCHAR"],
        by_cell=lines_with(_CELLS),
        by_text=lines_with(tidy_cells),
        events=f"SELECT person, content, unnest(items) AS text0 FROM ({identified})",
        rows=f"SELECT person, content, unnest(items) AS item0 FROM ({identified})",
        person_text="content",
        folds=folds,
    )


def _tally_grouped_lines(opened: Table, *, folds: bool) -> Tally:
    """Transactions whose first item is the group: a line is a person who is in that group alone."""
    numbered = f"SELECT row_number() OVER () AS person, line FROM {opened.relation}"
    shown = f"list_filter({_build_tidy_cells_sql(folds=folds)}, lambda each: each IS NOT NULL)"
    numbered = f"SELECT person, {shown} AS cells FROM ({numbered})"
    split = f"SELECT person, cells[1] AS item0, list_distinct(cells[2:]) AS items FROM ({numbered})"
    identified = f"SELECT person, item0, items, {_CONTENT} AS content FROM ({split})"
    rows = f"SELECT person, content, item0, unnest(items) AS item1 FROM ({identified})"
    return replace(_tally_lines(opened, folds=folds), kinds=["VARCHAR"] * 2, rows=rows)


def _tally_counts(opened: Table, columns: Sequence[Column], count: str, *, folds: bool) -> Tally:
    number = opened.column(count)
    whole = _require_sql(opened, count, build_count_sql(number.cell, number.kind))
    cells = _name_columns("item", [column.cell for column in columns])
    by_cell = f"SELECT {cells}, {whole} AS n FROM {opened.relation}"
    kinds = [column.kind for column in columns]
    return Tally(opened, kinds, by_cell, by_text=None, events=None, folds=folds)


def _name_columns(name: str, cells: Sequence[str]) -> str:
    return ", ".join(f"{cell} AS {name}{n}" for n, cell in enumerate(cells))


def _require_sql(opened: Table, name: str, sql: str | None) -> str:
    if sql is not None:
        return sql
    raise SourceError(f"{opened.label} has a column {quote(name)} of a type that cannot be used.")
