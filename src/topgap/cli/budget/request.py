"""Requests to a budget ledger: each option of `topgap budget` with its help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import typer

from topgap.cli import options
from topgap.cli.options import BUDGET, OUTPUT
from topgap.parameters import Neighbours

BudgetFormat = Literal["table", "json", "csv"]

File = Annotated[Path, typer.Argument(metavar="FILE", help="The ledger.", show_default=False)]
Dataset = Annotated[str, typer.Option(metavar="NAME", help="The data set.", show_default=False)]
OneOrAll = Annotated[
    str | None, typer.Option("--dataset", metavar="NAME", help="Only this data set. Default: all.")
]
FormatOption = Annotated[
    BudgetFormat | None,
    typer.Option(
        "--format",
        help="Format of the output. Default: from the name of --output, otherwise a table. "
        "In CSV, text that a spreadsheet would take for a formula gets an apostrophe.",
        rich_help_panel=OUTPUT,
    ),
]


@dataclass(frozen=True, kw_only=True)
class InitRequest:
    """A request to set the total of a data set."""

    file: File
    dataset: Dataset
    epsilon: Annotated[
        str,
        typer.Option(
            metavar="EPSILON",
            help="Total ε that all releases of the data set may cost together, read exactly: 3, "
            "0.5 or 1/3.",
            show_default=False,
        ),
    ]
    neighbours: Annotated[
        Neighbours,
        typer.Option(
            metavar="add-remove|replace",
            help="Neighbouring data sets for which the total holds: add-remove (one person is "
            "added or removed) or replace (one person is replaced by another). It cannot be "
            "changed later.",
        ),
    ] = "add-remove"
    who: options.Who = None
    note: options.Note = None
    ignore_clock: Annotated[
        bool,
        typer.Option(
            "--ignore-clock",
            help="Set the total even if the clock is behind the ledger's last entry.",
            rich_help_panel=BUDGET,
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class ChargeRequest:
    """A request to charge a release of other software."""

    file: File
    dataset: Dataset
    epsilon: Annotated[
        str,
        typer.Option(
            metavar="EPSILON",
            help="Privacy loss ε of the release, read exactly.",
            show_default=False,
        ),
    ]
    mechanism: Annotated[
        str, typer.Option(metavar="TEXT", help="What is released.", show_default=False)
    ]
    neighbours: Annotated[
        Neighbours | None,
        typer.Option(
            metavar="add-remove|replace",
            help="Neighbouring data sets for which this ε holds: add-remove or replace. An ε for "
            "add-remove counts double against a total for replace; an ε for replace is "
            "refused against a total for add-remove. Default: as for the data set.",
        ),
    ] = None
    who: options.Who = None
    note: options.Note = None
    ignore_clock: options.IgnoreClock = False


@dataclass(frozen=True, kw_only=True)
class RecordRequest:
    """A request to record the result of a charge."""

    file: File
    charge: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Number of the charge, as topgap budget history lists it.",
            show_default=False,
        ),
    ]
    result: Annotated[
        Path,
        typer.Argument(
            metavar="RESULT",
            help="The published result as JSON: a file, or - for standard input.",
            show_default=False,
        ),
    ]
    who: options.Who = None


@dataclass(frozen=True, kw_only=True)
class ListRequest:
    """A request to list budgets or charges."""

    formats: ClassVar[tuple[BudgetFormat, ...]] = ("table", "json", "csv")
    file: File
    dataset: OneOrAll = None
    output_format: FormatOption = None
    output: options.Output = None
    overwrite: options.Overwrite = False


@dataclass(frozen=True, kw_only=True)
class ExportRequest:
    """A request to export the ledger."""

    formats: ClassVar[tuple[BudgetFormat, ...]] = ("json", "csv")
    file: File
    output_format: Annotated[
        Literal["json", "csv"] | None,
        typer.Option(
            "--format",
            help="Format of the output: JSON has the whole ledger, CSV only the charges. "
            "Default: from the name of --output, otherwise JSON.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    output: options.Output = None
    overwrite: options.Overwrite = False


@dataclass(frozen=True, kw_only=True)
class CopyRequest:
    """A request to copy the ledger."""

    file: File
    target: Annotated[
        Path, typer.Argument(metavar="COPY", help="File to write.", show_default=False)
    ]
    overwrite: options.Overwrite = False


@dataclass(frozen=True, kw_only=True)
class VerifyRequest:
    """A request to verify the ledger."""

    file: File
    receipt: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N:HASH",
            help="Receipt of a charge or of an earlier verification, kept outside the ledger. "
            "The ledger must still have that entry. Can be repeated.",
        ),
    ] = None
