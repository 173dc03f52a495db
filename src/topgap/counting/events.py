"""Counting: `count_events`, `count_transactions`, `read_counts`, and `counted_items`."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, Unpack, overload

from topgap.counting.contribution_bound import read_bound
from topgap.counting.domain import to_domain
from topgap.counting.engine import MEMORY, Engine
from topgap.counting.fitting import check_fit, make_sets
from topgap.counting.group_counts import GroupBounds, count_groups
from topgap.counting.groups import Grouping, read_grouping, read_grouping_of_lines
from topgap.counting.listed_items import count_all, count_list
from topgap.counting.occurring import Occurring, OccurringItems, fold_domain
from topgap.counting.options import CountOptions, EventOptions, LineOptions
from topgap.counting.source_files import Format
from topgap.counting.tally import SourceOptions, open_tally, read_item_columns
from topgap.counting.together import OccurringSets
from topgap.domains import FROM_DATA, Counts, Domain, FromData, GroupedCounts
from topgap.domains.groups import as_of_groups
from topgap.domains.structure import find_sets
from topgap.errors import DomainError, ParameterError, SourceError
from topgap.sealing import seal_library_errors
from topgap.sources.progress import Progress


@overload
def count_events(source: Any, *, by: None = None, **options: Unpack[EventOptions]) -> Counts: ...


@overload
def count_events(
    source: Any,
    *,
    by: str | Sequence[str],
    groups: Any,
    groups_per_person: int = 1,
    **options: Unpack[EventOptions],
) -> GroupedCounts: ...


@seal_library_errors(SourceError, "The source")
def count_events(
    source: Any,
    *,
    person: str,
    item: str | Sequence[str],
    domain: Any,
    by: str | Sequence[str] | None = None,
    groups: Any = None,
    groups_per_person: int = 1,
    together: int | None = None,
    items_per_person: int | None = None,
    format: Format | None = None,  # noqa: A002 - what everyone calls it
    table: str | None = None,
    query: str | None = None,
    rows_are_per_person: bool = False,
    count_in_database: bool = False,
    header: bool = True,
    delimiter: str | None = None,
    encoding: str | None = None,
    fold_case: bool = False,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Counts | GroupedCounts:
    """Count the distinct persons of each item, or of each item in each group.

    Args:
        source: A CSV, TSV, JSON lines or Parquet file, a pattern of them, or a list; a workbook of
            Excel or LibreOffice; a DuckDB or SQLite file; an open binary file; a pandas or polars
            data frame; an Arrow table; a relation of DuckDB; the address of a database, such as
            `postgresql://ann@host/clinic`; an engine or URL of SQLAlchemy; a connection that
            returns Arrow, such as one of ADBC. Files may be packed by gzip or zstd, or each in a
            ZIP archive.
        person: Column that identifies the person. Events without a person are left out.
        item: Column that names the item. Events without an item are left out. Several columns in a
            list: an item is then a tuple, and none of its cells may be missing.
        domain: The public items: an iterable, a range, the path of a text file with an item a line,
            a `Domain` of any kind, or FROM_DATA, which does not protect who is in it; what is
            released from the counts says so then. For several columns a `Domain.product`.
        by: Column that names the group, or several in a list. The persons are then counted
            for each group by itself. Events without a group, or of no public group, are left out.
        groups: The public groups, as `domain` without FROM_DATA, at most 1,000,000; for several
            columns a `Domain.product`. Groups that nobody is in are there too.
        groups_per_person: c, in how many groups a person counts. Of a person who is in more, c are
            chosen by a public hash of the group and the person, so that what is kept of a person
            depends only on that person's rows.
        together: Count pairs (2) or triples (3) of different items of the domain: the persons who
            have all of them. A person may be in any number of pairs, and moves each by at most 1.
            The domain of the counts is then `Domain.subsets(domain, size=together)`.
        items_per_person: The contribution bound L: of each person's different items of the domain
            at most so many are kept, chosen by a public hash of the person and the item, so that
            what is kept of a person depends only on that person's rows. Having more is not
            an error. With `together` the sets are the items. Counts are then biased downwards.
            With `by`, so many in each group.
        format: Format of a file. Default: detected from its first bytes or its name.
        table: The table or view of a database, `schema.table` if it is not in the usual schema; or
            the sheet of a workbook. Default: the only one.
        query: One SELECT to ask of it instead; it reaches nothing else. Each of its rows must come
            from only one person's rows, or one person can move a count by more than 1. So limits,
            windows, joins, subqueries, random functions, and aggregates over more than one person
            are refused, and views that have them too.
        rows_are_per_person: Accept such a query or view: you then confirm that each of its rows
            depends on the rows of only one person. It is needed for databases that are not checked:
            all but PostgreSQL and files of DuckDB and SQLite.
        count_in_database: Let PostgreSQL count the distinct persons, and transfer only the counts,
            for data that are too large to transfer.
        header: Whether CSV and TSV files have names in their first lines, and sheets in their
            first rows; otherwise columns go by their numbers, "1", "2" and so on.
        delimiter: Delimiter of a CSV file. Default: detected from the first line.
        encoding: The encoding of a text file, such as "latin-1", "windows-1252" or "utf-16", by the
            names that Python has. Default: that of a byte order mark, or else UTF-8.
        fold_case: Treat upper and lower case as the same in items, groups, persons and the domain:
            "flu" and "FLU" are then one item. Names are in the spelling of the domain, and in lower
            case if it was taken from the data. A list with two items that differ only by case is
            refused, and so is a pattern or an alphabet that is not of ASCII in one case.
        memory: Memory limit of DuckDB; beyond it data go to disk, in a private directory.
        progress: A function that is called with the current step and the share of it that is done.

    Returns:
        The count of each item of a list, in its order. Of a domain given by a rule, the counts
        of only those items that occur; all others are 0. With `by`, a mapping from each
        group to what occurs in it. They are secret.

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
    >>> seen = pd.DataFrame({"who": ["Ann", "Bob"], "what": ["flu"] * 2, "where": ["North", "x"]})
    >>> regions = count_events(seen, **asked, by="where", groups=["North", "South"])
    >>> regions["North"], regions["South"]
    ({'flu': 1}, {})
    """
    options: SourceOptions = {
        "format": format, "table": table, "query": query, "header": header,
        "rows_are_per_person": rows_are_per_person, "delimiter": delimiter,
        "encoding": encoding, "fold_case": fold_case, "count_in_database": count_in_database,
    }  # fmt: skip
    columns = read_item_columns(item)
    if count_in_database:
        _check_counting_there(together, items_per_person, by, person, fold_case=fold_case)
    return _count(
        source, domain, together, columns, memory, progress, person=person,
        items_per_person=items_per_person, grouping=read_grouping(by, groups, groups_per_person),
        **options,
    )  # fmt: skip


@overload
def count_transactions(
    source: Any, *, groups: None = None, **options: Unpack[LineOptions]
) -> Counts: ...


@overload
def count_transactions(
    source: Any, *, groups: Iterable[Any] | str | PathLike[str], **options: Unpack[LineOptions]
) -> GroupedCounts: ...


@seal_library_errors(SourceError, "The source")
def count_transactions(
    source: Any,
    *,
    domain: Any,
    groups: Any = None,
    together: int | None = None,
    items_per_person: int | None = None,
    encoding: str | None = None,
    fold_case: bool = False,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Counts | GroupedCounts:
    r"""Count the lines that hold each item, in files of the FIMI format.

    Each line is one person; it holds the items, separated by spaces or tabs, and an item that
    stands there more than once counts once.

    Args:
        source: The path of a file, packed or not; a pattern, a list, or an open binary file.
        domain: As for `count_events`, and so are the others.
        groups: The public groups. The first item of each line is then no item but its group: a
            line is a person in one group. Lines of no public group are left out.
        together: As there.
        items_per_person: As there, by a hash of all items of the line and the item: two lines with
            the same items keep the same.
        encoding: As there.
        fold_case: As there.
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
    >>> shops = count_transactions(io.BytesIO(b"A 1 3\nB 1\n"), domain=range(4), groups=["A", "B"])
    >>> shops["A"], shops["B"]
    ({1: 1, 3: 1}, {1: 1})
    """
    return _count(
        source, domain, together, None, memory, progress, items_per_person=items_per_person,
        grouping=read_grouping_of_lines(groups), encoding=encoding, fold_case=fold_case,
    )  # fmt: skip


@overload
def read_counts(source: Any, *, by: None = None, **options: Unpack[CountOptions]) -> Counts: ...


@overload
def read_counts(
    source: Any, *, by: str | Sequence[str], groups: Any, **options: Unpack[CountOptions]
) -> GroupedCounts: ...


@seal_library_errors(SourceError, "The source")
def read_counts(
    source: Any,
    *,
    item: str | Sequence[str],
    count: str,
    domain: Any,
    by: str | Sequence[str] | None = None,
    groups: Any = None,
    format: Format | None = None,  # noqa: A002 - what everyone calls it
    table: str | None = None,
    query: str | None = None,
    header: bool = True,
    delimiter: str | None = None,
    encoding: str | None = None,
    fold_case: bool = False,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Counts | GroupedCounts:
    """Read precomputed counts.

    You must know its sensitivity, how far one person can move such a count, and in how many groups
    one person is.

    Args:
        source: As for `count_events`, and so are those not named here.
        item: Column that names the item, or several in a list; no item of the domain may
            come twice.
        count: Column with the counts: whole numbers from 0 to below 2^63, none missing.
        domain: As there.
        by: As there; no item of the domain may come twice in a group.
        groups: As there.
        format: As there.
        table: As there.
        query: One SELECT to ask of it instead. You state how far one person moves its counts.
        header: As there.
        delimiter: As there.
        encoding: As there.
        fold_case: As there.
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
        "encoding": encoding, "fold_case": fold_case,
    }  # fmt: skip
    return _count(
        source, domain, None, read_item_columns(item), memory, progress, count=count,
        grouping=read_grouping(by, groups, 1), **options,
    )  # fmt: skip


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
    r"""Count the items of a domain given by a rule; they are read in batches.

    Args:
        source: As for `count_events`, and so are those not named here.
        domain: The domain, which is not a list.
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
    if options.get("count_in_database"):
        together = None if find_sets(domain) is None else 2
        folds = options.get("fold_case", False)
        _check_counting_there(together, items_per_person, None, person, fold_case=folds)
    with Engine(memory, progress) as engine:
        counted = _count_sealed(
            engine, source, domain, columns, bound, person=person, count=count, **options
        )
        if isinstance(counted, Counts):
            raise DomainError("Only a domain given by a rule is read in batches.")
        yield counted


@seal_library_errors(SourceError, "The source")
def check_query(
    source: Any,
    *,
    query: str,
    item: str | Sequence[str],
    domain: Domain | FromData = FROM_DATA,
    by: str | Sequence[str] | None = None,
    groups: Domain | None = None,
    person: str | None = None,
    count: str | None = None,
    items_per_person: int | None = None,
    memory: str = MEMORY,
    **options: Any,
) -> None:
    """Check a query, by its text and by the schema, without reading a row.

    Raises:
        SourceError, DomainError, ParameterError, MissingExtraError: As for `count_events` and
            `read_counts`.
    """
    columns, grouping = read_item_columns(item), read_grouping(by, groups, 1)
    if options.get("count_in_database"):
        sets = None if isinstance(domain, FromData) else find_sets(domain)
        together, folds = None if sets is None else sets.together, options.get("fold_case", False)
        _check_counting_there(together, items_per_person, by, person, fold_case=folds)
    with Engine(memory) as engine:
        tally = open_tally(
            engine, source, items=_list_columns(grouping, columns), person=person, count=count,
            run=False, query=query, **options,
        )  # fmt: skip
        if grouping is None:
            check_fit(domain, tally, columns)
        else:
            grouping.check_fit(domain, tally, columns)
        if tally.folds:
            _fold(engine, domain)
            if grouping is not None:
                _fold_groups(engine, grouping)


def _fold(engine: Engine, domain: Domain | FromData) -> Domain | FromData:
    return domain if isinstance(domain, FromData) else fold_domain(engine, domain)


def _fold_groups(engine: Engine, grouping: Grouping) -> Domain:
    try:
        return fold_domain(engine, grouping.groups)
    except DomainError as error:
        raise as_of_groups(error) from None


def _check_counting_there(
    together: int | None, bound: int | None, by: Any, person: str | None, *, fold_case: bool
) -> None:
    """Refuse what a database cannot count by itself, because it takes each person's items."""
    if fold_case:
        raise ParameterError(
            "fold_case (--fold-case) follows DuckDB's rule for letters, so the rows must be "
            "transferred; leave out either it or count_in_database (--count-in-database)."
        )
    if person is None:
        raise ParameterError(
            "count_in_database (--count-in-database) is for events, with person (--person)."
        )
    asked = {
        "together (--together)": together,
        "items_per_person (--items-per-person)": bound,
        "by (--by)": by,
    }
    for name, value in asked.items():
        if value is not None:
            raise ParameterError(
                f"{name} looks at the items of each person, so the rows must be transferred; leave "
                f"out either it or count_in_database (--count-in-database)."
            )


def _count(
    source: Any,
    domain: Any,
    together: int | None,
    columns: Sequence[str] | None,
    memory: str,
    progress: Progress | None,
    items_per_person: Any = None,
    grouping: Grouping | None = None,
    **options: Any,
) -> Counts | GroupedCounts:
    """Count the items of a domain in a source; all that is returned is in memory."""
    bound = read_bound(items_per_person)
    public = to_domain(domain)
    if together is not None:
        public = make_sets(public, together)
    with Engine(memory, progress) as engine:
        if grouping is not None:
            return _count_groups(engine, source, public, columns, grouping, bound, **options)
        counted = _count_within(engine, source, public, columns, bound, **options)
        return counted if isinstance(counted, Counts) else counted.to_counts()


def _count_groups(
    engine: Engine,
    source: Any,
    public: Domain | FromData,
    columns: Sequence[str] | None,
    grouping: Grouping,
    bound: int | None,
    **options: Any,
) -> GroupedCounts:
    """Count the items of a domain in each group."""
    items = _list_columns(grouping, columns)
    tally = open_tally(engine, source, items=items, first_is_group=True, **options)
    grouping.check_fit(public, tally, columns)
    groups, members = grouping.groups, public
    if tally.folds:
        groups, members = _fold_groups(engine, grouping), _fold(engine, public)
    counts = count_groups(engine, tally, groups, members, GroupBounds(grouping.most, bound))
    if tally.folds and isinstance(public, Domain):
        counts.domain = public
    return counts


def _list_columns(grouping: Grouping | None, columns: Sequence[str] | None) -> Sequence[str] | None:
    """The columns of the groups and of the items; None for transactions."""
    return columns if grouping is None or columns is None else [*grouping.columns, *columns]


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
        columns: The columns that identify an item; None for transactions.
        bound: How many items are kept of each person; None for all.
        **options: Those of `open_tally`.
    """
    tally = open_tally(engine, source, items=columns, **options)
    check_fit(public, tally, columns)
    if isinstance(public, FromData):
        return count_all(engine, tally, bound)
    folded = fold_domain(engine, public) if tally.folds else None
    lookup = folded or public
    if public.is_listed:
        return count_list(engine, lookup, tally, bound)
    sets = find_sets(lookup)
    if sets is not None:
        return OccurringSets(engine, public, sets, tally, bound, folded)
    return OccurringItems(engine, public, tally, bound, folded)


_count_sealed = seal_library_errors(SourceError, "The source")(_count_within)
