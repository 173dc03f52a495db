"""How many releases an audit needs to find broken mechanisms with Laplace noise, or a threshold.

`python -m benchmarks.statistics.audit_power [audits]` makes 20 audits of each with 1,000 to 20,000
releases, in six minutes. It prints in how many of them the law was found to be violated, and ε,
and which multiple of the promised ε was shown at least and at most.
"""

import sys

from topgap import audit
from topgap.auditing.mechanisms.broken_laplace import BROKEN_LAPLACE
from topgap.auditing.mechanisms.broken_threshold import BROKEN_THRESHOLD
from topgap.display.text import format_text_table

AUDITS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
RELEASES = (1_000, 2_000, 5_000, 10_000, 20_000)


def main() -> None:
    """Make the audits and print a table."""
    rows = []
    for broken in (*BROKEN_LAPLACE, *BROKEN_THRESHOLD):
        for releases in RELEASES:
            found = [
                audit(
                    broken.release, cases=broken.shown_on, releases=releases, cost=broken.cost
                ).mechanisms[0]
                for _ in range(AUDITS)
            ]
            shares = [each.strongest_bound.share for each in found]
            rows.append([
                broken.name,
                f"{releases:,}",
                str(sum(each.law_violated for each in found)),
                str(sum(each.privacy_violated for each in found)),
                f"{min(shares):.2f} to {max(shares):.2f}",
            ])  # fmt: skip
    head = ["broken", "releases", f"law, of {AUDITS}", f"ε, of {AUDITS}", "shown, times ε"]
    print(format_text_table(head, rows, left=(0,)))


if __name__ == "__main__":
    main()
