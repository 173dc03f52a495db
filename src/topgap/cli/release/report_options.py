"""The options of `topgap release` for what the page says about the publication."""

from pathlib import Path
from typing import Annotated

import typer

PANEL = "The report"

Report = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.html",
        help="A page for readers too: one table with bars, how to read it, and how to cite it. The "
        "next options are for it.",
        rich_help_panel=PANEL,
    ),
]
Title = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The heading.", rich_help_panel=PANEL)
]
Publisher = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Who publishes.", rich_help_panel=PANEL)
]
Period = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="The time that the data are about, such as 2025.",
        rich_help_panel=PANEL,
    ),
]
Date = Annotated[
    str | None,
    typer.Option(
        metavar="DATE",
        help="The day of publication, such as 2026-11-20; today unless given, none for no date.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
SourceNote = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help="A sentence about where the data come from.", rich_help_panel=PANEL
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.csv",
        help="Words beside the items, such as the names of codes: two columns, item and label. "
        "They must be public: never take them from the data.",
        rich_help_panel=PANEL,
    ),
]
PersonWord = Annotated[
    str | None,
    typer.Option(
        metavar="WORD",
        help="Whom the numbers count, in the plural, such as patients; people unless given.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
ItemWord = Annotated[
    str | None,
    typer.Option(
        metavar="WORD",
        help="What the items are, in the plural, such as diagnoses; items unless given.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
Locale = Annotated[
    str | None,
    typer.Option(
        metavar="LOCALE",
        help="How numbers and the date are written: de, fr_CH and so on; en unless given. The "
        "words stay English.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
InOrder = Annotated[
    bool,
    typer.Option(
        "--in-order",
        help="Make the numbers of the page at least 0 and put them in the order of the ranks. It "
        "is for counts, uses only the published numbers and costs no ε; files keep the numbers "
        "as they were.",
        rich_help_panel=PANEL,
    ),
]
