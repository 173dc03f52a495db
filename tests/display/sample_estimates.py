"""Estimates to show: everyday ones, and those that are hardest to show."""

from fractions import Fraction

from tests.display.sample_releases import EVERYDAY, HOSTILE
from topgap import Estimates, Release, TopK, estimate
from topgap.estimates.noise import Noise


def measured(release: Release, epsilon: str, measurements: list[object]) -> Estimates:
    """Estimates from measurements as topgap makes them."""
    noise = Noise.discrete_laplace(release.parameters, Fraction(epsilon))
    return Estimates(release, tuple(Fraction(str(each)) for each in measurements), noise)


COUNTS: list[object] = [1220, 1040, 905, 860, 812, 690, 600, 601, 525, 413.5]
LEANING = measured(EVERYDAY, "1/20", COUNTS)
"""The whole at ε = 1; the last place is uncertain, and so all estimates may lean."""

CERTAIN = measured(
    Release(
        TopK(4, "1/2", monotonic=True), None, [1658, 12, 759, 900], ["flu", "cold", "gout", "mumps"]
    ),
    "1/8",
    [610, 450, "449.5", "371.2"],
)
"""The whole at ε = 1; noise of mean 8 and of scale 8. Of the gaps only the second is uncertain."""
NEAR_TIES = [1, 2]

_FAR = Release(TopK(3, 1), [3, 9, 1], [9 * 10**400, 10**400 - 30, 999])
_WIDE = Release(TopK(2, 1, sensitivity=10**400), None, [10**405, 10**402], ["a", "b"])

ESTIMATED = {
    "everyday": LEANING,
    "one tie": CERTAIN,
    "hostile": measured(HOSTILE, "1/9", [90, 40, "39.9", 33, -7, -8, 20, 0]),
    "a single one": measured(Release(TopK(1, "1/3"), None, [3000], ["flu"]), "2/3", [512]),
    "positions": measured(Release(TopK(2, 1, resolution="1/3"), [4, 0], [37, 100]), "1", [50, 35]),
    "all below 0": measured(Release(TopK(2, 1), [4, 0], [999, 999]), "1", [-100, -200]),
    "gigantic": measured(_FAR, "1/3", [10**400, 10**399, 3]),
    "gigantic noise": measured(_WIDE, "1/2", [5 * 10**401, -(10**400)]),
    "exact": measured(Release(TopK(1, 10**500, resolution=f"1/{10**400}"), [0], [0]), "1e500", [0]),
    "normal, elsewhere": estimate(EVERYDAY, COUNTS, variance=[*range(90, 190, 10)], noise="normal"),
    "unknown, elsewhere": estimate(CERTAIN.release, [610, 450, 449, 371], variance=100),
    "a thousand": measured(
        Release(TopK(1000, 1, monotonic=True), range(1000), [*range(0, 70_000, 70)]),
        "1/1000",
        [*range(5_000_000, 0, -5_000)],
    ),
}
