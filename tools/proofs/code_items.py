"""The pieces that source code consists of, each with a hash of what it does and not how it looks.

A piece is a function, a method, a constant or a type. Its hash is one of its code alone: comments,
doc comments and docstrings, white space and line breaks do not count, nor does a comma before a
closing bracket, which formatters put and remove. All else counts, attributes and decorators too.

What is in no function, method or constant is `REST`, one piece for each file: what it imports, its
modules, types, the heads of classes and impls, and statements that stand by themselves. So nothing
in a file is in no piece.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

REST = "(rest)"
"""What no other piece that does something has of a file."""

ALL = "(all)"
"""A file as a whole."""


class Item(NamedTuple):
    """A piece of code.

    Attributes:
        name: Such as `f`, `CONSTANT`, `Type::method` in Rust and `Class.method` in Python; `REST`
            or `ALL`.
        digest: Of what it does.
        does: Whether it does or fixes something. A type, an alias or a signature does not by
            itself, and is in `REST`.
    """

    name: str
    digest: str
    does: bool


class UnreadableError(ValueError):
    """A source has something at its outermost level that this module does not know."""


@cache
def items_of(source: str, language: str) -> dict[str, Item]:
    """The items of a source in `"rs"` or `"py"`, by name.

    Of items of one name, such as the two sides of a property, one is made.

    >>> items = items_of("fn f() -> u8 { 2 } // two", "rs")
    >>> items == items_of("fn f() -> u8 {\\n    2\\n}", "rs")
    True
    >>> items == items_of("fn f() -> u8 { 3 }", "rs")
    False
    >>> [*items_of("use a::b; struct S; fn f() {}", "rs")]
    ['(rest)', 'S', 'f', '(all)']
    """
    pieces = {"rs": _rust, "py": _python}[language](source)
    code: dict[str, str] = {}
    does: dict[str, bool] = {}
    for name, text, is_doing in pieces:
        for part in (name,) if is_doing else (name, REST):
            code[part] = code.get(part, "") + text + "\n"
            does[part] = does.get(part, False) or is_doing or part == REST
    items = {name: Item(name, _hashed(text), does[name]) for name, text in code.items()}
    return items | {ALL: Item(ALL, _hashed(repr(code)), False)}


def _hashed(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


Pieces = Iterator[tuple[str, str, bool]]

_TOKEN = re.compile(
    r"""
      (?P<space>\s+|//[^\n]*)
    | (?P<block>/\*)
    | (?P<raw>[bc]?r(?P<hashes>\#*)".*?"(?P=hashes))
    | (?P<string>[bc]?"(?:\\.|[^"\\])*")
    | (?P<char>b?'(?:\\(?:x..|u\{[^}]*\}|.)|[^'\\])')
    | (?P<lifetime>'\w+)
    | (?P<word>(?:r\#)?[^\W\d]\w*|\d\w*(?:\.\d\w*)?)
    | (?P<mark>->|=>|::|\.\.[.=]?|&&|\|\||==|!=|<=|[-+*/%^|&]=|.)
    """,
    re.DOTALL | re.VERBOSE,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def rust_tokens(source: str) -> list[str]:
    """What a Rust source consists of, but for comments and commas before closing brackets.

    >>> rust_tokens("f::<'a>('b', r#\\"// no\\"#,) /* a /* b */ */ // c")
    ['f', '::', '<', "'a", '>', '(', "'b'", ',', 'r#"// no"#', ')']
    """
    tokens: list[str] = []
    at = 0
    while at < len(source):
        found = _TOKEN.match(source, at)
        assert found is not None  # any character is a mark
        at = found.end()
        if found["block"]:
            at = _end_of_comment(source, at)
        elif not found["space"]:
            if tokens and tokens[-1] == "," and found[0] in _CLOSING.values():
                tokens.pop()
            tokens.append(found[0])
    return tokens


def _end_of_comment(source: str, at: int) -> int:
    depth = 1
    for found in re.compile(r"/\*|\*/").finditer(source, at):
        depth += 1 if found[0] == "/*" else -1
        if depth == 0:
            return found.end()
    raise UnreadableError("A comment has no end.")


def _rust(source: str) -> Pieces:
    return _rust_items(rust_tokens(source), "", [])


def _rust_items(tokens: list[str], prefix: str, header: list[str]) -> Pieces:
    """The items in a file or between the braces of a module, trait or impl with this header."""
    at = 0
    while at < len(tokens):
        start = at
        while tokens[at] == "#":
            at = _after_group(tokens, at + 2 if tokens[at + 1] == "!" else at + 1)
            if tokens[start + 1] == "!":
                yield REST, " ".join([*header, *tokens[start:at]]), True
                start = at  # of the file, not of the item
            if at == len(tokens):
                return
        at = _after_qualifiers(tokens, at)
        kind, name = tokens[at], tokens[at + 1]
        end = _end_of_item(tokens, at)
        text = " ".join([*header, *tokens[start:end]])
        has_body = tokens[end - 1] == "}"
        body = tokens.index("{", at) if has_body else end
        inside = tokens[body + 1 : end - 1]
        if kind == "fn":
            yield prefix + name, text, has_body
        elif kind in ("const", "static"):
            yield prefix + (tokens[at + 2] if name == "mut" else name), text, True
        elif kind in ("struct", "enum", "union", "type"):
            yield prefix + name, text, False
        elif kind == "trait":
            yield prefix + name, text, False
            pieces = _rust_items(inside, f"{name}::", [kind, name])
            yield from (piece for piece in pieces if piece[2] and piece[0] != REST)
        elif kind == "impl":
            head = tokens[at:body]
            yield REST, " ".join([*header, *tokens[start:body]]), True
            yield from _rust_items(inside, f"{prefix}{_implemented(head)}::", head)
        elif kind == "mod":
            yield REST, " ".join([*header, *tokens[start:body]]), True
            yield from _rust_items(inside, f"{prefix}{name}::", [*header, kind, name])
        elif "!" in tokens[at:end]:
            bang = tokens.index("!", at)
            made = tokens[bang + 1] if kind == "macro_rules" else tokens[bang - 1]
            yield f"{prefix}{made}!", text, True
        elif kind in ("use", "extern"):
            yield REST, text, True
        else:
            raise UnreadableError(f"An item begins with {kind}, which is not known.")
        at = end


def _after_qualifiers(tokens: list[str], at: int) -> int:
    while True:
        if tokens[at] == "pub":
            at = _after_group(tokens, at + 1) if tokens[at + 1] == "(" else at + 1
        elif tokens[at] in ("async", "unsafe", "default") or (
            tokens[at] == "const" and tokens[at + 1] in ("fn", "unsafe", "async")
        ):
            at += 1
        elif tokens[at] == "extern" and tokens[at + 2] == "fn":
            at += 2
        else:
            return at


def _end_of_item(tokens: list[str], at: int) -> int:
    """Behind the first `;`, or the first braces if they are its body, outside of all brackets."""
    ends_with_semicolon = tokens[at] in ("const", "static", "type", "use")
    while at < len(tokens):
        if tokens[at] == ";":
            return at + 1
        if tokens[at] in _CLOSING:
            is_body = tokens[at] == "{" and not ends_with_semicolon
            at = _after_group(tokens, at)
            if is_body:
                return at
        else:
            at += 1
    raise UnreadableError("An item has no end.")


def _after_group(tokens: list[str], at: int) -> int:
    """Behind the bracket that closes the one here."""
    expected: list[str] = []
    for place in range(at, len(tokens)):
        if tokens[place] in _CLOSING:
            expected.append(_CLOSING[tokens[place]])
        elif tokens[place] in _CLOSING.values() and tokens[place] != expected.pop():
            break
        if not expected:
            return place + 1
    raise UnreadableError("A bracket is not closed.")


def _implemented(head: list[str]) -> str:
    """The type of an impl: of `impl<C> Source for Cipher<C> where …` it is `Cipher`."""
    depth, name = 0, ""
    for word in head[1:]:
        depth += {"<": 1, ">": -1}.get(word, 0)
        if depth == 0 and word == "where":
            break
        if depth == 0 and re.fullmatch(r"[^\W\d]\w*", word) and word != "for":
            name = word
    return name


def _python(source: str) -> Pieces:
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
