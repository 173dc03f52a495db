"""Compare observed frequencies with a law, by exact binomial tails."""

from collections import Counter
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import TypeVar

from scipy.stats import binom

from topgap.law import Bounds

Outcome = TypeVar("Outcome", bound=Hashable)


MOST_CELLS = 40


def misfits_of(
    run: Callable[[], Outcome],
    runs: int,
    law: Callable[[Outcome], Bounds],
    false_alarm: float,
) -> list[str]:
    """Run it so often and say which of its commonest outcomes occur too rarely or too often.

    Which are the commonest is seen in other runs, a tenth as many: cells that were chosen by the
    counts to be judged would fail more often than the tails say.
    """
    first = Counter(run() for _ in range(runs // 10))
    cells = [outcome for outcome, _ in first.most_common(MOST_CELLS)]
    return misfits(Counter(run() for _ in range(runs)), cells, law, false_alarm)


def misfits(
    counts: Counter[Outcome],
    outcomes: list[Outcome],
    law: Callable[[Outcome], Bounds],
    false_alarm: float,
) -> list[str]:
    """Say which outcomes occur too rarely or too often; with the right law, seldom any.

    The count of one outcome among n independent runs is Binomial(n, p). Each of its two tails is
    cut where it has mass at most `false_alarm` / (2·cells), so that by the union bound a sample
    from the law is found unfit with probability at most `false_alarm`. All that is not in
    `outcomes` forms one more cell. The tails come from SciPy with a relative error below 1e-10,
    for which the level is taken smaller by a thousandth.
    """
    runs = counts.total()
    bounds = {outcome: law(outcome) for outcome in outcomes}
    others = Bounds(
        1 - sum((each.high for each in bounds.values()), Fraction(0)),
        1 - sum((each.low for each in bounds.values()), Fraction(0)),
    )
    cells = [(str(outcome), counts[outcome], bounds[outcome]) for outcome in outcomes]
    cells.append(("any other outcome", runs - sum(counts[o] for o in outcomes), others))
    level = 0.999 * false_alarm / (2 * len(cells))
    found = []
    for name, count, (low, high) in cells:
        if binom.cdf(count, runs, float(low)) < level:
            found.append(f"{name}: {count} of {runs} is too rare for probability {float(low)}")
        if binom.sf(count - 1, runs, float(high)) < level:
            found.append(f"{name}: {count} of {runs} is too often for probability {float(high)}")
    return found
