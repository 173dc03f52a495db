"""How each broken mechanism fails, exactly; and that it fails in this way and no other."""

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import exp
from typing import Any

import pytest

from tests.auditing.broken_law import Answers, Outcome, Wrong, names, outcomes
from tests.checking.frequencies import misfits
from topgap import TopK, law
from topgap.auditing.mechanisms import broken_mechanisms
from topgap.auditing.mechanisms.broken_mechanisms import BROKEN_MECHANISMS
from topgap.auditing.probability.binomial import exceeds, lower_bound, upper_bound
from topgap.law import Bounds, exp_minus

OPTION_1 = Wrong("uniform")
TWO_ORDERS = Wrong("uniform", corrected=True)
BY_INDEX = Wrong("index")
HALF = Fraction(1, 2)
ONE = TopK(1, 1, resolution=1, monotonic=True)
TWO = TopK(2, 1, resolution=1, monotonic=True)


def near(x: float) -> Fraction:
    return Fraction(exp(-x))


def within(probability: Fraction) -> Bounds:
    """The exact law takes e^−ρ as a float; probabilities of a few items are off by far less."""
    return Bounds(probability - Fraction(1, 10**12), probability + Fraction(1, 10**12))


def true_law(answers: Answers, parameters: TopK, outcome: Outcome) -> Bounds:
    return law.gap_top_k(answers, parameters, [(i, Fraction(gap)) for i, gap in outcome])


# The exact law of the wrong fixes.


@pytest.mark.parametrize("ties", ["uniform", "index"])
@pytest.mark.parametrize(("answers", "k"), [((0, 0, 0), 1), ((0, 1, 3), 2), ((2, 0, 1, 1), 2)])
def test_all_winners_together_are_certain(answers: Answers, k: int, ties: Any) -> None:
    orders = permutations(range(len(answers)), k)
    assert sum(names(answers, order, HALF, ties) for order in orders) == 1


@pytest.mark.parametrize("answers", [(0, 0), (0, 1, 1), (0, 0, 0)])
def test_uniform_ties_name_winners_with_the_right_law(answers: Answers) -> None:
    """What Option 1 does wrong is the gaps: without them it is the paper's Noisy Max."""
    for winner in range(len(answers)):
        low, high = law.top_k(answers, ONE, [winner])
        probability = within(names(answers, (winner,), near(1), "uniform"))
        assert probability.low < high
        assert low < probability.high


def test_an_order_of_all_that_breaks_the_ties_too_would_be_right() -> None:
    """Two items have one order: there the correction with another order does no harm."""
    for gap in range(4):
        low, high = true_law((0, 0), ONE, ((0, gap),))
        probability = within(TWO_ORDERS.probability((0, 0), ((0, gap),), near(1)))
        assert probability.low < high
        assert low < probability.high


# Privacy: by how much it is broken, or not.


@pytest.mark.parametrize("x", [HALF, Fraction(9, 10)], ids=str)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_ties_by_index_and_gaps_lose_one_more_share_of_epsilon(k: int, x: Fraction) -> None:
    """e^ε is x^−k; the winners and the runner-up, all tied, have to be raised past the first."""
    answers, raised = (0,) * (k + 2), (1,) + (0,) * (k + 1)
    tied = tuple((i, 0) for i in range(1, k + 1))
    ratio = BY_INDEX.probability(answers, tied, x) / BY_INDEX.probability(raised, tied, x)
    assert ratio == x ** -(k + 1) > x**-k


def test_ties_by_true_order_lose_twice_epsilon() -> None:
    """On (0, 0) the first wins ties, on (0, 1) the second does: e^ε is 1/x."""
    for x in (HALF, Fraction(9, 10)):
        first_wins = names((0, 0), (0,), x, "index")
        # The items stand in the order of their answers: (0, 1) becomes (1, 0).
        first_wins_still = names((1, 0), (1,), x, "index")
        assert first_wins / first_wins_still == x**-2


def neighbours(
    items: int, *, monotonic: bool, largest: int = 1
) -> Iterator[tuple[Answers, Answers]]:
    moves = [0, 1] if monotonic else [-1, 0, 1]
    for answers in product(range(largest + 1), repeat=items):
        for each in product(moves, repeat=items):
            yield answers, tuple(a + move for a, move in zip(answers, each, strict=True))


def largest_excess(
    wrong: Wrong, items: int, k: int, x: Fraction, *, monotonic: bool, largest: int = 1
) -> Fraction:
    """The largest ratio of two neighbours' probabilities, divided by e^ε."""
    bound = x ** -(k if monotonic else 2 * k)
    cells = list(outcomes(items, k, 2))
    known: dict[Answers, list[Fraction]] = {}

    def probabilities(answers: Answers) -> list[Fraction]:
        lowest = min(answers)
        key = tuple(answer - lowest for answer in answers)
        if key not in known:
            known[key] = [wrong.probability(key, cell, x) for cell in cells]
        return known[key]

    worst = Fraction(0)
    for one, other in neighbours(items, monotonic=monotonic, largest=largest):
        for a, b in zip(probabilities(one), probabilities(other), strict=True):
            if max(a, b) > 0:
                worst = max(worst, max(a, b) / min(a, b) / bound)
    return worst


@pytest.mark.deep
@pytest.mark.parametrize("x", [Fraction(1, 10), HALF, Fraction(9, 10)], ids=str)
@pytest.mark.parametrize("monotonic", [True, False])
@pytest.mark.parametrize(("items", "k"), [(2, 1), (3, 1), (3, 2)])
def test_no_neighbours_were_found_on_which_option_1_breaks_epsilon(
    items: int, k: int, monotonic: bool, x: Fraction
) -> None:
    """Exactly, for all neighbours of answers from 0 to 2, and all gaps up to 2."""
    assert largest_excess(OPTION_1, items, k, x, monotonic=monotonic, largest=2) <= 1


@pytest.mark.deep
@pytest.mark.parametrize(("items", "k"), [(2, 1), (3, 1), (3, 2)])
def test_nor_any_on_which_a_new_order_does(items: int, k: int) -> None:
    """Exactly, for all monotonic neighbours of answers of 0 and 1, and all gaps up to 2."""
    assert largest_excess(TWO_ORDERS, items, k, HALF, monotonic=True) <= 1


def test_the_search_finds_what_is_there() -> None:
    assert largest_excess(BY_INDEX, 3, 1, HALF, monotonic=True) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("items", "k"), [(2, 1), (3, 1), (4, 1), (3, 2)])
def test_names_alone_with_ties_by_index_keep_epsilon(items: int, k: int) -> None:
    orders = list(permutations(range(items), k))

    @cache
    def probabilities(answers: Answers) -> list[Fraction]:
        return [names(answers, order, HALF, "index") for order in orders]

    for one, other in neighbours(items, monotonic=True):
        for a, b in zip(probabilities(one), probabilities(other), strict=True):
            assert max(a, b) <= min(a, b) * 2**k


# The law: by how much it is broken.


def test_ties_by_index_prefer_the_first() -> None:
    """Of two equal answers the first wins with 1/(1 + x), 0.731 at ε = 1."""
    assert names((0, 0), (0,), HALF, "index") == 1 / (1 + HALF)


def test_plain_gaps_are_too_large() -> None:
    """Of two equal answers by x/(1 + x) on average, of x/(1 − x)."""
    for x in (HALF, Fraction(9, 10)):
        # Gaps of g ≥ 1 have probabilities c·x^g, and Σ g·x^(g−1) is 1/(1 − x)².
        mean = 2 * OPTION_1.probability((0, 0), ((0, 1),), x) / (1 - x) ** 2
        assert mean == x / (1 - x) + x / (1 + x)


@pytest.mark.parametrize(
    ("wrong", "answers", "parameters", "outcome", "least"),
    [
        (OPTION_1, (0, 0), ONE, ((0, 0),), 0.08),
        (OPTION_1, (0, 0, 0), ONE, ((0, 0),), 0.08),
        (TWO_ORDERS, (0, 0, 0), ONE, ((0, 0),), 0.016),
        (TWO_ORDERS, (0, 0, 0), TWO, ((0, 0), (1, 0)), 0.006),
        (BY_INDEX, (0, 0), ONE, ((0, 0),), 0.14),
    ],
    ids=["plain, two", "plain, three", "two orders", "two orders, k = 2", "by index"],
)
def test_the_chance_of_a_gap_of_0_is_off(
    wrong: Wrong, answers: Answers, parameters: TopK, outcome: Outcome, least: float
) -> None:
    probability = float(wrong.probability(answers, outcome, near(float(parameters.rate))))
    low, high = true_law(answers, parameters, outcome)
    assert max(float(low) - probability, probability - float(high)) > least


def test_rounding_to_nearest_is_a_law_of_its_own() -> None:
    """A gap of less than half a step, 1 − e^(−1/2), is far from one of less than a step."""
    halves = TopK(1, 1, resolution="1/2", monotonic=True)
    nearest = law.gap_top_k((0, 0), halves, [(0, Fraction(0))])
    assert 2 * float(nearest.high) == pytest.approx(1 - exp(-0.5))
    assert float(true_law((0, 0), ONE, ((0, 0),)).low - nearest.high) > 0.11


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("half the noise", ((0, 0),)),
        ("noise without k", ((0, 0), (1, 0))),
        ("one-sided scale", ((0, 0),)),
    ],
)
def test_too_little_noise_loses_twice_epsilon(name: str, outcome: Outcome) -> None:
    """Noise of half the mean is that of twice ε: its law has a ratio of e^2, and ε is 1."""
    (pair,) = next(each.shown_on for each in BROKEN_MECHANISMS if each.name == name)
    twice = TopK(pair.parameters.k, 2, resolution=1, monotonic=pair.parameters.monotonic)
    likely = true_law(pair.answers, twice, outcome).low
    other = true_law(pair.neighbour, twice, outcome).high
    assert likely * exp_minus(Fraction(1), 128).low > other
    assert float(likely / other) == pytest.approx(exp(2))


# What is shown is what is wrong, and nothing else: each has the law that is computed above.

RUNS = 20_000
Probability = Callable[[Any], Fraction]


def cells_of(answers: Answers, parameters: TopK) -> list[Any]:
    return list(outcomes(len(answers), parameters.k, 3))


EXACT: list[tuple[str, Answers, TopK, Probability]] = [
    ("ties by index", (0, 1, 1), ONE, lambda o: BY_INDEX.probability((0, 1, 1), o, near(1))),
    (
        "uniform ties, plain gaps",
        (0, 0, 1),
        TWO,
        lambda o: OPTION_1.probability((0, 0, 1), o, near(1 / 2)),
    ),
    (
        "one order for ties, one for gaps",
        (0, 0, 0),
        TWO,
        lambda o: TWO_ORDERS.probability((0, 0, 0), o, near(1 / 2)),
    ),
    (
        "gaps rounded to nearest",
        (0, 1),
        ONE,
        lambda o: nearest((0, 1), o),
    ),
]


def nearest(answers: Answers, outcome: Outcome) -> Fraction:
    """Half steps from 2g − 1 to 2g are next to g."""
    halves = TopK(1, 1, resolution="1/2", monotonic=True)
    ((winner, gap),) = outcome
    steps = [each for each in (2 * gap - 1, 2 * gap) if each >= 0]
    each = [law.gap_top_k(answers, halves, [(winner, Fraction(step, 2))]) for step in steps]
    return sum((bounds.low for bounds in each), Fraction(0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "answers", "parameters", "probability"), EXACT, ids=[name for name, *_ in EXACT]
)
@pytest.mark.statistical(false_alarm=2e-9)
def test_it_has_the_law_that_is_said(
    name: str, answers: Answers, parameters: TopK, probability: Probability, false_alarm: float
) -> None:
    # Union bound over the cells, see `misfits`.
    release = next(each.release for each in BROKEN_MECHANISMS if each.name == name)
    seen = Counter(_pairs(release(answers, parameters)) for _ in range(RUNS))
    cells = cells_of(answers, parameters)
    assert misfits(seen, cells, lambda cell: within(probability(cell)), false_alarm) == []


def _pairs(released: Any) -> Outcome:
    return tuple((index, int(gap)) for index, gap in released)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "answers", "ordered"),
    [
        (broken_mechanisms.names_with_ties_by_index, (0, 0, 1), (0, 1, 2)),
        # Sorted by the answers this is (1, 0, 0), in which the last item stands first.
        (broken_mechanisms.names_with_ties_by_true_order, (0, 0, 1), (2, 0, 1)),
    ],
    ids=["index", "true order"],
)
@pytest.mark.statistical(false_alarm=2e-9)
def test_names_have_the_law_that_is_said(
    run: Callable[..., Any], answers: Answers, ordered: Answers, false_alarm: float
) -> None:
    # Union bound over the cells, see `misfits`.
    seen = Counter(tuple(run(answers, ONE)) for _ in range(RUNS))
    sorted_answers = tuple(answers[item] for item in ordered)

    def probability(winners: tuple[int, ...]) -> Bounds:
        return within(names(sorted_answers, (ordered.index(winners[0]),), near(1), "index"))

    assert misfits(seen, [(0,), (1,), (2,)], probability, false_alarm) == []


def test_a_fixed_seed_repeats_itself_and_tells_neighbours_apart() -> None:
    for here, there, parameters in next(
        each.shown_on for each in BROKEN_MECHANISMS if each.name == "a fixed seed"
    ):
        first = broken_mechanisms.fixed_seed(here, parameters)
        assert all(broken_mechanisms.fixed_seed(here, parameters) == first for _ in range(10))
        assert broken_mechanisms.fixed_seed(there, parameters) != first


# Floats.


def odd(run: Callable[..., Any], answers: Answers, parameters: TopK, runs: int) -> int:
    return sum(int(run(answers, parameters)[0][1]) % 2 for _ in range(runs))


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-9)
def test_even_noise_shows_in_two_answers_and_rounded_gaps() -> None:
    # With mean 2^54, noise is below 2^53 with probability 1 − e^(−1/2) = 0.393, and then as often
    # odd as even; so a gap is odd with probability (1 − 0.607²)/2 = 0.316 on D. On the neighbour
    # noise between 2^53 and 2^54, of probability 0.239, makes it odd if the other is not below:
    # 0.239·0.607 = 0.145 more. At this level the bounds of 5,000 lie 0.026 and 0.025 from the
    # shares, so it fails only if the difference of the shares is 0.08 off, by Hoeffding with a
    # probability below e^−32.
    ((here, there, parameters),) = next(
        each.shown_on for each in BROKEN_MECHANISMS if each.name == "floats, gaps rounded"
    )
    runs, level = 5_000, Fraction(1, 10**4)
    low = lower_bound(runs, odd(broken_mechanisms.rounded_floats, there, parameters, runs), level)
    high = upper_bound(runs, odd(broken_mechanisms.rounded_floats, here, parameters, runs), level)
    assert exceeds(low, high, Fraction(1, 50))
    assert parameters.epsilon < Fraction(1, 10**16)


def test_all_that_is_broken_is_named_once_and_said() -> None:
    assert len({each.name for each in BROKEN_MECHANISMS}) == len(BROKEN_MECHANISMS)
    assert all(each.what.endswith(".") and each.shown_on for each in BROKEN_MECHANISMS)
    for each in BROKEN_MECHANISMS:
        for here, there, parameters in each.shown_on:
            for answers in (here, there):
                released = each.release(answers, parameters)
                assert isinstance(released, list)
                assert len(released) == parameters.k
                assert all(isinstance(one, tuple) == each.gaps for one in released)
