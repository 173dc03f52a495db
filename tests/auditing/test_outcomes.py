"""What an audited function may return, what is impossible, and what an observer looks at."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from topgap import Release, ReleaseError, TopK
from topgap.auditing.cases.default_cases import FULL_CASES
from topgap.auditing.observing import event_text, observables
from topgap.auditing.observing.gap_bins import GapBins, bin_end, bin_start, make_gap_bins
from topgap.auditing.observing.observables import Observable
from topgap.auditing.observing.outcomes import (
    MinusZero,
    OffGrid,
    Outcome,
    explain_impossible,
    read_outcome,
)

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
    [(2, Decimal("0.30")), (0, Decimal(1))],
], ids=range(8))  # fmt: skip
def test_all_forms_are_read_alike(returned: object) -> None:
    assert read_outcome(returned, TENTHS, gaps=True) == Outcome((2, 0), (3, 10))


@pytest.mark.parametrize("returned", [
    [2, 0], (2, 0), np.array([2, 0]), [np.int64(2), 0], Release(TENTHS, [2, 0])
], ids=range(5))  # fmt: skip
def test_indices_are_read_alike(returned: object) -> None:
    assert read_outcome(returned, TENTHS, gaps=False) == Outcome((2, 0), None)


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
    (-0.0, TENTHS, MinusZero()),
    (np.float64(-0.0), TENTHS, MinusZero()),
    (Decimal("-0"), TENTHS, MinusZero()),
    (0.0, TENTHS, 0),
    (Decimal("0.25"), TENTHS, OffGrid(2, -2)),
    (Decimal("1e9999"), TENTHS, 10**10000),
    (Release, THIRDS, OffGrid(0, -2)),
], ids=range(16))  # fmt: skip
def test_gaps_are_read_exactly(gap: Any, parameters: TopK, known: object) -> None:
    returned: object = [(0, gap), (1, 0)]
    if gap is Release:
        returned = Release(TopK(k=2, epsilon=1, resolution="1/4"), [0, 1], [1, 0])
    assert read_outcome(returned, parameters, gaps=True).gaps == (known, 0)


@pytest.mark.parametrize("gaps", [True, False])
@pytest.mark.parametrize("returned", [
    None, 5, "ab", {0: 1, 1: 2}, {0, 1}, [], [(0, 1)], [(0, 1), (1, 2), (2, 3)], [(0,), (1,)],
    [("a", 1), ("b", 2)], [(0, "1"), (1, "2")], [(0, None), (1, 0)], [(True, 1), (False, 2)],
    [(0, float("nan")), (1, 0)], [(0, float("inf")), (1, 0)], [(0, True), (1, 0)],
    [(0.0, 1), (1.0, 2)], [(0, 1j), (1, 2)],
    [(0, Decimal("1e999999999")), (1, 2)], [(0, Decimal("1e-999999999")), (1, 2)],
    [(0, Decimal("nan")), (1, 2)], [(0, Decimal("snan")), (1, 2)], [(0, Decimal("inf")), (1, 2)],
    np.array(3), [None, None], ["a", "b"],
], ids=repr)  # fmt: skip
def test_anything_else_is_refused(returned: object, gaps: bool) -> None:
    with pytest.raises(ReleaseError, match=r"\.$"):
        read_outcome(returned, TENTHS, gaps=gaps)


@pytest.mark.parametrize(("returned", "gaps"), [
    ([0, 1], True), (Release(TENTHS, [0, 1]), True), ([(0, 1), (1, 2)], False),
    (Release(TENTHS, [0, 1], [2, 3]), False), (Release(TopK(k=1, epsilon=1), [0], [1]), True),
    (Release(TENTHS, None, [1, 2], ["ash", "elm"]), True),
], ids=range(6))  # fmt: skip
def test_gaps_must_be_there_or_not_as_was_said(returned: object, gaps: bool) -> None:
    with pytest.raises(ReleaseError):
        read_outcome(returned, TENTHS, gaps=gaps)


@pytest.mark.parametrize(("outcome", "why"), [
    (Outcome((1, 0), (0, 5)), None),
    (Outcome((1, 0), None), None),
    (Outcome((1, 0), (MinusZero(), 5)), None),
    (Outcome((1, 1), None), "an item named twice"),
    (Outcome((1, 3), (0, 0)), "an item that does not exist"),
    (Outcome((-1, 2), None), "an item that does not exist"),
    (Outcome((1, 0), (0, -1)), "a negative gap"),
    (Outcome((1, 0), (OffGrid(0, -3), 0)), "a gap that is not a multiple of the resolution"),
], ids=str)  # fmt: skip
def test_what_cannot_be_is_known(outcome: Outcome, why: str | None) -> None:
    assert explain_impossible(outcome, 3) == why


def test_sizes_lie_between_where_they_begin_and_end() -> None:
    edges = make_gap_bins(FULL_CASES[0]).fine[0]
    for steps in [*range(2_000), 10**6, 2**60, 10**18]:
        first = bin_start(steps, edges)
        end = bin_end(first, edges)
        assert end is not None
        assert first <= steps < end <= first + max(1, first // 8)
    assert bin_start(-(10**9), edges) == -1
    assert bin_end(bin_start(10**40, edges), edges) is None


def make_bins(*edges: int, k: int = 1) -> GapBins:
    all_of_them = (edges,) * k
    return GapBins(all_of_them, all_of_them, all_of_them, k, k)


def test_labels_are_counted_by_feature() -> None:
    outcomes = Counter({
        Outcome((1, 0), (12, 3)): 5,
        Outcome((1, 0), (40, 3)): 2,
        Outcome((0, 1), (0, OffGrid(7, -4))): 1,
    })  # fmt: skip
    one = observables.tally_outcomes(outcomes, 3, make_bins(*range(11), 12, 40, k=2))
    counts = {each.name: labels for each, labels in one.counts.items() if each.winners == 2}
    assert (*counts,) == observables.list_observables(2, gaps=True)
    assert one.releases == 8
    assert counts["items"] == {(1, 0): 7, (0, 1): 1}
    assert counts["items and gaps"] == {
        ((1, 0), (12, 3)): 5, ((1, 0), (40, 3)): 2, ((0, 1), (0, 7)): 1
    }  # fmt: skip
    assert counts["items and size of gap 1"] == {((1, 0), 12): 5, ((1, 0), 40): 2, ((0, 1), 0): 1}
    assert counts["low bits of gap 1"] == {("on", 2): 5, ("on", 3): 2, ("zero",): 1}
    assert counts["low bits of gap 2"] == {("on", 0): 7, ("off", -4): 1}
    assert counts["last bits of gap 1"] == {(4, 4): 5, (6, 0): 2, (0, 0): 1}
    assert counts["last bits of all gaps"] == {(0, 3): 8}
    assert one.impossible == {"a gap that is not a multiple of the resolution": 1}
    both = one + one
    assert (both.releases, both.counts[Observable(2, "items")][1, 0]) == (16, 14)


def test_minus_zero_is_told_from_zero_and_large_numbers_are_told() -> None:
    outcomes = {Outcome((0,), (0,)): 1, Outcome((0,), (MinusZero(),)): 2,
                Outcome((10**5000,), (10**5000,)): 4}  # fmt: skip
    one = observables.tally_outcomes(outcomes, 3, make_bins(0, 1, 5))
    counts = {name: labels for (_, name), labels in one.counts.items()}
    assert counts["low bits of gap 1"] == {("zero",): 1, ("minus zero",): 2, ("on", 128): 4}
    assert counts["items and size of gap 1"][(0,), 0] == 3
    assert one.impossible == {"an item that does not exist": 4}


@pytest.mark.parametrize(("feature", "event", "said"), [
    ("items", [(2,)], "item 2"),
    ("items", [(0, i) for i in range(1, 6)], "items 0, 1 or items 0, 2 or items 0, 3 or 2 more"),
    ("items", [(10**5000,), (-(10**5000),)], "item -2^16609 or more or item 2^16609 or more"),
    ("items and gaps", [((0, 1), (9, 3)), ((0, 1), (1, 1))],
     "items 0, 1 with gaps of 1, 1 steps or items 0, 1 with gaps of 9 or more, 3 to 4 steps"),
    ("items and gaps", [((0, 1), (2, 0))], "items 0, 1 with gaps of 2, 0 steps"),
    ("items and gaps", [((0, 1), (2, -1))], "items 0, 1 with gaps of 2, less than 0 steps"),
    ("items and size of gap 2", [((0,), 3), ((0,), 5), ((0,), 0)],
     "item 0 with gap 2 of 0, 3 to 8 steps"),
    ("items and size of gap 1", [((0,), 9)], "item 0 with gap 1 of 9 or more steps"),
    ("low bits of gap 1", [("zero",), ("on", 3), ("off", -40)],
     "gap 1 being 0 or an odd multiple of 2^-40 or an odd multiple of 2^3 steps"),
    ("low bits of gap 3", [("off", None)], "gap 3 being no binary fraction"),
    ("low bits of gap 3", [("minus zero",)], "gap 3 being -0.0"),
    ("last bits of gap 2", [(0, 0), (4, 3), (4, 1), (-1, 5)],
     "gap 2 of less than 0 steps that leave 5 when divided by 8 or gap 2 of 0 steps that leave 0 "
     "when divided by 8 or gap 2 of 8 to 15 steps that leave 1, 3 when divided by 8"),
    ("last bits of gap 1", [(128, 1)],
     f"gap 1 of {2**127} or more steps that leave 1 when divided by 8"),
    ("last bits of all gaps", [(0, 3)], "gaps that leave 0, 3 when divided by 4 steps"),
], ids=range(14))  # fmt: skip
def test_events_are_said_in_words(feature: str, event: list[Any], said: str) -> None:
    assert event_text.describe_event(feature, event, make_bins(0, 1, 2, 3, 5, 9, k=2)) == said


@pytest.mark.statistical(false_alarm=1e-15)  # it takes 5 of the labels below; all of 800 have one
def test_large_numbers_and_minus_zero_are_findings() -> None:
    from topgap import audit
    from topgap.auditing import Neighbours

    pair = Neighbours((0, 0), (1, 0), TopK(1, 1, resolution=1, monotonic=True))
    for large in ([(10**5000, 1)], [(0, 10**5000)], [(0, -(10**5000))], [(-(10**5000), 0)]):
        found = audit(lambda *_, large=large: large, cases=[pair], releases=1_000)
        assert found.mechanisms[0].law_violated
        assert str(found)
        assert found.to_json()
    leaking = audit(lambda a, _: [(0, -0.0 if a[0] else 0.0)], cases=[pair], releases=2_000)
    assert leaking.mechanisms[0].privacy_violated
