"""A selector that is interrupted, by a signal or a fork: whole, or not to be used any more."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from tests.checking import interruptions
from tests.selection.sample_selectors import FAR, ONE, holding
from topgap import ItemsError, Selector, SelectorError, TopK
from topgap.selection import candidate_pool, measurement, selector
from topgap.selection.measurement import Shares
from topgap.streams import one_pass_release, top_k, top_k_with_estimates


def interrupted(at: int, call: Callable[[], object]) -> bool:
    """Whether the call was interrupted, at this of the lines from the rows to the release."""
    modules = (selector, candidate_pool, measurement, one_pass_release)
    files = {module.__file__ for module in modules}
    told = interruptions.interrupted(at, call, lambda code: code.co_filename in files)
    return told is not None


def test_an_interrupted_part_is_added_or_not_or_nothing_is_released() -> None:
    outcomes = Counter[str]()
    for at in range(1, 10_000):
        made = holding(ONE, {"ash": FAR, "elm": 0})
        if not interrupted(at, lambda made=made: made.add({"oak": 2 * FAR})):  # type: ignore[misc]
            break
        try:
            made.add({"oak": 2 * FAR})
            outcomes["not added"] += 1
        except ItemsError:
            outcomes["added"] += 1
        except SelectorError:
            outcomes["not to be used"] += 1
            continue
        assert made._pool.count == 3
        assert made.release().items == ("oak",)
    assert not made._busy
    assert outcomes["not added"] > 10
    assert outcomes["not to be used"] > 5


def test_interrupted_measurements_are_made_once_or_never() -> None:
    """Of the rows of a stream, which a pool has and nobody else."""
    rows = pa.table({"tree": ["ash", "elm"], "count": [FAR, 0]})
    ends, original = Counter[int](), Shares.measure
    for at in range(1, 10_000):
        measured: list[Any] = []

        def measure(self: Shares, answers: Any, measured: list[Any] = measured) -> Any:
            measured.append([*answers])
            return original(self, answers)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Shares, "measure", measure)
            call = partial(top_k_with_estimates, rows, 1, 1, item="tree", count="count")
            if not interrupted(at, call):
                break
        assert measured in ([], [[FAR]])
        ends[len(measured)] += 1
    assert at > 20
    assert min(ends[0], ends[1]) > 5


def test_an_interrupted_merge_never_leaves_the_same_noise_in_two_places() -> None:
    for at in range(1, 10_000):
        one, two = holding(ONE, {"ash": FAR, "elm": 0}), holding(ONE, {"oak": 2 * FAR, "fir": 0})
        if not interrupted(at, lambda one=one, two=two: one.merge(two)):  # type: ignore[misc]
            break
        held = []
        for each in (one, two):
            try:
                held.append({*each.to_arrow()["item"].to_pylist()})
            except SelectorError:
                held.append(set())
        whole, parts = {"ash", "oak"}, [{"ash", "elm"}, {"oak", "fir"}]
        is_merged = two._used_up == "merged into another"
        if is_merged:
            assert held in ([whole, set()], [set(), set()])
        else:
            assert all(items in (set(), part) for items, part in zip(held, parts, strict=True))
    assert at > 20


def test_an_interrupted_release_is_made_once_or_never() -> None:
    for at in range(1, 10_000):
        made = holding(TopK(5, 1), dict.fromkeys(range(100), 0))
        if not interrupted(at, made.release):
            break
        other = Selector(TopK(5, 1))
        try:
            first = made.release()
        except SelectorError:
            with pytest.raises(SelectorError):
                other.merge(made)
            continue
        assert made.release() is first
        for misuse in (partial(made.add, {100: 1}), partial(other.merge, made), made.to_arrow):
            with pytest.raises(SelectorError, match="has been released"):
                misuse()
    assert at > 20


def test_a_signal_handler_cannot_use_it_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Selector(ONE)
    with monkeypatch.context() as within:
        within.setattr(candidate_pool, "look_up", lambda *_: made.release())
        with pytest.raises(SelectorError, match="is in use by the code"):
            made.add([FAR, 0], ["ash", "elm"])
    made.add([FAR, 0], ["ash", "elm"])
    assert made.release().items == ("ash",)


@pytest.mark.posix
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks while threads run
@pytest.mark.parametrize("has_equal_number", [False, True])  # as one in a namespace of its own
def test_a_forked_copy_cannot_be_used(
    has_equal_number: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = holding(ONE, {"ash": FAR, "elm": 0})
    if has_equal_number:
        number = os.getpid()
        monkeypatch.setattr(os, "getpid", lambda: number)
    child = os.fork()
    if child == 0:
        try:
            made.release()
        except SelectorError as error:
            os._exit(7 if "belongs to another process" in str(error) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert made.release().items == ("ash",)


@pytest.mark.posix(reason="forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks while threads run
@pytest.mark.parametrize("call", [top_k, top_k_with_estimates])
def test_a_source_that_forks_releases_in_one_process_alone(call: Callable[..., Any]) -> None:
    """Else both would rank the same noise of what was read before the fork."""
    children: list[int] = []

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(4):
            if start == 2:
                children.append(os.fork())
            items = [f"{start}, {i}" for i in range(10)]
            yield pa.record_batch({"tree": items, "count": [0] * 10})

    schema = pa.schema({"tree": pa.string(), "count": pa.int64()})
    reader = pa.RecordBatchReader.from_batches(schema, batches())
    try:
        release = call(reader, 2, 1, item="tree", count="count")
    except SelectorError as error:
        if children == [0]:
            os._exit(7 if "belongs to another process" in str(error) else 2)
        raise
    finally:
        if children == [0]:
            os._exit(1)
    assert len(release) == 2
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 7
