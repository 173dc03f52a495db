"""What the site has beside the pages in docs: those at the root of the tree, and the help.

MkDocs runs this. Pages are written to be read in the tree as well, so links between them are those
of the tree, and are changed here to those of the site.
"""

import re
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from typer.testing import CliRunner

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
    """The help of every command, as Typer writes it, with the examples as code."""
    from typer.cli import app

    run = CliRunner().invoke(app, ["topgap.cli.app", "utils", "docs", "--name", "topgap"])
    if run.exit_code:
        raise typer.Exit(run.exit_code)
    text = re.sub(r"^\[bold\](.+)\[/bold\]$", r"**\1**", run.output, flags=re.MULTILINE)
    typed = re.compile(r"^(?:topgap|zcat) .*(?:\n {2,}.*)*$", re.MULTILINE)
    return typed.sub(lambda found: f"```sh\n{found[0]}\n```", text).replace(
        "```console\n$ ", "```sh\n"
    )
