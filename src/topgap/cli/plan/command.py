"""What a user types: `topgap plan`."""

from pathlib import Path
from typing import Annotated

import typer

from topgap.cli import options
from topgap.cli.errors import one_sentence
from topgap.cli.options import DATA, OUTPUT, PRIVACY
from topgap.cli.plan.run import LARGEST, Form, Request, SourceFormat
from topgap.cli.plan.run import plan as planned
from topgap.planning.planner import RELEASES

# Lines that fit a terminal of 80 columns as they are: Rich would break them anywhere.
EXAMPLES = r"""
[bold]Examples[/bold]

Last year's published counts, and what ten names would be worth this year:

topgap plan published.csv --item diagnosis --count patients -k 10

Three values of ε, with a plot:

topgap plan published.csv --item diagnosis --count patients -k 10 \
  --epsilon 0.1 --epsilon 1/2 --epsilon 1 --plot plan.png

No public counts: a thousand made-up ones, of which the largest is 50,000:

topgap plan --zipf 1000 --largest 50000 -k 25 --format csv -o plan.csv

Most of ε for the names, and a person may be replaced by another:

topgap plan published.csv --item diagnosis --count patients -k 10 \
  --selection-share 3/4 --neighbours replace

How to read it: "names, gaps" is what topgap release gives, "counts too" what
it gives with --estimate. "list right" is the chance that all k named are the
k largest, "order too" that they are in the right order, "of k right" how
many of them are, on average. "error measured" is how far off a count is when
it is measured alone, "with gaps" when the gaps have made it better: roots of
mean squares. Where the list is often wrong, the gaps can make it worse.

Exit codes: 0 planned; 1 counts or parameters that cannot be used;
2 a command that cannot be understood; 130 interrupted.
"""


def _refuse_persons(given: str | None) -> None:
    if given is not None:
        raise typer.BadParameter(
            "a plan is not private, so it takes public or made-up counts and no data of persons."
        )


def plan(
    k: options.K,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE",
            help="Counts that everyone may know: CSV, TSV, JSON lines or Parquet files (.gz too), "
            "or patterns of them; a table of a DuckDB or SQLite file; or - for standard input.",
            show_default=False,
        ),
    ] = None,
    _: Annotated[
        str | None,
        typer.Option("--person", hidden=True, callback=_refuse_persons, is_eager=True),
    ] = None,
    item: options.Item = None,
    count: Annotated[
        str | None,
        typer.Option(metavar="COL", help="The column with the counts.", rich_help_panel=DATA),
    ] = None,
    zipf: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="In place of SOURCE: N made-up items whose counts fall like 1/rank.",
            rich_help_panel=DATA,
        ),
    ] = None,
    largest: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            help=f"The largest of the made-up counts; {LARGEST:,} unless given.",
            rich_help_panel=DATA,
        ),
    ] = None,
    source_format: Annotated[
        SourceFormat | None,
        typer.Option(
            help="The format of SOURCE, if its name does not tell; csv for -.",
            rich_help_panel=DATA,
        ),
    ] = None,
    table: options.Table = None,
    header: options.Header = True,
    delimiter: options.Delimiter = None,
    epsilon: Annotated[
        list[str] | None,
        typer.Option(
            help="A privacy loss to plan for, exactly: 1, 0.1 or 1/3; as often as you like. Ten "
            "values from 0.01 to 10 unless given.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None,
    resolution: options.Resolution = "1/10",
    neighbours: options.Neighbours = "add-remove",
    sensitivity: Annotated[
        str,
        typer.Option(help="How far one person can move a count.", rich_help_panel=PRIVACY),
    ] = "1",
    selection_share: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="The part of ε that selects where counts are released too; between 0 and 1.",
            rich_help_panel=PRIVACY,
        ),
    ] = "1/2",
    releases: Annotated[
        int,
        typer.Option(
            help="How many releases are simulated, for each ε and kind of release.",
            rich_help_panel=PRIVACY,
        ),
    ] = RELEASES,
    form: Annotated[
        Form | None,
        typer.Option(
            "--format",
            help="How the plan is written; a table, unless the name of --output says otherwise.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    output: options.Output = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A plot over ε, too: a .png, .svg or .pdf file. It needs Matplotlib.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
) -> None:
    """Tell what k and ε would give, before any ε is spent.

    Releases of public or made-up counts are simulated and held against the
    truth: how often the list is right, and how far off the counts are. What a
    plan tells is not private: never make it from data to be protected.
    """
    with one_sentence():
        planned(
            Request(
                sources=sources or [], item=item, count=count, source_format=source_format,
                table=table, header=header, delimiter=delimiter,
                zipf=zipf, largest=largest,
                k=k, epsilons=epsilon or [], resolution=resolution, neighbours=neighbours,
                sensitivity=sensitivity, selection_share=selection_share, releases=releases,
                form=form, output=output, plot=plot, overwrite=overwrite, quiet=quiet,
            )
        )  # fmt: skip
