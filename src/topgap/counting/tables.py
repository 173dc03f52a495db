"""A table that DuckDB can read, whatever it came from, and its columns by name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from topgap.counting.engine import Engine
from topgap.errors import SourceError
from topgap.sources.columns import missing_column, repeated_column


@dataclass(frozen=True, slots=True)
class Column:
    """A column: SQL for its cells, and DuckDB's name of its type."""

    cell: str
    kind: str


@dataclass(frozen=True, slots=True)
class Table:
    """What DuckDB is to read.

    Attributes:
        label: What to call it in an error.
        relation: SQL for what stands after FROM.
        columns: Its columns by name.
        names_are_schema: Whether the names of the columns are a schema and not data, so that an
            error may list them. The first line of a text file and the columns of a query may be
            somebody's data.
    """

    label: str
    relation: str
    columns: Mapping[str, Column]
    names_are_schema: bool

    def column(self, name: str) -> Column:
        """The column of this name.

        Raises:
            SourceError: There is none.
        """
        if name in self.columns:
            return self.columns[name]
        raise missing_column(self.label, name, self.columns if self.names_are_schema else ())


def locate_columns(
    wanted: Sequence[str], names: Sequence[str], label: str, *, names_are_schema: bool = True
) -> list[int]:
    """Where the wanted columns are among all; upper and lower case differ.

    Args:
        wanted: Their names.
        names: The names of all columns.
        label: What to call the table in an error.
        names_are_schema: Whether an error may list the names; see `Table`.

    Raises:
        SourceError: One is not there, or more than once.
    """
    for name in wanted:
        if names.count(name) > 1:
            raise repeated_column(label, name)
        if name not in names:
            raise missing_column(label, name, names if names_are_schema else ())
    return [names.index(name) for name in wanted]


def build_table(label: str, relation: str, wanted: Sequence[str], kinds: Iterable[str]) -> Table:
    """The table of a relation that has the wanted columns under the names w0, w1 and so on."""
    columns = {
        name: Column(f"w{n}", kind)
        for n, (name, kind) in enumerate(zip(wanted, kinds, strict=True))
    }
    return Table(label, relation, columns, names_are_schema=True)


def describe_table(engine: Engine, label: str, relation: str) -> Table:
    """The table with the columns that DuckDB says it has.

    Raises:
        SourceError: It cannot be read.
    """
    import duckdb

    try:
        rows = engine.connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException):
        # Their words may be data: a PIVOT reads rows to name its columns, an ENUM lists its values.
        raise SourceError(f"{label} cannot be read.") from None
    except duckdb.Error as error:
        raise SourceError(engine.sentence(error, label)) from None
    columns = {name: Column(quote_identifier(name), kind) for name, kind, *_ in rows}
    return Table(label, relation, columns, names_are_schema=True)


def quote_literal(text: str) -> str:
    """The text as a string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def quote_identifier(name: str) -> str:
    """The name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'
