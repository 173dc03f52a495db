r"""Domains of texts: those that match a pattern, or are made of an alphabet.

The pattern becomes a deterministic automaton, in which each text has one path, and the paths are
counted in integers of any size (`rust/domains`). Texts are in the order of their characters, a text
before those that it begins. That size, members, ranks and their order are right is held against
brute force, Python's `re` and another library on thousands of random patterns, in tests/domains.

Every text is its own normal form by the rule of `cell_text`: no two members are the same cell, and
each can be matched by one.
"""

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from topgap.display.text import to_line
from topgap.domains.cell_text import INVISIBLE_RANGES
from topgap.domains.kind import ABSENT, Kind
from topgap.domains.limits import LARGEST_SIZE
from topgap.errors import DomainError, ParameterTypeError
from topgap.numbers.parse import read_whole

if TYPE_CHECKING:
    from topgap._core import Pattern

# A greater length is no other limit: no automaton is so large.
_LONGEST = 10**9

_BLANK = [(chr(first), chr(last)) for first, last in INVISIBLE_RANGES]


class Texts(Kind):
    """The texts that match a pattern whole.

    Args:
        pattern: In the syntax of Rust's crate regex.
        max_length: The greatest number of characters; None if the pattern has a greatest length.
        alphabet: What the pattern was made from, if a user wrote that instead.
    """

    __slots__ = ("_compiled", "alphabet", "max_length", "pattern", "size")

    def __init__(
        self, pattern: str, max_length: int | None = None, alphabet: str | None = None
    ) -> None:
        self.pattern = _read_text(pattern, "pattern")
        self.max_length = (
            None if max_length is None else read_whole(max_length, "max_length", least=1)
        )
        self.alphabet = alphabet
        self._compiled: Pattern | None = _compile(self.pattern, self.max_length)
        self.size = self._compiled.size

    @property
    def words(self) -> str:
        """The domain in words."""
        length = "" if self.max_length is None else f" of at most {self.max_length:,} characters"
        if self.alphabet is not None:
            return f"the texts{length} from {to_line(self.alphabet)}"
        return f"the texts{length} that match {to_line(self.pattern)}"

    @property
    def identity(self) -> Hashable:
        """The pattern and the greatest length."""
        return self.pattern, self.max_length

    def find(self, names: Sequence[Any]) -> list[Any]:
        """For each name the text that equals it, or ABSENT."""
        matched = self._read_compiled().contains_all([*names])
        return [
            (name if type(name) is str else str.__str__(name)) if matches else ABSENT
            for name, matches in zip(names, matched, strict=True)
        ]

    def find_texts(self, texts: Sequence[Any]) -> list[Any]:
        """For each text of a cell the text itself, if it matches, or ABSENT."""
        matched = self._read_compiled().contains_all([*texts])
        return [text if matches else ABSENT for text, matches in zip(texts, matched, strict=True)]

    def rank(self, member: Any) -> int:
        """How many texts come before."""
        return self._read_compiled().rank(member)

    def unrank(self, rank: int) -> str:
        """The text at a place."""
        return self._read_compiled().unrank(rank)

    def sort_key(self, member: Any) -> Any:
        """The text itself: Python compares characters, too."""
        return member

    def with_folded_case(self) -> "Texts":
        """The same texts, which find cells of lower case as well.

        If all texts are in one case, a cell is told by its case to be one of them at most.

        Raises:
            DomainError: They are not, or have other letters than those of ASCII.
        """
        may_have = self._read_compiled().may_have
        has_upper, has_lower = may_have(0x41, 0x5A), may_have(0x61, 0x7A)
        if may_have(0x80, 0xFF) or (has_upper and has_lower):
            raise DomainError(
                "Where upper and lower case are the same, a pattern or an alphabet must be of "
                "ASCII, with letters in one case, as in [A-Z][0-9]{2}; write it so, give a list, "
                "or leave fold_case (--fold-case) out."
            )
        kind = (_UpperTexts if has_upper else Texts).__new__(_UpperTexts if has_upper else Texts)
        kind.pattern, kind.max_length, kind.alphabet = self.pattern, self.max_length, self.alphabet
        kind.size, kind._compiled = self.size, self._compiled
        return kind

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.pattern, self.max_length, self.alphabet, self.size)

    def _read_compiled(self) -> "Pattern":
        if self._compiled is None:
            self._compiled = _compile(self.pattern, self.max_length)
        return self._compiled


class _UpperTexts(Texts):
    """Texts in upper case, which are found by the folded texts of cells, in lower case."""

    __slots__ = ()

    def find_texts(self, texts: Sequence[Any]) -> list[Any]:
        """For each text of a cell the text that it means, or ABSENT."""
        # Nothing that is not ASCII is found, and it must not become ASCII here, as ı would.
        return super().find_texts([text.upper() if text.isascii() else text for text in texts])


def make_strings(alphabet: str, max_length: int) -> Texts:
    r"""Make the domain of all texts from an alphabet.

    Args:
        alphabet: Characters and ranges of them, such as "a-z0-9-". A hyphen is one of the
            characters if it is the first or last, or after a backslash, and so is a backslash
            after another.
        max_length: The greatest number of characters.

    Raises:
        DomainError: The alphabet cannot be read, or has characters that are not their own normal
            form, or none that shows.
        ParameterError, ParameterTypeError: The length is not a whole number greater than 0.

    >>> make_strings("ab", 2).size, make_strings("a ", 3).unrank(2)
    (6, 'aa')
    """
    longest = read_whole(max_length, "max_length", least=1)
    ranges = _join_ranges(_read_alphabet(_read_text(alphabet, "alphabet")))
    shown = _leave_out_blank(ranges)
    if not shown:
        raise DomainError("The alphabet has no visible character; add letters or digits.")
    inside, end = _write_class(ranges), _write_class(shown)
    try:
        return Texts(f"{end}(?:{inside}*{end})?", longest, alphabet)
    except DomainError as error:
        sentence = str(error)
    if sentence.startswith("The pattern takes"):
        raise DomainError(
            "The alphabet has characters that a cell may hold in two ways, such as letters with "
            "combining accents; write the ranges that you mean, as in a-zà-ö."
        )
    raise DomainError(sentence.replace("The pattern", "The alphabet", 1))


def _join_ranges(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same characters in the fewest ranges, in order.

    >>> _join_ranges([(98, 98), (97, 97), (120, 122), (121, 123)])
    [(97, 98), (120, 123)]
    """
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return joined


def _leave_out_blank(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The characters that a cell counts at its ends.

    >>> _leave_out_blank([(30, 34)])
    [(33, 34)]
    """
    for first_blank, last_blank in INVISIBLE_RANGES:
        parts = []
        for first, last in ranges:
            parts += [(first, min(last, first_blank - 1)), (max(first, last_blank + 1), last)]
        ranges = _join_ranges([(first, last) for first, last in parts if first <= last])
    return ranges


def _write_class(ranges: list[tuple[int, int]]) -> str:
    ends = (f"\\x{{{first:X}}}-\\x{{{last:X}}}" for first, last in ranges)
    return f"[{''.join(ends)}]"


def _restore(pattern: str, max_length: int | None, alphabet: str | None, size: int) -> Texts:
    """Restore a domain that was checked already; it is compiled when it is used."""
    kind = Texts.__new__(Texts)
    kind.pattern, kind.max_length, kind.alphabet, kind.size = pattern, max_length, alphabet, size
    kind._compiled = None
    return kind


@lru_cache(maxsize=32)
def _compile(pattern: str, max_length: int | None) -> "Pattern":
    from topgap._core import Pattern

    longest = None if max_length is None else min(max_length, _LONGEST)
    try:
        return Pattern(pattern, max_length=longest, blank=_BLANK, most=LARGEST_SIZE)
    except ValueError as error:
        sentence = str(error)
    raise DomainError(sentence)


def _read_text(text: str, name: str) -> str:
    if not isinstance(text, str):
        raise ParameterTypeError(f"{name} must be a string, not {type(text).__name__}.")
    plain = str.__str__(text)
    if any("\ud800" <= char <= "\udfff" for char in plain):
        raise DomainError(f"The {name} is not valid Unicode.")
    return plain


def _read_alphabet(alphabet: str) -> list[tuple[int, int]]:
    """The ranges of characters, first to last."""
    letters: list[tuple[str, bool]] = []  # each character, and whether it was escaped
    rest = iter(alphabet)
    for char in rest:
        escaped = char == "\\"
        letter = next(rest, "") if escaped else char
        if not letter or (escaped and letter not in "\\-"):
            raise DomainError(
                "In an alphabet a backslash can only come before - or another backslash."
            )
        letters.append((letter, escaped))
    if not letters:
        raise DomainError("The alphabet is empty; write its characters, such as a-z0-9.")
    ranges, place = [], 0
    while place < len(letters):
        is_range = place + 2 < len(letters) and letters[place + 1] == ("-", False)
        end = place + 2 if is_range else place
        first, last = ord(letters[place][0]), ord(letters[end][0])
        if first > last:
            raise DomainError("The alphabet has a range that ends before it begins.")
        ranges.append((first, last))
        place = end + 1
    return ranges
