"""Typer commands whose options are the fields of a dataclass: `add_command`.

So an option is written once: its name, type, help and default are those of a field.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from inspect import Parameter, Signature
from typing import Any, TypeVar, get_type_hints

import typer

from topgap.cli.errors import one_sentence

Request = TypeVar("Request")


def add_command(
    app: typer.Typer,
    name: str,
    request_type: type[Request],
    run: Callable[[Request], None],
    *,
    description: str,
    epilog: str | None = None,
) -> None:
    """Add a command that makes a request from its options and runs it.

    Args:
        app: What the command is added to.
        name: What the user types.
        request_type: A dataclass. Each field is an option or argument, in this order; its type may
            be `Annotated` with a `typer.Option` or `typer.Argument`.
        run: What is done with the request. An exception ends the command as `one_sentence` says.
        description: What help says about the command.
        epilog: What help says below the options.

    >>> from dataclasses import dataclass
    >>> from typing import Annotated
    >>> from typer.testing import CliRunner
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Greeting:
    ...     name: Annotated[str, typer.Argument()]
    ...     times: Annotated[int, typer.Option("--times", "-n")] = 1
    >>> app = typer.Typer()
    >>> add_command(app, "greet", Greeting, print, description="Print a greeting.")
    >>> print(CliRunner().invoke(app, ["Ada", "-n", "2"]).output, end="")
    Greeting(name='Ada', times=2)
    """

    def command(**options: Any) -> None:
        with one_sentence():
            run(request_type(**options))

    hints = get_type_hints(request_type, include_extras=True)
    options = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in _fields(request_type)
    ]
    command.__signature__ = Signature(options)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in options}
    app.command(name, help=description, epilog=epilog)(command)


def _fields(request_type: type[Any]) -> "tuple[Field[Any], ...]":
    return fields(request_type)
