"""Which methods keep all their state in their variables, as their source shows.

A walk may follow two tapes as one only if they leave a program in the same state. For a method that
is plain in the sense of this module, the line at which it waits for a draw and the variables that
it has there are its whole state.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Hashable
from collections.abc import Set as AbstractSet
from types import FunctionType
from typing import Any, TypeGuard

PURE = {"_is_exact", "_is_int", "_require", "Fraction", "int", "max", "min"}


def state_is_in_variables(method: Callable[..., Any]) -> bool:
    """Whether nothing but the method's variables and its place tells what it does after a draw.

    What is allowed is listed, not what is forbidden: plain statements, each on lines of its own,
    with at most one draw; variables that are assigned by name; pure functions; and `self` only to
    draw or to count. Everything else is walked without merging.
    """
    function = _syntax(method)
    if not isinstance(function, ast.FunctionDef):
        return False
    statements = [node for node in ast.walk(function) if isinstance(node, ast.stmt)][1:]
    first_lines = [statement.lineno for statement in statements]
    return (
        len(first_lines) == len(set(first_lines))
        and all(_is_plain(statement) for statement in statements)
        and all(isinstance(node, _PLAIN_PARTS) for node in ast.walk(function))
    )


_PLAIN_STATEMENTS = (
    ast.Assign | ast.AugAssign | ast.If | ast.While | ast.Return | ast.Break | ast.Expr | ast.Pass
)
_PLAIN_PARTS = (
    ast.FunctionDef, *_PLAIN_STATEMENTS.__args__, ast.arguments, ast.arg, ast.Call, ast.Name,
    ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.Compare, ast.BinOp, ast.BoolOp,
    ast.UnaryOp, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a statement, without those inside it, is of the kinds that hide no state."""
    if not isinstance(statement, _PLAIN_STATEMENTS):
        return False
    if isinstance(statement, ast.AugAssign) and COUNTING.fullmatch(ast.unparse(statement)):
        return True
    if isinstance(statement, ast.Assign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = [n for t in targets for n in (t.elts if isinstance(t, ast.Tuple) else [t])]
        if not all(isinstance(name, ast.Name) for name in names):
            return False
    own = statement.test if isinstance(statement, ast.If | ast.While) else statement
    calls = [ast.unparse(node.func) for node in ast.walk(own) if isinstance(node, ast.Call)]
    draws = [call for call in calls if DRAW.fullmatch(call)]
    uses_of_self = [
        node for node in ast.walk(own) if isinstance(node, ast.Name) and node.id == "self"
    ]
    return (
        len(draws) <= 1
        and len(uses_of_self) == len(draws)
        and all(call in PURE or call.endswith(".bit_length") for call in calls if call not in draws)
    )


COUNTING = re.compile(r"self\.calls\['\w+'\] \+= 1")
DRAW = re.compile(r"self\.([a-z]\w*|bits\.take)")


def overwritten_variables(method: Callable[..., Any]) -> dict[int, str]:
    """By line, the variable that `name = …` will overwrite: its old value does not matter."""
    first = method.__code__.co_firstlineno
    return {
        first + line - 1: node.targets[0].id
        for node in ast.walk(_syntax(method))
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if node.targets[0].id not in {part.id for part in ast.walk(node.value) if _is_name(part)}
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def code_that_runs(sampler: type, plain: AbstractSet[str]) -> dict[str, frozenset[Hashable]]:
    """By method, its code and that of everything it calls, wherever all its draws are plain.

    A plain method names what it uses. So where all names stand for the same, the same happens.
    """
    found = {}
    for name in plain:
        parts: set[Hashable] = set()
        draws = set()
        waiting = [(name, vars(sampler)[name])]
        while waiting:
            called, function = waiting.pop()
            part = (called, function.__code__, function.__defaults__)
            if part in parts:
                continue
            parts.add(part)
            for used in function.__code__.co_names:
                if hasattr(sampler, used):
                    draws.add(used)
                    waiting += [(used, vars(sampler)[used])] if used in plain else []
                given = function.__globals__.get(used)
                if isinstance(given, FunctionType):
                    waiting.append((used, given))
                elif given is not None:
                    parts.add((used, given if isinstance(given, Hashable) else object()))
        if draws <= plain:
            found[name] = frozenset(parts)
    return found


def _syntax(method: Callable[..., Any]) -> ast.stmt:
    return ast.parse(textwrap.dedent(inspect.getsource(method))).body[0]


def _is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)
