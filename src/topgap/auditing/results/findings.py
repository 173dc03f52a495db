"""Findings: of one test of the law, of one lower bound of ε, and of one mechanism."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, Literal

from topgap.auditing.cases.neighbours import Neighbours
from topgap.auditing.probability.directed_rounding import format_lower_bound, format_upper_bound
from topgap.numbers.format import format_short

ShouldBe = Literal["private", "not private", "of another law"]
"""The expected result of a mechanism; all but private ones are broken on purpose."""


@dataclass(frozen=True)
class Misfit:
    """An outcome whose frequency contradicts the law.

    Attributes:
        outcome: The outcome, in words.
        count: The number of times it came.
        low: A lower bound of its probability, rounded down.
        high: An upper bound of it, rounded up.
    """

    outcome: str
    count: int
    low: float
    high: float


@dataclass(frozen=True)
class LawCheck:
    """A test of the exact law on one data set.

    Attributes:
        answers: The data set.
        case: The case that it is a side of.
        releases: The number of outcomes.
        cells: The number of probabilities that were compared; 0 where the law takes too long to
            compute, and only impossible outcomes were looked for.
        misfits: The outcomes whose frequency contradicts the law.
    """

    answers: tuple[int, ...]
    case: Neighbours
    releases: int
    cells: int
    misfits: tuple[Misfit, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "answers": list(self.answers),
            "parameters": self.case.parameters.to_dict(),
            "releases": self.releases,
            "cells": self.cells,
            "misfits": [vars(each) for each in self.misfits],
        }


@dataclass(frozen=True)
class Bound:
    """A lower bound of ε, from the frequencies of one event on two neighbouring data sets.

    Attributes:
        case: The neighbours and the parameters.
        likelier_on: The side on which the event was expected more often, 0 or 1.
        winners: The number of winners of the outputs that the event is about; None for any.
        feature: The observable that the event is about.
        event: The event, in words.
        count: The number of times it came on that side.
        releases: The number of releases on that side.
        other_count: The number of times it came on the other side.
        other_releases: The number of releases on the other side.
        probability_at_least: A lower bound of its probability on that side, rounded down.
        other_at_most: An upper bound of its probability on the other side, rounded up.
        epsilon: The lower bound of ε, rounded down; 0 if nothing is shown.
        promised: The promised ε; with a threshold, what outputs with so many winners are said to
            cost.
        violated: Whether it exceeds what was promised, decided exactly.
    """

    case: Neighbours
    likelier_on: int
    winners: int | None
    feature: str
    event: str
    count: int
    releases: int
    other_count: int
    other_releases: int
    probability_at_least: float
    other_at_most: float
    epsilon: float
    promised: Fraction
    violated: bool

    @property
    def share(self) -> float:
        """The bound as a multiple of what was promised."""
        if self.epsilon == 0:
            return 0.0
        if self.promised == 0:
            return inf
        try:
            return float(Fraction(self.epsilon) / self.promised)
        except OverflowError:
            return inf

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        here, there = self.case.sides[:: -1 if self.likelier_on else 1]
        return {
            "answers": list(here),
            "neighbour": list(there),
            "parameters": self.case.parameters.to_dict(),
            "winners": self.winners,
            "feature": self.feature,
            "event": self.event,
            "count": self.count,
            "releases": self.releases,
            "neighbour_count": self.other_count,
            "neighbour_releases": self.other_releases,
            "probability_at_least": self.probability_at_least,
            "neighbour_probability_at_most": self.other_at_most,
            "epsilon_at_least": self.epsilon,
            "promised": str(self.promised),
            "violated": self.violated,
        }


@dataclass(frozen=True, repr=False)
class MechanismAudit:
    """What was found of one mechanism.

    Attributes:
        name: Its name.
        what: A description in a sentence.
        should_be: The expected result.
        releases: The number of releases.
        laws: The test of the law on each data set; empty if only privacy was checked.
        bounds: The lower bounds of ε, for each case, observable and direction.
        gaps: Whether it releases gaps.
        yours: Whether it is a function of the user, of which nothing is known.
    """

    name: str
    what: str
    should_be: ShouldBe
    releases: int
    laws: tuple[LawCheck, ...]
    bounds: tuple[Bound, ...]
    gaps: bool = True
    yours: bool = False

    @property
    def law_violated(self) -> bool:
        """Whether the frequency of some outcome contradicts the law."""
        return any(each.misfits for each in self.laws)

    @property
    def values(self) -> bool:
        """Whether it releases noisy values on any data set."""
        return self.gaps and any(each.case.parameters.noise == "laplace" for each in self.bounds)

    @property
    def threshold(self) -> bool:
        """Whether it has a threshold on any data set."""
        return any(each.case.parameters.has_sentinel for each in self.bounds)

    @property
    def law_compared(self) -> tuple[int, int]:
        """The number of data sets that were compared with the law, and of those that were not."""
        compared = sum(each.cells > 0 for each in self.laws)
        return compared, len(self.laws) - compared

    @property
    def law_status(self) -> str:
        """The result of the tests of the law, in a few words."""
        compared, not_compared = self.law_compared
        if self.law_violated:
            return "violated"
        if not compared:
            return "not looked at"
        return f"kept in {compared} of {compared + not_compared}" if not_compared else "kept"

    @property
    def privacy_violated(self) -> bool:
        """Whether some lower bound exceeds the promised ε."""
        return any(each.violated for each in self.bounds)

    @property
    def is_clean(self) -> bool:
        """Whether no violation was found."""
        return not (self.law_violated or self.privacy_violated)

    @property
    def shows_anything(self) -> bool:
        """Whether anything was compared with the law, or some lower bound of ε is above 0."""
        return self.law_compared[0] > 0 or self.strongest_bound.epsilon > 0

    @property
    def as_expected(self) -> bool:
        """Whether a private mechanism has no violation, or a broken one has the expected one."""
        match self.should_be:
            case "private":
                return self.is_clean
            case "not private":
                return self.privacy_violated
            case "of another law":
                return self.law_violated

    @property
    def strongest_bound(self) -> Bound:
        """The bound that is the largest multiple of what was promised."""
        return max(self.bounds, key=lambda each: (each.share, each.epsilon))

    @property
    def promised(self) -> tuple[Fraction, Fraction]:
        """The smallest and the largest promised ε."""
        all_promised = [each.promised for each in self.bounds]
        return min(all_promised), max(all_promised)

    def __repr__(self) -> str:
        best = self.strongest_bound
        return (
            f"<MechanismAudit {self.name}: {self.releases:,} releases, law {self.law_status}, "
            f"ε at least {format_lower_bound(best.epsilon)} of {format_short(best.promised)}>"
        )

    def evidence(self) -> Sequence[str]:
        """The evidence of violations, in sentences: the worst of the law and of privacy."""
        said = []
        misfits = [(law, misfit) for law in self.laws for misfit in law.misfits]
        if misfits:
            said.append(_describe_misfit(*misfits[0]))
        if self.privacy_violated:
            said.append(_describe_bound(self.strongest_bound))
        return said

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "name": self.name,
            "what": self.what,
            "should_be": self.should_be,
            "releases": self.releases,
            "law": self.law_status,
            "data_sets_compared_with_the_law": self.law_compared[0],
            "privacy": "violated" if self.privacy_violated else "no violation shown",
            "as_expected": self.as_expected,
            "evidence": list(self.evidence()),
            "laws": [each.to_dict() for each in self.laws],
            "bounds": [each.to_dict() for each in self.bounds],
        }


def _describe_misfit(law: LawCheck, misfit: Misfit) -> str:
    return (
        f"Law: on {_describe_answers(law.answers)} with {_describe_parameters(law.case)}, "
        f"{misfit.outcome} came {misfit.count:,} times in {law.releases:,}; "
        f"its probability is {_describe_probability(misfit, law.releases)}."
    )


def _describe_probability(misfit: Misfit, releases: int) -> str:
    if misfit.high == 0:
        return "0"
    if misfit.count > misfit.high * releases:
        return f"at most {format_upper_bound(misfit.high, 4)}"
    return f"at least {format_lower_bound(misfit.low, 4)}"


def _describe_bound(bound: Bound) -> str:
    here, there = bound.case.sides[:: -1 if bound.likelier_on else 1]
    return (
        f"Privacy: with {_describe_parameters(bound.case)}, {bound.event} came "
        f"{bound.count:,} times in {bound.releases:,} on {_describe_answers(here)} and "
        f"{bound.other_count:,} times in {bound.other_releases:,} on its neighbour "
        f"{_describe_answers(there)}: ε is at least {format_lower_bound(bound.epsilon, 4)}"
        f"{_describe_cost(bound)}."
    )


def _describe_cost(bound: Bound) -> str:
    """What was promised, where it depends on the number of winners."""
    if bound.winners is None or bound.case.parameters.threshold is None:
        return ""
    winners = f"{bound.winners} winner{'s' * (bound.winners != 1)}"
    return f", and an output with {winners} is said to cost {format_short(bound.promised)}"


def _describe_parameters(case: Neighbours) -> str:
    p = case.parameters
    monotonic = ", monotonic" * p.monotonic
    threshold = "" if p.threshold is None else f", threshold {p.threshold}"
    return (
        f"k = {p.k}, ε = {format_short(p.epsilon)}, resolution {format_short(p.resolution)}, "
        f"sensitivity {format_short(p.sensitivity)}{monotonic}{threshold}"
    )


def _describe_answers(answers: Sequence[int]) -> str:
    said = ", ".join(map(str, answers[:8]))
    return f"({said}{', …' * (len(answers) > 8)})"
