"""The application that Typer runs: `topgap release`, `plan`, `budget`, `audit` and `demo`."""

from topgap.cli.audit.command import AUDIT
from topgap.cli.budget.command import BUDGET
from topgap.cli.command import make_app
from topgap.cli.demo.command import DEMO
from topgap.cli.plan.command import PLAN
from topgap.cli.release.command import RELEASE

app = make_app(RELEASE, PLAN, BUDGET, AUDIT, DEMO)
