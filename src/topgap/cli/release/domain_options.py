"""The options of `topgap release` and `topgap plan` that say which items take part."""

from typing import Annotated

import typer

PANEL = "The domain (public items)"

DomainFile = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="Domain: a text file with one item per line, or a table with --domain-column. "
        "All of these items take part, with count 0 if nobody has them; other items are "
        "ignored. With several --item columns, write this and the next options as "
        "COLUMN=VALUE, once for each column.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DomainColumn = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="Column of the table that --domain names: CSV, TSV, JSON lines, Parquet, Excel "
        "and so on.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DomainTable = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Sheet of the workbook, or table of the database, that --domain names.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DomainEncoding = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Encoding of the text file that --domain names. Default: UTF-8.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DomainRange = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIRST:LAST",
        help="Domain: these integers, including both ends, of any size.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DomainPattern = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RE",
        help="Domain: all texts that match this regular expression as a whole, in the syntax "
        "of Rust's regex.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DomainStrings = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ALPHABET",
        help="Domain: all texts of these characters, such as a-z0-9-. Needs --max-length.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
MaxLength = Annotated[
    list[str] | None,
    typer.Option(
        metavar="N",
        help="Greatest number of characters of a text, for --domain-strings and for a "
        "--domain-pattern without a limit.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
Together = Annotated[
    int | None,
    typer.Option(
        metavar="2|3",
        help="Count pairs (2) or triples (3) of different items: the persons who have all of "
        "them. A person can have any number of pairs.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
DomainFromData = Annotated[
    bool,
    typer.Option(
        "--domain-from-data",
        help="Take the domain from the data. The release then reveals that somebody has each "
        "named item: that is not protected.",
        rich_help_panel=PANEL,
    ),
]
AllRows = Annotated[
    bool,
    typer.Option(
        "--all-rows",
        help="Take every row of SOURCE as an item of the public list (in Python, "
        "topgap.streams). You guarantee that the list is public and that no item has "
        "two rows. For precomputed counts (--count) of any number: they are read once, "
        "or twice with --ledger, in little memory. Parquet files, Arrow files, or an "
        "Arrow stream from standard input.",
        rich_help_panel=PANEL,
    ),
]
