"""Before any ε is spent: what would k, ε and resolution give?

    plan(counts, k, epsilons, …)   how good releases of these counts would be: a Plan
    zipf(items, largest)           made-up counts, for who has no public ones

The counts must be public or made up: what a plan tells of them is not private, so nothing here is
for the data of people. It stands beside the way from answers to a release and leads to none.
"""

from topgap.planning.planner import EPSILONS, plan
from topgap.planning.result import Plan
from topgap.planning.rows import Lists, Row
from topgap.planning.statistics import Figure
from topgap.planning.synthetic_counts import zipf

__all__ = ["EPSILONS", "Figure", "Lists", "Plan", "Row", "plan", "zipf"]
