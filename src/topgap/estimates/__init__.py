"""How many: measurements of the winners, made better by the gaps between them.

    estimate(release, measurements, variance=…, …)     estimates from what was measured elsewhere
    GroupedEstimates                                   those of many groups, for one ε
    counts_in_order(release)                           those of a release, made at least 0

Nothing here sees an answer; `topgap.top_k_with_estimates` selects, measures and estimates.
"""

from topgap.estimates.estimator import estimate
from topgap.estimates.grouped import GroupedEstimates
from topgap.estimates.ordering import Ordered, counts_in_order
from topgap.estimates.result import Estimates

__all__ = ["Estimates", "GroupedEstimates", "Ordered", "counts_in_order", "estimate"]
