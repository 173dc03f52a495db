"""Plans for domains: what an item needs to be named, and how many of the named nobody has."""

import json
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure as Chart

from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from topgap import DomainError, ParameterError, ParameterTypeError, TopgapError, TopK, law, margins
from topgap.domains import FROM_DATA, Counts, Domain
from topgap.law import Bounds
from topgap.margins import people_needed, probability_named
from topgap.planning import DomainPlan, Figure, Lists, plan, plan_domain, simulation
from topgap.planning.public_counts import PublicCounts

FAR = 40  # noise of mean 1 makes up for it with a probability below 10^−16


def empty(lists: Lists) -> Figure:
    """How many of the named nobody has, where there is a domain."""
    assert lists.empty is not None
    return lists.empty


@cache
def exact_law(answers: tuple[int, ...], parameters: TopK) -> Bounds:
    """The probability that the first ones are named, in this order."""
    return law.top_k([*answers], parameters, [*range(parameters.k)])


# --- The closed form


def wrong_probabilities(module: Any) -> list[str]:
    """Which probabilities are not those that the exact law gives for a list written out."""
    found = []
    cases = [(1, 2, 1), (1, 4, 1), (1, 4, 0), (1, 7, 5), (1, 9, 1), (2, 3, 1), (2, 7, 2)]
    for (k, size, count), scale in product(cases, (Fraction(1), Fraction(1, 2))):
        parameters = TopK(k, k / scale, resolution=1, monotonic=True)
        answers = (*[FAR] * (k - 1), count, *[0] * (size - k))
        exact = exact_law(answers, parameters)
        got = module.probability_named(parameters, size, count)
        if not exact.low - Fraction(1, 10**14) < got < exact.high + Fraction(1, 10**14):
            found.append(f"{got} for {answers}")
    return found


def test_the_probability_is_that_of_the_exact_law() -> None:
    assert wrong_probabilities(margins) == []


@pytest.mark.parametrize("mutant", [
    Mutant("one item too few", "size - parameters.k + 1)", "size - parameters.k)"),
    Mutant("k is not left out", "size - parameters.k + 1)", "size)"),
    Mutant("a term too many", "nt - j * t) / (j + 1)", "nt) / (j + 1)"),
    Mutant("the wrong factorial", "nt - j * t) / (j + 1)", "nt - j * t) / j"),
    Mutant("for many items alone", "-log1p(-t) / t if t < 1 else inf", "1.0"),
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_another_formula_is_found(mutant: Mutant) -> None:
    assert wrong_probabilities(mutated(margins, mutant)) != []


@pytest.mark.parametrize("size", [2, 3, 50, 10**6, 10**12, 2**160])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(10), Fraction(1000)])
def test_nothing_is_lost_by_floats(size: int, scale: Fraction) -> None:
    parameters = TopK(1, 1 / scale, monotonic=True)
    counts = sorted({0, 1, 7, *(people_needed(parameters, size, p) for p in ("0.1", "0.99999"))})
    with localcontext(prec=300):
        for count in counts:
            t = (-Decimal(count) * scale.denominator / scale.numerator).exp()
            power = (size * (1 - t).ln()).exp() if count else Decimal(0)
            missed = 1 - (1 - power) / (size * t)
            got = Decimal(margins._probability_missed(parameters, size, count))
            assert abs(got - missed) <= missed * Decimal("1e-12")


@pytest.mark.parametrize("size", [11, 12, 1000, 10**12, 2**256, 10**4000])
@pytest.mark.parametrize("probability", ["0.01", "1/2", "0.95", "0.999999999999"])
def test_it_is_the_least_number_of_people(size: int, probability: str) -> None:
    parameters = TopK(10, "1/3")
    people = people_needed(parameters, size, probability)
    missing = 1 - Fraction(probability)
    assert margins._probability_missed(parameters, size, people) <= missing
    if people:
        assert margins._probability_missed(parameters, size, people - 1) > missing
    at_least_one = Fraction(1, size - 9) < Fraction(probability)
    assert (people > 0) == at_least_one


def test_more_noise_takes_more_people_and_extremes_are_told() -> None:
    one = TopK(1, 1, monotonic=True)
    assert people_needed(TopK(1, "1e-100", monotonic=True), 10**4000) > 10**103
    assert people_needed(one, 10**4000) == 9213  # ln 10^4000 = 9210.34, and 2.27 for 95%
    assert people_needed(one, 10**12, 1 - Fraction(1, 10**100)) == 258  # 12 + 100 tens, less ln 2
    assert probability_named(one, 10**4000, 0) == 0
    assert probability_named(one, 10**4000, 10**400) == 1
    assert probability_named(one, 10**4000, 5000) == 0


@pytest.mark.parametrize(("arguments", "kind", "said"), [
    ((10,), ParameterError, "size must be above k = 10"), ((0,), ParameterError, "size must be"),
    ((10.0**12,), ParameterTypeError, "size must be a whole number"),
    ((100, 1), ParameterError, "probability must be below 1"),
    ((100, 0), ParameterError, "probability must be greater than 0"),
    ((100, 1 - Fraction(1, 10**101)), ParameterError, "probability must be at most 1 - 1e-100"),
    ((100, None), ParameterTypeError, "probability must be an int"),
])  # fmt: skip
def test_what_people_needed_refuses(arguments: Any, kind: type[TopgapError], said: str) -> None:
    with pytest.raises(kind, match=said) as error:
        people_needed(TopK(10, 1), *arguments)
    assert str(error.value).endswith(".")


# --- The simulation


RELEASES = 20_000


def unlikely(false_alarm: float) -> list[str]:
    """Whether simulated lists have as many items that nobody has as the closed form says.

    Of three named, two have far more people than all others; the last place is that of the third
    item, or of one that nobody has.
    """
    found = []
    for size in (6, 2**160):
        parameters = TopK(3, 1, monotonic=True)
        count = people_needed(parameters, size, "0.7")
        (row,) = plan(
            [10**6, 10**5, count], 3, 1, releases=RELEASES, monotonic=True, domain=size
        ).rows
        for lists, part in ((row.names, 1), (row.estimates, 2)):
            selecting = TopK(3, Fraction(1, part), monotonic=True)
            if lists.people_needed != people_needed(selecting, size):
                found.append("the people that an item needs")
            missed = 1 - probability_named(selecting, size, count)
            happened = round(empty(lists).value * RELEASES)
            seen = Counter({True: happened, False: RELEASES - happened})
            near = Bounds(Fraction(missed - 1e-9), Fraction(missed + 1e-9))
            found += misfits(seen, [True], lambda _, near=near: near, false_alarm / 4)  # type: ignore[misc]
            if lists.right.value != pytest.approx(1 - empty(lists).value):
                found.append("a list is right if nobody's item is not on it")
    return found


@pytest.mark.statistical(false_alarm=1e-9)
def test_as_many_are_empty_as_the_closed_form_says(false_alarm: float) -> None:
    # Four probabilities are looked at, each at a quarter of the rate.
    assert unlikely(false_alarm) == []


@pytest.mark.parametrize("mutant", [
    Mutant("no run", "if not counts.unlisted:\n        return kernel", "if True:\n        return kernel"),  # noqa: E501
    Mutant("half of the run", "runs=[(0, counts.unlisted, 0)]", "runs=[(0, counts.unlisted // 2, 0)]"),  # noqa: E501
    Mutant("the run has one person", "runs=[(0, counts.unlisted, 0)]", "runs=[(1, counts.unlisted, 0)]"),  # noqa: E501
    Mutant("ε of the names for both", "_Accuracy(counts, shares.selection)", "_Accuracy(counts, parameters)"),  # noqa: E501
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_another_run_is_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    # 20,000 releases miss any of it less often than once in 10^20: the run of 2, or a probability
    # that is off by 0.05 and more.
    monkeypatch.setattr("topgap.planning.planner.simulate", mutated(simulation, mutant).simulate)
    assert unlikely(1e-9) != []


def test_an_item_of_the_run_counts_as_one_that_nobody_has() -> None:
    # Of ten million items nobody has any: each list is right, and none of its items is anybody's.
    (row,) = plan([0, 0], 3, 1, releases=50, domain=10**7).rows
    assert (row.names.right.value, row.names.in_order.value) == (1, 1)
    assert (row.names.overlap.value, empty(row.names).value) == (3, 3)
    (row,) = plan([], 1, 1, releases=50, domain=2).rows
    assert empty(row.names).value == 1


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.float64, object, list])
def test_zeros_are_seen_however_counts_are_stored(kind: Any) -> None:
    given = [5, 0, 3]
    counts = PublicCounts.of(
        given if kind is list else np.array(given, dtype=kind), TopK(2, 1), domain_size=10**30
    )
    assert counts.unlisted == 10**30 - 4
    assert counts.ranks.tolist() == [2, 0, 1, 0]
    assert counts.count_empty(np.array([[0, 1], [3, 3], [2, 0]])).tolist() == [1, 2, 0]
    assert PublicCounts.of([5], TopK(3, 1), domain_size=9).top_ranks.tolist() == [1, 0, 0]


@pytest.mark.statistical(false_alarm=1e-12)
def test_counts_too_large_for_the_kernel_take_their_time() -> None:
    # 60 releases, in each of which one of 10^12 noises of mean 2 or 4 had to be 10^17.
    counts = [10**30, 10**20, 10**17, 1]
    (row,) = plan(counts, 3, 1, releases=30, monotonic=True, domain=10**12).rows
    assert empty(row.names).value == empty(row.estimates).value == 0
    (row,) = plan(counts[:2], 3, 1, releases=30, monotonic=True, domain=10**12).rows
    assert empty(row.names).value == empty(row.estimates).value == 1


# --- What is asked for


def test_a_domain_chooses_as_it_does_in_a_release() -> None:
    counts = {"A10": 10**6, "B20": 10**5, "flu": 10**9, "A11": 0}
    codes = Domain.pattern("[A-Z][0-9]{2}")
    made = plan(counts, 2, 1, releases=20, domain=codes)
    assert (made.items, made.domain_size) == (3, 2600)
    assert empty(made.rows[0].names).value == 0
    assert plan(Counts(counts, domain=codes), 2, 1, releases=2).domain_size == 2600
    listed = plan(counts, 2, 1, releases=20, domain=["A10", "B20", "C30"])
    assert (listed.items, listed.domain_size) == (3, 3)
    for domain in (None, FROM_DATA):
        without = plan(counts, 2, 1, releases=2, domain=domain)
        assert (without.items, without.domain_size, without.rows[0].names.empty) == (4, None, None)


@pytest.mark.parametrize(("counts", "domain", "kind", "said"), [
    ([3, 2], 2, DomainError, "at least 3 items; it has 2"),
    ([3, 2, 1, 1], 3, DomainError, "fewer items than there are counts"),
    ([3], 0, ParameterError, "domain must be at least 1"),
    ([3], 10**4001, DomainError, "at most 10"),
    ([3], 1e12, DomainError, "not a list of items"),
    ([3], True, DomainError, "not a list of items"),
    ([3], "abc", DomainError, "not a list of items"),
    ([3], Domain.range(0, 9), TopgapError, "name their items"),
    ([3], 10**12, ParameterError, "noise that the kernel's integers can hold"),
])  # fmt: skip
def test_domains_that_cannot_be_planned_for(
    counts: Any, domain: Any, kind: type[TopgapError], said: str
) -> None:
    epsilon = "1e-60" if "noise" in said else 1
    with pytest.raises(kind, match=said) as error:
        plan(counts, 2, epsilon, releases=2, domain=domain)
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(("arguments", "kind", "said"), [
    ((10, 10), DomainError, "at least 11 items; it has 10"),
    ((10**12, [5, 10**12]), DomainError, "k = 1000000000000 the domain"),
    ((1e12, 10), ParameterTypeError, "domain must be a Domain, or its size as an int, not float"),
    (("many", 10), ParameterTypeError, "not str"),
    ((-5, 10), ParameterError, "domain must be at least 1"),
    ((10**4001, 10), DomainError, "at most 10"),
    ((10**12, []), ParameterError, "k must have a value"),
    ((10**12, 0), ParameterError, "k must be at least 1"),
    ((10**12, 2.0), ParameterTypeError, "k must be a whole number"),
    ((10**12, 10, []), ParameterError, "epsilons must have a value"),
])  # fmt: skip
def test_what_plan_domain_refuses(arguments: Any, kind: type[TopgapError], said: str) -> None:
    with pytest.raises(kind, match=said) as error:
        plan_domain(*arguments)
    assert str(error.value).endswith(".")
    with pytest.raises(ParameterError, match="probability must be below 1"):
        plan_domain(10**12, 10, probability=1)


# --- What comes out


@pytest.fixture(scope="module")
def made() -> DomainPlan:
    return plan_domain(10**12, [25, 10], [1, "1/3"], monotonic=True)


def test_a_plan_of_a_domain_holds_the_same_in_all_forms(made: DomainPlan) -> None:
    grid = [(row.epsilon, row.k) for row in made.rows]
    assert grid == [(Fraction(1, 3), 10), (Fraction(1, 3), 25), (1, 10), (1, 25)]
    for row in made.rows:
        parameters = TopK(row.k, row.epsilon, monotonic=True)
        assert row.scale == parameters.scale
        assert row.people == people_needed(parameters, 10**12)
        assert row.people_for_half == people_needed(parameters, 10**12, "1/2")
    read = json.loads(made.to_json())
    assert read == made.to_dict()
    assert (read["domain_size"], read["probability"]) == ("1000000000000", "19/20")
    assert read["rows"][2] == {
        "epsilon": "1", "k": 10, "scale": 10.0, "people": 299, "people_for_half": 272,
    }  # fmt: skip
    frame = made.to_pandas()
    assert frame["people"].tolist() == [row.people for row in made.rows]
    assert [*frame.columns] == made.to_arrow().column_names == made.to_polars().columns
    assert made == plan_domain(Domain.range(0, 10**12), (10, 25), ["1/3", 1], monotonic=True)
    surer = plan_domain(10**12, 10, 1, monotonic=True, probability="0.99")
    assert surer.rows[0].people == people_needed(TopK(10, 1, monotonic=True), 10**12, "0.99")
    assert "people for 99%" in str(surer)
    assert [line.split() for line in str(made).splitlines()[:3]] == [
        ["ε", "k", "noise", "people", "for", "95%", "for", "50%"],
        ["1/3", "10", "30", "897", "815"], ["25", "75", "2,243", "2,038"],
    ]  # fmt: skip
    assert max(map(len, str(made).splitlines())) <= 100
    assert made._repr_html_().count("<tr>") == 5
    assert repr(made) == "<DomainPlan for 1,000,000,000,000 items, 4 rows>"


def test_a_plan_with_a_domain_has_its_columns_in_all_forms() -> None:
    made = plan([60, 50, 40], 2, ["1/2", 1], releases=50, monotonic=True, domain=10**30)
    read, frame = json.loads(made.to_json()), made.to_pandas()
    assert (read["items"], read["domain_size"]) == (3, str(10**30))
    for place, row in enumerate(made.rows):
        assert read["rows"][place]["names_empty"] == [*empty(row.names)]
        assert frame["estimates_empty"][place] == empty(row.estimates).value
        assert frame["estimates_empty_se"][place] == empty(row.estimates).standard_error
        needed = read["rows"][place]["names_people_needed"]
        assert needed == frame["names_people_needed"][place] == row.names.people_needed
    lines = str(made).splitlines()
    assert lines[0].split()[-8:] == [
        "of", "2", "empty", "needed", "error", "measured", "with", "gaps",
    ]  # fmt: skip
    assert lines[1].split()[-1] == f"{made.rows[0].names.people_needed}"
    assert lines[5].startswith("The 2 largest of about 1.0·10^30 items: ")
    assert max(map(len, lines)) <= 100
    axes: Any = tuple(Chart().subplots(2, 1))
    drawn = {line.get_label(): list(line.get_ydata()) for line in made.plot(axes)[0].get_lines()}  # type: ignore[arg-type]
    assert drawn["share of the list that nobody has: counts too"] == [
        empty(row.estimates).value / 2 for row in made.rows
    ]
    without = plan([60, 50, 40], 2, 1, releases=2)
    assert not [name for name in without.columns() if "empty" in name or "needed" in name]
    assert "empty" not in str(without)
    assert "domain_size" not in without.to_dict()


def test_a_plan_of_a_domain_compares_bounds() -> None:
    made = plan_domain(10**12, [10, 100], 1, monotonic=True, items_per_person=[20, 5, 5])
    assert [(row.k, row.items_per_person, row.people) for row in made.rows] == [
        (k, bound, people_needed(TopK(k, 1, monotonic=True, items_per_person=bound), 10**12))
        for k in (10, 100)
        for bound in (None, 5, 20)
    ]
    read = json.loads(made.to_json())["rows"]
    assert [row["items_per_person"] for row in read] == [None, 5, 20] * 2
    assert made.to_arrow()["items_per_person"].to_pylist() == [None, 5, 20] * 2
    assert made.to_polars()["items_per_person"].to_list() == [None, 5, 20] * 2
    assert made.to_pandas()["items_per_person"].isna().tolist() == [True, False, False] * 2
    assert [line.split()[-5:] for line in made.to_text().splitlines()[:5]] == [
        ["people", "for", "95%", "for", "50%"],
        ["10", "any", "10", "299", "272"], ["5", "5", "155", "137"], ["20", "10", "299", "272"],
        ["100", "any", "100", "2,990", "2,717"],
    ]  # fmt: skip
    assert "with L &lt; k the noise is Laplace noise" in made._repr_html_()
    alone = plan_domain(10**12, 10, 1)
    assert "items_per_person" not in alone.to_json() + "".join(alone.columns())
    for bounds, said in (([], "must have a bound"), ([0], "at least 1"), ({1: {}}, "no counts")):
        with pytest.raises(TopgapError, match=said):
            plan_domain(10**12, 10, 1, items_per_person=bounds)


def test_what_no_column_holds_is_a_float() -> None:
    made = plan_domain(10**12, 10, ["1e-99", 1], sensitivity=10**300)
    assert made.columns()["people"][0] == float("inf")
    assert json.loads(made.to_json())["rows"][0]["people"] is None
    made = plan_domain(10**12, 10, ["1e-50", 1])
    assert made.columns()["people"][1] == 598.0
    assert "× 10⁵²" in str(made)
