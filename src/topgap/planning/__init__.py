"""Plans: what to expect of releases for some k, ε and resolution, before any ε is spent.

    plan(counts, k, epsilons, …)        simulates releases of public counts: a Plan
    plan_threshold(counts, k, thresholds, epsilons, …)
                                        the same with a threshold: a ThresholdPlan
    zipf(items, largest)                made-up counts, where there are no public ones
    plan_domain(domain, k, epsilons, …) what an item of a domain needs to be named: a DomainPlan

The counts must be public or made up, because a plan is not private. Nothing here is for the data of
people, and no release is made from it. A plan for a domain takes no counts at all.
"""

from topgap.planning.domain_plan import DomainPlan, DomainRow, plan_domain
from topgap.planning.planner import plan
from topgap.planning.result import Plan
from topgap.planning.rows import BoundRow, Lists, ReleasedErrors, Row
from topgap.planning.statistics import Figure
from topgap.planning.synthetic_counts import zipf
from topgap.planning.threshold_planner import plan_threshold
from topgap.planning.threshold_result import ThresholdPlan
from topgap.planning.threshold_rows import ThresholdRow
from topgap.planning.validation import EPSILONS

__all__ = [
    "EPSILONS",
    "BoundRow",
    "DomainPlan",
    "DomainRow",
    "Figure",
    "Lists",
    "Plan",
    "ReleasedErrors",
    "Row",
    "ThresholdPlan",
    "ThresholdRow",
    "plan",
    "plan_domain",
    "plan_threshold",
    "zipf",
]
