"""Errors that leave with their sentence alone.

`raise … from None` only hides what an error was raised from: `error.__context__` still holds it,
and that may be a library's error with a value of the data in it.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")
_E = TypeVar("_E", bound=BaseException)


def without_context(error: _E) -> _E:
    """The error without the errors that it was raised from.

    Raise it where no other error is being handled, or Python notes that one.
    """
    error.__cause__ = error.__context__ = None
    return error


def seal_errors(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function, whose errors keep nothing of the errors that they were raised from.

    >>> @sealed
    ... def read(text):
    ...     try:
    ...         return int(text)
    ...     except ValueError:
    ...         raise ArithmeticError("No number.") from None
    >>> try:
    ...     read("secret")
    ... except ArithmeticError as error:
    ...     print(error, error.__context__)
    No number. None
    """

    @wraps(function)
    def call(*args: _P.args, **named: _P.kwargs) -> _R:
        try:
            return function(*args, **named)
        except BaseException as error:
            failed = without_context(error)
        try:
            raise failed
        finally:
            del failed  # or this frame and the error would keep each other

    return call
