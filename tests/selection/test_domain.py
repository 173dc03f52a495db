"""`domain=`: exactly the members of the public list take part, whatever the data have."""

import time
from array import array
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import topgap
from tests.fuzz.hostile_parameters import Incomparable, Unhashable
from tests.fuzz.hostile_values import ArrowStream, GoodArray
from topgap import (
    AnswersError,
    AnswersTypeError,
    DomainError,
    DomainWarning,
    Estimates,
    ItemsError,
    ParameterError,
    Release,
    TopgapError,
    TopK,
    select,
)
from topgap.counting import FROM_DATA, Counts, Domain
from topgap.selection.participants import find_participants

FAR = 10**9
PUBLIC = ["ash", "elm", "fir", "oak"]
SEEN = {"yew": 10**12, "oak": FAR, "elm": 10**6}  # the yew is on no list


class ReadOnly(Mapping[str, int]):
    """A mapping that is no dict."""

    def __getitem__(self, name: str) -> int:
        return SEEN[name]

    def __iter__(self) -> Iterator[str]:
        return iter(SEEN)

    def __len__(self) -> int:
        return len(SEEN)


def numbers(answers: Any, domain: Any, items: Any = None, k: int = 1) -> list[Any]:
    """What takes part, in the order of the domain."""
    return [*find_participants(answers, items, domain, TopK(k, 1)).numbers]


RELEASING: list[Callable[..., Release | Estimates]] = [
    lambda answers, **how: topgap.top_k(answers, 2, 10, **how),
    lambda answers, **how: select(TopK(2, 10), answers, **how),
    lambda answers, **how: topgap.top_k_with_estimates(answers, 2, 10, **how),
]


@pytest.mark.parametrize("release", RELEASING)
def test_members_alone_take_part(release: Callable[..., Any]) -> None:
    made = release(SEEN, domain=PUBLIC)
    assert made.items == ("oak", "elm")
    assert (made if isinstance(made, Release) else made.release).indices.tolist() == [3, 1]
    assert topgap.noisy_max(SEEN, 10, domain=PUBLIC).items == ("oak",)


@pytest.mark.parametrize("domain", [
    PUBLIC, tuple(PUBLIC), np.array(PUBLIC), np.array(PUBLIC, dtype=object), pd.Index(PUBLIC),
    pd.Series(PUBLIC, index=[7, 7, 8, 9]), pd.Categorical(PUBLIC), pl.Series(PUBLIC),
    pa.array(PUBLIC), pa.chunked_array([PUBLIC[:1], PUBLIC[1:]]), Domain(PUBLIC), iter(PUBLIC),
    dict.fromkeys(PUBLIC).keys(),
], ids=lambda domain: type(domain).__name__)  # fmt: skip
def test_the_list_may_be_held_by_anything_with_an_order(domain: Any) -> None:
    made = topgap.top_k(SEEN, 2, 10, domain=domain)
    assert made.items == ("oak", "elm")
    assert {*map(type, made.items)} == {str}


@pytest.mark.parametrize("answers", [
    SEEN, OrderedDict(SEEN), Counter(SEEN), Counts(SEEN), ReadOnly(), pd.Series(SEEN),
    pd.Series(SEEN, dtype="Int64"), pd.Series(SEEN, dtype="float64"),
    pd.Series(SEEN, dtype="int64[pyarrow]"), pd.Series(SEEN).astype(object),
    pd.Series({name: Fraction(count) for name, count in SEEN.items()}),
    pd.Series([10**12, FAR, 10**6], index=pd.CategoricalIndex([*SEEN])),
], ids=lambda answers: type(answers).__name__)  # fmt: skip
def test_answers_with_names_of_their_own(answers: Any) -> None:
    assert numbers(answers, PUBLIC) == [0, 10**6, 0, FAR]


@pytest.mark.parametrize("hold", [
    list, tuple, np.array, lambda n: np.array(n, dtype=object), lambda n: np.array(n, dtype=">f8"),
    np.ma.array, pl.Series, lambda n: pl.Series(n, dtype=pl.Decimal(38, 2)), pa.array,
    lambda n: pa.chunked_array([n]), lambda n: pd.array(n), GoodArray, ArrowStream,
    lambda n: array("q", n), lambda n: dict(enumerate(n)).values(),
])  # fmt: skip
def test_answers_whose_names_come_with_them(hold: Callable[[Any], Any]) -> None:
    answers = hold([*SEEN.values()])
    assert numbers(answers, PUBLIC, [*SEEN]) == [0, 10**6, 0, FAR]
    assert numbers(answers, ["x", "y"], [*SEEN]) == [0, 0]
    with pytest.raises(ItemsError, match="numbers of items and answers differ"):
        numbers(answers, PUBLIC, ["oak"])
    with pytest.raises(ItemsError, match="needs answers that name their items"):
        numbers(answers, PUBLIC)


def test_what_is_left_out_may_be_anything() -> None:
    """What is no member has no say in whether there is a release."""
    odd: Any
    for odd in (None, float("nan"), "many", [1], pd.NA, np.ma.masked, object(), Decimal("sNaN")):
        assert numbers({"oak": 5, "yew": odd}, PUBLIC) == [0, 0, 0, 5]
        assert numbers([5, odd], PUBLIC, ["oak", "yew"]) == [0, 0, 0, 5]
        if not isinstance(odd, list):
            column = pd.Series([5, odd], index=["oak", "yew"], dtype=object)
            assert numbers(column, PUBLIC) == [0, 0, 0, 5]
    assert numbers(pd.Series([5, None], index=["oak", "yew"]), PUBLIC) == [0, 0, 0, 5]
    assert numbers(pl.Series([5, None]), PUBLIC, ["oak", "yew"]) == [0, 0, 0, 5]
    assert numbers(pa.array([5, None]), PUBLIC, ["oak", "yew"]) == [0, 0, 0, 5]
    masked = np.ma.array([5, 7], mask=[False, True])
    assert numbers(masked, PUBLIC, ["oak", "yew"]) == [0, 0, 0, 5]
    twice = pd.Series([5, 1, 2], index=["oak", "yew", "yew"])
    assert numbers(twice, PUBLIC) == [0, 0, 0, 5]


@pytest.mark.parametrize("name", [
    float("nan"), None, pd.NA, pd.NaT, [1], {"oak"}, np.array([1, 2]), Unhashable(), Incomparable(),
    10**5000, (1, "oak"), b"oak", "OAK", " oak",
], ids=lambda name: type(name).__name__)  # fmt: skip
def test_a_name_that_equals_no_member_is_left_out(name: Any) -> None:
    assert numbers([5, 9], PUBLIC, ["oak", name]) == [0, 0, 0, 5]
    same_hash = Incomparable()
    members = [hash(same_hash), 1]  # with which it would be compared
    assert numbers([5, 9], members, [1, same_hash]) == [0, 5]


def test_missing_answers_of_members_are_refused() -> None:
    for odd in (None, float("nan"), "many"):
        with pytest.raises((AnswersError, AnswersTypeError)):
            topgap.top_k({"oak": odd, "elm": 5}, 1, 1, domain=PUBLIC)
    with pytest.raises(ItemsError, match="two answers"):
        numbers(pd.Series([5, 1], index=["oak", "oak"]), PUBLIC)
    with pytest.raises(ItemsError, match="already name their items"):
        numbers(SEEN, PUBLIC, [*SEEN])


def test_winners_are_named_as_the_domain_has_them() -> None:
    for member, name in ((1, 1.0), (1, True), (1, np.int8(1)), (Decimal("0.5"), 0.5), (1.0, 1)):
        made = topgap.noisy_max({name: FAR}, 10, domain=[member, "other"])
        assert made.items == (member,)
        assert type(made.items[0]) is type(member)
    made = topgap.noisy_max({1: FAR}, 10, domain=np.array([1, 2], dtype=np.int8))
    assert type(made.items[0]) is int
    made = topgap.noisy_max({"7": FAR}, 10, domain=[7, 8, "7"])
    assert made.items == ("7",)
    assert made.indices.tolist() == [2]


@pytest.mark.parametrize(("domain", "said"), [
    ("ash", "A str is not a list"), (b"ash", "A bytes is not a list"),
    ({"a": 1}, "A dict is not a list"),
    (7, "An int is not a list"), (pd.DataFrame({"a": PUBLIC}), "A DataFrame is not a list"),
    (pa.table({"a": PUBLIC}), "A Table is not a list"), ({"a", "b"}, "must have an order"),
    (frozenset("ab"), "must have an order"), (np.array([PUBLIC]), "one-dimensional"),
    (["ash", "ash"], "more than once"), ([1, True], "more than once"), ([1, 1.0], "more than once"),
    (["ash", None], "missing"), ([0.5, float("nan")], "missing"), (["ash", pd.NaT], "missing"),
    ([["ash"], "elm"], "immutable"), ([Unhashable(), "elm"], "immutable"),
    ([pd.NA, "elm"], "immutable"), ([], "at least 2 items; it has 0"),
    (["ash"], "at least 2 items; it has 1"), (range(1), "at least 2"), (range(10**12), "at most"),
], ids=lambda given: given if type(given) is str else type(given).__name__)  # fmt: skip
def test_a_list_that_cannot_be_used_is_refused_by_what_it_is(domain: Any, said: str) -> None:
    for answers in (SEEN, {}, {"oak": None}):
        with pytest.raises(DomainError, match=said) as error:
            topgap.noisy_max(answers, 1, domain=domain)
        assert str(error.value).endswith(".")


def test_no_error_has_a_name_or_an_answer() -> None:
    for answers in ({"oak": "Zaphod"}, {"oak": float("nan")}, pd.Series([1, 2], ["oak", "oak"])):
        with pytest.raises(TopgapError) as error:
            topgap.noisy_max(answers, 1, domain=PUBLIC)
        assert "oak" not in str(error.value)
        assert "Zaphod" not in str(error.value)


def test_nothing_at_all_may_have_been_seen() -> None:
    assert numbers({}, PUBLIC) == [0, 0, 0, 0]
    assert len(topgap.top_k({}, 2, 1, domain=PUBLIC)) == 2
    assert numbers(pd.Series([], dtype=float), PUBLIC) == [0, 0, 0, 0]


def test_looking_up_is_not_the_same_work_for_all_data() -> None:
    with pytest.raises(ParameterError, match="constant_work"):
        topgap.noisy_max(np.array([1]), 1, items=["oak"], domain=PUBLIC, constant_work=True)


@pytest.mark.slow
def test_a_long_list_takes_a_moment() -> None:
    began = time.monotonic()
    made = topgap.noisy_max({7: FAR}, 10, domain=range(1_000_000))
    assert made.items == (7,)
    assert time.monotonic() - began < 20


def test_a_list_of_the_data_is_warned_of() -> None:
    letters = pd.Series([*"aaabbc"])
    seen: Any
    for seen in (
        Counter("aaabbc"),
        letters.value_counts(),
        letters.value_counts(normalize=True),
        pd.DataFrame({"a": letters, "b": letters}).value_counts(),
    ):
        with pytest.warns(DomainWarning, match="seem to be taken from the data") as told:
            topgap.top_k(seen, 1, 1)
        assert len(told) == 1
        assert told[0].filename == __file__
        with pytest.warns(DomainWarning) as told:
            topgap.top_k_with_estimates(seen, 1, 1)
        assert told[0].filename == __file__


def test_what_may_be_a_public_list_is_not_warned_of() -> None:
    letters = pd.Series([*"aaabbc"])
    listed = letters.astype(pd.CategoricalDtype([*"abcd"]))
    for seen in (
        dict(Counter("aaabbc")),
        letters.value_counts().rename("people"),
        letters.value_counts().sort_index(ascending=False),
        listed.value_counts(),
        {"a": 3, "b": 2},
    ):
        topgap.top_k(seen, 1, 1)
    for domain in (["a", "b"], FROM_DATA):
        topgap.top_k(Counter("aaabbc"), 1, 1, domain=domain)


def test_a_warning_that_is_an_error_costs_nothing(tmp_path: Any) -> None:
    ledger = topgap.Ledger(tmp_path / "budget.db")
    ledger.add_dataset("visits", epsilon=3)
    with pytest.raises(DomainWarning):
        topgap.top_k(Counter("aab"), 1, 1, ledger=ledger, dataset="visits")
    assert ledger.budget("visits").spent == 0
