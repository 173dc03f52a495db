"""Numbers, names and paths as text: exact, of any length, on one line, without passwords."""

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import floor, gcd, isfinite, log10
from unicodedata import east_asian_width

_MOST_DIGITS = 100_000
_LONGEST_PATH = 5_000  # no system has longer ones
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(/[0-9]+)?")
# One slash is enough, for pathlib leaves one of two; one letter before it is a drive of Windows.
_ADDRESS = r"(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]+:/"
_SECRETS = (
    (re.compile(rf"({_ADDRESS}/*).*@", re.DOTALL), r"\1…@"),
    (re.compile(rf"({_ADDRESS}[^?#]*[?#]).+", re.DOTALL), r"\1…"),
    (re.compile(r"(^|/)[^/:@\s]+:[^/@\s]+@"), r"\1…@"),  # as in ann:secret@host
    (
        re.compile(
            r"((?:pass|pwd|secret|token|credential|signature|api_?key|access_?key)[a-z_]*\s*=\s*)"
            r"('[^']*'|\"[^\"]*\"|[^\s&;]+)",
            re.IGNORECASE,
        ),
        r"\1…",
    ),
)


def written(number: Fraction) -> str:
    """A decimal where one is exact, and otherwise a fraction.

    >>> written(Fraction(25, 2)), written(Fraction(37, 3)), written(Fraction(-7))
    ('12.5', '37/3', '-7')
    """
    if number < 0:
        return f"-{written(-number)}"
    twos_and_fives = number.denominator
    places = 0
    while twos_and_fives > 1:
        common = gcd(twos_and_fives, 10)
        if common == 1:
            return f"{_digits(number.numerator)}/{_digits(number.denominator)}"
        twos_and_fives //= common
        places += 1
    digits = _digits((number * 10**places).numerator).zfill(places + 1)
    return digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}"


def read_written(text: str) -> Fraction:
    """The number that was `written`.

    Raises:
        ValueError: It was not written so, or has more digits than can be read in a moment.

    >>> read_written("12.5")
    Fraction(25, 2)
    """
    if len(text) > _MOST_DIGITS or not _NUMBER.fullmatch(text):
        raise ValueError
    numerator, _, denominator = text.partition("/")
    divisor = int(Decimal(denominator or 1))
    if divisor == 0:
        raise ValueError
    return Fraction(Decimal(numerator)) / divisor


def _digits(number: int) -> str:
    """By way of Decimal, which writes a number of any length."""
    return format(Decimal(number), "f")


def rounded(number: float, spread: float) -> str:
    """The number as far as its digits mean something, when it is off by about `spread`.

    >>> rounded(1234.5678, 2.34), rounded(1234.5678, 234.0), rounded(1234.5678, 0.0)
    ('1234.6', '1235', '1234.5678')
    >>> rounded(1.2346e30, 1e28), rounded(float("inf"), 1.0)
    ('1.235e+30', 'inf')
    """
    if not isfinite(number) or not isfinite(spread) or abs(number) >= 1e15:
        return f"{number:.4g}"
    if spread == 0:
        return f"{number:.10g}"
    places = 1 - floor(log10(spread))
    return f"{number:.{min(max(places, 0), 6)}f}"


def in_words(thing: object) -> str:
    """The thing as text, even if it cannot be written as such.

    A whole number of more digits than Python writes has hexadecimal ones, and other things that
    refuse go by their type.

    >>> in_words("flu"), in_words(10**5000)[:5], in_words((10**5000,))
    ('flu', '0x31e', '<tuple>')
    """
    return _or_otherwise(str, thing)


def represented(thing: object) -> str:
    """The thing as `repr` writes it, or else as `in_words` does.

    >>> represented("flu"), represented(10**5000)[:5]
    ("'flu'", '0x31e')
    """
    return _or_otherwise(repr, thing)


def _or_otherwise(write: Callable[[object], str], thing: object) -> str:
    try:
        return write(thing)
    except Exception:  # whose text is not ours
        kind = type(thing)
        return hex(thing) if issubclass(kind, int) else f"<{kind.__name__}>"  # type: ignore[arg-type]


def on_one_line(thing: object) -> str:
    r"""The thing as text, without characters that would change what is around it.

    >>> print(on_one_line("two\nlines"))
    two\nlines
    """
    text = in_words(thing)
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def shown_path(path: object) -> str:
    r"""A path or an address as messages show it: on one line, and without a password.

    >>> shown_path("visits.csv"), shown_path("postgresql://ann:secret@host/db?password=secret")
    ('visits.csv', 'postgresql://…@host/db?…')
    >>> shown_path("host=db password=secret"), shown_path("two\nlines.csv")
    ('host=db password=…', 'two\\nlines.csv')
    """
    text = str(path)
    if len(text) > _LONGEST_PATH:
        return f"A name of {len(text):,} characters"
    for secret, shown in _SECRETS:
        text = secret.sub(shown, text)
    return on_one_line(text)


def width(text: str) -> int:
    """Columns on a terminal, where wide characters take two.

    >>> width("flu"), width("日本")
    (3, 4)
    """
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
