"""A hook of MkDocs: notebooks become pages, with the outputs that they store.

It makes Markdown of them, so that their links are checked like those of other
pages and nothing is loaded from elsewhere. (Pages of the plug-in mkdocs-jupyter
load scripts from another host.)
"""

import json
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

_STYLE = re.compile(r"<style scoped>.*?</style>\s*", re.S)  # pandas'; the site has its own
_CLASS = re.compile(r' border="1" class="dataframe"')
_TO_NOTEBOOK = re.compile(r"(\]\([\w./-]+)\.ipynb\b")


class Page(NamedTuple):
    """A notebook as Markdown, and its figures by the names of their files."""

    markdown: str
    figures: dict[str, str]


def on_files(files: "Files", *, config: "MkDocsConfig") -> "Files":
    """Put a page and its figures beside each notebook, which stays."""
    from mkdocs.structure.files import File

    for file in [*files]:
        path = PurePosixPath(file.src_uri)
        if path.suffix == ".ipynb":
            page = to_page(json.loads(file.content_string), path.stem)
            made = {f"{path.stem}.md": page.markdown, **page.figures}
            for name, content in made.items():
                files.append(File.generated(config, str(path.with_name(name)), content=content))
    return files


def to_page(notebook: dict[str, Any], stem: str) -> Page:
    r"""The page of a notebook: its text, code and outputs, one after the other.

    >>> shown = {"output_type": "stream", "name": "stdout", "text": ["2\n"]}
    >>> text = {"cell_type": "markdown", "source": "# One\n[two](two.ipynb)"}
    >>> code = {"cell_type": "code", "source": "print(2)", "outputs": [shown]}
    >>> print(to_page({"cells": [text, code]}, "one").markdown)
    # One
    [two](two.md)
    <BLANKLINE>
    ```python
    print(2)
    ```
    <BLANKLINE>
    ```text
    2
    ```
    <BLANKLINE>
    This page is a notebook, [one.ipynb](one.ipynb).
    <BLANKLINE>
    """
    parts: list[str] = []
    figures: dict[str, str] = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(_TO_NOTEBOOK.sub(r"\1.md", source))
            continue
        parts.append(_fenced("python", source))
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/svg+xml" in data:
                name = f"{stem}-{len(figures) + 1}.svg"
                figures[name] = "".join(data["image/svg+xml"])
                parts.append(f"![{cell['metadata']['alt']}]({name})")
            elif "text/html" in data:
                parts.append(_table("".join(data["text/html"])))
            else:
                parts.append(
                    _fenced(
                        "text",
                        "".join(output.get("text") or data["text/plain"]),
                    )
                )
    parts.append(f"This page is a notebook, [{stem}.ipynb]({stem}.ipynb).\n")
    return Page("\n\n".join(parts), figures)


def _fenced(kind: str, text: str) -> str:
    """Text between fences that are longer than any in it."""
    longest = max(map(len, re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{kind}\n{text.rstrip()}\n{fence}"


def _table(html: str) -> str:
    """HTML as one block of Markdown, in the site's own style."""
    plain = _CLASS.sub("", _STYLE.sub("", html))
    return f'<div class="notebook-output">{" ".join(plain.split())}</div>'
