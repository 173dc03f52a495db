"""What the user types for an option, converted to the type of its field.

Typer can do this with pydantic, which takes a quarter of a second to load and speaks of inputs and
integers. Here are the few types that the commands have, and a sentence for each.
"""

import re
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer

from topgap.display.text import to_line

_WHOLE = re.compile(r"[+-]?[0-9]+")
_MOST_SHOWN = 100  # characters of a value in a message


def plain_type(hint: Any) -> Any:
    """Return the type of a field without its metadata and without None.

    >>> plain_type(Annotated[int | None, "help"]), plain_type(list[str] | None)
    (<class 'int'>, list[str])
    """
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) in (Union, types.UnionType):
        parts = [each for each in get_args(hint) if each is not types.NoneType]
        return parts[0] if len(parts) == 1 else hint
    return hint


def list_choices(kind: Any) -> tuple[str, ...]:
    """Return the words that a type allows; nothing if it allows any.

    >>> list_choices(Literal["csv", "json"]), list_choices(Path)
    (('csv', 'json'), ())
    """
    return get_args(kind) if get_origin(kind) is Literal else ()


def convert(value: Any, hint: Any) -> Any:
    r"""Return the value of an option as its type says.

    Args:
        value: A text or several; or a default value, which is returned as it is.
        hint: The type of the field.

    Raises:
        typer.BadParameter: The text is no such value.

    >>> convert("7", Annotated[int | None, None]), convert(("a", "b"), list[str])
    (7, ['a', 'b'])
    >>> try:
    ...     convert("x", int)
    ... except typer.BadParameter as error:
    ...     print(error)
    x is not a whole number.
    >>> try:
    ...     convert("\x1b" + "9" * 1_000, int)
    ... except typer.BadParameter as error:
    ...     print(len(str(error)), str(error)[:8])
    123 \x1b9999
    """
    kind = plain_type(hint)
    if get_origin(kind) is list:
        (inner,) = get_args(kind)
        return [_convert_one(each, inner, hint) for each in value or ()]
    return value if value is None else _convert_one(value, kind, hint)


def _convert_one(value: Any, kind: Any, hint: Any) -> Any:
    if kind is int:
        return _convert_whole(value, hint)
    if kind is Path:
        return Path(value)
    choices = list_choices(kind)
    if choices and value not in choices:
        raise typer.BadParameter(f"{_shorten(value)} is none of {_enumerate(choices)}.")
    return value


def _convert_whole(value: Any, hint: Any) -> int:
    text = str(value)
    try:
        number = int(text) if _WHOLE.fullmatch(text) else None
    except ValueError:  # Python reads no more than some thousands of digits
        number = None
    if number is None:
        raise typer.BadParameter(f"{_shorten(text)} is not a whole number.")
    least = next((each.min for each in get_args(hint)[1:] if hasattr(each, "min")), None)
    if least is not None and number < least:
        raise typer.BadParameter(f"{_shorten(text)} is less than {least}.")
    return number


def _shorten(value: object) -> str:
    """What was typed, in one short line without control characters."""
    line = to_line(str(value))
    return line if len(line) <= _MOST_SHOWN else f"{line[: _MOST_SHOWN - 1]}…"


def _enumerate(words: Sequence[str]) -> str:
    """Return the words with commas.

    >>> _enumerate(["csv", "json", "table"])
    'csv, json and table'
    """
    *others, last = words
    return f"{', '.join(others)} and {last}"
