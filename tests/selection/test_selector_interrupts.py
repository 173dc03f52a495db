"""A selector that is interrupted, by a signal or a fork: whole, or not to be used any more."""

import os
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.checking import interruptions
from tests.selection.sample_selectors import FAR, ONE, holding
from topgap import ItemsError, Selector, SelectorError, TopK
from topgap.selection import candidate_pool, selector


def interrupted(at: int, call: Callable[[], object]) -> bool:
    """Whether the call was interrupted, at this of the lines of the selector and its pools."""
    files = {selector.__file__, candidate_pool.__file__}
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
        assert made._added == 3
        assert made.release().items == ("oak",)
    assert not made._busy
    assert outcomes["not added"] > 10
    assert outcomes["not to be used"] > 5


def test_an_interrupted_part_leaves_no_item_without_its_answer() -> None:
    outcomes = Counter[str]()
    for at in range(1, 10_000):
        made = Selector._remembering(ONE)
        made.add({"ash": FAR, "elm": 0})
        more = {"oak": 3 * FAR, "fir": 2 * FAR}  # by which the pool is cut
        if not interrupted(at, partial(made.add, more)):
            break
        try:
            made.add(more)
            outcomes["not added"] += 1
        except ItemsError:
            outcomes["added"] += 1
        except SelectorError:
            outcomes["not to be used"] += 1
            with pytest.raises(SelectorError):
                made._release_and_measure(list)
            continue
        release, measured = made._release_and_measure(list)
        assert (release.items, measured) == (("oak",), [3 * FAR])
    assert at > 20
    assert outcomes["not added"] > 10
    assert outcomes["not to be used"] > 5


def test_interrupted_measurements_are_made_once_or_never() -> None:
    ends = Counter[int]()
    for at in range(1, 10_000):
        made = Selector._remembering(ONE)
        made.add({"ash": FAR, "elm": 0})
        measured: list[Any] = []
        if not interrupted(at, partial(made._release_and_measure, measured.append)):
            break
        try:
            made._release_and_measure(measured.append)
        except SelectorError:
            with pytest.raises(SelectorError):
                made.add({"oak": 2 * FAR})
        assert measured in ([], [[FAR]])
        ends[len(measured)] += 1
    assert not made._held
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
        within.setattr(selector, "look_up", lambda *_: made.release())
        with pytest.raises(SelectorError, match="is in use by what was interrupted"):
            made.add([FAR, 0], ["ash", "elm"])
    made.add([FAR, 0], ["ash", "elm"])
    assert made.release().items == ("ash",)


@pytest.mark.posix
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks while threads run
def test_a_forked_copy_cannot_be_used() -> None:
    made = holding(ONE, {"ash": FAR, "elm": 0})
    child = os.fork()
    if child == 0:
        try:
            made.release()
        except SelectorError as error:
            os._exit(7 if "belongs to another process" in str(error) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert made.release().items == ("ash",)
