"""Domains that are not written out have the law of the list written out, however they are used."""

import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import topgap
from tests.checking.frequencies import misfits_of
from tests.checking.mutants import Mutant, mutated
from topgap import (
    Domain,
    DomainError,
    ItemsError,
    KernelError,
    ParameterError,
    Release,
    Selector,
    SelectorError,
    TopK,
    law,
    streams,
)
from topgap.domains import Counts
from topgap.selection import candidate_pool, unlisted

FAR = 10**9
Outcome = tuple[tuple[Any, Fraction], ...]
Way = Callable[[dict[int, Any], TopK, Domain], Release]

# --- The law, of domains so small that it can be written out


def at_once(answers: dict[int, Any], parameters: TopK, domain: Domain) -> Release:
    return topgap.select(parameters, answers, domain=domain)


def by_a_pool(answers: dict[int, Any], parameters: TopK, domain: Domain) -> Release:
    """As answers go that are too large for the kernel."""
    members = {name: answer for name, answer in answers.items() if name in domain}
    pool = candidate_pool.CandidatePool(parameters, domain=domain)
    pool.add([*members.values()], [*members])
    return pool.rank().release()


def in_parts(answers: dict[int, Any], parameters: TopK, domain: Domain) -> Release:
    selector = Selector(parameters, domain=domain)
    for name, answer in answers.items():
        selector.add({name: answer})
    return selector.release()


def merged(answers: dict[int, Any], parameters: TopK, domain: Domain) -> Release:
    whole = Selector(parameters, domain=domain)
    for name, answer in answers.items():
        other = Selector(parameters, domain=domain)
        other.add({name: answer})
        whole.merge(pickle.loads(pickle.dumps(other)))  # noqa: S301 - of our own
    return whole.release()


def through_arrow(answers: dict[int, Any], parameters: TopK, domain: Domain) -> Release:
    tables = []
    for name, answer in answers.items():
        selector = Selector(parameters, domain=domain)
        selector.add({name: answer})
        tables.append(selector.to_arrow())
    table = pa.concat_tables(tables, promote_options="default")
    return Selector.from_arrow(parameters, table, domain=domain).release()


def streamed(answers: dict[int, Any], parameters: TopK, domain: Domain) -> Release:
    table = pa.table({"what": [*answers], "people": [*answers.values()]})
    return streams.top_k(
        table, parameters.k, parameters.epsilon, item="what", count="people", domain=domain,
        resolution=parameters.resolution, monotonic=parameters.monotonic,
    )  # fmt: skip


WAYS: list[Way] = [at_once, by_a_pool, in_parts, merged, through_arrow, streamed]
DOMAINS = [Domain.range(0, 4), Domain([0, 1, 2, 3])]
CASES: list[tuple[dict[int, Any], TopK]] = [
    ({2: 1, 0: 0}, TopK(2, 4, resolution=1)),
    ({3: 2, 1: -1, 9: 50}, TopK(1, 2, resolution=1, monotonic=True)),
]


def outcome(release: Release) -> Outcome:
    assert release.gaps is not None
    return tuple(zip(release.items, release.gaps, strict=True))


def written_out(answers: dict[int, Any]) -> list[Any]:
    return [answers.get(name, 0) for name in range(4)]


@pytest.mark.parametrize("way", WAYS)
def test_few_members_may_all_be_equal(way: Way) -> None:
    for domain in DOMAINS:
        winners = way({2: 1}, TopK(2, 10**40, items_per_person=1), domain).items
        assert winners[0] == 2
        assert winners[1] in (0, 1, 3)
    with pytest.raises(ParameterError, match="would be equal; use a smaller epsilon"):
        way({2: 1}, TopK(2, 10**40), Domain.range(0, 10**6 + 1))


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-10)
@pytest.mark.parametrize(("answers", "parameters"), CASES)
@pytest.mark.parametrize("way", WAYS)
def test_a_run_has_the_law_of_the_list_written_out(
    way: Way, answers: dict[int, Any], parameters: TopK, false_alarm: float
) -> None:
    # `misfits_of` finds runs of the law unfit at most as often as it is told.
    probability = partial(law.gap_top_k, written_out(answers), parameters)
    runs = 10_000 if way is at_once else 4_000 if way is by_a_pool else 1_500
    run = partial(way, answers, parameters, DOMAINS[0])
    assert misfits_of(lambda: outcome(run()), runs, probability, false_alarm) == []


MUTANTS = [
    (unlisted, Mutant("a head on a listed item counts", "return [place for place, name in",
                      "return [] and [place for place, name in")),
    (unlisted, Mutant("one name for two ranks", "map(int.from_bytes, ranks)",
                      "(int.from_bytes(rank) & ~1 for rank in ranks)")),
    (unlisted, Mutant("another answer", "return answer, self.domain.size",
                      "return answer + 1, self.domain.size")),
    (unlisted, Mutant("one item too few", "self.domain.size, self.listed",
                      "self.domain.size - 1, min(self.listed, self.domain.size - 1)")),
    (candidate_pool, Mutant("the run drawn twice",
                            "[*candidates, *self._draw_unlisted(domain, candidates)]",
                            "[*candidates, *self._draw_unlisted(domain, candidates), "
                            "*self._draw_unlisted(domain, candidates)]")),
    (candidate_pool, Mutant("the names of a part forgotten", "self.seen.add(part.names)",
                            "self.seen.add([])")),
    (candidate_pool, Mutant("a floor above the last candidate",
                            "return min(each.ticks for each in candidates)",
                            "return max(each.ticks for each in candidates)")),
]  # fmt: skip


@pytest.mark.statistical(false_alarm=1e-10)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant[1].name)
def test_a_broken_run_is_found(mutant: tuple[Any, Mutant], false_alarm: float) -> None:
    # The masses that a defect moves are of several percent in one case or the other; a mutant that
    # moves one by 2% is missed by 4,000 runs less often than 1e-4.
    module, defect = mutant
    broken = mutated(module, defect)
    pool = broken if module is candidate_pool else mutated(
        candidate_pool, Mutant("none", "class CandidatePool:", "class CandidatePool:")
    )  # fmt: skip
    pool.Unlisted = broken.Unlisted

    def run(answers: dict[int, Any], parameters: TopK) -> Outcome:
        made = pool.CandidatePool(parameters, domain=DOMAINS[0])
        for name, answer in answers.items():
            if name in DOMAINS[0]:
                made.add([answer], [name])
        ranking = made.rank()
        return tuple(zip(ranking.items, map(Fraction, ranking.gap_units), strict=True))

    def violations(answers: dict[int, Any], parameters: TopK) -> list[str]:
        def probability(outcome: Outcome) -> law.Bounds:
            if len({name for name, _ in outcome}) < len(outcome):
                return law.Bounds(Fraction(0), Fraction(0))
            return law.gap_top_k(written_out(answers), parameters, outcome)

        try:
            return misfits_of(lambda: run(answers, parameters), 4_000, probability, false_alarm)
        except KernelError as stopped:  # by an assertion
            return [str(stopped)]

    assert any(violations(*case) for case in CASES)


# --- What is released


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("domain", DOMAINS, ids=["range", "list"])
def test_the_largest_are_named_as_the_domain_has_them(way: Way, domain: Domain) -> None:
    answers = {2: FAR, 7: 10 * FAR, 1: FAR // 2}
    release = way(answers, TopK(2, 1), domain)
    assert release.items == (2, 1)
    assert [type(item) for item in release.items] == [int, int]
    assert release.domain == domain.description


@pytest.mark.parametrize(
    "answers",
    [{}, {5: FAR}, {5: -FAR}, {5: 2**70}, {5: -(2**70)}, {5: FAR + 0.5}, {5: Fraction(FAR, 3)}],
    ids=str,
)
def test_answers_of_every_kind_beside_a_run(answers: dict[int, Any]) -> None:
    domain = Domain.range(0, 10**30)
    release = topgap.top_k(answers, k=3, epsilon=1, domain=domain)
    assert len({*release.items}) == 3
    assert all(item in domain for item in release.items)
    if answers and next(iter(answers.values())) > 0:
        assert release.items[0] == 5
    else:
        assert 5 not in release.items


@pytest.mark.parametrize("epsilon", ["1/1000", 1, 100, 10**6])
@pytest.mark.parametrize("size", [10, 10**6, 2**64, 2**4096], ids=["10", "10^6", "2^64", "2^4096"])
def test_a_run_is_drawn_at_once_however_little_noise_there_is(size: int, epsilon: Any) -> None:
    """Where hardly any noise reaches the next whole number, all of a run has this one."""
    domain = Domain.range(0, size)
    for answers in ({}, {5: 0}, {5: 1}, dict.fromkeys(range(10), 0), {i: i for i in range(10)}):
        release = topgap.top_k(answers, 3, epsilon, domain=domain)
        assert len({*release.items}) == 3


def test_arrays_of_every_type_beside_a_run() -> None:
    for kind in (np.uint8, np.int32, np.uint64, np.float32, np.float64, object):
        answers = np.array([200, 0], dtype=kind)
        release = topgap.top_k(
            answers, 1, 100, items=np.array([3, 4]), domain=Domain.range(0, 2**64)
        )
        assert release.items == (3,)
        assert type(release.items[0]) is int
    large = np.array([2**64 - 1, 0], dtype=np.uint64)
    release = topgap.top_k(large, 1, 1, items=[3, 4], domain=Domain.range(0, 2**64))
    assert release.items == (3,)


def test_the_counts_tell_their_domain() -> None:
    domain = Domain.pattern("[A-Z][0-9]")
    counts = Counts({"A1": FAR, "B2": FAR // 2}, domain=domain)
    assert topgap.top_k(counts, 2, 1).items == ("A1", "B2")
    assert topgap.top_k(counts, 2, 1).domain == domain.description
    assert len(topgap.top_k(counts, 9, 1)) == 9
    assert topgap.top_k(counts, 1, 1, domain=["B2", "C3"]).items == ("B2",)


def test_who_has_no_answer_is_measured_as_nothing() -> None:
    domain = Domain.range(0, 10**6)
    made = topgap.top_k_with_estimates({7: FAR}, 3, 100, domain=domain, monotonic=True)
    by_item = dict(zip(made.release.items, made.measurements, strict=True))
    assert abs(by_item.pop(7) - FAR) < 100  # its noise exceeds 100 with probability e^-1600
    assert all(abs(measured) < 100 for measured in by_item.values())
    table = pa.table({"what": [7], "people": [FAR]})
    made = streams.top_k_with_estimates(
        table, 3, 100, item="what", count="people", domain=domain, monotonic=True
    )
    by_item = dict(zip(made.release.items, made.measurements, strict=True))
    assert abs(by_item.pop(7) - FAR) < 100
    assert all(abs(measured) < 100 for measured in by_item.values())


def test_a_check_tells_the_size_of_the_domain() -> None:
    check = topgap.top_k({7: 3, -1: 5}, 2, 1, domain=Domain.range(0, 10**6), check=True)
    assert (check.items, check.occurring) == (10**6, 1)


# --- Refusals


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"k": 4, "epsilon": 1}, DomainError, "at least 5 items; it has 4"),
        ({"k": 1, "epsilon": "1e-40"}, ParameterError, "use a larger epsilon"),
        ({"k": 1, "epsilon": 1, "constant_work": True}, ParameterError, "leave one of the two"),
        ({"k": 1, "epsilon": 1, "answers": [3, 4]}, ItemsError, "name their items"),
        (
            {"k": 1, "epsilon": 1, "answers": [3, 4], "items": [1, 1.0]},
            ItemsError,
            "two answers; give one for each item",
        ),
        (
            {"k": 1, "epsilon": 1, "answers": [3, 4], "items": [1]},
            ItemsError,
            "numbers of items and answers",
        ),
    ],
)
def test_what_is_refused(options: dict[str, Any], error: type[Exception], sentence: str) -> None:
    answers = options.pop("answers", {1: FAR})
    with pytest.raises(error, match=sentence):
        topgap.top_k(answers, domain=Domain.range(0, 4), **options)


def test_more_winners_than_can_be_listed_are_refused() -> None:
    with pytest.raises(ParameterError, match="k must be at most 10,000,000"):
        topgap.top_k({}, 10**7 + 1, 1, domain=Domain.range(0, 10**30))


def test_selectors_of_different_domains_are_not_merged() -> None:
    parameters = TopK(1, 1)
    one = Selector(parameters, domain=Domain.range(0, 9))
    for other in (Selector(parameters), Selector(parameters, domain=Domain.range(0, 8))):
        with pytest.raises(SelectorError, match="domains are equal"):
            one.merge(other)
    table = one.to_arrow()
    one.add({3: 5})
    table = one.to_arrow()
    with pytest.raises(SelectorError, match="other parameters"):
        Selector.from_arrow(parameters, table, domain=Domain.range(0, 8))


def test_a_selector_remembers_all_names_of_its_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topgap.selection.item_names.MOST_REMEMBERED", 2)
    selector = Selector(TopK(3, 1), domain=Domain.range(0, 5))
    selector.add({0: FAR, 1: FAR, 2: FAR})
    selector.add({3: FAR})
    with pytest.raises(ItemsError, match="given twice"):
        selector.add({1: 5})
    assert len({*selector.release().items}) == 3


def test_counts_of_what_occurs_go_into_a_selector_with_their_domain_alone() -> None:
    domain = Domain.pattern("[a-z]{8}")
    counts = Counts({"abcdefgh": 1}, domain=domain)
    assert Counts(counts).domain == domain
    for wrong in (None, Domain.pattern("[a-z]{7}")):
        with pytest.raises(DomainError, match=r"domain=counts\.domain"):
            Selector(TopK(1, 1), domain=wrong).add(counts)
    selector = Selector(TopK(1, 1), domain=counts.domain)
    selector.add(counts)
    assert selector.release().items != ("abcdefgh",)  # but for 1 time in 10^10


@pytest.mark.parametrize("also", [{}, {Decimal("2.25"): 5}], ids=["alone", "with another"])
def test_a_table_does_not_change_the_spelling_of_the_domain(also: dict[Any, int]) -> None:
    domain = Domain([Decimal("1.5"), Decimal("2.25"), Decimal("3")])
    selector = Selector(TopK(1, 1), domain=domain)
    selector.add({Decimal("1.5"): FAR, **also})
    back = Selector.from_arrow(TopK(1, 1), selector.to_arrow(), domain=domain)
    assert [*map(repr, back.release().items)] == ["Decimal('1.5')"]


def test_a_table_of_another_list_of_the_same_size_is_refused() -> None:
    selector = Selector(TopK(1, 1), domain=["a", "b", "c"])
    selector.add({"a": FAR})
    with pytest.raises(SelectorError, match="other parameters"):
        Selector.from_arrow(TopK(1, 1), selector.to_arrow(), domain=["x", "y", "z"])


def test_lists_that_are_printed_in_another_way_are_not_equal() -> None:
    assert Domain([Decimal("1.50"), 2]) != Domain([Decimal("1.5"), 2])
    assert Domain([0.0, 1.5]) != Domain([-0.0, 1.5])
    assert Domain(["a", 2]) == Domain(["a", 2])
