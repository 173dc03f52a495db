"""A domain told by a rule has the counts of the same domain written out; nothing else is read."""

import io
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings

from tests.checking.mutants import Mutant
from tests.counting.broken_modules import break_module
from tests.counting.sample_events import Events, plainly_counted, ways
from tests.counting.test_counting import AWKWARD, SHOWING, some_events
from topgap import counting
from topgap.counting import Domain, counted, occurring
from topgap.errors import DomainError, ParameterError, SourceError, TopgapError

pytestmark = pytest.mark.slow

# The members of DOMAIN, and those of the mutants' events, by a rule and in a list.
RULE = Domain.pattern("flu|Flu|caf[é]|0?7|two {1,2}words|nobody has it|[«]»|x")
LISTED = [RULE.unrank(rank) for rank in range(RULE.size)]
ROWS = [2, occurring.ROWS]


def occurs(counts: dict[Any, int]) -> dict[Any, int]:
    """The counts without zeros."""
    return {item: count for item, count in counts.items() if count}


def table(shown: Events) -> Any:
    """Events as an Arrow table."""
    columns = [[event[n] for event in shown] for n in (0, 1)]
    return pa.table({
        name: pa.array(column, pa.string())
        for name, column in zip(("who", "what"), columns, strict=True)
    })  # fmt: skip


def count(source: Any, domain: Any = RULE, **how: Any) -> counting.Counts:
    asked = {"person": "who", "item": "what", **how}
    return counting.count_events(source, **asked, domain=domain, by=None)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ways(Path())])
def test_each_form_of_events_is_counted_as_by_the_list(name: str, tmp_path: Path) -> None:
    counted_here = ways(tmp_path)[name](AWKWARD, RULE)
    assert counted_here == occurs(plainly_counted(AWKWARD, LISTED))
    assert isinstance(counted_here, counting.Counts)
    assert counted_here.domain == RULE


@pytest.mark.parametrize("rows", ROWS)
@given(drawn=some_events)
@settings(max_examples=40)
def test_any_events_are_counted_as_by_the_list(rows: int, drawn: Events) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(occurring, "ROWS", rows)
        assert count(table(drawn)) == occurs(count(table(drawn), LISTED))


AMONG_OTHERS: Events = [
    *((who, "flu") for who in ("Ann", "Bob", "Cy")), ("Ann", "x"),
    *((who, f"no member {n}") for n in range(20) for who in ("Ann", "Bob")),
]  # fmt: skip


def miscounts() -> bool:
    return any(
        count(table(shown)) != occurs(plainly_counted(shown, LISTED))
        for shown in [*SHOWING, AMONG_OTHERS]
    )


MUTANTS = [
    (counted, Mutant("the last spelling wins", "HAVING count(*) > 1", "HAVING false")),
    (counted, Mutant("changed cells are not looked at", "text{n} <> item{n}", "false AND item{n}")),
    (
        occurring,
        Mutant("no repeated item is a member", "if any(member is not", "if all(member is"),
    ),
    (occurring, Mutant("counts slip", "counts[mask]", "counts[: mask.sum()]")),
]


@pytest.mark.parametrize(("module", "mutant"), MUTANTS, ids=[mutant.name for _, mutant in MUTANTS])
def test_broken_counting_is_found(
    module: ModuleType, mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_module(monkeypatch, module, mutant)
    assert miscounts()


def test_sound_counting_is_not_found_broken() -> None:
    assert not miscounts()


TYPED: list[tuple[Any, set[int]]] = [
    (pa.array([7, 7, -3, None], pa.int8()), {7, -3}),
    (pa.array([7.0, 7.5, float("nan"), -0.0]), {7, 0}),
    (pa.array([7, 8, 9, None]).cast(pa.decimal128(30, 2)), {7, 8, 9}),
    (pa.array(["7", " 7", "007", "+7"]), {7}),
    (pa.array(["7", "7.0", "٧", "-0"]), {7}),
    (pa.array([2**63, 2**64 - 1, 0, None], pa.uint64()), {2**63, 2**64 - 1, 0}),
]


@pytest.mark.parametrize(("column", "expected"), TYPED)
def test_a_range_takes_whole_numbers_of_any_type(column: Any, expected: set[int]) -> None:
    events = pa.table({"who": ["Ann", "Bob", "Cy", "Dee"], "what": column})
    numbers = count(events, Domain.range(-(10**30), 10**30))
    assert {*numbers} == expected
    assert all(type(number) is int for number in numbers)
    listed = count(events, sorted(expected))
    assert numbers == listed


def test_mixed_types_of_objects_are_one_text() -> None:
    mixed = pd.DataFrame({
        "who": [1, "1", 1.0, True, None, float("nan"), pd.NA, 2],
        "what": ["7", 7, 7.0, " 7 ", 7, 7, 7, np.int8(7)],
    }, dtype=object)  # fmt: skip
    assert count(mixed, Domain.range(0, 10**12)) == {7: 3}
    assert count(mixed, Domain.pattern("[0-9]{1,9}")) == {"7": 3}


@pytest.mark.parametrize("kind", [pa.date32(), pa.bool_(), pa.timestamp("us"), pa.time32("s")])
def test_a_range_is_not_of_a_column_without_numbers(kind: Any) -> None:
    events = pa.table({"who": ["Ann"], "what": pa.array([None], kind)})
    with pytest.raises(DomainError, match="has whole numbers, and the column 'what' of type"):
        count(events, Domain.range(0, 5))
    assert count(events, Domain.pattern("true|2026-0[1-9]-01")) == {}


def test_a_pattern_may_be_of_dates() -> None:
    events = pa.table({"who": ["Ann", "Bob"], "what": pa.array([19_723, 19_724], pa.date32())})
    assert count(events, Domain.pattern("2024-01-0[1-9]")) == {"2024-01-01": 1, "2024-01-02": 1}


@pytest.mark.parametrize("rows", ROWS)
def test_what_occurs_is_read_in_batches_and_looked_up(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(occurring, "ROWS", rows)
    baskets = "\n".join(f"{n} {n} {n + 1} x{n}" for n in range(5)) + "\n"
    numbers = Domain.range(-(10**40), 10**40)
    with counting.counted_items(io.BytesIO(baskets.encode()), domain=numbers) as found:
        batches = [*found.batches()]
        assert all(len(names) == len(counts) <= rows for names, counts in batches)
        assert {str(counts.dtype) for _, counts in batches} == {"int64"}
        joined = {name: int(n) for names, ns in batches for name, n in zip(names, ns, strict=True)}
        assert joined == {0: 1, 1: 2, 2: 2, 3: 2, 4: 2, 5: 1}
        assert found.count == 6
        assert found.find([5, 6, -1, 0, 10**30]) == {0, 5}
        assert found.find([]) == set()
        assert found.domain is numbers


def test_an_item_that_nobody_has_does_not_occur() -> None:
    events = pa.table({"who": pa.array([None, "Ann"], pa.string()), "what": ["a", "b"]})
    letters = Domain.strings("a-z", max_length=5)
    assert count(events, letters) == {"b": 1}
    with counting.counted_items(events, person="who", item="what", domain=letters) as found:
        assert found.find(["a", "b"]) == {"b"}
    ready = pa.table({"what": ["a", "b"], "n": [0, 3]})
    assert counting.read_counts(ready, item="what", count="n", domain=letters) == {"b": 3}


@pytest.mark.parametrize(("items", "numbers", "said"), [
    (["a", " a"], [1, 2], "more than once"), (["a", "b"], [1, None], "missing"),
    (["a", "b"], [1, -1], "missing"),
])  # fmt: skip
def test_precomputed_counts_are_refused_for_members_alone(
    items: list[str], numbers: list[Any], said: str
) -> None:
    letters = Domain.strings("a-z", max_length=5)
    with pytest.raises(SourceError, match=said):
        counting.read_counts(
            pa.table({"what": items, "n": numbers}), item="what", count="n", domain=letters
        )
    others = pa.table({"what": [*(each.upper() for each in items), "x"], "n": [*numbers, 9]})
    assert counting.read_counts(others, item="what", count="n", domain=letters) == {"x": 9}


PEOPLE: Events = [(f"p{n % 7}", f"{n * n % 11}") for n in range(60)]


@pytest.mark.parametrize("together", [None, 2, 3])
def test_one_person_moves_each_count_by_at_most_one(together: int | None) -> None:
    numbers = Domain.range(0, 10**9)
    whole = count(table(PEOPLE), numbers, together=together)
    for person in sorted({str(who) for who, _ in PEOPLE}):
        rest = [event for event in PEOPLE if event[0] != person]
        without = count(table(rest), numbers, together=together)
        assert {*without} <= {*whole}
        assert all(0 <= whole[item] - without.get(item, 0) <= 1 for item in whole)


def test_errors_of_the_watcher_and_of_the_block_pass_through() -> None:
    class EnoughError(Exception):
        pass

    def watch(doing: str, _: float | None) -> None:
        if doing.startswith("reading the counts"):
            raise EnoughError

    with pytest.raises(EnoughError):
        count(table(PEOPLE), Domain.range(0, 9), progress=watch)
    options: Any = {"person": "who", "item": "what", "domain": Domain.range(0, 9)}
    with (
        pytest.raises(EnoughError),
        counting.counted_items(table(PEOPLE), progress=watch, **options) as found,
    ):
        next(found.batches())
    with pytest.raises(KeyError), counting.counted_items(table(PEOPLE), **options):
        raise KeyError("the block's own")


WRONG: list[tuple[dict[str, Any], type[TopgapError], str]] = [
    ({"item": ["when", "what"], "domain": Domain.range(0, 9)}, DomainError, "has 1 column"),
    ({"item": ["what", "what"], "domain": RULE}, ParameterError, "each column once"),
    ({"item": ["what", "who"], "domain": RULE}, ParameterError, "different columns"),
    ({"item": [], "domain": RULE}, ParameterError, "item must name"),
    ({"item": 7, "domain": RULE}, ParameterError, "item must name"),
    ({"domain": Domain.product(RULE, RULE)}, DomainError, "has 2 columns"),
    ({"domain": RULE, "together": 4}, ParameterError, "together must be 2"),
    ({"domain": RULE, "together": True}, ParameterError, "together must be 2"),
    ({"domain": Domain.subsets(RULE, size=4)}, ParameterError, "pairs and triples"),
    ({"domain": Domain.subsets(RULE, size=2), "together": 2}, DomainError, "sets already"),
    ({"domain": counting.FROM_DATA, "together": 2}, DomainError, "public domain"),
    ({"domain": Domain.product(RULE, Domain.subsets(RULE, size=2)), "item": ["what", "when"]},
     DomainError, "not as a part"),
    ({"domain": ["only"], "together": 2}, DomainError, "too few"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "kind", "said"), WRONG, ids=[each[2] for each in WRONG])
def test_what_does_not_fit_is_refused(
    wrong: dict[str, Any], kind: type[TopgapError], said: str
) -> None:
    events = pa.table({"who": ["Ann"], "what": ["flu"], "when": [1]})
    with pytest.raises(kind, match=said) as error:
        counting.count_events(events, **{"person": "who", "item": "what", **wrong})
    assert str(error.value).count(".") - str(error.value).count("Domain.") == 1


def test_sets_of_precomputed_counts_are_refused_and_lists_are_not_batches() -> None:
    ready = pa.table({"what": ["a"], "n": [1]})
    pairs = Domain.subsets(RULE, size=2)
    with pytest.raises(ParameterError, match="do not say which person has which item"):
        counting.read_counts(ready, item="what", count="n", domain=pairs)
    with (
        pytest.raises(DomainError, match="given by a rule"),
        counting.counted_items(ready, item="what", count="n", domain=Domain(["a", "b"])),
    ):
        pass
