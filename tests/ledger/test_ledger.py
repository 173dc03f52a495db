"""What a ledger adds up: any history against a plain model, to the last digit."""

import getpass
import json
import pickle
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import topgap
from tests.checking.mutants import Mutant
from tests.ledger.sample_ledgers import (
    RELEASE,
    Clock,
    charge_and_draw,
    cut,
    filled,
    is_found,
    put_in_place,
    quick_folder,
    refused,
)
from topgap import BudgetExceeded, ParameterError, ParameterTypeError, Release, TopK
from topgap.domains import DomainDescription
from topgap.ledger import Budget, Charge, Ledger, entry, entry_log, ledger, recording, settlement
from topgap.ledger.charging import LedgerCharge, prepare_charge
from topgap.ledger.models import Verification
from topgap.ledger.storage import database
from topgap.ledger.validation import read_who

TINY = Fraction(1, 10**30)
DATASETS = ["visits", "blood α", "x"]
RELATIONS: dict[str, Any] = {"visits": "add-remove", "blood α": "add-remove", "x": "replace"}
TIMES = {
    (None, "add-remove"): 1,
    ("add-remove", "add-remove"): 1,
    (None, "replace"): 1,
    ("replace", "replace"): 1,
    ("add-remove", "replace"): 2,
}
"""How often an ε is charged, by the relation that it is stated for and that of the data set."""
_DENOMINATORS = [1, 2, 3, 7, 10, 97, 2**61 - 1, 3**40, 10**30, 2**200]
_FRACTIONS = st.builds(
    lambda n, d, by: Fraction(n, d * by),
    st.integers(1, 50), st.sampled_from(_DENOMINATORS), st.sampled_from([1, 10, 100]),
)  # fmt: skip
_DECIMALS = st.decimals("0.0001", 3, places=6).map(lambda each: each.normalize())


def _of_float(number: float) -> Fraction:
    return Fraction(repr(number))  # the decimal that a person wrote


NUMBERS = st.one_of(
    _FRACTIONS.map(lambda each: (each, each)),
    _FRACTIONS.map(lambda each: (str(each), each)),
    st.floats(1e-12, 3).map(lambda each: (each, _of_float(each))),
    st.floats(1e-12, 3).map(lambda each: (np.float64(each), _of_float(each))),
    _DECIMALS.map(lambda each: (each, Fraction(each))),
    _DECIMALS.map(lambda each: (format(each, "f"), Fraction(each))),
    st.integers(1, 3).map(lambda each: (each, Fraction(each))),
)
"""What may be handed in, and the number that it stands for."""

RESULTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**500), 10**500) | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@pytest.fixture
def path() -> Iterator[Path]:
    """Where a ledger can be, and is not yet."""
    with quick_folder() as folder:
        yield folder / "budget.db"


class Histories(RuleBasedStateMachine):
    """A ledger beside lists and fractions that say what must be in it."""

    def __init__(self) -> None:
        super().__init__()
        self.at_end = ExitStack()
        self.path = self.at_end.enter_context(quick_folder()) / "budget.db"
        self.entries = 0
        self.totals: dict[str, Fraction] = {}
        self.charges: list[tuple[Charge, Fraction]] = []
        self.results: dict[int, Any] = {}
        self.settled: dict[int, Fraction] = {}
        self.receipts: list[str] = []

    def teardown(self) -> None:
        self.at_end.close()

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.path, who="ana")

    def reserved(self, dataset: str) -> Fraction:
        return sum((cost for each, cost in self.charges if each.dataset == dataset), Fraction(0))

    def spent(self, dataset: str) -> Fraction:
        of_it = [(each, cost) for each, cost in self.charges if each.dataset == dataset]
        return sum((self.settled.get(each.number, cost) for each, cost in of_it), Fraction(0))

    def left(self, dataset: str) -> Fraction:
        return self.totals[dataset] - self.spent(dataset)

    @initialize(number=NUMBERS)
    def begin(self, number: tuple[Any, Fraction]) -> None:
        self.add_dataset(DATASETS[0], number)

    @rule(dataset=st.sampled_from(DATASETS), number=NUMBERS)
    def add_dataset(self, dataset: str, number: tuple[Any, Fraction]) -> None:
        if dataset in self.totals:
            for name in (dataset, f"{dataset[:1]} {dataset[1:].upper()}".strip()):
                with refused("its total already|with nearly this name"):
                    self.ledger.add_dataset(name, number[0])
            return
        relation = RELATIONS[dataset]
        added = self.ledger.add_dataset(dataset, number[0], neighbours=relation)
        assert (added.total, added.spent, added.charges) == (number[1], Fraction(0), 0)
        assert (added.neighbours, added.neighbours_stated) == (relation, True)
        self.totals[dataset] = number[1]
        self.entries += 1

    @rule(
        dataset=st.sampled_from(DATASETS),
        number=NUMBERS,
        parameters=RESULTS,
        stated=st.sampled_from([None, "add-remove", "replace"]),
    )
    def charge(
        self, dataset: str, number: tuple[Any, Fraction], parameters: Any, stated: Any = None
    ) -> None:
        times = TIMES.get((stated, RELATIONS[dataset]))
        if dataset not in self.totals:
            with refused("There is no data set"):
                self.ledger.charge(dataset, number[0], mechanism="m", neighbours=stated)
        elif times is None:
            with refused("does not bound it"):
                self.ledger.charge(dataset, number[0], mechanism="m", neighbours=stated)
        elif number[1] * times > self.left(dataset):
            self.is_too_much(dataset, number[0], number[1] * times, stated)
        else:
            self.ledger.check(dataset, number[0], neighbours=stated)
            self.is_charged(dataset, number[0], number[1] * times, {"of": parameters}, stated)

    @precondition(lambda self: any(self.left(each) > 0 for each in self.totals))
    @rule(data=st.data())
    def charge_all_that_is_left(self, data: st.DataObject) -> None:
        """One more 10^−30 is refused before and after."""
        dataset = data.draw(st.sampled_from([each for each in self.totals if self.left(each) > 0]))
        left = self.left(dataset)
        self.is_too_much(dataset, left + TINY, left + TINY)
        self.is_charged(dataset, left, left, {})
        self.is_too_much(dataset, "1e-30", TINY)

    @precondition(lambda self: self.charges)
    @rule(
        data=st.data(),
        result=RESULTS.filter(lambda each: each is not None),
        by_number=st.booleans(),
    )
    def record(self, data: st.DataObject, result: Any, by_number: bool) -> None:
        """Of any charge, however late; and once."""
        charge, _ = data.draw(st.sampled_from(self.charges))
        self.is_recorded(charge.number if by_number else charge, result, result)

    @precondition(lambda self: self.charges)
    @rule(data=st.data())
    def record_a_release(self, data: st.DataObject) -> None:
        self.is_recorded_at_its_price(*data.draw(st.sampled_from(self.charges)))

    @rule(
        dataset=st.sampled_from(DATASETS),
        epsilon=_FRACTIONS,
        k=st.integers(1, 9),
        winners=st.integers(0, 9),
        monotonic=st.booleans(),
        ends=st.sampled_from(["well", "well", "well", "in a crash", "unrecorded"]),
    )
    def release(
        self, dataset: str, epsilon: Fraction, k: int, winners: int, monotonic: bool, ends: str
    ) -> None:
        """A list that a threshold may end early, drawn by a call that charges for it."""
        if dataset not in self.totals:
            return
        parameters = TopK(k, epsilon, monotonic=monotonic, threshold=5)
        drawn = cut(min(winners, k), parameters)
        times = 2 if monotonic and RELATIONS[dataset] == "replace" else 1
        if epsilon * times > self.left(dataset):
            with pytest.raises(BudgetExceeded):
                charge_and_draw(self.ledger, dataset, drawn)
            return
        others: dict[str, list[Charge]] = {"during": []}

        def draw() -> Release:
            self.entries += 1
            if ends == "in a crash":
                raise MemoryError
            left = self.left(dataset) - epsilon * times
            if left > 0:  # somebody else charges meanwhile
                others["during"].append(self.ledger.charge(dataset, left / 3, mechanism="m"))
                self.entries += 1
            return drawn

        pending = prepare_charge(self.ledger, dataset, "m", parameters)
        assert isinstance(pending, LedgerCharge)
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore", topgap.LedgerWarning)
            if ends == "unrecorded":
                patch.setattr(Ledger, "_record_drawn", None)
            with suppress(MemoryError):
                pending.charge_then_run(draw)
        assert pending.charge is not None
        number = pending.charge.number
        for each, cost in (
            (pending.charge, epsilon * times),
            *((each, each.epsilon) for each in others["during"]),
        ):
            self.charges.append((each, cost))
            self.receipts.append(each.receipt)
        if ends == "well":
            self.results[number] = drawn.to_dict()
            self.entries += 1
            names = Fraction(len(drawn) + 1) if monotonic else len(drawn) + Fraction(1, 2)
            if names < k and len(drawn) < k:
                self.settled[number] = epsilon * times * names / k
                self.entries += 1

    @precondition(lambda self: self.charges)
    @rule(data=st.data(), number=st.integers(1, 2**80))
    def record_what_is_no_charge(self, data: st.DataObject, number: int) -> None:
        self.is_no_charge(data.draw(st.sampled_from(self.charges))[0], number)

    def is_recorded(self, charge: Charge | int, result: Any, kept: Any) -> None:
        number = charge if isinstance(charge, int) else charge.number
        if number in self.results:
            with refused("already has its result"):
                self.ledger.record(charge, result)
            return
        self.ledger.record(charge, result)
        self.results[number] = kept
        self.entries += 1

    def is_recorded_at_its_price(self, charge: Charge, cost: Fraction) -> None:
        right, wrong = (Release(TopK(1, each), [4], [125]) for each in (cost, cost + TINY))
        with refused("and the result cost"):
            self.ledger.record(charge, wrong)
        self.is_recorded(charge, right, right.to_dict())

    def is_no_charge(self, charge: Charge, number: int) -> None:
        if number not in {each.number for each, _ in self.charges}:
            with refused(f"has no charge {number}"):
                self.ledger.record(number, 1)
        with refused("has another charge"):
            self.ledger.record(replace(charge, receipt=f"{charge.number}:{'0' * 64}"), 1)

    def is_charged(
        self, dataset: str, given: Any, cost: Fraction, parameters: Any, stated: Any = None
    ) -> None:
        made = self.ledger.charge(
            dataset, given, mechanism="m", parameters=parameters, neighbours=stated
        )
        self.charges.append((made, cost))
        self.entries += 1
        assert (made.number, made.epsilon, made.dataset) == (self.entries, cost, dataset)
        assert (made.spent, made.left) == (self.spent(dataset), self.left(dataset))
        assert made.parameters == parameters
        assert (made.neighbours, made.stated_neighbours) == (RELATIONS[dataset], stated)
        if stated is not None:
            assert made.stated_epsilon == cost / TIMES[stated, RELATIONS[dataset]]
        self.receipts.append(made.receipt)

    def is_too_much(self, dataset: str, given: Any, cost: Fraction, stated: Any = None) -> None:
        for ask in (self.ledger.check, partial(self.ledger.charge, mechanism="m")):
            with pytest.raises(BudgetExceeded, match="nothing was charged") as told:
                ask(dataset, given, neighbours=stated)
            said = told.value
            assert (said.dataset, said.epsilon) == (dataset, cost)
            assert (said.left, said.total) == (self.left(dataset), self.totals[dataset])

    @invariant()
    def all_agrees(self) -> None:
        if not self.totals:
            return
        budgets = self.ledger.budgets()
        assert [(each.dataset, each.total) for each in budgets] == [*self.totals.items()]
        for each in budgets:
            of_it = [charge for charge, _ in self.charges if charge.dataset == each.dataset]
            assert each == self.ledger.budget(each.dataset)
            assert (each.spent, each.left) == (self.spent(each.dataset), self.left(each.dataset))
            assert 0 <= each.spent <= min(each.total, each.reserved)
            assert each.reserved == self.reserved(each.dataset)
            assert each.settled == sum(x.number in self.settled for x in of_it)
            assert each.charges == len(of_it)
            assert each.without_result == sum(x.number not in self.results for x in of_it)
        history = self.ledger.history()
        assert [each.receipt for each in history] == self.receipts
        assert [each.epsilon for each in history] == [cost for _, cost in self.charges]
        settled = {each.number: each.settled for each in history if each.settled is not None}
        assert settled == self.settled
        assert {
            each.number: json.loads(each.result) for each in history if each.result is not None
        } == self.results
        verified = self.ledger.verify(*self.receipts)
        assert verified.entries == self.entries
        told = json.loads(json.dumps(self.ledger.to_dict()))
        assert [Fraction(each["left"]) for each in told["datasets"]] == [
            each.left for each in budgets
        ]
        assert [each["receipt"] for each in told["charges"]] == self.receipts
        assert told["receipt"] == verified.receipt


@pytest.mark.deep
@pytest.mark.slow
def test_any_history_adds_up_to_the_last_digit() -> None:
    run_state_machine_as_test(
        Histories, settings=settings(max_examples=20, stateful_step_count=15, deadline=None)
    )


def one_history() -> None:
    """With something of everything, and the same each time."""
    made = Histories()
    try:
        made.begin((1, Fraction(1)))
        made.add_dataset("visits", (2, Fraction(2)))
        made.add_dataset("x", ("1/3", Fraction(1, 3)))
        for dataset in ("visits", "x", "visits", "visits", "x"):
            made.charge(dataset, (0.1, Fraction(1, 10)), {"a": [1, None]})
            made.all_agrees()
        for stated in ("add-remove", "replace"):
            made.charge("visits", ("1/9", Fraction(1, 9)), {}, stated)
            made.charge("x", ("1/99", Fraction(1, 99)), {}, stated)
        for dataset in ("visits", "x"):
            for winners, monotonic, ends in (
                (0, True, "well"), (2, False, "well"), (4, True, "well"), (3, False, "well"),
                (4, False, "well"), (0, True, "in a crash"), (1, False, "unrecorded"),
            ):  # fmt: skip
                made.release(dataset, Fraction(1, 990), 4, winners, monotonic, ends)
                made.all_agrees()
        made.charge("visits", (5, Fraction(5)), None)
        made.charge("blood α", (5, Fraction(5)), None)
        (first, _), (second, cost), *_ = made.charges
        for _ in range(2):
            made.is_recorded(first, {"mean": 3}, {"mean": 3})
            made.is_recorded_at_its_price(second, cost)
        made.is_no_charge(first, 1)
        made.all_agrees()
        for dataset in ("visits", "x"):
            left = made.left(dataset)
            made.is_too_much(dataset, left + TINY, left + TINY)
            made.is_charged(dataset, left, left, {})
            made.is_too_much(dataset, TINY, TINY)
        made.all_agrees()
    finally:
        made.teardown()


@pytest.mark.slow
def test_one_history_adds_up() -> None:
    one_history()


# --- Sums


@pytest.mark.slow
@pytest.mark.parametrize("parts", [3, 7, 10, 97])
def test_parts_add_up_to_the_whole_and_not_one_is_left_over(parts: int) -> None:
    """In floats, ten tenths are less than one."""
    with quick_folder() as folder:
        made = Ledger(folder / "budget.db")
        made.add_dataset("visits", 1)
        for _ in range(parts):
            made.charge("visits", Fraction(1, parts), mechanism="m")
        assert made.budget("visits").left == 0
        with pytest.raises(BudgetExceeded, match="left for visits, 0 of 1; nothing was charged"):
            made.charge("visits", TINY, mechanism="m")
        assert made.verify().entries == parts + 1


def test_the_refusal_names_what_is_left(path: Path) -> None:
    filled(path)
    with pytest.raises(BudgetExceeded) as told:
        Ledger(path).charge("visits", "0.6", mechanism="m")
    assert str(told.value) == (
        "ε = 0.6 is more than what is left for visits, 17/30 of 2; nothing was charged."
    )
    sent = pickle.loads(pickle.dumps(told.value))  # noqa: S301
    assert str(sent) == str(told.value)
    assert sent.left == Fraction(17, 30)
    assert isinstance(sent, topgap.LedgerError)


def test_sums_with_too_many_digits_are_refused_and_others_go_on() -> None:
    with quick_folder() as folder:
        made = Ledger(folder / "budget.db")
        made.add_dataset("visits", 2)
        refusals = 0
        for each in range(6):
            cost = Fraction(1, 10**999 - 10 ** (each + 1) - 1)
            if each < 2:
                made.charge("visits", cost, mechanism="m")
                continue
            with refused("give one with a smaller denominator", ParameterError):
                made.charge("visits", cost, mechanism="m")
            refusals += 1
        made.charge("visits", "1/2", mechanism="m")
        assert made.verify().entries == len(made.history()) + 1 == 6 - refusals + 2


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(DATASETS), _FRACTIONS), max_size=8))
@settings(max_examples=15)
def test_data_sets_do_not_know_of_each_other(asked: list[tuple[str, Fraction]]) -> None:
    with quick_folder() as folder:
        together = Ledger(folder / "all.db")
        alone = {name: Ledger(folder / f"{i}.db") for i, name in enumerate(DATASETS)}
        for name in DATASETS:
            together.add_dataset(name, 1)
            alone[name].add_dataset(name, 1)
        for name, cost in asked:
            outcomes = []
            for each in (together, alone[name]):
                try:
                    outcomes.append(str(each.charge(name, cost, mechanism="m").left))
                except BudgetExceeded as error:
                    outcomes.append(str(error))
            assert len({*outcomes}) == 1


# --- What is told


def test_what_was_charged_is_told_in_full(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    first, second, third, _ = filled(path)
    told = Ledger(path).history()
    assert [each.number for each in told] == [3, 5, 6, 8]
    assert told[0] == Charge(
        3, clock.time, "visits", Fraction(1, 3), Fraction(1, 3), Fraction(5, 3), "topgap.top_k",
        {"k": 2}, "ana", None, f"topgap {topgap.__version__}", "add-remove", None, None,
        first.receipt, RELEASE.to_json(),
    )  # fmt: skip
    assert told[1] == second
    assert (second.note, second.result) == ("which crashed", None)
    assert third.parameters == {"column": "α"}
    assert Ledger(path).history("blood α") == told[2:3]
    assert Ledger(path).budget("blood α") == Budget(
        "blood α", Fraction(1, 3), Fraction(1, 7), Fraction(1, 7), 1, 0, 0, clock.time, "ana",
        "two\nlines", "add-remove", True,
    )  # fmt: skip
    assert Ledger(path).budget("visits").without_result == 2
    assert isinstance(Ledger(path).verify(), Verification)


def test_results_may_have_releases_in_them_and_cost_less(path: Path) -> None:
    """As a composition of OpenDP gives them, whose losses are floats that are rounded up."""
    filled(path)
    made = Ledger(path)
    release = Release(TopK(1, "1/30"), [4], [125])
    charge = made.charge("visits", Fraction(1 / 30) + Fraction(1, 10**20), mechanism="OpenDP")
    made.record(charge, [release, {"count": 5, "more": (release,)}])
    kept = json.loads(made.history()[-1].result or "")
    assert kept == [release.to_dict(), {"count": 5, "more": [release.to_dict()]}]
    made.record(made.charge("visits", "1/29", mechanism="OpenDP"), release)
    with refused("and the result cost more"):
        made.record(made.charge("visits", "1/31", mechanism="OpenDP"), release)


def test_tuples_and_the_domain_are_kept(path: Path) -> None:
    filled(path)
    made = Ledger(path)
    numbers = DomainDescription("the whole numbers from 0", 10**40)
    release = Release(TopK(1, "1/30"), None, [125], [("Germany", 7)], domain=numbers)
    made.record(made.charge("visits", "1/30", mechanism="topgap.top_k"), release)
    assert Release.from_json(made.history()[-1].result or "") == release
    dated = Release(TopK(1, "1/30"), None, [125], [("Germany", date(2026, 1, 1))], domain=numbers)
    made.record(made.charge("visits", "1/30", mechanism="topgap.top_k"), dated)
    kept = Release.from_json(made.history()[-1].result or "")
    assert kept == dated.with_items(["Germany, 2026-01-01"])
    assert isinstance(made.verify(), Verification)


def test_a_charge_without_a_result_is_never_given_back(path: Path) -> None:
    """There is nothing to call for it, and no result makes it cheaper."""
    filled(path)
    made = Ledger(path)
    before = made.budget("visits").spent
    orphans = [each for each in made.history("visits") if each.result is None]
    for each in orphans:
        with pytest.raises(ParameterTypeError, match="must be what was released, not None"):
            made.record(each, None)
        made.record(each, 0)
    assert (made.budget("visits").spent, made.budget("visits").without_result) == (before, 0)
    names = {name for name in dir(Ledger) if not name.startswith("_")}
    assert names == {
        "add_dataset", "budget", "budgets", "charge", "check", "history", "path", "record",
        "to_bytes", "to_dict", "verify",
    }  # fmt: skip


def test_who_and_note_are_kept(path: Path) -> None:
    Ledger(path, who="ana", note="weekly").add_dataset("visits", 2)
    Ledger(path, who="bo", note="weekly").charge("visits", 1, mechanism="m", note="and once more")
    Ledger(path, who="bo", note="weekly").charge("visits", 1, mechanism="m")
    assert [(each.who, each.note) for each in Ledger(path).history()] == [
        ("bo", "and once more"), ("bo", "weekly")
    ]  # fmt: skip
    assert Ledger(path).budget("visits").who == "ana"
    assert repr(Ledger(path)) == f"<Ledger {path}>"
    assert Ledger(path).path == path


def test_whoever_has_no_name_is_known_by_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError

    monkeypatch.setattr(getpass, "getuser", nameless)
    assert read_who(None).startswith("user ")
    monkeypatch.setattr(getpass, "getuser", lambda: "two\nlines")
    assert read_who(None).startswith("user ")


# --- What is refused, and writes nothing


@pytest.mark.parametrize("name", ["visits", "Visits", "VISITS", "vis its", "ｖisits"])
def test_a_total_is_set_once_for_a_name_and_those_like_it(name: str, path: Path) -> None:
    filled(path)
    before = path.read_bytes()
    with refused("has its total already, .*; it can be set only once|with nearly this name"):
        Ledger(path).add_dataset(name, 5)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("wrong", "kind", "said"),
    [
        ({"dataset": ""}, ParameterError, "dataset must be text on one line"),
        ({"dataset": " visits"}, ParameterError, "without spaces around it"),
        ({"dataset": "a\nb"}, ParameterError, "on one line"),
        ({"dataset": "x" * 201}, ParameterError, "at most 200 characters"),
        ({"dataset": "\ud800"}, ParameterError, "can be written to a file"),
        ({"dataset": 7}, ParameterTypeError, "dataset must be text, not int"),
        ({"epsilon": 0}, ParameterError, "epsilon must be greater than 0"),
        ({"epsilon": -1}, ParameterError, "epsilon must be greater than 0"),
        ({"epsilon": float("nan")}, ParameterError, "not NaN"),
        ({"epsilon": float("inf")}, ParameterError, "finite"),
        ({"epsilon": "a third"}, ParameterError, "cannot be read as one"),
        ({"epsilon": None}, ParameterTypeError, "epsilon must be"),
        ({"epsilon": True}, ParameterTypeError, "not bool"),
        ({"epsilon": Decimal("1e-1001")}, ParameterError, "at most 1000 digits"),
        ({"note": 7}, ParameterTypeError, "note must be text"),
        ({"note": "a\0b"}, ParameterError, "without NUL"),
        ({"note": "x" * 10_001}, ParameterError, "at most 10,000"),
        ({"mechanism": ""}, ParameterError, "mechanism must be text on one line"),
        ({"mechanism": None}, ParameterTypeError, "mechanism must be text"),
        ({"parameters": [1]}, ParameterTypeError, "parameters must be a dict"),
        ({"parameters": {"a": {1}}}, ParameterTypeError, "what JSON can hold"),
        ({"parameters": {"a": float("nan")}}, ParameterTypeError, "what JSON can hold"),
    ],
)
def test_bad_parameters_charge_nothing(
    wrong: dict[str, Any], kind: type[Exception], said: str, path: Path
) -> None:
    filled(path)
    before = path.read_bytes()
    right = {"dataset": "visits", "epsilon": "1/10", "mechanism": "m"}
    with refused(said, kind):
        Ledger(path).charge(**{**right, **wrong})
    if "mechanism" not in wrong and "parameters" not in wrong:
        with refused(said, kind):
            Ledger(path.with_name("new.db")).add_dataset(**{"dataset": "x", "epsilon": 1, **wrong})
        assert not path.with_name("new.db").exists()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("wrong", "kind", "said"),
    [
        ({"path": 7}, ParameterTypeError, "by the path of its file, not by int"),
        ({"path": None}, ParameterTypeError, "not by NoneType"),
        ({"path": ""}, ParameterError, "its name must not be empty"),
        ({"path": "a\0b"}, ParameterError, "its name must not be empty"),
        ({"who": ""}, ParameterError, "who must be text on one line"),
        ({"who": 7}, ParameterTypeError, "who must be text"),
        ({"note": 7}, ParameterTypeError, "note must be text"),
        ({"wait": -1}, ParameterError, "wait must be between"),
        ({"wait": float("nan")}, ParameterError, "wait must be between"),
        ({"wait": "1"}, ParameterTypeError, "wait must be a number"),
        ({"wait": True}, ParameterTypeError, "wait must be a number"),
        ({"check_clock": 1}, ParameterTypeError, "check_clock must be True or False"),
    ],
)
def test_what_a_ledger_cannot_be_made_of(
    wrong: dict[str, Any], kind: type[Exception], said: str
) -> None:
    with refused(said, kind):
        Ledger(**{"path": "budget.db", **wrong})


@pytest.mark.parametrize("number", [2**63, 2**64, 10**30])
def test_a_number_that_no_entry_can_have_is_no_charge(number: int, path: Path) -> None:
    filled(path)
    with refused(f"has no charge {number}"):
        Ledger(path).record(number, 1)


@pytest.mark.parametrize(
    ("charge", "result", "kind", "said"),
    [
        (1, 1, topgap.LedgerError, "has no charge 1"),
        (4, 1, topgap.LedgerError, "has no charge 4"),
        (9, 1, topgap.LedgerError, "has no charge 9"),
        (0, 1, ParameterError, "charge must be at least 1"),
        (True, 1, ParameterTypeError, "charge must be"),
        ("5", 1, ParameterTypeError, "charge must be"),
        (3, 1, topgap.LedgerError, "already has its result"),
        (5, RELEASE, topgap.LedgerError, "Charge 5 is of ε = 0.1, and the result cost more: 1/3"),
        (5, {1, 2}, ParameterTypeError, "result must be what JSON can hold"),
        (5, float("inf"), ParameterTypeError, "result must be what JSON can hold"),
        (5, {("a", 1): 2}, ParameterTypeError, "result must be what JSON can hold"),
    ],
)
def test_results_that_do_not_belong_are_refused(
    charge: Any, result: Any, kind: type[Exception], said: str, path: Path
) -> None:
    filled(path)
    before = path.read_bytes()
    with refused(said, kind):
        Ledger(path).record(charge, result)
    assert path.read_bytes() == before


def test_a_charge_of_another_ledger_is_not_taken_for_one_of_this(path: Path) -> None:
    for name in ("one.db", "other.db"):
        Ledger(path.with_name(name)).add_dataset("visits", 2)
    charge = Ledger(path.with_name("one.db")).charge("visits", 1, mechanism="m")
    Ledger(path.with_name("other.db")).charge("visits", 1, mechanism="another")
    with refused("has another charge 2 than this"):
        Ledger(path.with_name("other.db")).record(charge, 1)


@pytest.mark.parametrize("name", ["café", "cafe\u0301"])
def test_a_name_is_the_same_however_its_accents_are_written(name: str, path: Path) -> None:
    made = Ledger(path)
    made.add_dataset(name, 2)
    assert made.charge("cafe\u0301", 1, mechanism="m").dataset == "café"
    assert made.budget("café").left == 1


# --- The clock


def counted(path: Path) -> int:
    return Ledger(path).verify().entries


@pytest.mark.parametrize("back", [61, 3600, 86_400 * 400])
def test_a_clock_that_was_set_back_charges_nothing(
    back: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    filled(path)
    before = path.read_bytes()
    clock.turn(seconds=-back)
    for call in (
        lambda: Ledger(path).charge("visits", "1/10", mechanism="m"),
        lambda: Ledger(path).check("visits", "1/10"),
        lambda: Ledger(path).add_dataset("more", 1),
    ):
        with refused(r"The clock shows .* before the ledger's last entry of 2026-03-01 12:00"):
            call()
    assert path.read_bytes() == before
    assert Ledger(path).budget("visits").left == Fraction(17, 30)


@pytest.mark.parametrize("back", [0, 1, 59.999, 60])
def test_clocks_of_several_machines_may_lie_apart_by_a_minute(
    back: float, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    filled(path)
    last = clock.time
    clock.turn(seconds=-back)
    charge = Ledger(path).charge("visits", "1/10", mechanism="m")
    assert charge.at == last
    assert counted(path) == 9


def test_a_clock_that_was_far_ahead_is_passed_over_on_request(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    Ledger(path).add_dataset("visits", 2)
    clock.turn(days=27_000)
    assert Ledger(path).charge("visits", "1/10", mechanism="m").at.year == 2100
    clock.turn(days=-27_000)
    with refused("correct it, or give check_clock=False"):
        Ledger(path).charge("visits", "1/10", mechanism="m")
    for _ in range(3):
        clock.turn(days=1)
        late = Ledger(path, check_clock=False).charge("visits", "1/10", mechanism="m")
        assert late.at.year == 2100
    assert counted(path) == 5
    clock.turn(days=30_000)
    assert Ledger(path).charge("visits", "1/10", mechanism="m").at == clock.time
    assert counted(path) == 6


@pytest.mark.parametrize("to", [datetime(1970, 1, 1, tzinfo=UTC), datetime(2099, 1, 1, tzinfo=UTC)])
def test_a_result_is_kept_whatever_the_clock_says(
    to: datetime, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    filled(path)
    clock.time = to
    Ledger(path).record(5, {"mean": 3})
    assert Ledger(path).history()[1].result == '{"mean": 3}'
    assert counted(path) == 9


# --- And if the code were another


def tenths_and_tiny() -> None:
    """What goes wrong in floats, at the end and beside it."""
    for parts in (10, 3):
        test_parts_add_up_to_the_whole_and_not_one_is_left_over(parts)


def clock_is_looked_at() -> None:
    with quick_folder() as folder, pytest.MonkeyPatch.context() as patch:
        test_a_clock_that_was_set_back_charges_nothing(61, folder / "budget.db", patch)
    with quick_folder() as folder, pytest.MonkeyPatch.context() as patch:
        test_clocks_of_several_machines_may_lie_apart_by_a_minute(
            59.999, folder / "budget.db", patch
        )


MUTANTS: list[tuple[Any, Mutant, Any]] = [
    (ledger, Mutant("refuses the last of it", "if spent + cost > total:",
                    "if spent + cost >= total:"), tenths_and_tiny),
    (ledger, Mutant("never refuses", "if spent + cost > total:", "if spent > total:"),
     tenths_and_tiny),
    (ledger, Mutant("compares floats", "if spent + cost > total:",
                    "if float(spent + cost) > float(total):"), tenths_and_tiny),
    (ledger, Mutant("adds up floats", "spent=format_exact(spent + cost), **columns",
                    "spent=repr(float(spent + cost)), **columns"), tenths_and_tiny),
    (ledger, Mutant("keeps what it only tried",
                    '"to be seen", None, None, commit=False',
                    '"to be seen", None, None, commit=True'),
     one_history),
    (recording, Mutant("records twice", "if log.find_result(number) is not None:", "if False:"),
     one_history),
    (recording, Mutant("records for any charge of that number",
                    "if receipt not in (None, found):",
                    "if False:"), one_history),
    (recording, Mutant("records for another price",
                    "if cost > promised:", "if False:"),
     one_history),
    (ledger, Mutant("sets totals anew", "for known in log.datasets():",
                    "for known in ():"), one_history),
    (ledger, Mutant("takes nearly the same name",
                    "if validation.fold_name(known) == validation.fold_name(name):", "if False:"),
     one_history),
    (entry_log, Mutant("forgets earlier charges",
                       "return Fraction(0) if entry is None else parse_epsilon(entry.spent)",
                       "return Fraction(0) if entry is None else parse_epsilon(entry.epsilon)"),
     tenths_and_tiny),
    (entry_log, Mutant("looks at the charges of all",
                       """_find_last("kind = 'charge' AND dataset = ?",""",
                       """_find_last("kind = 'charge' AND ? <> ''","""), one_history),
    (entry_log, Mutant("looks at the first charge", "ORDER BY number DESC LIMIT 1",
                 "ORDER BY number LIMIT 1"), tenths_and_tiny),
    (entry_log, Mutant("forgets settlements", "return max(charge, settlement, key=",
                       "return min(charge, settlement, key="), one_history),
    (settlement, Mutant("settles with j/k", "release.spent * factor",
                        "parameters.epsilon * len(release) / parameters.k * factor"), one_history),
    (settlement, Mutant("settles once converted", "release.spent * factor", "release.spent"),
     one_history),
    (recording, Mutant("settles unseen", "spent=format_exact(spent), charge",
                       "spent=format_exact(log.balance(charged.dataset).spent), charge"),
     one_history),
    (entry_log, Mutant("leaves the head", "UPDATE head SET number = ?, hash = ?",
                 "UPDATE head SET number = ?, hash = ? WHERE 0"), one_history),
    (database, Mutant("keeps what was refused",
                     'opened.execute("ROLLBACK")', 'opened.execute("COMMIT")'), one_history),
    (entry, Mutant("no tolerance", "time < before - CLOCK_TOLERANCE", "time < before"),
     clock_is_looked_at),
    (entry, Mutant("never behind", "if check and time < before - CLOCK_TOLERANCE:", "if False:"),
     clock_is_looked_at),
    (entry, Mutant("times that go back", "max(time, before)", "time"), clock_is_looked_at),
]  # fmt: skip


@pytest.mark.parametrize(
    ("module", "mutant", "look"), MUTANTS, ids=[mutant.name for _, mutant, _ in MUTANTS]
)
def test_code_that_adds_up_otherwise_is_found(
    module: Any, mutant: Mutant, look: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_place(monkeypatch, module, mutant)
    assert is_found(look)


@pytest.mark.parametrize("look", [tenths_and_tiny, clock_is_looked_at])
def test_the_code_as_it_is_passes_what_finds_them(look: Any) -> None:
    look()
