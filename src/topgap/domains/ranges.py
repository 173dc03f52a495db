"""Domains of whole numbers, from any to any."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from topgap.domains.kind import ABSENT, Kind
from topgap.domains.limits import LARGEST_SIZE, check_size
from topgap.errors import DomainError, ParameterTypeError
from topgap.numbers.parse import is_whole

_MOST_DIGITS = len(str(LARGEST_SIZE))
_ASCII_DIGITS = frozenset("0123456789")


class WholeNumbers(Kind):
    """The whole numbers from `start` to below `stop`, in their order."""

    __slots__ = ("numbers", "size")

    numbers: range

    def __init__(self, start: int, stop: int) -> None:
        first, end = _read_end(start, "start"), _read_end(stop, "stop")
        if first >= end:
            raise DomainError(
                "The range is empty; stop must be greater than start, and is not part of the range."
            )
        self.numbers = range(first, end)
        self.size = check_size(end - first)

    @property
    def words(self) -> str:
        """The domain in words."""
        return f"the whole numbers from {self.numbers[0]} to {self.numbers[-1]}"

    @property
    def identity(self) -> Hashable:
        """Where it starts and stops."""
        return self.numbers.start, self.numbers.stop

    def find(self, names: Sequence[Any]) -> list[Any]:
        """For each name the number that equals it, or ABSENT."""
        start, stop = self.numbers.start, self.numbers.stop
        if {*map(type, names)} == {int}:  # as they mostly are
            if min(names) >= start and max(names) < stop:
                return [*names]
            return [name if start <= name < stop else ABSENT for name in names]
        wholes = (name if type(name) is int else _to_equal_whole(name) for name in names)
        return [
            whole if whole is not ABSENT and start <= whole < stop else ABSENT for whole in wholes
        ]

    def find_texts(self, texts: Sequence[Any]) -> list[Any]:
        """For each text the number that is written so, without other signs or zeros, or ABSENT."""
        start, stop = self.numbers.start, self.numbers.stop
        wholes = map(_read_canonical, texts)
        return [
            whole if whole is not ABSENT and start <= whole < stop else ABSENT for whole in wholes
        ]

    def rank(self, member: Any) -> int:
        """How many numbers of the range are less."""
        return int(member) - self.numbers.start

    def unrank(self, rank: int) -> int:
        """The number at a place."""
        return self.numbers.start + rank

    def unrank_all(self, ranks: Iterable[int]) -> list[int]:
        """The numbers at these places."""
        start = self.numbers.start
        return [start + rank for rank in ranks]

    def sort_key(self, member: Any) -> Any:
        """The number itself."""
        return member

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers)


def _read_end(value: int, name: str) -> int:
    try:
        end = int(value) if is_whole(value) else None
    except Exception:  # of a number of somebody's own
        end = None
    if end is None:
        raise ParameterTypeError(
            f"{name} must be a whole number given as an int, not {type(value).__name__}."
        )
    if abs(end) > LARGEST_SIZE:
        raise DomainError(f"{name} must have at most {_MOST_DIGITS - 1:,} digits.")
    return end


def _to_equal_whole(name: Any) -> Any:
    """The whole number that equals a name as a key of a dict; ABSENT if there is none."""
    kind = type(name)
    if issubclass(kind, str | bytes):
        return ABSENT
    try:
        hashed = hash(name)
        if issubclass(kind, Decimal) and name.adjusted() > _MOST_DIGITS:
            return ABSENT  # before all its digits are made
        whole = int(name.real) if issubclass(kind, complex) else int(name)
        return whole if hash(whole) == hashed and bool(whole == name) else ABSENT
    except Exception:  # what cannot be compared is no number
        return ABSENT


def _read_canonical(text: Any) -> Any:
    """The number that is written so, as short as it can be; ABSENT if there is none."""
    if not issubclass(type(text), str):
        return ABSENT
    digits = text[1:] if text[:1] == "-" else text
    if not 0 < len(digits) <= _MOST_DIGITS or not _ASCII_DIGITS.issuperset(digits):
        return ABSENT
    return ABSENT if digits[0] == "0" and text != "0" else int(text)
