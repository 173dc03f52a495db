"""A list for each group: who is named where, in every form of answers, and what is refused."""

import signal
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from threading import Timer
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tests.selection.sample_selectors import FAR
from topgap import (
    AnswersError,
    AnswersTypeError,
    Domain,
    DomainError,
    GroupedRelease,
    ItemsError,
    Ledger,
    ParameterError,
    ParameterTypeError,
    TopgapError,
    TopKByGroup,
    top_k_by_group,
)
from topgap.domains import FROM_DATA, Counts, GroupedCounts
from topgap.selection.grouped_answers import prepare_counts
from topgap.selection.top_k_by_group import select_groups

REGIONS = {"north": {"flu": FAR, "cold": 7}, "south": {"cough": FAR}}
DISEASES = ["flu", "cold", "cough"]
FRAME = pd.DataFrame(
    [(g, i, n) for g, own in REGIONS.items() for i, n in own.items()], columns=["g", "i", "n"]
)
COLUMNS: dict[str, Any] = {"by": "g", "item": "i", "count": "n"}
PUBLIC: dict[str, Any] = {"groups": ["north", "south"], "domain": DISEASES}


def first(lists: GroupedRelease) -> dict[Any, Any]:
    """The first winner of each group; FAR is above all noise but for less than e^−125."""
    return {group: release.items[0] for group, release in lists.items()}


def as_counts(**more: Any) -> GroupedCounts:
    return GroupedCounts(
        [*REGIONS], Domain(DISEASES), ["flu", "cold", "cough"],
        ends=np.array([2, 3]), places=np.array([0, 1, 2]), counts=np.array([FAR, 7, FAR]), **more,
    )  # fmt: skip


# --- What answers come in

WINNERS = {"north": "flu", "south": "cough"}
LISTS: dict[Any, Any] = {"north": [FAR, 7, 0], "south": [0, 0, FAR]}

FORMS: dict[str, tuple[Any, dict[str, Any]]] = {
    "dicts": (REGIONS, {"domain": DISEASES}),
    "a domain by a rule": (REGIONS, {"domain": Domain.pattern("flu|cold|cough|[a-z]")}),
    "items from the data": (REGIONS, {"domain": FROM_DATA}),
    "of different kinds, from the data": (
        {"north": {"flu": FAR + 0.5, "cold": 7}, "south": {"cough": FAR}}, {"domain": FROM_DATA}
    ),
    "counts": (as_counts(), {}),
    "counts of named groups": (as_counts(), {"groups": ["north", "south"]}),
    "counts of another domain": (as_counts(), {"domain": ["cough", "flu", "gout"]}),
    "counts from the data": (as_counts(domain_from_data=True), {}),
    "array": (np.array([*LISTS.values()]), {"items": DISEASES, "groups": [*LISTS]}),
    "array with a domain": (
        np.array([*LISTS.values()]), {"items": DISEASES, "groups": [*LISTS], "domain": DISEASES}
    ),
    "transposed array": (
        np.array([*LISTS.values()]).T.copy().T, {"items": DISEASES, "groups": [*LISTS]}
    ),
    "objects": (
        np.array([*LISTS.values()], dtype=object), {"items": DISEASES, "groups": [*LISTS]}
    ),
    "pandas": (FRAME, {**COLUMNS, **PUBLIC}),
    "polars": (pl.from_pandas(FRAME), {**COLUMNS, **PUBLIC}),
    "Arrow": (pa.Table.from_pandas(FRAME), {**COLUMNS, **PUBLIC}),
    "categories": (FRAME.astype({"g": "category", "i": "category"}), {**COLUMNS, **PUBLIC}),
    "items from a frame": (FRAME, {**COLUMNS, **PUBLIC, "domain": FROM_DATA}),
    "Series": ({g: pd.Series(own) for g, own in REGIONS.items()}, {"domain": DISEASES}),
    "of different kinds": (
        {"north": {"flu": Fraction(FAR), "cold": Decimal("0.1")}, "south": {"cough": float(FAR)}},
        {"domain": DISEASES},
    ),
    "of numbers too large for the kernel": (
        {"north": {"flu": 2**90, "cold": 0}, "south": {"cough": FAR, "flu": -(2**90)}},
        {"domain": DISEASES},
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "kind",
    [{}, {"threads": 4}, {"threshold": FAR // 2}, {"items_per_person": 1, "k": 2},
     {"items_per_person": 1, "threshold": FAR // 2}, {"threshold": 10**40, "k": 2},
     {"threshold": -(10**40)}, {"gaps": False}],
    ids=str,
)  # fmt: skip
def test_each_group_has_its_own_winners(form: str, kind: dict[str, Any]) -> None:
    answers, how = FORMS[form]
    if form.startswith("counts") and "items_per_person" in kind:
        answers = as_counts(items_per_person=1, domain_from_data=answers.domain_from_data)
    lists = top_k_by_group(answers, **{"k": 1, "epsilon": 1, **kind, **how})
    assert [*lists] == ["north", "south"]
    if kind.get("threshold") == 10**40:
        assert lists.sizes == (0, 0)
    else:
        assert first(lists) == WINNERS
    assert lists.domain_from_data == (how.get("domain") is FROM_DATA or "the data" in form)
    assert (lists.caveats != ()) == lists.domain_from_data
    # Positions among what has an answer would tell who has none.
    is_array = ("domain" not in how and "array" in form) or form == "objects"
    assert (lists._lists.indices is None) == (not is_array)
    assert GroupedRelease.from_json(lists.to_json()) == lists
    check = top_k_by_group(answers, **{"k": 1, "epsilon": 1, **kind, **how}, check=True)
    assert "the 2 groups" in str(check) or "2 groups" in str(check)
    assert (" gap" in check.lines()[1]) == kind.get("gaps", True)


def test_without_names_winners_go_by_their_places() -> None:
    for answers in (LISTS, np.array([*LISTS.values()])):
        lists = top_k_by_group(answers, 1, 1)
        assert [*first(lists).values()] == [0, 2]
    assert [*top_k_by_group(np.array([*LISTS.values()]), 1, 1)] == [0, 1]


def test_groups_come_in_the_public_order_and_others_are_left_out() -> None:
    lists = top_k_by_group(REGIONS, 1, 1, groups=["east", "south", "north"], domain=DISEASES)
    assert [*lists] == ["east", "south", "north"]
    assert first(lists)["north"] == "flu"
    assert [*top_k_by_group(REGIONS, 1, 1, groups=["east"], domain=DISEASES)] == ["east"]


def test_a_group_that_nobody_is_in_has_a_list_too() -> None:
    """Also if nobody is in any, and if the threshold ends all lists at once."""
    for given, groups in ((REGIONS, ["east", "west"]), ({}, ["east"]), ({"east": {}}, None)):
        lists = top_k_by_group(given, 2, 1, groups=groups, domain=DISEASES)
        assert {*lists.sizes} == {2}
        assert all({*release.items} < {*DISEASES} for release in lists.values())
        ended = top_k_by_group(given, 2, 1, groups=groups, domain=DISEASES, threshold=FAR)
        assert {*ended.sizes} == {0}
        assert ended.spent == Fraction(1, 4)
        assert GroupedRelease.from_json(ended.to_json()) == ended


def test_groups_and_items_of_several_columns() -> None:
    frame = FRAME.assign(month=[1, 2, 2])
    months = Domain.product(["north", "south"], [1, 2])
    lists = top_k_by_group(
        frame, 1, 1, by=["g", "month"], item=["i"], count="n", groups=months, domain=DISEASES
    )
    assert [*lists] == [("north", 1), ("north", 2), ("south", 1), ("south", 2)]
    assert lists["north", 1].items == ("flu",)
    assert lists["south", 2].items == ("cough",)
    pairs = top_k_by_group(
        frame, 1, 1, by="g", item=["i", "month"], count="n", groups=["north"],
        domain=Domain.product(DISEASES, [1, 2]),
    )  # fmt: skip
    assert pairs["north"].items == (("flu", 1),)
    sets = top_k_by_group(
        frame.assign(j="gout"), 1, 1, by="g", item=["j", "i"], count="n", groups=["north"],
        domain=Domain.subsets([*DISEASES, "gout"], size=2),
    )  # fmt: skip
    assert sets["north"].items == (("flu", "gout"),)


@pytest.mark.parametrize(
    "frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=lambda f: f.__module__
)
def test_rows_of_no_public_group_or_item_do_not_matter(frame: Callable[..., Any]) -> None:
    """Nor do their answers, if they are missing."""
    rows = {
        "g": ["north", "nowhere", None, "south", "south"],
        "i": ["flu", "flu", "cold", None, "gout"],
        "n": [FAR, None, None, None, None],
    }
    lists = top_k_by_group(frame(rows), 1, 1, **COLUMNS, **PUBLIC)
    assert lists["north"].items == ("flu",)
    rows["n"][3], rows["i"][3] = None, "flu"  # type: ignore[index]
    with pytest.raises(AnswersError, match="missing"):
        top_k_by_group(frame(rows), 1, 1, **COLUMNS, **PUBLIC)


def test_names_are_those_of_the_domain() -> None:
    """And not of the data, whose spelling would tell that somebody has the item."""
    domain = Domain([1, 2, 3])
    lists = top_k_by_group({"a": {1.0: FAR}, "b": {True: FAR}}, 1, 1, domain=domain)
    assert [type(release.items[0]) for release in lists.values()] == [int, int]
    groups = top_k_by_group({1.0: {"flu": FAR}}, 1, 1, groups=[1, 2], domain=DISEASES)
    assert [type(group) for group in groups] == [int, int]


@pytest.mark.parametrize("threshold", [-(10**40), -FAR, None])
@pytest.mark.parametrize("noise", ["exponential", "laplace"])
def test_counts_in_steps_are_so_many_steps_wherever_the_threshold_is(
    threshold: int | None, noise: Any
) -> None:
    parameters = TopKByGroup(
        1, 1, threshold=threshold, items_per_person=1, noise=noise, resolution="1/10"
    )
    counts = as_counts(items_per_person=1)
    data = prepare_counts(parameters, counts, 1, in_steps=True)
    lists = select_groups(parameters, data, gaps=True)
    assert first(lists) == WINNERS
    assert lists["north"].gaps is not None
    assert abs(lists["north"].gaps[0] - FAR // 10) < 10_000


def test_the_bound_of_counts_may_be_the_word_of_the_user() -> None:
    counts = as_counts()
    with pytest.raises(ParameterError, match="or set items_per_person = 1 of the counts"):
        top_k_by_group(counts, 2, 1, items_per_person=1)
    counts.items_per_person = 1
    assert first(top_k_by_group(counts, 2, 1, items_per_person=1)) == WINNERS


# --- What is refused, in a sentence, and charged to nobody

REFUSED: list[tuple[Any, dict[str, Any], type[TopgapError], str]] = [
    # Too few items, by the length of a public list.
    ({"a": [1, 2, 3], "b": [1, 2]}, {"k": 2}, AnswersError, "at least 3 answers"),
    ({"a": [1, 2, 3], "b": []}, {}, AnswersError, "empty"),
    ({"a": {"x": 1, "y": 2}}, {"groups": ["a", "b"]}, DomainError, "needs the public items"),
    (np.zeros((2, 2)), {"k": 2}, AnswersError, "at least 3 answers"),
    (np.zeros((2, 0)), {}, AnswersError, "empty"),
    (REGIONS, {"k": 3, "domain": DISEASES}, DomainError, "at least 4 items"),
    (as_counts(), {"k": 3}, DomainError, "at least 4 items"),
    # Groups.
    ({}, {}, DomainError, "no group"),
    (np.zeros((0, 3)), {}, DomainError, "0 groups for 0 rows"),
    (np.zeros((2, 3)), {"groups": ["a"]}, DomainError, "1 groups for 2 rows"),
    ({float("nan"): [1, 2]}, {}, DomainError, "group is missing"),
    ({None: [1, 2]}, {}, DomainError, "group is missing"),
    ({pd.NA: [1, 2]}, {}, DomainError, "group is missing"),
    (REGIONS, {**PUBLIC, "groups": FROM_DATA}, DomainError, "must be public"),
    (REGIONS, {**PUBLIC, "groups": "north"}, DomainError, "not a list of items"),
    (REGIONS, {**PUBLIC, "groups": ["north", "north"]}, DomainError,
     "The groups cannot be used: .* more than once"),
    (np.zeros((2, 3)), {"groups": ["a", "a"]}, DomainError, "^The groups cannot be used"),
    (REGIONS, {**PUBLIC, "groups": [("north",)]}, DomainError, "^The groups cannot be used"),
    (REGIONS, {**PUBLIC, "groups": {"north"}}, DomainError, "order"),
    (REGIONS, {**PUBLIC, "groups": []}, DomainError, "^The groups cannot be used: .* empty"),
    (REGIONS, {**PUBLIC, "groups": Domain.range(0, 10**7)}, DomainError, "too many"),
    (REGIONS, {**PUBLIC, "groups": Domain.subsets(["a", "b"], size=2)}, DomainError, "Sets"),
    # Answers that are none.
    ("north", {}, AnswersTypeError, "must be a mapping"),
    ([[1, 2]], {}, AnswersTypeError, "must be a mapping"),
    (pd.Series([1, 2]), {}, AnswersTypeError, "must be a mapping"),
    (dict, {}, AnswersTypeError, "must be a mapping"),
    ({"a": 3}, {}, AnswersTypeError, "must be a list"),
    ({"a": [1, None]}, {}, AnswersError, "missing"),
    ({"a": [1, "31"]}, {}, AnswersTypeError, "not str"),
    (np.zeros(3), {}, AnswersError, "two-dimensional"),
    (np.zeros((1, 2, 3)), {}, AnswersError, "two-dimensional"),
    (np.array([[1.0, np.nan]]), {}, AnswersError, "finite"),
    (np.array([[1, None]], dtype=object), {}, AnswersError, "missing"),
    (np.array([["31", "1"]]), {}, AnswersTypeError, "numbers"),
    (np.array([[True, False]]), {}, AnswersTypeError, "numbers"),
    (np.ma.array([[1, 31]], mask=[[False, True]]), {}, AnswersError, "masked"),
    # Names.
    ({"a": [1, 2], "b": {"x": 1, "y": 2}}, {}, ItemsError, "Some groups name"),
    (LISTS, {"items": DISEASES}, ItemsError, "already name"),
    (LISTS, {"domain": DISEASES}, ItemsError, "name their items"),
    (np.zeros((2, 3)), {"items": ["x", "y"]}, ItemsError, "2 items for 3"),
    (np.zeros((2, 3)), {"items": ["x", "y", "x"]}, ItemsError, "same name"),
    (np.zeros((2, 3)), {"domain": DISEASES}, ItemsError, "give items"),
    (pd.concat([FRAME, FRAME]), {**COLUMNS, **PUBLIC}, ItemsError, "two answers"),
    # Data frames.
    (FRAME, {}, ParameterError, "by, item and count"),
    (FRAME, {**COLUMNS, **PUBLIC, "by": []}, ParameterError, "by, item and count"),
    (FRAME, {**COLUMNS, "groups": ["north"]}, ParameterError, "public ones"),
    (FRAME, {**COLUMNS, "domain": DISEASES}, ParameterError, "public ones"),
    (FRAME, {**COLUMNS, **PUBLIC, "by": "31"}, AnswersError, "all of these columns"),
    (pl.from_pandas(FRAME), {**COLUMNS, **PUBLIC, "by": 0}, AnswersError, "all of these columns"),
    (FRAME.assign(n="31"), {**COLUMNS, **PUBLIC}, AnswersTypeError, "not str"),
    (FRAME, {**COLUMNS, **PUBLIC, "items": DISEASES}, ItemsError, "already name"),
    (REGIONS, {**PUBLIC, "by": "g"}, ParameterError, "only for a data frame"),
    # Columns of which nothing could be found, so that the lists would be noise.
    (FRAME, {**COLUMNS, **PUBLIC, "by": ["g", "n"], "count": "m"}, DomainError,
     "groups have 1 column, and they have 2 columns"),
    (FRAME, {**COLUMNS, **PUBLIC, "groups": Domain.product(["north"], [1, 2])}, DomainError,
     "groups have 2 columns, and they have 1 column"),
    (FRAME, {**COLUMNS, **PUBLIC, "item": ["i", "m"]}, DomainError,
     "domain has 1 column, and the items have 2 columns"),
    (FRAME, {**COLUMNS, **PUBLIC, "domain": Domain.product(DISEASES, [1, 2])}, DomainError,
     "domain has 2 columns, and the items have 1 column"),
    (FRAME, {**COLUMNS, **PUBLIC, "item": ["i", "m"], "domain": FROM_DATA}, AnswersError,
     "does not have all"),
    (FRAME, {**COLUMNS, **PUBLIC, "by": ["g", "g"]}, ParameterError, "each column once"),
    (FRAME, {**COLUMNS, **PUBLIC, "item": "g"}, ParameterError, "each column once"),
    (FRAME, {**COLUMNS, **PUBLIC, "count": "i"}, ParameterError, "each column once"),
    # Bounds that counts do not have, whatever else is given.
    (as_counts(groups_per_person=3), {}, ParameterError, "up to 3 groups"),
    (as_counts(groups_per_person=3), {"groups": ["north"]}, ParameterError, "up to 3 groups"),
    (as_counts(groups_per_person=3), {"domain": DISEASES}, ParameterError, "up to 3 groups"),
    (dict(as_counts(groups_per_person=3)), {}, ParameterError, "up to 3 groups"),
    ({"x": {"flu": 1}, "y": as_counts(groups_per_person=3)["north"].copy()}, {"domain": DISEASES},
     ParameterError, "up to 3 groups"),
    (as_counts(), {"k": 2, "items_per_person": 1}, ParameterError, "any number of"),
    (as_counts(items_per_person=2), {"k": 2, "items_per_person": 1}, ParameterError, "up to 2"),
    (as_counts(items_per_person=2), {**PUBLIC, "k": 2, "items_per_person": 1}, ParameterError,
     "up to 2"),
    ({"a": Counts({"x": 1}, domain=Domain(["x", "y"])),
      "b": Counts({"x": 1}, domain=Domain(["x", "z"]))}, {}, DomainError, "different domains"),
    # Noise and work.
    (as_counts(), {"epsilon": "1e-40"}, ParameterError, "larger epsilon"),
    (REGIONS, {**PUBLIC, "epsilon": "1e-40"}, ParameterError, "larger epsilon"),
    (REGIONS, {**PUBLIC, "constant_work": True}, ParameterError, "two-dimensional array"),
    (LISTS, {"constant_work": True}, ParameterError, "two-dimensional array"),
    (np.zeros((2, 3)), {"constant_work": True}, AnswersTypeError, "array of integers"),
    (np.zeros((2, 3), dtype=int), {"constant_work": True, "threads": 2}, ParameterError,
     "one thread"),
    (np.zeros((2, 3), dtype=int), {"constant_work": True, "epsilon": "1e-40"}, ParameterError,
     "larger epsilon"),
    (np.zeros((2, 3), dtype=int), {"constant_work": True, "threshold": 10**40}, ParameterError,
     "threshold"),
    (LISTS, {"threads": 0}, ParameterError, "threads"),
    (LISTS, {"gaps": 1}, ParameterTypeError, "gaps"),
    (LISTS, {"groups_per_person": 0}, ParameterError, "groups_per_person"),
]  # fmt: skip


@pytest.mark.statistical(false_alarm=1e-20)
def test_items_and_groups_of_several_columns_of_a_data_frame() -> None:
    """Tuples from the data, or of a list; groups, too."""
    rows = [("N", "a", 1, 5000), ("N", "b", 2, 10), ("S", "a", 2, 9000), ("S", "b", 2, 4000)]
    frame = pd.DataFrame(rows, columns=["g", "i", "m", "n"])
    asked: dict[str, Any] = {"k": 1, "epsilon": 1, "count": "n"}
    tuples: dict[str, Any] = {"by": "g", "item": ["i", "m"], "groups": ["S", "N"]}
    found = top_k_by_group(frame, **asked, **tuples, domain=FROM_DATA)
    assert found.domain_from_data
    assert {group: own.items for group, own in found.items()} == {
        "S": (("a", 2),), "N": (("a", 1),),
    }  # fmt: skip
    listed = top_k_by_group(frame, **asked, **tuples, domain=[("b", 2), ("a", 1)])
    assert {group: own.items for group, own in listed.items()} == {
        "S": (("b", 2),), "N": (("a", 1),),
    }  # fmt: skip
    groups = [("N", "a"), ("S", "b")]
    turned = top_k_by_group(frame, **asked, by=["g", "i"], item="m", groups=groups, domain=[1, 2])
    assert {group: own.items for group, own in turned.items()} == {
        ("N", "a"): (1,), ("S", "b"): (2,),
    }  # fmt: skip


@pytest.mark.parametrize(("answers", "given", "error", "word"), REFUSED)
def test_what_cannot_be_released_is_refused_before_it_is_charged(
    answers: Any, given: dict[str, Any], error: type[TopgapError], word: str, tmp_path: Path
) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.add_dataset("visits", 10)
    arguments = {"k": 1, "epsilon": 1, **given}
    with pytest.raises(error, match=word) as caught:
        top_k_by_group(answers, **arguments, ledger=ledger, dataset="visits")
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert "31" not in text
    assert str(FAR) not in text
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert ledger.history("visits") == ()
    with pytest.raises(error, match=word):
        top_k_by_group(answers, **arguments, check=True)


class Hostile(dict[Any, Any]):
    """A mapping whose errors tell what it holds."""

    def __getitem__(self, key: Any) -> Any:
        raise ValueError("31 people have it")

    def items(self) -> Any:
        raise ValueError("31 people have it")


@pytest.mark.parametrize("groups", [None, ["north"]])
def test_a_mapping_that_cannot_be_read_tells_nothing(groups: Any) -> None:
    with pytest.raises(AnswersError) as caught:
        top_k_by_group(Hostile(north={"flu": 31, "cold": 1}), 1, 1, groups=groups)
    assert "31" not in str(caught.value)
    assert caught.value.__context__ is None


class Liar(str):
    """A name that says it is another's, and then that it cannot be compared."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash("flu")

    def __eq__(self, other: object) -> bool:
        raise ValueError("31 people have it")


def test_names_that_lie_are_no_members() -> None:
    lists = top_k_by_group(
        {"north": {Liar("flu"): FAR, "cold": 2 * FAR}, Liar("flu"): {"cough": FAR}}, 1, 1, **PUBLIC
    )
    assert first(lists)["north"] == "cold"


def test_shapes_alone_decide_what_is_refused() -> None:
    """The same keys and types with other numbers are refused alike, or released alike."""

    def said(answers: Mapping[str, Any], **given: Any) -> str:
        try:
            return f"{top_k_by_group(answers, 1, 1, **given).sizes}"
        except TopgapError as error:
            return str(error)

    for given in ({}, {"domain": DISEASES}, {"groups": ["north", "east"]}):
        said_of = {
            said({"north": {"flu": a, "cold": b}, "south": {"cough": c, "flu": 0}}, **given)
            for a in (0, FAR, 2**70) for b in (0, -FAR) for c in (0, 2**70)
        }  # fmt: skip
        assert len(said_of) == 1


# --- Interrupts


@pytest.mark.linux
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("with_domain", [False, True])
def test_an_interrupt_ends_it_and_releases_nothing(threads: int, with_domain: bool) -> None:
    size = 4_000 if with_domain else 20_000
    answers = np.zeros((size, 60), dtype=np.int64)
    given: Any = answers
    if with_domain:
        given = GroupedCounts(
            [*range(size)], Domain.range(0, 10**9), [],
            ends=np.zeros(size, dtype=np.int64), places=np.array([], dtype=np.int64),
            counts=np.array([], dtype=np.int64),
        )  # fmt: skip

    def release_forever() -> None:
        while True:
            top_k_by_group(given, 50, 1, threads=threads)

    # It is ignored where the tests were started in the background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = Timer(0.05, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        release_forever()
    timer.join()
    signal.signal(signal.SIGINT, before)


# --- Threads


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_each_group_is_drawn_once_whoever_draws_it(threads: int) -> None:
    """Groups of one size and of different sizes, fewer than threads and more."""
    for number in range(1, 12):
        array = FAR * np.eye(number, number + 1, dtype=np.int64)
        lists = top_k_by_group(array, 1, 1, threads=threads)
        assert [*first(lists).values()] == [*range(number)]
        table = {h: [0] * (1 + h * h % 50) + [FAR] for h in range(number)}
        lists = top_k_by_group(table, 1, 1, threads=threads)
        assert [*first(lists).values()] == [1 + h * h % 50 for h in range(number)]
