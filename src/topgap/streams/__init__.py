"""Precomputed counts of any number, in one pass and little memory.

    top_k(source, k, epsilon, item=…, count=…)   the largest of all rows, read part by part
    top_k_with_estimates(source, …)              how many, too: Estimates of their own counts

A row is an item and its count: a Parquet file, an Arrow file or stream, or any other source of
Arrow batches. The rows' items are the public list. If you list them from the people's data, it
is not protected who is in them: an item that only one person has gives that person away, whatever ε
is.
"""

from topgap.sources.progress import Progress
from topgap.streams.one_pass_release import top_k, top_k_with_estimates

__all__ = ["Progress", "top_k", "top_k_with_estimates"]
