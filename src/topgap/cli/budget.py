"""`topgap budget`: what the parts of it do."""

import glob
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import typer

from topgap.cli import files, standard_output
from topgap.cli.csv_text import csv_text
from topgap.cli.forms import form_of
from topgap.cli.publishing import charged
from topgap.display.text import format_path, format_text_table, to_line
from topgap.errors import SourceError
from topgap.estimates import Estimates
from topgap.estimates.parsing import FORMAT as ESTIMATES
from topgap.ledger import Budget, Charge, Ledger, serialization
from topgap.numbers.format import format_exact
from topgap.parameters import Neighbours
from topgap.release import FORMAT as RELEASE
from topgap.release import Release

Form = Literal["table", "json", "csv"]

_BAR = 20
_MOST_SHOWN = 10  # charges without a result
_LONGEST_RESULT = 100_000_000  # bytes
_LONGEST = 12  # characters of an exact number in a table; files have all of them
_WITHOUT_RESULT = (
    "Without a result: what they were charged for has crashed, is still at work, or recorded "
    "nothing. Nobody knows whether something was released, so they are spent and cannot be given "
    "back; a result that is known can be kept with topgap budget record."
)
_UNSTATED = (
    "No neighbours were stated when {} got its total. All that topgap releases is true for one "
    "person added or removed (add-remove), so its sum is, if the sensitivities that were given and "
    "what was charged by hand are true for that too."
)


@dataclass(frozen=True)
class Asked:
    """The ledger, and what is noted with an entry."""

    file: Path
    who: str | None = None
    note: str | None = None
    ignore_clock: bool = False

    @property
    def ledger(self) -> Ledger:
        """The ledger itself."""
        return Ledger(self.file, who=self.who, note=self.note, check_clock=not self.ignore_clock)


@dataclass(frozen=True)
class Target:
    """Where something is written, and how.

    Attributes:
        form: How, if it was said.
        output: The file; standard output, if there is none.
        overwrite: Whether a file that exists may be overwritten.
        forms: Those that there are; the first is taken if nothing tells.
    """

    form: Form | None
    output: Path | None
    overwrite: bool
    forms: tuple[Form, ...] = ("table", "json", "csv")

    def checked(self, asked: Asked) -> Form:
        """The form, if all of it can be done.

        Raises:
            OutputError: The file cannot be written, or is the ledger.
            typer.BadParameter: Nothing tells the form.
        """
        if self.output is None:
            return self.form or self.forms[0]
        form = self.form or form_of(self.output)
        if form not in self.forms:
            raise typer.BadParameter(
                f"the name of --output tells no format; give --format {' or '.join(self.forms)}."
            )
        files.check_beside_ledger([self.output], asked.file)
        read = [glob.escape(str(asked.file))]
        files.check([self.output], read, overwrite=self.overwrite, or_else=", or --overwrite")
        return form

    def write(self, text: str) -> None:
        """Write it.

        Raises:
            OutputError: It cannot be.
        """
        content = text.encode(errors="backslashreplace")
        if self.output is None:
            standard_output.write(content)
        else:
            files.write({self.output: content}, overwrite=self.overwrite)
            print(files.written(self.output))


def init(asked: Asked, dataset: str, epsilon: str, neighbours: Neighbours) -> None:
    """Set a total."""
    made = asked.ledger.add_dataset(dataset, epsilon, neighbours=neighbours)
    print(
        f"The releases of {to_line(made.dataset)} may cost ε = {format_exact(made.total)} in all "
        f"(neighbours: {made.neighbours}), in the ledger {format_path(asked.file)}."
    )


def charge(
    asked: Asked, dataset: str, epsilon: str, mechanism: str, neighbours: Neighbours | None
) -> None:
    """Charge what others release."""
    made = asked.ledger.charge(dataset, epsilon, mechanism=mechanism, neighbours=neighbours)
    print(charged(made))


def record(asked: Asked, charge: int, result: Path) -> None:
    """Keep what came of a charge.

    Raises:
        SourceError: The result cannot be read, or is no JSON.
    """
    label = "Standard input" if str(result) == "-" else format_path(result)
    if str(result) == "-" and sys.stdin is None:
        raise SourceError("Standard input is closed.")
    try:
        if str(result) == "-":
            text = sys.stdin.buffer.read(_LONGEST_RESULT + 1)
        else:
            with result.open("rb") as file:
                text = file.read(_LONGEST_RESULT + 1)
        if len(text) > _LONGEST_RESULT:
            raise SourceError(f"{label} has more than {_LONGEST_RESULT:,} bytes.")
        read = json.loads(text)
    except SourceError:
        raise
    except OSError as error:
        raise SourceError(f"{label} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise SourceError(f"{label} is no JSON.") from None
    asked.ledger.record(charge, _released(read))
    print(f"The result of charge {charge} is recorded in {format_path(asked.file)}.")


def _released(read: Any) -> Any:
    """The release or the estimates, if it is one of these, so that its ε is compared."""
    told = read.get("format") if isinstance(read, dict) else None
    if told == RELEASE:
        return Release.from_dict(read)
    return Estimates.from_dict(read) if told == ESTIMATES else read


def show(asked: Asked, dataset: str | None, target: Target) -> None:
    """Tell what is spent and left."""
    form = target.checked(asked)
    ledger = asked.ledger
    budgets = ledger.budgets() if dataset is None else (ledger.budget(dataset),)
    rows = [*map(serialization.budget_to_dict, budgets)]
    if form == "json":
        target.write(_json({"format": "topgap.budgets/1", "datasets": rows}))
    elif form == "csv":
        target.write(_csv(rows))
    else:
        target.write(_budgets(budgets, ledger.history(dataset)))


def history(asked: Asked, dataset: str | None, target: Target) -> None:
    """List the charges."""
    form = target.checked(asked)
    charges = asked.ledger.history(dataset)
    rows = [*map(serialization.charge_to_dict, charges)]
    if form == "json":
        target.write(_json({"format": "topgap.charges/1", "charges": rows}))
    elif form == "csv":
        target.write(_csv(rows))
    else:
        target.write(_charges(charges))


def export(asked: Asked, target: Target) -> None:
    """Write all of it."""
    form = target.checked(asked)
    whole = asked.ledger.to_dict()
    target.write(_json(whole) if form == "json" else _csv(whole["charges"]))


def copy(asked: Asked, target: Path, *, overwrite: bool) -> None:
    """Write the file once more, elsewhere.

    Raises:
        typer.BadParameter: The target is standard output.
    """
    if str(target) == "-":
        raise typer.BadParameter("a copy is a file; give its name.")
    files.check_beside_ledger([target], asked.file)
    read = [glob.escape(str(asked.file))]
    files.check([target], read, overwrite=overwrite, or_else=", or --overwrite")
    files.write({target: asked.ledger.to_bytes()}, overwrite=overwrite)
    print(files.written(target))


def verify(asked: Asked, receipts: Sequence[str]) -> None:
    """See whether it is as it was written."""
    seen = asked.ledger.verify(*(each.removeprefix("Receipt").strip() for each in receipts))
    entries = "1 entry" if seen.entries == 1 else f"{seen.entries:,} entries"
    print(
        f"{format_path(asked.file)} is as it was written: {entries}, each after the one before "
        f"it, and all sums are right."
    )
    print(f"Receipt {seen.receipt}")
    if not receipts:
        print(
            "Keep the receipt elsewhere and give it next time (--receipt): without one, a ledger "
            "that was written anew from its beginning cannot be told from the true one."
        )


def _budgets(budgets: Sequence[Budget], charges: Sequence[Charge]) -> str:
    head = ["data set", "neighbours", "total", "spent", "left", "charges", "spent of the total"]
    rows = [
        [
            to_line(each.dataset), each.neighbours, _short(each.total), _short(each.spent),
            _short(each.left), str(each.charges), _bar(each),
        ]
        for each in budgets
    ]  # fmt: skip
    parts = [format_text_table(head, rows, left=(0, 1, 6)) if rows else "There is no data set yet."]
    unstated = [to_line(each.dataset) for each in budgets if not each.neighbours_stated]
    parts += [f"\n{_UNSTATED.format(each)}" for each in unstated]
    orphans = [each for each in charges if each.result is None]
    if orphans:
        parts += [f"\n{_WITHOUT_RESULT}", _charges(orphans[-_MOST_SHOWN:]).rstrip("\n")]
    if len(orphans) > _MOST_SHOWN:
        parts.append(
            f"… and {len(orphans) - _MOST_SHOWN:,} before them; topgap budget history lists all."
        )
    return "\n".join(parts) + "\n"


def _bar(budget: Budget) -> str:
    """Full only if nothing is left, and empty only if nothing is spent."""
    share = budget.spent / budget.total
    filled = int(share * _BAR) or int(share > 0)
    percent = "<1%" if 0 < share < Fraction(1, 100) else f"{int(share * 100)}%"
    return f"{'█' * filled}{'░' * (_BAR - filled)} {percent:>4}"


def _charges(charges: Sequence[Charge]) -> str:
    if not charges:
        return "Nothing was charged yet.\n"
    head = [
        "entry", "when (UTC)", "data set", "ε", "neighbours", "left", "for", "who", "result",
        "note",
    ]  # fmt: skip
    rows = [
        [
            str(each.number), f"{each.at:%Y-%m-%d %H:%M:%S}", to_line(each.dataset),
            _short(each.epsilon), _neighbours(each), _short(each.left), _what(each),
            to_line(each.who), "none" if each.result is None else "recorded",
            to_line(each.note or ""),
        ]
        for each in charges
    ]  # fmt: skip
    return format_text_table(head, rows, left=(1, 2, 4, 6, 7, 8, 9)) + "\n"


def _neighbours(charge: Charge) -> str:
    """What ε is true for, and what it was made of if another was stated."""
    if charge.stated_epsilon is None or not charge.is_converted:
        return charge.neighbours
    return f"{charge.neighbours} ({_short(charge.stated_epsilon)} {charge.stated_neighbours})"


def _what(charge: Charge) -> str:
    """The mechanism, with k and the column of the items if it has them."""
    told = {name: charge.parameters.get(name) for name in ("k", "item")}
    more = [f", {name} = {to_line(value)}" for name, value in told.items() if value is not None]
    return to_line(charge.mechanism) + "".join(more)


def _short(number: Fraction) -> str:
    """A decimal: exact, or if that is too long for a table, about."""
    exact = format_exact(number)
    if len(exact) <= _LONGEST and "/" not in exact:
        return exact
    return f"≈{Decimal(number.numerator) / Decimal(number.denominator):.5g}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _cell(value: object) -> object:
    return (
        value
        if value is None or type(value) in (str, int)
        else json.dumps(value, ensure_ascii=False)
    )


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    """A line for each; what is no text and no whole number is JSON."""
    head = [[*rows[0]]] if rows else []
    return csv_text([*head, *(map(_cell, row.values()) for row in rows)])
