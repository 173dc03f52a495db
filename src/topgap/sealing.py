"""Errors that hold nothing of the data: no context, no library's text, no frames.

`raise … from None` only hides the error that another was raised from: `error.__context__` still
holds it. That may be a library's error with a value of the data in it.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from topgap.errors import TopgapError

_P = ParamSpec("_P")
_R = TypeVar("_R")
_E = TypeVar("_E", bound=BaseException)


class CallerError(Exception):
    """Carries an error that a function of the caller raised on purpose, such as to stop."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def without_context(error: _E) -> _E:
    """Remove from an error the errors that it was raised from.

    Raise it where no other error is being handled, or Python notes that one.
    """
    error.__cause__ = error.__context__ = None
    return error


def seal_errors(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a function raise its errors without the errors that they were raised from.

    >>> @seal_errors
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
    return _convert_errors(function, without_context)


def seal_frames(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a function raise its errors without context and without inner frames, which hold data.

    >>> @seal_frames
    ... def count():
    ...     secret = 7
    ...     raise ArithmeticError("Too few.")
    >>> try:
    ...     count()
    ... except ArithmeticError as error:
    ...     frame = error.__traceback__.tb_next.tb_next
    >>> "secret" in frame.tb_frame.f_locals, frame.tb_next
    (False, None)
    """
    check = _prepare_check(function)
    sealed = _convert_errors(function, lambda error: without_context(error).with_traceback(None))

    @wraps(function)
    def call(*args: _P.args, **named: _P.kwargs) -> _R:
        check(*args, **named)
        return sealed(*args, **named)

    return call


def seal_library_errors(
    kind: type[TopgapError], what: str
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Make a function raise only errors of topgap, without context and without inner frames.

    Errors of DuckDB, pandas, Arrow and the like quote cells, or hold them. So do the frames of a
    traceback: it begins here. What stops a program stays what it is: Ctrl-C, exits, too little
    memory, and what the caller's own progress function raises.

    Args:
        kind: What any other error becomes.
        what: What its sentence is about, such as "The source".
    """

    def convert(error: BaseException) -> BaseException:
        if isinstance(error, CallerError):
            return error.error
        stops = not isinstance(error, Exception) or isinstance(error, MemoryError)
        if stops or isinstance(error, TopgapError):
            return without_context(error).with_traceback(None)
        if isinstance(error, UnicodeError):
            return kind(f"{what} has text that is not valid Unicode.")
        return kind(
            f"{what} cannot be read ({type(error).__name__}); if nothing is wrong with it, this is "
            f"a defect of topgap."
        )

    def seal(function: Callable[_P, _R]) -> Callable[_P, _R]:
        check = _prepare_check(function)
        sealed = _convert_errors(function, convert)

        @wraps(function)
        def call(*args: _P.args, **named: _P.kwargs) -> _R:
            check(*args, **named)
            return sealed(*args, **named)

        return call

    return seal


def _prepare_check(function: Callable[..., Any]) -> Callable[..., None]:
    """Build a function that reports a mistake in the call itself as Python does: a TypeError."""
    expected = signature(function)

    def check(*args: Any, **named: Any) -> None:
        wrong = None
        try:
            expected.bind(*args, **named)
        except TypeError as error:
            wrong = f"{function.__name__}() {error}"
        if wrong is not None:
            raise TypeError(wrong)

    return check


def _convert_errors(
    function: Callable[_P, _R], convert: Callable[[BaseException], BaseException]
) -> Callable[_P, _R]:
    """Make a function raise what its errors are converted to."""

    @wraps(function)
    def call(*args: _P.args, **named: _P.kwargs) -> _R:
        try:
            return function(*args, **named)
        except BaseException as error:
            converted = convert(error)
        try:
            raise converted
        finally:
            del converted  # or this frame and the error would keep each other

    return call
