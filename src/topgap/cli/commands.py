"""What a user types: `topgap release`, `topgap plan` and `topgap demo`."""

from pathlib import Path
from typing import Annotated

import typer

from topgap._core import __version__
from topgap.cli import plan_command, request
from topgap.cli.asked import Neighbours, Request, SourceFormat
from topgap.cli.complaints import one_sentence
from topgap.cli.forms import Form
from topgap.counting import MEMORY

app = typer.Typer(
    name="topgap",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

_DATA, _DOMAIN, _PRIVACY, _OUTPUT = "The data", "The public list of items", "Privacy", "Output"

# Lines that fit a terminal of 80 columns as they are: Rich would break them anywhere.
_EXAMPLES = r"""
[bold]Examples[/bold]

The ten most common diagnoses, from a table of visits, with a page to publish:

topgap release visits.parquet --person patient --item diagnosis \
  --domain icd10.txt -k 10 --epsilon 1 --report diagnoses.html

A CSV file from a pipe, products numbered 1 to 942, the release as JSON:

zcat baskets.csv.gz | topgap release - --person basket --item product \
  --domain-range 1:942 -k 25 --epsilon 1/2 --format json

A table of a database; a person may be replaced by another (twice the noise):

topgap release clinic.sqlite --table visits --person patient --item code \
  --domain codes.csv --domain-column code -k 5 --epsilon 1 \
  --neighbours replace

Baskets in the FIMI format, one person a line:

topgap release baskets.dat --domain-range 0:999 -k 25 --epsilon 1

Counts that exist already:

topgap release counts.csv --item page --count people --domain pages.txt \
  -k 3 --epsilon 0.1

A hundred million of them, each row an item of the public list:

topgap release counts.parquet --item page --count people --all-rows \
  -k 10 --epsilon 1

How many, too: estimates with their standard errors and 99% intervals:

topgap release visits.parquet --person patient --item diagnosis \
  --domain icd10.txt -k 10 --epsilon 1 --estimate --level 0.99

Each run on the same data adds its ε to what was spent before.

Exit codes: 0 released; 1 data or parameters that cannot be used;
2 a command that cannot be understood; 130 interrupted.
"""


def _version(wanted: bool) -> None:
    if wanted:
        print(f"topgap {__version__}")
        raise typer.Exit


@app.callback()
def topgap(
    _: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """Publish which k items are the largest, and by how much, without giving anyone away.

    Start with [bold]topgap demo[/bold]; then see [bold]topgap release --help[/bold].
    """


@app.command(epilog=_EXAMPLES)
def release(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="CSV, TSV, JSON lines, Parquet or FIMI files (.gz too), or patterns of them; one "
            "DuckDB or SQLite file; or - for standard input. With --all-rows, Arrow files too.",
            show_default=False,
        ),
    ],
    k: Annotated[
        int,
        typer.Option(
            "-k", help="How many items are named.", rich_help_panel=_PRIVACY, show_default=False
        ),
    ],
    epsilon: Annotated[
        str,
        typer.Option(
            help="The privacy loss, exactly: 1, 0.1 or 1/3. The smaller, the more private and the "
            "noisier.",
            rich_help_panel=_PRIVACY,
            show_default=False,
        ),
    ],
    person: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="The column that says who. Each person counts once for each item.",
            rich_help_panel=_DATA,
        ),
    ] = None,
    item: Annotated[
        str | None,
        typer.Option(metavar="COL", help="The column that says what.", rich_help_panel=_DATA),
    ] = None,
    count: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="The column with ready counts, if they exist already; in place of --person.",
            rich_help_panel=_DATA,
        ),
    ] = None,
    source_format: Annotated[
        SourceFormat | None,
        typer.Option(
            help="The format of SOURCE, if its name does not tell; csv for -. Only --all-rows "
            "reads arrow.",
            rich_help_panel=_DATA,
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(help="The table of a DuckDB or SQLite file.", rich_help_panel=_DATA),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="A SELECT to ask of it instead.", rich_help_panel=_DATA),
    ] = None,
    header: Annotated[
        bool,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of a CSV or TSV file has the names of the columns; if "
            "not, they are called 1, 2, 3 and so on.",
            rich_help_panel=_DATA,
        ),
    ] = True,
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="CHAR",
            help="What stands between the cells of a CSV file, if its first line does not tell.",
            rich_help_panel=_DATA,
        ),
    ] = None,
    allow_empty: Annotated[
        bool,
        typer.Option(
            "--allow-empty",
            help="Take a source without a single row for what it is, not for a mistake.",
            rich_help_panel=_DATA,
        ),
    ] = False,
    memory: Annotated[
        str,
        typer.Option(
            help="What counting may use of it; more goes to a temporary directory on disk.",
            rich_help_panel=_DATA,
        ),
    ] = MEMORY,
    domain: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A text file with an item in each line; or a table, with --domain-column. All of "
            "them take part, with 0 if nobody has them; other items are left out.",
            rich_help_panel=_DOMAIN,
        ),
    ] = None,
    domain_column: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="The column of the CSV, TSV, JSON lines or Parquet file that --domain names.",
            rich_help_panel=_DOMAIN,
        ),
    ] = None,
    domain_range: Annotated[
        str | None,
        typer.Option(
            metavar="FIRST:LAST",
            help="The items are these integers, both ends included.",
            rich_help_panel=_DOMAIN,
        ),
    ] = None,
    domain_from_data: Annotated[
        bool,
        typer.Option(
            "--domain-from-data",
            help="Take the items from the data. That somebody has an item is then not protected.",
            rich_help_panel=_DOMAIN,
        ),
    ] = False,
    all_rows: Annotated[
        bool,
        typer.Option(
            "--all-rows",
            help="Every row is an item of the public list, and none has two rows, by your word: "
            "for ready counts (--count) of any number, which are read once and take little "
            "memory. Parquet files, Arrow files, or an Arrow stream from standard input.",
            rich_help_panel=_DOMAIN,
        ),
    ] = False,
    resolution: Annotated[
        str,
        typer.Option(
            help="Gaps are multiples of this; 1 divided by an integer.", rich_help_panel=_PRIVACY
        ),
    ] = "1/10",
    neighbours: Annotated[
        Neighbours,
        typer.Option(
            help="What one person more or less means. If one is added or removed, all counts move "
            "the same way, and half the noise is enough; if one may be replaced by another, not.",
            rich_help_panel=_PRIVACY,
        ),
    ] = "add-remove",
    sensitivity: Annotated[
        str | None,
        typer.Option(
            help="How far one person can move a ready count; with --count only. Persons that are "
            "counted here move it by 1.",
            rich_help_panel=_PRIVACY,
        ),
    ] = None,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="How many, too: each of the k is measured, and the gaps make the measurements "
            "better. ε is then that of the whole.",
            rich_help_panel=_PRIVACY,
        ),
    ] = False,
    selection_share: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="The part of ε that selects, between 0 and 1; 1/2 unless given. The rest "
            "measures. With --estimate only.",
            rich_help_panel=_PRIVACY,
        ),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            help="How often the interval of an estimate is to hold the true number; 0.95 unless "
            "given. With --estimate only.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    form: Annotated[
        Form | None,
        typer.Option(
            "--format",
            help="How the release is written; a table, unless the name of --output says otherwise.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write it; standard output unless given.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="A page for readers too: chart, parameters in plain words, how to cite.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The heading of the report.", rich_help_panel=_OUTPUT),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Overwrite files that exist.", rich_help_panel=_OUTPUT),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", help="No progress bar and no remarks.", rich_help_panel=_OUTPUT
        ),
    ] = False,
) -> None:
    """Count, and release the k largest items with the gap from each to the next.

    SOURCE says who had what. Each item of a public list is counted: its persons,
    each once. The k largest are named, with the gap from each to the next and, by
    --estimate, how many they are, under ε-differential privacy. Nothing else about
    the data leaves this command.
    """
    with one_sentence():
        request.release(
            Request(
                sources=sources, person=person, item=item, count=count,
                source_format=source_format, table=table, query=query, header=header,
                delimiter=delimiter,
                allow_empty=allow_empty, memory=memory,
                domain=domain, domain_column=domain_column, domain_range=domain_range,
                domain_from_data=domain_from_data, all_rows=all_rows,
                k=k, epsilon=epsilon, resolution=resolution, neighbours=neighbours,
                sensitivity=sensitivity,
                estimate=estimate, selection_share=selection_share, level=level,
                form=form, output=output, report=report, title=title, overwrite=overwrite,
                quiet=quiet,
            )
        )  # fmt: skip


app.command(epilog=plan_command.EXAMPLES)(plan_command.plan)


@app.command()
def demo(
    baskets: Annotated[
        int, typer.Option(help="How many shopping baskets to make up.", min=1)
    ] = 100_000,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE.dat", help="Keep the baskets, to try topgap release on them."),
    ] = None,
) -> None:
    """Make up shopping baskets and release the 25 most bought of 1,000 products.

    The baskets come from the Quest generator of Agrawal and Srikant, and are the
    same at each run; the noise is new each time.
    """
    from topgap.cli.demo import show  # and what it shows with, which a release need not wait for

    with one_sentence():
        show(baskets, save)
