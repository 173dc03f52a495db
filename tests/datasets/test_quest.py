"""Made-up baskets: the laws of their making one by one, and all together beside the public file.

Seeds are fixed, so nothing here fails by chance. A tolerance is five standard errors, rounded up.
"""

import hashlib
import random
import statistics
from collections import Counter
from collections.abc import Iterator
from itertools import chain, count, islice, pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarks.statistics.quest import PUBLIC, figures, public_baskets
from tests.checking.mutants import Mutant, mutated
from tests.checking.public_files import public_file
from topgap import ParameterError, ParameterTypeError
from topgap.datasets import T40I10D100K, Quest, baskets, quest, write

FEW = Quest(transactions=500)


def test_baskets_are_sorted_sets_of_the_items_as_many_as_asked_for() -> None:
    made = list(baskets(FEW, seed=1))
    assert len(made) == 500
    assert all(basket == sorted(set(basket)) for basket in made)
    assert {*chain.from_iterable(made)} <= {*range(1_000)}
    assert [] not in made


def test_the_same_seed_makes_the_same_baskets_and_another_seed_others() -> None:
    first, second = baskets(FEW, seed=1), baskets(FEW, seed=1)
    random.seed(7)
    taken_in_turns = list(zip(first, second, strict=True))
    assert all(one == other for one, other in taken_in_turns)
    assert [one for one, _ in taken_in_turns] != list(baskets(FEW, seed=2))


def test_the_baskets_stay_the_same_in_all_versions() -> None:
    # Seen alike with Python 3.11, 3.12 and 3.13.
    start = list(islice(baskets(T40I10D100K, seed=1), 1_000))
    digest = hashlib.sha256(repr(start).encode()).hexdigest()
    assert digest == "f272da8c53a34c5d2ffa317cc5e6fee4e5d6feb8056efc1c8f3f75b34ea0a417"


def test_baskets_come_one_by_one() -> None:
    assert len(list(islice(baskets(Quest(transactions=10**15), seed=1), 3))) == 3


@pytest.mark.parametrize(
    ("odd", "largest"),
    [
        ({"items": 1}, 1),
        ({"items": 1, "patterns": 1}, 1),
        ({"items": 3, "patterns": 9, "mean_size": 700, "mean_pattern": 700}, 3),
        ({"items": 3, "mean_size": 700, "mean_pattern": 0}, 3),
        ({"mean_size": 0, "mean_pattern": 0}, 1),
        ({"corruption": 1, "corruption_variance": 0}, 0),
    ],
)
def test_baskets_that_nothing_can_fill_end_all_the_same(odd: dict[str, Any], largest: int) -> None:
    made = list(baskets(Quest(transactions=100, **odd), seed=1))
    assert len(made) == 100
    assert max(map(len, made)) == largest


def test_no_baskets_are_made_if_none_are_asked_for() -> None:
    assert list(baskets(Quest(transactions=0), seed=1)) == []


@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        ({"transactions": -1}, ParameterError, "transactions must be at least 0."),
        ({"patterns": 0}, ParameterError, "patterns must be at least 1."),
        ({"items": 0}, ParameterError, "items must be at least 1."),
        ({"items": 1e3}, ParameterTypeError, "items must be a whole number given as an int, "),
        ({"mean_size": -1}, ParameterError, "mean_size must be a number from 0 to 700."),
        ({"mean_pattern": 701}, ParameterError, "mean_pattern must be a number from 0 to 700."),
        ({"mean_size": "40"}, ParameterTypeError, "mean_size must be an int or float, not str."),
        ({"mean_size": True}, ParameterTypeError, "mean_size must be an int or float, not bool."),
        ({"correlation": float("nan")}, ParameterError, "correlation must be a number from 0 to"),
        ({"corruption": 1.5}, ParameterError, "corruption must be a number from 0 to 1."),
        ({"corruption_variance": -0.1}, ParameterError, "corruption_variance must be a number "),
        ({"equal_items": 1}, ParameterTypeError, "equal_items must be True or False, not int."),
    ],
)
def test_bad_parameters_are_refused(wrong: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as refused:
        Quest(**wrong)
    assert str(refused.value).startswith(sentence)


def test_a_bad_seed_is_refused_before_the_first_basket() -> None:
    with pytest.raises(ParameterError, match="seed must be at least 0"):
        baskets(FEW, seed=-1)
    with pytest.raises(ParameterTypeError, match="seed must be a whole number"):
        baskets(FEW, seed="1")  # type: ignore[arg-type]


def test_what_is_written_is_one_basket_a_line(tmp_path: Path) -> None:
    write(tmp_path / "few.dat", baskets(FEW, seed=1))
    lines = (tmp_path / "few.dat").read_bytes().decode().split("\n")
    assert lines.pop() == ""
    assert [[int(item) for item in line.split(" ")] for line in lines] == [*baskets(FEW, seed=1)]


def odd_patterns(module: Any) -> Iterator[str]:
    """Sizes, correlation and corruption levels, where items are many and hardly meet by chance."""
    many = Quest(patterns=5_000, items=100_000, mean_pattern=20, correlation=0.5, equal_items=True)
    made = list(module._make_patterns(many, random.Random(1).random))
    sizes = [len(items) for items, _ in made]
    if abs(statistics.fmean(sizes) - 20) > 0.32 or abs(statistics.pvariance(sizes) - 20) > 2.1:
        yield "sizes have mean and variance 20, as a Poisson law has"
    # Where the pattern before is not smaller, 1 alone limits the share: its mean is (1 − e^−2)/2.
    shares = [
        len({*now} & {*before}) / len(now)
        for (before, _), (now, _) in pairwise(made)
        if len(before) >= len(now)
    ]
    if abs(statistics.fmean(shares) - 0.432) > 0.033:
        yield "the share of common items is exponential with mean 0.5, and at most 1"
    levels = [level for _, level in made]
    mean, variance = statistics.fmean(levels), statistics.pvariance(levels)
    if abs(mean - 0.25) > 0.023 or abs(variance - 0.1) > 0.01:
        yield "corruption levels have mean 0.25 and variance 0.1"


def odd_items(module: Any) -> Iterator[str]:
    """An item of weight w is in no pattern with chance e^−20w, on average 1/21: 48 of 1,000."""
    made = module._make_patterns(Quest(correlation=0), random.Random(1).random)
    missing = 1_000 - len({*chain.from_iterable(items for items, _ in made)})
    if abs(missing - 48) > 34:
        yield "items have exponential weights"


def odd_draws(module: Any) -> Iterator[str]:
    """How often each pattern comes, and how much is left of it."""
    single = [([number], 0.0) for number in range(1_000)]
    drawn = module._draw_patterns(single, random.Random(1).random)
    often = Counter(chain.from_iterable(islice(drawn, 100_000)))
    # The mean square of exponential weights is twice the square of their mean.
    if abs(sum(times**2 for times in often.values()) / 1e7 - 2.01) > 0.33:
        yield "patterns have exponential weights"
    drawn = module._draw_patterns([([*range(10)], 0.3)], random.Random(1).random)
    kept = list(islice(drawn, 20_000))
    left = Counter(map(len, kept))
    if any(abs(left[10 - n] / 20_000 - 0.7 * 0.3**n) > 0.017 for n in range(4)):
        yield "items are dropped as long as the coin says so"
    times = Counter(chain.from_iterable(kept))
    if max(times.values()) - min(times.values()) > 350:
        yield "each item is as likely to be dropped"


def odd_baskets(module: Any) -> Iterator[str]:
    """What happens to the pattern that does not fit."""

    def filled(size: int, drawn: Iterator[list[int]]) -> list[list[int]]:
        return [*module._fill_baskets([size] * 1_000, drawn, random.Random(1).random)]

    def threes() -> Iterator[list[int]]:
        return ([n, n + 1, n + 2] for n in count(step=3))

    made = filled(7, threes())
    if {*map(len, made)} != {6, 9}:
        yield "it is put in whole or not at all"
    if abs(sum(len(basket) == 9 for basket in made) - 500) > 80:
        yield "it is put in half the time"
    if any(now != before + 1 for before, now in pairwise(chain.from_iterable(made))):
        yield "what is moved comes first in the next basket"
    if {*map(len, filled(6, threes()))} != {6}:
        yield "it fits if it fills the basket"
    if {*map(len, filled(1, threes()))} != {3}:
        yield "an empty basket takes any pattern"
    overlapping = chain.from_iterable([[0, 1, 2], [0, 1, 2, 3]] for _ in count())
    if {*map(len, filled(4, overlapping))} != {3, 4}:
        yield "items that are there already count when it is seen whether a pattern fits"
    again = chain.from_iterable([[0, 1, 2], [0, 1, 2], [3, 4, 5]] for _ in count())
    if {*map(len, filled(6, again))} != {6}:
        yield "items that are there already do not count to the size"


def odds(module: Any) -> Iterator[str]:
    """The laws that the module's patterns, draws and baskets do not follow."""
    return chain.from_iterable(
        look(module) for look in (odd_baskets, odd_draws, odd_items, odd_patterns)
    )


def test_patterns_draws_and_baskets_follow_their_laws() -> None:
    assert [*odds(quest)] == []


SHARE = "min(1.0, quest.correlation * _draw_exponential(uniform))"
WEIGHTS = "1.0 if quest.equal_items else _draw_exponential(uniform)"
MUTANTS = [
    Mutant("no correlation", SHARE, "0.0"),
    Mutant("always the mean correlation", SHARE, "quest.correlation"),
    Mutant("more than all is common", SHARE, SHARE.replace("min(1.0, ", "max(0.0, ")),
    Mutant("uniform correlation", SHARE, "uniform()"),
    Mutant("equally likely items", WEIGHTS, "1.0"),
    Mutant(
        "equally likely patterns", "[_draw_exponential(uniform) for _ in pat", "[1 for _ in pat"
    ),
    Mutant("no corruption", "while kept and uniform() < corruption", "while False"),
    Mutant("one item dropped at most", "while kept and uniform()", "if kept and uniform()"),
    Mutant("the complement of corruption", "uniform() < corruption", "uniform() > corruption"),
    Mutant("the last item is dropped", "kept[int(uniform() * len(kept))]", "kept[-1]"),
    Mutant("variance taken for deviation", "sqrt(quest.corrupt", "(quest.corrupt"),
    Mutant("sizes are one more", "max(1, bisect(added_up", "1 + max(1, bisect(added_up"),
    Mutant("sizes are all the mean", "max(1, bisect(added_up, uniform()))", "int(mean)"),
    Mutant("put in and cut", "update(pattern)", "update(pattern[: size - len(basket)])"),
    Mutant("never put in", "uniform() < 0.5:", "False:"),
    Mutant("always put in", "uniform() < 0.5:", "True:"),
    Mutant("put in too often", "uniform() < 0.5:", "uniform() < 0.7:"),
    Mutant("moved and lost", "moved = pattern\n", "moved = []\n"),
    Mutant("baskets left empty", "if fits or not basket or ", "if fits or "),
    Mutant("fits only if room is left", "len(pattern) <= size", "len(pattern) < size"),
    Mutant("new items count alone", "len(basket) + len(pattern)", "len(basket.union(pattern))"),
    Mutant("goes on after the last", "if not fits:", "if False:"),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_generator_does_not_follow_them(mutant: Mutant) -> None:
    assert any(odds(mutated(quest, mutant)))


# The median and standard deviation over seeds 0 to 19, as benchmarks.statistics.quest printed them.
SPREAD = {
    "different items": (936.5, 6.76),
    "mean size": (39.600, 0.0249),
    "sd of size": (8.558, 0.0379),
    "count of item no. 1": (27_560, 2_990),
    "count of item no. 10": (18_481, 910),
    "count of item no. 25": (14_794, 460),
    "count of item no. 100": (9_486, 246),
    "count of item no. 500": (2_729, 97.3),
    "mean count": (4_230, 30.3),
    "pairs in 1% of baskets": (13_776, 547),
    "99th percentile of lift": (3.111, 0.0354),
}


def far_off(found: dict[str, float], deviations: float = 3) -> set[str]:
    """The figures that are further from the generator's own than so many standard deviations."""
    return {
        name
        for name, (median, deviation) in SPREAD.items()
        if abs(found[name] - median) > deviations * deviation
    }


@pytest.mark.deep
@pytest.mark.slow
def test_another_seed_is_within_the_spread() -> None:
    assert far_off(figures(baskets(T40I10D100K, seed=20))) == set()


@pytest.mark.deep
@pytest.mark.slow
def test_the_public_file_looks_like_one_more_seed() -> None:
    public_file(PUBLIC.name)
    assert far_off(figures(public_baskets())) == set()


@pytest.mark.deep
@pytest.mark.slow
def test_equally_likely_items_do_not_look_like_it() -> None:
    found = figures(baskets(Quest(equal_items=True), seed=20))
    assert {"different items", "count of item no. 10"} <= far_off(found, deviations=9)


@pytest.mark.deep
@pytest.mark.slow
def test_the_levels_of_the_paper_do_not_look_like_it() -> None:
    found = figures(baskets(Quest(correlation=0.5, corruption=0.5), seed=20))
    assert "99th percentile of lift" in far_off(found)
