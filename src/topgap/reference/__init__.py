"""The paper's algorithms in plain Python, to be read beside it and to check all else against.

`gap_top_k` is Algorithm 4, `gap_top_k_pruned` the same with early query pruning, `top_k` and
`noisy_max` name winners without gaps. They are exact and slow. `insecure_floats` holds Algorithms
1 to 3 in floating point and `insecure_tape` a source of known bits; neither is for a release.
"""

from topgap.reference.secure import gap_top_k, gap_top_k_pruned
from topgap.reference.without_gap import noisy_max, top_k
from topgap.sampling.bit_source import BitSource, SystemBits
from topgap.sampling.sampler import Sampler

__all__ = [
    "BitSource",
    "Sampler",
    "SystemBits",
    "gap_top_k",
    "gap_top_k_pruned",
    "noisy_max",
    "top_k",
]
