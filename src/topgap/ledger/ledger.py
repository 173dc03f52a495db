"""The public class of the ledger: `Ledger`."""

import os
import sqlite3
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from topgap.display.text import to_line
from topgap.errors import BudgetExceeded, LedgerError, ParameterError
from topgap.ledger import serialization, validation
from topgap.ledger.entry import Entry, make_timestamp
from topgap.ledger.entry_log import EntryLog, charge_from_entry
from topgap.ledger.models import Budget, Charge, Quote, Verification
from topgap.ledger.recording import MOST_DIGITS, record_result
from topgap.ledger.statements import read_budget, read_budgets, read_charges
from topgap.ledger.storage.database import Database
from topgap.ledger.verification import verify_entries
from topgap.numbers.format import format_exact, format_short
from topgap.numbers.parse import Number, read_flag, read_parameter, read_whole
from topgap.parameters import Neighbours

WAIT = 60
"""How many seconds to wait for other users of the file, by default."""

_Result = TypeVar("_Result")


class Ledger:
    """A file that adds up the privacy loss ε of all releases of a data set, and refuses the rest.

    Nothing in it is ever changed or taken back: entries are appended, each with a hash of the one
    before. Any number of processes and threads may use one file at the same time, on one machine.
    A `Ledger` itself holds nothing but the path and what is given here.

    Args:
        path: The file, an SQLite database; `add_dataset` makes it.
        who: Who charges; the user's name on this machine unless given.
        note: What is noted with each entry, unless the call gives another note.
        wait: How many seconds to wait for other users of the file.
        check_clock: Whether to refuse a charge or a total when the clock is more than a minute
            behind the last entry. If not, it gets the time of that entry.

    Raises:
        ParameterError, ParameterTypeError: One of them cannot be used.

    >>> from tempfile import TemporaryDirectory
    >>> import topgap
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger(f"{folder}/budget.db")
    ...     _ = ledger.add_dataset("trees", epsilon=2)
    ...     trees = {"ash": 10**9, "elm": 0, "oak": 10**6}
    ...     release = topgap.top_k(trees, k=2, epsilon="1/2", ledger=ledger, dataset="trees")
    ...     ledger.budget("trees").left
    ...     topgap.Release.from_json(ledger.history()[0].result) == release
    Fraction(3, 2)
    True
    """

    __slots__ = ("_check_clock", "_database", "_note", "_who")

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        who: str | None = None,
        note: str | None = None,
        wait: float = WAIT,
        check_clock: bool = True,
    ) -> None:
        self._who = validation.read_who(who)
        self._note = validation.read_note(note)
        self._check_clock = read_flag(check_clock, "check_clock")
        self._database = Database(validation.read_path(path), validation.read_wait(wait))

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._database.path

    def add_dataset(
        self,
        dataset: str,
        epsilon: "Number",
        *,
        neighbours: Neighbours = "add-remove",
        note: str | None = None,
    ) -> Budget:
        """Set the total ε of a data set, once; and make the file, if there is none.

        Args:
            dataset: Its name.
            epsilon: The sum of ε that all its releases may have; see `topgap.top_k` for how
                numbers are read.
            neighbours: Which data sets the total is a promise between, once and for all:
                "add-remove", if one person is added or removed, or "replace", if one is replaced
                by another.
            note: A note to keep with it.

        Returns:
            Its budget.

        Raises:
            LedgerError: The data set has its total already, or one with nearly its name has, or
                the file cannot be written.
            ParameterError, ParameterTypeError: A parameter cannot be used.
        """
        name = validation.read_dataset(dataset)
        columns = {
            "epsilon": format_exact(read_parameter(epsilon, "epsilon")),
            "neighbours": validation.read_neighbours(neighbours),
            "note": self._note_or_default(note),
            "who": self._who,
        }

        def add(connection: sqlite3.Connection) -> Budget:
            log = self._log(connection)
            last = log.last()
            for known in log.datasets():
                if known == name:
                    total = log.balance(name).total
                    raise LedgerError(
                        f"{to_line(name)} has its total already, {format_short(total)}; it can be "
                        f"set only once."
                    )
                if validation.fold_name(known) == validation.fold_name(name):
                    raise LedgerError(
                        f"There is a data set {to_line(known)} with nearly this name; use "
                        f"that name, or a different one."
                    )
            log.append(last, kind="dataset", at=self._timestamp(last), dataset=name, **columns)
            return read_budget(log, name)

        return self._database.write(add, create=True)

    def charge(
        self,
        dataset: str,
        epsilon: "Number",
        *,
        mechanism: str,
        parameters: Mapping[str, Any] | None = None,
        neighbours: Neighbours | None = None,
        note: str | None = None,
    ) -> Charge:
        """Charge a release to the budget of a data set: first charge, then release.

        Calls of topgap that are given `ledger=` and `dataset=` do it themselves. This is for
        any other release, such as a sum by another library.

        Args:
            dataset: The data set.
            epsilon: How much the release costs.
            mechanism: What it is charged for, in a word.
            parameters: Those of the mechanism, as far as JSON can hold them.
            neighbours: Which neighbouring data sets this ε is true for; None if for those of the
                data set. What is true for "add-remove" is charged twice to a data set with
                "replace", because a replacement is a removal and an addition.
            note: A note to keep with it.

        Returns:
            The charge, for `record`. It is on the disk, whatever happens next.

        Raises:
            BudgetExceeded: There is less left; nothing was charged.
            LedgerError: There is no such data set, the ε is true for "replace" and its total for
                "add-remove", or the file cannot be written; nothing may be released then.
            ParameterError, ParameterTypeError: A parameter cannot be used; nothing was charged.
        """
        return self._charge(dataset, epsilon, neighbours, mechanism, parameters, note, commit=True)

    def check(
        self, dataset: str, epsilon: "Number", *, neighbours: Neighbours | None = None
    ) -> Quote:
        """Check whether so much could be charged now, without charging it.

        Returns:
            What would be charged, and what would be left then.

        Raises:
            BudgetExceeded, LedgerError, ParameterError, ParameterTypeError: As of `charge`.
        """
        seen = self._charge(dataset, epsilon, neighbours, "to be seen", None, None, commit=False)
        return Quote(seen.epsilon, seen.left)

    def _charge(
        self,
        dataset: str,
        epsilon: "Number",
        neighbours: Neighbours | None,
        mechanism: str,
        parameters: Mapping[str, Any] | None,
        note: str | None,
        *,
        commit: bool,
    ) -> Charge:
        name = validation.read_dataset(dataset)
        stated = read_parameter(epsilon, "epsilon")
        relation = None if neighbours is None else validation.read_neighbours(neighbours)
        columns = {
            "mechanism": validation.read_mechanism(mechanism),
            "parameters": validation.read_parameters(parameters),
            "neighbours": relation,
            "stated": None if relation is None else format_exact(stated),
            "note": self._note_or_default(note),
            "who": self._who,
        }

        def spend(connection: sqlite3.Connection) -> Charge:
            log = self._log(connection)
            last = log.last()
            total, spent, dataset_relation = log.balance(name)
            cost = validation.convert_epsilon(stated, relation, dataset_relation, name)
            if spent + cost > total:
                raise _refuse(name, cost, total - spent, total, stated)
            if (spent + cost).denominator >= 10**MOST_DIGITS:
                raise ParameterError(
                    f"epsilon must be a number whose sum with the earlier charges has at most "
                    f"{MOST_DIGITS} digits; give one with a smaller denominator."
                )
            entry, digest = log.append(
                last, kind="charge", at=self._timestamp(last), dataset=name,
                epsilon=format_exact(cost), spent=format_exact(spent + cost), **columns,
            )  # fmt: skip
            return charge_from_entry(entry, digest, total, dataset_relation)

        return self._database.write(spend, commit=commit)

    def record(self, charge: Charge | int, result: object) -> None:
        """Record the result of a charge; once.

        It settles nothing: nobody can tell whether what is handed in is all that was drawn. Only
        the calls of topgap that draw a release settle its charge.

        Args:
            charge: The charge, or its number.
            result: A `Release` or `Estimates`, or those of all groups, or whatever `json.dumps` can
                write, which may have such in it. Names that JSON cannot hold are kept as text.

        Raises:
            ChargeMissingError: There is no such charge.
            LedgerError: It has a result already, the result cost more, or the file cannot be
                written.
            ParameterTypeError: The result is nothing that can be kept.
        """
        self._record(charge, result, settles=False)

    def _record_drawn(self, charge: Charge, result: object) -> Charge:
        """Record the result that a call drew for its charge, and settle the charge.

        For `topgap.ledger.charging` alone: others call `record`. If the result is a release that a
        threshold ended early, the charge is settled to what this output cost, in one transaction
        with the recording of the result.

        Returns:
            The charge with its result, and with what it was settled to.

        Raises:
            ChargeMissingError, LedgerError, ParameterTypeError: As of `record`.
        """
        return self._record(charge, result, settles=True)

    def _record(self, charge: Charge | int, result: object, *, settles: bool) -> Charge:
        number = charge.number if isinstance(charge, Charge) else charge
        number = read_whole(number, "charge", least=1)
        receipt = charge.receipt if isinstance(charge, Charge) else None
        kept = validation.read_result(result)
        return self._database.write(
            lambda connection: record_result(
                self._log(connection), number, receipt, kept, self._who, settles=settles
            )
        )

    def budget(self, dataset: str) -> Budget:
        """Return the budget of a data set: its total ε, and what is spent and left of it.

        Raises:
            LedgerError: There is no such data set, or the file cannot be read.
        """
        name = validation.read_dataset(dataset)
        return self._read(lambda log: read_budget(log, name))

    def budgets(self) -> tuple[Budget, ...]:
        """Return the budgets of all data sets, in the order in which they were added.

        Raises:
            LedgerError: The file cannot be read.
        """
        return self._read(read_budgets)

    def history(self, dataset: str | None = None) -> tuple[Charge, ...]:
        """Return all charges, or those of a data set, in their order; all hashes are checked.

        Raises:
            LedgerError: There is no such data set, or the file cannot be read or was changed.
        """
        name = None if dataset is None else validation.read_dataset(dataset)
        return self._read(lambda log: read_charges(log, name))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON can hold it: data sets, charges with results, and the receipt.

        It is verified as by `verify`. Numbers are exact, as text.

        Raises:
            LedgerError: The file cannot be read, or was changed.
        """

        def export(connection: sqlite3.Connection) -> dict[str, Any]:
            verification = verify_entries(connection, self._database.label, ())
            log = self._log(connection)
            return {
                "format": serialization.FORMAT,
                "datasets": [*map(serialization.budget_to_dict, read_budgets(log))],
                "charges": [*map(serialization.charge_to_dict, read_charges(log, None))],
                "receipt": verification.receipt,
            }

        return self._database.read(export)

    def to_bytes(self) -> bytes:
        """Return the file as it is at this moment, whole: for a copy to be kept elsewhere.

        A copy that another program makes while somebody charges may be torn. Never charge to a
        copy: it does not know what the ledger is charged meanwhile.

        Raises:
            LedgerError: The file cannot be read, or was changed.
        """

        def copy(connection: sqlite3.Connection) -> bytes:
            verify_entries(connection, self._database.label, ())
            return connection.serialize()

        return self._database.read(copy)

    def verify(self, *receipts: str) -> Verification:
        """See that nothing was edited, deleted or reordered, and that all sums are right.

        Args:
            *receipts: Those of charges, or of an earlier verification, that were kept elsewhere:
                the ledger must still have the entries that they are of. Without one, a ledger that
                was written anew from its beginning cannot be told from the true one.

        Returns:
            How many entries it has, and the receipt of the last one, to be kept elsewhere.

        Raises:
            LedgerError: Something is not as it was written; the sentence says where.
        """
        return self._database.read(
            lambda connection: verify_entries(connection, self._database.label, receipts)
        )

    def _read(self, do: Callable[[EntryLog], _Result]) -> _Result:
        """Run a function on the entries, if the last of them is there."""

        def read(connection: sqlite3.Connection) -> _Result:
            log = self._log(connection)
            log.last()
            return do(log)

        return self._database.read(read)

    def _note_or_default(self, note: str | None) -> str | None:
        return self._note if note is None else validation.read_note(note)

    def _timestamp(self, last: Entry | None) -> str:
        return make_timestamp(None if last is None else last.at, check=self._check_clock)

    def _log(self, connection: sqlite3.Connection) -> EntryLog:
        return EntryLog(connection, self._database.label)

    def __repr__(self) -> str:
        return f"<Ledger {self._database.label}>"


def _refuse(
    dataset: str, epsilon: Fraction, left: Fraction, total: Fraction, stated: Fraction
) -> BudgetExceeded:
    """The refusal of a charge that is more than what is left.

    >>> print(_refuse("visits", Fraction(1), Fraction(1, 3), Fraction(2), Fraction(1)))
    ε = 1 is more than what is left for visits, 1/3 of 2; nothing was charged.
    """
    doubled = "" if stated == epsilon else f" ({format_short(stated)} for add-remove)"
    return BudgetExceeded(
        f"ε = {format_short(epsilon)}{doubled} is more than what is left for {to_line(dataset)}, "
        f"{format_short(left)} of {format_short(total)}; nothing was charged.",
        dataset,
        epsilon,
        left,
        total,
        stated,
    )
