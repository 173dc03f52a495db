"""Every attack on everything: `attack`."""

from collections.abc import Callable
from fractions import Fraction

from topgap.auditing.attacks.game import TARGETS, AttackResult, play
from topgap.auditing.attacks.last_bits import ATTACKS
from topgap.exact import Number, read_parameter, read_whole

Progress = Callable[[str, float | None], None]


def attack(
    releases: int, failure: Number, progress: Progress | None = None
) -> tuple[AttackResult, ...]:
    """Play every attack on floats, on floats with rounded gaps, and on topgap.

    Args:
        releases: How many releases there are in each game.
        failure: All bounds hold at once but for this probability.
        progress: Is told from time to time what is being done, and which share of it is done.

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

        def tell(share: float, before: int = number) -> None:
            if progress is not None:
                progress("attacking", (before + share) / len(games))

        results.append(play(each, target, releases, level, tell=tell))
    return tuple(results)
