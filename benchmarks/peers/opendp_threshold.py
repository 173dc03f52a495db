"""The δ of OpenDP's thresholds: what its privacy map reports, and how often a lone key is kept.

A key that one person alone has must not come out with a probability above δ, for without that
person it never does. Integer counts, and one key of count 1 for each of a million persons, so
that a call is a million releases of one key. The exact probability is that of discrete noise of
at least t − 1; `at most` is the exact tail: how likely so many or more are kept if the reported δ
were right. `--keys` sets how many keys there are.
"""

import argparse
from fractions import Fraction
from importlib.metadata import version
from math import exp

import opendp.prelude as dp

from topgap.auditing.probability.binomial import tail_bound
from topgap.law import exp_minus

CASES = (("laplace", 1.0, 5), ("laplace", 2.0, 12), ("gaussian", 1.0, 5))


def main(keys: int) -> None:
    dp.enable_features("contrib")
    print(f"OpenDP {version('opendp')}, {keys:,} keys of count 1")
    print("noise     scale  threshold   reported δ    exact δ       kept   at most")
    for noise, scale, threshold in CASES:
        measurement = threshold_of(noise, scale, threshold)
        _, reported = measurement.map((1, 1, 1))  # type: ignore[no-untyped-call]
        kept = len(measurement(dict.fromkeys(range(keys), 1)))
        print(
            f"{noise:8} {scale:6} {threshold:10} {reported:12.6f} "
            f"{exact(noise, scale, threshold):10.6f} {kept:10,} "
            f"{tail_bound(keys, kept, Fraction(reported)):9.2g}"
        )


def threshold_of(noise: str, scale: float, threshold: int) -> dp.Measurement:
    counts = dp.map_domain(dp.atom_domain(T=int), dp.atom_domain(T=int))
    absolute = dp.absolute_distance(T=int)
    if noise == "laplace":
        distance = dp.l01inf_distance(absolute)
        return dp.m.make_laplace_threshold(counts, distance, scale=scale, threshold=threshold)
    distance = dp.l02inf_distance(absolute)
    measure = "Approximate<ZeroConcentratedDivergence>"
    return dp.m.make_gaussian_threshold(
        counts, distance, scale=scale, threshold=threshold, MO=measure
    )


def exact(noise: str, scale: float, threshold: int) -> float:
    """The probability that a count of 1 with noise reaches the threshold."""
    if noise == "laplace":
        low, _ = exp_minus(1 / Fraction(scale), 64)
        return float(low ** (threshold - 1) / (1 + low))
    weights = {z: exp(-((z / scale) ** 2) / 2) for z in range(-1000, 1001)}
    return sum(weight for z, weight in weights.items() if z >= threshold - 1) / sum(
        weights.values()
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=1_000_000)
    main(parser.parse_args().keys)
