"""Where counting ends: no error leaves with more of a library's error than its kind."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from topgap.errors import TopgapError
from topgap.sealing import without_context

_P = ParamSpec("_P")
_R = TypeVar("_R")


class CallerError(Exception):
    """Carries an error that a function of the caller raised on purpose, such as to stop."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def seal_library_errors(
    kind: type[TopgapError], what: str
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Let only errors of topgap leave a function, and none with what it was raised from.

    Errors of DuckDB, pandas, Arrow and the like quote cells, or hold them. So do the frames of a
    traceback: it begins here. What stops a program stays what it is: Ctrl-C, exits, too little
    memory, and what a function raises that the caller gave to be told of progress.

    Args:
        kind: What any other error becomes.
        what: What it is said of, such as "The source".
    """

    def guard(function: Callable[_P, _R]) -> Callable[_P, _R]:
        signature = inspect.signature(function)

        @wraps(function)
        def call(*args: _P.args, **named: _P.kwargs) -> _R:
            signature.bind(*args, **named)  # mistakes in the call itself are told as usual
            try:
                return function(*args, **named)
            except BaseException as error:
                told = _convert(error, kind, what)
            try:
                raise told
            finally:
                del told  # or this frame and the error would keep each other

        return call

    return guard


def _convert(error: BaseException, kind: type[TopgapError], what: str) -> BaseException:
    if isinstance(error, CallerError):
        return error.error
    stops = not isinstance(error, Exception) or isinstance(error, MemoryError)
    if stops or isinstance(error, TopgapError):
        return without_context(error).with_traceback(None)
    if isinstance(error, UnicodeError):
        return kind(f"{what} has text that is not valid Unicode.")
    return kind(
        f"{what} cannot be read ({type(error).__name__}); if nothing is wrong with it, this is a "
        f"defect of topgap."
    )
