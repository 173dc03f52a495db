"""What each command of `topgap budget` does."""

import glob
import json
import sys
from pathlib import Path
from typing import Any

import typer

from topgap.cli import files
from topgap.cli.budget.output import (
    check_output,
    format_budgets,
    format_charges,
    format_json,
    format_rows,
    terminal_columns,
    write_text,
)
from topgap.cli.budget.request import (
    ChargeRequest,
    CopyRequest,
    ExportRequest,
    InitRequest,
    ListRequest,
    RecordRequest,
    VerifyRequest,
)
from topgap.cli.charges import describe_charge
from topgap.display.text import format_path, to_line
from topgap.errors import SourceError
from topgap.estimates import Estimates, GroupedEstimates
from topgap.estimates.grouped_parsing import FORMAT as GROUPED_ESTIMATES
from topgap.estimates.parsing import FORMAT as ESTIMATES
from topgap.ledger import Ledger, serialization
from topgap.numbers.format import format_short
from topgap.release import FORMAT as RELEASE
from topgap.release import GroupedRelease, Release
from topgap.release.grouped_parsing import FORMAT as GROUPED_RELEASE

_LONGEST_RESULT = 100_000_000  # bytes
_RESULTS: dict[str, Any] = {
    RELEASE: Release,
    ESTIMATES: Estimates,
    GROUPED_RELEASE: GroupedRelease,
    GROUPED_ESTIMATES: GroupedEstimates,
}


def init(request: InitRequest) -> None:
    """Set a total."""
    ledger = _open(request.file, request.who, request.note, ignore_clock=request.ignore_clock)
    budget = ledger.add_dataset(request.dataset, request.epsilon, neighbours=request.neighbours)
    print(
        f"The releases of {to_line(budget.dataset)} may cost ε = {format_short(budget.total)} in "
        f"all (neighbours: {budget.neighbours}), in the ledger {format_path(request.file)}."
    )


def charge(request: ChargeRequest) -> None:
    """Charge a release of other software."""
    ledger = _open(request.file, request.who, request.note, ignore_clock=request.ignore_clock)
    charge = ledger.charge(
        request.dataset,
        request.epsilon,
        mechanism=request.mechanism,
        neighbours=request.neighbours,
    )
    print(describe_charge(charge))


def record(request: RecordRequest) -> None:
    """Record the result of a charge.

    Raises:
        SourceError: The result cannot be read, or is not JSON.
    """
    value = _read_json(request.result)
    ledger = _open(request.file, request.who)
    ledger.record(request.charge, _parse_result(value))
    print(f"The result of charge {request.charge} is recorded in {format_path(request.file)}.")


def show(request: ListRequest) -> None:
    """List what is spent and left."""
    output_format = check_output(request)
    ledger, dataset = _open(request.file), request.dataset
    budgets = ledger.budgets() if dataset is None else (ledger.budget(dataset),)
    rows = [*map(serialization.budget_to_dict, budgets)]
    if output_format == "json":
        write_text(request, format_json({"format": "topgap.budgets/1", "datasets": rows}))
    elif output_format == "csv":
        write_text(request, format_rows(rows))
    else:
        columns = terminal_columns(request)
        write_text(request, format_budgets(budgets, ledger.history(dataset), columns))


def history(request: ListRequest) -> None:
    """List the charges."""
    output_format = check_output(request)
    charges = _open(request.file).history(request.dataset)
    rows = [*map(serialization.charge_to_dict, charges)]
    if output_format == "json":
        write_text(request, format_json({"format": "topgap.charges/1", "charges": rows}))
    elif output_format == "csv":
        write_text(request, format_rows(rows))
    else:
        write_text(request, format_charges(charges, terminal_columns(request)))


def export(request: ExportRequest) -> None:
    """Write all of the ledger."""
    output_format = check_output(request)
    whole = _open(request.file).to_dict()
    write_text(
        request, format_json(whole) if output_format == "json" else format_rows(whole["charges"])
    )


def copy(request: CopyRequest) -> None:
    """Copy the file of the ledger.

    Raises:
        typer.BadParameter: The target is standard output.
    """
    if str(request.target) == "-":
        raise typer.BadParameter("a copy is a file; give its name.")
    files.check_beside_ledger([request.target], request.file)
    inputs = [glob.escape(str(request.file))]
    files.check([request.target], inputs, overwrite=request.overwrite, or_else=", or --overwrite")
    files.write({request.target: _open(request.file).to_bytes()}, overwrite=request.overwrite)
    print(files.describe_written(request.target))


def verify(request: VerifyRequest) -> None:
    """Check that the ledger is as it was written."""
    receipts = [each.removeprefix("Receipt").strip() for each in request.receipt or ()]
    verified = _open(request.file).verify(*receipts)
    entries = "1 entry" if verified.entries == 1 else f"{verified.entries:,} entries"
    print(
        f"{format_path(request.file)} is as it was written: {entries}, each after the one before "
        f"it, and all sums are right."
    )
    print(f"Receipt {verified.receipt}")
    if not receipts:
        print(
            "Keep the receipt elsewhere and give it next time (--receipt): without one, a ledger "
            "that was written anew from its beginning cannot be distinguished from the true one."
        )


def _open(
    file: Path, who: str | None = None, note: str | None = None, *, ignore_clock: bool = False
) -> Ledger:
    return Ledger(file, who=who, note=note, check_clock=not ignore_clock)


def _read_json(path: Path) -> Any:
    is_piped = str(path) == "-"
    label = "Standard input" if is_piped else format_path(path)
    if is_piped and sys.stdin is None:
        raise SourceError("Standard input is closed.")
    try:
        if is_piped:
            text = sys.stdin.buffer.read(_LONGEST_RESULT + 1)
        else:
            with path.open("rb") as file:
                text = file.read(_LONGEST_RESULT + 1)
        if len(text) > _LONGEST_RESULT:
            raise SourceError(f"{label} has more than {_LONGEST_RESULT:,} bytes.")
        return json.loads(text)
    except SourceError:
        raise
    except OSError as error:
        raise SourceError(f"{label} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise SourceError(f"{label} is not JSON.") from None


def _parse_result(value: Any) -> Any:
    """The release or the estimates, if it is one of these, so that its ε is compared."""
    kind = value.get("format") if isinstance(value, dict) else None
    for form, known in _RESULTS.items():
        if kind == form:
            return known.from_dict(value)
    return value
