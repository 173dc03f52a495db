"""The command with its parts: `topgap release`, `plan`, `budget`, `audit` and `demo`."""

from pathlib import Path
from typing import Annotated

import typer

import topgap.cli.audit.command as audit_command
import topgap.cli.budget.command as budget_command
import topgap.cli.plan.command as plan_command
import topgap.cli.release.command as release_command
from topgap._core import __version__
from topgap.cli.errors import one_sentence

app = typer.Typer(
    name="topgap",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


app.command(epilog=release_command.EXAMPLES)(release_command.release)
app.command(epilog=plan_command.EXAMPLES)(plan_command.plan)
app.add_typer(budget_command.app)
app.command(epilog=audit_command.EXAMPLES)(audit_command.audit)


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
    from topgap.cli.demo.run import (
        show,  # and what it shows with, which a release need not wait for
    )

    with one_sentence():
        show(baskets, save)
