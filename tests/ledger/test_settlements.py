"""Charges that are settled to what their output cost: when, to how much, and what is refused."""

import io
import json
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import topgap
from tests.checking.mutants import Mutant
from tests.cli.test_budget import told
from tests.ledger.sample_ledgers import (
    THRESHOLD,
    VERSION_1,
    VERSION_2,
    VERSION_3,
    Clock,
    charge_and_draw,
    content,
    cut,
    entries_of,
    filled_with_settlements,
    hide_in_the_index,
    is_found,
    put_in_place,
    quick_folder,
    refused,
    tampering,
    write_anew,
)
from topgap import Release, TopK, streams
from topgap.cli.charges import confirm_charge, describe_charge
from topgap.ledger import Ledger, charging, entry_log, recording, settlement, verification
from topgap.ledger.entry import Entry
from topgap.ledger.entry_log import EntryLog
from topgap.ledger.storage import schema
from topgap.numbers.format import format_exact, parse_exact

LAST_OF_3 = "19:16c989a2e88f749720563fb4df9d2d60ef73b20c2f65b531b0a127ec4fd91302"
PEOPLE = {"ash": 10**9, "elm": 10**8, "oak": 3, "yew": 0}  # two of them above 10^6, for certain
GIVEN: dict[str, Any] = {"k": 4, "epsilon": 1, "threshold": 10**6}
TABLE = pa.table({"what": [*PEOPLE], "people": [*PEOPLE.values()]})


@pytest.fixture
def path() -> Iterator[Path]:
    """A ledger with two data sets of either relation, to which nothing was charged."""
    with quick_folder() as folder:
        yield begun(folder / "budget.db")


def begun(path: Path) -> Path:
    ledger = Ledger(path, who="ana")
    ledger.add_dataset("visits", 3)
    ledger.add_dataset("stays", 3, neighbours="replace")
    return path


# --- Who settles, and to how much


def from_a_selector(*, ledger: Path, dataset: str, monotonic: bool) -> Release:
    selector = topgap.Selector(TopK(**GIVEN, monotonic=monotonic))
    selector.add(PEOPLE)
    return selector.release(ledger=ledger, dataset=dataset)


CALLS: dict[str, Callable[..., Release]] = {
    "top_k": lambda **more: topgap.top_k(PEOPLE, **GIVEN, **more),
    "select": lambda monotonic, **more: topgap.select(
        TopK(**GIVEN, monotonic=monotonic), PEOPLE, **more
    ),
    "Selector.release": from_a_selector,
    "streams.top_k": lambda **more: streams.top_k(
        TABLE, **GIVEN, item="what", count="people", **more
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("monotonic", [True, False])
@pytest.mark.parametrize("dataset", ["visits", "stays"])
def test_each_call_settles_its_charge_to_what_its_output_cost(
    name: str, monotonic: bool, dataset: str, path: Path
) -> None:
    """Two names of at most four: 3/4, or 5/8; and twice that where ε was charged twice."""
    release = CALLS[name](ledger=path, dataset=dataset, monotonic=monotonic)
    assert release.items == ("ash", "elm")
    times = Fraction(2 if monotonic and dataset == "stays" else 1)
    cost = times * (Fraction(3, 4) if monotonic else Fraction(5, 8))
    (charge,) = Ledger(path).history()
    assert (charge.epsilon, charge.settled) == (times, cost)
    assert (charge.left, charge.left_settled) == (3 - times, 3 - cost)
    budget = Ledger(path).budget(dataset)
    assert (budget.reserved, budget.spent, budget.left) == (times, cost, 3 - cost)
    assert (budget.charges, budget.settled, budget.without_result) == (1, 1, 0)
    assert Ledger(path).verify().entries == 5
    assert Ledger(path).charge(dataset, 3 - cost, mechanism="the rest").left == 0


def test_what_is_left_is_released_from_again(path: Path) -> None:
    """Nine releases with ε = 1 fit into 3, for each names nobody and so costs 1/4."""
    paid: dict[str, Any] = {"ledger": path, "dataset": "visits"}
    for made in range(1, 10):
        topgap.top_k([1, 2, 3, 4, 5], 4, 1, threshold=10**9, monotonic=True, **paid)
        assert Ledger(path).budget("visits").spent == Fraction(made, 4)
    with pytest.raises(topgap.BudgetExceeded) as refusal:
        topgap.top_k([1, 2, 3, 4, 5], 4, 1, threshold=10**9, monotonic=True, **paid)
    assert refusal.value.left == Fraction(3, 4)
    assert Ledger(path).budget("visits").reserved == 9
    Ledger(path).verify()


@pytest.mark.parametrize("monotonic", [True, False])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_a_settlement_is_exact_for_each_length(k: int, monotonic: bool, path: Path) -> None:
    spent = Fraction(0)
    parameters = TopK(k, "1/7", monotonic=monotonic, threshold="1/3", sensitivity="1/10")
    for winners in range(k + 1):
        charge = charge_and_draw(Ledger(path), "visits", cut(winners, parameters))
        cost = Fraction(winners + 1, k) if monotonic else Fraction(2 * winners + 1, 2 * k)
        cost = min(cost, Fraction(1)) / 7
        assert charge.settled == (None if cost == Fraction(1, 7) else cost)
        spent += cost
        assert Ledger(path).budget("visits").spent == spent
        assert Ledger(path).history()[-1] == charge
    Ledger(path).verify()


def stays_charged(path: Path, entries: int) -> None:
    budget = Ledger(path).budget("visits")
    assert (budget.spent, budget.reserved, budget.settled) == (Fraction(1), Fraction(1), 0)
    assert Ledger(path).verify().entries == entries


def test_without_a_result_all_of_it_stays_charged(path: Path) -> None:
    pending = charging.prepare_charge(Ledger(path), "visits", "m", TopK(**GIVEN))

    def crashes() -> Release:
        raise MemoryError

    with pytest.raises(MemoryError):
        pending.charge_then_run(crashes)
    stays_charged(path, 3)


def test_a_result_that_is_not_recorded_is_not_settled(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the first of its two entries could be written: they come together or not at all."""
    append = EntryLog.append

    def fails(self: EntryLog, last: Entry | None, **columns: Any) -> Any:
        if columns["kind"] == "settlement":
            raise sqlite3.OperationalError("disk I/O error")
        return append(self, last, **columns)

    monkeypatch.setattr(EntryLog, "append", fails)
    with pytest.warns(topgap.LedgerWarning, match="its result is not in the ledger"):
        CALLS["top_k"](ledger=path, dataset="visits", monotonic=True)
    stays_charged(path, 3)
    assert Ledger(path).budget("visits").without_result == 1


def test_a_result_that_is_handed_in_settles_nothing(path: Path, tmp_path: Path) -> None:
    """It may be shorter than what was drawn; the same by the command."""
    listed = THRESHOLD.to_dict()
    ledger = Ledger(path)
    charge = ledger.charge("visits", "1/5", mechanism="topgap.top_k", parameters=listed)
    ledger.record(charge, cut(0))
    number = ledger.charge("visits", "4/5", mechanism="m", parameters=listed).number
    (tmp_path / "result.json").write_text(cut(0).to_json())
    ended = told(tmp_path, "record", path, "--charge", number, "result.json")
    assert ended.code == 0
    stays_charged(path, 6)
    assert [each.settled for each in ledger.history()] == [None, None]


LAPLACE = TopK(4, 1, items_per_person=1, monotonic=True, threshold=10)
OTHERS: list[tuple[str, TopK, object]] = [
    ("a full list", TopK(4, 1, monotonic=True, threshold=10), None),
    ("no threshold", TopK(2, 1), cut(2, TopK(2, 1))),
    ("Laplace noise", LAPLACE, Release(LAPLACE, None, [], [], value_units=[])),
    ("another k", TopK(4, 1, threshold=10), cut(1, TopK(5, 1, threshold=10))),
    ("a smaller ε", TopK(4, 1, threshold=10), cut(1, TopK(4, "1/2", threshold=10))),
    ("another threshold", TopK(4, 1, threshold=10), cut(1, TopK(4, 1, threshold=11))),
    ("a threshold then", TopK(4, 1), cut(1, TopK(4, 1, threshold=11))),
    ("other noise", LAPLACE, cut(1, TopK(4, 1, monotonic=True, threshold=10))),
    ("both ways", TopK(4, 1, threshold=10), [cut(1, TopK(4, 1, threshold=10))]),
    ("a number", TopK(4, 1, threshold=10), 5),
    ("like a release", TopK(4, 1, threshold=10), {"format": "topgap.release/1"}),
]


@pytest.mark.parametrize(
    ("parameters", "drawn"), [x[1:] for x in OTHERS], ids=[x[0] for x in OTHERS]
)
def test_all_other_results_settle_nothing(parameters: TopK, drawn: object, path: Path) -> None:
    drawn = cut(4, parameters) if drawn is None else drawn
    charging.prepare_charge(Ledger(path), "visits", "m", parameters).charge_then_run(lambda: drawn)
    stays_charged(path, 4)


def test_a_charge_of_another_amount_than_its_parameters_say_settles_nothing(path: Path) -> None:
    """Such as one that somebody charged by hand, for a release and for more."""
    ledger, parameters = Ledger(path), TopK(4, "1/2", threshold=10)
    charge = ledger.charge("visits", 1, mechanism="m", parameters=parameters.to_dict())
    assert ledger._record_drawn(charge, cut(1, parameters)).settled is None
    stays_charged(path, 4)


def test_half_the_noise_is_never_settled_as_if_nobody_were_replaced(path: Path) -> None:
    """Its ε, stated for no relation, would be too little, and a shorter list would hide that."""
    ledger, parameters = Ledger(path), TopK(4, 1, threshold=10, monotonic=True)
    charge = ledger.charge("stays", 1, mechanism="m", parameters=parameters.to_dict())
    with refused("and the result cost more: 2"):
        ledger._record_drawn(charge, cut(0, parameters))


def test_sums_with_too_many_digits_are_not_settled(path: Path) -> None:
    ledger, before = Ledger(path), Fraction(1, 7**1180) + Fraction(1, 11**960)
    for each in (7**1180, 11**960):
        ledger.charge("visits", Fraction(1, each), mechanism="m")
    made = charge_and_draw(ledger, "visits", cut(0, TopK(9973, 1, threshold=10)))
    assert made.settled is None
    assert ledger.budget("visits").spent == 1 + before
    made = charge_and_draw(ledger, "visits", cut(0, TopK(2, 1, threshold=10)))
    assert made.settled == Fraction(1, 4)
    ledger.verify()


def test_it_is_said_with_the_receipt_and_in_show_and_history(path: Path) -> None:
    charge = charge_and_draw(Ledger(path), "stays", cut(1, TopK(4, 1, monotonic=True, threshold=7)))
    assert describe_charge(charge) == (
        "Charged to stays: ε = 2 (1 for add-remove, which is twice as much for replace), settled "
        f"to 1, which leaves 2. Receipt {charge.receipt}"
    )
    folder = path.parent
    _, _, line = told(folder, "show", path.name).out.splitlines()
    assert line.split()[:8] == ["stays", "replace", "3", "2", "1", "2", "1", "1"]
    line = told(folder, "history", path.name).out.splitlines()[1]
    assert "stays            2  replace (1 add-remove)        1  1 → 2  topgap.top_k" in line
    read = json.loads(told(folder, "show", path.name, "--format", "json").out)["datasets"][1]
    assert [read[name] for name in ("reserved", "spent", "left", "settled")] == ["2", "1", "2", 1]
    for form in ("history", "export"):
        (read,) = json.loads(told(folder, form, path.name, "--format", "json").out)["charges"]
        names = ("epsilon", "settled", "left", "left_settled")
        assert [read[name] for name in names] == ["2", "1", "1", "2"]


class Terminal(io.StringIO):
    """Somebody who types, or who reads."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("threshold", [None, 500])
def test_the_question_says_that_more_may_be_left(
    threshold: int | None, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = TopK(4, 1, threshold=threshold)
    pending = charging.prepare_charge(Ledger(path), "visits", "m", parameters)
    assert isinstance(pending, charging.LedgerCharge)
    shown = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    monkeypatch.setattr(sys, "stderr", shown)
    confirm_charge(pending)
    more = "whatever comes of it" if threshold is None else "or more if the threshold ends the list"
    assert f"This charges ε = 1 to visits and leaves 2, {more}" in shown.getvalue()


# --- What verification refuses, with right hashes


@pytest.fixture(scope="module")
def original() -> Iterator[Path]:
    """A ledger with two settlements, that nobody may touch."""
    with quick_folder() as folder:
        filled_with_settlements(folder / "original.db")
        yield folder / "original.db"


@pytest.fixture
def settled(original: Path) -> Iterator[Path]:
    """A copy of it: 12, 13 and 14 are a charge, its result and its settlement."""
    with quick_folder() as folder:
        yield Path(shutil.copy(original, folder / "budget.db"))


def verified(path: Path, entries: list[Entry]) -> None:
    """See that these entries, numbered anew, are refused; by the rules alone, and in a file."""
    rules = verification._Rules(EntryLog(sqlite3.connect(":memory:"), "…"))
    with refused("was modified outside topgap at entry"):
        for each in entries:
            assert each.is_valid()
            rules.check(each)
    try:
        write_anew(path, entries)
    except sqlite3.IntegrityError:  # a second settlement
        return
    with refused("was modified outside topgap|lacks entry"):
        Ledger(path).verify()


CHARGE, RESULT, SETTLEMENT = 11, 12, 13  # in the list of entries
Forge = Callable[[list[Entry]], list[Entry]]


def with_change(of: int, /, **change: Any) -> Forge:
    return lambda entries: [*entries[:of], replace(entries[of], **change), *entries[of + 1 :]]


def settled_to(epsilon: str) -> Forge:
    """To so much, and with the sum that follows."""

    def forge(entries: list[Entry]) -> list[Entry]:
        charge = entries[CHARGE]
        others = parse_exact(charge.spent or "") - parse_exact(charge.epsilon or "")
        spent = format_exact(others + parse_exact(epsilon))
        return with_change(SETTLEMENT, epsilon=epsilon, spent=spent)(entries[: SETTLEMENT + 1])

    return forge


def with_parameters(**change: Any) -> Forge:
    """Of the charge."""

    def forge(entries: list[Entry]) -> list[Entry]:
        noted = {**json.loads(entries[CHARGE].parameters or ""), **change}
        return with_change(CHARGE, parameters=json.dumps(noted))(entries)

    return forge


def with_result(release: Release) -> Forge:
    return with_change(RESULT, result=release.to_json())


def both(*forges: Forge) -> Forge:
    def forge(entries: list[Entry]) -> list[Entry]:
        for each in forges:
            entries = each(entries)
        return entries

    return forge


def between(entries: list[Entry]) -> list[Entry]:
    """Something else between the result and the settlement."""
    other = replace(entries[0], number=14, dataset="other", at=entries[RESULT].at)
    return [*entries[:SETTLEMENT], other, replace(entries[SETTLEMENT], number=15)]


def twice(entries: list[Entry]) -> list[Entry]:
    """At once after the first, and with the sum that would follow."""
    last = entries[SETTLEMENT]
    spent = parse_exact(last.spent or "") - Fraction(1, 10)
    return [*entries[: SETTLEMENT + 1], replace(last, number=15, spent=format_exact(spent))]


def twice_for_two_results(entries: list[Entry]) -> list[Entry]:
    first = twice(entries)
    result = replace(entries[RESULT], number=15)
    return [*first[:-1], result, replace(first[-1], number=16, recorded=15)]


def without_its_result(entries: list[Entry]) -> list[Entry]:
    return [*entries[:RESULT], replace(entries[SETTLEMENT], number=13, recorded=13)]


def before_its_result(entries: list[Entry]) -> list[Entry]:
    first, second = replace(entries[SETTLEMENT], number=13), replace(entries[RESULT], number=14)
    return [*entries[:RESULT], replace(first, recorded=14), second]


LONGER = TopK(8, "1/5", monotonic=True, threshold=500)
FORGED: dict[str, Forge] = {
    "without its result": without_its_result,
    "before its result": before_its_result,
    "later than its result": between,
    "twice": twice,
    "twice, and twice its result": twice_for_two_results,
    "below what the output cost": settled_to("0.05"),
    "a little below": settled_to("0.0999999999999999999999"),
    "a little above": settled_to("0.1000000000000000000001"),
    "to nearly nothing": settled_to("0.0001"),
    "to all of ε": settled_to("0.2"),
    "to more than ε": settled_to("0.3"),
    "a larger sum": lambda entries: with_change(SETTLEMENT, spent="1.6")(entries[:14]),
    "a smaller sum": lambda entries: with_change(SETTLEMENT, spent="0.01")(entries[:14]),
    "of another charge": with_change(SETTLEMENT, charge=3),
    "of another result": with_change(SETTLEMENT, recorded=4),
    "of another data set": with_change(SETTLEMENT, dataset="stays"),
    "at another time": with_change(SETTLEMENT, at="9999-12-31T00:00:00.000000Z"),
    "a result of more names": with_result(cut(2)),
    "a result of fewer names": with_result(cut(0)),
    "a result of all names": with_result(cut(4)),
    "a result with a larger k": both(with_result(cut(1, LONGER)), settled_to("0.05")),
    "a result with a larger k than was charged for": with_result(cut(3, LONGER)),
    "a result without a threshold": with_result(cut(4, TopK(4, "1/5", monotonic=True))),
    "a result that is none": with_change(RESULT, result='{"sum": 5}'),
    "another k of the charge": with_parameters(k=8),
    "another threshold of the charge": with_parameters(threshold="400"),
    "no threshold of the charge": with_parameters(threshold=None),
    "answers of the charge that move both ways": with_parameters(monotonic=False),
    "other noise of the charge": with_parameters(items_per_person=1, noise="laplace"),
    "a charge for another relation": with_change(CHARGE, neighbours="replace"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_settlement_that_is_not_right_is_found(name: str, settled: Path) -> None:
    verified(settled, FORGED[name](entries_of(settled)))


def test_the_wrong_factor_is_found(settled: Path) -> None:
    """0 names of 4 cost 1/20, and 1/10 where a person may be replaced."""
    entries = entries_of(settled)
    at = max(i for i, each in enumerate(entries) if each.kind == "settlement")
    assert (entries[at].dataset, entries[at].epsilon) == ("stays", "0.1")
    spent = format_exact(parse_exact(entries[at].spent or "") - Fraction(1, 20))
    verified(settled, with_change(at, epsilon="0.05", spent=spent)(entries))


def test_half_the_noise_for_persons_who_are_replaced_is_found(settled: Path) -> None:
    """A charge that states no relation, of a release whose ε holds for one person more or less."""
    entries = entries_of(settled)[:17]
    entries[14] = replace(
        entries[14],
        epsilon="0.2",
        stated=None,
        neighbours=None,
        spent=format_exact(Fraction(67, 60)),
    )
    entries[16] = replace(entries[16], epsilon="0.05", spent=format_exact(Fraction(58, 60)))
    verified(settled, entries)


@pytest.mark.parametrize(
    "change",
    [
        {"recorded": None},
        {"charge": None},
        {"epsilon": None},
        {"epsilon": "0.10"},
        {"epsilon": "-0.1"},
        {"spent": None},
        {"spent": "0"},
        {"stated": "0.1"},
        {"neighbours": "add-remove"},
    ],
    ids=str,
)
def test_a_settlement_that_none_can_be_is_found(change: dict[str, Any], settled: Path) -> None:
    write_anew(settled, with_change(SETTLEMENT, **change)(entries_of(settled)))
    with refused("was modified outside topgap at entry 14"):
        Ledger(settled).verify()


@pytest.mark.parametrize("at", [0, CHARGE, RESULT])
def test_no_other_entry_refers_to_a_result(at: int, settled: Path) -> None:
    write_anew(settled, with_change(at, recorded=1)(entries_of(settled)))
    with refused(f"was modified outside topgap at entry {at + 1}"):
        Ledger(settled).verify()


def test_the_entries_as_they_are_pass(settled: Path) -> None:
    before = content(settled)
    entries = entries_of(settled)
    assert [each.kind for each in entries[CHARGE : SETTLEMENT + 1]] == [
        "charge", "result", "settlement",
    ]  # fmt: skip
    write_anew(settled, settled_to("0.1")(entries) + entries[SETTLEMENT + 1 :])
    assert content(settled) == before
    Ledger(settled).verify()


def test_a_settlement_is_refused_twice_by_the_file_itself(settled: Path) -> None:
    with closing(sqlite3.connect(settled)) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(
            "INSERT INTO entries SELECT 99, kind, at, dataset, epsilon, spent, mechanism, "
            "parameters, who, note, charge, result, software, hash, neighbours, stated, recorded "
            "FROM entries WHERE number = 14"
        )


@pytest.mark.parametrize("dataset", ["visits", "stays"])
def test_a_charge_is_refused_where_a_settlement_was_edited(dataset: str, settled: Path) -> None:
    """The last sum of a data set is looked at each time, whichever kind of entry has it."""
    ledger = Ledger(settled)
    if dataset == "visits":
        charge_and_draw(ledger, "visits", cut(0, TopK(4, "1/100", threshold=5)))
    number = max(
        each.number
        for each in entries_of(settled)
        if each.kind == "settlement" and each.dataset == dataset
    )
    with closing(sqlite3.connect(settled, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER no_edit")
        connection.execute("UPDATE entries SET spent = '0.01' WHERE number = ?", [number])
        (trigger,) = (each for each in schema.STATEMENTS if "no_edit" in each)
        connection.execute(trigger)
    with refused("was modified outside topgap"):
        ledger.charge(dataset, "1/1000", mechanism="m")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET kind = 'none' WHERE number = 17",
        "UPDATE entries SET dataset = 'visits' WHERE number = 17",
        "UPDATE entries SET number = 70 WHERE number = 17",
        "DELETE FROM entries WHERE number = 17",
        "DELETE FROM entries WHERE number IN (16, 17)",
        None,
    ],
)
def test_a_charge_is_refused_where_a_settlement_was_hidden(
    statement: str | None, settled: Path
) -> None:
    """The last one says what is spent; without a statement, the index hides it."""
    if statement is None:
        hide_in_the_index(settled, "settlement")
    else:
        with tampering(settled) as connection:
            connection.execute(statement)
    with refused("was modified outside topgap"):
        Ledger(settled).charge("stays", "1/1000", mechanism="m")


# --- Files of older and of newer versions


@pytest.mark.parametrize("file", [VERSION_1, VERSION_2], ids=lambda each: each.stem)
def test_older_files_settle_from_the_first_charge_on(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(monkeypatch).turn(days=30)
    old = Path(shutil.copy(file, tmp_path / "old.db"))
    before = Ledger(old).budget("visits")
    assert (before.reserved, before.spent, before.settled) == (Fraction(43, 30),) * 2 + (0,)
    kept = Ledger(old).verify().receipt
    made = charge_and_draw(Ledger(old), "visits", cut(1))
    assert made.settled == Fraction(1, 10)
    after = Ledger(old).budget("visits")
    assert (after.reserved, after.spent) == (Fraction(49, 30), Fraction(46, 30))
    Ledger(old).verify(kept, made.receipt)


def test_the_third_version_is_read_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(monkeypatch).turn(days=30)
    old = Path(shutil.copy(VERSION_3, tmp_path / "old.db"))
    before = old.read_bytes()
    ledger = Ledger(old, who="bo")
    assert ledger.verify(LAST_OF_3).receipt == LAST_OF_3
    assert [
        (each.dataset, each.reserved, each.spent, each.settled) for each in ledger.budgets()
    ] == [
        ("visits", Fraction(11, 6), Fraction(26, 15), 1),
        ("blood α", Fraction(1, 7), Fraction(1, 7), 0),
        ("stays", Fraction(79, 60), Fraction(61, 60), 1),
    ]
    assert [each.settled for each in ledger.history()][-3:] == [Fraction(1, 10)] * 2 + [None]
    assert old.read_bytes() == before
    assert ledger.charge("visits", "4/15", mechanism="m").left == 0
    ledger.verify(LAST_OF_3)


def test_software_of_the_second_version_is_told_to_be_updated(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take a settlement for an edit, and so must not read it at all."""
    before = path.read_bytes()
    monkeypatch.setattr(schema, "VERSION", 2)
    for call in (Ledger(path).verify, Ledger(path).budgets, lambda: Ledger(path).charge(
        "visits", 1, mechanism="m")):  # fmt: skip
        with refused(r"its format is 3, and this one knows 2\); update topgap"):
            call()
    assert path.read_bytes() == before


# --- And if the code were another


def look_at_calls(path: Path) -> None:
    for monotonic in (True, False):
        for dataset in ("visits", "stays"):
            begun_anew(path)
            test_each_call_settles_its_charge_to_what_its_output_cost(
                "top_k", monotonic, dataset, path
            )


def begun_anew(path: Path) -> None:
    path.unlink()
    begun(path)


def look_at_crashes(path: Path) -> None:
    test_without_a_result_all_of_it_stays_charged(path)


def look_at_half_of_it(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        test_a_result_that_is_not_recorded_is_not_settled(path, patch)


def look_at_what_is_handed_in(path: Path) -> None:
    (path.parent / "cli").mkdir()
    test_a_result_that_is_handed_in_settles_nothing(path, path.parent / "cli")


def look_at_others(path: Path) -> None:
    for _, parameters, drawn in OTHERS:
        begun_anew(path)
        test_all_other_results_settle_nothing(parameters, drawn, path)
    begun_anew(path)
    test_a_charge_of_another_amount_than_its_parameters_say_settles_nothing(path)


def look_at_forged(path: Path) -> None:
    for name in FORGED:
        path.unlink()
        filled_with_settlements(path)
        test_a_settlement_that_is_not_right_is_found(name, path)


def look_at_relations(path: Path) -> None:
    path.unlink()
    filled_with_settlements(path)
    test_half_the_noise_for_persons_who_are_replaced_is_found(path)


def look_at_hidden(path: Path) -> None:
    path.unlink()
    filled_with_settlements(path)
    test_a_charge_is_refused_where_a_settlement_was_hidden(None, path)


def look_at_digits(path: Path) -> None:
    test_sums_with_too_many_digits_are_not_settled(path)


Look = Callable[[Path], None]
LOOKS: list[Look] = [
    look_at_calls, look_at_crashes, look_at_half_of_it, look_at_what_is_handed_in, look_at_others,
    look_at_forged, look_at_relations, look_at_hidden, look_at_digits,
]  # fmt: skip
_SETTLE = "settlement = _settle(log, charged, recorded, dataset) if settles else None"
_COST = "reserved, cost = parse_epsilon(charge.epsilon), release.spent * factor"
MUTANTS: list[tuple[Any, Mutant, Look]] = [
    (recording, Mutant("settled twice", _SETTLE,
                       f"{_SETTLE.replace('settlement = ', '')}\n    {_SETTLE}"), look_at_calls),
    (recording, Mutant("settled without being drawn", " if settles else None", ""),
     look_at_what_is_handed_in),
    (recording, Mutant("never settled", _SETTLE, "settlement = None"), look_at_calls),
    (recording, Mutant("the difference forgotten",
                       "- parse_epsilon(charged.epsilon) + cost", ""), look_at_calls),
    (recording, Mutant("all given back", "- parse_epsilon(charged.epsilon) + cost",
                       "- parse_epsilon(charged.epsilon)"), look_at_calls),
    (recording, Mutant("digits without end", "if spent.denominator >=", "if 0 >="), look_at_digits),
    (charging, Mutant("settled before the draw", "        result = self._run(draw)\n",
                      "        from tests.ledger.sample_ledgers import cut\n"
                      "        self._ledger._record_drawn(self.charge, cut(0, "
                      "TopK(4, 1, threshold=10**6)))\n"
                      "        result = self._run(draw)\n"), look_at_crashes),
    (settlement, Mutant("j/k", _COST, _COST.replace(
        "release.spent", "parameters.epsilon * Fraction(len(release), parameters.k)")),
     look_at_calls),
    (settlement, Mutant("the factor forgotten", "release.spent * factor", "release.spent"),
     look_at_calls),
    (settlement, Mutant("always twice", "release.spent * factor", "release.spent * 2"),
     look_at_calls),
    (settlement, Mutant("other parameters", " or noted != parameters.to_dict()", ""),
     look_at_others),
    (settlement, Mutant("other parameters, as verified", " or noted != parameters.to_dict()", ""),
     look_at_forged),
    (settlement, Mutant("another amount", "cost < reserved == parameters.epsilon * factor",
                        "cost < reserved"), look_at_others),
    (settlement, Mutant("any relation", " or factor < least", ""), look_at_relations),
    (settlement, Mutant("a full list", "cost < reserved ==", "cost <= reserved =="),
     look_at_others),
    (entry_log, Mutant("believes the index", 'later.kind in ("charge", "settlement")',
                       'later.kind == "charge"'), look_at_hidden),
    (verification, Mutant("any result", "if same != (", "if False and same != ("), look_at_forged),
    (verification, Mutant("any cost", "return is_exact and self", "return self"), look_at_forged),
    (verification, Mutant("at least the cost", "is_exact = cost == parse_epsilon(entry.epsilon)",
                          "is_exact = cost is not None and cost <= parse_epsilon(entry.epsilon)"),
     look_at_forged),
    (verification, Mutant("any sum", "return is_exact and self._is_summed_up(entry, "
                          "parse_epsilon(charge.epsilon))", "return is_exact"), look_at_forged),
    (verification, Mutant("without a result", "return recorded is not None and self._is_settled("
                          "entry, *recorded)", "return recorded is None or self._is_settled("
                          "entry, *recorded)"), look_at_forged),
    (verification, Mutant("as often as one likes",
                          "recorded, self._recorded = self._recorded, None",
                          "recorded = self._recorded"), look_at_forged),
]  # fmt: skip


@pytest.mark.parametrize(
    ("module", "mutant", "look"), MUTANTS, ids=[mutant.name for _, mutant, _ in MUTANTS]
)
def test_code_that_settles_otherwise_is_found(
    module: Any, mutant: Mutant, look: Look, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_place(monkeypatch, module, mutant)
    assert is_found(lambda: look(path))


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_the_code_as_it_is_passes_what_finds_them(look: Look, path: Path) -> None:
    look(path)
