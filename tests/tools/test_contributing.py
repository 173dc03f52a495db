"""CONTRIBUTING's tree names what is there, and nothing else."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
IGNORED = {"__init__.py", "__pycache__", "py.typed"}


def named() -> Iterator[Path]:
    """The paths of the tree, by their indentation."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    tree = re.search(r"```text\n(src/topgap/.*?)```", text, re.DOTALL)
    assert tree is not None
    folders: list[tuple[int, Path]] = []
    for line in tree[1].splitlines():
        indent, name = len(line) - len(line.lstrip()), line.split()[0]
        if indent > 4:  # the rest of a sentence
            continue
        while folders and folders[-1][0] >= indent:
            folders.pop()
        path = (folders[-1][1] if folders else ROOT) / name
        folders.append((indent, path))
        yield path


def test_what_the_tree_names_is_there() -> None:
    paths = [*named()]
    assert len(paths) > 30
    assert [path for path in paths if not path.exists()] == []


def test_every_part_of_the_package_is_in_the_tree() -> None:
    source = ROOT / "src" / "topgap"
    parts = {path.name for path in source.iterdir() if not path.name.startswith("_core.")}
    assert parts - IGNORED == {path.name for path in named() if path.parent == source}
