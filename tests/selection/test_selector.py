"""What a `Selector` takes, refuses, keeps and gives away."""

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topgap
from tests.selection.sample_selectors import FAR, ONE, TWO, holding
from topgap import (
    AnswersError,
    AnswersTypeError,
    ItemsError,
    ParameterError,
    ParameterTypeError,
    Release,
    Selector,
    SelectorError,
    TopK,
)
from topgap.domains import Counts
from topgap.selection import item_names
from topgap.selection.candidate_arrow import to_arrow
from topgap.selection.candidate_pool import CandidatePool

# --- What it takes


@pytest.mark.parametrize(
    "part",
    [
        {"ash": FAR, "elm": 0},
        pd.Series([FAR, 0], index=["ash", "elm"]),
    ],
    ids=lambda part: type(part).__name__,
)
def test_parts_bring_their_names(part: Any) -> None:
    assert holding(ONE, part, {"oak": 3}).release().items == ("ash",)


@pytest.mark.parametrize(
    "answers",
    [
        [FAR, 0],
        (FAR, 0),
        np.array([FAR, 0]),
        np.array([FAR, 0], dtype=np.uint64),
        np.array([FAR, 0.5]),
        pl.Series([FAR, 0]),
        pa.array([FAR, 0]),
        pa.chunked_array([[FAR], [0]]),
        [Fraction(FAR), Decimal("0.3")],
        [10**40, 0],
    ],
    ids=lambda answers: type(answers).__name__,
)
@pytest.mark.parametrize(
    "names",
    [
        ["ash", "elm"],
        np.array(["ash", "elm"]),
        pa.array(["ash", "elm"]),
        pa.chunked_array([["ash"], ["elm"]]),
        pa.array(["ash", "elm"]).dictionary_encode(),
        pd.Index(["ash", "elm"]),
        pl.Series(["ash", "elm"]),
    ],
    ids=lambda names: type(names).__name__,
)
def test_names_are_given_with_answers(answers: Any, names: Any) -> None:
    made = Selector(TWO)
    made.add(answers, names)
    made.add([FAR // 2], items=["oak"])
    assert made.release().items == ("ash", "oak")


def test_without_names_positions_go_on_from_part_to_part() -> None:
    release = holding(TWO, [0, FAR], [1], [], [0, 3 * FAR]).release()
    assert release.items == (4, 1)
    assert release.indices.tolist() == [4, 1]


def test_parts_meet_on_one_scale_however_large_they_are() -> None:
    """uint64 and objects are shifted inside, and what is too large goes another way."""
    parts: dict[str, Any] = {
        "negative": np.array([-FAR]),
        "int64": np.array([2**62]),
        "uint64": np.array([2**63 + 2**62], dtype=np.uint64),
        "float": np.array([2.0**65]),
        "object": [2**66],
        "far apart": [2**70, -(2**70)],
        "fraction": [Fraction(10**30, 7)],
    }
    for order in (list(parts.items()), list(parts.items())[::-1]):
        made = Selector(TopK(6, 1))
        for name, part in order:
            made.add(part, [name, f"{name} below"][: len(part)])
        expected = ["fraction", "far apart", "object", "float", "uint64", "int64"]
        assert list(made.release().items) == expected


def test_gaps_are_those_between_parts() -> None:
    release = holding(TWO, {"ash": 3 * FAR}, {"elm": 0}, {"oak": FAR}).release()
    assert release.gaps is not None
    assert [round(gap / FAR) for gap in release.gaps] == [2, 1]


@given(st.lists(st.lists(st.integers(-(10**25), 10**25), max_size=5), max_size=6))
def test_whatever_the_parts_the_largest_win(parts: list[list[int]]) -> None:
    spread = sorted({number for part in parts for number in part})
    if len(spread) < 2:
        return
    rank_of = {number: FAR * place for place, number in enumerate(spread)}
    made = Selector(ONE)
    for i, part in enumerate(parts):
        names = [(i, j) for j in range(len(part))]
        made.add([rank_of[number] for number in part], names)
    i, j = made.release(gaps=False).items[0]
    assert parts[i][j] == spread[-1]


def test_few_answers_are_too_few_until_more_come() -> None:
    made = Selector(TWO)
    with pytest.raises(AnswersError, match="The answers are empty"):
        made.release()
    made.add([FAR, 0])
    with pytest.raises(AnswersError, match="k = 2 needs at least 3 answers, not 2"):
        made.release()
    made.add([2 * FAR])
    assert made.release().items == (2, 0)


def test_empty_parts_change_nothing() -> None:
    made = Selector(ONE)
    empty: list[Any] = [[], {}, np.array([]), pa.array([], pa.int64()), pd.Series([], dtype=int)]
    for nothing in empty:
        made.add(nothing)
    made.add([], items=[])
    made.add({"ash": FAR, "elm": 1})
    assert made.release().items == ("ash",)


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_threads_find_the_same(threads: int | None) -> None:
    answers = np.arange(3_000_000) % 1000
    answers[2_999_999] = FAR
    made = Selector(TopK(1, 1000))
    made.add(answers, threads=threads)
    made.add([2 * FAR], threads=threads)
    made.add(np.array([], dtype=np.int64), threads=threads)
    assert made.release().items == (3_000_000,)
    assert topgap.top_k(answers, 1, 1000, threads=threads).items == (2_999_999,)


@pytest.mark.parametrize(
    ("threads", "error"),
    [
        (0, ParameterError),
        (-1, ParameterError),
        (2.0, ParameterTypeError),
        ("2", ParameterTypeError),
    ],
)
def test_threads_are_a_number_of_them(threads: Any, error: type[Exception]) -> None:
    for call in (
        lambda: topgap.top_k([1, 2], 1, 1, threads=threads),
        lambda: topgap.noisy_max([1, 2], 1, threads=threads),
        lambda: topgap.select(ONE, [1, 2], threads=threads),
        lambda: Selector(ONE).add([1, 2], threads=threads),
    ):
        with pytest.raises(error, match="threads must be"):
            call()


def test_more_threads_than_answers_do_no_harm() -> None:
    assert topgap.top_k([FAR, 0, 1], 1, 1, threads=10**9).items == (0,)


# --- What it refuses, and that nothing is lost by it


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ("3", AnswersTypeError),
        ([[1, 2]], AnswersError),
        ([1, None], AnswersError),
        ([1.0, float("nan")], AnswersError),
        (np.array([1.0, np.inf]), AnswersError),
        (["a"], AnswersTypeError),
        (7, AnswersTypeError),
    ],
)
def test_a_bad_part_is_refused_and_the_others_stay(bad: Any, error: type[Exception]) -> None:
    made = holding(ONE, {"ash": FAR, "elm": 0})
    with pytest.raises(error):
        made.add(bad, items=["fir", "pine"][: len(bad) if hasattr(bad, "__len__") else 1])
    made.add({"oak": 2 * FAR})
    assert made.release().items == ("oak",)


@pytest.mark.parametrize(
    ("answers", "items"),
    [
        ([1, 2], ["a"]),
        ([1, 2], ["a", "a"]),
        ([1, 2], pa.array(["a", "a"])),
        ([1, 2], {"a", "b"}),
        ([1], [["a"]]),
        ([1], pa.array([["a"]])),
        ({"a": 1}, ["a"]),
    ],
)
def test_bad_names_are_refused(answers: Any, items: Any) -> None:
    made = holding(ONE, {"ash": FAR, "elm": 0})
    with pytest.raises(ItemsError):
        made.add(answers, items)
    assert made.release().items == ("ash",)


def test_all_parts_have_names_or_none_has() -> None:
    made = holding(ONE, {"ash": FAR, "elm": 0})
    with pytest.raises(ItemsError, match="name all or none"):
        made.add([3])
    positions = holding(ONE, [3])
    with pytest.raises(ItemsError, match="name all or none"):
        positions.add({"oak": 3})


def test_an_item_given_twice_is_refused() -> None:
    made = holding(TopK(1, 100), {"ash": FAR, "elm": 0}, {"oak": FAR // 2})
    for again in ({"elm": 5}, {"ash": 5}, {"fir": 5, "oak": 5}):
        with pytest.raises(ItemsError, match="An item was given twice"):
            made.add(again)
    other = holding(TopK(1, 100), {"fir": 3, "elm": 3})
    with pytest.raises(ItemsError, match="An item was given twice"):
        made.merge(other)
    other.add({"pine": FAR})
    assert {*other.release(gaps=False).items} == {"pine"}
    assert made.release().items == ("ash",)


def test_names_are_forgotten_when_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then an item is found twice only if it could win twice."""
    monkeypatch.setattr(item_names, "MOST_REMEMBERED", 5)
    made = holding(TopK(1, 100), {"ash": FAR, "elm": 0, "fir": FAR // 2})
    with pytest.raises(ItemsError, match="An item was given twice"):
        made.add({"elm": 0})
    made.add({"oak": 1, "pine": 2, "yew": 3})
    made.add({"elm": 0})
    with pytest.raises(ItemsError, match="An item was given twice"):
        made.add({"ash": 2 * FAR})
    assert made.release().items == ("ash",)


def test_long_names_are_forgotten_sooner() -> None:
    def long(letter: str) -> dict[str, int]:
        return {letter + "x" * 5_000_000 + str(i): 0 for i in range(2)}

    made = holding(TopK(1, 100), {"ash": FAR, "elm": 0, "fir": FAR // 2}, long("a"))
    with pytest.raises(ItemsError, match="An item was given twice"):
        made.add(long("a"))
    made.add(long("b"))
    assert made._pool.seen.names is None
    assert made.release().items == ("ash",)


def test_what_was_released_or_merged_is_used_up() -> None:
    released = holding(ONE, {"ash": FAR, "elm": 0})
    released.release()
    merged, whole = holding(ONE, {"oak": 0}), holding(ONE, {"ash": FAR})
    whole.merge(merged)
    for used, how in ((released, "released"), (merged, "merged into another")):
        for call in (
            lambda used=used: used.add({"fir": 1}),
            lambda used=used: used.merge(Selector(ONE)),
            lambda used=used: Selector(ONE).merge(used),
            lambda used=used: used.to_arrow(),
            lambda used=used: pickle.dumps(used),
        ):
            with pytest.raises(SelectorError, match=f"This selector has been {how}; create a new"):
                call()
    with pytest.raises(SelectorError, match="merged into another"):
        merged.release()
    assert whole.release().items == ("ash",)


def test_merging_what_does_not_fit_is_refused() -> None:
    made = holding(ONE, {"ash": FAR, "elm": 0})
    with pytest.raises(SelectorError, match="cannot be merged with itself"):
        made.merge(made)
    for parameters in (TWO, TopK(1, 2), TopK(1, 1, monotonic=True), TopK(1, 1, resolution=1)):
        with pytest.raises(SelectorError, match="only if their parameters are equal"):
            made.merge(holding(parameters, {"oak": 1}))
    with pytest.raises(ParameterTypeError, match="Only a Selector can be merged, not dict"):
        made.merge({"oak": 1})  # type: ignore[arg-type]
    for positions in (holding(ONE, [3]), holding(ONE, [3])):
        with pytest.raises(ItemsError, match="without names cannot be merged"):
            made.merge(positions)
        with pytest.raises(ItemsError, match="without names cannot be merged"):
            positions.merge(holding(ONE, {"oak": 1}))
    made.merge(Selector(ONE))
    made.merge(holding(TopK(1, "1.0"), {"fir": 2 * FAR}))
    assert made.release().items == ("fir",)


def test_parameters_must_be_a_topk() -> None:
    with pytest.raises(ParameterTypeError, match="parameters must be a TopK"):
        Selector(10)  # type: ignore[arg-type]


# --- What it gives


def test_it_is_released_once_with_or_without_gaps() -> None:
    made = holding(TopK(5, 1), np.zeros(1000))
    with_gaps, without = made.release(), made.release(gaps=False)
    assert made.release() is with_gaps
    assert made.release(gaps=False) is without
    assert without.gaps is None
    assert without.items == with_gaps.items


def test_it_never_shows_values_and_forgets_them() -> None:
    made = holding(ONE, {"ash": 123456789, "elm": 0})
    assert repr(made) == f"<Selector of {ONE}, open>"
    assert "123456789" not in repr(made) + str(made)
    made.release()
    assert repr(made) == f"<Selector of {ONE}, released>"
    assert not hasattr(made, "__dict__")
    assert (made._pool.candidates, made._pool._answers, made._pool._floor) == ([], {}, None)
    assert not made._pool.seen.names


def test_it_is_not_copied() -> None:
    made = holding(ONE, {"ash": FAR, "elm": 0})
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(SelectorError, match="A selector cannot be copied"):
            copied(made)


def _of_worker(part: dict[str, int]) -> Selector:
    return holding(ONE, part)


def test_worker_processes_send_theirs_back() -> None:
    parts = [{"ash": FAR, "elm": 0}, {"oak": 5}, {"fir": 2 * FAR}]
    with ProcessPoolExecutor(2) as workers:
        whole, *others = workers.map(_of_worker, parts)
    for other in others:
        whole.merge(other)
    with pytest.raises(ItemsError, match="An item was given twice"):
        whole.add({"elm": 3})
    assert whole.release().items == ("fir",)


def test_threads_add_to_one_selector() -> None:
    made = Selector(TopK(3, 1000))
    with ThreadPoolExecutor(8) as workers:
        parts = [{(i, j): FAR * (20 * i + j) for j in range(20)} for i in range(300)]
        for added in [workers.submit(made.add, part) for part in parts]:
            added.result()
    assert made._pool.count == 6000
    assert made.release().items == ((299, 19), (299, 18), (299, 17))


@pytest.mark.slow
def test_what_goes_elsewhere_is_of_one_moment() -> None:
    """Parts of 50 come while it is pickled and written: none is there by half."""
    made = Selector(TopK(10**6, 1))
    with ThreadPoolExecutor(1) as worker:
        parts = [{(i, j): 1 for j in range(50)} for i in range(400)]
        adding = worker.submit(lambda: [*map(made.add, parts)])
        while not adding.done():
            sent = pickle.loads(pickle.dumps(made))  # noqa: S301
            assert len(sent._pool.candidates) == len(sent._pool.seen.names) == sent._pool.count
            assert sent._pool.count % 50 == 0
        adding.result()
    assert made._pool.count == 20_000


# --- Names that come late


@pytest.mark.parametrize(
    "names",
    [
        pa.StringArray.from_buffers(2, pa.py_buffer(b"\0\0\0\0\1\0\0\0\2\0\0\0"),
                                    pa.py_buffer(b"\xffa")),
        pa.array([2**30, 1], pa.date32()),
        pa.array([2**60, 1], pa.timestamp("s")),
    ],
    ids=["bad text", "far date", "far time"],
)  # fmt: skip
def test_names_that_python_cannot_have_are_refused_whoever_wins(names: Any) -> None:
    for answers in ([0, FAR], [FAR, 0]):
        with pytest.raises(ItemsError, match="names that can be listed"):
            topgap.top_k(answers, 1, 1, items=names)
        with pytest.raises(ItemsError, match="names that can be listed"):
            Selector(ONE).add(answers, names)


def test_names_are_compared_once_more_before_they_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(item_names, "MOST_REMEMBERED", 5)
    made = holding(TopK(1, 100), {"ash": FAR, "elm": 0, "fir": FAR // 2})
    with pytest.raises(ItemsError, match="An item was given twice"):
        made.add({"elm": 0, "oak": 1, "pine": 2, "yew": 3})


def test_a_merge_compares_all_that_either_knows() -> None:
    carried = holding(ONE, {"ash": 0, "elm": 0}).to_arrow()
    for turned in (False, True):
        knows = holding(ONE, {"oak": 2 * FAR, "fir": FAR, "ash": 0})
        came = Selector.from_arrow(ONE, carried)
        one, two = (came, knows) if turned else (knows, came)
        with pytest.raises(ItemsError, match="An item was given twice"):
            one.merge(two)


def test_names_are_the_same_in_whatever_form_they_come() -> None:
    days = np.array(["2026-11-15", "2026-11-16"], dtype="M8[ns]")
    for again in (days, pd.DatetimeIndex(days), [*days]):
        made = Selector(ONE)
        made.add([FAR, 0], days)
        with pytest.raises(ItemsError, match="An item was given twice"):
            made.add([1, 2], again)
    pairs = np.array([(1, 2), (3, 4)], dtype=[("a", int), ("b", int)])
    made = Selector(ONE)
    made.add([FAR, 0], pairs)
    with pytest.raises(ItemsError, match="An item was given twice"):
        made.add([1], [(3, 4)])
    assert made.release().items == ((1, 2),)


def test_nan_is_no_name_here() -> None:
    with pytest.raises(ItemsError, match="not equal to itself"):
        Selector(ONE).add([1, 2], [float("nan"), 1.0])


# --- As Arrow


def test_it_goes_to_arrow_and_comes_back() -> None:
    made = holding(TWO, {f"item {i}": i for i in range(1000)}, {"ash": 10**12})
    table = made.to_arrow()
    assert table.column_names == ["item", "value"]
    assert table.schema.types == [pa.string(), pa.decimal128(38, 0)]
    assert table.num_rows == 3  # but for ties, of which there is one in a billion runs
    back = Selector.from_arrow(TWO, table)
    assert back.release().items[0] == "ash"
    assert [*back.release().items] == [*made.release().items]


def test_the_rows_of_several_are_what_all_hold() -> None:
    parts = [{f"{i} {j}": FAR * (7 * j + i) for j in range(30)} for i in range(7)]
    tables = [holding(TWO, part).to_arrow() for part in parts]
    carried = pa.concat_tables(tables)
    assert carried.num_rows == 21
    assert Selector.from_arrow(TWO, carried).release().items == ("6 29", "5 29")
    as_text = carried.set_column(1, "value", carried["value"].cast(pa.string()))
    assert Selector.from_arrow(TWO, as_text).release().items == ("6 29", "5 29")


def test_engines_carry_it() -> None:
    import duckdb

    held = holding(TWO, {"ash": 10**18, "elm": 0, "oak": -(10**18), "fir": FAR}).to_arrow()
    with duckdb.connect() as connection:
        connection.register("held", held)
        carried = connection.table("held").order("item").to_arrow_table()
    assert Selector.from_arrow(TWO, carried).release().items == ("ash", "fir")
    frame = pl.from_arrow(held)
    assert Selector.from_arrow(TWO, frame).release().items[0] == "ash"


def test_long_values_are_text() -> None:
    for large in (10**60, 10**6000):
        table = holding(ONE, {"ash": large, "elm": -large}).to_arrow()
        assert table.schema.field("value").type == pa.string()
        assert Selector.from_arrow(ONE, table).release().items == ("ash",)


def test_positions_do_not_go_elsewhere() -> None:
    with pytest.raises(ItemsError, match="without names cannot leave"):
        holding(ONE, [1, 2]).to_arrow()


def test_an_empty_one_goes_to_arrow_too() -> None:
    table = Selector(ONE).to_arrow()
    assert table.num_rows == 0
    back = Selector.from_arrow(ONE, table)
    back.add([0, FAR])
    assert back.release().items == (1,)


def test_what_came_by_arrow_can_be_added_to_and_merged() -> None:
    made = Selector.from_arrow(ONE, holding(ONE, {"ash": FAR, "elm": 0}).to_arrow())
    made.add({"oak": 2 * FAR})
    with pytest.raises(ItemsError, match="An item was given twice"):
        made.add({"ash": 3 * FAR})
    made.merge(Selector.from_arrow(ONE, holding(ONE, {"fir": 3 * FAR}).to_arrow()))
    assert made.release().items == ("fir",)


@pytest.mark.parametrize(
    "table",
    [
        7,
        "text",
        pa.table({"item": ["ash"]}),
        pa.table({"item": ["ash"], "value": ["x"]}),
        pa.table({"item": ["ash"], "value": [None]}),
        pa.table({"item": ["ash"], "value": [0.5]}),
        pa.table({"item": ["ash"], "value": [["1"]]}),
        pa.table({"item": ["ash"], "value": [Decimal("1.5")]}),
        pa.table({"item": ["ash"], "value": ["1_0"]}),
        pa.table({"item": ["ash"], "value": [True]}),
        pa.table({"item": [["ash"]], "value": [1]}),
        pa.table([["a"], ["b"], ["1"]], names=["item", "item", "value"]),
    ],
    ids=str,
)
def test_what_is_no_such_table_is_refused(table: Any) -> None:
    with pytest.raises(SelectorError, match="the columns item and value"):
        Selector.from_arrow(ONE, table)


def test_a_table_of_other_parameters_is_refused_whoever_carried_it() -> None:
    table = holding(ONE, {"ash": FAR, "elm": -FAR}).to_arrow()
    others = [TWO, TopK(1, 2), TopK(1, 1, monotonic=True), TopK(1, 1, resolution=1)]
    for carried in (table, table.to_pandas(), pl.from_arrow(table)):
        assert Selector.from_arrow(ONE, pa.Table.from_pandas(carried)
                                   if isinstance(carried, pd.DataFrame)
                                   else carried).release().items == ("ash",)  # fmt: skip
        for parameters in others:
            with pytest.raises(SelectorError, match="with other parameters or by another version"):
                Selector.from_arrow(parameters, carried)
    mixed = pa.concat_tables([table, holding(TopK(1, 2), {"oak": 5, "fir": 7}).to_arrow()])
    with pytest.raises(SelectorError, match="with other parameters or by another version"):
        Selector.from_arrow(ONE, mixed)


def test_a_table_with_bad_items_is_refused() -> None:
    values = holding(ONE, {"ash": FAR, "elm": 0}).to_arrow()["value"]
    for items, sentence in ((["ash", "ash"], "given twice"), (["ash", None], "has no name")):
        table = pa.table({"item": items, "value": values})
        with pytest.raises(ItemsError, match=sentence):
            Selector.from_arrow(ONE, table)


def test_names_of_different_types_do_not_go_to_arrow() -> None:
    for other in (7, "\ud800", 2**70, ("a", 1)):
        with pytest.raises(ItemsError, match="do not fit in one Arrow column"):
            holding(ONE, {"ash": FAR, other: 0}).to_arrow()
    with pytest.raises(ItemsError, match="do not fit in one Arrow column"):
        holding(ONE, {(1, 2): FAR, (3, 4): 0}).to_arrow()
    made = holding(ONE, {"ash": FAR, 7: 0})
    assert made.release().items == ("ash",)


# --- Its streams


def test_a_pickle_of_another_version_is_refused() -> None:
    made = holding(ONE, {"ash": FAR, "elm": 0})
    restore, state = made.__reduce__()
    with pytest.raises(SelectorError, match="pickled by another version"):
        restore(*state[:-2], state[-2] + 1, None)


def test_streams_are_repeated_by_number_and_never_by_chance() -> None:
    from topgap._core import Streams

    streams = Streams()
    sent: Callable[[int], Any] = pickle.loads(pickle.dumps(streams)).open  # noqa: S301
    assert sent(3).take(256) == streams.open(3).take(256)
    taken = [each.open(number).take(128) for each in (streams, Streams()) for number in range(50)]
    assert len({*taken}) == 100
    stream = streams.open(0)
    assert all(stream.take(count) < 2**count for count in (0, 1, 7, 64, 65, 500))


def test_a_pool_on_a_stream_finds_the_same_again() -> None:
    from topgap._core import Streams

    streams = Streams()

    def found(number: int, part: list[Any]) -> Any:
        made = CandidatePool(TopK(5, 1), stream=streams.open(number), remember_names=False)
        made.add(part, [*range(len(part))])
        made.add(part, [*range(len(part), 2 * len(part))])
        return to_arrow(made).to_pydict()

    for part in ([0] * 3000, [10**40, *range(20)]):
        assert found(1, part) == found(1, part) != found(2, part)
    for take in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(SelectorError, match=r"cannot be sent|cannot be copied"):
            take(CandidatePool(ONE, stream=streams.open(0)))


def test_the_mark_of_a_list_from_the_data_goes_along() -> None:
    counts = Counts({"ash": 3 * FAR, "elm": FAR}, domain_from_data=True)
    parameters = TopK(1, 1)
    for share in (None, "1/2"):
        marked = Selector(parameters, selection_share=share)
        marked.add(counts)
        marked = pickle.loads(pickle.dumps(marked))  # noqa: S301
        merged = Selector(parameters, selection_share=share)
        merged.add({"oak": 0})
        merged.merge(marked)
        made = merged.release() if share is None else merged.release_with_estimates()
        release = made if isinstance(made, Release) else made.release
        assert release.domain_from_data
    public = Selector(parameters, domain=["ash", "elm"])
    public.add(counts)
    assert not public.release().domain_from_data
