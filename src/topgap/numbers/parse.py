"""How a number that a user hands in is read, without rounding.

There are two readings, and they differ for floats on purpose:

- a *parameter* (ε, resolution, sensitivity) is something a person wrote down, so the float `0.1`
  means the decimal 0.1, that is 1/10;
- an *answer* is something a computer computed, so a float means the dyadic number it stores; the
  double nearest to 0.3 lies a little below 3/10, and rounds down to 2/10.
"""

import numbers
import reprlib
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from topgap.errors import (
    AnswersError,
    AnswersTypeError,
    ParameterError,
    ParameterTypeError,
    TopgapError,
)

Number: TypeAlias = "int | float | str | Decimal | Fraction | np.integer | np.floating"
"""What may stand for an exact parameter."""

LEVEL = Fraction(95, 100)
"""The default level of confidence intervals."""

# NumPy counts a time span among its integers, and Python a bool; neither is a number here.
_NOT_NUMBERS = (bool, np.bool_, np.timedelta64)
_FLAGS = (bool, np.bool_)

# Larger numbers are slips or attacks: Decimal("1e999999999") alone would fill the memory.
_MOST_PARAMETER_DIGITS = 1_000
_MOST_ANSWER_EXPONENT = 10_000


def is_whole(value: object) -> bool:
    """Whether `value` is an integer by type: an int or NumPy's, and no bool."""
    return isinstance(value, int | np.integer) and not isinstance(value, _NOT_NUMBERS)


def read_whole(value: int, name: str, *, least: int) -> int:
    """Return `value` as a Python int, or refuse it in a sentence that calls it `name`.

    Raises:
        ParameterTypeError: `value` is not an integer by type; a bool and 2.0 are none.
        ParameterError: `value` is less than `least`.

    >>> read_whole(3, "k", least=1)
    3
    """
    try:
        whole = int(value) if is_whole(value) else None
    except Exception:  # of a number of somebody's own
        whole = None
    if whole is None:
        raise ParameterTypeError(
            f"{name} must be a whole number given as an int, not {type(value).__name__}."
        )
    if whole < least:
        raise ParameterError(f"{name} must be at least {least}.")
    return whole


def read_threads(threads: int | None) -> int:
    """Return the number of threads, 0 for as many as fit the work.

    >>> read_threads(None), read_threads(2), read_threads(10**9)
    (0, 2, 1024)
    """
    return 0 if threads is None else min(read_whole(threads, "threads", least=1), 1024)


def read_flag(flag: bool, name: str) -> bool:  # noqa: FBT001 - it is what is read
    """Return `flag` as a bool, or refuse it in a sentence that calls it `name`.

    Raises:
        ParameterTypeError: `flag` is neither True nor False; 0 and 1 are none either.

    >>> read_flag(True, "monotonic")
    True
    """
    if not issubclass(type(flag), _FLAGS):
        raise ParameterTypeError(f"{name} must be True or False, not {type(flag).__name__}.")
    return bool(flag)


def read_parameter(value: "Number", name: str) -> Fraction:
    """Return the exact positive rational that a person means by `value`.

    Args:
        value: An int, Fraction, Decimal, float, or a string such as `"1/3"` or `"0.25"`.
        name: What the parameter is called in the error sentence.

    Returns:
        The value; a float counts as its shortest decimal.

    Raises:
        ParameterTypeError: `value` is of another type; bools are refused too.
        ParameterError: `value` is NaN, infinite, zero, negative, unreadable or absurdly long.

    >>> read_parameter(0.1, "epsilon")
    Fraction(1, 10)
    >>> read_parameter("1/3", "epsilon")
    Fraction(1, 3)
    """
    exact = read_number(value, name)
    if exact == 0:
        raise ParameterError(f"{name} must be greater than 0, not zero.")
    if exact < 0:
        raise ParameterError(f"{name} must be greater than 0, not negative.")
    return exact


def read_number(value: "Number", name: str) -> Fraction:
    """Return the exact rational that a person means by `value`, of any sign.

    Raises:
        ParameterTypeError, ParameterError: As of `read_parameter`, but for its sign.

    >>> read_number(-0.5, "threshold")
    Fraction(-1, 2)
    """
    try:
        exact = _read_number(value, name)
    except TopgapError:
        raise
    except Exception:  # of a number of somebody's own
        raise _unreadable(value, name) from None
    if max(abs(exact.numerator), exact.denominator) > 10**_MOST_PARAMETER_DIGITS:
        raise _too_long(name)
    return exact


def read_level(level: "Number") -> Fraction:
    """Return the level of confidence intervals as an exact number between 0 and 1.

    Raises:
        ParameterTypeError: It is of a type that is not an exact number.
        ParameterError: It does not lie between 0 and 1, or is too close to 1.

    >>> read_level(0.95)
    Fraction(19, 20)
    """
    share = read_parameter(level, "level")
    if share >= 1:
        raise ParameterError("level must be below 1, such as 0.95.")
    if share > 1 - Fraction(1, 10**100):
        raise ParameterError("level must be at most 1 - 1e-100, such as 0.95.")
    return share


def _read_number(value: "Number", name: str) -> Fraction:
    if isinstance(value, _NOT_NUMBERS):
        raise ParameterTypeError(f"{name} must be a number, not {type(value).__name__}.")
    if isinstance(value, numbers.Rational):
        # int() because a Fraction of NumPy integers would overflow silently.
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal):
        return _read_decimal(value, name)
    if isinstance(value, float | np.floating):
        return _read_decimal(Decimal(_shortest(value)), name)
    if isinstance(value, str):
        return _read_text(value, name)
    raise _unreadable(value, name)


def _unreadable(value: object, name: str) -> ParameterTypeError:
    return ParameterTypeError(
        f"{name} must be an int, float, Decimal, Fraction or a string such as '1/3', "
        f"not {type(value).__name__}."
    )


def _shortest(value: "float | np.floating") -> str:
    """The shortest decimal that is read back as the same float, whatever is set for printing."""
    if isinstance(value, float):
        return float.__repr__(value)
    return np.format_float_scientific(value, unique=True, trim="-")


def _read_decimal(value: Decimal, name: str) -> Fraction:
    if value.is_nan():
        raise ParameterError(f"{name} must be a finite number, not NaN.")
    if value.is_infinite():
        raise ParameterError(f"{name} must be a finite number, not infinite.")
    if not value.is_zero() and abs(value.adjusted()) > _MOST_PARAMETER_DIGITS:
        raise _too_long(name)
    return Fraction(0) if value.is_zero() else Fraction(value)


def _read_text(text: str, name: str) -> Fraction:
    if len(text) > 2 * _MOST_PARAMETER_DIGITS:
        raise _too_long(name)
    try:
        if "/" in text:
            return Fraction(text)
        decimal = Decimal(text)
    except (ValueError, ZeroDivisionError, InvalidOperation):
        raise ParameterError(
            f"{name} must be a number such as '1', '0.25' or '1/3'; "
            f"{reprlib.repr(text)} cannot be read as one."
        ) from None
    return _read_decimal(decimal, name)


def _too_long(name: str) -> ParameterError:
    return ParameterError(
        f"{name} must have at most {_MOST_PARAMETER_DIGITS} digits before and after the point."
    )


def floor_answer(answer: object, steps_per_unit: int) -> int:
    """Return ⌊answer · steps_per_unit⌋, computed from the number exactly as it is stored.

    Args:
        answer: An int, Fraction, Decimal, float or NumPy scalar.
        steps_per_unit: How many steps of the resolution make 1; that is 1/γ*.

    Returns:
        The answer, rounded down to a whole number of steps.

    Raises:
        AnswersTypeError: `answer` is not a real number by type.
        AnswersError: `answer` is NaN, infinite, or an absurdly large Decimal.

    >>> floor_answer(3, 10), floor_answer(0.3, 10), floor_answer(-0.05, 10)
    (30, 2, -1)
    """
    numerator, denominator = ratio(answer)
    return numerator * steps_per_unit // denominator


def ratio(answer: object) -> tuple[int, int]:
    """The number as it is stored, as a numerator and a denominator.

    Raises:
        AnswersTypeError, AnswersError: As of `floor_answer`.

    >>> ratio(0.25), ratio(Fraction(1, 3))
    ((1, 4), (1, 3))
    """
    if isinstance(answer, _NOT_NUMBERS):
        raise AnswersTypeError(f"Each answer must be a number, not {type(answer).__name__}.")
    if isinstance(answer, numbers.Rational):
        return int(answer.numerator), int(answer.denominator)
    if isinstance(answer, Decimal) and answer.is_finite():
        return _decimal_ratio(answer)
    if isinstance(answer, Decimal | float | np.floating):
        try:
            numerator, denominator = answer.as_integer_ratio()
        except (ValueError, OverflowError):
            raise AnswersError(
                "Every answer must be a finite number; give each item one, such as 0 for nobody."
            ) from None
        return int(numerator), int(denominator)
    raise AnswersTypeError(
        f"Each answer must be an int, float, Decimal or Fraction, not {type(answer).__name__}."
    )


def _decimal_ratio(answer: Decimal) -> tuple[int, int]:
    if answer.is_zero():
        return 0, 1
    if answer.adjusted() >= _MOST_ANSWER_EXPONENT:
        raise AnswersError(
            f"Decimal answers must be below 10**{_MOST_ANSWER_EXPONENT} in absolute value."
        )
    if answer.adjusted() < -_MOST_ANSWER_EXPONENT:
        # No resolution is so fine; any number of this sign and size is rounded down alike.
        return (-1 if answer.is_signed() else 1), 10**_MOST_ANSWER_EXPONENT
    return answer.as_integer_ratio()
