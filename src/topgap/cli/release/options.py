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
            help="CSV, TSV, JSON lines, Parquet, FIMI, Excel or LibreOffice files (.gz, .zst and "
            ".zip too), or patterns of them; one DuckDB or SQLite file; the address of a database "
            "(postgresql://ann@host/clinic); or - for standard input. With --all-rows, Arrow files "
            "too. Leave passwords out of addresses: others can see them in the list of processes.",
            show_default=False,
        ),
    ]
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            help="How many items are named; with --threshold, at most. It can be left out with "
            "--threshold and --items-per-person: then all that reach it are named.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None
    epsilon: Annotated[
        str,
        typer.Option(
            help="The privacy loss, exactly: 1, 0.1 or 1/3. The smaller, the more private and the "
            "noisier. It must be given, but for --list-columns.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = ""
    person: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="The column that says who. Each person counts once for each item.",
            rich_help_panel=DATA,
        ),
    ] = None
    item: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="The column that says what. Give several for items that are tuples.",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None
    count: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column with precomputed counts; in place of --person.",
            rich_help_panel=DATA,
        ),
    ] = None
    source_format: Annotated[
        SourceFormat | None,
        typer.Option(
            metavar="FORMAT",
            help="Format of SOURCE, if its name does not tell: csv, tsv, jsonl, parquet, fimi, "
            "duckdb, sqlite, xlsx, xls, ods, or with --all-rows arrow. Default for -: csv.",
            rich_help_panel=DATA,
        ),
    ] = None
    table: options.Table = None
    query: Annotated[
        str | None,
        typer.Option(
            metavar="SQL",
            help="Instead of a table: one SELECT, which can reach nothing else. Each of its rows "
            "must depend on one person alone: limits, windows, joins, subqueries, random functions "
            "and aggregates over more than one person are refused. With --ledger it is charged "
            "before it runs; try it with --check.",
            rich_help_panel=DATA,
        ),
    ] = None
    rows_are_per_person: Annotated[
        bool,
        typer.Option(
            "--rows-are-per-person",
            help="Skip this check, also for views: you vouch that each row depends on one person "
            "alone.",
            rich_help_panel=DATA,
        ),
    ] = False
    count_in_database: Annotated[
        bool,
        typer.Option(
            "--count-in-database",
            help="Let PostgreSQL count the persons of each item, and move the counts alone. For "
            "data that are too large to move; otherwise moving the rows is often quicker.",
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
            help="Print the names of SOURCE's columns, or of its tables if there are several, and "
            "stop: nothing is drawn or charged, and -k and --epsilon can be left out. It is for "
            "the holder of the data alone.",
            rich_help_panel=DATA,
        ),
    ] = False
    memory: Annotated[
        str,
        typer.Option(
            help="What counting may use of it; more goes to a temporary directory on disk.",
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
            help="At most so many items of each person count, chosen by a public rule. If L is "
            "less than k, the noise grows with L and not with k, and the noisy counts are "
            "released, too. With --together the sets are the items, and with --by it is L in each "
            "group. With --count, that one person moves at most L of the numbers is your word.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="COUNT",
            help="Only items above this are named, at most k. It is public: never take it from the "
            "data. It is rounded down to the resolution and gets noise as a count does. If it ends "
            "the list early, less than ε is spent, and the counts of all named items come with it. "
            "With Laplace noise: only items whose noisy counts reach this are named, at the same "
            "cost.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None
    noise: Annotated[
        NoiseKind | None,
        typer.Option(
            metavar="NOISE",
            help="laplace or exponential. Default: laplace if L is less than k.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None
    resolution: options.Resolution = None
    neighbours: Annotated[
        Neighbours | None,
        typer.Option(
            metavar="RELATION",
            help="add-remove: data sets are neighbours if one person is added or removed. replace: "
            "if one is replaced by another, which takes twice the noise. Default: that of the "
            "ledger's data set, else add-remove.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None
    monotonic: Annotated[
        bool | None,
        typer.Option(
            "--monotonic/--no-monotonic",
            help="With --count: whether one person more moves all numbers the same way. Default: "
            "yes for add-remove neighbours, as for counts of people. There is no default for "
            "fractions and negative numbers (--all-rows).",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None
    sensitivity: Annotated[
        str | None,
        typer.Option(
            help="How far one person can move a precomputed count; with --count only. Persons that "
            "are counted here move it by 1.",
            rich_help_panel=PRIVACY,
        ),
    ] = None
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="How many, too: each of the k is measured, and the gaps make the measurements "
            "better. ε is then that of the whole.",
            rich_help_panel=PRIVACY,
        ),
    ] = False
    selection_share: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="The part of ε that selects, between 0 and 1; 1/2 unless given. The rest "
            "measures. With --estimate only.",
            rich_help_panel=PRIVACY,
        ),
    ] = None
    level: Annotated[
        str | None,
        typer.Option(
            help="How often the interval of an estimate or of a count is to hold the true number; "
            "0.95 unless given. With --estimate, --threshold or Laplace noise only.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    ledger: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The budget ledger to charge, which adds up ε and refuses what is over the total. "
            "It gets the result, too. See topgap budget.",
            rich_help_panel=BUDGET,
        ),
    ] = None
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The data set in the ledger that SOURCE is.",
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
            help="How the release is written; a table, unless the name of --output says otherwise. "
            "In CSV an apostrophe is put before text that a spreadsheet would take for a formula.",
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
            help="Read everything as the release would, report what would be released and how much "
            "ε would remain, and stop: nothing is drawn, charged or written. What it says of the "
            "data is for the holder of the data alone.",
        ),
    ] = False
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Charge without asking. In a terminal the command asks once before it charges.",
            rich_help_panel=BUDGET,
        ),
    ] = False
