"""What a ledger returns: `Budget`, `Charge`, `Quote` and `Verification`."""

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any, NamedTuple

from topgap.parameters import Neighbours


@dataclass(frozen=True)
class Budget:
    """The privacy budget of a data set: its total ε, and what is spent of it.

    Attributes:
        dataset: Its name.
        total: The sum of ε that all its releases may have.
        reserved: The sum of ε of all charges as they were made, before anything was drawn.
        spent: The sum that counts: as `reserved`, but a charge that was settled counts for what its
            result cost.
        charges: How many there were.
        settled: How many of them were settled.
        without_result: How many of them have no result: what they were made for crashed, or is
            still at work, or did not record it. Nobody knows whether something was released, so
            they are spent.
        since: When the total was set.
        who: Who set it.
        note: The note of the entry.
        neighbours: The relation between data sets that total and sum are true for: "add-remove",
            one person was added or removed, or "replace", one was replaced by another.
        neighbours_stated: Whether it was stated when the total was set. A ledger from before there
            was a choice says "add-remove", which is what all releases of topgap are true for.
    """

    dataset: str
    total: Fraction
    reserved: Fraction
    spent: Fraction
    charges: int
    settled: int
    without_result: int
    since: datetime
    who: str
    note: str | None
    neighbours: Neighbours
    neighbours_stated: bool

    @property
    def left(self) -> Fraction:
        """What is left of the total for further releases.

        >>> from datetime import UTC
        >>> since = datetime(2026, 1, 1, tzinfo=UTC)
        >>> Budget("visits", Fraction(2), Fraction(1), Fraction(1, 3), 1, 1, 0, since, "ana", None,
        ...        "add-remove", True).left
        Fraction(5, 3)
        """
        return self.total - self.spent


@dataclass(frozen=True)
class Charge:
    """The charge of one release to the budget of a data set.

    Attributes:
        number: The number of its entry in the ledger.
        at: When it was charged.
        dataset: The data set.
        epsilon: How much was reserved, for the relation of the data set.
        spent: The sum of all charges of the data set up to this one, those that were settled by
            then counted for that.
        left: What was left of the total then.
        mechanism: What it was charged for.
        parameters: The parameters of that.
        who: Who charged it.
        note: The note of the entry.
        software: The version of topgap that wrote it.
        neighbours: The relation of the data set, which `epsilon` is true for.
        stated_epsilon: The ε that was stated for another relation or for this one; None if none
            was named, and `epsilon` is what was handed in.
        stated_neighbours: The relation that it was stated for. An ε for "add-remove" is charged
            twice where the data set has "replace", for that is a removal and an addition.
        receipt: Its number and its hash; `Ledger.verify` tells whether the ledger still has it.
        result: What came of it, as JSON, such as `Release.from_json`, `Estimates.from_json` and
            those of `GroupedRelease` and `GroupedEstimates` read; None if nothing was recorded.
        settled: What the result cost, for the relation of the data set, if that is less than
            `epsilon`: the charge has counted for so much since. None if it counts for `epsilon`.
        left_settled: What was left of the total after that; None if it was not settled.
    """

    number: int
    at: datetime
    dataset: str
    epsilon: Fraction
    spent: Fraction
    left: Fraction
    mechanism: str
    parameters: dict[str, Any]
    who: str
    note: str | None
    software: str
    neighbours: Neighbours
    stated_epsilon: Fraction | None
    stated_neighbours: Neighbours | None
    receipt: str
    result: str | None = None
    settled: Fraction | None = None
    left_settled: Fraction | None = None

    @property
    def is_converted(self) -> bool:
        """Whether another ε than the stated one was charged."""
        return self.stated_epsilon not in (None, self.epsilon)


class Quote(NamedTuple):
    """What a charge would be, if it were made now.

    Attributes:
        cost: What would be charged, converted to the neighbours of the data set.
        left: What would be left of its total.
    """

    cost: Fraction
    left: Fraction


@dataclass(frozen=True)
class Verification:
    """The result of a verification: the ledger is as it was written.

    Attributes:
        entries: How many it has.
        receipt: The number and hash of the last one. Whoever can write to the file can write all of
            it anew, with new hashes; but other entries cannot have this receipt. So keep it
            elsewhere.
    """

    entries: int
    receipt: str
