"""The command `topgap audit`: its help and its examples."""

from topgap.cli.audit.request import AuditRequest
from topgap.cli.audit.run import run_audit
from topgap.cli.command import Command

DESCRIPTION = """Look for broken promises: in topgap, or in a release function of yours.

Releases of made-up data are held against their exact law.
Neighbouring data sets are told apart as well as can be.
Without --function, topgap is audited, and what is broken on purpose.
"""

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
With a threshold, outputs with few winners promise less, and are held to it.

Exit codes: 0 nothing speaks against what must be private,
and all that is broken on purpose was found;
1 it is not so, or the audit could not be made;
2 a command that cannot be understood; 130 interrupted.
"""

COMMAND = Command(
    name="audit",
    request_type=AuditRequest,
    run=run_audit,
    description=DESCRIPTION,
    epilog=EXAMPLES,
)
