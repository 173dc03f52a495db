"""The pieces that source code consists of, each with a hash of what it does and not how it looks.

A piece is a function, a method, a constant or a type. Its hash is one of its code alone: comments,
doc comments and docstrings, white space and line breaks do not count, nor does a comma before a
closing bracket, which formatters put and remove. All else counts, attributes and decorators too.

What is in no function, method or constant is `REST`, one piece for each file: what it imports, its
modules, types, the heads of classes and impls, and statements that stand by themselves. So nothing
in a file is in no piece.
"""

from functools import cache
from hashlib import sha256
from typing import NamedTuple

from tools.proofs.pieces import REST, UnreadableError
from tools.proofs.python_pieces import python_pieces
from tools.proofs.rust_pieces import rust_pieces

__all__ = ["ALL", "REST", "Item", "UnreadableError", "items_of"]

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


@cache
def items_of(source: str, language: str) -> dict[str, Item]:
    r"""The items of a source in `"rs"` or `"py"`, by name.

    Of items of one name, such as the two sides of a property, one is made.

    >>> items = items_of("fn f() -> u8 { 2 } // two", "rs")
    >>> items == items_of("fn f() -> u8 {\n    2\n}", "rs")
    True
    >>> items == items_of("fn f() -> u8 { 3 }", "rs")
    False
    >>> [*items_of("use a::b; struct S; fn f() {}", "rs")]
    ['(rest)', 'S', 'f', '(all)']
    """
    pieces = {"rs": rust_pieces, "py": python_pieces}[language](source)
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
