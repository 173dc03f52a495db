"""Whether the proofs in docs/proofs still speak of the code as it is.

    python -m tools.proofs                               says what is to be looked at again
    python -m tools.proofs --seen docs/proofs/coins.md   after you looked at that one

There is no way to say it of all pages at once: a hash says that somebody held the proof against
the code.
"""

import argparse
from pathlib import Path

from tools.proofs.code_items import UnreadableError
from tools.proofs.ties import check, mark_seen

ROOT = Path(__file__).parents[2]


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Do what is asked; return 0 if the proofs are as they should be, and 1 if not."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.proofs",
        description="Hold the proofs in docs/proofs against the code that they speak of.",
    )
    parser.add_argument(
        "--seen",
        type=Path,
        metavar="PAGE",
        help="write the present hashes into this one page, whose proof you have looked at again",
    )
    page = parser.parse_args(arguments).seen
    try:
        if page is not None:
            print(f"{page}: {mark_seen(root, page)} hashes are new.")
            return 0
        outcome = check(root)
    except (LookupError, UnreadableError) as error:
        print(f"proofs: {error}")
        return 1
    for complaint in outcome.complaints:
        print(complaint)
    if not outcome.complaints:
        print(
            f"proofs: {outcome.pages} pages speak of {outcome.ties} pieces of code, all as they "
            f"were when looked at; {outcome.unproven} others need no proof."
        )
    return 1 if outcome.complaints else 0
