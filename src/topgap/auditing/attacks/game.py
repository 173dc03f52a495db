"""An attack as a guessing game, and how well it guesses.

A fair coin picks one of two neighbouring data sets, and a mechanism makes one release from it. An
observer who knows both data sets sees the release and guesses which one it was, or passes. If ε
holds, a guess is right with probability at most e^ε/(1 + e^ε), whatever the rule: given that the
rule says D, the odds of D are P[says D | D]/P[says D | D′] ≤ e^ε.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from topgap.auditing.mechanisms.broken_mechanisms import floats, rounded_floats
from topgap.auditing.probability.binomial import exceeds, lower_bound, upper_bound
from topgap.auditing.probability.directed_rounding import round_down, round_up
from topgap.parameters import TopK
from topgap.selection.mechanism import select

Numbers = npt.NDArray[np.int64] | npt.NDArray[np.float64]
Released = list[tuple[int, Any]]
"""Pairs (index, gap), the gap a float or a Fraction."""
Player = Callable[[Any, TopK], Released]
Side = Literal[0, 1]
D: Side = 0
NEIGHBOUR: Side = 1
_AT_ONCE = 200


def release_with_topgap(answers: Numbers, parameters: TopK) -> Released:
    """Release with topgap, as users do."""
    release = select(parameters, answers)
    return list(zip(release.indices.tolist(), release.gaps or (), strict=True))


FLOATS, ROUNDED, TOPGAP = "floats", "floats, gaps rounded", "topgap"
TARGETS: dict[str, Player] = {FLOATS: floats, ROUNDED: rounded_floats, TOPGAP: release_with_topgap}
"""What is attacked; the first two are INSECURE."""


class Attack(NamedTuple):
    """Two neighbouring data sets, and a rule to guess which one a release was made from.

    Attributes:
        name: The name, in a few words.
        what: Why the attack works, in a sentence.
        looks_at: The gaps that the observer counts.
        answers: The data set D.
        neighbour: The data set D′.
        parameters: The parameters of the release.
        unit: The place value of the last bit that floats have here.
        count_gaps: Counts the gaps of a release that one of the data sets would not produce.
        guess: The data set that such a gap is evidence for.
        otherwise: The guess if there is none; None to pass.
        breaks: The `TARGETS` that it is expected to break.
    """

    name: str
    what: str
    looks_at: str
    answers: Numbers
    neighbour: Numbers
    parameters: TopK
    unit: Fraction
    count_gaps: Callable[["Attack", str, Released], int]
    guess: Side
    otherwise: Side | None
    breaks: tuple[str, ...]


@dataclass(frozen=True)
class AttackResult:
    """How well an attack guesses.

    Attributes:
        name: The attack.
        what: Why it works.
        looks_at: The gaps that the observer counts.
        target: What is attacked, one of `TARGETS`.
        epsilon: The promised ε.
        releases: The number of releases.
        guesses: The number of releases for which the observer did not pass.
        guesses_right: The number of right guesses.
        lower: A lower bound of the probability that a guess is right, rounded down.
        upper: An upper bound of it, rounded up.
        allowed: The probability that ε allows, e^ε/(1 + e^ε), rounded.
        exceeded: Whether the lower bound exceeds what ε allows, decided exactly.
        should_exceed: Whether the attack is expected to break this target.
        seen: For D and for D′, how many releases had 0, 1, 2, … of the gaps that are counted.
    """

    name: str
    what: str
    looks_at: str
    target: str
    epsilon: Fraction
    releases: int
    guesses: int
    guesses_right: int
    lower: float
    upper: float
    allowed: float
    exceeded: bool
    should_exceed: bool
    seen: tuple[tuple[int, ...], tuple[int, ...]]

    @property
    def share(self) -> float | None:
        """The share of the guesses that are right, or None if there are none."""
        return self.guesses_right / self.guesses if self.guesses else None

    @property
    def as_expected(self) -> bool:
        """Whether ε was exceeded if and only if that was expected."""
        return self.exceeded == self.should_exceed

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "attack": self.name,
            "what": self.what,
            "target": self.target,
            "epsilon": str(self.epsilon),
            "releases": self.releases,
            "guesses": self.guesses,
            "guesses_right": self.guesses_right,
            "right_at_least": self.lower,
            "right_at_most": self.upper,
            "allowed": self.allowed,
            "exceeded": self.exceeded,
            "should_exceed": self.should_exceed,
            "as_expected": self.as_expected,
            "looks_at": self.looks_at,
            "seen": {"D": list(self.seen[D]), "neighbour": list(self.seen[NEIGHBOUR])},
        }


def play(
    attack: Attack,
    target: str,
    releases: int,
    level: Fraction,
    *,
    player: Player | None = None,
    report: Callable[[float], None] | None = None,
) -> AttackResult:
    """Play one game.

    Args:
        attack: The data sets and the rule.
        target: What is attacked, by its name in `TARGETS`.
        releases: The number of releases.
        level: The largest probability that one of the two bounds is wrong.
        player: The mechanism. Default: that of the target.
        report: Called now and then with the share that is done.
    """
    release = player or TARGETS[target]
    sides = attack.answers, attack.neighbour
    seen = np.zeros((2, attack.parameters.k + 1), dtype=np.int64)
    for number in range(releases):
        if report is not None and number % _AT_ONCE == 0:
            report(number / releases)
        side = secrets.randbits(1)
        seen[side, attack.count_gaps(attack, target, release(sides[side], attack.parameters))] += 1
    guesses, right = _count_guesses(attack, seen)
    low, high = Fraction(0), Fraction(1)
    if guesses:
        low, high = lower_bound(guesses, right, level), upper_bound(guesses, right, level)
    epsilon = attack.parameters.epsilon
    return AttackResult(
        attack.name,
        attack.what,
        attack.looks_at,
        target,
        epsilon,
        releases,
        guesses,
        right,
        round_down(low),
        round_up(high),
        1 / (1 + exp(-float(epsilon))),
        exceeds(low, 1 - low, epsilon),
        target in attack.breaks,
        (tuple(seen[D].tolist()), tuple(seen[NEIGHBOUR].tolist())),
    )


def _count_guesses(attack: Attack, seen: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Count the guesses and the right guesses.

    Given their number, guesses are right independently with the same probability, so the binomial
    bounds hold.
    """
    guesses, right = int(seen[:, 1:].sum()), int(seen[attack.guess, 1:].sum())
    if attack.otherwise is not None:
        guesses += int(seen[:, 0].sum())
        right += int(seen[attack.otherwise, 0])
    return guesses, right
