"""What holds of every kind of domain: order, ranks, finding, equality, pickling, words."""

import pickle
import time
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from tests.domains.sample_domains import SAMPLES, SMALL, to_texts
from topgap import Domain, DomainError, ParameterError, ParameterTypeError, TopgapError, counting
from topgap.domains import ABSENT, FROM_DATA, LARGEST_SIZE, Counts, DomainDescription


@settings(max_examples=80)
@given(SMALL)
def test_ranks_are_the_places_of_the_items_and_unrank_goes_back(domain: Domain) -> None:
    items = [*domain]
    assert len({*items}) == len(items) == len(domain) == domain.size
    assert [domain.unrank(place) for place in range(domain.size)] == items
    assert [domain.rank(item) for item in items] == [*range(domain.size)]
    assert [*map(type, items)] == [type(domain.unrank(place)) for place in range(domain.size)]


@settings(max_examples=60)
@given(SMALL, SMALL)
def test_names_are_found_as_in_a_dict_of_the_items(domain: Domain, other: Domain) -> None:
    known = {item: item for item in domain}
    names = [*known, *other]
    found = domain.find(names)
    # Sets are found in any order too, and then in the order of the domain.
    assert all(item is ABSENT or item in known for item in found)
    wanted = [known.get(name, ABSENT) for name in names]
    assert all(want in (ABSENT, item) for want, item in zip(wanted, found, strict=True))
    assert [name in domain for name in names] == [item is not ABSENT for item in found]
    assert domain.find_texts(map(to_texts, known)) == [*known]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_copy_is_equal_and_works(name: str) -> None:
    domain, again = SAMPLES[name](), SAMPLES[name]()
    copy: Domain = pickle.loads(pickle.dumps(domain))  # noqa: S301 - it is ours
    for other in (again, copy, Domain(domain)):
        assert other == domain
        assert hash(other) == hash(domain)
        assert [*other] == [*domain]
        assert other.description == domain.description
        assert repr(other) == repr(domain)
    items = [*domain]
    assert copy.find([*items, object()]) == [*items, ABSENT]
    assert all(SAMPLES[each]() != domain for each in SAMPLES if each != name)
    assert domain != [*domain]
    assert domain.is_listed == name.startswith(("list", "range of"))
    assert bool(domain)


def test_equal_domains_print_their_items_alike() -> None:
    assert Domain([1, 2]) != Domain([1.0, 2.0])
    assert Domain([1, 2]) != Domain([2, 1])
    assert Domain.range(1, 3) != Domain([1, 2])
    assert Domain.pattern("a|b") != Domain.pattern("b|a")


class _Lying(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError


class _Raising:
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        return hash(1)

    def __int__(self) -> int:
        return 1


class _Tuple(tuple[Any, ...]):
    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError

    def __len__(self) -> int:
        raise RuntimeError


HOSTILE: list[Any] = [
    [], {}, {1}, _Raising(), float("nan"), float("inf"), Decimal("sNaN"), Decimal("1e999999999"),
    np.array([1, 2]), np.datetime64("NaT"), b"a", bytearray(b"a"), None, object(), 1e308, 1 + 1j,
    _Tuple((7, 8)), (), ("x",), ("x", [], _Raising()), ([], []), (_Raising(), float("nan")),
    "\ud800", "a\x00", "", "9" * 10_000, 10**5000, ("x", 1, "\ud800"), frozenset({"a", "z"}),
    memoryview(b"a"),
]  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_odd_names_are_no_items_and_no_errors(name: str) -> None:
    domain = SAMPLES[name]()
    first = domain.unrank(0)
    for find in (domain.find, domain.find_texts):
        assert find([*HOSTILE, *HOSTILE]) == [ABSENT] * (2 * len(HOSTILE))
    assert domain.find([*HOSTILE, first])[-1] == first
    assert not any(each in domain for each in HOSTILE)
    for each in HOSTILE:
        with pytest.raises(DomainError, match="no such item"):
            domain.rank(each)
    domain.find([_Lying("a"), (_Lying("x"), 0, _Lying("a"))])


def test_numbers_are_found_by_value_and_cells_by_how_they_are_written() -> None:
    domain = Domain.range(-8, 8)
    same = [7, 7.0, np.int8(7), np.float32(7), Decimal("7.00"), Fraction(7), 7 + 0j, np.uint64(7)]
    assert domain.find(same) == [7] * len(same)
    assert all(type(found) is int for found in domain.find([*same, True]))
    assert domain.find([True, False, np.True_]) == [1, 0, 1]
    assert domain.find([7.5, "7", 8, -9, Decimal("7.01")]) == [ABSENT] * 5
    assert domain.find_texts(["7", "-7", "0", "-8"]) == [7, -7, 0, -8]
    wrong = ["007", "+7", "-0", "7.0", " 7", "", "-", "٧", "8", "-9", "--7", "1_0", 7, None]
    assert domain.find_texts(wrong) == [ABSENT] * len(wrong)


def test_items_have_the_spelling_of_the_domain() -> None:
    assert repr(Domain([7, "x"]).find([7.0, np.str_("x")])) == "[7, 'x']"
    found = Domain.pattern("[a-z]").find([np.str_("x")])
    assert [*map(type, found)] == [str]
    assert repr(Domain.product([7, 8], ["x"]).find([(7.0, "x")])) == "[(7, 'x')]"


def test_sets_are_found_in_any_order_and_without_doubles() -> None:
    domain = Domain.subsets(["c", "a", "b"], size=2)
    names = [("c", "a"), ("a", "c"), frozenset("bc"), ("a", "a"), ("a", "z"), ("a", "b", "c"), "ab"]
    assert domain.find(names) == [("c", "a"), ("c", "a"), ("c", "b"), *[ABSENT] * 4]
    assert domain.find_texts([("b", "c"), ("b", "b")]) == [("c", "b"), ABSENT]
    numbers = Domain.subsets(Domain.range(0, 10), size=2)
    assert numbers.find([(7, 3.0), (1, True)]) == [(3, 7), ABSENT]


def test_large_ones_are_exact() -> None:
    pages = Domain.strings("a-z", max_length=100)
    both = Domain.product(Domain.range(0, 10**50), pages, ["x", "y"])
    assert both.size == 10**50 * pages.size * 2
    eight = Domain.subsets(Domain.range(0, 10**499), size=8)
    for domain in (both, eight, Domain.subsets(pages, size=3)):
        for place in (0, 1, domain.size // 7, domain.size - 2, domain.size - 1):
            assert domain.rank(domain.unrank(place)) == place
        with pytest.raises(OverflowError):
            len(domain)
        assert domain
        with pytest.raises(DomainError, match="unrank"):
            iter(domain)
    assert eight.unrank(0) == tuple(range(8))
    assert eight.unrank(eight.size - 1) == tuple(range(10**499 - 8, 10**499))
    assert Domain.range(0, LARGEST_SIZE).size == LARGEST_SIZE


@pytest.mark.slow
def test_many_names_are_found_in_moments() -> None:
    """Minutes would mean that something grows with the square."""
    names = [*map(str, range(100_000))]
    begin = time.process_time()
    assert ABSENT not in Domain.pattern("[0-9]+", max_length=9).find_texts(names)
    assert ABSENT not in Domain.range(0, 10**9).find_texts(names)
    assert ABSENT not in Domain.range(0, 10**9).find(range(100_000))
    pairs = zip(names, reversed(names), strict=True)
    assert ABSENT not in Domain.subsets(Domain.range(0, 10**9), size=2).find_texts(pairs)
    assert time.process_time() - begin < 30


ZOO: Any = Domain.range(0, 3)
KINDS: Any = Domain
REFUSED: dict[str, tuple[Any, type[TopgapError], str]] = {
    "an empty range": (lambda: Domain.range(3, 3), DomainError, "empty"),
    "a range backwards": (lambda: Domain.range(3, 0), DomainError, "empty"),
    "a float": (lambda: KINDS.range(0, 1e9), ParameterTypeError, "stop"),
    "a bool": (lambda: Domain.range(True, 3), ParameterTypeError, "start"),
    "a text": (lambda: KINDS.range("0", 3), ParameterTypeError, "start"),
    "too wide": (lambda: Domain.range(-LARGEST_SIZE, 1), DomainError, r"10\^4000"),
    "too far": (lambda: Domain.range(10**5000, 10**5000 + 3), DomainError, "digits"),
    "no parts": (lambda: Domain.product(), DomainError, "two parts"),
    "one part": (lambda: Domain.product(ZOO), DomainError, "two parts"),
    "many parts": (lambda: Domain.product(*[["a"]] * 65), DomainError, "64"),
    "a part of tuples": (lambda: Domain.product(ZOO, [("a", 1)]), DomainError, "list of tuples"),
    "tuples of one": (lambda: Domain([("a",), ("b",)]), DomainError, "2 to 64"),
    "tuples and tuples": (lambda: Domain([("a", 1), ("b",)]), DomainError, "2 to 64"),
    "tuples and texts": (lambda: Domain([("a", 1), "bb"]), DomainError, "others are not"),
    "tuples alike": (lambda: Domain([("a", 1), (" a", "1")]), DomainError, "more than once"),
    "tuples that miss a part": (lambda: Domain([("a", None)]), DomainError, "blank or missing"),
    "the data": (lambda: Domain.product(ZOO, FROM_DATA), DomainError, "FROM_DATA"),
    "a bad list": (lambda: Domain.product(ZOO, ["a", "a"]), DomainError, "more than once"),
    "a part that is text": (lambda: Domain.product(ZOO, "ab"), DomainError, "not a list"),
    "too many": (lambda: Domain.product(*[Domain.range(0, 10**999)] * 5), DomainError, "4000"),
    "sets of the data": (lambda: Domain.subsets(FROM_DATA, size=2), DomainError, "FROM_DATA"),
    "sets of none": (lambda: Domain.subsets(ZOO, size=0), ParameterError, "size"),
    "large sets": (lambda: Domain.subsets(Domain.range(0, 99), size=9), ParameterError, "8"),
    "half a set": (lambda: KINDS.subsets(ZOO, size=1.5), ParameterTypeError, "size"),
    "too few": (lambda: Domain.subsets(ZOO, size=4), DomainError, "3 items"),
    "many sets": (lambda: Domain.subsets(Domain.range(0, 10**999), size=5), DomainError, "4000"),
    "a long list": (lambda: Domain(range(10**20)), DomainError, "Domain.range"),
    "not a list": (lambda: ZOO.names, DomainError, "not listed"),
    "no texts": (lambda: ZOO.texts, DomainError, "not listed"),
    "a negative place": (lambda: ZOO.unrank(-1), ParameterError, "rank"),
    "a place too far": (lambda: ZOO.unrank(3), ParameterError, "size"),
    "no place": (lambda: ZOO.unrank(1.0), ParameterTypeError, "rank"),
    "a stranger": (lambda: ZOO.rank("Zaphod"), DomainError, "no such item"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_refused_in_a_sentence(name: str) -> None:
    make, kind, said = REFUSED[name]
    with pytest.raises(kind, match=said) as error:
        make()
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)
    assert "Zaphod" not in str(error.value)
    assert error.value.__context__ is None


@pytest.mark.parametrize(("domain", "words"), [
    (Domain(["a", "b"]), "a list (2 items)"),
    (Domain([("a", "b"), ("b", "c")]), "a list (2 items)"),
    (Domain.range(0, 10**12), "the whole numbers from 0 to 999999999999 (1,000,000,000,000 items)"),
    (Domain.pattern("[A-Z][0-9]{2}"), "the texts that match [A-Z][0-9]{2} (2,600 items)"),
    (Domain.pattern("a+", max_length=3),
     "the texts of at most 3 characters that match a+ (3 items)"),
    (Domain.strings("a-z0-9-", max_length=20),
     "the texts of at most 20 characters from a-z0-9- (about 2.4·10^31 items)"),
    (Domain.product(["a", "b"], Domain.range(0, 2), Domain.pattern("x")),
     "all combinations of (a list of 2 items), (the whole numbers from 0 to 1) and "
     "(the texts that match x) (4 items)"),
    (Domain.subsets(["a", "b"], size=2), "all pairs of (a list of 2 items) (1 items)"),
    (Domain.subsets(Domain.range(0, 4), size=3),
     "all triples of (the whole numbers from 0 to 3) (4 items)"),
    (Domain.subsets(range(4), size=4), "all sets of 4 of (a list of 4 items) (1 items)"),
    (Domain.pattern("(?x:a\n)"), "the texts that match (?x:a\\n) (1 items)"),
], ids=lambda value: "" if isinstance(value, Domain) else value)  # fmt: skip
def test_a_domain_says_in_words_what_it_is(domain: Domain, words: str) -> None:
    description = domain.description
    assert str(description) == words
    assert DomainDescription.from_dict(description.to_dict()) == description
    columns = 2 if domain == Domain([("a", "b"), ("b", "c")]) else 1
    assert domain.columns == (3 if "combinations" in words else columns)


def test_long_words_are_cut_where_a_release_could_not_be_read_again() -> None:
    pattern = Domain.pattern("a" * 2_000)
    description = Domain.product(*[pattern] * 6).description
    assert len(description.words) == 10_000
    assert DomainDescription.from_dict(description.to_dict()) == description


def test_counts_know_their_domain() -> None:
    domain, other = Domain.range(0, 10), Domain.range(0, 11)
    counts = Counts({3: 5}, domain=domain)
    copies = [
        counts.copy(), counts | {4: 1}, {4: 1} | counts, Counts({4: 1}) | counts,
        pickle.loads(pickle.dumps(counts)),  # noqa: S301 - it is ours
        counts | Counts({4: 1}, domain=Domain.range(0, 10)),
    ]  # fmt: skip
    assert all(type(copy) is Counts and copy.domain == domain for copy in copies)
    joined = Counts({4: 1})
    joined |= counts
    assert (joined, joined.domain) == ({3: 5, 4: 1}, domain)
    assert Counts({3: 5}).domain is None
    strange = Counts({4: 1}, domain=other)
    for join in (lambda: counts | strange, lambda: counts.update(strange)):
        with pytest.raises(DomainError, match="two domains"):
            join()
    assert counts == {3: 5}
    with pytest.raises(ParameterTypeError, match="Domain"):
        Counts({}, domain=[1, 2])  # type: ignore[arg-type]


def test_old_names_stay() -> None:
    assert counting.Domain is Domain
    assert counting.FROM_DATA is FROM_DATA
    assert counting.Counts is Counts
