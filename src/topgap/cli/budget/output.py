"""What `topgap budget` writes: tables, JSON and CSV, in a file or on standard output."""

import glob
import json
import shutil
import sys
from collections.abc import Collection, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from textwrap import fill
from typing import Any

import typer

from topgap.cli import files
from topgap.cli.budget.request import ExportRequest, ListRequest
from topgap.cli.charges import describe_sharing
from topgap.cli.csv_text import format_csv
from topgap.display.fitted_table import format_fitted_table
from topgap.display.text import to_line
from topgap.ledger import Budget, Charge
from topgap.numbers.format import format_short
from topgap.parameters import MOST_WINNERS

_BAR, _NARROWEST = 13, 40  # with its percentage, a bar is as wide as the head of its column
_MOST_SHOWN = 10  # charges without a result
_LONGEST = 12  # characters of an exact number in a table; files have all of them
_WITHOUT_RESULT = (
    "Without a result: what they were charged for has crashed, is still at work, or recorded "
    "nothing. Nobody knows whether something was released, so they are spent and cannot be given "
    "back; a result that is known can be kept with topgap budget record."
)
_SHARED = (
    "One charge each for the lists of many groups, which share it, however many groups there are:"
)
_SUM = (
    "The sum for {} is the bound for a person who is in all data sets with these neighbours{}. For "
    "a person who is in only one of them, the bound is that of its own row."
)
_OTHERS = "; data sets with other neighbours are not in it"
_UNSTATED = (
    "No neighbours were stated when {} got its total. All that topgap releases is true for one "
    "person added or removed (add-remove), so its sum is, if the sensitivities that were given and "
    "what was charged by hand are true for that too."
)


def check_output(request: ListRequest | ExportRequest) -> str:
    """The format of the output, if it can be written.

    Raises:
        OutputError: The file cannot be written, or is the ledger.
        typer.BadParameter: Neither the option nor the name gives a format.
    """
    if request.output is None:
        return request.output_format or request.formats[0]
    output_format = request.output_format or files.format_by_name(request.output)
    if output_format not in request.formats:
        raise typer.BadParameter(
            f"the name of --output has no known format; give --format "
            f"{' or '.join(request.formats)}."
        )
    files.check_beside_ledger([request.output], request.file)
    inputs = [glob.escape(str(request.file))]
    files.check([request.output], inputs, overwrite=request.overwrite, or_else=", or --overwrite")
    return output_format


def write_text(request: ListRequest | ExportRequest, text: str) -> None:
    """Write the text to the file, or to standard output if there is none.

    Raises:
        OutputError: It cannot be written.
    """
    content = text.encode(errors="backslashreplace")
    if request.output is None:
        files.write_standard_output(content)
    else:
        files.write({request.output: content}, overwrite=request.overwrite)
        print(files.describe_written(request.output))


def terminal_columns(request: ListRequest) -> int | None:
    """The width of the terminal that the table goes to; None if it goes elsewhere."""
    to_terminal = request.output is None and sys.stdout is not None and sys.stdout.isatty()
    return shutil.get_terminal_size().columns if to_terminal else None


def format_budgets(
    budgets: Sequence[Budget], charges: Sequence[Charge], columns: int | None = None
) -> str:
    """Format the budgets as a table, with those of the charges below that have no result.

    Args:
        budgets: The budgets.
        charges: The charges of their data sets.
        columns: The table fits so many columns of a terminal; any number unless given.
    """
    head = [
        "data set", "neighbours", "total", "reserved", "spent", "left", "charges", "settled",
        "spent of the total",
    ]  # fmt: skip
    rows: list[list[str]] = [
        [
            to_line(each.dataset), each.neighbours, _shorten(each.total),
            _shorten_up(each.reserved), _shorten_up(each.spent), _shorten_down(each.left),
            str(each.charges), str(each.settled), _format_bar(each),
        ]
        for each in budgets
    ]  # fmt: skip
    sums = _add_up(budgets)
    has_both = len({each.neighbours for each in budgets}) > 1
    parts = ["There is no data set yet."]
    if rows:
        dispensable = (7, 3, 6, 8) if has_both else (7, 3, 6, 1, 8)
        parts = _format_table(head, rows + sums, (0, 1), dispensable, columns)
    for _, neighbours, *_ in sums:
        sentence = _SUM.format(neighbours, _OTHERS if has_both else "")
        parts.append(f"\n{_fill(sentence, columns)}")
    unstated = [to_line(each.dataset) for each in budgets if not each.neighbours_stated]
    parts += [f"\n{_fill(_UNSTATED.format(each), columns)}" for each in unstated]
    shared = [line for each in charges if (line := _describe_shared(each))]
    if shared:
        shown = [_fill(each, columns) for each in shared[-_MOST_SHOWN:]]
        parts += [f"\n{_fill(_SHARED, columns)}", *shown]
    if len(shared) > _MOST_SHOWN:
        parts.append(_count_hidden(shared))
    orphans = [each for each in charges if each.result is None]
    if orphans:
        table = format_charges(orphans[-_MOST_SHOWN:], columns).rstrip("\n")
        parts += [f"\n{_fill(_WITHOUT_RESULT, columns)}", table]
    if len(orphans) > _MOST_SHOWN:
        parts.append(_count_hidden(orphans))
    return "\n".join(parts) + "\n"


def _add_up(budgets: Sequence[Budget]) -> list[list[str]]:
    """A row for each kind of neighbours that several data sets have: the sums of their columns."""
    rows = []
    for neighbours in dict.fromkeys(each.neighbours for each in budgets):
        alike = [each for each in budgets if each.neighbours == neighbours]
        if len(alike) > 1:
            columns = [
                (each.total, each.reserved, each.spent, each.left, each.charges, each.settled)
                for each in alike
            ]
            total, reserved, spent, left, charges, settled = (
                Fraction(sum(column)) for column in zip(*columns, strict=True)
            )
            rows.append([
                f"sum for {neighbours}", neighbours, _shorten(total), _shorten_up(reserved),
                _shorten_up(spent), _shorten_down(left), str(charges), str(settled), "",
            ])  # fmt: skip
    return rows


def _format_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    left: Collection[int],
    dispensable: Sequence[int],
    columns: int | None,
) -> list[str]:
    """The table, and a sentence about what was left out of it."""
    table, left_out = format_fitted_table(
        head, rows, left, columns=columns, dispensable=dispensable
    )
    if not left_out:
        return [table]
    names = ", ".join(left_out)
    more = f"Left out at this width: {names}. A wider terminal, or a file (--output), has them."
    return [table, _fill(more, columns)]


def _fill(text: str, columns: int | None) -> str:
    return text if columns is None else fill(text, max(columns, _NARROWEST))


def _count_hidden(charges: Sequence[object]) -> str:
    hidden = len(charges) - _MOST_SHOWN
    return f"… and {hidden:,} before them; topgap budget history lists all."


def _describe_shared(charge: Charge) -> str:
    """A line about a charge that groups share; nothing if it is of another kind."""
    sharing = describe_sharing(charge.parameters)
    epsilon = charge.epsilon if charge.stated_epsilon is None else charge.stated_epsilon
    label = f"entry {charge.number}, {to_line(charge.dataset)}"
    return sharing and f"{label}: ε = {_shorten(epsilon)} for {sharing}"


def _format_bar(budget: Budget) -> str:
    """Full only if nothing is left, and empty only if nothing is spent."""
    share = budget.spent / budget.total
    filled = int(share * _BAR) or int(share > 0)
    percent = min(round(share * 100), 99 + (share == 1))
    label = "<1%" if 0 < share < Fraction(1, 100) else f"{percent}%"
    return f"{'█' * filled}{'░' * (_BAR - filled)} {label:>4}"


def format_charges(charges: Sequence[Charge], columns: int | None = None) -> str:
    """Format the charges as a table.

    Args:
        charges: The charges.
        columns: The table fits so many columns of a terminal; any number unless given.
    """
    if not charges:
        return "Nothing was charged yet.\n"
    head = [
        "entry", "when (UTC)", "data set", "reserved", "neighbours", "settled", "left", "for",
        "who", "result", "note",
    ]  # fmt: skip
    rows = [
        [
            str(each.number), f"{each.at:%Y-%m-%d %H:%M:%S}", to_line(each.dataset),
            _shorten_up(each.epsilon), _describe_neighbours(each),
            "" if each.settled is None else _shorten_up(each.settled), _describe_left(each),
            _describe_mechanism(each), to_line(each.who),
            "none" if each.result is None else "recorded", to_line(each.note or ""),
        ]
        for each in charges
    ]  # fmt: skip
    left, dispensable = (1, 2, 4, 7, 8, 9, 10), (10, 8, 4, 9, 5, 1)
    return "\n".join(_format_table(head, rows, left, dispensable, columns)) + "\n"


def _describe_neighbours(charge: Charge) -> str:
    """What ε is true for, and what it was made of if another was stated."""
    if charge.stated_epsilon is None or not charge.is_converted:
        return charge.neighbours
    return f"{charge.neighbours} ({_shorten(charge.stated_epsilon)} {charge.stated_neighbours})"


def _describe_left(charge: Charge) -> str:
    """What was left after the charge, and then after its settlement."""
    if charge.left_settled is None:
        return _shorten_down(charge.left)
    return f"{_shorten_down(charge.left)} → {_shorten_down(charge.left_settled)}"


def _describe_mechanism(charge: Charge) -> str:
    """The mechanism, with k, the column of the items and the like, and how groups share it."""
    names = ("k", "item", "by", "items_per_person", "noise", "threshold")
    noted = {name: charge.parameters.get(name) for name in names}
    if noted["threshold"] is not None and noted["k"] == MOST_WINNERS:
        del noted["k"]  # only the threshold says how many
    more = [f", {name} = {to_line(value)}" for name, value in noted.items() if value is not None]
    sharing = describe_sharing(charge.parameters)
    return to_line(charge.mechanism) + "".join(more) + (sharing and f", for {sharing}")


def _shorten(number: Fraction) -> str:
    return format_short(number, _LONGEST)


def _shorten_up(number: Fraction) -> str:
    """What is spent never looks like less."""
    return format_short(number, _LONGEST, rounding=ROUND_CEILING)


def _shorten_down(number: Fraction) -> str:
    """What is left never looks like more."""
    return format_short(number, _LONGEST, rounding=ROUND_FLOOR)


def format_json(value: object) -> str:
    """Format it as JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _to_cell(value: object) -> object:
    return (
        value
        if value is None or type(value) in (str, int)
        else json.dumps(value, ensure_ascii=False)
    )


def format_rows(rows: Sequence[dict[str, Any]]) -> str:
    """Format the rows as CSV; what is neither text nor a whole number becomes JSON."""
    head = [[*rows[0]]] if rows else []
    return format_csv([*head, *(map(_to_cell, row.values()) for row in rows)])
