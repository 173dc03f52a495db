"""`Domain`: the public items that can be named, whether they occur in the data or not."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from zlib import crc32

from topgap.domains.description import LONGEST_WORDS, DomainDescription
from topgap.domains.from_data import FromData
from topgap.domains.kind import ABSENT, Kind
from topgap.domains.limits import MOST_ITEMS
from topgap.domains.listed import Listed
from topgap.domains.listed_tuples import read_list
from topgap.domains.patterns import Texts, make_strings
from topgap.domains.products import Product
from topgap.domains.ranges import WholeNumbers
from topgap.domains.subsets import Subsets
from topgap.errors import DomainError, ParameterError
from topgap.numbers.parse import read_whole
from topgap.sealing import seal_library_errors


class Domain:
    r"""The public items that a release can name, in a public order.

    A list is stored in full. Larger domains are given by a rule: `range`, `pattern`,
    `strings`, `product` and `subsets` make such domains, of any size.

    Args:
        items: A list, tuple, range, Series, array or other iterable of strings, numbers, dates or
            UUIDs, at most 10,000,000. They are compared with the data as text, by the rule of
            `topgap.counting.cells`. For items that are named by several columns, a list of tuples
            with a part for each column: these combinations alone take part.

    Raises:
        DomainError: There is none, or one twice, or one that is blank or of another type.

    >>> Domain(["flu", "cold"]).names
    ['flu', 'cold']
    >>> len(Domain(range(1, 943)))
    942
    >>> Domain([7, "7"])
    Traceback (most recent call last):
    topgap.errors.DomainError: The domain has '7' more than once.
    >>> codes = Domain.pattern(r"[A-Z][0-9]{2}(\.[0-9]{1,2})?")
    >>> codes.size, "E11.9" in codes, codes.unrank(1)
    (288600, True, 'A00.0')
    """

    __slots__ = ("_kind",)

    _kind: Kind

    @seal_library_errors(DomainError, "The domain")
    def __init__(self, items: Iterable[Any]) -> None:
        self._kind = items._kind if isinstance(items, Domain) else read_list(items)

    @classmethod
    def range(cls, start: int, stop: int) -> "Domain":
        """The whole numbers from `start` to below `stop`, as Python's range has them.

        Raises:
            DomainError: There is none.
            ParameterTypeError: An end is not a whole number.

        >>> Domain.range(0, 10**12).description.words
        'the whole numbers from 0 to 999999999999'
        """
        return _restore(WholeNumbers(start, stop))

    @classmethod
    def pattern(cls, pattern: str, *, max_length: int | None = None) -> "Domain":
        r"""The texts that match a pattern whole, each once, ordered by their characters.

        Args:
            pattern: A regular expression in the syntax of Rust's crate regex, which has no
                look-around and no back-references. Its characters must not be such that the rule
                for cells changes them or joins them with others; write `[0-9]` for `\d`, `[a-z]`
                for `.`, and `(?i-u:…)` for `(?i:…)`. A text must not begin or end with a space.
            max_length: The greatest number of characters of a text; needed if the pattern has
                none, as with `+`.

        Raises:
            DomainError: The pattern cannot be read, matches no text, the empty text, texts of any
                length or those of which cells are never made; or its automaton is too large.
            ParameterError, ParameterTypeError: The length is not a whole number greater than 0.

        >>> words = Domain.pattern("[a-z]+", max_length=12)
        >>> words.size, words.unrank(1), "flu" in words
        (99246114928149462, 'aa', True)
        """
        return _restore(Texts(pattern, max_length))

    @classmethod
    def strings(cls, alphabet: str, *, max_length: int) -> "Domain":
        r"""All texts of the characters of an alphabet, of one character or more.

        Those that begin or end with a space, or what else cells do not count there, are left out.

        Args:
            alphabet: Characters and ranges of them, such as "a-z0-9-". A hyphen is one of the
                characters if it is the first or last, or after a backslash; two backslashes are
                one.
            max_length: The greatest number of characters.

        Raises:
            DomainError: The alphabet cannot be read, or has characters that are not their own
                normal form, or none that shows.
            ParameterError, ParameterTypeError: The length is not a whole number greater than 0.

        >>> pages = Domain.strings("a-z0-9-", max_length=20)
        >>> pages.description.format_size(), "top-k" in pages, "top_k" in pages
        ('about 2.4·10^31', True, False)
        """
        return _restore(make_strings(alphabet, max_length))

    @classmethod
    def product(cls, *domains: Any) -> "Domain":
        """The tuples of an item of each domain: for items that are named by several columns.

        Args:
            domains: Two or more; what is not a Domain is read as a list. Products within a product
                give their own parts.

        Raises:
            DomainError: There are too few, or one cannot be used.

        >>> both = Domain.product(["AT", "DE"], Domain.range(0, 10))
        >>> both.size, both.unrank(13), ("DE", 3) in both
        (20, ('DE', 3), True)
        """
        return _restore(Product([_read_part(domain) for domain in domains]))

    @classmethod
    def subsets(cls, domain: Any, *, size: int) -> "Domain":
        """The unordered pairs, triples and so on of a domain's items: what goes together.

        Its items are tuples in the order of the domain. `find` and `in` take any order.

        Args:
            domain: A Domain, or a list.
            size: How many go together, at most 8.

        Raises:
            DomainError: The domain cannot be used, or has fewer items.
            ParameterError, ParameterTypeError: The size is not a whole number from 1 to 8.

        >>> pairs = Domain.subsets(["tea", "milk", "rum"], size=2)
        >>> [*pairs], ("rum", "tea") in pairs
        ([('tea', 'milk'), ('tea', 'rum'), ('milk', 'rum')], True)
        """
        return _restore(Subsets(_read_part(domain), size))

    @property
    def size(self) -> int:
        """The exact number of items."""
        return self._kind.size

    @property
    def is_listed(self) -> bool:
        """Whether the items are written out, in a list, and not given by a rule."""
        return self._kind.is_listed

    @property
    def columns(self) -> int:
        """How many columns of a table an item takes: 1, or the number of a tuple's parts."""
        return self._kind.columns

    @property
    def names(self) -> Sequence[Any]:
        """The items of a list.

        Raises:
            DomainError: It is not a list.
        """
        return self._read_list().names

    @property
    def texts(self) -> Sequence[Any]:
        """The text of each item of a list, by which it is compared with cells.

        Of tuples, a tuple of texts.

        Raises:
            DomainError: It is not a list.
        """
        return self._read_list().texts

    @property
    def description(self) -> DomainDescription:
        """The domain in words, and its size.

        >>> print(Domain(["flu", "cold"]).description)
        a list (2 items)
        """
        words = self._kind.words
        if len(words) > LONGEST_WORDS:
            words = f"{words[: LONGEST_WORDS - 1]}…"
        return DomainDescription(words, self.size, is_listed=self.is_listed)

    def find(self, names: Iterable[Any]) -> list[Any]:
        """Find the items that equal these names, as keys of a dict do.

        Args:
            names: Any objects; what cannot be compared is not an item.

        Returns:
            For each name the item in the domain's own spelling, or ABSENT.

        >>> Domain([7, 8]).find([8.0, "7", [7]])
        [8, topgap.domains.ABSENT, topgap.domains.ABSENT]
        """
        return self._kind.find([*names])

    def find_texts(self, texts: Iterable[Any]) -> list[Any]:
        """Find the items that these cells mean.

        Args:
            texts: The texts of cells, normalized by the rule of `topgap.domains.cell_text`; tuples
                of them for several columns, and for subsets, in any order.

        Returns:
            For each text the item in the domain's own spelling, or ABSENT.

        >>> Domain([7, 8]).find_texts(["8", "08"])
        [8, topgap.domains.ABSENT]
        """
        return self._kind.find_texts([*texts])

    def rank(self, name: Any) -> int:
        """The place of an item in the domain's order, from 0 on.

        Raises:
            DomainError: It is not an item of the domain.
        """
        [member] = self._kind.find([name])
        if member is ABSENT:
            raise DomainError("The domain has no such item; test with `in` first.")
        return self._kind.rank(member)

    def unrank(self, rank: int) -> Any:
        """The item at this place.

        Raises:
            ParameterTypeError, ParameterError: It is not a whole number from 0 to below the size.
        """
        place = read_whole(rank, "rank", least=0)
        if place >= self.size:
            raise ParameterError("rank must be less than the domain's size.")
        return self._kind.unrank(place)

    def unrank_all(self, ranks: Iterable[int]) -> list[Any]:
        """The items at these places, which are known to be from 0 to below the size."""
        return self._kind.unrank_all(ranks)

    def __contains__(self, name: object) -> bool:
        return self._kind.find([name])[0] is not ABSENT

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return True  # and not the length, which may be too large for `len`

    def __iter__(self) -> Iterator[Any]:
        if self.size > MOST_ITEMS:
            raise DomainError(
                f"The domain has more than {MOST_ITEMS:,} items, too many to iterate over; get "
                f"single items by unrank()."
            )
        return iter(self._kind)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Domain):
            return NotImplemented
        ours, theirs = self._kind, other._kind
        return ours is theirs or (type(ours) is type(theirs) and ours.identity == theirs.identity)

    @property
    def checksum(self) -> int:
        """A checksum of 32 bits, the same in every process, of members, order and spelling."""
        return crc32(f"{type(self._kind).__name__}{self._kind.identity!r}".encode())

    def __hash__(self) -> int:
        return hash((type(self._kind), self.size, self._kind.words))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._kind,)

    def __repr__(self) -> str:
        if self.is_listed:
            return f"<Domain of {self.size} items>"
        return f"<Domain of {self.description.format_size()} items: {self._kind.words}>"

    def _read_list(self) -> Listed:
        if isinstance(self._kind, Listed):
            return self._kind
        raise DomainError("The items of this domain are not listed; use unrank() and find().")


def _read_part(domain: Any) -> Kind:
    if isinstance(domain, FromData):
        raise DomainError("FROM_DATA cannot be part of a domain; give a public list or rule.")
    return (domain if isinstance(domain, Domain) else Domain(domain))._kind


def _restore(kind: Kind) -> Domain:
    domain = Domain.__new__(Domain)
    domain._kind = kind
    return domain
