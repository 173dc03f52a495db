"""The options of `topgap release` that ask for a list for each group."""

from typing import Annotated

import typer

PANEL = "A list for each group"

By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COL",
        help="The column that says in which group. Each public group gets a list of its own, and "
        "--epsilon is that of all of them together. Give several for groups that are tuples.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
GroupsFile = Annotated[
    list[str] | None,
    typer.Option(
        "--groups",
        metavar="FILE",
        help="A text file with a public group in each line; or a table, with --groups-column. Rows "
        "of other groups are left out, and a group that nobody is in gets a list, too. With "
        "several --by, give one --groups COLUMN=FILE for each column. Of FIMI files, without --by, "
        "the first item of each line is its group.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
GroupsColumn = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="The column of the table that --groups names: CSV, TSV, JSON lines, Parquet, Excel "
        "and so on.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
GroupsTable = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="The sheet of the workbook, or the table of the database, that --groups names.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
GroupsEncoding = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="The encoding of the text file that --groups names, if it is not UTF-8.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
GroupsRange = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIRST:LAST",
        help="The groups are these integers, both ends included.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
GroupsPerPerson = Annotated[
    int | None,
    typer.Option(
        metavar="C",
        help="In how many groups each person counts; 1 unless given. Each list gets ε/C. If a "
        "person is in more, a public rule chooses C of them. With --count, that nobody is in more "
        "is your word.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
