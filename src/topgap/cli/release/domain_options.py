"""The options of `topgap release` and `topgap plan` that say which items take part."""

from typing import Annotated

import typer

PANEL = "The public items"

DomainFile = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="A text file with an item in each line; or a table, with --domain-column. All of them "
        "take part, with 0 if nobody has them; other items are left out. With several --item, this "
        "and the next options are written COLUMN=VALUE, one of them for each column.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DomainColumn = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="The column of the table that --domain names: CSV, TSV, JSON lines, Parquet, Excel "
        "and so on.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DomainTable = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="The sheet of the workbook, or the table of the database, that --domain names.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DomainEncoding = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="The encoding of the text file that --domain names, if it is not UTF-8.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DomainRange = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIRST:LAST",
        help="The items are these integers, both ends included, of any size.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DomainPattern = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RE",
        help="The items are the texts that match this regular expression whole, in the syntax of "
        "Rust's regex.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DomainStrings = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ALPHABET",
        help="The items are all texts of these characters, such as a-z0-9-, with --max-length.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
MaxLength = Annotated[
    list[str] | None,
    typer.Option(
        metavar="N",
        help="The greatest number of characters of a text, for --domain-strings, and for a "
        "--domain-pattern that has none.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
Together = Annotated[
    int | None,
    typer.Option(
        help="Count pairs (2) or triples (3) of different items: the persons who have all of them. "
        "A person may be in any number of pairs.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DomainFromData = Annotated[
    bool,
    typer.Option(
        "--domain-from-data",
        help="Take the items from the data. That somebody has an item is then not protected.",
        rich_help_panel=PANEL,
    ),
]
AllRows = Annotated[
    bool,
    typer.Option(
        "--all-rows",
        help="Every row is an item of the public list, and none has two rows, by your word: for "
        "precomputed counts (--count) of any number, which are read once, or with --ledger looked "
        "at before, and take little memory. Parquet files, Arrow files, or an Arrow stream from "
        "standard input.",
        rich_help_panel=PANEL,
    ),
]
