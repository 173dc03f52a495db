"""The figures of the comparison of utility, as they are measured or simulated."""

from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, sqrt
from typing import NamedTuple

from topgap.auditing.probability import binomial

LEVEL = Fraction(95, 100)
MEASURED, SIMULATED = "measured", "simulated"


class Case(NamedTuple):
    """Which list is asked for.

    Attributes:
        data: The data set.
        k: How many are named.
        epsilon: What all of it costs, as it is written.
    """

    data: str
    k: int
    epsilon: str


class ListAccuracy(NamedTuple):
    """How often lists were right.

    Attributes:
        case: Which list was asked for.
        who: Who made them, or the way in which they are selected if they are simulated.
        kind: `MEASURED` or `SIMULATED`.
        runs: How many there were.
        right: The part of them that named the k largest, in any order.
        low: The lower end of its confidence interval.
        high: The upper end.
        overlap: How many of the k largest a list named, on average.
    """

    case: Case
    who: str
    kind: str
    runs: int
    right: float
    low: float
    high: float
    overlap: float


class CountError(NamedTuple):
    """How far off the winners' counts were: the root of the mean square, and its standard error."""

    case: Case
    who: str
    releases: int
    error: float
    standard_error: float


class FewItems(NamedTuple):
    """How often lists of a few items were right, beside the exact probability by their law."""

    who: str
    way: str
    exact: float
    runs: int
    right: float
    low: float
    high: float


@dataclass(frozen=True)
class Figures:
    """All figures, or those of a part."""

    lists: list[ListAccuracy] = field(default_factory=list)
    errors: list[CountError] = field(default_factory=list)
    small: list[FewItems] = field(default_factory=list)

    def add(self, more: "Figures") -> None:
        self.lists.extend(more.lists)
        self.errors.extend(more.errors)
        self.small.extend(more.small)

    def in_order(self) -> "Figures":
        """The same, whichever process was the first to have its part."""

        def place(each: ListAccuracy | CountError) -> tuple[object, ...]:
            return each.case.data, each.case.k, Fraction(each.case.epsilon), each.who

        return Figures(sorted(self.lists, key=place), sorted(self.errors, key=place), self.small)

    def data(self) -> list[str]:
        """The data sets, each once."""
        return sorted({each.case.data for each in self.lists})

    def ks(self) -> list[int]:
        """The values of k, each once."""
        return sorted({each.case.k for each in self.lists})

    def cases(self, k: int) -> list[Case]:
        """All cases with this k, by data set and ε."""
        found = {each.case for each in self.lists if each.case.k == k}
        return sorted(found, key=lambda case: (case.data, Fraction(case.epsilon)))

    def lists_of(self, case: Case) -> dict[str, ListAccuracy]:
        """By who made the lists, or in which way."""
        return {each.who: each for each in self.lists if each.case == case}

    def errors_of(self, case: Case) -> dict[str, CountError]:
        """By who told the counts."""
        return {each.who: each for each in self.errors if each.case == case}


def interval(runs: int, right: int, level: Fraction = LEVEL) -> tuple[float, float]:
    """The Clopper–Pearson interval of a probability, rather too wide than too narrow.

    >>> [round(end, 3) for end in interval(10, 10)]   # exactly, from 0.692
    [0.692, 1.0]
    """
    side = (1 - level) / 2
    low, high = binomial.lower_bound(runs, right, side), binomial.upper_bound(runs, right, side)
    return float(low), float(high)


def peer_error(case: Case) -> float:
    """How far off a peer's count is by its formula: Laplace noise on whole numbers.

    A k-th of half of ε is spent on each. The probability of noise x is proportional to q^|x|,
    q = e^−(ε/2k), and the variance is 2q/(1 − q)².

    >>> round(peer_error(Case("any", 1, "1")), 2)
    2.8
    """
    q = exp(-Fraction(case.epsilon) / (2 * case.k))
    return sqrt(2 * q) / (1 - q)
