"""Laplace noise in the real OpenDP: noisy answers, a threshold, and a map that k does not touch."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import floor, inf
from typing import Any

import opendp.prelude
import pytest

import topgap
from tests.checking.mutants import Mutant, mutated
from tests.opendp.test_opendp import (
    PURE,
    ROWS,
    TREES,
    dicts,
    features,
    floats,
    integers,
    keyed,
    rows,
)
from topgap import Domain, ParameterError, ParameterTypeError, Release
from topgap.opendp import constructors, privacy_map, then_top_k

dp: Any = opendp.prelude
make_top_k: Any = topgap.opendp.make_top_k
__all__ = ["features"]  # a fixture that every test here needs


def l1(number: str = "i64") -> Any:
    return dp.l1_distance(T=number)


def l01inf(number: str = "i64") -> Any:
    return dp.l01inf_distance(dp.absolute_distance(T=number))


def noisy(space: Any, metric: Any, k: int | None = 2, scale: Any = 1, **more: Any) -> Any:
    return make_top_k(space, metric, PURE, k, scale, noise="laplace", **more)


# What it releases: noise of scale 1 is 1000 or more of one of four with probability below 1e-400.


@pytest.mark.parametrize("whole", [True, False])
def test_the_noisy_answers_come_too(whole: bool) -> None:
    domain = integers() if whole else floats()
    metric = l1() if whole else l01inf("f64")
    release = noisy(domain, metric)([10**6, 0, 10**7] if whole else [1e6, 0.5, 1e7])
    assert isinstance(release, Release)
    assert release.items == (2, 0)
    assert release.values is not None
    assert all(abs(a - b) < 1000 for a, b in zip(release.values, (10**7, 10**6), strict=True))
    assert release.parameters.resolution == (1 if whole else Fraction(1, 10))
    assert release.epsilon == 1


@pytest.mark.parametrize(("k", "threshold", "named"), [
    (None, 3_000, ("oak", "ash")), (1, 3_000, ("oak",)), (3, 7_000, ("oak",)), (None, 10**6, ()),
])  # fmt: skip
def test_a_threshold_ends_the_list(k: int | None, threshold: int, named: tuple[str, ...]) -> None:
    count = dp.t.make_count_by(*rows())
    for domain in (TREES, Domain.strings("a-z", max_length=20)):
        then = then_top_k(PURE, k, 1, noise="laplace", threshold=threshold, domain=domain)
        release = (count >> then)(ROWS)
        assert release.items == named
        assert len(release.values) == len(named)
        assert (count >> then).map(3) == 3.0


def test_gaps_can_be_left_out() -> None:
    release = noisy(integers(), l1(), gaps=False)([10**6, 0, 10**7])
    assert (release.items, release.gaps, release.values) == ((2, 0), None, None)


# What it costs


@pytest.mark.parametrize("k", [1, 2, 50])
@pytest.mark.parametrize("d_in", [0, 1, 7, 2**30])
@pytest.mark.parametrize("scale", ["2", "0.7", "1/3"])
def test_opendps_own_mechanism_costs_as_much(k: int, d_in: int, scale: str) -> None:
    domain = dp.vector_domain(dp.atom_domain(T=int))
    theirs = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=float(Fraction(scale)))
    ours = make_top_k(domain, dp.l1_distance(T=int), PURE, k, scale, noise="laplace")
    assert ours.map(d_in) == pytest.approx(theirs.map(d_in), rel=1e-12)
    assert Fraction(ours.map(d_in)) >= d_in / Fraction(scale)


@pytest.mark.parametrize(("d_in", "steps"), [
    ((0, 0, 0), 0), ((1, 1, 1), 1), ((2, 10, 3), 6), ((5, 7, 3), 7), ((3, 0, 2), 0), ((2, 9, 0), 0),
    ((1, 9, 4), 4),
])  # fmt: skip
def test_how_many_move_and_how_far_is_both_used(d_in: tuple[int, int, int], steps: int) -> None:
    assert noisy(integers(), l01inf(), scale=4).map(d_in) == steps / 4
    assert noisy(keyed(), l01inf(), scale=4, domain=TREES).map(d_in) == steps / 4


@pytest.mark.parametrize(("d_in", "steps"), [
    ((0, 0.0, 0.0), 0), ((1, 0.25, 0.25), 1), ((2, 0.25, 0.25), 2), ((3, 0.25, 0.25), 3),
    ((3, 2.0, 2.0), 4), ((3, 2.0, 0.5), 3), ((2, 1.5, 1.0), 2), ((2, inf, inf), inf),
])  # fmt: skip
def test_each_float_may_cross_a_step(d_in: tuple[int, float, float], steps: float) -> None:
    measurement = noisy(floats(), l01inf("f64"), scale=4, resolution=1)
    assert measurement.map(d_in) == steps / 4


def reckoned(metric: str, moves: list[Fraction]) -> Any:
    """The distance of two inputs by its definition."""
    sizes = [abs(move) for move in moves]
    return sum(sizes) if metric == "l1" else (sum(map(bool, sizes)), sum(sizes), max(sizes))


@cache
def chance(answers: tuple[int, ...], first: int, second: int, values: tuple[int, int]) -> Fraction:
    """The probability that of three whole answers these two come first, with these noisy answers.

    It is a rational number, for noise is x with probability proportional to 2^-|x|.
    """

    def mass(x: int) -> Fraction:
        return Fraction(1, 3) * Fraction(1, 2 ** abs(x))

    def below(x: int) -> Fraction:
        tail = mass(x)
        return 2 * tail if x <= 0 else 1 - tail

    (third,) = {0, 1, 2} - {first, second}
    behind = values[1] - answers[third]
    left = below(behind - 1) + mass(behind) / 2
    return mass(values[0] - answers[first]) * mass(values[1] - answers[second]) * left


def told_by_the_law(metric: str, *, whole: bool) -> tuple[list[Any], list[Any]]:
    """Distances at which an output tells more than the map says, and whether some tells as much.

    A step is worth a factor of 2 here, and 1/4 by a map of scale 4: both count steps. As much is
    what is told at this distance or a smaller one.
    """
    answers = [Fraction(0), Fraction(1) if whole else Fraction(3, 4)]
    quarters = [-4, 0, 4] if whole else [-4, -1, 0, 1, 4]
    possible = [Fraction(each, 4) for each in quarters]
    domain = integers() if whole else floats()
    kind = "i64" if whole else "f64"
    given = l1(kind) if metric == "l1" else l01inf(kind)
    privacy = noisy(domain, given, scale=4, resolution=1).map
    outcomes = [
        (*pair, values)
        for pair in permutations(range(3), 2)
        for values in ((9, 8), (8, -8), (-7, -8))
    ]
    told: dict[Any, Fraction] = {}
    for one in product(answers, repeat=3):
        for moves in product(possible, repeat=3):
            other = [a + b for a, b in zip(one, moves, strict=True)]
            d_in = reckoned(metric, [*moves])
            rounded = [(*map(floor, each),) for each in (one, other)]
            for outcome in outcomes:
                p, q = (chance(each, *outcome) for each in rounded)
                told[d_in] = max(told.get(d_in, Fraction(1)), p / q, q / p)
    more, less = [], []
    for d_in, ratio in told.items():
        parts = d_in if isinstance(d_in, tuple) else (d_in,)
        number = int if whole else float
        allowed = 4 * privacy((int(parts[0]), *map(number, parts[1:])) if len(parts) > 1 else
                              number(d_in))  # fmt: skip
        assert allowed == int(allowed)
        if ratio > 2 ** int(allowed):
            more.append(d_in)
        if ratio * Fraction(11, 10) < 2 ** int(allowed):
            less.append(d_in)
    return more, less


CASES: list[Callable[[], tuple[list[Any], list[Any]]]] = [
    lambda: told_by_the_law("l1", whole=True),
    lambda: told_by_the_law("l01inf", whole=True),
    lambda: told_by_the_law("l01inf", whole=False),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_no_output_tells_more_than_the_map_says_and_most_as_much(case: int) -> None:
    more, less = CASES[case]()
    assert more == []
    if case < 2:
        assert less == []


MUTANTS = [
    Mutant("no float crosses a step", "+ moving - 1)", ")"),
    Mutant("one answer moves", "moving * self._ceil_to_steps(moves.each)",
           "self._ceil_to_steps(moves.each)"),
    Mutant("half of all moves", "all_moves=together)", "all_moves=together / 2)"),
    Mutant("half of all moves, by l1", "all_moves=d_in)", "all_moves=d_in / 2)"),
    Mutant("floats are taken for integers", "moves.all_moves != inf and self.whole",
           "moves.all_moves != inf"),
]  # fmt: skip


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, mutant: Mutant) -> None:
    module = mutated(privacy_map, mutant)
    monkeypatch.setattr(constructors, "PrivacyMap", module.PrivacyMap)
    monkeypatch.setattr(constructors, "read_metric", module.read_metric)


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_map_is_found_by_the_law(mutant: Mutant) -> None:  # noqa: ARG001
    assert any(case()[0] for case in CASES)


# With theirs


def keep_two(baskets: list[tuple[str, str]]) -> list[str]:
    """At most two different items of each person, by that person's rows alone."""
    kept: dict[str, set[str]] = {}
    for person, item in sorted({*baskets}):
        if len(kept.setdefault(person, set())) < 2:
            kept[person].add(item)
    return [item for items in kept.values() for item in sorted(items)]


def test_it_chains_after_a_bound_on_contributions_and_composes() -> None:
    events = dp.user_domain("rows of persons and items", lambda data: isinstance(data, list))
    persons = dp.user_distance("persons added or removed")
    at_most_two = dp.t.make_user_transformation(
        events, persons, *rows(), keep_two, lambda d_in: 2 * d_in
    )
    chain = (
        at_most_two
        >> dp.t.make_count_by(*rows())
        >> then_top_k(PURE, None, 4, noise="laplace", threshold=500, domain=TREES)
    )
    assert chain.map(1) == 0.5
    data = [(f"p{n}", tree) for n in range(2_000) for tree in ("oak", "ash", "yew")]
    assert {*chain(data).items} == {"oak", "ash"}
    total = at_most_two >> dp.t.make_count(*rows()) >> dp.m.then_laplace(scale=2.0)
    both = dp.c.make_composition([chain, total])
    assert both.map(1) == 1.5
    release, count = both(data)
    assert {*release.items} == {"oak", "ash"}
    assert abs(count - 4_000) < 1_000


# What it refuses

REFUSALS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"input_metric": dp.linf_distance(T="i64")}, ParameterError, "l1_distance, or l01inf_dist"),
    ({"input_metric": dp.linf_distance(T="i64", monotonic=True)}, ParameterError, "all answers"),
    ({"input_domain": floats(), "input_metric": l1("f64")}, ParameterError, "needs integers"),
    ({"input_domain": dicts, "domain": TREES}, ParameterError, "give l01inf_distance"),
    ({"noise": "exponential", "k": None, "threshold": 5}, ParameterError, "or noise='laplace'"),
    ({"noise": "normal"}, ParameterError, "'exponential' or 'laplace'"),
    ({"noise": None}, ParameterTypeError, "not NoneType"),
    ({"k": None}, ParameterTypeError, "k must be a whole number"),
    ({"threshold": "many"}, ParameterError, "threshold"),
    ({"scale": 0}, ParameterError, "scale must be greater than 0"),
]


@pytest.mark.parametrize(("given", "error", "sentence"), REFUSALS)
def test_what_cannot_be_used_is_refused_in_a_sentence(
    given: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    space = {"input_domain": integers(), "input_metric": l1()}
    arguments = {**space, "output_measure": PURE, "k": 1, "scale": 1, "noise": "laplace", **given}
    if arguments["input_domain"] is dicts:
        arguments["input_domain"] = dicts()
    with pytest.raises(error, match=sentence) as refused:
        make_top_k(**arguments)
    assert type(refused.value) is error
    assert str(refused.value).endswith(".")
