"""Noisy Top-k with Gap as an OpenDP Measurement, to be chained and composed there.

    make_top_k(input_domain, input_metric, output_measure, k, scale, …)  a Measurement
    then_top_k(output_measure, k, scale, …)                              the same after `>>`

Answers come as a vector, or as a map that holds what occurs of a public domain. The output is a
`Release`, and the privacy map is right for every distance; docs/opendp.md has examples.
"""

from importlib.metadata import version
from importlib.util import find_spec

from topgap.errors import MissingExtraError

if not find_spec("opendp"):
    raise MissingExtraError("topgap.opendp needs OpenDP: pip install 'topgap[opendp]'.")

if tuple(map(int, version("opendp").split(".")[:2])) < (0, 14):
    raise MissingExtraError(
        f"topgap.opendp needs OpenDP 0.14, and {version('opendp')} is installed: "
        f"pip install 'topgap[opendp]'."
    )

from topgap.opendp.constructors import make_top_k, then_top_k

__all__ = ["make_top_k", "then_top_k"]
