"""How many: measurements of the winners, made better by the gaps between them.

    top_k_with_estimates(answers, k, epsilon, …)       selects, measures and estimates: Estimates
    estimate(release, measurements, variance=…, …)     estimates from what was measured elsewhere

From the release on, nothing here sees an answer.
"""

from topgap.estimates.calls import estimate, top_k_with_estimates
from topgap.estimates.value import Estimates

__all__ = ["Estimates", "estimate", "top_k_with_estimates"]
