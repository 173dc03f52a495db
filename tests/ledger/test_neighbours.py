"""For which neighbours a sum of ε is true: stated once, converted exactly, and told everywhere."""

import csv
import io
import json
import pickle
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any, cast

import pytest

import topgap
from tests.checking.mutants import Mutant
from tests.cli.test_budget import CHARGED, RECEIPT, released, told
from tests.ledger.sample_ledgers import (
    VERSION_1,
    entries_of,
    is_found,
    put_in_place,
    quick_folder,
    refused,
    write_anew,
)
from topgap import (
    BudgetExceeded,
    Ledger,
    ParameterError,
    ParameterTypeError,
    Release,
    TopK,
    law,
    select,
)
from topgap.ledger import entry, recording, verification
from topgap.ledger import ledger as ledger_module
from topgap.ledger.entry import Entry
from topgap.selection.measurement import Shares

TREES = {"ash": 10**9, "elm": 10**6, "oak": 0}


@pytest.fixture
def path() -> Iterator[Path]:
    """A ledger with a data set of each relation, of ε = 2."""
    with quick_folder() as folder:
        filled(folder / "budget.db")
        yield folder / "budget.db"


def filled(path: Path) -> None:
    ledger = Ledger(path, who="ana")
    ledger.add_dataset("visits", 2)
    ledger.add_dataset("stays", 2, neighbours="replace")


# --- What an ε costs


COSTS = [
    ("visits", None, 1),
    ("visits", "add-remove", 1),
    ("stays", None, 1),
    ("stays", "replace", 1),
    ("stays", "add-remove", 2),
]


@pytest.mark.parametrize(("dataset", "stated", "times"), COSTS)
def test_what_is_stated_is_converted_exactly(
    dataset: str, stated: Any, times: int, path: Path
) -> None:
    ledger = Ledger(path)
    epsilon = Fraction(1, 3)
    ledger.check(dataset, epsilon, neighbours=stated)
    made = ledger.charge(dataset, epsilon, mechanism="m", neighbours=stated)
    assert (made.epsilon, made.left) == (epsilon * times, 2 - epsilon * times)
    assert made.neighbours == ledger.budget(dataset).neighbours
    assert (made.stated_neighbours, made.stated_epsilon) == (stated, epsilon if stated else None)
    assert made.is_converted == (times == 2)
    assert ledger.history() == (made,)
    assert ledger.budget(dataset).spent == epsilon * times
    assert ledger.verify(made.receipt).entries == 3
    left = made.left / times
    ledger.charge(dataset, left, mechanism="the rest", neighbours=stated)
    assert ledger.budget(dataset).left == 0


def test_a_promise_between_data_sets_of_equal_size_says_nothing_of_an_addition(path: Path) -> None:
    ledger = Ledger(path)
    for ask in (
        lambda: ledger.check("visits", 1, neighbours="replace"),
        lambda: ledger.charge("visits", 1, mechanism="m", neighbours="replace"),
    ):
        with refused("The ε of visits is for one person added or removed .* nothing was charged"):
            ask()
    assert ledger.history() == ()


def test_the_refusal_names_what_it_would_have_cost(path: Path) -> None:
    ledger = Ledger(path)
    with pytest.raises(BudgetExceeded) as raised:
        ledger.charge("stays", "3/2", mechanism="m", neighbours="add-remove")
    error = pickle.loads(pickle.dumps(raised.value))  # noqa: S301
    assert (error.epsilon, error.stated, error.left) == (Fraction(3), Fraction(3, 2), Fraction(2))
    assert str(error) == (
        "ε = 3 (1.5 for add-remove) is more than what is left for stays, 2 of 2; nothing was "
        "charged."
    )
    with pytest.raises(BudgetExceeded) as raised:
        ledger.charge("stays", 3, mechanism="m")
    assert raised.value.epsilon == raised.value.stated == 3


@pytest.mark.parametrize("wrong", ["", "add/remove", "REPLACE", "replace ", "\ud800"])
def test_other_relations_are_refused(wrong: Any, path: Path) -> None:
    ledger = Ledger(path)
    for ask in (
        lambda: ledger.add_dataset("more", 1, neighbours=wrong),
        lambda: ledger.check("visits", 1, neighbours=wrong),
        lambda: ledger.charge("visits", 1, mechanism="m", neighbours=wrong),
    ):
        with refused("neighbours must be add-remove or replace", ParameterError):
            ask()
    with refused("neighbours must be text, not int", ParameterTypeError):
        ledger.check("visits", 1, neighbours=cast("Any", 7))
    with refused("neighbours must be text, not NoneType", ParameterTypeError):
        ledger.add_dataset("more", 1, neighbours=cast("Any", None))
    assert ledger.verify().entries == 2


# --- What topgap releases


RELEASES: dict[str, Callable[..., Any]] = {
    "top_k": lambda **given: topgap.top_k(TREES, 1, "1/2", **given),
    "noisy_max": lambda **given: topgap.noisy_max(TREES, "1/2", **given),
    "select": lambda monotonic, **given: select(
        TopK(1, "1/2", monotonic=monotonic), TREES, **given
    ),
    "top_k_with_estimates": lambda **given: topgap.top_k_with_estimates(TREES, 1, "1/2", **given),
    "Selector": lambda monotonic, **given: selected(monotonic).release(**given),
}


def selected(monotonic: bool) -> topgap.Selector:
    made = topgap.Selector(TopK(1, "1/2", monotonic=monotonic))
    made.add(TREES)
    return made


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("dataset", ["visits", "stays"])
def test_half_the_noise_costs_twice_where_a_person_may_be_replaced(
    dataset: str, monotonic: bool, name: str, path: Path
) -> None:
    """Between replace-one neighbours monotonic answers move both ways, and 2ε is reached."""
    made = RELEASES[name](monotonic=monotonic, ledger=path, dataset=dataset)
    [charge] = Ledger(path).history()
    assert made.epsilon == Fraction(1, 2)
    assert charge.epsilon == (1 if monotonic and dataset == "stays" else Fraction(1, 2))
    assert charge.stated_neighbours == ("add-remove" if monotonic else None)
    assert charge.parameters["epsilon"] == "1/2"
    assert charge.result is not None
    Ledger(path).verify(charge.receipt)


def test_the_twofold_is_reached() -> None:
    """So that nobody takes the factor for mere caution: one of them falls, the other rises."""
    parameters = TopK(1, 1, resolution=1, monotonic=True)
    assert ratio([1, 9], [0, 10], parameters) == pytest.approx(exp(2))
    assert ratio([1, 10], [0, 10], parameters) == pytest.approx(exp(1))


def test_a_person_who_changes_wards_costs_what_the_page_says() -> None:
    """Half of what selects in each of the two wards, and all of what measures in each."""
    whole = TopK(1, 1, resolution=1)
    shares = Shares.of(whole, "1/2")
    measured = exp(shares.measurement_epsilon)  # of one count that moves by one
    in_one = ratio([1, 10], [0, 10], shares.selection) * measured
    assert in_one**2 == pytest.approx(exp(1.5))
    assert ratio([1, 10], [0, 10], whole) ** 2 == pytest.approx(exp(1))  # without estimates


def ratio(one: list[int], other: list[int], parameters: TopK) -> float:
    """By how much likelier the first item is named."""
    first, second = (law.top_k(counts, parameters, [0]) for counts in (one, other))
    return float(first.low / second.high)


def test_a_result_must_not_cost_more_than_its_charge(path: Path) -> None:
    """A monotonic release with ε = 1 costs 2 here, however it was charged."""
    ledger = Ledger(path)
    monotonic, other = (
        Release(TopK(1, 1, monotonic=each), None, [125], ["flu"]) for each in (True, False)
    )
    charge = ledger.charge("stays", 1, mechanism="by hand")
    with refused("Charge 3 is of ε = 1, and the result cost more: 2"):
        ledger.record(charge, monotonic)
    ledger.record(charge, other)
    charge = ledger.charge("stays", "1/2", mechanism="by hand", neighbours="add-remove")
    with refused("the result cost more: 2"):
        ledger.record(charge, monotonic)
    ledger.record(charge, other)
    ledger.record(ledger.charge("visits", 1, mechanism="by hand"), monotonic)


def test_what_it_cost_is_told_with_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("topgap.selection.mechanism.select_prepared", fails)
    with pytest.raises(KeyboardInterrupt) as raised:
        topgap.top_k(TREES, 1, "1/2", monotonic=True, ledger=path, dataset="stays")
    assert raised.value.__notes__ == [
        "ε = 1 was already charged to stays, as entry 3 of the ledger, and stays charged."
    ]


# --- What is told


def test_the_command_sets_converts_and_tells(folder: Path) -> None:
    asked = ("--dataset", "visits", "--epsilon")
    made = told(folder, "init", "budget.db", *asked, 3, "--neighbours", "replace")
    assert made.out == (
        "The releases of visits may cost ε = 3 in all (neighbours: replace), in the ledger "
        "budget.db.\n"
    )
    by_hand = told(
        folder, "charge", "budget.db", *asked, "1/4", "--mechanism", "a sum",
        "--neighbours", "add-remove",
    )  # fmt: skip
    assert by_hand.out.startswith(
        "Charged to visits: ε = 0.5 (0.25 for add-remove, which is twice as much for replace), "
        "which leaves 2.5. Receipt 2:"
    )
    ended = released(folder, *CHARGED, "--neighbours", "add-remove", "--format", "json")
    assert ended.code == 0
    assert "ε = 2 (1 for add-remove, which is twice as much for replace), which leaves 0.5." in (
        ended.err
    )
    assert RECEIPT.search(ended.err)
    over = released(folder, *CHARGED, "--neighbours", "add-remove")
    assert over.err == (
        "topgap: ε = 2 (1 for add-remove) is more than what is left for visits, 0.5 of 3; nothing "
        "was charged.\n"
    )
    lines = told(folder, "history", "budget.db").out.splitlines()
    assert "0.5  replace (0.25 add-remove)" in lines[1]
    assert "2  replace (1 add-remove)" in lines[2]
    for form in ("history", "export"):
        read = json.loads(told(folder, form, "budget.db", "--format", "json").out)["charges"]
        rows = told(folder, form, "budget.db", "--format", "csv").out
        for found in (read, [*csv.DictReader(io.StringIO(rows))]):
            names = ("epsilon", "neighbours", "stated_epsilon", "stated_neighbours")
            assert [tuple(each[name] for name in names) for each in found] == [
                ("0.5", "replace", "0.25", "add-remove"),
                ("2", "replace", "1", "add-remove"),
            ]
    shown = json.loads(told(folder, "show", "budget.db", "--format", "json").out)
    [dataset] = shown["datasets"]
    assert (dataset["neighbours"], dataset["neighbours_stated"]) == ("replace", True)


def test_the_command_refuses_what_does_not_follow(folder: Path) -> None:
    told(folder, "init", "budget.db", "--dataset", "visits", "--epsilon", 3)
    ended = told(
        folder, "charge", "budget.db", "--dataset", "visits", "--epsilon", 1, "--mechanism", "m",
        "--neighbours", "replace",
    )  # fmt: skip
    assert ended.code == 1
    assert ended.err.startswith("topgap: The ε of visits is for one person added or removed")
    assert Ledger(folder / "budget.db").history() == ()


def test_show_says_what_an_old_sum_is_true_for(folder: Path) -> None:
    shutil.copy(VERSION_1, folder / "old.db")
    shown = told(folder, "show", "old.db").out.splitlines()
    assert "add-remove" in shown[1]
    assert shown[5].startswith("The sum for add-remove is the bound for a person who is in all")
    assert shown[7].startswith("No neighbours were stated when visits got its total.")
    assert shown[9].startswith("No neighbours were stated when blood α got its total.")
    read = json.loads(told(folder, "export", "old.db").out)
    assert [each["neighbours_stated"] for each in read["datasets"]] == [False, False]


def test_help_of_init_speaks_of_the_total(folder: Path) -> None:
    said = " ".join(told(folder, "init", "--help").out.replace("│", " ").split())
    assert "Set the total even if the clock is behind the ledger's last entry." in said
    assert "Charge even" not in said


# --- What verification sees


def charged(path: Path) -> list[Entry]:
    ledger = Ledger(path)
    ledger.charge("visits", "1/4", mechanism="m", neighbours="add-remove")
    ledger.charge("stays", "1/4", mechanism="m", neighbours="add-remove")
    ledger.record(3, 1)
    return entries_of(path)


NONSENSE: list[tuple[int, dict[str, Any]]] = [
    (1, {"neighbours": "replace"}),  # whose charge is then worth only half of what it says
    (2, {"neighbours": "add-remove"}),
    (2, {"neighbours": None}),
    (2, {"neighbours": "both"}),
    (2, {"stated": "2"}),
    (3, {"neighbours": "replace"}),
    (4, {"neighbours": "replace"}),
    (4, {"neighbours": None}),
    (4, {"neighbours": "both"}),
    (4, {"stated": None}),
    (4, {"stated": "0.5"}),
    (4, {"stated": "-0.25"}),
    (4, {"stated": "1/4"}),
    (4, {"stated": "0"}),
    (4, {"epsilon": "0.25", "spent": "0.25"}),
    (5, {"neighbours": "add-remove"}),
    (5, {"stated": "1"}),
]


@pytest.mark.parametrize(("number", "change"), NONSENSE, ids=str)
def test_nonsense_with_right_hashes_is_found(
    number: int, change: dict[str, Any], path: Path
) -> None:
    entries = charged(path)
    write_anew(path, entries)
    Ledger(path).verify()
    entries[number - 1] = replace(entries[number - 1], **change)
    write_anew(path, entries)
    with refused(f"was modified outside topgap at entry [{number}34]"):
        Ledger(path).verify()


# --- And if the code were another


def look_at_costs(path: Path) -> None:
    for dataset, stated, times in COSTS:
        path.unlink()
        filled(path)
        test_what_is_stated_is_converted_exactly(dataset, stated, times, path)


def look_at_refusals(path: Path) -> None:
    test_a_promise_between_data_sets_of_equal_size_says_nothing_of_an_addition(path)


def look_at_releases(path: Path) -> None:
    test_half_the_noise_costs_twice_where_a_person_may_be_replaced("stays", True, "top_k", path)


def look_at_results(path: Path) -> None:
    test_a_result_must_not_cost_more_than_its_charge(path)


def look_at_nonsense(path: Path) -> None:
    for number, change in NONSENSE:
        path.unlink()
        filled(path)
        test_nonsense_with_right_hashes_is_found(number, change, path)


LOOKS = [look_at_costs, look_at_refusals, look_at_releases, look_at_results, look_at_nonsense]
MUTANTS: list[tuple[Any, Mutant, Callable[[Path], None]]] = [
    (entry, Mutant("takes one for the other", "return 2 if", "return 1 if"), look_at_costs),
    (entry, Mutant("takes all for one person more",
                        'return 2 if stated == "add-remove" else None', "return 2"),
     look_at_refusals),
    (entry, Mutant("knows nothing of monotonic answers",
                        'return "add-remove" if parameters.monotonic else None', "return None"),
     look_at_releases),
    (ledger_module, Mutant("forgets what was stated", '"stated": None if relation is None else '
                           "format_exact(stated)", '"stated": None'), look_at_costs),
    (recording, Mutant("believes the price of a result",
                       "cost = convert_epsilon(result.cost, result.neighbours, "
                       "dataset.relation, charged.dataset)",
                       "cost = result.cost"), look_at_results),
    (verification, Mutant("does not convert", "parse_epsilon(entry.stated) * times",
                          "parse_epsilon(entry.epsilon)"), look_at_nonsense),
]  # fmt: skip


@pytest.mark.parametrize(
    ("module", "mutant", "look"), MUTANTS, ids=[mutant.name for _, mutant, _ in MUTANTS]
)
def test_code_that_converts_otherwise_is_found(
    module: Any,
    mutant: Mutant,
    look: Callable[[Path], None],
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put_in_place(monkeypatch, module, mutant)
    assert is_found(lambda: look(path))


@pytest.mark.parametrize("look", LOOKS)
def test_the_code_as_it_is_passes_what_finds_them(look: Any, path: Path) -> None:
    look(path)
