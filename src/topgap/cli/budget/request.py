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
    str | None, typer.Option("--dataset", metavar="NAME", help="This data set alone.")
]
FormatOption = Annotated[
    BudgetFormat | None,
    typer.Option(
        "--format",
        help="How it is written; a table, unless the name of --output says otherwise. In CSV an "
        "apostrophe is put before text that a spreadsheet would take for a formula.",
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
            help="The sum of ε that all releases of it may have, exactly: 3, 0.5 or 1/3.",
            show_default=False,
        ),
    ]
    neighbours: Annotated[
        Neighbours,
        typer.Option(
            metavar="RELATION",
            help="The neighbouring data sets for which the total holds: add-remove, if one person "
            "is added or removed, or replace, if one is replaced by another. It is set once.",
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
        str, typer.Option(help="How much the release costs, exactly.", show_default=False)
    ]
    mechanism: Annotated[
        str, typer.Option(metavar="TEXT", help="What is released.", show_default=False)
    ]
    neighbours: Annotated[
        Neighbours | None,
        typer.Option(
            metavar="RELATION",
            help="The neighbouring data sets for which this ε holds, add-remove or replace. "
            "Default: those of the data set. An ε for add-remove counts double against a total for "
            "replace; one for replace is refused against a total for add-remove.",
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
            metavar="N", help="The number of the charge, as history lists it.", show_default=False
        ),
    ]
    result: Annotated[
        Path,
        typer.Argument(
            metavar="RESULT",
            help="What was released, as JSON: a file, or - for standard input.",
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
            help="JSON has all of it, CSV the charges; JSON unless the name of --output says "
            "otherwise.",
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
        Path, typer.Argument(metavar="COPY", help="The file to write.", show_default=False)
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
            help="A receipt that was kept elsewhere, of a charge or of an earlier verification: "
            "the ledger must still have that entry. As often as you like.",
        ),
    ] = None
