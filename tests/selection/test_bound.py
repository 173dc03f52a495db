"""Counts whose noise relies on a bound on the items of one person must have that bound."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import topgap
from topgap import AnswersError, Ledger, ParameterError, Selector, TopK
from topgap.counting import FROM_DATA, Counts, Domain, count_events

COUNTS = {"ash": 10**9, "elm": 7, "oak": 10**6}
FEW: dict[str, Any] = {"items_per_person": 2}


def added(answers: Any, k: int, **how: Any) -> Any:
    """The release of a selector that was given these."""
    selector = Selector(TopK(k, 1, **how), domain=getattr(answers, "domain", None))
    selector.add(answers)
    return selector.release()


CALLS: list[Callable[..., Any]] = [
    lambda answers, k=2, **how: topgap.top_k(answers, k, 1, **how),
    lambda answers, k=2, **how: topgap.select(TopK(k, 1, **how), answers),
    lambda answers, k=2, **how: added(answers, k, **how),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("bound", [None, 2, 5])
@pytest.mark.parametrize("domain", [None, Domain.strings("a-z", max_length=3)])
def test_counts_of_more_items_are_refused(
    call: Callable[..., Any], bound: int | None, domain: Domain | None
) -> None:
    counts = Counts(COUNTS, items_per_person=bound, domain=domain)
    counted = "any number of" if bound is None else f"up to {bound}"
    with pytest.raises(ParameterError, match=f"^These counts are of {counted} items") as refused:
        call(counts, items_per_person=1)
    assert "count with items_per_person=1" in str(refused.value)
    assert not any(str(count) in str(refused.value) for count in (10**9, 10**6))


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("domain", [None, Domain.strings("a-z", max_length=3)])
def test_counts_of_as_many_or_fewer_are_taken(
    call: Callable[..., Any], domain: Domain | None
) -> None:
    for bound in (1, 2):
        counts = Counts(COUNTS, items_per_person=bound, domain=domain)
        assert call(counts, noise="laplace", **FEW).items == ("ash", "oak")


@pytest.mark.parametrize("call", CALLS)
def test_it_matters_to_laplace_noise_alone(call: Callable[..., Any]) -> None:
    for bound in (None, 9):
        counts = Counts(COUNTS, items_per_person=bound)
        assert call(counts).items == ("ash", "oak")
        assert call(counts, **FEW).items == ("ash", "oak")
        assert call(counts, items_per_person=1, noise="exponential").items == ("ash", "oak")


@pytest.mark.parametrize("call", CALLS)
def test_for_other_answers_it_is_the_callers_word(call: Callable[..., Any]) -> None:
    for answers in (COUNTS, pd.Series(COUNTS), Counts(COUNTS, items_per_person=1)):
        assert call(answers, items_per_person=1).items == ("ash", "oak")
    assert call(Counts(Counts(COUNTS), items_per_person=1), items_per_person=1).values is not None


@pytest.mark.parametrize(
    "domain", [["flu", "cold", "gout"], Domain.pattern("[a-z]{3,5}"), FROM_DATA]
)
def test_counts_of_events_know_it(domain: Any) -> None:
    whos, whats = zip(
        *[(n, what) for n in range(300) for what in ("flu", "cold", "gout")], strict=True
    )
    visits = pd.DataFrame({"who": whos, "what": whats})
    asked: dict[str, Any] = {"person": "who", "item": "what", "domain": domain}
    counts = count_events(visits, **asked, items_per_person=1)
    release = topgap.top_k(counts, None, 1, items_per_person=1, threshold=40, monotonic=True)
    assert {*release.items} == {"flu", "cold", "gout"}
    with pytest.raises(ParameterError, match="any number of items"):
        topgap.top_k(count_events(visits, **asked), 2, 1, items_per_person=1)


def test_nothing_is_charged(tmp_path: Any) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.add_dataset("visits", 3)
    paid: dict[str, Any] = {"ledger": ledger, "dataset": "visits"}
    with pytest.raises(ParameterError, match="any number of items"):
        topgap.top_k(Counts(COUNTS), 2, 1, items_per_person=1, **paid)
    assert ledger.budget("visits").charges == 0


def test_a_refusal_comes_before_any_answer_is_looked_at() -> None:
    with pytest.raises(ParameterError, match="any number of items"):
        topgap.top_k(Counts({"ash": None, "elm": "?"}), 2, 1, items_per_person=1)
    with pytest.raises(AnswersError):
        topgap.top_k({"ash": None, "elm": 1, "oak": 2}, 2, 1, items_per_person=1)


def test_a_selector_adds_up_the_bounds_of_its_parts() -> None:
    """A person may be in all of them, and also in a part of which no count is left."""
    two = TopK(3, 1, items_per_person=2)
    parts = [Counts({name: 1}, items_per_person=1) for name in ("ash", "elm", "fir")]
    selector = Selector(two)
    selector.add(parts[0])
    selector.add(Counts(items_per_person=1))
    with pytest.raises(ParameterError, match="up to 3 items of each person"):
        selector.add(parts[1])
    selector.add(dict(parts[1]))  # whose bound is the caller's word

    one, other = Selector(two), Selector(two)
    for each in parts[:2]:
        one.add(each)
    other.add(parts[2])
    with pytest.raises(ParameterError, match="up to 3 items of each person"):
        one.merge(other)
    sent = [pickle.loads(pickle.dumps(each)) for each in (one, other)]  # noqa: S301 - it is ours
    with pytest.raises(ParameterError, match="up to 3 items of each person"):
        sent[0].merge(sent[1])


def test_a_count_that_is_set_leaves_no_bound() -> None:
    counts = Counts({"ash": 1}, items_per_person=1)
    assert counts.setdefault("ash", 2) == 1
    for same in (counts, copy.copy(counts), copy.deepcopy(counts), counts.copy()):
        assert same.items_per_person == 1
    assert counts.copy().setdefault("elm", 2) == 2
    changed = [counts.copy() for _ in range(3)]
    changed[0]["elm"] = 2
    changed[1].setdefault("elm", 2)
    changed[2].update({"elm": 2})
    assert [each.items_per_person for each in changed] == [None] * 3
