"""Texts by a pattern: the same members, size and order as brute force and another library tell."""

import re
import string
from itertools import product
from random import Random
from typing import Any

import interegular
import pytest

from tests.domains.random_patterns import ALPHABET, make_pattern
from topgap import Domain, DomainError, ParameterError, ParameterTypeError
from topgap.domains import ABSENT
from topgap.domains.cell_text import INVISIBLE, normalize_text

LONGEST = 4
ALL_TEXTS = sorted(
    "".join(text) for n in range(LONGEST + 2) for text in product(ALPHABET, repeat=n)
)


def check_order(domain: Domain, texts: list[str]) -> None:
    """The texts are the domain, in their order, and rank is the inverse of unrank."""
    assert domain.size == len(texts)
    assert [*domain] == texts
    assert [domain.rank(text) for text in texts] == [*range(len(texts))]


@pytest.mark.slow
def test_members_size_and_order_are_those_that_python_finds_among_all_texts() -> None:
    random = Random(21)
    refused = 0
    for _ in range(1_500):
        pattern = make_pattern(random, endless=True)
        matches = re.compile(pattern).fullmatch
        texts = [text for text in ALL_TEXTS if len(text) <= LONGEST and matches(text)]
        if "" in texts or not texts:
            with pytest.raises(DomainError, match=r"empty text|matches no text"):
                Domain.pattern(pattern, max_length=LONGEST)
            refused += 1
            continue
        domain = Domain.pattern(pattern, max_length=LONGEST)
        check_order(domain, texts)
        found = domain.find(ALL_TEXTS)
        assert [text for text in found if text is not ABSENT] == texts, pattern
    assert refused < 500


@pytest.mark.slow
def test_members_and_size_are_those_of_another_library() -> None:
    random = Random(2922)
    sizes = []
    for _ in range(1_000):
        pattern = f"(?:{make_pattern(random, depth=3)})1"
        theirs: Any = interegular.parse_pattern(pattern).to_fsm()
        domain = Domain.pattern(pattern)
        assert domain.size == theirs.cardinality(), pattern
        sizes.append(domain.size)
        if domain.size <= 200:
            check_order(domain, sorted("".join(text) for text in theirs.strings()))
    assert max(sizes) > 10_000
    assert len({*sizes}) > 100


@pytest.mark.parametrize("pattern", [
    "^a{1,3}$", "a$|^b", "(?:^a|b)c", "a(?:$|b)", r"(?-u:a\b-b|a\B-b)", r"(?-u:a\b|ab)",
    "(?m:a$|a^b)",
])  # fmt: skip
def test_conditions_within_a_pattern_hold(pattern: str) -> None:
    matches = re.compile(re.sub(r"\?-u:", "?:", pattern)).fullmatch
    texts = ["".join(text) for n in range(1, 5) for text in product("-abc", repeat=n)]
    check_order(Domain.pattern(pattern), sorted(filter(matches, texts)))


@pytest.mark.parametrize(("pattern", "length", "size"), [
    (r"[A-Z][0-9]{2}(\.[0-9]{1,2})?", None, 26 * 100 * 111),
    ("[ab]+", 4000, 2**4001 - 2), ("(?:[ab]{2})+", 9, 4 + 16 + 64 + 256),
    ("[a-z]{1,2000}", None, (26**2001 - 26) // 25), ("(?i-u:[a-z]{3})", None, 52**3),
    ("a|ab|abc|[a-c]{1,3}", None, 3 + 9 + 27), ("(?:a|b|ab)+", 12, 2**13 - 2),
    ("[一-龥]{1,2}", None, 20902 + 20902**2), ("[a-zé]+", 3, 27 + 27**2 + 27**3),
    ("a{5}|b", 3, 1), (r"(?x: a \ b )", None, 1),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_sizes_are_exact_however_large(pattern: str, length: int | None, size: int) -> None:
    domain = Domain.pattern(pattern, max_length=length)
    assert domain.size == size
    places = sorted({0, size // 3, size // 2, size - 1})
    texts = [domain.unrank(place) for place in places]
    assert texts == sorted(texts)
    assert [domain.rank(text) for text in texts] == places


REFUSED: dict[str, tuple[Any, int | None, str]] = {
    "does not parse": ("[a-z", None, "cannot be read at its character 1: unclosed"),
    "look-ahead": ("a(?=b)", None, "at its character 2: look-around"),
    "back-reference": (r"(a)\1", None, "backreferences are not supported"),
    "bytes": (r"(?-u:\xFF)", None, "invalid UTF-8"),
    "nested": ("(" * 200 + "a" + ")" * 200, None, "nested"),
    "too long": ("a" * 3_000, None, "more than 2000 characters"),
    "Unicode boundaries": (r"a\b", None, "word boundary"),
    "endless": ("a+", None, "max_length"),
    "nothing": ("[a&&b]", None, "matches no text"),
    "nothing so short": ("a{5}", 4, "matches no text"),
    "the empty text": ("a*", 4, "empty text"),
    "only the empty text": ("", None, "empty text"),
    "blank before": (" ?a", None, "begin with a space"),
    "blank after": ("a\u200b?", None, "end with a space"),
    "blank alone": ("\\t", None, "begin with a space"),
    "any character": (".{3}", None, r"U\+0000.*\[a-z\]"),
    "NUL": (r"a\x00b", None, r"U\+0000"),
    "letters": (r"\w{3}", None, r"U\+0300"),
    "marks": ("e\u0301", None, r"U\+0301"),
    "Hangul that joins": ("a\u1161", None, r"U\+1161"),
    "no normal form": ("\u2126", None, r"U\+2126"),
    "not assigned": ("\u0378", None, r"U\+0378"),
    "Kelvin": ("(?i)k", None, r"U\+212A.*\(\?i-u:a\)"),
    "digits": (r"\d{3}", None, r"\[0-9\]"),
    "too large": ("[ab]*a[ab]{30}b", 60, "too large an automaton"),
    "too many states": ("((a{1,99}b){1,99}c){1,99}", None, "too large an automaton"),
    "too large a table": ("[ab]*a[ab]{9}", 3_000, "too large an automaton"),
    "too many texts": ("[a-z]+", 3_000, r"10\^4000"),
    "surrogate": ("\ud800", None, "not valid Unicode"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_domain_is_refused_in_a_sentence(name: str) -> None:
    pattern, length, said = REFUSED[name]
    with pytest.raises(DomainError, match=said) as error:
        Domain.pattern(pattern, max_length=length)
    assert re.fullmatch(r"[^\n]{10,}\.", str(error.value))
    assert error.value.__context__ is None


@pytest.mark.parametrize("length", [0, -1, 2.0, True, "3", None])
def test_lengths_are_whole_numbers(length: Any) -> None:
    with pytest.raises((ParameterError, ParameterTypeError), match="max_length"):
        Domain.strings("a", max_length=length)
    if length is not None:
        with pytest.raises((ParameterError, ParameterTypeError), match="max_length"):
            Domain.pattern("a", max_length=length)
    for wrong in (b"a", re.compile("a"), 7):
        with pytest.raises(ParameterTypeError, match="string"):
            Domain.pattern(wrong)  # type: ignore[arg-type]


@pytest.mark.slow
def test_every_character_that_is_taken_is_its_own_normal_form_beside_any_other() -> None:
    """So no two members are the same cell, and each can be one."""
    taken = []
    for code in range(0x3400):
        try:
            taken += [*Domain.pattern(f"a\\x{{{code:X}}}b")]
        except DomainError:
            continue
    inner = [text[1] for text in taken]
    assert len(inner) > 10_000
    joined = "e".join(inner) + "".join(inner) + "".join(reversed(inner))
    assert normalize_text(f"a{joined}b") == f"a{joined}b"
    assert " " in inner
    shown = [char for char in inner if char not in INVISIBLE]
    for char in [*shown[::50], *(char for char in inner if char in INVISIBLE)]:
        if char in INVISIBLE:
            for pattern in (f"a\\x{{{ord(char):X}}}", f"\\x{{{ord(char):X}}}a"):
                with pytest.raises(DomainError, match="shows nothing"):
                    Domain.pattern(pattern)
        else:
            assert [*Domain.pattern(f"\\x{{{ord(char):X}}}")] == [char]


@pytest.mark.parametrize(("alphabet", "members", "others"), [
    ("a-c", "ab", "d-"), ("a-", "a-", "b"), ("-a", "-a", "b"), (r"a\-c", "ac-", "b"),
    (r"\\", "\\", "a"), ("aab-ba", "ab", "c"), ("[]^&~", "[]^&~", "\\a"), ("a-c-e", "abc-e", "d"),
    (r"\--a", "-/09AZa", "b,"), ("é", "é", "e"),
])  # fmt: skip
def test_an_alphabet_is_characters_and_ranges(alphabet: str, members: str, others: str) -> None:
    domain = Domain.strings(alphabet, max_length=1)
    assert all(char in domain for char in members)
    assert not any(char in domain for char in others)


def test_strings_have_no_blank_ends() -> None:
    domain = Domain.strings("ab \u00ad", max_length=4)
    texts = [text for n in range(1, 5) for text in map("".join, product("ab \u00ad", repeat=n))]
    check_order(domain, sorted(text for text in texts if normalize_text(text) == text))
    assert Domain.strings("a-z0-9-", max_length=20).size == sum(37**n for n in range(1, 21))


@pytest.mark.parametrize(("alphabet", "said"), [
    ("", "empty"), ("z-a", "ends before"), ("a\\", "backslash"), (r"\d", "backslash"),
    (" \t", "no visible character"), ("a\u0301", "The alphabet has characters"),
    ("\ud800", "not valid Unicode"), ("\x00-\uffff", "The alphabet has characters"),
])  # fmt: skip
def test_what_is_no_alphabet_is_refused(alphabet: str, said: str) -> None:
    with pytest.raises(DomainError, match=said) as error:
        Domain.strings(alphabet, max_length=3)
    assert error.value.__context__ is None


@pytest.mark.parametrize(
    ("alphabet", "size"),
    [(string.ascii_lowercase, 26), (string.ascii_letters + string.digits, 62), ("zyxa-c", 6)],
)
def test_an_alphabet_may_be_written_out(alphabet: str, size: int) -> None:
    domain = Domain.strings(alphabet, max_length=2)
    assert domain.size == size + size**2
    assert [*Domain.strings(alphabet, max_length=1)] == sorted({*string.printable} & {*domain})


def test_a_set_has_no_order() -> None:
    for unordered in ({"a", "b"}, frozenset("ab")):
        with pytest.raises(DomainError, match="must have an order"):
            Domain(unordered)
