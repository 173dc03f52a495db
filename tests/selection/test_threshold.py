"""A threshold with exponential noise: who is named, what it cost, and what may be put together."""

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import topgap
from tests.checking.mutants import Mutant, mutated
from tests.selection.sample_noisy_answers import NEAR, TREES
from tests.selection.sample_selectors import FAR
from topgap import (
    AnswersError,
    Domain,
    ParameterError,
    Release,
    Selector,
    SelectorError,
    TopK,
    streams,
)
from topgap.selection import candidate_pool

# Noise of mean 8 or less exceeds NEAR with a probability below e^−125, so all of these are certain.
THREE = TopK(3, 1, monotonic=True, threshold=FAR)


def holds(release: Release, items: list[Any], gaps: list[int], spent: Any) -> None:
    """See whether these are the winners, these but for noise the gaps, and this what it cost."""
    assert [*release.items] == items
    assert release.gaps is not None
    assert all(abs(a - b) < NEAR for a, b in zip(release.gaps, gaps, strict=True))
    assert release.spent == Fraction(spent)
    assert release.epsilon == release.parameters.epsilon
    assert Release.from_json(release.to_json()) == release
    assert pickle.loads(pickle.dumps(release)) == release  # noqa: S301


CUT: list[tuple[int, int, list[str], list[int], str]] = [
    (3, FAR, ["ash", "oak"], [FAR, FAR], "1"),
    (4, FAR, ["ash", "oak"], [FAR, FAR], "3/4"),
    (4, -FAR // 2, ["ash", "oak", "fir"], [FAR, 2 * FAR, FAR // 2], "1"),
    (9, -2 * FAR, ["ash", "oak", "fir", "elm"], [FAR, 2 * FAR, FAR, FAR], "5/9"),
    (2, -2 * FAR, ["ash", "oak"], [FAR, 2 * FAR], "1"),  # the last gap is to the fir
    (4, 9 * FAR, [], [], "1/4"),
    (4, 10**40, [], [], "1/4"),
    (1, -(10**40), ["ash"], [FAR], "1"),
]


@pytest.mark.parametrize(("k", "threshold", "items", "gaps", "spent"), CUT)
@pytest.mark.parametrize("way", ["dict", "list", "array", "fractions", "selector", "constant_work"])
def test_those_above_it_are_named(
    k: int, threshold: int, items: list[str], gaps: list[int], spent: str, way: str
) -> None:
    if way == "constant_work" and abs(threshold) > 2**68:
        pytest.skip("the kernel refuses it, for no answer in 64 bits is near")
    parameters = TopK(k, 1, monotonic=True, threshold=threshold)
    names, answers = [*TREES], [*TREES.values()]
    array = np.array(answers)
    if way == "selector":
        selector = Selector(parameters)
        for name, answer in TREES.items():
            selector.add({name: answer})
        release = selector.release()
    else:
        given: Any = {"dict": TREES, "list": answers, "fractions": [*map(Fraction, answers)]}
        release = topgap.select(
            parameters, given.get(way, array), None if way == "dict" else names,
            constant_work=way == "constant_work",
        )  # fmt: skip
    holds(release, items, gaps, spent)


def test_a_threshold_between_two_steps_is_rounded_down() -> None:
    release = topgap.top_k(TREES, 4, 1, threshold=Fraction(10 * FAR + 7, 10) + Fraction(1, 30))
    assert release.threshold == Fraction(10 * FAR + 7, 10)
    holds(release, ["ash", "oak"], [FAR, FAR], "5/8")


def test_any_answers_cost_two_for_each_name_and_one_for_the_sentinel() -> None:
    holds(topgap.top_k(TREES, 4, 1, threshold=9 * FAR), [], [], "1/8")
    holds(topgap.top_k(TREES, 2, 1, threshold=0), ["ash", "oak"], [FAR, 2 * FAR], "1")


def test_names_alone_cost_as_much() -> None:
    release = topgap.top_k(TREES, 4, 1, threshold=FAR, monotonic=True, gaps=False)
    assert (release.items, release.gaps, release.spent) == (("ash", "oak"), None, Fraction(3, 4))


def test_fewer_answers_than_k_are_enough_and_none_are_not() -> None:
    assert topgap.noisy_max([3 * FAR], 1, threshold=FAR).items == (0,)
    with pytest.raises(AnswersError, match="empty"):
        topgap.top_k([], 3, 1, threshold=FAR)
    assert Selector(THREE).release().items == ()


# --- Domains


@pytest.mark.parametrize("size", [3, 4, 5, 1000, 10**12])
@pytest.mark.parametrize("listed", [True, False])
def test_a_domain_may_be_smaller_than_k(size: int, listed: bool) -> None:
    if listed and size > 1000:
        return
    domain: Any = [*range(size)] if listed else Domain.range(0, size)
    counts = {1: 3 * FAR, 2: 2 * FAR, -1: 9 * FAR}  # of which the last is no member
    for answers, threshold, items in (
        (counts, FAR, [1, 2]), (counts, 9 * FAR, []), ({}, NEAR, []), ({0: 7}, NEAR, []),
    ):  # fmt: skip
        release = topgap.top_k(answers, 4, 1, threshold=threshold, monotonic=True, domain=domain)
        gaps = [FAR, 2 * FAR - threshold][: len(items)]
        holds(release, items, gaps, Fraction(len(items) + 1, 4))
        assert release.domain is not None
        assert release.domain.size == size
        selector = Selector(release.parameters, domain=domain)
        selector.add({name: count for name, count in answers.items() if name >= 0})
        assert [*selector.release().items] == items


def test_members_without_an_answer_are_named_above_a_low_threshold() -> None:
    for domain in ([*range(4)], Domain.range(0, 4)):
        release = topgap.top_k({3: 5 * FAR}, 9, 1, threshold=-FAR, monotonic=True, domain=domain)
        assert release.items[0] == 3
        assert {*release.items} == {0, 1, 2, 3}
        assert release.spent == Fraction(5, 9)
    release = topgap.top_k({}, 3, 1, threshold=-FAR, domain=Domain.range(0, 10**30))
    assert len({*release.items}) == 3
    assert release.spent == 1


def test_a_domain_that_noise_alone_lifts_over_it_is_refused() -> None:
    domain = Domain.range(0, 10**12)
    with pytest.raises(ParameterError, match="use a higher threshold, or a smaller k"):
        topgap.top_k({}, 2_000_000, 1, threshold=-1, domain=domain)
    with pytest.raises(ParameterError, match="too many items of the domain would be equal"):
        topgap.top_k({}, 2, 10**40, threshold=-1, domain=domain)
    # Where hardly any noise reaches it, nothing has to be drawn.
    assert topgap.top_k({}, 2_000_000, 10**7, threshold=5 * FAR, domain=domain).items == ()


# --- Selectors


def parts(parameters: TopK) -> tuple[Selector, Selector]:
    east, west = Selector(parameters), Selector(parameters)
    east.add({"ash": 3 * FAR, "elm": -FAR})
    west.add({"fir": 0})
    west.add({"oak": 2 * FAR})
    return east, west


def test_selectors_are_merged_pickled_and_sent_as_arrow() -> None:
    east, west = parts(THREE)
    east.merge(pickle.loads(pickle.dumps(west)))  # noqa: S301
    release = east.release()
    holds(release, ["ash", "oak"], [FAR, FAR], 1)
    assert east.release() is release
    assert east.release(gaps=False).spent == 1
    both = [part.to_arrow() for part in parts(THREE)]
    assert sum(table.num_rows for table in both) == 2  # nothing below the threshold goes
    whole = Selector.from_arrow(THREE, pa.concat_tables(both))
    holds(whole.release(), ["ash", "oak"], [FAR, FAR], 1)
    empty = TopK(3, 1, threshold=9 * FAR)
    east, west = parts(empty)
    east.merge(Selector.from_arrow(empty, west.to_arrow()))
    holds(east.release(), [], [], "1/6")


OTHERS = [
    TopK(3, 1, monotonic=True),
    TopK(3, 1, monotonic=True, threshold=FAR + 1),
    TopK(3, 1, monotonic=True, threshold=Fraction(10 * FAR - 1, 10)),
    TopK(3, 1, monotonic=True, threshold=FAR, items_per_person=1),
]


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_what_was_drawn_for_other_thresholds_is_not_put_together(other: TopK) -> None:
    for mine, theirs in ((THREE, other), (other, THREE)):
        with pytest.raises(SelectorError, match="parameters are equal"):
            Selector(mine).merge(Selector(theirs))
        table = parts(theirs)[0].to_arrow()
        with pytest.raises(SelectorError, match="other parameters"):
            Selector.from_arrow(mine, table)


def test_thresholds_that_are_rounded_to_the_same_step_are_one() -> None:
    east, west = parts(THREE)[0], parts(TopK(3, 1, monotonic=True, threshold=FAR + 0.0625))[1]
    east.merge(west)
    holds(east.release(), ["ash", "oak"], [FAR, FAR], 1)


def test_a_tag_without_the_threshold_is_found() -> None:
    """The tag is what keeps tables of other thresholds away."""
    defect = Mutant("a tag without the threshold", 'f"{self.parameters}, refinement',
                    'f"{self.parameters.k}, refinement')  # fmt: skip
    broken = mutated(candidate_pool, defect)
    assert len({broken.CandidatePool(each).tag for each in (THREE, *OTHERS[:3])}) == 1
    assert len({candidate_pool.CandidatePool(each).tag for each in (THREE, *OTHERS)}) == 5


def test_a_selector_is_ranked_once_with_its_sentinel() -> None:
    """Near the threshold noise decides; asked again it is the same release."""
    for _ in range(20):
        selector = Selector(TopK(2, "1/10", threshold=5))
        selector.add({"ash": 5, "elm": 5, "fir": 5})
        assert selector.release() is selector.release()


# --- Rows


def test_rows_of_a_stream_are_cut() -> None:
    table = pa.table({"what": [*TREES], "people": [*TREES.values()]})
    given: dict[str, Any] = {"item": "what", "count": "people", "monotonic": True}
    for source in (table, pa.RecordBatchReader.from_batches(table.schema, table.to_batches(1))):
        release = streams.top_k(source, 4, 1, threshold=FAR, **given)
        holds(release, ["ash", "oak"], [FAR, FAR], "3/4")
    domain = Domain(["ash", "fir", "sloe"])
    for threshold, named in ((FAR, ["ash"]), (9 * FAR, [])):
        release = streams.top_k(table, 4, 1, threshold=threshold, domain=domain, **given)
        holds(release, named, [2 * FAR][: len(named)], Fraction(len(named) + 1, 4))


def test_estimates_take_no_threshold() -> None:
    """Gaps down to the sentinel are counts already; both would measure twice."""
    calls: list[Any] = [topgap.top_k_with_estimates, streams.top_k_with_estimates]
    for call in calls:
        with pytest.raises(TypeError, match="unexpected keyword argument 'threshold'"):
            call(TREES, 2, 1, threshold=5)
