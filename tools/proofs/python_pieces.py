"""The pieces of a Python source, by its syntax tree."""

import ast
from typing import Any

from tools.proofs.pieces import REST, Pieces


def python_pieces(source: str) -> Pieces:
    """The functions, methods, constants and types of a source, and the rest."""
    return _python_items(ast.parse(source).body)


def _python_items(body: list[ast.stmt]) -> Pieces:
    for node in body:
        if isinstance(node, _FUNCTIONS):
            yield node.name, _dump(node), True
            yield REST, node.name, True  # its place, for what comes later replaces what was before
        elif isinstance(node, ast.ClassDef):
            for method in (each for each in node.body if isinstance(each, _FUNCTIONS)):
                yield f"{node.name}.{method.name}", _dump(method), True
            yield node.name, _dump(_with_names_for_methods(node)), False
        elif names := _assigned(node):
            for name in names:
                yield name, _dump(node), name.strip("_").isupper()
        elif not _is_docstring(node):
            yield REST, _dump(node), True
            for inside in ("body", "orelse", "finalbody"):
                yield from _python_items(getattr(node, inside, []))
            for handler in getattr(node, "handlers", []):
                yield from _python_items(handler.body)


def _with_names_for_methods(node: ast.ClassDef) -> ast.ClassDef:
    body = [
        ast.Expr(ast.Name(each.name)) if isinstance(each, _FUNCTIONS) else each
        for each in node.body
    ]
    fields = {**dict(ast.iter_fields(node)), "body": body}
    return ast.ClassDef(**fields)


def _assigned(node: ast.stmt) -> list[str]:
    """The names that get a value; none if something else gets one, such as an attribute."""
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    each = [one for to in targets for one in (to.elts if isinstance(to, ast.Tuple) else [to])]
    names = [one.id for one in each if isinstance(one, ast.Name)]
    return names if len(names) == len(each) else []


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _dump(node: Any) -> str:
    """The syntax tree as text, the same in all versions of Python that can read the source."""
    if isinstance(node, list):
        return "[" + ",".join(_dump(each) for each in node if not _is_docstring(each)) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [(name, each) for name, each in ast.iter_fields(node) if each not in (None, [])]
    if isinstance(node, ast.Constant):
        fields = [("value", node.value)]
    inside = ",".join(f"{name}={_dump(each)}" for name, each in fields if name != "ctx")
    return f"{type(node).__name__}({inside})"


def _is_docstring(node: Any) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
