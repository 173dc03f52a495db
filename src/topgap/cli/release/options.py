"""What a user types after `topgap release`: each option with its help, once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from topgap import counting
from topgap.cli import options
from topgap.cli.files import OutputFormat
from topgap.cli.options import BUDGET, DATA, OUTPUT, PRIVACY
from topgap.cli.release import domain_options, group_options, report_options
from topgap.counting import MEMORY
from topgap.parameters import Neighbours, NoiseKind

SourceFormat = Literal[counting.Format, "arrow"]


@dataclass(frozen=True, kw_only=True)
class ReleaseOptions:
    """The options of `topgap release`, in the order of its help."""

    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Files with the events or counts: CSV, TSV, JSON lines, Parquet, FIMI, Excel or "
            "LibreOffice (also .gz, .zst and .zip), or patterns of them; one DuckDB or "
            "SQLite file; the address of a database (postgresql://ann@host/clinic); or - "
            "for standard input. With --all-rows also Arrow files. Do not put a password "
            "into an address: other users can see it in the list of processes.",
            show_default=False,
        ),
    ]
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            metavar="K",
            help="Number of named items; with --threshold, at most this many. You can leave it "
            "out with --threshold and --items-per-person: then all items that reach the "
            "threshold are named.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None
    epsilon: Annotated[
        str,
        typer.Option(
            metavar="EPSILON",
            help="Privacy loss ε, read exactly: 1, 0.1 or 1/3. A smaller ε gives more privacy "
            "and more noise. Required, except with --list-columns.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = ""
    person: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column that identifies the person. Each person counts once for each item.",
            rich_help_panel=DATA,
        ),
    ] = None
    item: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="Column that holds the item. Repeat it for items that are tuples.",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None
    count: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column with precomputed counts; use it in place of --person.",
            rich_help_panel=DATA,
        ),
    ] = None
    source_format: Annotated[
        SourceFormat | None,
        typer.Option(
            metavar="FORMAT",
            help="Format of SOURCE, in Python format=: csv, tsv, jsonl, parquet, fimi, duckdb, "
            "sqlite, xlsx, xls, ods, or with --all-rows arrow. Default: detected from the "
            "name; csv for standard input.",
            rich_help_panel=DATA,
        ),
    ] = None
    table: options.Table = None
    query: Annotated[
        str | None,
        typer.Option(
            metavar="SQL",
            help="One SELECT in place of a table. Each of its rows must depend on only one "
            "person: limits, windows, joins, subqueries, random functions and aggregates "
            "over more than one person are refused. With --ledger the release is charged "
            "before the query runs; try it with --check first.",
            rich_help_panel=DATA,
        ),
    ] = None
    rows_are_per_person: Annotated[
        bool,
        typer.Option(
            "--rows-are-per-person",
            help="Skip that check, also for views: you guarantee that each row depends on only "
            "one person.",
            rich_help_panel=DATA,
        ),
    ] = False
    count_in_database: Annotated[
        bool,
        typer.Option(
            "--count-in-database",
            help="Let PostgreSQL count the persons of each item, and fetch only the counts. Use "
            "it for data that are too large to fetch; otherwise fetching the rows is often "
            "faster.",
            rich_help_panel=DATA,
        ),
    ] = False
    header: options.Header = True
    delimiter: options.Delimiter = None
    encoding: options.Encoding = None
    fold_case: options.FoldCase = False
    list_columns: Annotated[
        bool,
        typer.Option(
            "--list-columns",
            help="List the columns of SOURCE, or its tables if there are several, and stop. "
            "Nothing is drawn or charged, and -k and --epsilon can be left out. The list is "
            "only for the data holder.",
            rich_help_panel=DATA,
        ),
    ] = False
    memory: Annotated[
        str,
        typer.Option(
            metavar="SIZE",
            help="Memory limit for counting. What does not fit goes to a temporary directory.",
            rich_help_panel=DATA,
        ),
    ] = MEMORY
    domain: domain_options.DomainFile = None
    domain_column: domain_options.DomainColumn = None
    domain_table: domain_options.DomainTable = None
    domain_encoding: domain_options.DomainEncoding = None
    domain_range: domain_options.DomainRange = None
    domain_pattern: domain_options.DomainPattern = None
    domain_strings: domain_options.DomainStrings = None
    max_length: domain_options.MaxLength = None
    together: domain_options.Together = None
    domain_from_data: domain_options.DomainFromData = False
    all_rows: domain_options.AllRows = False
    by: group_options.By = None
    groups: group_options.GroupsFile = None
    groups_column: group_options.GroupsColumn = None
    groups_table: group_options.GroupsTable = None
    groups_encoding: group_options.GroupsEncoding = None
    groups_range: group_options.GroupsRange = None
    groups_per_person: group_options.GroupsPerPerson = None
    items_per_person: Annotated[
        int | None,
        typer.Option(
            metavar="L",
            help="Contribution bound: at most L items of each person count, chosen by a public "
            "rule. If L is less than k, the noise grows with L in place of k, and the noisy "
            "counts are released too. With --together the sets are the items; with --by "
            "the bound holds in each group. With --count you guarantee that one person "
            "moves at most L of the numbers.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="COUNT",
            help="Name only items above this number, at most k. The number is public: never take "
            "it from the data. It is rounded down to the resolution and gets noise like a "
            "count. If the threshold ends the list early, less than ε is spent, and the "
            "counts of all named items are released too. With Laplace noise: name only "
            "items whose noisy counts reach it, at the same cost.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None
    noise: Annotated[
        NoiseKind | None,
        typer.Option(
            metavar="laplace|exponential",
            help="Noise distribution: laplace or exponential. Default: laplace if L is less than "
            "k, else exponential.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None
    resolution: options.Resolution = None
    neighbours: Annotated[
        Neighbours | None,
        typer.Option(
            metavar="add-remove|replace",
            help="Neighbouring data sets: add-remove (one person is added or removed) or replace "
            "(one person is replaced by another, which takes twice the noise). In Python, "
            "monotonic=True is add-remove for counts. Default: as for the ledger's data "
            "set, otherwise add-remove.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None
    monotonic: Annotated[
        bool | None,
        typer.Option(
            "--monotonic/--no-monotonic",
            help="With --count: whether one more person moves all numbers in the same direction. "
            "Default: yes for add-remove neighbours, as for counts of people; there is no "
            "default for fractions and negative numbers (--all-rows).",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None
    sensitivity: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="With --count: the most by which one person can change a precomputed count. "
            "Default: 1. A person counted by topgap changes a count by 1.",
            rich_help_panel=PRIVACY,
        ),
    ] = None
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Also release how many: measure each of the k items, and combine the "
            "measurements with the gaps. --epsilon is then the privacy loss of both "
            "together.",
            rich_help_panel=PRIVACY,
        ),
    ] = False
    selection_share: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="With --estimate: share of ε that selects the items, between 0 and 1. The rest "
            "measures them. Default: 1/2.",
            rich_help_panel=PRIVACY,
        ),
    ] = None
    level: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="With --estimate, --threshold or Laplace noise: the coverage of the intervals, "
            "between 0 and 1. Default: 0.95.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    ledger: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Budget ledger to charge (in Python, topgap.Ledger). It adds up ε, refuses a "
            "release over the total, and keeps the result. See topgap budget.",
            rich_help_panel=BUDGET,
        ),
    ] = None
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Name that SOURCE has in the ledger.",
            rich_help_panel=BUDGET,
        ),
    ] = None
    who: options.Who = None
    note: options.Note = None
    ignore_clock: options.IgnoreClock = False
    output_format: Annotated[
        OutputFormat | None,
        typer.Option(
            "--format",
            help="Format of the release. Default: from the name of --output, otherwise a table. "
            "In CSV, text that a spreadsheet would take for a formula gets an apostrophe.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    output: options.Output = None
    report: report_options.Report = None
    title: report_options.Title = None
    publisher: report_options.Publisher = None
    period: report_options.Period = None
    date: report_options.Date = None
    source_note: report_options.SourceNote = None
    labels: report_options.Labels = None
    person_word: report_options.PersonWord = None
    item_word: report_options.ItemWord = None
    locale: report_options.Locale = None
    in_order: report_options.InOrder = False
    overwrite: options.Overwrite = False
    quiet: options.Quiet = False
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Dry run: read everything as the release would, show what would be released and "
            "how much ε would remain, and stop. Nothing is drawn, charged or written. What "
            "it shows of the data is only for the data holder.",
        ),
    ] = False
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Charge without asking. In a terminal the command otherwise asks once before it "
            "charges.",
            rich_help_panel=BUDGET,
        ),
    ] = False
