"""topgap in the real OpenDP: it chains, it composes, and its privacy map is right.

The map is held to a formula written down anew, to OpenDP's own mechanism where they agree, and to
the exact law: between small inputs at a distance no output tells more than the map says, and some
output tells so much that the map could hardly say less.
"""

import inspect
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import ceil, floor, inf, isinf, nan, nextafter
from typing import Any, NamedTuple

import numpy as np
import opendp.prelude
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import topgap
from tests.checking.mutants import Mutant, mutated
from tests.test_privacy_path import offences
from topgap import Domain, Release, TopK, law
from topgap.counting import FROM_DATA
from topgap.errors import (
    AnswersError,
    DomainError,
    ItemsError,
    ParameterError,
    ParameterTypeError,
)
from topgap.opendp import constructors, domains, privacy_map, then_top_k

# In OpenDP types are missing here and there, and in what it makes.
dp: Any = opendp.prelude
make_top_k: Any = topgap.opendp.make_top_k
TREES = ["ash", "elm", "oak", "yew"]
ROWS = ["oak"] * 10**4 + ["ash"] * 5_000 + ["elm"] * 2
PURE = dp.max_divergence()


@pytest.fixture(autouse=True, scope="module")
def features() -> Iterator[None]:
    before = {*dp.GLOBAL_FEATURES}
    dp.enable_features("contrib", "honest-but-curious")
    yield
    dp.disable_features(*{*dp.GLOBAL_FEATURES} - before)


def integers(size: int | None = None) -> Any:
    return dp.vector_domain(dp.atom_domain(T="i64"), size=size)


def floats() -> Any:
    return dp.vector_domain(dp.atom_domain(T="f64", nan=False))


def keyed(key: str = "String", **value: Any) -> Any:
    return dp.map_domain(dp.atom_domain(T=key), dp.atom_domain(**(value or {"T": "i64"})))


def dicts() -> Any:
    """Made within a test, for OpenDP's features must be enabled."""
    return dp.user_domain("dicts of counts", lambda counts: isinstance(counts, dict))


def rows() -> Any:
    return dp.vector_domain(dp.atom_domain(T="String")), dp.symmetric_distance()


class Kind(NamedTuple):
    """A metric, how its distance is reckoned by definition, and the steps that it must cost."""

    metric: Callable[[str], Any]
    distance: Callable[[list[Fraction]], Any]
    steps: Callable[[Any, int, bool], int]


def _is_mixed(moves: list[Fraction]) -> bool:
    return min(moves) < 0 < max(moves)


def _linf(moves: list[Fraction]) -> Fraction:
    return max(map(abs, moves))


def _l1(moves: list[Fraction]) -> Fraction:
    return sum(map(abs, moves), Fraction(0))


def _l01inf_steps(d: Any, m: int, whole: bool) -> int:
    moving, total, most = d
    most = min(most, total)
    if moving == 0:
        return 0
    if moving == 1:
        return ceil(Fraction(most) * m)
    return min(2 * ceil(Fraction(most) * m), ceil(Fraction(total) * m) + (not whole))


KINDS = {
    "monotonic": Kind(
        lambda number: dp.linf_distance(T=number, monotonic=True),
        lambda moves: inf if _is_mixed(moves) else _linf(moves),
        lambda d, m, _: ceil(Fraction(d) * m),
    ),
    "linf": Kind(
        lambda number: dp.linf_distance(T=number), _linf, lambda d, m, _: 2 * ceil(Fraction(d) * m)
    ),
    "l1": Kind(
        lambda number: dp.l1_distance(T=number),
        _l1,
        lambda d, m, whole: ceil(Fraction(d) * m) + (not whole and d > 0),
    ),
    "l01inf": Kind(
        lambda number: dp.l01inf_distance(dp.absolute_distance(T=number)),
        lambda moves: (sum(move != 0 for move in moves), _l1(moves), _linf(moves)),
        _l01inf_steps,
    ),
}


# What it releases


@pytest.mark.parametrize("domain", [integers(), integers(3), floats()], ids=str)
def test_clear_winners_of_a_vector_are_named(domain: Any) -> None:
    kind = "f64" if "f64" in str(domain) else "i64"
    measurement = make_top_k(domain, dp.linf_distance(T=kind), PURE, k=2, scale=3)
    data = [10**6, 0, 10**7] if kind == "i64" else [1e6, 0.5, 1e7]
    release = measurement(data)
    assert isinstance(release, Release)
    assert release.items == (2, 0)
    # Noise of mean 3 moves a gap by 1000 with a chance of e^-333.
    assert [round(gap, -4) for gap in release.gaps or ()] == [9 * 10**6, 10**6]


def test_a_numpy_array_is_a_vector_too() -> None:
    measurement = make_top_k(integers(), dp.linf_distance(T="i64"), PURE, 1, 2)
    assert measurement(np.array([0, 10**6])).items == (1,)


def test_floats_are_taken_as_they_are_stored() -> None:
    """The double beside 0.3 lies below it, two tenths above 0; noise so small is below a step.

    It is so except with a chance of e^(-10^8).
    """
    measurement = make_top_k(floats(), dp.linf_distance(T="f64"), PURE, 1, "1e-9")
    assert {int(measurement([0.3, 0.0]).gap_units[0]) for _ in range(20)} <= {1, 2}


def test_items_name_the_positions_of_a_vector() -> None:
    space = integers(), dp.linf_distance(T="i64")
    measurement = make_top_k(*space, PURE, 1, 2, items=iter(TREES), gaps=False)
    assert measurement([0, 10**6, 0, 0]).items == ("elm",)
    assert measurement([0, 10**6, 0, 0]).gaps is None
    with pytest.raises(dp.OpenDPException, match="There are 4 items for 3 answers"):
        measurement([1, 2, 3])


def test_of_a_map_the_public_keys_take_part_and_no_others() -> None:
    metric = dp.l01inf_distance(dp.absolute_distance(T="i64"))
    measurement = make_top_k(keyed(), metric, PURE, k=2, scale=1, items=["ash", "yew", "elm"])
    release = measurement({"oak": 10**9, "ash": 10**6, "elm": -(10**6)})
    assert release.items == ("ash", "yew")  # of whom nobody is there, and who counts 0
    assert release.indices.tolist() == [0, 1]  # in the public list


@pytest.mark.parametrize(("key", "items"), [("bool", [True, False]), ("i32", np.arange(5, 9))])
def test_keys_may_be_of_another_type(key: str, items: Any) -> None:
    measurement = make_top_k(keyed(key), dp.linf_distance(T="i64"), PURE, 1, 1, items=items)
    assert measurement({items.tolist()[2]: 10**6} if key == "i32" else {False: 10**6}).items == (
        (7,) if key == "i32" else (False,)
    )


@pytest.mark.parametrize("name", ["items", "domain"])
def test_the_list_of_items_is_read_once(name: str) -> None:
    items = [*TREES]
    measurement = make_top_k(keyed(), dp.linf_distance(T="i64"), PURE, 1, 1, **{name: items})
    items.reverse()
    assert measurement({"ash": 10**6}).indices.tolist() == [0]


@pytest.mark.parametrize("scale", [3, 0.1, "1/3", Fraction(7, 2), "1e-30"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("domain", [integers(), floats()], ids=["integers", "floats"])
def test_the_noise_has_the_scale_that_was_asked_for(domain: Any, kind: str, scale: Any) -> None:
    """And the release says no less than what the map says at a distance of 1."""
    whole = domain == integers()
    metric = KINDS[kind].metric("i64" if whole else "f64")
    measurement = make_top_k(domain, metric, PURE, 2, scale, resolution="1/3")
    parameters = measurement([3, 1, 2] if whole else [3.0, 1.0, 2.0]).parameters
    assert parameters.scale == (Fraction("0.1") if scale == 0.1 else Fraction(scale))
    assert (parameters.sensitivity, parameters.resolution) == (1, Fraction(1, 3))
    one: Any = 1 if whole else 1.0
    loss = measurement.map((1, one, one) if kind == "l01inf" else one)
    assert loss <= nextafter(float(parameters.epsilon), inf)
    if kind != "l1" or whole:
        assert loss >= float(parameters.epsilon) / (1 if kind != "l01inf" or whole else 2)


# Domains that are not written out

PAIRS = Domain.subsets(["tea", "milk", "rum"], size=2)


@pytest.mark.parametrize(
    ("input_domain", "domain", "member", "winner"),
    [
        (keyed(), Domain.pattern("[A-Z][0-9]{2}"), "E11", "E11"),
        (keyed(), Domain.strings("a-z", max_length=40), "oak", "oak"),
        (keyed(), Domain(TREES), "oak", "oak"),
        (keyed(), tuple(TREES), "oak", "oak"),
        (keyed("i64"), Domain.range(0, 10**30), 10**12, 10**12),
        (keyed("i64"), range(9), 8, 8),
        (dicts, PAIRS, ("rum", "tea"), ("tea", "rum")),
        (dicts, Domain.product(TREES, Domain.range(0, 10**12)), ("oak", 7.0), ("oak", 7)),
    ],
    ids=["pattern", "strings", "list", "tuple", "range", "Python's range", "subsets", "product"],
)
def test_of_a_domain_of_any_kind_the_members_take_part(
    input_domain: Any, domain: Any, member: Any, winner: Any
) -> None:
    """In the domain's spelling; nobody else, whatever their count is."""
    metric = dp.l01inf_distance(dp.absolute_distance(T="i64"))
    space = dicts() if input_domain is dicts else input_domain
    measurement = make_top_k(space, metric, PURE, k=1, scale=1, domain=domain)
    other = -(10**6) if isinstance(member, int) else "no member"
    release = measurement({member: 10**6, other: 10**9})
    assert release.items == (winner,)
    assert type(release.items[0]) is type(winner)
    size = domain.size if isinstance(domain, Domain) else len(domain)
    assert release.domain.size == size
    assert measurement({}).items[0] in domain  # members that do not occur count 0


def test_members_that_do_not_occur_count_0() -> None:
    """Of 10^12 noises of mean 1 one exceeds 5,000 with probability 10^12·e^-5000."""
    measurement = make_top_k(
        keyed("i64"), dp.linf_distance(T="i64"), PURE, 2, 1, domain=Domain.range(0, 10**12)
    )
    release = measurement({5: 10**6, 6: -(10**6)})
    assert release.items[0] == 5
    assert release.items[1] not in (5, 6)
    assert round(release.gaps[0], -4) == 10**6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    "input_domain", [keyed(), keyed(T="f64", nan=False), dicts], ids=["integers", "floats", "dicts"]
)
def test_a_domain_costs_what_a_vector_costs(input_domain: Any, kind: str, whole: bool) -> None:
    """Of a user_domain OpenDP does not know that its counts are integers, and so neither do we."""
    metric = KINDS[kind].metric("i64" if whole else "f64")
    codes = Domain.pattern("[A-Z][0-9]{2}")
    space = dicts() if input_domain is dicts else input_domain
    measurement = make_top_k(space, metric, PURE, 3, "7/2", domain=codes)
    for each in (0, 1, 2, 5):
        number = each if whole else each / 4
        d_in = (3, 2 * number, number) if kind == "l01inf" else number
        exact = exact_loss(kind, d_in, 3, Fraction(7, 2), 10, whole=input_domain == keyed())
        check_map(measurement.map, exact, d_in)


def test_a_domain_chains_after_counts_of_whatever_is_there() -> None:
    codes = Domain.pattern(r"[A-Z][0-9]{2}(\.[0-9]{1,2})?")
    chain = dp.t.make_count_by(*rows()) >> then_top_k(PURE, 2, 4, domain=codes)
    data = ["E11.9"] * 10**4 + ["J45"] * 5_000 + ["typo"] * 10**5
    assert chain(data).items == ("E11.9", "J45")
    assert {*chain([]).items} <= {*codes}
    assert [chain.map(d_in) for d_in in range(4)] == [0.0, 0.5, 1.0, 1.5]
    then = then_top_k(PURE, 1, 4, domain=iter(TREES))
    for _ in range(2):
        assert (dp.t.make_count_by(*rows()) >> then)(ROWS).items == ("oak",)


def test_pairs_chain_after_a_transformation_of_ones_own() -> None:
    """Which counts persons: one person more moves each count by 1 at most, and all one way."""
    orders = dp.t.make_user_transformation(
        dp.user_domain("orders", lambda orders: isinstance(orders, list)),
        dp.symmetric_distance(),
        dicts(),
        dp.linf_distance(T="i64", monotonic=True),
        lambda orders: Counter(pair for order in orders for pair in combinations(order, 2)),
        lambda d_in: d_in if d_in <= 1 else 2**31 - 1,
    )
    chain = orders >> then_top_k(PURE, 1, 2, domain=PAIRS)
    assert chain([["tea", "rum"]] * 10**3 + [["tea", "beer"]] * 10**4).items == (("tea", "rum"),)
    assert chain.map(1) == 0.5
    # Each member needs one key.
    with pytest.raises(dp.OpenDPException, match="An item of the domain has two answers"):
        chain([["tea", "rum"], ["rum", "tea"]])


# What it costs


def exact_loss(kind: str, d_in: Any, k: int, scale: Fraction, steps: int, whole: bool) -> Fraction:
    return Fraction(k * KINDS[kind].steps(d_in, steps, whole), steps) / scale


def check_map(privacy: Any, exact: Fraction, d_in: Any) -> None:
    found = privacy(d_in)
    assert isinstance(found, float)
    if exact > sys.float_info.max:
        assert found == inf
    else:
        assert not isinf(found)
        assert exact <= Fraction(found)
        assert (
            found == 0 or exact < Fraction(2) ** -1000 or found < exact * (1 + Fraction(2) ** -50)
        )


SCALES = st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6)
WHOLE_DISTANCES = st.integers(0, 2**31) | st.integers(0, 20)
FLOAT_DISTANCES = st.floats(0, 1e300) | st.floats(0, 20) | st.integers(0, 40).map(lambda n: n / 8)


@pytest.mark.slow
@settings(max_examples=120)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    k=st.integers(1, 50),
    scale=SCALES,
    steps=st.integers(1, 1000),
    whole=st.booleans(),
    data=st.data(),
)
def test_the_map_is_the_formula_rounded_up(
    kind: str, k: int, scale: Fraction, steps: int, whole: bool, data: Any
) -> None:
    domain = integers() if whole else floats()
    metric = KINDS[kind].metric("i64" if whole else "f64")
    measurement = make_top_k(domain, metric, PURE, k, scale, resolution=Fraction(1, steps))
    numbers: Any = WHOLE_DISTANCES if whole else FLOAT_DISTANCES
    d_in = data.draw(numbers)
    if kind == "l01inf":
        d_in = (data.draw(st.integers(0, 5)), d_in, data.draw(numbers))
    check_map(measurement.map, exact_loss(kind, d_in, k, scale, steps, whole), d_in)


@given(d_in=st.floats(0, 100), steps=st.integers(1, 100))
def test_integers_may_have_a_distance_in_floats(d_in: float, steps: int) -> None:
    resolution = Fraction(1, steps)
    measurement = make_top_k(integers(), dp.l1_distance(T="f64"), PURE, 2, 3, resolution=resolution)
    check_map(measurement.map, exact_loss("l1", d_in, 2, Fraction(3), steps, True), d_in)


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("scale", [2.0, 0.7, 10.0])
def test_opendps_own_mechanism_costs_as_much(monotonic: bool, k: int, scale: float) -> None:
    space = integers(), dp.linf_distance(T="i64", monotonic=monotonic)
    ours = make_top_k(*space, PURE, k, scale)
    theirs = dp.m.make_noisy_top_k(*space, PURE, k, scale)
    for d_in in (0, 1, 2, 7):
        assert ours.map(d_in) == pytest.approx(theirs.map(d_in), rel=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_the_map_at_its_ends(kind: str) -> None:
    def at(d_in: Any, scale: Any = 1) -> float:
        made = make_top_k(floats(), KINDS[kind].metric("f64"), PURE, 1, scale)
        return float(made.map((2, d_in, d_in) if kind == "l01inf" else d_in))

    assert at(0.0) == 0.0
    assert at(inf) == inf
    assert at(1e308, "1e-9") == inf
    assert at(5e-324, "1e400") == 5e-324  # and not 0: the distance crosses a step
    for no_distance in (-1.0, -5e-324, nan):
        with pytest.raises(dp.OpenDPException, match="d_in must be a distance"):
            at(no_distance)


def test_a_part_of_a_distance_may_be_infinite() -> None:
    measurement = make_top_k(floats(), KINDS["l01inf"].metric("f64"), PURE, 1, 1, resolution=1)
    assert measurement.map((5, inf, 3.0)) == 6.0
    assert measurement.map((5, 4.0, inf)) == 5.0
    assert measurement.map((1, inf, 3.0)) == 3.0
    assert measurement.map((0, inf, inf)) == 0.0


# What the exact law says of it

Rounded = tuple[int, ...]


@cache
def worst_ratio(one: Rounded, other: Rounded, parameters: TopK) -> Fraction:
    """A lower bound of how much likelier one of two inputs makes some output than the other."""
    probabilities = [
        (law.gap_top_k(one, parameters, outcome), law.gap_top_k(other, parameters, outcome))
        for winners in permutations(range(len(one)), parameters.k)
        for gaps in product(range(4 // parameters.k), repeat=parameters.k)
        for outcome in [[*zip(winners, gaps, strict=True)]]
    ]
    return max(max(p.low / q.high, q.low / p.high) for p, q in probabilities)


@cache
def e_to_minus(epsilon: float) -> Fraction:
    return law.exp_minus(Fraction(epsilon), 128).low


class Grid(NamedTuple):
    """Which inputs are looked at: all answers and all moves on it.

    Up to the distance `complete` it has moves that tell as much as any others.
    """

    k: int
    whole: bool
    answers: list[Fraction]
    moves: list[Fraction]
    complete: int


EIGHTHS = [Fraction(i, 8) for i in range(-8, 9)]
GRIDS = {
    "integers": Grid(1, True, [*map(Fraction, range(2))], [*map(Fraction, range(-2, 3))], 4),
    "three integers": Grid(2, True, [Fraction(0)], [*map(Fraction, range(-1, 2))], 1),
    "floats": Grid(1, False, [Fraction(0), Fraction(1, 2), Fraction(7, 8)], EIGHTHS, 1),
}


@cache
def pairs(kind: str, grid: str) -> list[tuple[Any, Rounded, Rounded]]:
    """Every two inputs on the grid, as their distance and what is left of them by rounding."""
    k, _, answers, possible, _ = GRIDS[grid]
    found: dict[Any, None] = {}
    for one in product(answers, repeat=k + 1):
        for moves in product(possible, repeat=k + 1):
            d_in = KINDS[kind].distance([*moves])
            other = [answer + move for answer, move in zip(one, moves, strict=True)]
            if d_in != inf:
                found[d_in, rounded(one), rounded(other)] = None
    return [*found]


def rounded(answers: Iterable[Fraction]) -> Rounded:
    """Rounded down to steps of 1, and moved alike so that the least is 0, which no output tells."""
    steps = [*map(floor, answers)]
    return tuple(step - min(steps) for step in steps)


def parts(d_in: Any) -> tuple[Any, ...]:
    return d_in if isinstance(d_in, tuple) else (d_in,)


def told_by_the_law(kind: str, grid: str) -> tuple[list[Any], list[Any]]:
    """Distances at which an output tells more than the map says, and those at which none as much.

    The first are proofs, for the bounds of the law are. As much is 99 of 100, at this distance or
    a smaller one, where the grid is complete; on that of eighths, two answers need a quarter.
    """
    k, whole, *_, complete = GRIDS[grid]
    metric = KINDS[kind].metric("i64" if whole else "f64")
    domain = integers() if whole else floats()
    measurement = make_top_k(domain, metric, PURE, k, 2, resolution=1)
    parameters = TopK(k, Fraction(k, 2), resolution=1, monotonic=True)  # of the same scale
    ratios: dict[Any, Fraction] = {}
    for d_in, one, other in pairs(kind, grid):
        ratios[d_in] = max(ratios.get(d_in, Fraction(0)), worst_ratio(one, other, parameters))
    more, less = [], []
    for d_in in ratios:
        first, *others = (int(d) if whole else float(d) for d in parts(d_in))
        allowed = measurement.map((int(first), *others) if others else first)
        if ratios[d_in] * e_to_minus(allowed) > 1:
            more.append(d_in)
        up_to_here = (
            ratio
            for smaller, ratio in ratios.items()
            if all(s <= d for s, d in zip(parts(smaller), parts(d_in), strict=True))
        )
        on_grid = all(d <= complete and d % Fraction(1, 4) == 0 for d in parts(d_in)[-2:])
        if allowed > 0 and on_grid and max(up_to_here) * e_to_minus(allowed * 0.99) <= 1:
            less.append(d_in)
    return more, less


@pytest.mark.slow
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_output_tells_more_than_the_map_says_and_some_as_much(kind: str, grid: str) -> None:
    assert len({d_in for d_in, *_ in pairs(kind, grid)}) > 1
    assert told_by_the_law(kind, grid) == ([], [])


# Broken on purpose

LAW_MUTANTS = [
    Mutant("d_in is rounded down", "ceil(Fraction(distance)", "int(Fraction(distance)"),
    Mutant("d_in is not rounded", "ceil(Fraction(distance)", "(Fraction(distance)"),
    Mutant("half of it where answers move both ways", "return 2 * each", "return each"),
    Mutant("the step that floats cross is forgotten", "0 if self.whole else 1", "0"),
    Mutant("two answers are taken for one", "one_way=moving <= 1", "one_way=moving <= 2"),
    Mutant("any linf is taken for monotonic", "MetricInfo(_linf, ", "MetricInfo(_monotonic, "),
    Mutant("l1 is taken for monotonic", "MetricInfo(_l1, ", "MetricInfo(_monotonic, "),
    Mutant("only one of two moves is counted", "min(2 * each, ", "min(each, "),
    Mutant("k is forgotten", "self.parameters.k * ", ""),
]  # fmt: skip
FORMULA_MUTANTS = [
    Mutant("rounded to the nearest", "nearest if nearest >= exact else", "nearest if True else"),
    Mutant("rounded down", "nextafter(nearest, inf)", "nextafter(nearest, -inf)"),
    Mutant("no loss beyond the floats", "OverflowError:\n        return inf", "OverflowError:\n        return 0.0"),  # noqa: E501
    Mutant("d_in as a decimal", "Fraction(distance)", "Fraction(str(distance))"),
    Mutant("k is forgotten", "self.parameters.k * ", ""),
]  # fmt: skip


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, mutant: Mutant) -> None:
    module = mutated(privacy_map, mutant)
    monkeypatch.setattr(constructors, "PrivacyMap", module.PrivacyMap)
    monkeypatch.setattr(constructors, "read_metric", module.read_metric)


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("mutant", LAW_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_map_is_found_by_the_law(mutant: Mutant) -> None:  # noqa: ARG001
    assert any(told_by_the_law(kind, grid)[0] for kind in KINDS for grid in GRIDS)


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("mutant", FORMULA_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_map_is_found_by_the_formula(mutant: Mutant) -> None:  # noqa: ARG001
    def differs(d_in: float) -> bool:
        made = make_top_k(floats(), dp.linf_distance(T="f64"), PURE, 30, 7, resolution="1/10")
        try:
            check_map(made.map, exact_loss("linf", d_in, 30, Fraction(7), 10, False), d_in)
        except AssertionError:
            return True
        return False

    # The double beside 0.3 lies below it, and the one beside 0.7 too; that of 0.1 lies above.
    assert any(map(differs, [0.1, 0.2, 0.3, 0.7, 1.0, 2.0, 3.0, 5.0, 1.7e308]))


# In OpenDP's company


@pytest.mark.parametrize("null_category", [True, False])
def test_it_chains_after_counts_of_categories(null_category: bool) -> None:
    counts = dp.t.make_count_by_categories(*rows(), TREES, null_category=null_category)
    items = [*TREES, None] if null_category else TREES
    top = make_top_k(counts.output_domain, counts.output_metric, PURE, 2, 4, items=items)
    chain = counts >> top
    assert chain(ROWS).items == ("oak", "ash")
    assert [chain.map(d_in) for d_in in range(4)] == [0.0, 0.5, 1.0, 1.5]
    assert chain.check(1, 0.5)
    assert not chain.check(1, 0.49)


def test_it_chains_after_counts_of_whatever_is_there() -> None:
    counts = dp.t.make_count_by(*rows(), TV="i64")
    top = make_top_k(counts.output_domain, counts.output_metric, PURE, 2, 4, items=TREES)
    chain = counts >> top
    assert chain(ROWS).items == ("oak", "ash")
    assert chain([]).parameters.k == 2  # nobody at all, and still two are named
    assert [chain.map(d_in) for d_in in range(4)] == [0.0, 0.5, 1.0, 1.5]


def test_it_chains_after_scores() -> None:
    """A vector of known size, with `linf_distance` that is not monotonic."""
    ages = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    scores = dp.t.make_quantile_score_candidates(*ages, candidates=[20, 40, 60], alpha=0.5)
    chain = scores >> then_top_k(PURE, k=1, scale=8)
    assert chain.map(1) == 2 * scores.map(1) / 8
    assert chain([20] * 10**4).items in [(1,), (2,)]  # the largest score is the worst
    with pytest.raises(AnswersError, match="k = 3 needs at least 4 answers"):
        _ = scores >> then_top_k(PURE, k=3, scale=8)


def test_what_follows_a_space_or_a_transformation_is_the_same() -> None:
    counts = dp.t.make_count_by(*rows())
    then = then_top_k(PURE, 2, "7/2", resolution=1, gaps=False, items=iter(TREES))
    for measurement in (counts.output_space >> then, counts >> then, rows() >> counts_then(then)):
        d_in = 1 if measurement.input_metric == dp.symmetric_distance() else (1, 1, 1)
        assert measurement.map(d_in) == privacy_map.round_up(Fraction(4, 7))
        assert measurement({"oak": 9} if d_in != 1 else ["oak"]).gaps is None


def counts_then(then: Any) -> Any:
    return dp.t.then_count_by() >> then


def test_it_does_not_chain_where_the_metric_differs() -> None:
    """Not even by the flag alone."""
    monotonic = make_top_k(integers(), dp.linf_distance(T="i64", monotonic=True), PURE, 1, 1)
    other = dp.t.make_user_transformation(
        integers(), dp.linf_distance(T="i64"), integers(), dp.linf_distance(T="i64"),
        lambda answers: answers, lambda d_in: d_in,
    )  # fmt: skip
    with pytest.raises(dp.OpenDPException, match="MetricMismatch"):
        _ = other >> monotonic


def chained(scale: Any) -> Any:
    return dp.t.make_count_by(*rows()) >> then_top_k(PURE, 2, scale, items=TREES)


def test_it_composes() -> None:
    parts = [chained(4), chained("1/3"), chained(10)]
    together = dp.c.make_composition(parts)
    for d_in in (0, 1, 2, 5):
        losses = [part.map(d_in) for part in parts]
        assert sum(map(Fraction, losses)) <= Fraction(together.map(d_in))
        assert together.map(d_in) == pytest.approx(sum(losses), rel=1e-15)
    assert [release.items for release in together(ROWS)] == [("oak", "ash")] * 3
    with_another = dp.c.make_composition(
        [parts[0], dp.t.make_count(*rows()) >> dp.m.then_laplace(scale=2.0)]
    )
    release, count = with_another(ROWS)
    assert (release.items, type(count)) == (("oak", "ash"), int)
    assert with_another.map(1) == 1.0


def test_it_composes_one_after_the_other() -> None:
    """`make_adaptive_composition` is the present name of `make_sequential_composition`."""
    composition = dp.c.make_adaptive_composition(*rows(), PURE, d_in=1, d_mids=[0.5, 1.0])
    assert composition.map(1) == 1.5
    ask = composition(ROWS)
    assert ask(chained(4)).items == ("oak", "ash")
    with pytest.raises(dp.OpenDPException, match="insufficient budget"):
        ask(chained("3/2"))  # 4/3 is more than what is left
    assert ask(chained(2)).items == ("oak", "ash")


def test_an_odometer_adds_it_up() -> None:
    ask = dp.c.make_fully_adaptive_composition(*rows(), PURE)(ROWS)
    for _ in range(3):
        assert ask(chained(4)).items == ("oak", "ash")
    assert ask.privacy_loss(1) == 1.5


def test_a_context_takes_it() -> None:
    context = dp.Context.compositor(
        data=ROWS,
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=2,
    )
    assert context(chained(4)).items == ("oak", "ash")
    with pytest.raises(dp.OpenDPException):
        context(chained(3))


def test_other_combinators_take_it() -> None:
    chain = chained(4)
    assert dp.c.make_pureDP_to_zCDP(chain).map(1) == 0.125
    assert (chain >> (lambda release: release.items))(ROWS) == ("oak", "ash")
    ages = dp.vector_domain(dp.atom_domain(T=int), size=10), dp.symmetric_distance()
    sized = dp.t.make_count_by_categories(*ages, [1, 2]) >> then_top_k(PURE, 1, 1)
    assert dp.c.make_population_amplification(sized, 100).map(2) < sized.map(2) / 2


def test_the_scale_can_be_searched_for() -> None:
    scale = dp.binary_search_param(chained, d_in=3, d_out=1.0, bounds=(1.0, 9.0))
    assert chained(scale).map(3) <= 1.0
    assert scale == pytest.approx(6.0)


# What it refuses

SPACE: dict[str, Any] = {"input_domain": integers(), "input_metric": dp.linf_distance(T="i64")}
REFUSALS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"input_domain": [1, 2]}, ParameterTypeError, "input_domain must be a domain of OpenDP"),
    ({"input_domain": dp.atom_domain(T=int)}, ParameterError, "a vector_domain or a map_domain"),
    ({"input_domain": dp.bitvector_domain(8)}, ParameterError, "of numbers"),
    (
        {"input_domain": dp.vector_domain(dp.atom_domain(T=str))},
        ParameterError,
        "a map_domain of numbers",
    ),
    ({"input_domain": keyed(T=bool), "items": TREES}, ParameterError, "a map_domain of numbers"),
    ({"input_domain": dp.vector_domain(dp.atom_domain(T=float))}, ParameterError, "free of NaN"),
    ({"input_domain": keyed(T=float), "items": TREES}, ParameterError, "free of NaN"),
    ({"input_metric": "linf"}, ParameterTypeError, "input_metric must be a metric of OpenDP"),
    *(
        ({"input_metric": metric}, ParameterError, "the privacy map has no proof")
        for metric in (
            dp.symmetric_distance(),
            dp.l2_distance(T=int),
            dp.absolute_distance(T=int),
            dp.discrete_distance(),
            dp.l02inf_distance(dp.absolute_distance(T=int)),
            dp.l01inf_distance(dp.symmetric_distance()),
        )
    ),
    ({"output_measure": 1.0}, ParameterTypeError, "output_measure must be a measure of OpenDP"),
    (
        {"output_measure": dp.zero_concentrated_divergence()},
        ParameterError,
        "output_measure must be max_divergence",
    ),
    ({"k": 0}, ParameterError, "k must be at least 1"),
    ({"k": 1.0}, ParameterTypeError, "k must be a whole number"),
    ({"scale": 0}, ParameterError, "scale must be greater than 0"),
    ({"scale": nan}, ParameterError, "scale must be a finite number, not NaN"),
    ({"scale": None}, ParameterTypeError, "scale must be an int, float"),
    ({"resolution": "2/3"}, ParameterError, "resolution must be one divided by an integer"),
    ({"gaps": 1}, ParameterTypeError, "gaps must be True or False"),
    ({"input_domain": integers(2), "k": 2}, AnswersError, "k = 2 needs at least 3 answers"),
    ({"input_domain": integers(0)}, AnswersError, "The answers are empty"),
    ({"items": ["ash"]}, AnswersError, "k = 1 needs at least 2 answers"),
    ({"items": "ash"}, ItemsError, "items must be a list of names, not str"),
    ({"items": 3}, ItemsError, "items must be a list of names, not int"),
    ({"items": ["ash", "ash"]}, ItemsError, "Two items have the same name"),
    ({"input_domain": integers(3), "items": TREES}, ItemsError, "There are 4 items for 3 answers"),
    ({"input_domain": keyed()}, ItemsError, "a secret of the data; give domain="),
    ({"input_domain": keyed(), "items": ["ash"]}, AnswersError, "needs at least 2 answers"),
    ({"input_domain": keyed(), "items": ["ash", 3]}, ItemsError, "of type String"),
    ({"input_domain": keyed("i32"), "items": [3, True]}, ItemsError, "of type i32"),
    ({"input_domain": keyed("bool"), "items": [0, 1]}, ItemsError, "of type bool"),
    ({"domain": TREES}, DomainError, "A vector names no items, so no domain can be given"),
    ({"input_domain": dicts}, ItemsError, "a secret of the data; give domain="),
    ({"input_domain": keyed(), "domain": TREES, "items": TREES}, ItemsError, "only domain="),
    ({"input_domain": keyed(), "domain": FROM_DATA}, DomainError, "holds only for public items"),
    ({"input_domain": keyed(), "domain": "ash"}, DomainError, "A str is not a list of items"),
    ({"input_domain": keyed(), "domain": ["ash"]}, DomainError, "must have at least 2 items"),
    ({"input_domain": keyed(), "domain": ["ash", 3]}, ItemsError, "of type String"),
    ({"input_domain": keyed(), "domain": Domain.range(0, 9)}, ItemsError, "of type String"),
    ({"input_domain": keyed(), "domain": PAIRS}, ItemsError, "give a user_domain of dicts"),
    ({"input_domain": dicts, "domain": PAIRS, "k": 3}, DomainError, "at least 4 items"),
    (
        {"input_domain": keyed("i64"), "domain": Domain.range(0, 10**12), "scale": "1e30"},
        ParameterError,
        "needs noise that the kernel's integers can hold",
    ),
]


@pytest.mark.parametrize(("given", "error", "sentence"), REFUSALS)
def test_what_cannot_be_used_is_refused_in_a_sentence(
    given: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    arguments = {**SPACE, "output_measure": PURE, "k": 1, "scale": 1, **given}
    if arguments["input_domain"] is dicts:
        arguments["input_domain"] = dicts()
    with pytest.raises(error, match=sentence) as refused:
        make_top_k(**arguments)
    assert type(refused.value) is error
    assert str(refused.value).endswith(".")


def test_without_opendps_features_it_says_what_to_type() -> None:
    dp.disable_features("honest-but-curious")
    try:
        with pytest.raises(ParameterError, match=r"enable_features\('contrib', 'honest-"):
            make_top_k(**SPACE, output_measure=PURE, k=1, scale=1)
    finally:
        dp.enable_features("honest-but-curious")


@pytest.mark.parametrize(
    ("domain", "data", "sentence"),
    [
        (integers(), [987_654], "k = 1 needs at least 2 answers, not 1"),
        (integers(), [], "The answers are empty"),
        (floats(), [987_654.0, nan], "Every answer must be a finite number"),
        (floats(), [987_654.0, -inf], "Every answer must be a finite number"),
    ],
)
def test_an_error_in_the_data_shows_none_of_them(domain: Any, data: Any, sentence: str) -> None:
    metric = dp.linf_distance(T="i64" if domain == integers() else "f64")
    measurement = make_top_k(domain, metric, PURE, 1, 1)
    with pytest.raises(dp.OpenDPException, match=sentence) as refused:
        measurement(data)
    assert "987" not in str(refused.value)


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        (
            "import importlib.util as u; find = u.find_spec; "
            "u.find_spec = lambda name: None if name == 'opendp' else find(name)",
            "topgap.opendp needs OpenDP: pip install 'topgap[opendp]'.",
        ),
        (
            "import importlib.metadata as m; m.version = lambda name: '0.9.2'",
            "topgap.opendp needs OpenDP 0.14, and 0.9.2 is installed: pip install "
            "'topgap[opendp]'.",
        ),
    ],
    ids=["none", "old"],
)
def test_without_opendp_it_says_what_to_install(before: str, sentence: str) -> None:
    code = (
        f"import topgap\n{before}\n"
        "try:\n    topgap.opendp\nexcept topgap.MissingExtraError as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == sentence


# What it is made of


def test_answers_meet_no_float_and_no_foreign_randomness() -> None:
    """As tests/test_privacy_path.py demands; here OpenDP itself is known to be there."""
    known = ("from opendp.", "from topgap.opendp.", "the quotient sides * moving / beta")
    for module in (constructors, domains):
        assert [o for o in offences(inspect.getsource(module)) if not o.startswith(known)] == []


@pytest.mark.slow
def test_the_package_loads_it_when_it_is_asked_for() -> None:
    assert topgap.opendp.make_top_k is constructors.make_top_k
    code = "import topgap, sys; assert 'opendp' not in sys.modules; topgap.opendp.then_top_k"
    subprocess.run([sys.executable, "-c", code], check=True)
