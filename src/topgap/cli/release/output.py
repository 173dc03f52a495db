"""Where a publication goes: files, standard output, and remarks on standard error."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from topgap.cli import files
from topgap.cli.charges import describe_charge
from topgap.cli.errors import print_remark
from topgap.cli.release.grouped_publication import GroupedPublication
from topgap.cli.release.publication import Publication
from topgap.cli.release.remarks import count_items
from topgap.cli.release.request import ReleaseRequest
from topgap.display.text import format_path
from topgap.ledger.charging import LedgerCharge, PendingCharge
from topgap.numbers.format import format_short
from topgap.parameters import TopK
from topgap.selection.check import Check

if TYPE_CHECKING:
    from topgap.report import Details

_REMARKS: Mapping[str, str] = {
    "add-remove": "Neighbouring data sets: one person added or removed. All counts then move in "
    "the same direction (monotonic), which takes half the noise of replacing a person.",
    "replace": "Neighbouring data sets: one person replaced by another.",
}
_BOTH_WAYS = (
    "Neighbouring data sets: one person added or removed, who may move some numbers up and others "
    "down (--no-monotonic)."
)
_ALL_ROWS = (
    "Every row is an item of the domain (--all-rows): you state that this list is public and that "
    "no item has two rows."
)
_MOVES_ONE_WAY = (
    "You state that each person moves all counts in the same direction; otherwise double "
    "--groups-per-person."
)
_NO_LEDGER = (
    "No ledger was charged: nothing adds up the ε of all releases from these data (--ledger does)."
)
_NOTHING_REACHED = (
    "No noisy count reached the threshold. If you did not expect this, check the threshold, the "
    "columns and the list of items."
)
_NOTHING_ABOVE = (
    "No item was above the threshold. If you did not expect this, check the threshold, the columns "
    "and the list of items."
)
_NOTHING_STANDS_OUT = (
    "No gap is larger than noise alone often makes. If you did not expect this, check the columns "
    "and the list of items."
)


def write_publication(
    request: ReleaseRequest,
    publication: Publication | GroupedPublication,
    pending: PendingCharge,
    details: "Details | None",
) -> None:
    """Write the files that were asked for, and show the rest.

    Args:
        request: What was asked for.
        publication: What is published.
        pending: What was charged.
        details: What the page says, if one is asked for.

    Raises:
        OutputError: It cannot be written.
    """
    output_format = request.resolved_format or "table"
    contents: dict[Path, bytes] = {}
    if request.output is not None:
        contents[request.output] = publication.to_format(output_format)
    if request.report is not None and details is not None:
        contents[request.report] = publication.to_html(details).encode()
    files.write(contents, overwrite=request.overwrite)

    remarks = [] if request.quiet else _list_remarks(request, publication, pending, [*contents])
    if request.output is not None or output_format != "table":  # else they stand below the table
        remarks += publication.release.caveats
    for remark in remarks:
        print_remark(remark)
    if request.output is not None:
        return
    to_terminal = output_format == "table" and request.goes_to_terminal
    if to_terminal and isinstance(publication, Publication):
        from topgap.cli.release.terminal import show  # Rich takes its time to load

        show(publication)
    else:
        files.write_standard_output(publication.to_format(output_format))


def print_remarks(request: ReleaseRequest, remarks: Sequence[str]) -> None:
    """Print sentences on standard error, unless the user asked for quiet."""
    for remark in [] if request.quiet else remarks:
        print_remark(remark)


def write_check(request: ReleaseRequest, check: Check, remarks: Sequence[str]) -> None:
    """Print what a release would do, and remarks on it.

    Raises:
        OutputError: It cannot be written.
    """
    lines = [*check.lines(), *remarks, *_list_assumptions(request, check.parameters)]
    if request.targets:
        lines.append(f"Would be written: {', '.join(map(format_path, request.targets))}.")
    text = "".join(f"{line}\n" for line in lines)
    files.write_standard_output(text.encode(errors="backslashreplace"))


def _list_remarks(
    request: ReleaseRequest,
    publication: Publication | GroupedPublication,
    pending: PendingCharge,
    targets: list[Path],
) -> list[str]:
    """What is printed besides, unless the user asked for quiet."""
    parameters = publication.parameters
    remarks = _list_assumptions(request, parameters)
    if isinstance(pending, LedgerCharge) and pending.charge is not None:
        remarks.append(describe_charge(pending.charge))
    else:
        remarks.append(_NO_LEDGER)
    remarks += [*map(files.describe_written, targets)]
    if request.resolved_format != "table" or request.output is not None:  # else they stand below it
        remarks += publication.cautions
        if publication.spent is not None:
            remarks.append(f"{publication.spent}.")
    if publication.is_empty:
        remarks.append(_NOTHING_ABOVE if parameters.has_sentinel else _NOTHING_REACHED)
    elif not publication.stands_out:
        remarks.append(_NOTHING_STANDS_OUT)
    return remarks


def _list_assumptions(request: ReleaseRequest, parameters: TopK) -> list[str]:
    """What the guarantee rests on: which neighbours, and what only the user knows."""
    neighbours = request.neighbours or "add-remove"
    is_plain = neighbours == "replace" or parameters.monotonic
    sentences = [_REMARKS[neighbours] if is_plain else _BOTH_WAYS]
    bound = parameters.items_per_person
    if request.count is not None:
        same_way = ", all in the same direction" if parameters.monotonic else ""
        which = "each count"
        if bound is not None:
            counts = "1 count" if bound == 1 else f"{bound:,} counts"
            which = f"at most {counts} (--items-per-person)" + ", each" * (bound > 1)
        sentences.append(
            f"You state that one person moves {which} by at most "
            f"{format_short(parameters.sensitivity)} (--sensitivity){same_way}."
        )
    elif bound is not None:
        within = " in each group" if request.has_groups else ""
        sentences.append(
            f"Each person counts for at most {count_items(bound)}{within}, chosen by a public rule "
            f"that looks at that person's rows only. Where people have more, counts are too low."
        )
    if request.all_rows:
        sentences.append(_ALL_ROWS)
    if request.has_groups:
        sentences.append(describe_groups_per_person(request))
        # Laplace noise costs the same whichever way the counts of a group move.
        if request.count is not None and neighbours == "replace" and parameters.noise != "laplace":
            sentences.append(_MOVES_ONE_WAY)
    return sentences


def describe_groups_per_person(request: ReleaseRequest) -> str:
    """Say in how many groups each person is counted, and why that is true."""
    most = request.groups_per_person or 1
    groups = "1 group" if most == 1 else f"{most:,} groups"
    if request.resolved_source_format == "fimi":
        return "Each line is a person in the group that its first item names."
    if request.count is not None:
        return f"You state that each person is in at most {groups} (--groups-per-person)."
    return (
        f"Each person counts in at most {groups}, chosen by a public rule that looks at that "
        f"person's rows only. Where people are in more, counts are too low."
    )
