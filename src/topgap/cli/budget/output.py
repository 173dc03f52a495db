"""What `topgap budget` writes: tables, JSON and CSV, in a file or on standard output."""

import glob
import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import typer

from topgap.cli import files
from topgap.cli.budget.request import ExportRequest, ListRequest
from topgap.cli.charges import describe_sharing
from topgap.cli.csv_text import format_csv
from topgap.display.text import format_text_table, to_line
from topgap.ledger import Budget, Charge
from topgap.numbers.format import format_short
from topgap.parameters import MOST_WINNERS

_BAR = 20
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
_UNSTATED = (
    "No neighbours were stated when {} got its total. All that topgap releases is true for one "
    "person added or removed (add-remove), so its sum is, if the sensitivities that were given and "
    "what was charged by hand are true for that too."
)


def check_output(request: ListRequest | ExportRequest) -> str:
    """The format of the output, if it can be written.

    Raises:
        OutputError: The file cannot be written, or is the ledger.
        typer.BadParameter: Neither option nor name tells the format.
    """
    if request.output is None:
        return request.output_format or request.formats[0]
    output_format = request.output_format or files.format_by_name(request.output)
    if output_format not in request.formats:
        raise typer.BadParameter(
            f"the name of --output tells no format; give --format {' or '.join(request.formats)}."
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


def format_budgets(budgets: Sequence[Budget], charges: Sequence[Charge]) -> str:
    """Format the budgets as a table, with those of the charges below that have no result."""
    head = [
        "data set", "neighbours", "total", "reserved", "spent", "left", "charges", "settled",
        "spent of the total",
    ]  # fmt: skip
    rows = [
        [
            to_line(each.dataset), each.neighbours, _shorten(each.total), _shorten(each.reserved),
            _shorten(each.spent), _shorten(each.left), str(each.charges), str(each.settled),
            _format_bar(each),
        ]
        for each in budgets
    ]  # fmt: skip
    parts = [format_text_table(head, rows, left=(0, 1, 8)) if rows else "There is no data set yet."]
    unstated = [to_line(each.dataset) for each in budgets if not each.neighbours_stated]
    parts += [f"\n{_UNSTATED.format(each)}" for each in unstated]
    shared = [line for each in charges if (line := _describe_shared(each))]
    if shared:
        parts += [f"\n{_SHARED}", *shared[-_MOST_SHOWN:]]
    if len(shared) > _MOST_SHOWN:
        parts.append(_count_hidden(shared))
    orphans = [each for each in charges if each.result is None]
    if orphans:
        parts += [f"\n{_WITHOUT_RESULT}", format_charges(orphans[-_MOST_SHOWN:]).rstrip("\n")]
    if len(orphans) > _MOST_SHOWN:
        parts.append(_count_hidden(orphans))
    return "\n".join(parts) + "\n"


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
    label = "<1%" if 0 < share < Fraction(1, 100) else f"{int(share * 100)}%"
    return f"{'█' * filled}{'░' * (_BAR - filled)} {label:>4}"


def format_charges(charges: Sequence[Charge]) -> str:
    """Format the charges as a table."""
    if not charges:
        return "Nothing was charged yet.\n"
    head = [
        "entry", "when (UTC)", "data set", "reserved", "neighbours", "settled", "left", "for",
        "who", "result", "note",
    ]  # fmt: skip
    rows = [
        [
            str(each.number), f"{each.at:%Y-%m-%d %H:%M:%S}", to_line(each.dataset),
            _shorten(each.epsilon), _describe_neighbours(each),
            "" if each.settled is None else _shorten(each.settled), _describe_left(each),
            _describe_mechanism(each), to_line(each.who),
            "none" if each.result is None else "recorded", to_line(each.note or ""),
        ]
        for each in charges
    ]  # fmt: skip
    return format_text_table(head, rows, left=(1, 2, 4, 7, 8, 9, 10)) + "\n"


def _describe_neighbours(charge: Charge) -> str:
    """What ε is true for, and what it was made of if another was stated."""
    if charge.stated_epsilon is None or not charge.is_converted:
        return charge.neighbours
    return f"{charge.neighbours} ({_shorten(charge.stated_epsilon)} {charge.stated_neighbours})"


def _describe_left(charge: Charge) -> str:
    """What was left after the charge, and then after its settlement."""
    if charge.left_settled is None:
        return _shorten(charge.left)
    return f"{_shorten(charge.left)} → {_shorten(charge.left_settled)}"


def _describe_mechanism(charge: Charge) -> str:
    """The mechanism, with k, the column of the items and the like, and how groups share it."""
    names = ("k", "item", "by", "items_per_person", "noise", "threshold")
    noted = {name: charge.parameters.get(name) for name in names}
    if noted["threshold"] is not None and noted["k"] == MOST_WINNERS:
        del noted["k"]  # the threshold alone says how many
    more = [f", {name} = {to_line(value)}" for name, value in noted.items() if value is not None]
    sharing = describe_sharing(charge.parameters)
    return to_line(charge.mechanism) + "".join(more) + (sharing and f", for {sharing}")


def _shorten(number: Fraction) -> str:
    return format_short(number, _LONGEST)


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
