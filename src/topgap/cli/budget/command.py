"""The commands `topgap budget …`: their help and examples."""

from topgap.cli.budget import run
from topgap.cli.budget.request import (
    ChargeRequest,
    CopyRequest,
    ExportRequest,
    InitRequest,
    ListRequest,
    RecordRequest,
    VerifyRequest,
)
from topgap.cli.command import Command, CommandGroup

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
DESCRIPTION = """\
Add up the ε of all releases of a data set, in a ledger that refuses charges over the total.

The ledger is one file, which any number of processes may use at once. What is charged cannot be \
given back, whatever became of the release; but a list that a threshold ended early is settled to \
what it cost."""

COMMAND = CommandGroup(
    name="budget",
    description=DESCRIPTION,
    epilog=EXAMPLES,
    commands=(
        Command(
            name="init",
            request_type=InitRequest,
            run=run.init,
            description="Set the total ε of a data set, once; and make the ledger if there is "
            "none.",
        ),
        Command(
            name="charge",
            request_type=ChargeRequest,
            run=run.charge,
            description="Charge a release that other software makes, before it is made.\n\n"
            "What topgap releases with --ledger is charged by itself.",
        ),
        Command(
            name="record",
            request_type=RecordRequest,
            run=run.record,
            description="Keep the result of a charge that has none, once.\n\n"
            "What topgap releases with --ledger is recorded by itself, and settled.\n"
            "A result that is kept by hand settles nothing.",
        ),
        Command(
            name="show",
            request_type=ListRequest,
            run=run.show,
            description="Tell what is reserved, spent and left, and which charges have no result.",
        ),
        Command(
            name="history",
            request_type=ListRequest,
            run=run.history,
            description="List the charges; JSON and CSV have their results, too.",
        ),
        Command(
            name="export",
            request_type=ExportRequest,
            run=run.export,
            description="Write all of it for other software, after it has been verified.",
        ),
        Command(
            name="copy",
            request_type=CopyRequest,
            run=run.copy,
            description="Make a copy to be kept elsewhere, whole even while others charge.\n\n"
            "It is not for charging: it does not know what the ledger is charged meanwhile.",
        ),
        Command(
            name="verify",
            request_type=VerifyRequest,
            run=run.verify,
            description="See whether anything was edited, deleted or reordered.\n\n"
            "Whoever can write to the file can write all of it anew, and only a receipt that\n"
            "was kept elsewhere tells.",
        ),
    ),
)
