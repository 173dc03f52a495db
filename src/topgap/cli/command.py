"""Commands whose options are the fields of a dataclass: `Command`, `CommandGroup`, `make_app`.

So an option is written once: its name, type, help and default are those of a field. A command's
module is imported when the command is named, so that none waits for the libraries of the others.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from inspect import Parameter, Signature
from typing import Annotated, Any, Generic, TypeVar, get_type_hints

import typer
import typer.core

from topgap.cli.errors import report_errors

Request = TypeVar("Request")


@dataclass(frozen=True, kw_only=True)
class Command(Generic[Request]):
    """A command that makes a request from its options and runs it.

    Attributes:
        name: What the user types.
        request_type: A dataclass. Each field is an option or argument, in this order; its type is
            `Annotated` with a `typer.Option` or `typer.Argument`.
        run: What is done with the request. An exception ends the command as `report_errors` says.
        description: What help says about the command.
        epilog: What help says below the options.

    >>> from typer.testing import CliRunner
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Greeting:
    ...     name: Annotated[str, typer.Argument()]
    ...     times: Annotated[int, typer.Option("--times", "-n")] = 1
    >>> app = typer.Typer()
    >>> Command(name="greet", request_type=Greeting, run=print, description="Greet.").add_to(app)
    >>> print(CliRunner().invoke(app, ["Ada", "-n", "2"]).output, end="")
    Greeting(name='Ada', times=2)
    """

    name: str
    request_type: type[Request]
    run: Callable[[Request], None]
    description: str
    epilog: str | None = None

    def add_to(self, app: typer.Typer) -> None:
        """Add the command to a Typer application."""

        def run(**options: Any) -> None:
            with report_errors():
                self.run(self.request_type(**options))

        parameters = _parameters(self.request_type)
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        app.command(self.name, help=self.description, epilog=self.epilog)(run)


@dataclass(frozen=True, kw_only=True)
class CommandGroup:
    """Commands that begin with the same word.

    Attributes:
        name: That word.
        commands: The commands.
        description: What help says about them.
        epilog: What help says below their names.
    """

    name: str
    commands: tuple[Command[Any], ...]
    description: str
    epilog: str | None = None

    def add_to(self, app: typer.Typer) -> None:
        """Add the commands to a Typer application."""
        group = typer.Typer(
            name=self.name, no_args_is_help=True, help=self.description, epilog=self.epilog
        )
        for command in self.commands:
            command.add_to(group)
        app.add_typer(group)


class _Commands(Mapping[str, Any]):
    """The commands of Typer's by name; each is imported when it is looked up."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        command: Command[Any] | CommandGroup
        command = import_module(f"topgap.cli.{name}.command").COMMAND
        app = _make_typer()
        app.callback()(_topgap)  # so that it is a group, also of one command
        command.add_to(app)
        return typer.main.get_group(app).commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def make_app(*names: str) -> typer.Typer:
    """Make the Typer application of the commands of these names.

    Each is the `COMMAND` of the module `command` in the package of its name.
    """

    class Group(typer.core.TyperGroup):
        """Looks its commands up by name."""

        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.commands = _Commands(names)  # type: ignore[assignment]  # nobody adds any

    app = _make_typer(cls=Group)
    app.callback()(_topgap)
    return app


def _make_typer(**settings: Any) -> typer.Typer:
    return typer.Typer(
        name="topgap",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,
    )


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - as Typer calls it
    if wanted:
        from importlib.metadata import version  # quicker than the kernel, which knows it, too

        print(f"topgap {version('topgap')}")
        raise typer.Exit


def _topgap(
    _: Annotated[  # noqa: FBT002 - as Typer calls it
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Publish which k items are the largest, and by how much, without giving anyone away.

    Start with [bold]topgap demo[/bold]; then see [bold]topgap release --help[/bold].
    """


def _parameters(request_type: type[Any]) -> list[Parameter]:
    """The fields of a dataclass as the keyword parameters of a function, which Typer reads."""
    hints = get_type_hints(request_type, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(request_type)
    ]
