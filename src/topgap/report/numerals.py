"""Numbers as a locale writes them: `Numerals`. English needs nothing; others need Babel."""

import re
from collections.abc import Callable
from copy import copy
from datetime import date
from decimal import Context, Decimal, localcontext
from functools import cache

from topgap.errors import MissingExtraError, ParameterError, ParameterTypeError

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")  # as English writes it, grouped or not
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


class Numerals:
    """Writes numbers and dates for people, in the way of a locale.

    Args:
        locale: Such as "de" or "fr_CH"; those but "en" need Babel.

    Raises:
        ParameterError, ParameterTypeError: There is no such locale.
        MissingExtraError: Babel is not installed.

    >>> Numerals().write("12345.60 ± 7"), Numerals("de").write("12345.60 ± 7")
    ('12,345.60 ± 7', '12.345,60 ± 7')
    >>> Numerals().write_date(date(2026, 11, 20)), Numerals("de").write_date(date(2026, 11, 20))
    ('20 November 2026', '20. November 2026')
    """

    def __init__(self, locale: str = "en") -> None:
        if not isinstance(locale, str):
            raise ParameterTypeError(f"locale must be text, not {type(locale).__name__}.")
        english = locale.lower() in {"en", "en_us", "en-us", "en_gb", "en-gb"}
        self._group, self.write_date = (
            (_group_english, _write_english_date) if english else _load_babel(locale)
        )

    def write(self, text: str) -> str:
        """Return text with its numbers as the locale writes them; all else stays as it is."""
        return _NUMBER.sub(lambda found: self._group(found[0].replace(",", "")), text)


@cache
def find_numerals(locale: str) -> Numerals:
    """Return the `Numerals` of a locale, which are made once."""
    return Numerals(locale)


def _group_english(number: str) -> str:
    whole, point, part = number.partition(".")
    return f"{Decimal(whole):,}{point}{part}"


def _write_english_date(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _load_babel(locale: str) -> tuple[Callable[[str], str], Callable[[date], str]]:
    try:
        from babel import Locale
        from babel.dates import format_date
    except ImportError:
        raise MissingExtraError(
            "Other locales than en need Babel: pip install 'topgap[report]'."
        ) from None
    try:
        found = Locale.parse(locale, sep="-" if "-" in locale else "_")
        pattern = found.decimal_formats[None]
    except Exception:  # Babel has several, and one for each way to misspell it
        raise ParameterError("locale must be one that Babel knows, such as de or fr_CH.") from None

    def group(number: str) -> str:
        places = len(number.partition(".")[2])
        exactly = copy(pattern)
        exactly.frac_prec = (places, places)
        with localcontext(Context(prec=len(number))):  # Babel rounds to the context's digits
            return str(exactly.apply(Decimal(number), found))

    return group, lambda day: str(format_date(day, "long", locale=found))
