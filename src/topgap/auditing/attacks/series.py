"""The series of all attacks on all targets: `attack`."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, exp, expm1, log, log1p

from topgap.auditing.attacks.game import TARGETS, AttackResult, play
from topgap.auditing.attacks.last_bits import ATTACKS, PASSING
from topgap.numbers.parse import Number, read_parameter, read_whole

Progress = Callable[[str, float | None], None]


def least_releases(failure: Fraction) -> int:
    """The number of releases that is enough for each attack to show what it is expected to show.

    The attack that passes most often needs most: "counts around 1,024" guesses with probability
    (1 − e^(−ε/3))/4, and g guesses, all of them right, show that e^ε is exceeded if e^ε/(1 + e^ε)
    to the power g is below the level. The mean number of guesses is 2g; fewer than g come with
    probability at most e^(−2g/8), by Chernoff, which is below 1e-8 for a failure of 1e-9 and less
    for a smaller one.

    >>> least_releases(Fraction(1, 10**9))
    2200
    """
    epsilon = float(PASSING.parameters.epsilon)
    guessed = -expm1(-epsilon / PASSING.parameters.k) / 4
    level = min(failure, Fraction(1, 10**9)) / (2 * len(ATTACKS) * len(TARGETS))
    guesses = (log(level.denominator) - log(level.numerator)) / log1p(exp(-epsilon))
    return ceil(2 * guesses / guessed / 100) * 100


def attack(
    releases: int, failure: "Number", progress: Progress | None = None
) -> tuple[AttackResult, ...]:
    """Play every attack on floats, on floats with rounded gaps, and on topgap.

    Args:
        releases: The number of releases in each game.
        failure: The largest probability that any of the bounds is wrong.
        progress: Called now and then with what is being done and the share of it that is done.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used; the sentence says why.

    >>> [(each.target, each.guesses) for each in attack(10, "1e-9")[:3]]
    [('floats', 10), ('floats, gaps rounded', 10), ('topgap', 10)]
    """
    releases = read_whole(releases, "releases", least=1)
    games = [(each, target) for each in ATTACKS for target in TARGETS]
    level = Fraction(read_parameter(failure, "failure")) / (2 * len(games))
    results = []
    for number, (each, target) in enumerate(games):

        def report(share: float, before: int = number) -> None:
            if progress is not None:
                progress("attacking", (before + share) / len(games))

        results.append(play(each, target, releases, level, report=report))
    return tuple(results)
