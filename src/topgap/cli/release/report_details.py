"""What the page says about the publication, by the options of the command."""

from datetime import date
from typing import TYPE_CHECKING, Any

import typer

from topgap.cli.release.output import describe_groups_per_person
from topgap.cli.release.remarks import count_items
from topgap.cli.release.request import ReleaseRequest
from topgap.errors import ParameterError

if TYPE_CHECKING:
    from topgap.report import Details

_NO_DATE = "none"


def build_details(request: ReleaseRequest) -> "Details | None":
    """Return what the page says; None if none is asked for.

    Names of the data's columns are no part of it.

    Raises:
        typer.BadParameter: A text is too long, or the date or the locale is none.
        SourceError: The file with the labels cannot be read.
        MissingExtraError: The locale needs Babel.
    """
    if request.report is None:
        return None
    from topgap.report import Details, read_labels  # which a release without a page does not need

    person_word = request.person_word
    if person_word is None and request.count is None:
        person_word = "people"
    texts: dict[str, Any] = {
        "title": request.title,
        "counted": _describe_counted(request, person_word or "people"),
        "publisher": request.publisher,
        "period": request.period,
        "date": _choose_date(request.date),
        "source_note": request.source_note,
        "person_word": person_word,
        "item_word": request.item_word,
        "locale": request.locale,
        "in_order": request.in_order,
        "labels": None if request.labels is None else read_labels(request.labels),
    }
    try:
        return Details(**{name: text for name, text in texts.items() if text is not None})
    except ParameterError as error:  # which begins with the name of the field
        raise typer.BadParameter(f"--{str(error).replace('_', '-', 1)}") from None


def _choose_date(asked: str | None) -> str | None:
    if asked is None:
        return date.today().isoformat()  # the day of whoever publishes
    return None if asked.lower() == _NO_DATE else asked


def _describe_counted(request: ReleaseRequest, people: str) -> str:
    counted = _describe_counting(request, people)
    if request.has_groups:
        counted = f"{counted[:-1]}, separately in each group."
        if request.count is None and request.resolved_source_format != "fimi":
            counted += f" {describe_groups_per_person(request)}"
    if request.items_per_person is None or request.count is not None:
        return counted
    most = count_items(request.items_per_person)
    within = " in a group" if request.has_groups else ""
    return (
        f"{counted} Nobody counts for more than {most}{within}. Where people have more, the "
        f"numbers here are too low."
    )


def _describe_counting(request: ReleaseRequest, people: str) -> str:
    if request.count is not None:
        return "The counts were made beforehand."
    if request.together is not None:
        sets, have = {2: ("pair", "both"), 3: ("triple", "all three")}[request.together]
        items = request.item_word or "items"
        return f"Each {sets} of {items} counts the {people} who have {have}."
    return "Everyone counts once for each item."
