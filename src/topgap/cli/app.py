"""The Typer application: `topgap release`, `plan`, `budget`, `audit` and `demo`."""

from typing import Annotated

import typer

from topgap._core import __version__
from topgap.cli.audit.command import add_audit
from topgap.cli.budget.command import add_budget
from topgap.cli.demo.command import add_demo
from topgap.cli.plan.command import add_plan
from topgap.cli.release.command import add_release

app = typer.Typer(
    name="topgap",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"topgap {__version__}")
        raise typer.Exit


@app.callback()
def topgap(
    _: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Publish which k items are the largest, and by how much, without giving anyone away.

    Start with [bold]topgap demo[/bold]; then see [bold]topgap release --help[/bold].
    """


add_release(app)
add_plan(app)
add_budget(app)
add_audit(app)
add_demo(app)
