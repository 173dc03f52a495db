"""All error messages of topgap in one table, to be read in one go.

    python -m tools.messages

Each message is the text with which an error is made, in whatever function: `raise` finds no
others. A value that it contains is a pair of braces with the expression. A constant is looked up
by its name. `tests/test_messages.py` checks what can be checked of the wording.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

SOURCES = Path(__file__).parents[1] / "src" / "topgap"
OF_PYTHON = {"AttributeError", "AssertionError", "KeyError"}
"""Errors that follow Python's own wording."""


class Message(NamedTuple):
    """The text of an error, and where it is made."""

    path: str
    line: int
    error: str
    text: str


def collect(root: Path = SOURCES) -> list[Message]:
    """All messages, by path and line."""
    trees = _parse(root)
    constants = {
        name: text for tree in trees.values() for name, text in _constants(tree) if name.isupper()
    }
    return [
        Message(path.relative_to(root).as_posix(), line, error, text)
        for path, tree in trees.items()
        for line, error, text in sorted(_messages(tree, constants | dict(_constants(tree))))
    ]


@cache
def read_names(root: Path = SOURCES) -> set[str]:
    """The names of all parameters, functions and modules, with which a message can start."""
    nodes = [
        node for path in root.rglob("*.py") for node in ast.walk(ast.parse(path.read_text("utf-8")))
    ]
    parameters = {node.arg for node in nodes if isinstance(node, ast.arg | ast.keyword)}
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    fields = {
        node.target.id
        for node in nodes
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    return {*filter(None, parameters)} | attributes | fields | functions | {"topgap"}


@cache
def _parse(root: Path) -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(root.rglob("*.py"))}


def _constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name):
            text = _read(node.value, {})
            if text is not None:
                yield target.id, text


def _messages(tree: ast.Module, constants: dict[str, str]) -> Iterator[tuple[int, str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and (error := _name_error(node.func)):
            text = _read(node.args[0], constants)
            if text is not None:
                yield node.lineno, error, text


def _name_error(function: ast.expr) -> str | None:
    """The name of an error that is made, or None if the call makes none."""
    name = str(getattr(function, "attr", "") or getattr(function, "id", ""))
    is_error = name[:1].isupper() and name.endswith(("Error", "BadParameter"))
    return name if is_error and name not in OF_PYTHON else None


def _read(node: ast.expr, constants: dict[str, str]) -> str | None:
    """The text of an expression, or None if it is made elsewhere."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(value.value) if isinstance(value, ast.Constant) else _read_value(value, constants)
            for value in node.values
        )
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _read(node.func.value, constants) if node.func.attr == "format" else None
    return None


def _read_value(node: ast.expr, constants: dict[str, str]) -> str:
    value = node.value if isinstance(node, ast.FormattedValue) else node
    return _read(value, constants) or f"{{{ast.unparse(value)}}}"


def main() -> None:
    """Print the table."""
    for each in collect():
        print(f"{each.path}:{each.line} {each.error}: {each.text}")


if __name__ == "__main__":
    main()
