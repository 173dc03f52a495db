"""What a user types: `topgap budget` and what follows it."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from topgap.cli import budget, options
from topgap.cli.budget import Asked, Form, Target
from topgap.cli.complaints import one_sentence
from topgap.cli.options import BUDGET, OUTPUT
from topgap.parameters import Neighbours

# Lines that fit a terminal of 80 columns as they are: Rich would break them anywhere.
EXAMPLES = r"""
[bold]Examples[/bold]

The releases of a data set may cost ε = 3 in all; this is set once:

topgap budget init budget.db --dataset visits --epsilon 3

A release that is charged, or refused if there is too little left:

topgap release visits.parquet --person patient --item diagnosis \
  --domain icd10.txt -k 10 --epsilon 1 --ledger budget.db --dataset visits

What is spent and what is left, and what it was spent for:

topgap budget show budget.db
topgap budget history budget.db --dataset visits

A release of the same data by other software:

topgap budget charge budget.db --dataset visits --epsilon 1/2 \
  --mechanism "mean age, by OpenDP"
topgap budget record budget.db --charge 2 result.json

Export, copy and verify the ledger:

topgap budget export budget.db -o budget.json
topgap budget copy budget.db copy-2026-11.db
topgap budget verify budget.db

A total for neighbours in which one person is replaced by another:

topgap budget init budget.db --dataset stays --epsilon 3 --neighbours replace

Exit codes: 0 done; 1 a ledger or numbers that cannot be used, or too little
left; 2 a command that cannot be understood; 130 interrupted.
"""

app = typer.Typer(
    name="budget",
    no_args_is_help=True,
    epilog=EXAMPLES,
    help="Add up the ε of all releases of a data set, in a ledger that refuses charges over the "
    "total.\n\n"
    "The ledger is one file, which any number of processes may use at once. What is charged cannot "
    "be given back, whatever became of the release.",
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="The ledger.", show_default=False)]
Dataset = Annotated[str, typer.Option(metavar="NAME", help="The data set.", show_default=False)]
OneOrAll = Annotated[
    str | None, typer.Option("--dataset", metavar="NAME", help="This data set alone.")
]
FormOption = Annotated[
    Form | None,
    typer.Option(
        "--format",
        help="How it is written; a table, unless the name of --output says otherwise. In CSV an "
        "apostrophe is put before text that a spreadsheet would take for a formula.",
        rich_help_panel=OUTPUT,
    ),
]


@app.command()
def init(
    file: File,
    dataset: Dataset,
    epsilon: Annotated[
        str,
        typer.Option(
            help="The sum of ε that all releases of it may have, exactly: 3, 0.5 or 1/3.",
            show_default=False,
        ),
    ],
    neighbours: Annotated[
        Neighbours,
        typer.Option(
            metavar="RELATION",
            help="The neighbouring data sets for which the total holds: add-remove, if one person "
            "is added or removed, or replace, if one is replaced by another. It is set once.",
        ),
    ] = "add-remove",
    who: options.Who = None,
    note: options.Note = None,
    ignore_clock: Annotated[
        bool,
        typer.Option(
            "--ignore-clock",
            help="Set the total even if the clock is behind the ledger's last entry.",
            rich_help_panel=BUDGET,
        ),
    ] = False,
) -> None:
    """Set the total ε of a data set, once; and make the ledger if there is none."""
    with one_sentence():
        budget.init(Asked(file, who, note, ignore_clock), dataset, epsilon, neighbours)


@app.command()
def charge(
    file: File,
    dataset: Dataset,
    epsilon: Annotated[
        str, typer.Option(help="How much the release costs, exactly.", show_default=False)
    ],
    mechanism: Annotated[
        str, typer.Option(metavar="TEXT", help="What is released.", show_default=False)
    ],
    neighbours: Annotated[
        Neighbours | None,
        typer.Option(
            metavar="RELATION",
            help="The neighbouring data sets for which this ε holds, add-remove or replace. "
            "Default: those of the data set. An ε for add-remove counts double against a total for "
            "replace; one for replace is refused against a total for add-remove.",
        ),
    ] = None,
    who: options.Who = None,
    note: options.Note = None,
    ignore_clock: options.IgnoreClock = False,
) -> None:
    """Charge a release that other software makes, before it is made.

    What topgap releases with --ledger is charged by itself.
    """
    with one_sentence():
        noted = Asked(file, who, note, ignore_clock)
        budget.charge(noted, dataset, epsilon, mechanism, neighbours)


@app.command()
def record(
    file: File,
    charge: Annotated[
        int,
        typer.Option(
            metavar="N", help="The number of the charge, as history lists it.", show_default=False
        ),
    ],
    result: Annotated[
        Path,
        typer.Argument(
            metavar="RESULT",
            help="What was released, as JSON: a file, or - for standard input.",
            show_default=False,
        ),
    ],
    who: options.Who = None,
) -> None:
    """Keep the result of a charge that has none, once.

    What topgap releases with --ledger is recorded by itself.
    """
    with one_sentence():
        budget.record(Asked(file, who), charge, result)


@app.command()
def show(
    file: File,
    dataset: OneOrAll = None,
    form: FormOption = None,
    output: options.Output = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Tell what is spent and what is left, and which charges have no result."""
    with one_sentence():
        budget.show(Asked(file), dataset, Target(form, output, overwrite))


@app.command()
def history(
    file: File,
    dataset: OneOrAll = None,
    form: FormOption = None,
    output: options.Output = None,
    overwrite: options.Overwrite = False,
) -> None:
    """List the charges; JSON and CSV have their results, too."""
    with one_sentence():
        budget.history(Asked(file), dataset, Target(form, output, overwrite))


@app.command()
def export(
    file: File,
    form: Annotated[
        Literal["json", "csv"] | None,
        typer.Option(
            "--format",
            help="JSON has all of it, CSV the charges; JSON unless the name of --output says "
            "otherwise.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    output: options.Output = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Write all of it for other software, after it has been verified."""
    with one_sentence():
        budget.export(Asked(file), Target(form, output, overwrite, ("json", "csv")))


@app.command()
def copy(
    file: File,
    target: Annotated[
        Path, typer.Argument(metavar="COPY", help="The file to write.", show_default=False)
    ],
    overwrite: options.Overwrite = False,
) -> None:
    """Make a copy to be kept elsewhere, whole even while others charge.

    It is not for charging: it does not know what the ledger is charged meanwhile.
    """
    with one_sentence():
        budget.copy(Asked(file), target, overwrite=overwrite)


@app.command()
def verify(
    file: File,
    receipt: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N:HASH",
            help="A receipt that was kept elsewhere, of a charge or of an earlier verification: "
            "the ledger must still have that entry. As often as you like.",
        ),
    ] = None,
) -> None:
    """See whether anything was edited, deleted or reordered.

    Whoever can write to the file can write all of it anew, and only a receipt that
    was kept elsewhere tells.
    """
    with one_sentence():
        budget.verify(Asked(file), receipt or [])
