"""Selectors that measure their winners: the law, on every way to the release, and the charge."""

import pickle
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.checking.frequencies import misfits_of
from tests.checking.mutants import Mutant, mutated
from tests.selection.sample_selectors import FAR
from tests.streams.test_estimates import LAWS, Outcome, probability
from topgap import Domain, Estimates, Selector, TopK
from topgap.errors import AnswersError, ParameterError, ParameterTypeError, SelectorError
from topgap.ledger import Ledger
from topgap.selection import candidate_arrow, candidate_columns, candidate_pool
from topgap.selection.measurement import Shares

HALF: dict[str, Any] = {"selection_share": "1/2"}
SURE = TopK(2, 10**6)
"""Noise of a measurement is a step of 1/10 with a chance of e^−25,000."""
COUNTS = {"ash": 900, "elm": 3, "fir": -7, "oak": 10**6, "yew": 0}

Way = Callable[[Callable[[], Selector], dict[Any, int]], Selector]


def values(made: Estimates) -> tuple[Any, ...]:
    return made.measurements


def parts_of(counts: dict[Any, int]) -> list[dict[Any, int]]:
    pairs = [*counts.items()]
    return [dict(pairs[:1]), dict(pairs[1:3]), dict(pairs[3:])]


def added(made: Callable[[], Selector], counts: dict[Any, int]) -> Selector:
    whole = made()
    for part in parts_of(counts):
        whole.add(part)
    return whole


def singles(made: Callable[[], Selector], counts: dict[Any, int]) -> list[Selector]:
    each = [made() for _ in parts_of(counts)]
    for selector, part in zip(each, parts_of(counts), strict=True):
        selector.add(part)
    return each


def merged(made: Callable[[], Selector], counts: dict[Any, int]) -> Selector:
    first, second, third = singles(made, counts)
    second.merge(third)
    first.merge(second)
    return first


def pickled(made: Callable[[], Selector], counts: dict[Any, int]) -> Selector:
    first, *others = (pickle.loads(pickle.dumps(each)) for each in singles(made, counts))  # noqa: S301
    for other in others:
        first.merge(other)
    return first  # type: ignore[no-any-return]


def carried(made: Callable[[], Selector], counts: dict[Any, int]) -> Selector:
    """As Arrow, all parts put together."""
    each = singles(made, counts)
    tables = [one.to_arrow() for one in each if one._pool.count]
    if len({table.schema for table in tables}) > 1:  # numbers of one are longer than a decimal
        tables = [table.cast(pa.schema([(n, pa.string()) for n in table.column_names]))
                  for table in tables]  # fmt: skip
    table = pa.concat_tables(tables)
    one = each[0]
    return Selector.from_arrow(
        one.parameters, table, domain=one.domain, selection_share=one.selection_share
    )


WAYS: list[Way] = [added, merged, pickled, carried]


@pytest.mark.deep
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("answers", "whole", "share"), LAWS)
@pytest.mark.statistical(false_alarm=1e-10)
def test_winners_gaps_and_measurements_have_the_law(
    answers: list[int], whole: TopK, share: str, way: Way, false_alarm: float
) -> None:
    def outcome() -> Outcome:
        selector = way(lambda: Selector(whole, selection_share=share), dict(enumerate(answers)))
        made = selector.release_with_estimates()
        winners = made.release.items
        measured = zip(winners, made.measurements, strict=True)
        off = [(each - answers[item]) / whole.resolution for item, each in measured]
        return tuple(zip(winners, made.release.gaps or (), off, strict=True))

    chance = partial(probability, answers, Shares.of(whole, share))
    assert misfits_of(outcome, 2_000, chance, false_alarm) == []


@pytest.mark.parametrize("domain", [None, [*COUNTS, "nut"], Domain.strings("a-z", max_length=3)])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.statistical(false_alarm=1e-20)
def test_each_winner_is_measured_by_its_own_answer(way: Way, domain: Any) -> None:
    made = way(lambda: Selector(SURE, domain=domain, **HALF), COUNTS).release_with_estimates()
    assert made.release.items == ("oak", "ash")
    assert values(made) == (10**6, 900)
    assert made.epsilon == SURE.epsilon


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.statistical(false_alarm=1e-20)
def test_answers_of_any_kind_are_rounded_down(way: Way) -> None:
    counts: Any = {"ash": 10**50, "elm": Fraction(2, 3), "fir": -0.05, "oak": 3.75}
    given = TopK(3, 10**7)
    made = way(lambda: Selector(given, **HALF), counts).release_with_estimates()
    assert values(made) == (10**50, Fraction(37, 10), Fraction(6, 10))


def test_a_member_that_was_never_added_has_0() -> None:
    selector = Selector(TopK(3, 10**6), domain=["ash", "elm", "fir", "oak"], **HALF)
    selector.add({"ash": FAR})
    assert values(selector.release_with_estimates()) == (FAR, 0, 0)


MEASURED = [
    (candidate_pool, "answers = [self._answers[each.item] for each in candidates]",
     "answers = [*self._answers.values()][::-1]"),
    (candidate_columns, "return floor_answers(part.answers or [], ",
     "return floor_answers((part.answers or [])[::-1], "),
    (candidate_arrow, "read_answers(pool, steps.take(places))",
     "read_answers(pool, steps.take(places))[::-1]"),
]  # fmt: skip


@pytest.mark.parametrize("broken", MEASURED, ids=lambda broken: broken[0].__name__)
@pytest.mark.parametrize("mutant", ["of another item"])
@pytest.mark.statistical(false_alarm=1e-20)
def test_answers_that_are_mixed_up_are_found(
    broken: Any, mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, old, new = broken
    again = mutated(module, Mutant(mutant, old, new))
    for owner, name in [(candidate_pool.CandidatePool, "as_part"),
                        (candidate_columns, "write_answers"),
                        (candidate_arrow, "fill_from_arrow")]:  # fmt: skip
        if owner is module or (module is candidate_pool and name == "as_part"):
            source = again.CandidatePool if name == "as_part" else again
            monkeypatch.setattr(owner, name, getattr(source, name))
    selector = carried(lambda: Selector(SURE, **HALF), COUNTS)
    assert values(selector.release_with_estimates()) != (10**6, 900)


def test_it_is_charged_once_and_gives_the_same_again(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.add_dataset("trees", 5)
    selector = Selector(TopK(1, 3), selection_share="1/3")
    selector.add(COUNTS)
    made = selector.release_with_estimates(ledger=ledger, dataset="trees")
    assert selector.release_with_estimates() is made
    assert selector.release_with_estimates(ledger=ledger, dataset="trees") is made
    [entry] = ledger.history()
    assert entry.mechanism == "topgap.Selector"
    assert entry.epsilon == 3
    assert entry.parameters["selection_epsilon"] == "1"
    assert Estimates.from_json(entry.result or "") == made
    ledger.add_dataset("others", 5)
    with pytest.raises(SelectorError, match="not with this ledger"):
        selector.release_with_estimates(ledger=ledger, dataset="others")
    assert "900" not in repr(selector)


def test_what_does_not_fit_is_refused() -> None:
    plain, measuring = Selector(SURE), Selector(SURE, **HALF)
    plain.add(COUNTS)
    measuring.add({"nut": 4})
    with pytest.raises(SelectorError, match=r"use release_with_estimates\(\)"):
        measuring.release()
    with pytest.raises(SelectorError, match="create it with selection_share"):
        plain.release_with_estimates()
    for other in (plain, Selector(SURE, selection_share="1/3")):
        with pytest.raises(SelectorError, match="parameters are equal"):
            measuring.merge(other)
    with pytest.raises(AnswersError, match="at least 3 answers"):
        measuring.release_with_estimates()
    table = measuring.to_arrow()
    for share in (None, "1/3"):
        with pytest.raises(SelectorError, match="other parameters"):
            Selector.from_arrow(SURE, table, selection_share=share)
    half = TopK(2, SURE.epsilon / 2)  # whose noise is the same
    with pytest.raises(SelectorError, match="other parameters"):
        Selector.from_arrow(half, table)
    with pytest.raises(SelectorError, match="and answer if its named items are measured"):
        Selector.from_arrow(SURE, table.drop(["answer"]), **HALF)
    for wrong in (0, 1, 2):
        with pytest.raises(ParameterError, match="selection_share"):
            Selector(SURE, selection_share=wrong)
    with pytest.raises(ParameterTypeError):
        Selector(SURE, selection_share=[1])  # type: ignore[arg-type]
    for more in ({"threshold": 5}, {"items_per_person": 1}):
        with pytest.raises(ParameterError, match="already has counts"):
            Selector(TopK(2, 1, **more), **HALF)  # type: ignore[arg-type]
