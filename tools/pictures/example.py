"""A made-up example for drawings: five pages, their visitors, and noise that nobody drew."""

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from topgap import TopK


class Page(NamedTuple):
    """A page, how many people visited it, and noise in hundredths."""

    name: str
    people: int
    hundredths: int

    @property
    def noisy(self) -> Fraction:
        """People and noise together."""
        return self.people + Fraction(self.hundredths, 100)


PAGES = (
    Page("search", 63, 342),
    Page("news", 43, 187),
    Page("help", 41, 731),
    Page("shop", 24, 556),
    Page("legal", 9, 104),
)
THREE = TopK(k=3, epsilon=1, monotonic=True)  # noise of mean 3


def ranked() -> list[tuple[Page, Page, Fraction]]:
    """Each of the three named pages, the next, and the gap between them, as a release has it."""
    order = sorted(PAGES, key=lambda page: -page.noisy)
    step = THREE.resolution
    return [
        (page, after, (page.noisy - after.noisy) // step * step)
        for page, after in pairwise(order[: THREE.k + 1])
    ]
