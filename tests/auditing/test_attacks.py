"""The attacks work on floats, do not work on topgap, and would be seen if they did."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.checking.mutants import Mutant, mutated
from topgap import ParameterError, ParameterTypeError
from topgap.auditing.attacks import (
    ATTACKS,
    FLOATS,
    ROUNDED,
    TARGETS,
    TOPGAP,
    AttackResult,
    attack,
    game,
    least_releases,
    plot,
)
from topgap.auditing.attacks.game import Attack, play
from topgap.display.figure import FORMS

EVEN, BALANCES, COUNTS = ATTACKS
LEVEL = Fraction(1, 10**9)
RELEASES = 1_500
NAMES = [each.name for each in ATTACKS]


@pytest.mark.parametrize("each", ATTACKS, ids=NAMES)
def test_the_data_sets_are_neighbours(each: Attack) -> None:
    moves = [Fraction(b) - Fraction(a) for a, b in _pairs(each)]
    assert any(moves)
    assert max(map(abs, moves)) <= each.parameters.sensitivity
    assert each.parameters.monotonic
    assert min(moves) >= 0 or max(moves) <= 0


def _pairs(each: Attack) -> list[tuple[Any, Any]]:
    return list(zip(each.answers.tolist(), each.neighbour.tolist(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("each", "target"),
    [(EVEN, FLOATS), (EVEN, ROUNDED), (BALANCES, FLOATS)],
    ids=["even", "even, rounded", "balances"],
)
@pytest.mark.statistical(false_alarm=1e-10)
def test_one_release_tells_with_near_certainty(each: Attack, target: str) -> None:
    # On D a guess is wrong only if fewer than 20 of 1,000 (1,200) noises reach the coarse grid, of
    # 50 (45) on average: by Chernoff with a probability of at most 4e-6 (6e-5). On the neighbour it
    # is wrong only if all winners that lie low enough to have a last bit have the same; if X lie
    # too high, of 2.5 on average, that has a probability of at most 2·2^(X − 20), whose mean is
    # below 2^-19·e^2.5. So a guess is wrong with a probability below 1e-4, and more than 15 of
    # 1,500 are with a probability of at most (1,500·1e-4)^16/16!, below 1e-26. The coin stays below
    # 0.4 or above 0.6 with a probability of at most 2·e^(−30), by Hoeffding.
    result = play(each, target, RELEASES, LEVEL)
    assert result.guesses == RELEASES
    assert result.share is not None
    assert result.share >= 0.99
    assert result.exceeded
    assert result.as_expected
    assert is_tossed(result)


def is_tossed(result: AttackResult) -> bool:
    return min(map(sum, result.seen)) > 0.4 * result.releases


@pytest.mark.statistical(false_alarm=1e-10)
def test_a_bit_that_only_one_of_two_data_sets_can_have() -> None:
    # It has the probability (1 − e^(−1/3))/2 = 0.1417 on D and 0 on the neighbour. Of 1,500
    # releases 106 have it on average; 67 prove that ε = 1 does not hold, and fewer come with a
    # probability of at most e^(−106·0.368²/2) by Chernoff, 8e-4: so 4,000 are played, of which 283,
    # and e^(−82).
    result = play(COUNTS, FLOATS, 4_000, LEVEL)
    assert result.guesses == result.guesses_right > 66
    assert result.seen[1] == (sum(result.seen[1]), 0, 0, 0)
    assert result.exceeded
    assert result.as_expected


# Of 2,200 releases 156 have that bit on average, and 76 prove enough; fewer come with a probability
# of at most e^(−2,200·KL(76/2,200, 0.0709)), by Chernoff, which is e^(−26.9).
@pytest.mark.statistical(false_alarm=1e-11)
def test_the_least_number_of_releases_is_enough() -> None:
    failure = Fraction(1, 10**9)
    result = play(COUNTS, FLOATS, least_releases(failure), failure / 18)
    assert result.as_expected, result
    assert (
        least_releases(Fraction(1, 2)) == least_releases(failure) < least_releases(failure / 10**30)
    )


@pytest.mark.parametrize("each", ATTACKS, ids=NAMES)
@pytest.mark.statistical(false_alarm=1e-9)
def test_topgap_gives_no_more_than_epsilon_allows(each: Attack) -> None:
    # The lower bound exceeds the true probability with at most this probability, which is LEVEL.
    result = play(each, TOPGAP, RELEASES, LEVEL)
    assert result.releases == RELEASES
    assert not result.exceeded
    assert result.as_expected


@pytest.mark.slow
@pytest.mark.parametrize("each", [BALANCES, COUNTS], ids=[BALANCES.name, COUNTS.name])
@pytest.mark.statistical(false_alarm=1e-9)
def test_rounding_hides_the_bits_below_the_resolution(each: Attack) -> None:
    # As for topgap: what rounding leaves has, but for 2^-30, the law of topgap's gaps.
    assert play(each, ROUNDED, RELEASES, LEVEL).as_expected


MUTANTS = [
    Mutant("noise in floats", "TOPGAP: release_with_topgap}", "TOPGAP: floats}"),
    Mutant("noise in floats, rounded", "TOPGAP: release_with_topgap}", "TOPGAP: rounded_floats}"),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: each.name)
@pytest.mark.statistical(false_alarm=1e-12)
def test_a_topgap_of_floats_would_be_found(mutant: Mutant) -> None:
    # It takes 70% of 300, and each is wrong with a probability below 1e-4, as said above.
    result = mutated(game, mutant).play(EVEN, TOPGAP, 300, LEVEL)
    assert result.exceeded
    assert not result.as_expected


@pytest.mark.statistical(false_alarm=1e-9)  # LEVEL: half of the guesses are right
def test_an_observer_who_counts_wrong_guesses_wins_nothing() -> None:
    mutant = Mutant("wrong counted", "seen[attack.guess, 1:]", "seen[1 - attack.guess, 1:]")
    assert not mutated(game, mutant).play(EVEN, FLOATS, 300, LEVEL).as_expected


@pytest.mark.statistical(false_alarm=1e-9)  # LEVEL, too
def test_without_a_person_between_them_nothing_is_told() -> None:
    same = EVEN._replace(neighbour=EVEN.answers)
    assert not play(same, FLOATS, 300, LEVEL).exceeded


def test_a_coin_that_is_not_tossed_is_seen() -> None:
    mutant = Mutant("no coin", "side = secrets.randbits(1)", "side = D")
    assert not is_tossed(mutated(game, mutant).play(EVEN, FLOATS, 100, LEVEL))


def test_large_noise_comes_in_even_numbers() -> None:
    noise = np.random.default_rng().exponential(2.0**53, 10_000)
    large = noise[noise >= 2.0**53]
    assert len(large) > 0
    assert not (large % 2).any()


def test_every_attack_is_played_on_every_target() -> None:
    reported: list[float] = []

    def progress(doing: str, share: float | None) -> None:
        assert doing == "attacking"
        assert share is not None
        reported.append(share)

    results = attack(3, "1e-9", progress)
    assert [(each.name, each.target) for each in results] == [
        (each.name, target) for each in ATTACKS for target in TARGETS
    ]
    assert all(a < b < 1 for a, b in pairwise(reported))
    assert all(sum(map(sum, each.seen)) == each.releases == 3 for each in results)
    assert json.loads(json.dumps(results[0].to_dict()))["target"] == FLOATS


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(ParameterError, match="releases must be at least 1"):
        attack(0, "1e-9")
    with pytest.raises(ParameterTypeError):
        attack("many", "1e-9")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="failure"):
        attack(1, 0)


def result_of(**changes: Any) -> AttackResult:
    made = play(COUNTS, TOPGAP, 1, LEVEL)
    return replace(made, **changes)


@pytest.mark.parametrize("form", FORMS)
def test_the_chart_is_drawn_in_every_form(form: str) -> None:
    beginnings = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert plot.render([result_of()], form).startswith(beginnings[form])


@pytest.mark.slow
def test_the_chart_says_what_happened() -> None:
    broken = result_of(exceeded=True, guesses=200, guesses_right=200, target=FLOATS)
    passed = result_of(guesses=0, guesses_right=0, seen=((0,) * 4, (7, 0, 0, 0)))
    svg = plot.render([broken, passed, result_of(name="another")], "svg").decode()
    for said in (
        "floats: broken",
        "100.0% of 200 guesses right; ε allows 73.1%",
        "topgap: not broken by this",
        "no guess; ε allows 73.1%",
        "released of its neighbour D′",
    ):
        assert f"<!-- {said} -->" in svg


def test_nothing_is_no_chart() -> None:
    with pytest.raises(ParameterError, match="no attack to plot"):
        plot.render([], "png")
