"""The options of `topgap release` that ask for a list for each group."""

from typing import Annotated

import typer

PANEL = "A list for each group"

By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COL",
        help="Column that holds the group. Each public group gets its own list, and "
        "--epsilon is the privacy loss of all lists together. Repeat it for groups that "
        "are tuples.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
GroupsFile = Annotated[
    list[str] | None,
    typer.Option(
        "--groups",
        metavar="FILE",
        help="Public groups: a text file with one group per line, or a table with "
        "--groups-column. Rows of other groups are ignored, and a group without persons "
        "gets a list too. With several --by columns, give --groups COLUMN=FILE for "
        "each column. For FIMI files, without --by, the first item of each line is its "
        "group.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
GroupsColumn = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="Column of the table that --groups names: CSV, TSV, JSON lines, Parquet, Excel "
        "and so on.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
GroupsTable = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Sheet of the workbook, or table of the database, that --groups names.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
GroupsEncoding = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Encoding of the text file that --groups names. Default: UTF-8.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
GroupsRange = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIRST:LAST",
        help="Public groups: these integers, including both ends.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
GroupsPerPerson = Annotated[
    int | None,
    typer.Option(
        metavar="C",
        help="Number of groups in which each person counts; each list gets ε/C. If a person "
        "is in more groups, a public rule chooses C of them. With --count you guarantee "
        "that nobody is in more. Default: 1.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
