"""The application that Typer runs: `topgap release`, `plan`, `budget`, `audit` and `demo`."""

from topgap.cli.command import make_app

app = make_app("release", "plan", "budget", "audit", "demo")
