"""The rows of a ledger, each with a hash of itself and of the one before: `Entry`."""

import json
import re
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any, Literal

from topgap.ledger import clock
from topgap.neighbours import RELATIONS, UNSTATED, Neighbours
from topgap.numbers.format import format_exact, parse_exact

Kind = Literal["dataset", "charge", "result"]
BEGINNING = "topgap.ledger"
"""What the first row has in place of the hash of the one before."""

DEEPEST, LONGEST_WHOLE = 50, 600
"""How deep the JSON in an entry may be, and how many digits its whole numbers may have."""

_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[^\[\]{}]')
_LONG_WHOLE = re.compile(rf"[0-9]{{{LONGEST_WHOLE + 1},}}")

START_FROM_A_COPY = "take a copy from before, and charge again what was released since"
"""What to do with a ledger whose rows are lost."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One row: a data set with its total, a charge, or the result of a charge.

    Rows are appended, never changed. What does not apply to a kind is None.

    Attributes:
        number: 1, 2, 3 and so on.
        kind: Which of the three it is.
        at: When it was written, by the clock of who wrote it, in UTC.
        dataset: The data set that it is about.
        epsilon: The total of a data set, or what a charge costs.
        spent: The sum of all charges of the data set up to this one.
        mechanism: What was charged for.
        parameters: Its parameters, as JSON.
        who: Who wrote it.
        note: What they wished to say.
        charge: The number of the charge whose result this is.
        result: What came of it, as JSON.
        software: The version of topgap that wrote it.
        neighbours: What the total of a data set is true for; or what the ε of a charge was stated
            to be true for, if it was.
        stated: The ε that was stated with it; `epsilon` is what that is for the data set.
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

    @property
    def relation(self) -> Neighbours:
        """What the total of a data set is true for, also if none was stated when it was added."""
        return self.neighbours or UNSTATED

    def hash(self, before: str) -> str:
        """The hash of this row after the one with the hash `before`.

        It is the SHA-256 of that hash, a line feed, and the row as JSON: in ASCII, without spaces,
        the names in order, and without those that are None. So a later version can have more
        columns, and the hashes of earlier rows stay what they are.

        >>> entry = Entry(number=1, kind="dataset", at="2026-01-01T00:00:00.000000Z",
        ...               dataset="visits", epsilon="2", who="ana", software="topgap 0.1.0")
        >>> entry.hash(BEGINNING)[:16]
        'e3eabcca9f579340'
        """
        values = {name: getattr(self, name) for name in COLUMNS}
        known = {name: value for name, value in values.items() if value is not None}
        row = json.dumps(known, sort_keys=True, separators=(",", ":"))
        return sha256(f"{before}\n{row}".encode()).hexdigest()

    def is_sound(self) -> bool:
        """Whether it says what one of its kind says, whatever the others say."""
        try:
            clock.read(self.at)
            if self.neighbours not in (None, *RELATIONS):
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
            has_result = is_json(self.result or "") and isinstance(self.charge, int)
            is_bare = self.neighbours is None and self.stated is None
            return self.kind == "result" and has_result and is_bare
        except (TypeError, ValueError):
            return False


COLUMNS = tuple(field.name for field in fields(Entry))
"""The columns of the table, but for the hash."""


def is_json(text: str) -> bool:
    """Whether it is JSON that can be read anywhere: not too deep, without numbers too long.

    >>> is_json('{"k": [10]}'), is_json("[" * 60 + "]" * 60), is_json("9" * 700)
    (True, False, False)
    """
    depth = deepest = 0
    for bracket in _BRACKETS.sub("", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    if deepest > DEEPEST or _LONG_WHOLE.search(_STRINGS.sub("", text)):
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_positive(text: str | None) -> bool:
    number = parse_exact(text or "")
    return number > 0 and format_exact(number) == text


def entry_of(row: tuple[Any, ...]) -> Entry:
    """The entry of a row that has the columns in their order."""
    return Entry(**dict(zip(COLUMNS, row, strict=True)))
