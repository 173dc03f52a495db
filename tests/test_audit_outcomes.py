"""What an audited function may return, what is impossible, and what an observer looks at."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from topgap import Release, ReleaseError, TopK
from topgap.auditing import features
from topgap.auditing.outcomes import OffGrid, Outcome, impossible, read

TENTHS = TopK(k=2, epsilon=1)
THIRDS = TopK(k=2, epsilon=1, resolution="1/3")


@pytest.mark.parametrize("returned", [
    [(2, Fraction(3, 10)), (0, 1)],
    ((2, 0.3), [0, 1.0]),
    [(np.int64(2), np.float64(0.3)), (0, np.int32(1))],
    Release(TENTHS, [2, 0], [3, 10]),
    Release(TopK(k=2, epsilon=1, resolution="1/20"), [2, 0], [6, 20]),
    np.array([[2, 0.3], [0, 1]], dtype=object),
    [(2, np.float32(0.3)), (0, 1)],
], ids=range(7))  # fmt: skip
def test_all_forms_are_read_alike(returned: object) -> None:
    assert read(returned, TENTHS, gaps=True) == Outcome((2, 0), (3, 10))


@pytest.mark.parametrize("returned", [
    [2, 0], (2, 0), np.array([2, 0]), [np.int64(2), 0], Release(TENTHS, [2, 0])
], ids=range(5))  # fmt: skip
def test_indices_are_read_alike(returned: object) -> None:
    assert read(returned, TENTHS, gaps=False) == Outcome((2, 0), None)


@pytest.mark.parametrize(("gap", "parameters", "known"), [
    (0.1 + 0.2, TENTHS, OffGrid(3, -52)),  # which is not the float nearest to 3/10
    (0.25, TENTHS, OffGrid(2, -2)),
    (-0.25, TENTHS, OffGrid(-3, -2)),
    (Fraction(1, 7), TENTHS, OffGrid(1, None)),
    (Fraction(-1, 10), TENTHS, -1),
    (1 / 3, THIRDS, 1),
    (0.5, THIRDS, OffGrid(1, -1)),
    (2.0**60 + 2.0**20, TENTHS, 10 * (2**60 + 2**20)),
    (10**30, TENTHS, 10**31),
    (Release, THIRDS, OffGrid(0, -2)),
], ids=str)  # fmt: skip
def test_gaps_are_read_exactly(gap: Any, parameters: TopK, known: object) -> None:
    returned: object = [(0, gap), (1, 0)]
    if gap is Release:
        returned = Release(TopK(k=2, epsilon=1, resolution="1/4"), [0, 1], [1, 0])
    assert read(returned, parameters, gaps=True).gaps == (known, 0)


@pytest.mark.parametrize("gaps", [True, False])
@pytest.mark.parametrize("returned", [
    None, 5, "ab", {0: 1, 1: 2}, {0, 1}, [], [(0, 1)], [(0, 1), (1, 2), (2, 3)], [(0,), (1,)],
    [("a", 1), ("b", 2)], [(0, "1"), (1, "2")], [(0, None), (1, 0)], [(True, 1), (False, 2)],
    [(0, float("nan")), (1, 0)], [(0, float("inf")), (1, 0)], [(0, True), (1, 0)],
    [(0.0, 1), (1.0, 2)], [(0, 1j), (1, 2)], np.array(3), [None, None], ["a", "b"],
], ids=repr)  # fmt: skip
def test_anything_else_is_refused(returned: object, gaps: bool) -> None:
    with pytest.raises(ReleaseError, match=r"\.$"):
        read(returned, TENTHS, gaps=gaps)


@pytest.mark.parametrize(("returned", "gaps"), [
    ([0, 1], True), (Release(TENTHS, [0, 1]), True), ([(0, 1), (1, 2)], False),
    (Release(TENTHS, [0, 1], [2, 3]), False), (Release(TopK(k=1, epsilon=1), [0], [1]), True),
    (Release(TENTHS, None, [1, 2], ["ash", "elm"]), True),
], ids=range(6))  # fmt: skip
def test_gaps_must_be_there_or_not_as_was_said(returned: object, gaps: bool) -> None:
    with pytest.raises(ReleaseError):
        read(returned, TENTHS, gaps=gaps)


@pytest.mark.parametrize(("outcome", "why"), [
    (Outcome((1, 0), (0, 5)), None),
    (Outcome((1, 0), None), None),
    (Outcome((1, 1), None), "an item named twice"),
    (Outcome((1, 3), (0, 0)), "an item that does not exist"),
    (Outcome((-1, 2), None), "an item that does not exist"),
    (Outcome((1, 0), (0, -1)), "a negative gap"),
    (Outcome((1, 0), (OffGrid(0, -3), 0)), "a gap that is no multiple of the resolution"),
], ids=str)  # fmt: skip
def test_what_cannot_be_is_known(outcome: Outcome, why: str | None) -> None:
    assert impossible(outcome, 3) == why


def test_sizes_lie_between_where_they_begin_and_end() -> None:
    sizes = [features._size(each) for each in range(100_000)]
    assert sizes == sorted(sizes)
    for steps, size in enumerate(sizes):
        assert size <= steps < features._size_end(size) <= size + max(1, size // 8)
    assert {features._size(-1), features._size(-(10**9))} == {-1}
    assert features._size(10**40 + 1) <= 10**40


def test_labels_are_counted_by_feature() -> None:
    outcomes = Counter({
        Outcome((1, 0), (12, 3)): 5,
        Outcome((1, 0), (40, 3)): 2,
        Outcome((0, 1), (0, OffGrid(7, -4))): 1,
    })  # fmt: skip
    one = features.tally(outcomes, 3, cap=10)
    names = features.names(2, gaps=True)
    counts = dict(zip(names, one.counts, strict=True))
    assert one.releases == 8
    assert counts["items"] == {(1, 0): 7, (0, 1): 1}
    assert counts["items and gaps"] == {((1, 0), (10, 3)): 7, ((0, 1), (0, 7)): 1}
    assert counts["items and size of gap 1"] == {((1, 0), 12): 5, ((1, 0), 40): 2, ((0, 1), 0): 1}
    assert counts["low bits of gap 1"] == {("on", 2): 5, ("on", 3): 2, ("zero",): 1}
    assert counts["low bits of gap 2"] == {("on", 0): 7, ("off", -4): 1}
    assert one.impossible == {"a gap that is no multiple of the resolution": 1}
    both = one + one
    assert (both.releases, both.counts[1][1, 0]) == (16, 14)


@pytest.mark.parametrize(("feature", "event", "said"), [
    ("items", [(2,)], "item 2"),
    ("items", [(0, i) for i in range(1, 6)], "items 0, 1 or items 0, 2 or items 0, 3 or 2 more"),
    ("items and gaps", [((0,), (9,)), ((0,), (1,))],
     "item 0 with gap of 1 step or item 0 with gap of 9 or more steps"),
    ("items and gaps", [((0, 1), (2, 0))], "items 0, 1 with gaps of 2, 0 steps"),
    ("items and size of gap 2", [((0,), 16), ((0,), 18), ((0,), 2)],
     "item 0 with gap 2 of 2, 16 to 19 steps"),
    ("items and size of gap 1", [((0,), i) for i in (1, 3, 5, 7, 9)],
     "item 0 with gap 1 of 1, 3, 5 and 2 ranges more steps"),
    ("low bits of gap 1", [("zero",), ("on", 3), ("off", -40)],
     "gap 1 being 0 or an odd multiple of 2^-40 or an odd multiple of 2^3 steps"),
    ("low bits of gap 3", [("off", None)], "gap 3 being no binary fraction"),
], ids=range(8))  # fmt: skip
def test_events_are_said_in_words(feature: str, event: list[Any], said: str) -> None:
    assert features.in_words(feature, event, 9) == said
