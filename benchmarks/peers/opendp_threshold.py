"""The δ of OpenDP's thresholds: what its privacy map reports, and how often a lone key is kept.

    python -m benchmarks.peers.opendp_threshold           fills a place of docs/peers.md
    python -m benchmarks.peers.opendp_threshold --quick   a tenth of the persons, printed only

A person who alone has keys must not be seen with a probability above δ: without that person none of
the keys ever comes out, whatever ε is. Here every person has keys of their own with the count 1, so
that one call is a release for each of a million persons.

Noise comes in steps: 1 for integers, 2^k for floats, 2^−1074 unless k is set. A key is kept if its
count with noise is at the threshold t or above. With Laplace noise of scale s, r = e^(−step/s) and
d = (t − 1)/step steps up to the threshold, that has the probability

    P[X ≥ d] = r^d/(1 + r),   and P[X > d] = r^(d + 1)/(1 + r) is what is reported.

`at most` bounds how likely so many or more persons are seen if the reported δ were right.
"""

import argparse
import sys
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from math import exp
from typing import Any

import opendp.prelude as dp

from benchmarks.pages import DOCS, fill_places, format_table
from topgap.auditing.probability.binomial import tail_bound
from topgap.law import exp_minus

dp.enable_features("contrib")

PLACE = "thresholds of OpenDP"
FINEST = -1074


@dataclass(frozen=True)
class Case:
    """A mechanism, and how many keys a person has.

    Attributes:
        noise: "laplace" or "gaussian".
        scale: Its scale.
        threshold: The count at which a key is kept.
        granularity: None for integer counts; k for floats in steps of 2^k.
        keys: How many keys a person has.
    """

    noise: str
    scale: float
    threshold: int
    granularity: int | None = None
    keys: int = 1

    @property
    def step(self) -> Fraction:
        return Fraction(2) ** (self.granularity or 0)

    @property
    def kind(self) -> type[int] | type[float]:
        return int if self.granularity is None else float

    def measurement(self, threshold: Fraction, scale: float | None = None) -> Any:
        """Make it with this threshold, and with another scale than its own if there is one."""
        values = dp.atom_domain(T=int) if self.kind is int else dp.atom_domain(T=float, nan=False)
        counts = dp.map_domain(dp.atom_domain(T=int), values)
        absolute = dp.absolute_distance(T=self.kind)
        settings: dict[str, Any] = {
            "scale": self.scale if scale is None else scale,
            "threshold": self.kind(threshold),
            "k": None if self.granularity == FINEST else self.granularity,
        }
        if self.noise == "laplace":
            return dp.m.make_laplace_threshold(counts, dp.l01inf_distance(absolute), **settings)
        measure = "Approximate<ZeroConcentratedDivergence>"
        return dp.m.make_gaussian_threshold(
            counts, dp.l02inf_distance(absolute), MO=measure, **settings
        )

    def reported(self, threshold: Fraction) -> float:
        """The δ by OpenDP's privacy map for a person with so many keys of count 1."""
        norm = self.keys if self.noise == "laplace" else self.keys**0.5
        total = self.kind(norm) if norm == int(norm) else norm
        _, delta = self.measurement(threshold).map((self.keys, total, self.kind(1)))
        return float(delta)

    def exact(self) -> Fraction:
        """A lower bound of the probability that one of a person's keys is kept, all but exact."""
        return 1 - (1 - self.exact_of_one()) ** self.keys

    def exact_of_one(self) -> Fraction:
        steps = (self.threshold - 1) / self.step
        if self.noise == "laplace":
            far = exp_minus((self.threshold - 1) / Fraction(self.scale), 128).low
            return far / (1 + exp_minus(self.step / Fraction(self.scale), 1200).high)
        weights = {z: exp(-((z / self.scale) ** 2) / 2) for z in range(-1000, 1001)}
        kept = sum(weight for z, weight in weights.items() if z >= steps)
        return Fraction(kept / sum(weights.values()))

    def seen(self, persons: int) -> int:
        """Release once; of how many persons a key was kept."""
        counts = dict.fromkeys(range(persons * self.keys), self.kind(1))
        kept = self.measurement(Fraction(self.threshold))(counts)
        return len({key // self.keys for key in kept})

    def keeps_at_threshold(self) -> bool:
        """Whether a count at the threshold is kept, and one a step lower is not, without noise."""
        lowered = self.threshold - max(self.step, Fraction(2) ** -40)  # as near as a float can be
        counts = {0: self.kind(self.threshold), 1: self.kind(lowered)}
        return set(self.measurement(Fraction(self.threshold), scale=0.0)(counts)) == {0}

    def words(self) -> list[object]:
        if self.granularity is None:
            values = "integers"
        elif self.granularity == FINEST:
            values = "floats, finest steps"
        else:
            values = f"floats, steps of {self.step}"
        return [values, self.noise.capitalize(), f"{self.scale:g}", self.threshold, self.keys]


CASES = (
    Case("laplace", 1.0, 5),
    Case("laplace", 2.0, 12),
    Case("laplace", 10.0, 50),
    Case("laplace", 1.0, 5, keys=3),
    Case("gaussian", 1.0, 5),
    Case("laplace", 1.0, 5, granularity=0),
    Case("laplace", 1.0, 5, granularity=-1),
    Case("laplace", 1.0, 5, granularity=FINEST),
)


def table(persons: int) -> str:
    """A row for each case."""
    header = ["counts", "noise", "scale", "threshold", "keys a person", "kept at the threshold"]
    header += [f"δ reported by {version('opendp')}", "exact δ", "measured", "persons", "at most"]
    header += ["δ reported one step lower"]
    return format_table(header, [row(case, persons) for case in CASES], text_columns=2)


def row(case: Case, persons: int) -> list[object]:
    seen = case.seen(persons)
    reported = case.reported(Fraction(case.threshold))
    lower = case.reported(Fraction(case.threshold) - case.step) if case.step > 2**-40 else reported
    return [
        *case.words(),
        "yes" if case.keeps_at_threshold() else "no",
        f"{reported:.6f}",
        f"{float(case.exact()):.6f}",
        f"{seen / persons:.6f}",
        f"{persons:,}",
        f"{tail_bound(persons, seen, Fraction(reported)):.2g}",
        f"{lower:.6f}",
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the δ of OpenDP's thresholds.")
    parser.add_argument("--quick", action="store_true", help="fewer persons, printed only")
    quick = parser.parse_args().quick
    if quick:
        print(table(100_000))
    else:
        fill_places(DOCS / "peers.md", {PLACE: table(1_000_000)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
