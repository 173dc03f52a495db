"""What a page says about the publication, as its publisher gives it: `Details`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from functools import partial
from types import MappingProxyType
from typing import Any

from topgap.display.items import format_item
from topgap.display.text import to_line, to_text
from topgap.domains.cell_text import normalize_text
from topgap.errors import ParameterError, ParameterTypeError
from topgap.report.numerals import find_numerals

ITEM_WORD = "items"
"""What the items are, unless the publisher says it."""

LONGEST_LABEL = 300
_MOST = {
    "title": 300,
    "counted": 2_000,
    "publisher": 300,
    "period": 100,
    "source_note": 2_000,
    "caveat": 2_000,
    "person_word": 60,
    "item_word": 60,
    "locale": 60,
}


@dataclass(frozen=True, kw_only=True)
class Details:
    """What a page says about the publication. Nothing of it may come from the data.

    Attributes:
        title: The heading; "The largest items" if there is none, or "The top 5 diagnoses" with an
            item_word.
        counted: One sentence that says what the numbers are, such as "How many patients have each
            diagnosis."
        publisher: Who publishes.
        period: The time that the data are about, such as "2025".
        date: The day of publication, as a `datetime.date` or as text such as "2026-11-20".
        source_note: One or two sentences about where the data come from.
        caveat: One sentence about what is not protected, shown near the top; those that the release
            has itself stand there anyway.
        labels: A text beside each item, such as the name of a code; keys are items as text. A tuple
            has the label of its whole text ("Germany, /start"); if there is none, those of its
            members. White space at the ends of items does not count. Labels are public: never
            take them from the data.
        person_word: Whom the numbers count, in the plural, such as "patients"; None if they count
            no persons.
        item_word: What the items are, in the plural, such as "diagnoses".
        locale: How numbers and the date are written, such as "de" (with Babel). Words stay English.
        in_order: Whether the numbers are made at least 0 and put in the order of the ranks, which
            costs no ε (`Estimates.in_order`). The JSON of the page keeps the numbers as they were.

    Raises:
        ParameterError, ParameterTypeError: One of them is no text, is too long, or is no date.
        MissingExtraError: The locale needs Babel.

    >>> details = Details(title="Diagnoses", labels={"J10": "Influenza"}, date="2026-11-20")
    >>> details.label("J10"), details.label("J11"), details.date
    ('Influenza', None, datetime.date(2026, 11, 20))
    >>> details.label(("J10", "north"))
    'Influenza, north'
    """

    title: str | None = None
    counted: str | None = None
    publisher: str | None = None
    period: str | None = None
    date: "date | str | None" = None
    source_note: str | None = None
    caveat: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    person_word: str | None = None
    item_word: str = ITEM_WORD
    locale: str = "en"
    in_order: bool = False

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in _MOST and not (value is None and each.default is None):
                _check_text(value, each.name, _MOST[each.name])
                object.__setattr__(self, each.name, to_line(value))
        if not isinstance(self.in_order, bool):
            raise ParameterTypeError(f"in_order must be True or False, not {self.in_order!r:.50}.")
        object.__setattr__(self, "date", _read_date(self.date))
        object.__setattr__(self, "labels", MappingProxyType(_check_labels(self.labels)))
        find_numerals(self.locale)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields: a view of a dict cannot be pickled."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        return partial(type(self), **given | {"labels": dict(self.labels)}), ()

    def label(self, item: object) -> str | None:
        """Return the label of an item; None if it has none."""
        if not self.labels:
            return None
        whole = self.labels.get(normalize_text(format_item(item)))
        if whole is not None or type(item) is not tuple:
            return whole
        texts = [to_text(each) for each in item]
        members = [(self.labels.get(normalize_text(text)), text) for text in texts]
        if not any(label for label, _ in members):
            return None
        return ", ".join(label or text for label, text in members)

    def write_date(self) -> str | None:
        """Return the date in the way of the locale; None if there is none."""
        if not isinstance(self.date, date):
            return None
        return find_numerals(self.locale).write_date(self.date)


def _check_text(value: object, name: str, most: int) -> None:
    if not isinstance(value, str):
        raise ParameterTypeError(f"{name} must be text, not {type(value).__name__}.")
    if not value.strip():
        raise ParameterError(f"{name} must not be empty.")
    if len(value) > most:
        raise ParameterError(
            f"{name} must have at most {most:,} characters; it has {len(value):,}."
        )


def _check_labels(labels: object) -> dict[str, str]:
    if not isinstance(labels, Mapping):
        raise ParameterTypeError(
            f"labels must map items to their labels, not be {type(labels).__name__}."
        )
    found: dict[str, str] = {}
    for item, label in labels.items():
        if not isinstance(item, str) or not isinstance(label, str):
            raise ParameterTypeError("labels must map text to text: items as they are shown.")
        _check_text(label, "A label", LONGEST_LABEL)
        if found.setdefault(normalize_text(item), label) != label:
            raise ParameterError("labels must give each item one label; one item has two.")
    return found


def _read_date(day: object) -> date | None:
    if day is None or type(day) is date:
        return day
    if not isinstance(day, str):
        raise ParameterTypeError("date must be a date, or text such as 2026-11-20.")
    try:
        return date.fromisoformat(day)
    except ValueError:
        raise ParameterError("date must be written as year, month and day: 2026-11-20.") from None
