"""The help of a command: an option on a line, and what it does indented below.

A page is data, of which the terminal and the site each make their own text.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import fill, indent
from typing import Any, NamedTuple

import typer

from topgap.cli.conversion import list_choices, plain_type

_WIDEST, _NARROWEST = 100, 40
_MOST_BESIDE = 16  # characters of a name that has its help beside it


class Entry(NamedTuple):
    """An option, an argument or a command, and what it is for."""

    name: str
    text: str


class Section(NamedTuple):
    """Entries below a heading."""

    heading: str
    entries: Sequence[Entry]


class Page(NamedTuple):
    """The help of a command."""

    usage: str
    description: str
    sections: Sequence[Section]
    examples: str
    notes: str


def list_parameters(params: Iterable[Any], hints: Mapping[str, Any]) -> list[Section]:
    """Return the arguments and options in the panels that their fields name.

    Args:
        params: Those of Typer's command.
        hints: The types of the fields, by name.
    """
    sections: dict[str, list[Entry]] = {"Arguments": []}
    others: list[Entry] = []  # without a panel, such as --help: the last
    for each in params:
        if getattr(each, "hidden", False):
            continue
        is_argument = each.param_type_name == "argument"
        panel = "Arguments" if is_argument else getattr(each, "rich_help_panel", None)
        entries = others if panel is None else sections.setdefault(panel, [])
        entries.append(_describe_parameter(each, hints.get(each.name)))
    sections["Options" if len(sections) == 1 else "Other options"] = others
    return [Section(heading, entries) for heading, entries in sections.items() if entries]


def _describe_parameter(param: Any, hint: Any) -> Entry:
    kind = plain_type(hint)
    words = param.metavar or "|".join(list_choices(kind)) or {int: "N", Path: "FILE"}.get(kind, "")
    text = param.help or ""
    if param.param_type_name == "argument":
        return Entry(f"{words}..." if param.nargs != 1 else words, text)
    is_flag = param.is_flag
    names = "/".join(param.secondary_opts and [param.opts[0], *param.secondary_opts])
    names = names or ", ".join(sorted(param.opts, key=len))
    default = param.default
    if param.required:
        text += " Required."
    elif param.secondary_opts and param.show_default:
        text += f" Default: {param.opts[0] if default else param.secondary_opts[0]}."
    elif param.show_default and type(default) in (str, int) and default != "":
        text += f" Default: {default:,}." if type(default) is int else f" Default: {default}."
    return Entry(names if is_flag else f"{names} {words}".rstrip(), text)


def format_page(page: Page, columns: int | None = None) -> str:
    """Format the page for a terminal.

    Args:
        page: The page.
        columns: The width; that of the terminal unless given, and at most 100.

    >>> usage = "topgap greet [OPTIONS]"
    >>> section = Section("Options", [Entry("--times N", "How often you are greeted.")])
    >>> print(format_page(Page(usage, "Greet.", [section], "topgap greet", ""), 40))
    Usage: topgap greet [OPTIONS]
    <BLANKLINE>
    Greet.
    <BLANKLINE>
    Options:
      --times N  How often you are greeted.
    <BLANKLINE>
    Examples:
        topgap greet
    <BLANKLINE>
    """
    found = shutil.get_terminal_size().columns if columns is None else columns
    room = max(min(found, _WIDEST), _NARROWEST)
    parts = [f"{_bold('Usage:')} {page.usage}", *_wrap_paragraphs(page.description, room, 0)]
    parts += ["\n".join(_format_section(each, room)) for each in page.sections]
    if page.examples:
        first, *rest = _wrap_paragraphs(page.examples, room, 2)
        parts += [f"{_bold('Examples:')}\n{first}", *rest]
    return "\n\n".join([*parts, *_wrap_paragraphs(page.notes, room, 0)]) + "\n"


def _format_section(section: Section, room: int) -> list[str]:
    """Beside their help if all names are short, as those of commands are; otherwise above it."""
    lines = [_bold(f"{section.heading}:")]
    longest = max(len(each.name) for each in section.entries)
    is_narrow = longest <= _MOST_BESIDE
    for name, text in section.entries:
        shown = "  " + _bold(name)
        if is_narrow:
            margin = " " * (longest + 4)
            wrapped = _fill(text, room, margin)
            lines.append(shown + wrapped[len(name) + 2 :])
        else:
            lines += [shown, _fill(text, room, " " * 6)]
    return lines


def _fill(text: str, room: int, margin: str) -> str:
    return fill(
        text, room - 1, initial_indent=margin, subsequent_indent=margin, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def is_typed(paragraph: str) -> bool:
    """Whether a paragraph of examples is what a user types."""
    return paragraph.startswith(("topgap ", "zcat "))


def _wrap_paragraphs(text: str, room: int, margin: int) -> list[str]:
    """Each paragraph wrapped; but what is typed stays as it is, for it has its own line ends."""
    paragraphs = filter(None, text.strip().split("\n\n"))
    return [
        indent(each, " " * 4) if is_typed(each) else _fill(each, room, " " * margin)
        for each in paragraphs
    ]


def _bold(text: str) -> str:
    """Return the text in bold, on a terminal."""
    to_terminal = sys.stdout is not None and sys.stdout.isatty()
    return typer.style(text, bold=True) if to_terminal and "NO_COLOR" not in os.environ else text
