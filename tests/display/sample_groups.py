"""Lists of many groups to show: everyday ones, and those that are hardest to show."""

from fractions import Fraction

from tests.display.sample_releases import ATTACK, HOSTILE
from topgap import Estimates, GroupedEstimates, GroupedRelease, Release, TopKByGroup
from topgap.domains import DomainDescription
from topgap.estimates.noise import Noise

DISEASES = DomainDescription("a list", 50)
_TWO = TopKByGroup(2, 1, groups_per_person=2, monotonic=True)  # noise of mean 4 in each

REGIONS = GroupedRelease(
    _TWO,
    {
        "North": Release(_TWO.each, None, [412, 360], ["flu", "cold"], domain=DISEASES),
        "Œst": Release(_TWO.each, None, [15, 900], ["cold", "gout"], domain=DISEASES),
        "West": Release(_TWO.each, None, [700, 3], ["flu", "rash"], domain=DISEASES),
    },
)
"""Gaps below 12 are uncertain: the first of Œst, and the last of West."""

_CUT = TopKByGroup(3, 1, monotonic=True, threshold=500)
CUT = GroupedRelease(
    _CUT,
    {
        "North": Release(_CUT.each, None, [812], ["flu"]),
        "East": Release(_CUT.each, None, [], []),
        "South": Release(_CUT.each, None, [900, 2, 700], ["flu", "cold", "gout"]),
        "West": Release(_CUT.each, None, [90, 400], ["cold", "flu"]),
    },
)
"""Cut by a threshold: one as it should be, an empty one, a full one and one with a place left."""

_FEW = TopKByGroup(3, 1, monotonic=True, threshold=50, items_per_person=1)
VALUES = GroupedRelease(
    _FEW,
    {
        "North": Release(_FEW.each, None, [30, 20], ["flu", "cold"], value_units=[100, 70]),
        "East": Release(_FEW.each, None, [], [], value_units=[]),
        "South": Release(_FEW.each, None, [1, 30, 1], ["a", "b", "c"], value_units=[82, 81, 51]),
    },
)
"""With Laplace noise: gaps below about 5 are uncertain."""

_HOSTILE = TopKByGroup(8, 1)
ATTACKS = [ATTACK, "x" * 300, "שלום עולם", "two\nlines 🦠", "${rows} $title $index", "<!--<script>",
           "&lt;b&gt;\u2028\u202e\ud800\x00", "", "\u0130stanbul"]  # fmt: skip
HOSTILE_GROUPS = GroupedRelease(
    _HOSTILE,
    {
        group: Release(_HOSTILE.each, None, [500, 3, 0, 400, 70, 2, 600, 40], HOSTILE.items)
        for group in ATTACKS
    },
)

_PARTS = TopKByGroup(2, "1/2", monotonic=True)
_NOISE = Noise.discrete_laplace(_PARTS.each, Fraction(1, 4))


def _estimate(gaps: list[int], measured: list[int]) -> Estimates:
    release = Release(_PARTS.each, None, gaps, ["flu", "cold"])
    return Estimates(release, tuple(map(Fraction, measured)), _NOISE)


ESTIMATES = GroupedEstimates(
    _PARTS,
    {
        ("North", 2024): _estimate([4000, 5000], [905, 510]),
        ("South", 2024): _estimate([20, 5000], [604, 590]),
    },
)
"""Gaps below 12 are uncertain: the first of South."""

_ONE = TopKByGroup(1, 1)
MANY = GroupedRelease(
    _ONE,
    {f"group {n:03d}": Release(_ONE.each, [n % 7], [n * 5], domain_from_data=True)
     for n in range(150)},
)  # fmt: skip

GROUPED: dict[str, GroupedRelease | GroupedEstimates] = {
    "regions": REGIONS,
    "cut": CUT,
    "values": VALUES,
    "hostile": HOSTILE_GROUPS,
    "estimates": ESTIMATES,
    "many": MANY,
    "without gaps": GroupedRelease(_ONE, {7: Release(_ONE.each, None, None, ["flu"])}),
    "all empty": GroupedRelease(_CUT, {None: Release(_CUT.each, None, [], [])}),
}
