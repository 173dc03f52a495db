"""Three attacks on the last bits of a gap; docs/floats.md explains them."""

from fractions import Fraction

import numpy as np

from topgap.auditing.attacks.game import (
    FLOATS,
    NEIGHBOUR,
    ROUNDED,
    Attack,
    D,
    Numbers,
    Released,
)
from topgap.parameters import TopK


def count_gaps_not_of_d(attack: Attack, target: str, released: Released) -> int:
    """Count the gaps between winners whose parity differs from that of D's answers.

    The parity is that of the last place. The runner-up is not released, so the last gap does not
    count.
    """
    units = _units(attack, target)
    winners = [int(attack.answers[index] * units) for index, _ in released]
    return sum(
        (int(gap * units) - (winners[i] - winners[i + 1])) % 2
        for i, (_, gap) in enumerate(released[:-1])
    )


def count_odd_gaps(attack: Attack, target: str, released: Released) -> int:
    """Count the gaps that are odd in the last place that the target writes."""
    units = _units(attack, target)
    return sum(int(gap * units) % 2 for _, gap in released)


def _units(attack: Attack, target: str) -> int:
    """How many units of the last place make 1; rounded gaps have no bits below the resolution."""
    return (attack.unit if target == FLOATS else attack.parameters.resolution).denominator


def _make_even_numbers() -> Attack:
    """The mean of the noise is 2^53/3.

    Of 1,000 noises about 50 reach 2^53; the attack is wrong only if fewer than 20 do, or if all
    winners below 2^54 are of one kind.
    """
    answers = np.full(1_000, 2 - 2**53, dtype=np.int64)
    neighbour = answers.copy()
    neighbour[::2] -= 1
    return Attack(
        "even numbers",
        "Noise of 2^53 and more is an even number, so an odd gap comes from the answers.",
        "odd gaps, of 19",
        answers,
        neighbour,
        TopK(20, Fraction(60, 2**53), resolution=1, monotonic=True),
        Fraction(1),
        count_gaps_not_of_d,
        NEIGHBOUR,
        D,
        (FLOATS, ROUNDED),
    )


def _make_balances() -> Attack:
    """The mean of the noise is 20,000: of 1,200 noises about 45 reach 2^16."""
    answers: Numbers = np.array([-64_000.0 - number % 100 for number in range(1_200)])
    golden = 0.6180339887498949  # whose multiples make fractions of all sizes
    return Attack(
        "balances",
        "Noise of 2^16 and more is a multiple of 2^-36, so a bit of 2^-37 comes from the answers.",
        "gaps with a last bit of 1, of 19",
        answers,
        answers - np.arange(1_200) * golden % 1,
        TopK(20, "1/1000", resolution="1/1024", monotonic=True),
        Fraction(1, 2**37),
        count_gaps_not_of_d,
        NEIGHBOUR,
        D,
        (FLOATS,),
    )


def _make_counts() -> Attack:
    """The fourth count is 1,024 or one less; if its noise is below 1, it stays the fourth."""
    answers: Numbers = np.array([1090, 1062, 1031, 1023, 640, 512, 377, 64], dtype=np.int64)
    neighbour = answers.copy()
    neighbour[3] = 1024
    return Attack(
        "counts around 1,024",
        "A float below 1,024 has one more place after the binary point than one above it.",
        "gaps with a last bit of 1, of 3",
        answers,
        neighbour,
        TopK(3, 1, monotonic=True),
        Fraction(1, 2**43),
        count_odd_gaps,
        D,
        None,
        (FLOATS,),
    )


PASSING = _make_counts()
"""The one whose observer passes most often."""
ATTACKS: tuple[Attack, ...] = (_make_even_numbers(), _make_balances(), PASSING)
"""All of them."""
