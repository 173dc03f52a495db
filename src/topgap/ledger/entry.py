"""One entry of a ledger: its columns, its hash, which chains it to the one before, and its time.

Two data sets are neighbours if one person was added or removed ("add-remove"), or if one person was
replaced by another ("replace"). An ε holds for one of these relations, and so does a sum of them: a
data set has one relation, and the ε of each charge is converted to it.
"""

import json
import re
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from hashlib import sha256
from typing import Any, Literal, get_args

from topgap.errors import LedgerError
from topgap.grouped_parameters import TopKByGroup
from topgap.numbers.format import format_exact, parse_exact
from topgap.parameters import Neighbours, TopK

Kind = Literal["dataset", "charge", "result", "settlement"]
INITIAL_HASH = "topgap.ledger"
"""What the first entry has in place of the hash of the previous one."""

MAX_JSON_DEPTH, MAX_JSON_DIGITS = 50, 600
"""How deep the JSON in an entry may be, and how many digits its whole numbers may have."""

RELATIONS: tuple[Neighbours, ...] = get_args(Neighbours)

DEFAULT_RELATION: Neighbours = "add-remove"
"""The relation of a data set that was added before a ledger recorded relations.

The ε of every release by topgap holds for it if the sensitivity does, and that of monotonic answers
holds for it alone.
"""

NUMBER_OF_GROUPS = "number_of_groups"
"""What a charge for lists of many groups is noted with, beside its parameters."""

_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[^\[\]{}]')
_LONG_WHOLE = re.compile(rf"[0-9]{{{MAX_JSON_DIGITS + 1},}}")

RESTORE_ADVICE = "restore an earlier copy, and charge again what was released since"
"""What to do with a ledger that has lost entries."""

CLOCK_TOLERANCE = timedelta(minutes=1)
"""How far the clocks of several machines may lie apart."""

_TIMESTAMP = "%Y-%m-%dT%H:%M:%S.%fZ"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One row of the table: a data set with its total, a charge, its result, or its settlement.

    Entries are appended, never changed. What does not apply to a kind is None.

    Attributes:
        number: 1, 2, 3 and so on.
        kind: Which of the four it is.
        at: When it was written, by the clock of who wrote it, in UTC.
        dataset: The data set that it is about.
        epsilon: The total of a data set, what a charge reserves, or what it is settled to.
        spent: The sum of all charges of the data set up to this entry, those that are settled
            counted for that.
        mechanism: What was charged for.
        parameters: Its parameters, as JSON.
        who: Who wrote it.
        note: The note of the entry.
        charge: The number of the charge whose result or settlement this is.
        result: What came of it, as JSON.
        software: The version of topgap that wrote it.
        neighbours: What the total of a data set is true for; or what the ε of a charge was stated
            to be true for, if it was.
        stated: The ε that was stated with it; `epsilon` is what that is for the data set.
        recorded: The number of the result that a charge is settled by.
    """

    number: int
    kind: Kind
    at: str
    dataset: str
    epsilon: str | None = None
    spent: str | None = None
    mechanism: str | None = None
    parameters: str | None = None
    who: str
    note: str | None = None
    charge: int | None = None
    result: str | None = None
    software: str
    neighbours: Neighbours | None = None
    stated: str | None = None
    recorded: int | None = None

    @property
    def relation(self) -> Neighbours:
        """What the total of a data set is true for, also if none was stated when it was added."""
        return self.neighbours or DEFAULT_RELATION

    def hash(self, previous: str) -> str:
        """Return the hash of this entry after the one with the hash `previous`.

        It is the SHA-256 of that hash, a line feed, and the entry as JSON: in ASCII, without
        spaces, the names in order, and without those that are None. So a later version can have
        more columns, and the hashes of earlier entries stay what they are.

        >>> entry = Entry(number=1, kind="dataset", at="2026-01-01T00:00:00.000000Z",
        ...               dataset="visits", epsilon="2", who="ana", software="topgap 0.1.0")
        >>> entry.hash(INITIAL_HASH)[:16]
        'e3eabcca9f579340'
        """
        values = {name: getattr(self, name) for name in COLUMNS}
        known = {name: value for name, value in values.items() if value is not None}
        row = json.dumps(known, sort_keys=True, separators=(",", ":"))
        return sha256(f"{previous}\n{row}".encode()).hexdigest()

    def is_valid(self) -> bool:
        """Whether its values are possible for its kind, whatever the other entries say."""
        try:
            parse_timestamp(self.at)
            if self.neighbours not in (None, *RELATIONS):
                return False
            if isinstance(self.recorded, int) != (self.kind == "settlement"):
                return False
            if self.kind == "dataset":
                return _is_positive(self.epsilon) and self.stated is None
            if self.kind == "charge":
                described = is_json(self.parameters or "") and (self.parameters or "")[0] == "{"
                summed_up = _is_positive(self.epsilon) and _is_positive(self.spent)
                is_stated = self.stated is not None
                is_whole = is_stated == (self.neighbours is not None)
                is_whole &= not is_stated or _is_positive(self.stated)
                return described and summed_up and is_whole and bool(self.mechanism)
            is_bare = self.neighbours is None and self.stated is None
            if not isinstance(self.charge, int) or not is_bare:
                return False
            if self.kind == "settlement":
                return _is_positive(self.epsilon) and _is_positive(self.spent)
            return self.kind == "result" and is_json(self.result or "")
        except (TypeError, ValueError):
            return False


COLUMNS = tuple(field.name for field in fields(Entry))
"""The columns of the table, but for the hash."""


def entry_from_row(row: tuple[Any, ...]) -> Entry:
    """Return the entry of a row that has the columns in their order."""
    return Entry(**dict(zip(COLUMNS, row, strict=True)))


def parse_epsilon(text: str | None) -> Fraction:
    """Read the number in a column of an entry that has one.

    >>> parse_epsilon("1/3")
    Fraction(1, 3)
    """
    return parse_exact(text or "")


def is_json(text: str) -> bool:
    """Whether it is JSON that can be read anywhere: not too deep, without numbers too long.

    >>> is_json('{"k": [10]}'), is_json("[" * 60 + "]" * 60), is_json("9" * 700)
    (True, False, False)
    """
    depth = deepest = 0
    for bracket in _BRACKETS.sub("", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    if deepest > MAX_JSON_DEPTH or _LONG_WHOLE.search(_STRINGS.sub("", text)):
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_positive(text: str | None) -> bool:
    number = parse_epsilon(text)
    return number > 0 and format_exact(number) == text


# --- Times


def now() -> datetime:
    """Return the time of the system's clock."""
    return datetime.now(UTC)


def make_timestamp(last: str | None, *, check: bool) -> str:
    """Return the time of a new entry: never before that of the last entry.

    Args:
        last: The time of the last entry, if there is one.
        check: Whether to refuse a clock that is far behind. If not, the new entry gets the time of
            the last one.

    Raises:
        LedgerError: The clock is behind by more than the tolerance.

    >>> make_timestamp("9999-12-31T00:00:00.000000Z", check=False)
    '9999-12-31T00:00:00.000000Z'
    """
    time = now()
    if last is None:
        return format_timestamp(time)
    before = parse_timestamp(last)
    if check and time < before - CLOCK_TOLERANCE:
        raise LedgerError(
            f"The clock shows {time:%Y-%m-%d %H:%M:%S} UTC, before the ledger's last entry of "
            f"{before:%Y-%m-%d %H:%M:%S} UTC; correct it, or give "
            f"check_clock=False (--ignore-clock)."
        )
    return format_timestamp(max(time, before))


def format_timestamp(time: datetime) -> str:
    """Write a time as entries have it.

    >>> format_timestamp(datetime(2026, 1, 1, tzinfo=UTC))
    '2026-01-01T00:00:00.000000Z'
    """
    return time.strftime(_TIMESTAMP)


def parse_timestamp(text: str) -> datetime:
    """Read the time of an entry.

    Raises:
        ValueError: It is not written as `format_timestamp` writes it.

    >>> parse_timestamp("2026-01-01T00:00:00.000000Z")
    datetime.datetime(2026, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    time = datetime.fromisoformat(text)
    if time.tzinfo != UTC or format_timestamp(time) != text:
        raise ValueError
    return time


def relation_of(parameters: TopK | TopKByGroup) -> Neighbours | None:
    """Return the relation for which the ε of a release holds; None if only its user knows.

    Monotonic answers all move the same way if a person is added or removed, and their noise is
    halved for that: their ε holds for "add-remove". Otherwise ε holds for the neighbours for which
    the sensitivity holds.

    >>> relation_of(TopK(k=1, epsilon=1, monotonic=True)), relation_of(TopK(k=1, epsilon=1))
    ('add-remove', None)
    """
    return "add-remove" if parameters.monotonic else None


def conversion_factor(stated: Neighbours | None, relation: Neighbours) -> int | None:
    """Return the factor that converts a stated ε to another relation; None if no ε follows.

    A replacement is a removal and an addition, so its privacy loss is at most twice the loss of one
    of them. An ε between data sets of equal size bounds no addition.

    Args:
        stated: The relation for which the ε holds; None if that is `relation` itself.
        relation: The relation of the data set.

    >>> conversion_factor("add-remove", "replace"), conversion_factor(None, "replace")
    (2, 1)
    >>> conversion_factor("replace", "add-remove") is None
    True
    """
    if stated is None or stated == relation:
        return 1
    return 2 if stated == "add-remove" else None
