"""Noisy answers by a threshold, of domains, and from selectors: who is named, and by what lead."""

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import topgap
from tests.selection.sample_noisy_answers import FEW, NEAR, TREES, holds
from tests.selection.sample_selectors import FAR
from topgap import (
    AnswersError,
    Domain,
    DomainError,
    ParameterError,
    ReleaseError,
    Selector,
    SelectorError,
    TopK,
)

# --- Thresholds


def test_a_threshold_alone_says_how_many_are_named() -> None:
    for threshold, named in [(-2 * FAR, 4), (-FAR // 2, 3), (FAR, 2), (5 * FAR // 2, 1)]:
        release = topgap.top_k(TREES, None, 1, threshold=threshold, **FEW)
        holds(release, ["ash", "oak", "fir", "elm"][:named], [3 * FAR, 2 * FAR, 0, -FAR][:named])
        assert release.values is not None
        assert release.gaps is not None
        assert release.gaps[-1] == release.values[-1] - threshold


def test_k_is_the_most_that_are_named_and_the_next_one_counts() -> None:
    release = topgap.top_k(TREES, 2, 1, threshold=-2 * FAR, **FEW)
    holds(release, ["ash", "oak"], [3 * FAR, 2 * FAR])
    assert release.gaps is not None
    assert abs(release.gaps[-1] - 2 * FAR) < NEAR  # to the fir, and not to the threshold


@pytest.mark.parametrize("named", [True, False])
def test_no_item_reaches_a_threshold(named: bool) -> None:
    answers: Any = TREES if named else [*TREES.values()]
    for more in ({}, {"k": None}, {"threads": 2}, {"threshold": 10**40}):
        given: dict[str, Any] = {"k": 2, "epsilon": 1, "threshold": 9 * FAR, **FEW, **more}
        release = topgap.top_k(answers, **given)
        assert len(release) == 0
        assert release.items == release.values == release.gaps == ()
        assert release.indices.tolist() == []
        assert [*release] == []
    array = np.array([*TREES.values()])
    release = topgap.top_k(array, 2, 1, threshold=9 * FAR, constant_work=True, **FEW)
    assert release.items == release.values == ()
    without = topgap.top_k(answers, 2, 1, threshold=9 * FAR, gaps=False, **FEW)
    assert len(without) == 0
    assert without.values is None


def test_with_a_threshold_there_may_be_fewer_answers_than_k() -> None:
    for more in FEW, {**FEW, "constant_work": True}:
        made = topgap.top_k(np.array([5 * FAR]), 9, 1, threshold=FAR, **more)
        holds(made, [0], [5 * FAR])
    with pytest.raises(AnswersError, match="empty"):
        topgap.top_k([], 9, 1, threshold=FAR, **FEW)
    with pytest.raises(AnswersError, match="needs at least 10 answers"):
        topgap.top_k([FAR], 9, 1, **FEW)


def test_without_gaps_there_are_no_values() -> None:
    release = topgap.top_k(TREES, 2, 1, gaps=False, **FEW)
    assert release.items == ("ash", "oak")
    assert release.gaps is release.values is release.value_units is None
    for ask in (lambda: release.standard_error, release.intervals):
        with pytest.raises(ReleaseError, match="no noisy answers"):
            ask()


# --- Domains


def test_members_without_an_answer_have_0() -> None:
    words = Domain.range(0, 10**12)
    answers = {7: FAR, 10**11: -FAR, 10**13: 9 * FAR}  # of which the last is no member
    release = topgap.top_k(answers, 3, 1, domain=words, **FEW)
    assert release.items[0] == 7
    assert len({*release.items}) == 3
    assert 10**11 not in release.items
    assert release.values is not None
    assert abs(release.values[0] - FAR) < NEAR
    # Of 10^12 items the largest noise is about ln 10^12 − ln 2, which is 27, give or take a few:
    # below 10 with probability e^−10^7, and above 90 with e^−62.
    assert all(10 < value < 90 for value in release.values[1:])
    with pytest.raises(ReleaseError, match="no positions"):
        _ = release.indices


@pytest.mark.parametrize("listed", [False, True])
def test_of_a_domain_those_are_named_that_reach_the_threshold(listed: bool) -> None:
    domain: Any = [*range(1000)] if listed else Domain.range(0, 1000)
    release = topgap.top_k({7: FAR, 8: 2 * FAR}, None, 1, threshold=NEAR, domain=domain, **FEW)
    holds(release, [8, 7], [2 * FAR, FAR])
    nobody: dict[int, int] = {}
    assert len(topgap.top_k(nobody, 5, 1, threshold=NEAR, domain=domain, **FEW)) == 0
    low = topgap.top_k({7: -FAR}, None, 1, threshold=-NEAR, domain=domain, **FEW)
    assert sorted(low.items) == [*range(7), *range(8, 1000)]
    # There are fewer members than k, and none is below the threshold.
    every = topgap.top_k({7: FAR}, 5, 1, threshold=-NEAR, domain=[7, 9], **FEW)
    assert every.items == (7, 9)


def test_a_threshold_that_noise_alone_reaches_too_often_is_refused() -> None:
    everybody: dict[int, int] = {}
    with pytest.raises(ParameterError, match="more than a million items"):
        topgap.top_k(everybody, None, 1, threshold=2, domain=Domain.range(0, 10**12), **FEW)
    with pytest.raises(DomainError, match="at least 6 items"):
        topgap.top_k(everybody, 5, 1, domain=Domain.range(0, 5), **FEW)


# --- Selectors


def parts(parameters: TopK) -> tuple[Selector, Selector]:
    east, west = Selector(parameters), Selector(parameters)
    east.add({"ash": 3 * FAR, "elm": -FAR})
    west.add({"fir": 0})
    west.add({"oak": 2 * FAR})
    return east, west


@pytest.mark.parametrize("threshold", [None, FAR])
def test_a_selector_releases_noisy_answers(threshold: int | None) -> None:
    parameters = TopK(2 if threshold is None else 4, 1, threshold=threshold, **FEW)
    east, west = parts(parameters)
    east.merge(pickle.loads(pickle.dumps(west)))  # noqa: S301
    release = east.release()
    holds(release, ["ash", "oak"], [3 * FAR, 2 * FAR])
    assert east.release() is release
    assert east.release(gaps=False).values is None
    both = [part.to_arrow() for part in parts(parameters)]
    whole = Selector.from_arrow(parameters, pa.concat_tables(both))
    holds(whole.release(), ["ash", "oak"], [3 * FAR, 2 * FAR])


def test_the_noise_of_a_selector_goes_with_it() -> None:
    """Pickled and sent as Arrow, it is the same noise: their releases are one release."""
    parameters = TopK(3, "1/10", threshold=0, **FEW)
    selector = Selector(parameters)
    selector.add({"ash": 50, "elm": 49, "fir": 48, "oak": 47})
    copies = [pickle.loads(pickle.dumps(selector)),  # noqa: S301
              Selector.from_arrow(parameters, selector.to_arrow())]  # fmt: skip
    values = selector.release().values
    assert [copy.release().values for copy in copies] == [values, values]


def test_selectors_of_other_noise_do_not_meet() -> None:
    for other in (TopK(2, 1, monotonic=True), TopK(2, 1, threshold=1, **FEW)):
        mine, theirs = Selector(TopK(2, 1, **FEW)), Selector(other)
        with pytest.raises(SelectorError, match="parameters are equal"):
            mine.merge(theirs)
        theirs.add(TREES)
        with pytest.raises(SelectorError, match="other parameters"):
            Selector.from_arrow(mine.parameters, theirs.to_arrow())


def test_a_selector_of_which_nothing_reaches_the_threshold_is_empty() -> None:
    parameters = TopK(2, 1, threshold=9 * FAR, **FEW)
    east, west = parts(parameters)
    east.merge(Selector.from_arrow(parameters, west.to_arrow()))
    assert len(east.release()) == len(Selector(parameters).release()) == 0
    domain = Selector(parameters, domain=Domain.range(0, 10**12))
    domain.add({7: FAR})
    assert len(domain.release()) == 0


def test_a_selector_with_a_domain_draws_the_others_once() -> None:
    selector = Selector(TopK(3, 1, **FEW), domain=Domain.range(0, 10**12))
    selector.add({7: FAR, 8: -FAR})
    copy = Selector.from_arrow(selector.parameters, selector.to_arrow(), domain=selector.domain)
    for each in (selector, copy):
        release = each.release()
        assert release.items[0] == 7
        assert release.values is not None
        assert all(10 < value < 90 for value in release.values[1:])  # as above
