"""What a user types: `topgap audit`."""

from pathlib import Path
from typing import Annotated

import typer

from topgap.auditing.auditor import FAILURE
from topgap.cli import options
from topgap.cli.audit.run import Form, Request
from topgap.cli.audit.run import audit as audited
from topgap.cli.errors import one_sentence
from topgap.cli.options import OUTPUT

# Each line stands by itself and fits a terminal of 80 columns: Rich keeps them, and breaks those
# that are too long.
EXAMPLES = r"""
[bold]Examples[/bold]

Topgap itself, and mechanisms that are broken on purpose, in half a minute:

topgap audit --quick

The same with ten million releases, and a plot:

topgap audit --plot audit.png

A function of yours, release(answers, parameters), in mine.py:

topgap audit --function mine:release

The same if it has noise of another law, and must only keep its promise of ε:

topgap audit --function mine:release --privacy-only

What the low bits of floating-point gaps give away:

topgap audit --attack --plot attack.png

How to read it:
"law" tells whether winners and ranges of gaps came as often as they should.
"ε shown" is a lower bound: neighbours were told apart at least so well.
More than the promised ε is a broken promise; less proves nothing.

Exit codes: 0 nothing speaks against what must be private,
and all that is broken on purpose was found;
1 it is not so, or the audit could not be made;
2 a command that cannot be understood; 130 interrupted.
"""
AUDITED = "What is audited"


def audit(
    function: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="A function of yours, in place of topgap: it is called with answers, a tuple of "
            "ints, and a topgap.TopK, and returns a topgap.Release or pairs (index, gap).",
            rich_help_panel=AUDITED,
        ),
    ] = None,
    gaps: Annotated[
        bool,
        typer.Option(
            "--gaps/--no-gaps",
            help="Whether that function gives gaps, or indices alone.",
            rich_help_panel=AUDITED,
        ),
    ] = True,
    privacy_only: Annotated[
        bool,
        typer.Option(
            "--privacy-only",
            help="Do not ask that function for the law of topgap.",
            rich_help_panel=AUDITED,
        ),
    ] = False,
    attack: Annotated[
        bool,
        typer.Option(
            "--attack",
            help="In place of the audit: attack the floating-point version, and topgap likewise.",
            rich_help_panel=AUDITED,
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Fewer releases: about half a minute.", rich_help_panel=AUDITED
        ),
    ] = False,
    releases: Annotated[
        int | None,
        typer.Option(
            help="How many releases are made of what must be private; more show more. "
            "10,000,000 unless given, and 400,000 of a function of yours; of an attack, 20,000.",
            rich_help_panel=AUDITED,
        ),
    ] = None,
    failure: Annotated[
        str,
        typer.Option(
            metavar="CHANCE",
            help="What is right is called violated with at most this chance; 1e-200 at least.",
            rich_help_panel=AUDITED,
        ),
    ] = FAILURE,
    processes: Annotated[
        int | None,
        typer.Option(
            help="How many processes work at once; one for each core unless given. Not with "
            "--attack.",
            rich_help_panel=AUDITED,
        ),
    ] = None,
    form: Annotated[
        Form | None,
        typer.Option(
            "--format",
            help="How it is written; a table, unless the name of --output says otherwise. JSON "
            "has every bound and its event.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    output: options.Output = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A plot of what was shown, too: a .png, .svg or .pdf file. It needs Matplotlib.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
) -> None:
    """Look for broken promises: in topgap, or in a release function of yours.

    Releases of made-up data are held against their exact law.
    Neighbouring data sets are told apart as well as can be.
    Without --function, topgap is audited, and what is broken on purpose.
    """
    with one_sentence():
        audited(
            Request(
                function=function, gaps=gaps, privacy_only=privacy_only, attack=attack,
                quick=quick, releases=releases, failure=failure, processes=processes,
                form=form, output=output, plot=plot, overwrite=overwrite, quiet=quiet,
            )
        )  # fmt: skip
