"""Options that mean the same in several commands."""

from pathlib import Path
from typing import Annotated

import typer

from topgap import parameters
from topgap.cli.files import none_if_standard_output

DATA, PRIVACY, BUDGET, OUTPUT = "The data", "Privacy", "The budget", "Output"
"""The panels in which help shows them."""

Item = Annotated[
    str | None,
    typer.Option(metavar="COL", help="Column that holds the item.", rich_help_panel=DATA),
]
Table = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Table or view of a database, as schema.table if it is not in the default "
        "schema; or sheet of a workbook. Required if there are several.",
        rich_help_panel=DATA,
    ),
]
Header = Annotated[
    bool,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a CSV or TSV file, or the first row of a sheet, "
        "holds the names of the columns. Without them the columns are called 1, 2, 3 "
        "and so on.",
        rich_help_panel=DATA,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="Character between the cells of a CSV file. Default: detected from the first line.",
        rich_help_panel=DATA,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Encoding of a text file: latin-1, windows-1252, utf-16, or another that Python "
        "knows. Default: from the byte order mark, otherwise UTF-8.",
        rich_help_panel=DATA,
    ),
]
FoldCase = Annotated[
    bool,
    typer.Option(
        "--fold-case",
        help="Ignore case in items, groups and persons, for example in codes typed by hand. "
        "The release has the spelling of the domain; a pattern or an alphabet must be "
        "in one case.",
        rich_help_panel=DATA,
    ),
]
Resolution = Annotated[
    str | None,
    typer.Option(
        metavar="STEP",
        help="Step of the gaps: they are multiples of it. It is 1 divided by an integer. "
        "Default: 1/10, and 1 with Laplace noise.",
        rich_help_panel=PRIVACY,
    ),
]
Neighbours = Annotated[
    parameters.Neighbours,
    typer.Option(
        help="Neighbouring data sets: add-remove (one person is added or removed: all counts "
        "move in the same direction, which takes half the noise) or replace (one "
        "person is replaced by another). In Python: monotonic=True or False.",
        rich_help_panel=PRIVACY,
    ),
]
Who = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Name for the ledger's record of who did this. Default: your user name.",
        rich_help_panel=BUDGET,
    ),
]
Note = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Note for the ledger's record.", rich_help_panel=BUDGET),
]
IgnoreClock = Annotated[
    bool,
    typer.Option(
        "--ignore-clock",
        help="Charge even if the clock is behind the ledger's last entry.",
        rich_help_panel=BUDGET,
    ),
]

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        callback=none_if_standard_output,
        help="File to write; - is standard output. Default: standard output.",
        rich_help_panel=OUTPUT,
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Overwrite existing files.", rich_help_panel=OUTPUT)
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Print no progress bar and no remarks.", rich_help_panel=OUTPUT
    ),
]
