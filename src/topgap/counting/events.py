"""Counting: `count_events`, `count_transactions`, `read_counts`, and `counted_items`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Unpack

from topgap.counting.contribution_bound import read_bound
from topgap.counting.domain import to_domain
from topgap.counting.engine import MEMORY, Engine
from topgap.counting.fitting import check_fit, make_sets
from topgap.counting.listed_items import count_all, count_list
from topgap.counting.occurring import Occurring, OccurringItems
from topgap.counting.sources import Format
from topgap.counting.tally import SourceOptions, open_tally, read_item_columns
from topgap.counting.together import OccurringSets
from topgap.domains import FROM_DATA, Counts, Domain, FromData
from topgap.domains.structure import find_sets
from topgap.errors import DomainError, SourceError
from topgap.sealing import seal_library_errors
from topgap.sources.progress import Progress


@seal_library_errors(SourceError, "The source")
def count_events(
    source: Any,
    *,
    person: str,
    item: str | Sequence[str],
    domain: Any,
    together: int | None = None,
    items_per_person: int | None = None,
    format: Format | None = None,  # noqa: A002 - what everyone calls it
    table: str | None = None,
    query: str | None = None,
    rows_are_per_person: bool = False,
    header: bool = True,
    delimiter: str | None = None,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Counts:
    """Count the distinct persons of each item.

    Args:
        source: A CSV, TSV, JSON lines or Parquet file, a pattern of them, or a list; a DuckDB or
            SQLite file; an open binary file; a pandas or polars data frame; an Arrow table.
        person: The column that says who. Events without a person are left out.
        item: The column that says what. Events without an item are left out. Several columns in a
            list: an item is then a tuple, and none of its cells may be missing.
        domain: The public items: an iterable, a range, the path of a text file with an item a line,
            a `Domain` of any kind, or FROM_DATA, which does not protect who is in it; what is
            released from the counts says so then. For several columns a `Domain.product`.
        together: Count pairs (2) or triples (3) of different items of the domain: the persons who
            have all of them. A person may be in any number of pairs, and moves each by at most 1.
            The domain of the counts is then `Domain.subsets(domain, size=together)`.
        items_per_person: The contribution bound L: of each person's different items of the domain
            at most so many are kept, chosen by a public hash of the person and the item, so that
            what is kept of a person depends on that person's rows alone. Nobody is refused for
            having more. With `together` the sets are the items. Counts are then biased downwards.
        format: The format of a file, if its name does not tell.
        table: The table of a DuckDB or SQLite file.
        query: One SELECT to ask of it instead; it reaches no other file. Each of its rows must come
            from one person's rows alone, or one person can move a count by more than 1. So limits,
            windows, joins, subqueries, random functions, and aggregates over more than one person
            are refused, and views that have them too.
        rows_are_per_person: Accept such a query or view: that each of its rows depends on the rows
            of one person alone is then your word.
        header: Whether CSV and TSV files have names in their first lines; otherwise columns go by
            their numbers, "1", "2" and so on.
        delimiter: What stands between the cells of a CSV file, if the first line does not tell.
        memory: What DuckDB may use of it; more goes to disk, in a private directory.
        progress: A function that is told what is done and which share of it.

    Returns:
        The count of each item of a list, in its order. Of a domain that is not written out, the
        counts of those items alone that occur; all others are 0. They are secret.

    Raises:
        SourceError: The source cannot be read; no error text has a value of it.
        DomainError: The domain cannot be used, or is not one of these columns.
        ParameterError: What was said of the source does not fit it.
        MissingExtraError: DuckDB is not installed.

    >>> import pandas as pd
    >>> visits = pd.DataFrame({"who": ["Ann", "Ann", "Bob"], "what": ["flu", "flu", "flu"]})
    >>> count_events(visits, person="who", item="what", domain=["flu", "cold"])
    {'flu': 2, 'cold': 0}
    >>> count_events(visits, person="who", item="what", domain=Domain.pattern("[a-z]{3,5}"))
    {'flu': 2}
    >>> both = pd.DataFrame({"who": ["Ann", "Ann", "Bob"], "what": ["flu", "cold", "flu"]})
    >>> asked = {"person": "who", "item": "what", "domain": ["flu", "cold"]}
    >>> sum(count_events(both, **asked).values()), sum(
    ...     count_events(both, **asked, items_per_person=1).values()
    ... )
    (3, 2)
    """
    options: SourceOptions = {
        "format": format, "table": table, "query": query, "header": header,
        "rows_are_per_person": rows_are_per_person, "delimiter": delimiter,
    }  # fmt: skip
    columns = read_item_columns(item)
    return _count(
        source, domain, together, columns, memory, progress, person=person,
        items_per_person=items_per_person, **options,
    )  # fmt: skip


@seal_library_errors(SourceError, "The source")
def count_transactions(
    source: Any,
    *,
    domain: Any,
    together: int | None = None,
    items_per_person: int | None = None,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Counts:
    r"""Count the lines that hold each item, in files of the FIMI format.

    Each line is one person; it holds the items, separated by spaces or tabs, and an item that
    stands there more than once counts once.

    Args:
        source: The path of a file, packed by gzip or not; a pattern, a list, or an open
            binary file.
        domain: As for `count_events`, and so are the others.
        together: As there.
        items_per_person: As there, by a hash of all items of the line and the item: two lines with
            the same items keep the same.
        memory: As there.
        progress: As there.

    Returns:
        The counts, as of `count_events`. They are secret.

    Raises:
        SourceError, DomainError, ParameterError, MissingExtraError: As for `count_events`.

    >>> import io
    >>> count_transactions(io.BytesIO(b"1 3\n1 1 2\n"), domain=range(1, 5))
    {1: 2, 2: 1, 3: 1, 4: 0}
    >>> count_transactions(io.BytesIO(b"1 3\n1 1 3\n2\n"), domain=range(1, 5), together=2)
    {(1, 3): 2}
    """
    return _count(
        source, domain, together, None, memory, progress, items_per_person=items_per_person
    )


@seal_library_errors(SourceError, "The source")
def read_counts(
    source: Any,
    *,
    item: str | Sequence[str],
    count: str,
    domain: Any,
    format: Format | None = None,  # noqa: A002 - what everyone calls it
    table: str | None = None,
    query: str | None = None,
    header: bool = True,
    delimiter: str | None = None,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Counts:
    """Read precomputed counts.

    How far one person can move such a count, its sensitivity, is for you to know.

    Args:
        source: As for `count_events`, and so are those not named here.
        item: The column that says what is counted, or several in a list; no item of the domain may
            come twice.
        count: The column with the counts: whole numbers from 0 to below 2^63, none missing.
        domain: As there.
        format: As there.
        table: As there.
        query: One SELECT to ask of it instead. How far one person moves its counts is your word.
        header: As there.
        delimiter: As there.
        memory: As there.
        progress: As there.

    Returns:
        The counts, as of `count_events`. They are secret.

    Raises:
        SourceError, DomainError, ParameterError, MissingExtraError: As for `count_events`.

    >>> import pandas as pd
    >>> counts = pd.DataFrame({"page": ["start", "help"], "people": [51260, 960]})
    >>> read_counts(counts, item="page", count="people", domain=["start", "help", "legal"])
    {'start': 51260, 'help': 960, 'legal': 0}
    """
    options: SourceOptions = {
        "format": format, "table": table, "query": query, "header": header, "delimiter": delimiter,
    }  # fmt: skip
    return _count(
        source, domain, None, read_item_columns(item), memory, progress, count=count, **options
    )


@contextmanager
def counted_items(
    source: Any,
    *,
    domain: Domain,
    item: str | Sequence[str] | None = None,
    person: str | None = None,
    count: str | None = None,
    items_per_person: int | None = None,
    memory: str = MEMORY,
    progress: Progress | None = None,
    **options: Unpack[SourceOptions],
) -> Iterator[Occurring]:
    r"""Count the items of a domain that is not written out; they are read in batches.

    Args:
        source: As for `count_events`, and so are those not named here.
        domain: The domain, which is no list.
        item: As there; None for transactions.
        person: As there; None for transactions and precomputed counts.
        count: As for `read_counts`; None for events.
        items_per_person: As for `count_events`; None for precomputed counts.
        memory: As there.
        progress: As there.
        **options: As there.

    Yields:
        What occurs; it can be read until the end of the block.

    Raises:
        SourceError, DomainError, ParameterError, MissingExtraError: As for `count_events`.

    >>> import io
    >>> from topgap.domains import Domain
    >>> baskets, numbers = io.BytesIO(b"1 3\n1 2\n"), Domain.range(0, 10**12)
    >>> with counted_items(baskets, domain=numbers) as occurring:
    ...     print(occurring.count, occurring.find([0, 1]))
    3 {1}
    """
    columns = None if item is None else read_item_columns(item)
    bound = read_bound(items_per_person, count)
    with Engine(memory, progress) as engine:
        counted = _count_sealed(
            engine, source, domain, columns, bound, person=person, count=count, **options
        )
        if isinstance(counted, Counts):
            raise DomainError("Only a domain that is not written out is read in batches.")
        yield counted


@seal_library_errors(SourceError, "The source")
def check_query(
    source: Any,
    *,
    query: str,
    item: str | Sequence[str],
    domain: Domain | FromData = FROM_DATA,
    person: str | None = None,
    count: str | None = None,
    format: Format | None = None,  # noqa: A002 - what everyone calls it
    rows_are_per_person: bool = False,
) -> None:
    """Check a query, by its text and by the schema, without reading a row.

    Raises:
        SourceError, DomainError, ParameterError, MissingExtraError: As for `count_events` and
            `read_counts`.
    """
    columns = read_item_columns(item)
    with Engine() as engine:
        tally = open_tally(
            engine, source, items=columns, person=person, count=count, run=False,
            format=format, query=query, rows_are_per_person=rows_are_per_person,
        )  # fmt: skip
        check_fit(domain, tally, columns)


def _count(
    source: Any,
    domain: Any,
    together: int | None,
    columns: Sequence[str] | None,
    memory: str,
    progress: Progress | None,
    items_per_person: Any = None,
    **options: Any,
) -> Counts:
    """Count the items of a domain in a source; all that is returned is in memory."""
    bound = read_bound(items_per_person)
    public = to_domain(domain)
    if together is not None:
        public = make_sets(public, together)
    with Engine(memory, progress) as engine:
        counted = _count_within(engine, source, public, columns, bound, **options)
        return counted if isinstance(counted, Counts) else counted.to_counts()


def _count_within(
    engine: Engine,
    source: Any,
    public: Domain | FromData,
    columns: Sequence[str] | None,
    bound: int | None,
    **options: Any,
) -> Counts | Occurring:
    """Count the items of a domain: a list's in memory, those of others in tables of DuckDB.

    Args:
        engine: Does the counting.
        source: Whatever holds what is counted.
        public: The domain.
        columns: The columns that tell an item; None for transactions.
        bound: How many items are kept of each person; None for all.
        **options: Those of `open_tally`.
    """
    tally = open_tally(engine, source, items=columns, **options)
    check_fit(public, tally, columns)
    if isinstance(public, FromData):
        return count_all(engine, tally, bound)
    if public.is_listed:
        return count_list(engine, public, tally, bound)
    sets = find_sets(public)
    if sets is not None:
        return OccurringSets(engine, public, sets, tally, bound)
    return OccurringItems(engine, public, tally, bound)


_count_sealed = seal_library_errors(SourceError, "The source")(_count_within)
