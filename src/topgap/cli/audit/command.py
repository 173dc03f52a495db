"""The command `topgap audit`: its help and its examples."""

from topgap.cli.audit.request import AuditRequest
from topgap.cli.audit.run import run_audit
from topgap.cli.command import Command

DESCRIPTION = """Test the privacy promise of topgap, or of your own release function.

The audit makes many releases of made-up data. It compares them with their exact distribution, and
tries to distinguish neighbouring data sets. Without --function it audits topgap, and mechanisms
that are broken on purpose.
"""

# Commands fit a terminal of 80 columns as they are; help wraps the sentences between them.
EXAMPLES = r"""
The mechanisms of topgap, and some that are broken on purpose, in half a minute:

topgap audit --quick

The same with ten million releases, and a plot:

topgap audit --plot audit.png

Your own function, release(answers, parameters), in mine.py:

topgap audit --function mine:release

A function with noise of another distribution, which must only keep its promise of ε:

topgap audit --function mine:release --privacy-only

What the low bits of floating-point gaps reveal:

topgap audit --attack --plot attack.png
"""

NOTES = """
How to read the table: "law" says whether winners and ranges of gaps came as often as they should.
"ε shown" is a lower bound on ε: neighbouring data sets were distinguished at least this well.
More than the promised ε is a broken promise; less proves nothing. With a threshold, outputs with
few winners promise less, and the audit tests that.

Exit codes: 0 no violation found in what must be private, and everything broken on purpose was
found; 1 otherwise, or the audit could not be made; 2 a command that cannot be understood; 130
interrupted.
"""

COMMAND = Command(
    name="audit",
    request_type=AuditRequest,
    run=run_audit,
    description=DESCRIPTION,
    examples=EXAMPLES,
    notes=NOTES,
)
