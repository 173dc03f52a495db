"""Lists by group in the ledger: one charge for all of them, and what it is settled to."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import topgap
from tests.checking.mutants import Mutant
from tests.cli.test_budget import told
from tests.ledger.sample_ledgers import (
    VERSION_1,
    VERSION_2,
    VERSION_3,
    Clock,
    cut,
    entries_of,
    is_found,
    put_in_place,
    quick_folder,
    refused,
)
from tests.ledger.test_settlements import Terminal, begun, verified
from topgap import GroupedRelease, TopKByGroup, grouped_parameters
from topgap.cli.charges import confirm_charge, describe_charge
from topgap.ledger import Charge, Ledger, charging, settlement
from topgap.ledger.charging import LedgerCharge, prepare_charge
from topgap.ledger.entry import Entry
from topgap.numbers.format import format_exact, parse_exact

REGIONS = {"north": {"ash": 10**9, "elm": 10**8, "oak": 3, "yew": 0}, "south": {"ash": 0, "elm": 5}}


@pytest.fixture
def path() -> Iterator[Path]:
    """A ledger with a data set of either relation, `visits` and `stays`, and nothing charged."""
    with quick_folder() as folder:
        yield begun(folder / "budget.db")


def lists(sizes: Sequence[int], parameters: TopKByGroup) -> GroupedRelease:
    """Lists of so many winners, which the threshold ended where there could be more."""
    cuts = {f"group {at}": cut(size, parameters.each) for at, size in enumerate(sizes)}
    return GroupedRelease(parameters, cuts)


def charge_groups(path: Path, dataset: str, drawn: GroupedRelease) -> Charge:
    """The charge of a call that draws these lists."""
    pending = prepare_charge(path, dataset, "topgap.top_k_by_group", drawn.parameters, gaps=True)
    assert isinstance(pending, LedgerCharge)
    pending.note_groups(len(drawn))
    pending.charge_then_run(lambda: drawn)
    assert pending.charge is not None
    return pending.charge


# --- What lists settle to


def worst_cost(sizes: Sequence[int], parameters: TopKByGroup) -> Fraction:
    """What this output costs at most, over all persons: of whom one comes, or is replaced.

    Where answers rise, the sentinel costs something, too, and where they fall it does not.
    """
    k, share, most = parameters.each.k, parameters.each.epsilon, parameters.groups_per_person
    rise = [min(Fraction(j + 1, k), Fraction(1)) * share for j in sizes]
    fall = [Fraction(j, k) * share for j in sizes]
    places = range(len(sizes))
    persons = [{*p} for n in range(most + 1) for p in combinations(places, n)]
    if parameters.monotonic:
        return max(sum((rise[g] for g in person), Fraction(0)) for person in persons)
    return max(  # their noise is twice as large, so that a move one way costs half
        sum((fall[g] / 2 for g in left), Fraction(0))
        + sum((rise[g] / 2 for g in came), Fraction(0))
        for left in persons
        for came in persons
    )


SIZES = [[0], [3], [0, 0, 0], [2, 0, 1], [3, 0, 0, 1], [1, 1, 2, 0, 2], [3, 3, 3, 3], [2, 2, 2, 2]]


@pytest.mark.parametrize("monotonic", [True, False])
@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("dataset", ["visits", "stays"])
def test_lists_settle_to_what_the_costliest_groups_of_a_person_cost(
    dataset: str, most: int, monotonic: bool, path: Path
) -> None:
    """Twice where one person is replaced by another, and ε was for one who comes or goes."""
    threshold = {"threshold": 500, "monotonic": monotonic}
    parameters = TopKByGroup(3, "1/5", groups_per_person=most, **threshold)  # type: ignore[arg-type]
    times = 2 if monotonic and dataset == "stays" else 1
    spent = Fraction(0)
    for sizes in SIZES:
        drawn = lists(sizes, parameters)
        assert drawn.spent == worst_cost(sizes, parameters)
        charge = charge_groups(path, dataset, drawn)
        reserved, cost = times * Fraction(1, 5), times * drawn.spent
        assert charge.epsilon == reserved
        assert charge.settled == (None if cost == reserved else cost)
        spent += cost
        assert Ledger(path).budget(dataset).spent == spent
    assert Ledger(path).history()[-1] == charge
    Ledger(path).verify()


@pytest.mark.parametrize("dataset", ["visits", "stays"])
def test_the_call_charges_once_and_settles(dataset: str, path: Path) -> None:
    """Two names of at most four cost 3/4 in the north, and none costs 1/4 in the south."""
    drawn = topgap.top_k_by_group(
        REGIONS, 4, 1, threshold=10**6, monotonic=True, ledger=path, dataset=dataset
    )
    assert drawn.sizes == (2, 0)
    times = Fraction(2 if dataset == "stays" else 1)
    (charge,) = Ledger(path).history()
    assert (charge.epsilon, charge.settled) == (times, times * Fraction(3, 4))
    assert charge.parameters["number_of_groups"] == 2
    assert charge.parameters["groups_per_person"] == 1
    assert GroupedRelease.from_json(charge.result or "") == drawn
    Ledger(path).verify()


def test_national_and_regional_lists_add_up(path: Path) -> None:
    paid: dict[str, Any] = {"ledger": path, "dataset": "visits"}
    topgap.top_k(REGIONS["north"], 1, 1, **paid)
    topgap.top_k_by_group(REGIONS, 1, 1, **paid)
    topgap.top_k_by_group_with_estimates(REGIONS, 1, "1/2", **paid)
    assert Ledger(path).budget("visits").left == Fraction(1, 2)
    with pytest.raises(topgap.BudgetExceeded):
        topgap.top_k_by_group(REGIONS, 1, 1, **paid)
    assert Ledger(path).verify().entries == 8


def test_without_a_result_the_number_of_groups_is_noted_and_all_of_it_stays(path: Path) -> None:
    pending = prepare_charge(path, "visits", "m", TopKByGroup(3, 1, threshold=5))
    pending.note_groups(20)

    def crashes() -> GroupedRelease:
        raise MemoryError

    with pytest.raises(MemoryError):
        pending.charge_then_run(crashes)
    (charge,) = Ledger(path).history()
    assert (charge.parameters.get("number_of_groups"), charge.settled) == (20, None)
    assert Ledger(path).budget("visits").spent == 1


@pytest.mark.parametrize("file", [VERSION_1, VERSION_2, VERSION_3], ids=lambda each: each.stem)
def test_older_files_take_lists_by_group(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(monkeypatch).turn(days=30)
    old = Path(shutil.copy(file, tmp_path / "old.db"))
    kept = Ledger(old).verify().receipt
    drawn = lists([1, 0], TopKByGroup(4, "1/5", monotonic=True, threshold=500))
    made = charge_groups(old, "visits", drawn)
    assert made.settled == Fraction(1, 10)
    Ledger(old).verify(kept, made.receipt)


# --- What settles nothing

CUT = TopKByGroup(4, 1, threshold=10)
ONE = {"group_epsilon": "1/2", "groups_per_person": 2}
OTHERS: list[tuple[str, TopKByGroup, dict[str, Any], object]] = [
    ("a full list in one group", CUT, {}, lists([0, 4], CUT)),
    ("fewer groups", CUT, {"number_of_groups": 3}, lists([0, 0], CUT)),
    ("more groups", CUT, {"number_of_groups": 1}, lists([0, 0], CUT)),
    ("more groups per person", CUT, ONE, lists([0, 0], CUT)),
    ("a single list", CUT, {}, cut(0, CUT.each)),
    ("two single lists", CUT, {}, [cut(0, CUT.each), cut(0, CUT.each)]),
    ("another k", CUT, {}, lists([1, 1], TopKByGroup(5, 1, threshold=10))),
    ("no threshold", TopKByGroup(2, 1), {}, lists([2, 2], TopKByGroup(2, 1))),
]


@pytest.mark.parametrize(
    ("parameters", "more", "drawn"), [x[1:] for x in OTHERS], ids=[x[0] for x in OTHERS]
)
def test_other_results_settle_nothing(
    parameters: TopKByGroup, more: dict[str, Any], drawn: object, path: Path
) -> None:
    noted = {**parameters.to_dict(), "number_of_groups": 2, **more}
    charge = Ledger(path).charge("visits", 1, mechanism="m", parameters=noted)
    assert Ledger(path)._record_drawn(charge, drawn).settled is None
    assert Ledger(path).verify().entries == 4


def test_what_is_handed_in_settles_nothing_and_its_cost_is_compared(
    path: Path, tmp_path: Path
) -> None:
    ledger, drawn = Ledger(path), lists([0, 0], CUT)
    estimates = topgap.top_k_by_group_with_estimates(REGIONS, 1, 1)
    results: list[Any] = [drawn, estimates]
    for number, result in enumerate(results):
        with refused("and the result cost more: 1."):
            ledger.record(ledger.charge("visits", "1/100", mechanism="m"), result)
        charge = ledger.charge("stays", 1, mechanism="m", parameters=CUT.to_dict())
        (tmp_path / f"{number}.json").write_text(result.to_json())
        said = told(tmp_path, "record", path, "--charge", charge.number, f"{number}.json")
        assert said.code == 0
        assert ledger.history()[-1].result == result.to_json()
        small = ledger.charge("visits", "1/100", mechanism="m").number
        said = told(tmp_path, "record", path, "--charge", small, f"{number}.json")
        assert "and the result cost more: 1." in said.err
    assert [each.settled for each in ledger.history()] == [None] * 6
    ledger.verify()


def test_lists_for_one_person_more_cost_twice_if_persons_are_replaced(path: Path) -> None:
    made = topgap.top_k_by_group_with_estimates(REGIONS, 1, 1, monotonic=True)
    charge = Ledger(path).charge("stays", 1, mechanism="m")
    with refused("and the result cost more: 2."):
        Ledger(path).record(charge, made)


# --- Names


def test_names_that_json_cannot_hold_are_kept_as_text(path: Path) -> None:
    day, places = date(2026, 1, 1), {date(2026, 1, 1): 10**9, "elm": 0}
    paid: dict[str, Any] = {"monotonic": True, "ledger": path, "dataset": "visits"}
    topgap.top_k_by_group({day: places, "2026": places}, 1, "1/2", **paid)
    topgap.top_k_by_group({day: places, "2026-01-01": places}, 1, "1/2", **paid)
    topgap.top_k_by_group_with_estimates({day: places, "2026": places}, 1, "1/2", **paid)
    topgap.top_k_by_group({("a", 1): [7, 10**9], 2: [10**9, 7]}, 1, "1/2", **paid)
    results = [json.loads(each.result or "") for each in Ledger(path).history()]
    kept = [
        {each["group"]: each["winners"][0]["item"] for each in r["groups"]} for r in results[:3]
    ]
    assert kept == [
        {"2026-01-01": "2026-01-01", "2026": "2026-01-01"},
        {"1: 2026-01-01": "2026-01-01", "2: 2026-01-01": "2026-01-01"},
        {"2026-01-01": "2026-01-01", "2026": "2026-01-01"},
    ]
    listed = [(each["group"], each["winners"][0]["index"]) for each in results[3]["groups"]]
    assert listed == [(["a", 1], 1), (2, 0)]


# --- What the command says


def test_history_and_show_say_that_groups_share_a_charge(path: Path) -> None:
    one, two = (
        TopKByGroup(4, "1/2", groups_per_person=most, monotonic=True, threshold=9)
        for most in (1, 2)
    )
    made = charge_groups(path, "visits", lists([0] * 20, one))
    charge_groups(path, "stays", lists([4, 4], two))
    shared = (
        "20 groups together (at most 1 group per person, 0.5 per group)",
        "2 groups together (2 · 0.25: at most 2 groups per person, 0.25 per group)",
    )
    assert describe_charge(made) == (
        f"Charged to visits: ε = 0.5 for {shared[0]}, settled to 0.125, which leaves 2.875. "
        f"Receipt {made.receipt}"
    )
    lines = told(path.parent, "history", path.name).out.splitlines()[1:]
    for line, sharing in zip(lines, shared, strict=True):
        assert f"topgap.top_k_by_group, k = 4, threshold = 9, for {sharing}  " in line
    shown = told(path.parent, "show", path.name).out.splitlines()
    assert shown[-2:] == [
        f"entry 3, visits: ε = 0.5 for {shared[0]}",
        f"entry 6, stays: ε = 0.5 for {shared[1]}",
    ]
    (read, _) = json.loads(told(path.parent, "history", path.name, "--format", "json").out)[
        "charges"
    ]
    assert read["parameters"]["number_of_groups"] == 20
    assert read["parameters"]["group_epsilon"] == "1/2"


def test_the_question_says_how_many_groups_share_the_charge(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pending = prepare_charge(path, "visits", "m", TopKByGroup(4, 1, groups_per_person=2))
    pending.note_groups(1_000)
    shown = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    monkeypatch.setattr(sys, "stderr", shown)
    assert isinstance(pending, LedgerCharge)
    confirm_charge(pending)
    sharing = "1,000 groups together (2 · 0.5: at most 2 groups per person, 0.5 per group)"
    assert f"This charges ε = 1 for {sharing} to visits and leaves 2, what" in shown.getvalue()


@pytest.mark.parametrize(("monotonic", "measured"), [(True, "2 · 0.125"), (False, "4 · 0.0625")])
def test_measurements_of_one_person_are_counted(monotonic: bool, measured: str, path: Path) -> None:
    """They cost twice where persons are replaced."""
    topgap.top_k_by_group_with_estimates(
        REGIONS, 1, "1/2", groups_per_person=2, monotonic=monotonic, ledger=path, dataset="visits"
    )
    (charge,) = Ledger(path).history()
    assert (
        f"(2 · 0.25: at most 2 groups per person, 0.25 per group; 0.25 to select and {measured} "
        "to measure)"
    ) in describe_charge(charge)


@pytest.mark.parametrize("share", ["1/0", "much", 4, None, ["1"]])
def test_parameters_that_others_noted_are_shown_as_they_are(share: object, path: Path) -> None:
    noted = {"group_epsilon": share, "groups_per_person": 2, "number_of_groups": "many"}
    Ledger(path).charge("visits", 1, mechanism="a sum", parameters=noted)
    parts = {"epsilon": 1, "selection_epsilon": share, "measurement_epsilon": "0"}
    more = {**parts, "group_epsilon": "1", "groups_per_person": 1}
    Ledger(path).charge("visits", 1, mechanism="a mean", parameters=more)
    first, second = told(path.parent, "history", path.name).out.splitlines()[1:]
    assert " together " not in first
    assert "for all groups together (at most 1 group per person, 1 per group)  " in second


# --- What verification refuses, with right hashes

FORGED_FROM = TopKByGroup(4, 1, groups_per_person=2, monotonic=True, threshold=500)
Forge = Callable[[GroupedRelease], tuple[GroupedRelease, Fraction]]
FORGED: dict[str, Forge] = {
    "to one group's cost": lambda true: (true, Fraction(3, 8)),
    "to the mean": lambda true: (true, Fraction(7, 16)),
    "a little below": lambda true: (true, true.spent - Fraction(1, 10**20)),
    "a little above": lambda true: (true, true.spent + Fraction(1, 10**20)),
    "a shorter list": lambda true: (lists([1, 1, 0], true.parameters), true.spent),
    "a longer list": lambda true: (lists([2, 2, 0], true.parameters), true.spent),
    "a list that is gone, and its cost": lambda true: (
        lists([1, 0], true.parameters), Fraction(3, 8),
    ),
    "fewer groups per person": lambda _: (
        lists([2, 1, 0], TopKByGroup(4, 1, monotonic=True, threshold=500)), Fraction(3, 4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_settlement_that_is_not_right_is_found(name: str, path: Path) -> None:
    true = lists([2, 1, 0], FORGED_FROM)
    assert true.spent == Fraction(5, 8)
    charge_groups(path, "visits", true)
    result, cost = FORGED[name](true)
    entries = entries_of(path)
    before = parse_exact(entries[2].spent or "") - 1
    forged: list[Entry] = [
        *entries[:3],
        replace(entries[3], result=result.to_json()),
        replace(entries[4], epsilon=format_exact(cost), spent=format_exact(before + cost)),
    ]
    verified(path, forged)


def test_the_entries_as_they_are_pass(path: Path) -> None:
    charge_groups(path, "visits", lists([2, 1, 0], FORGED_FROM))
    assert [each.kind for each in entries_of(path)[2:]] == ["charge", "result", "settlement"]
    Ledger(path).verify()


# --- Code that is broken on purpose


def look_at_costs(path: Path) -> None:
    for dataset, monotonic in (("visits", True), ("visits", False), ("stays", True)):
        path.unlink()
        begun(path)
        test_lists_settle_to_what_the_costliest_groups_of_a_person_cost(dataset, 2, monotonic, path)


def look_at_others(path: Path) -> None:
    for _, parameters, more, drawn in OTHERS:
        path.unlink()
        begun(path)
        test_other_results_settle_nothing(parameters, more, drawn, path)


def look_at_forged(path: Path) -> None:
    for name in FORGED:
        path.unlink()
        begun(path)
        test_a_settlement_that_is_not_right_is_found(name, path)


def look_at_crashes(path: Path) -> None:
    test_without_a_result_the_number_of_groups_is_noted_and_all_of_it_stays(path)


Look = Callable[[Path], None]
LOOKS: list[Look] = [look_at_costs, look_at_others, look_at_forged, look_at_crashes]
_COST = "release.spent * factor"
_EACH = "[parameters.each.cost(j) for j in release.sizes]"
MUTANTS: list[tuple[Any, Mutant, Look]] = [
    (settlement, Mutant("settled to the mean", _COST, f"parameters.groups_per_person * "
                        f"sum({_EACH}) / len(release) * factor"), look_at_costs),
    (settlement, Mutant("settled to one group's cost", _COST, f"max({_EACH}) * factor"),
     look_at_costs),
    (settlement, Mutant("settled to the sum of all groups", _COST, f"sum({_EACH}) * factor"),
     look_at_costs),
    (settlement, Mutant("the factor forgotten", _COST, "release.spent"), look_at_costs),
    (settlement, Mutant("any number of groups", "if not _has_all_groups(release, listed) or noted",
                        "if noted"), look_at_others),
    (settlement, Mutant("any number of groups, as verified",
                        "if not _has_all_groups(release, listed) or noted", "if noted"),
     look_at_forged),
    (settlement, Mutant("any number of groups per person",
                        '_GROUPING = "groups_per_person", "group_epsilon"', "_GROUPING = ()"),
     look_at_costs),
    (charging, Mutant("number of groups not noted", "{**self.parameters, NUMBER_OF_GROUPS: number}",
                      "self.parameters"), look_at_crashes),
    (grouped_parameters, Mutant("one group of a person", "nlargest(self.groups_per_person, costs)",
                                "nlargest(1, costs)"), look_at_costs),
    (grouped_parameters, Mutant("the cheapest groups of a person",
                                "nlargest(self.groups_per_person, costs)",
                                "sorted(costs)[: self.groups_per_person]"), look_at_costs),
]  # fmt: skip


@pytest.mark.parametrize(
    ("module", "mutant", "look"), MUTANTS, ids=[mutant.name for _, mutant, _ in MUTANTS]
)
def test_code_that_settles_groups_otherwise_is_found(
    module: Any, mutant: Mutant, look: Look, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_place(monkeypatch, module, mutant)
    assert is_found(lambda: look(path))


@pytest.mark.mutant
@pytest.mark.parametrize("look", LOOKS)
def test_the_code_as_it_is_passes_what_finds_them(look: Look, path: Path) -> None:
    look(path)
