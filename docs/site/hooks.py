"""What the site has beside the pages in docs: those at the root of the tree, and the help.

MkDocs runs this. Pages are written to be read in the tree as well, so links between them are those
of the tree, and are changed here to those of the site.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from topgap.cli.app import app
from topgap.cli.help import is_typed

ROOT = Path(__file__).parents[2]
AT_THE_ROOT = {
    "SECURITY.md": "security.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "README.md": "index.md",
}
"""What a file at the root of the tree is called on the site."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs."""
    for source, page in AT_THE_ROOT.items():
        if page != "index.md":
            files.append(File.generated(config, page, content=_of_the_root(source)))
    files.append(File.generated(config, "api/command.md", content=_command()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links to the root of the tree lead to its pages, and call pages by their titles."""
    if page.file.src_uri == "index.md":  # a front page has the whole width
        page.meta["hide"] = ["navigation", "toc"]
    for source, there in AT_THE_ROOT.items():
        markdown = markdown.replace(f"](../{source}", f"]({there}")
        markdown = markdown.replace(f"](../../{source}", f"](../{there}")
    markdown = markdown.replace("```python\n>>> ", "```pycon\n>>> ")  # outputs are not code
    folder = (ROOT / "docs" / page.file.src_uri).parent
    return re.sub(
        r"\[[\w/]+\.md\]\(([\w./]+\.md)", lambda found: _titled(folder, found[1]), markdown
    )


def _titled(folder: Path, link: str) -> str:
    sources = {page: ROOT / source for source, page in AT_THE_ROOT.items()}
    source = sources.get(Path(link).name, folder / link)
    title = source.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
    return f"[{title}]({link}"


def _of_the_root(source: str) -> str:
    text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
    for other, page in AT_THE_ROOT.items():
        text = text.replace(f"]({other}", f"]({page}")
    return text


def _command() -> str:
    """The help of every command, as the command itself has it, with the examples as code."""
    command = typer.main.get_command(app)
    parts = ["# `topgap`", *_describe(command, _open_context(command, "topgap"), 2)]
    return "\n\n".join(parts) + "\n"


def _describe(command: Any, context: Any, level: int) -> Iterator[str]:
    """The help of a command, and below it that of the commands within."""
    page = command.help_page(context)
    yield page.description.strip()
    yield f"```sh\n{page.usage}\n```"
    for heading, entries in page.sections:
        yield f"**{heading}**"
        yield "\n".join(f"* `{name}`: {_escape(text)}" for name, text in entries)
    for number, paragraph in enumerate(filter(None, page.examples.strip().split("\n\n"))):
        if number == 0:
            yield "**Examples**"
        yield f"```sh\n{paragraph}\n```" if is_typed(paragraph) else _escape(paragraph)
    if page.notes:
        yield page.notes.strip()
    for name in getattr(command, "commands", ()):
        within = command.commands[name]
        yield f"{'#' * level} `{context.command_path} {name}`"
        yield from _describe(
            within, typer.Context(within, parent=context, info_name=name), level + 1
        )


def _open_context(command: Any, name: str, parent: Any = None) -> Any:
    return typer.Context(command, info_name=name, parent=parent, help_option_names=["-h", "--help"])


def _escape(text: str) -> str:
    """The text with what Markdown would take for its own."""
    return re.sub(r"([<>*_\[\]])", r"\\\1", text)
