"""The pieces of a Rust source, by its syntax tree.

The tree says where items begin and end and what is a comment or a literal. What is hashed are the
tokens, split here, so that another version of the grammar changes no hash.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

from tools.proofs.pieces import REST, Pieces, UnreadableError

_COMMENTS = {"line_comment", "block_comment"}
_LITERALS = {
    "string_literal",
    "raw_string_literal",
    "char_literal",
    "float_literal",
    "lifetime",
    "label",
}
_TOKEN = re.compile(r"(?:r#)?\w+|->|=>|::|\.\.[.=]?|&&|\|\||==|!=|<=|[-+*/%^|&]=|.")
_TYPES = {"struct_item", "enum_item", "union_item", "type_item", "associated_type"}
_CLOSING = {")", "]", "}"}


def rust_pieces(source: str) -> Pieces:
    """The functions, methods, constants and types of a source, and the rest.

    Raises:
        UnreadableError: It is not valid Rust, or has an item of an unknown kind.
    """
    root = _parser().parse(source.encode()).root_node
    if root.has_error:
        raise UnreadableError(f"It is not valid Rust, from line {_first_error(root)} on.")
    return _pieces(root.children, "", [])


def rust_tokens(nodes: Iterable[Node]) -> list[str]:
    """The tokens of these nodes, without comments and commas before closing brackets."""
    tokens: list[str] = []
    end = -1
    for leaf in (leaf for node in nodes for leaf in _leaves(node)):
        text = _text(leaf)
        is_literal = leaf.type in _LITERALS
        if leaf.start_byte == end and not is_literal:  # `||` may be two leaves, or one
            text = tokens.pop() + text
        end = -1 if is_literal else leaf.end_byte
        for token in [text] if is_literal else _TOKEN.findall(text):
            if token in _CLOSING and tokens[-1:] == [","]:
                tokens.pop()
            tokens.append(token)
    return tokens


def _pieces(nodes: Iterable[Node], prefix: str, header: list[str]) -> Pieces:
    """The items in a file or in the body of a module, trait or impl with this header."""
    attributes: list[Node] = []
    for node in nodes:
        if node.type == "attribute_item":
            attributes.append(node)
        elif node.type == "inner_attribute_item":
            yield REST, " ".join([*header, *rust_tokens([node])]), True
        elif node.is_named and node.type not in _COMMENTS:
            yield from _piece(node, attributes, prefix, header)
            attributes = []
    if attributes:
        raise UnreadableError(f"Line {attributes[0].start_point.row + 1} belongs to no item.")


def _piece(node: Node, attributes: list[Node], prefix: str, header: list[str]) -> Pieces:
    item = node.children[0] if node.type == "expression_statement" else node  # a macro's call
    body = item.child_by_field_name("body")
    before_body = [child for child in item.children if child != body]
    text = " ".join([*header, *rust_tokens([*attributes, node])])
    head = " ".join([*header, *rust_tokens([*attributes, *before_body])])
    name = _name(item)
    match item.type:
        case "function_item" | "function_signature_item":
            yield prefix + name, text, body is not None
        case "const_item" | "static_item":
            yield prefix + name, text, True
        case kind if kind in _TYPES:
            yield prefix + name, text, False
        case "trait_item":
            yield prefix + name, text, False
            pieces = _pieces(_inside(body), f"{name}::", ["trait", name])
            yield from (piece for piece in pieces if piece[2] and piece[0] != REST)
        case "impl_item":
            yield REST, head, True
            own = rust_tokens(before_body)
            own = own[own.index("impl") :]
            yield from _pieces(_inside(body), f"{prefix}{name}::", own)
        case "mod_item":
            yield REST, head if body else text, True
            yield from _pieces(_inside(body), f"{prefix}{name}::", [*header, "mod", name])
        case "macro_definition" | "macro_invocation":
            yield f"{prefix}{name}!", text, True
        case "use_declaration" | "extern_crate_declaration" | "foreign_mod_item":
            yield REST, text, True
        case kind:
            raise UnreadableError(f"Line {node.start_point.row + 1} is a {kind}, not an item.")


def _name(node: Node) -> str:
    """What a node is called: of `impl<C> Source for Cipher<C> where …` it is `Cipher`."""
    for field in ("name", "macro", "type"):
        if inner := node.child_by_field_name(field):
            return _name(inner)
    return "".join(rust_tokens([node]))


def _inside(body: Node | None) -> list[Node]:
    return body.children if body else []


def _leaves(node: Node) -> Iterator[Node]:
    if node.type in _COMMENTS:
        return
    if node.type in _LITERALS or not node.children:
        yield node
    else:
        for child in node.children:
            yield from _leaves(child)


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _first_error(node: Node) -> int:
    wrong = [child for child in node.children if child.has_error]
    return _first_error(wrong[0]) if wrong else node.start_point.row + 1


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_rust.language()))
