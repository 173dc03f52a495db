"""Commands whose options are the fields of a dataclass: `Command`, `CommandGroup`, `make_app`.

So an option is written once: its name, type, help and default are those of a field. A command's
module is imported when the command is named, so that none waits for the libraries of the others.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from inspect import Parameter, Signature
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, get_type_hints

import typer
import typer.core

from topgap.cli.conversion import convert
from topgap.cli.errors import report_errors
from topgap.cli.help import Entry, Page, Section, format_page, list_parameters

Request = TypeVar("Request")
_NO_HINTS: Mapping[str, Any] = {}


@dataclass(frozen=True, kw_only=True)
class Command(Generic[Request]):
    """A command that makes a request from its options and runs it.

    Attributes:
        name: What the user types.
        request_type: A dataclass. Each field is an option or argument, in this order; its type is
            `Annotated` with a `typer.Option` or `typer.Argument`.
        run: What is done with the request. An exception ends the command as `report_errors` says.
        description: What help says about the command; its first paragraph is one sentence.
        examples: Paragraphs that stand below the options: what to type, and a sentence above it.
        notes: Paragraphs that stand below the examples.

    >>> from typer.testing import CliRunner
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Greeting:
    ...     name: Annotated[str, typer.Argument()]
    ...     times: Annotated[int, typer.Option("--times", "-n")] = 1
    >>> app = typer.Typer()
    >>> command = Command(
    ...     name="greet", request_type=Greeting, run=print, description="Greet.", examples=""
    ... )
    >>> command.add_to(app)
    >>> print(CliRunner().invoke(app, ["Ada", "-n", "2"]).output, end="")
    Greeting(name='Ada', times=2)
    """

    name: str
    request_type: type[Request]
    run: Callable[[Request], None]
    description: str
    examples: str
    notes: str = ""

    def add_to(self, app: typer.Typer) -> None:
        """Add the command to a Typer application."""
        documented, hints = self, get_type_hints(self.request_type, include_extras=True)

        class Documented(typer.core.TyperCommand):
            """Converts the values itself, and formats its help."""

            def get_params(self, ctx: Any) -> list[Any]:
                return _convert_values(super().get_params(ctx), hints)

            def format_help(self, ctx: Any, formatter: Any) -> None:
                formatter.write(format_page(self.help_page(ctx)))

            def help_page(self, ctx: Any) -> Page:
                """What help says."""
                sections = list_parameters(self.get_params(ctx), hints)
                usage = _usage(self, ctx)
                return Page(
                    usage, documented.description, sections, documented.examples, documented.notes
                )

        def run(**options: Any) -> None:
            with report_errors():
                self.run(self.request_type(**options))

        parameters = _parameters(self.request_type)
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        app.command(self.name, cls=Documented, help=self.description)(run)


@dataclass(frozen=True, kw_only=True)
class CommandGroup:
    """Commands that begin with the same word.

    Attributes:
        name: That word.
        commands: The commands.
        description: What help says about them.
        examples: Paragraphs that stand below their names, as those of a command.
        notes: Paragraphs that stand below the examples.
    """

    name: str
    commands: tuple[Command[Any], ...]
    description: str
    examples: str
    notes: str = ""

    def add_to(self, app: typer.Typer) -> None:
        """Add the commands to a Typer application."""
        documented = self
        entries = [Entry(each.name, summarize(each.description)) for each in self.commands]

        class Documented(typer.core.TyperGroup):
            """Formats its help."""

            def get_params(self, ctx: Any) -> list[Any]:
                return _convert_values(super().get_params(ctx))

            def format_help(self, ctx: Any, formatter: Any) -> None:
                formatter.write(format_page(self.help_page(ctx)))

            def help_page(self, ctx: Any) -> Page:
                """What help says."""
                sections = [Section("Commands", entries)]
                sections += list_parameters(self.get_params(ctx), {})
                usage = _usage(self, ctx)
                return Page(
                    usage, documented.description, sections, documented.examples, documented.notes
                )

        group = typer.Typer(
            name=self.name, cls=Documented, no_args_is_help=True, help=self.description
        )
        for command in self.commands:
            command.add_to(group)
        app.add_typer(group)


class _Completion(NamedTuple):
    """What a shell offers, as Typer describes it."""

    value: str
    type: str = "plain"
    help: str | None = None


_START = """
Start with topgap demo; then see topgap release --help.

To complete commands and options with the Tab key, run topgap --install-completion once and open a
new terminal. --show-completion prints the script instead. Name the shell if it is not detected:
topgap --install-completion bash (or zsh, fish, powershell).
"""


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


def make_app(summaries: Mapping[str, str]) -> typer.Typer:
    """Make the Typer application of these commands.

    Args:
        summaries: A sentence by the name of each command, so that none is imported to be listed.
            The command is the `COMMAND` of the module `command` in the package of its name.
    """
    names = tuple(summaries)

    class Group(typer.core.TyperGroup):
        """Looks its commands up by name."""

        def __init__(self, **settings: Any) -> None:
            super().__init__(**settings)
            self.commands = _Commands(names)  # type: ignore[assignment]  # nobody adds any

        def get_params(self, ctx: Any) -> list[Any]:
            return _convert_values(super().get_params(ctx))

        def format_help(self, ctx: Any, formatter: Any) -> None:
            formatter.write(format_page(self.help_page(ctx)))

        def help_page(self, ctx: Any) -> Page:
            """What help says."""
            commands = Section("Commands", [Entry(*each) for each in summaries.items()])
            options = list_parameters(self.get_params(ctx), {})
            return Page(_usage(self, ctx), self.help or "", [commands, *options], "", _START)

        def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
            """The names of the commands and of the options that begin so."""
            if incomplete.startswith("-"):
                return super().shell_complete(ctx, incomplete)
            return [_Completion(name) for name in names if name.startswith(incomplete)]

    app = _make_typer(cls=Group)
    app.callback()(_topgap)
    return app


def summarize(description: str) -> str:
    """The first paragraph of a description."""
    return " ".join(description.partition("\n\n")[0].split())


def _usage(command: Any, ctx: Any) -> str:
    pieces = [
        piece.replace("{", "").replace("}", "") for piece in command.collect_usage_pieces(ctx)
    ]
    return " ".join([ctx.command_path, *pieces])


def _convert_values(params: list[Any], hints: Mapping[str, Any] = _NO_HINTS) -> list[Any]:
    """Let `topgap.cli.conversion` convert what is typed for the options, in place of Typer."""
    for each in params:
        if "process_value" not in vars(each):
            each.process_value = _make_conversion(each, hints.get(each.name))
    return params


def _make_conversion(param: Any, hint: Any) -> Callable[[Any, Any], Any]:
    typers_own = param.process_value

    def process_value(ctx: Any, value: Any) -> Any:
        if param.required and param.value_is_missing(value):
            return typers_own(ctx, value)  # says what is missing
        try:
            value = convert(value, hint)
        except typer.BadParameter as error:
            error.ctx, error.param = ctx, param
            raise
        return value if param.callback is None else param.callback(ctx, param, value)

    return process_value


def _make_typer(**settings: Any) -> typer.Typer:
    return typer.Typer(
        name="topgap",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
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
    """Release the top-k items and the gaps between them under pure ε-differential privacy."""


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
