"""The exact law of the output, to judge any implementation by: small inputs, rigorous bounds.

`gap_top_k` and `top_k` bound the probability of one output of the mechanism of the same name in
`topgap.reference`; `probability` has the derivation. `laplace_top_k` does so for noise that does
not grow with k, and `laplace` has its derivation. `sparse_vector` is the law of what a
`topgap.Monitor` gives, one answer after the other.
"""

from topgap.law.exponential import Bounds, exp_minus
from topgap.law.laplace import laplace_top_k
from topgap.law.monitor import sparse_vector
from topgap.law.probability import gap_top_k, top_k

__all__ = ["Bounds", "exp_minus", "gap_top_k", "laplace_top_k", "sparse_vector", "top_k"]
