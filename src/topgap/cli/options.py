"""Options that mean the same in several commands."""

from pathlib import Path
from typing import Annotated

import typer

from topgap import parameters
from topgap.cli.files import none_if_standard_output

DATA, PRIVACY, BUDGET, OUTPUT = "The data", "Privacy", "The budget", "Output"
"""The panels in which help shows them."""

Item = Annotated[
    str | None, typer.Option(metavar="COL", help="The column that says what.", rich_help_panel=DATA)
]
Table = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The table or view of a database, as schema.table if it is not in the usual schema; "
        "or the sheet of a workbook. The only one unless given.",
        rich_help_panel=DATA,
    ),
]
Header = Annotated[
    bool,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a CSV or TSV file, or the first row of a sheet, has the "
        "names of the columns; if not, they are called 1, 2, 3 and so on.",
        rich_help_panel=DATA,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="What stands between the cells of a CSV file, if its first line does not tell.",
        rich_help_panel=DATA,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The encoding of a text file: latin-1, windows-1252, utf-16, or another that Python "
        "knows. Default: UTF-8, or what a byte order mark tells.",
        rich_help_panel=DATA,
    ),
]
FoldCase = Annotated[
    bool,
    typer.Option(
        "--fold-case",
        help="Take upper and lower case for the same, in items, groups and persons, as for codes "
        "typed by hand. Names are in the spelling of the domain; a pattern or an alphabet must be "
        "in one case.",
        rich_help_panel=DATA,
    ),
]
Resolution = Annotated[
    str | None,
    typer.Option(
        help="Gaps are multiples of this; 1 divided by an integer. 1/10 unless given, and 1 with "
        "Laplace noise.",
        rich_help_panel=PRIVACY,
    ),
]
Neighbours = Annotated[
    parameters.Neighbours,
    typer.Option(
        help="What one person more or less means. If one is added or removed, all counts move the "
        "same way, and half the noise is enough; if one may be replaced by another, not.",
        rich_help_panel=PRIVACY,
    ),
]
Who = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Who does it, for the ledger to note; the user's name unless given.",
        rich_help_panel=BUDGET,
    ),
]
Note = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="What the ledger is to note.", rich_help_panel=BUDGET),
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
        help="Where to write it; standard output if it is - or not given.",
        rich_help_panel=OUTPUT,
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Overwrite files that exist.", rich_help_panel=OUTPUT)
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No progress bar and no remarks.", rich_help_panel=OUTPUT),
]
