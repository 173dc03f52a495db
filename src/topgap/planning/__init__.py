"""Plans: what to expect of releases for some k, ε and resolution, before any ε is spent.

    plan(counts, k, epsilons, …)   simulates releases of public counts: a Plan
    zipf(items, largest)           made-up counts, where there are no public ones

The counts must be public or made up, because a plan is not private. Nothing here is for the data of
people, and no release is made from it.
"""

from topgap.planning.planner import EPSILONS, plan
from topgap.planning.result import Plan
from topgap.planning.rows import Lists, Row
from topgap.planning.statistics import Figure
from topgap.planning.synthetic_counts import zipf

__all__ = ["EPSILONS", "Figure", "Lists", "Plan", "Row", "plan", "zipf"]
