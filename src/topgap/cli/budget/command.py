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

# Commands fit a terminal of 80 columns as they are; help wraps the sentences between them.
EXAMPLES = r"""
The releases of a data set may cost ε = 3 together; this total is set once:

topgap budget init budget.db --dataset visits --epsilon 3

A release that is charged, or refused if too little is left:

topgap release visits.parquet --person patient --item diagnosis \
  --domain icd10.txt -k 10 --epsilon 1 --ledger budget.db --dataset visits

What is spent, what is left, and what it was spent for:

topgap budget show budget.db

topgap budget history budget.db --dataset visits

A release of the same data by other software:

topgap budget charge budget.db --dataset visits --epsilon 0.5 \
  --mechanism "mean age, by OpenDP"

topgap budget record budget.db --charge 2 result.json

Export, copy and verify the ledger:

topgap budget export budget.db -o budget.json

topgap budget copy budget.db copy-2026-11.db

topgap budget verify budget.db

A total for neighbouring data sets in which one person is replaced by another:

topgap budget init budget.db --dataset stays --epsilon 3 \
  --neighbours replace
"""

NOTES = """
In Python the same file is a topgap.Ledger.

Exit codes: 0 done; 1 a ledger or numbers that cannot be used, or too little left; 2 a command
that cannot be understood; 130 interrupted.
"""

DESCRIPTION = """\
Add up the ε of all releases of a data set in a ledger, up to a total.

The ledger is one file, and any number of processes can use it at once. It refuses a charge over
the total. A charge cannot be given back, whatever happened to the release; only a list that a
threshold ended early is settled to what it cost."""

COMMAND = CommandGroup(
    name="budget",
    description=DESCRIPTION,
    examples=EXAMPLES,
    notes=NOTES,
    commands=(
        Command(
            name="init",
            request_type=InitRequest,
            run=run.init,
            description="Set the total ε of a data set, once.\n\nThis makes the ledger if there is "
            "none.",
            examples="topgap budget init budget.db --dataset visits --epsilon 3",
        ),
        Command(
            name="charge",
            request_type=ChargeRequest,
            run=run.charge,
            description="Charge a release by other software, before it is made.\n\n"
            "A release by topgap with --ledger is charged automatically.",
            examples="topgap budget charge budget.db --dataset visits --epsilon 0.5 \\\n"
            '  --mechanism "mean age, by OpenDP"',
        ),
        Command(
            name="record",
            request_type=RecordRequest,
            run=run.record,
            description="Record the result of a charge that has none, once.\n\n"
            "A release by topgap with --ledger is recorded and settled automatically. A result "
            "recorded by hand settles nothing.",
            examples="topgap budget record budget.db --charge 2 result.json",
        ),
        Command(
            name="show",
            request_type=ListRequest,
            run=run.show,
            description="Show what is reserved, spent and left, and which charges have no result.",
            examples="topgap budget show budget.db\n\n"
            "As a file for other software:\n\n"
            "topgap budget show budget.db -o budgets.csv",
        ),
        Command(
            name="history",
            request_type=ListRequest,
            run=run.history,
            description="List the charges.\n\nA narrow terminal shows fewer columns, and says "
            "which it leaves out. JSON and CSV also have the results.",
            examples="topgap budget history budget.db --dataset visits\n\n"
            "With all columns and all results:\n\n"
            "topgap budget history budget.db -o history.json",
        ),
        Command(
            name="export",
            request_type=ExportRequest,
            run=run.export,
            description="Verify the whole ledger and export it for other software.",
            examples="topgap budget export budget.db -o budget.json",
        ),
        Command(
            name="copy",
            request_type=CopyRequest,
            run=run.copy,
            description="Make a consistent copy, even while other processes charge.\n\n"
            "Keep the copy elsewhere, and do not charge it: it does not know what the ledger is "
            "charged in the meantime.",
            examples="topgap budget copy budget.db copy-2026-11.db",
        ),
        Command(
            name="verify",
            request_type=VerifyRequest,
            run=run.verify,
            description="Check that nothing was edited, deleted or reordered.\n\n"
            "Anyone who can write to the file can replace the whole ledger. Only a receipt that "
            "you kept elsewhere reveals that.",
            examples="topgap budget verify budget.db",
        ),
    ),
)
