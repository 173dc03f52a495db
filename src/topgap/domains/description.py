"""A domain in words, for whoever reads a release."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from topgap.domains.limits import LARGEST_SIZE
from topgap.errors import DomainError

_EXACT_BELOW = 10**15
LONGEST_WORDS = 10_000
"""The greatest number of characters of a domain's words."""

_MOST_DIGITS = len(str(LARGEST_SIZE))


@dataclass(frozen=True, slots=True)
class DomainDescription:
    """What a domain was: in words, and how many items it has.

    Attributes:
        words: Such as "the texts that match [A-Z][0-9]{2}".
        size: The exact number of its items.
        is_listed: Whether its items are written out in a list. Otherwise the domain is a rule, and
            most of its items occur nowhere.

    >>> DomainDescription("the whole numbers from 0 to 999", 1000).format_size()
    '1,000'
    """

    words: str
    size: int
    is_listed: bool = False

    @classmethod
    def of_list(cls, size: int) -> "DomainDescription":
        """Describe a list of so many items."""
        return cls("a list", size, is_listed=True)

    def __str__(self) -> str:
        return f"{self.words} ({self.format_size()} items)"

    def format_size(self) -> str:
        """Format the number of items: exact if it is short, otherwise about.

        >>> DomainDescription("…", 2**160).format_size()
        'about 1.5·10^48'
        """
        if self.size < _EXACT_BELOW:
            return f"{self.size:,}"
        digits = str(self.size)
        tenths, exponent = (int(digits[:3]) + 5) // 10, len(digits) - 1
        if tenths == 100:  # of 9.96, which is rounded up
            tenths, exponent = 10, exponent + 1
        return f"about {tenths // 10}.{tenths % 10}·10^{exponent}"

    def to_dict(self) -> dict[str, Any]:
        """Convert it to what JSON can hold; the size is text, which no reader rounds.

        >>> DomainDescription("a list", 3, is_listed=True).to_dict()
        {'description': 'a list', 'size': '3', 'listed': True}
        """
        listed = {"listed": True} if self.is_listed else {}
        return {"description": self.words, "size": str(self.size), **listed}

    @classmethod
    def from_dict(cls, entries: Mapping[str, Any]) -> "DomainDescription":
        """Read what `to_dict` wrote.

        Raises:
            DomainError: It is not a description of a domain.
        """
        if isinstance(entries, Mapping) and {*entries} - {"listed"} == {"description", "size"}:
            words, size = entries["description"], entries["size"]
            is_listed = entries.get("listed", False)
            is_text = type(words) is str and 0 < len(words) <= LONGEST_WORDS
            if is_text and type(size) is str and _is_size(size) and type(is_listed) is bool:
                return cls(words, int(size), is_listed)
        raise DomainError("This does not describe a domain: it needs its words and its size.")


def _is_size(text: str) -> bool:
    digits = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return digits and text[0] != "0"
