"""What is published, on its way out: files, standard output, and remarks on standard error."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from topgap.cli import files, standard_output
from topgap.cli.release.formats import Form, in_form
from topgap.cli.release.publication import Publication
from topgap.cli.release.request import Request
from topgap.display.text import to_line
from topgap.ledger.charging import Charged, Payment
from topgap.margins import is_uncertain
from topgap.numbers.format import format_exact
from topgap.parameters import TopK

if TYPE_CHECKING:
    from topgap.ledger import Charge

_REMARKS: Mapping[str, str] = {
    "add-remove": "Data sets are neighbours if one person is added or removed: all counts then "
    "move the same way (monotonic), and half the noise is enough.",
    "replace": "Data sets are neighbours if one person is replaced by another.",
}
_BOTH_WAYS = (
    "Data sets are neighbours if one person is added or removed, which may move some numbers up "
    "and others down (--no-monotonic)."
)
_ALL_ROWS = (
    "Every row took part as an item of the public list: that this list may be known, and that no "
    "item has two rows, is your word (--all-rows)."
)
_NOTHING_STANDS_OUT = (
    "No gap is larger than noise alone often makes: if that surprises you, see whether the columns "
    "and the list of items are those of the data."
)


def publish(request: Request, made: Publication, payment: Payment) -> None:
    """Write the files that were asked for, and show the rest.

    Raises:
        OutputError: It cannot be written.
    """
    form = request.written_as or "table"
    contents: dict[Path, bytes] = {}
    if request.output is not None:
        contents[request.output] = in_form(made, form)
    if request.report is not None:
        contents[request.report] = made.to_html(**_said(request)).encode()
    files.write(contents, overwrite=request.overwrite)

    remarks = [] if request.quiet else _remarks(request, made, payment, [*contents])
    if request.output is not None or form != "table":  # else it stands below the table
        remarks += made.release.caveats
    if sys.stderr is not None:
        for remark in remarks:
            print(remark, file=sys.stderr)
    if request.output is None:
        _print(request, made, form)


def _remarks(
    request: Request, made: Publication, payment: Payment, targets: list[Path]
) -> list[str]:
    """What is said besides, to whoever has not asked for quiet."""
    remarks = words(request, made.release.parameters)
    if isinstance(payment, Charged) and payment.charge is not None:
        remarks.append(charged(payment.charge))
    remarks += [*map(files.written, targets)]
    if request.written_as != "table" or request.output is not None:  # else they stand below it
        remarks += made.cautions
    parameters = made.release.parameters
    if all(is_uncertain(gap, parameters) for gap in made.release.gaps or ()):
        remarks.append(_NOTHING_STANDS_OUT)
    return remarks


def words(request: Request, parameters: TopK) -> list[str]:
    """What the promise rests on: which neighbours, and what only the user knows."""
    neighbours = request.neighbours or "add-remove"
    is_plain = neighbours == "replace" or parameters.monotonic
    said = [_REMARKS[neighbours] if is_plain else _BOTH_WAYS]
    if request.count is not None:
        same_way = " and all the same way" if parameters.monotonic else ""
        said.append(
            f"That one person moves each count by at most {format_exact(parameters.sensitivity)} "
            f"(--sensitivity){same_way} is your word."
        )
    if request.all_rows:
        said.append(_ALL_ROWS)
    return said


def charged(charge: "Charge") -> str:
    """What is said of a charge."""
    converted = ""
    if charge.stated_epsilon is not None and charge.is_converted:
        stated = f"{format_exact(charge.stated_epsilon)} for {charge.stated_neighbours}"
        converted = f" ({stated}, which is twice as much for {charge.neighbours})"
    return (
        f"Charged to {to_line(charge.dataset)}: ε = {format_exact(charge.epsilon)}{converted}, "
        f"which leaves {format_exact(charge.left)}. Receipt {charge.receipt}"
    )


def _said(request: Request) -> dict[str, str]:
    """What the page is told to say."""
    said = {"title": request.title, "counted": _what_was_counted(request)}
    return {name: text for name, text in said.items() if text is not None}


def _what_was_counted(request: Request) -> str:
    if request.counted_as == "fimi":
        return "Counted for each item: the people who have it."
    if request.count is not None:
        return f"Counted for each {request.item}: {request.count}."
    return f"Counted for each {request.item}: every {request.person} who has it, once."


def _print(request: Request, made: Publication, form: Form) -> None:
    if form == "table" and request.is_shown:
        from topgap.cli.release.terminal import show

        show(made)
    else:
        standard_output.write(in_form(made, form))
