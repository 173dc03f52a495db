"""The command `topgap demo`: its options and its help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from topgap.cli.command import Command

DESCRIPTION = """Release the 25 most bought of 1,000 products from made-up baskets.

The baskets come from the Quest generator of Agrawal and Srikant. They are the same at each run;
the noise is new each time.
"""

EXAMPLES = """
The demonstration:

topgap demo

Fewer baskets, kept in a file for your own releases:

topgap demo --baskets 20000 --save baskets.dat
"""


@dataclass(frozen=True, kw_only=True)
class DemoRequest:
    """A request for the demonstration; its fields are the options of `topgap demo`."""

    baskets: Annotated[
        int, typer.Option(metavar="N", help="Number of shopping baskets to make up.", min=1)
    ] = 100_000
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.dat", help="Keep the baskets in a file, to try topgap release on them."
        ),
    ] = None


def _run(request: DemoRequest) -> None:
    from topgap.cli.demo.run import run_demo  # and Rich, which a release need not wait for

    run_demo(request.baskets, request.save)


COMMAND = Command(
    name="demo",
    request_type=DemoRequest,
    run=_run,
    description=DESCRIPTION,
    examples=EXAMPLES,
)
