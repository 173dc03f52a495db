"""What the user types for an option, converted to the type of its field.

Typer can do this with pydantic, which takes a quarter of a second to load and speaks of inputs and
integers. Here are the few types that the commands have, and a sentence for each.
"""

import types
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer


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
    """Return the value of an option as its type says.

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
        raise typer.BadParameter(f"{value} is none of {_enumerate(choices)}.")
    return value


def _convert_whole(value: Any, hint: Any) -> int:
    try:
        number = int(value)
    except ValueError:
        raise typer.BadParameter(f"{value} is not a whole number.") from None
    least = next((each.min for each in get_args(hint)[1:] if hasattr(each, "min")), None)
    if least is not None and number < least:
        raise typer.BadParameter(f"{number} is less than {least}.")
    return number


def _enumerate(words: Sequence[str]) -> str:
    """Return the words with commas.

    >>> _enumerate(["csv", "json", "table"])
    'csv, json and table'
    """
    *others, last = words
    return f"{', '.join(others)} and {last}"
