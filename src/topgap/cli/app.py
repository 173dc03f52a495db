"""The application that Typer runs: `topgap release`, `plan`, `budget`, `audit` and `demo`."""

from topgap.cli.command import make_app

SUMMARIES = {
    "release": "Count, and release the k largest items and the gaps between them.",
    "plan": "Show what k and ε would give, before any ε is spent.",
    "budget": "Add up the ε of all releases of a data set in a ledger, up to a total.",
    "audit": "Test the privacy promise of topgap, or of your own release function.",
    "demo": "Release the 25 most bought of 1,000 products from made-up baskets.",
}
"""What each command is for; its own help begins with it."""

app = make_app(SUMMARIES)
