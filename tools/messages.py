"""All messages of errors and warnings, in one table, to be read in one go.

    python -m tools.messages

A message is a sentence or a few: what it is about, what is wrong, and what to do. What can be seen
without understanding it is checked: it begins with a capital, a value, or the name of a parameter,
function or key, and ends with a full stop. What a message is filled with stands in it as {name}.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from topgap import errors

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "topgap"
ERRORS = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, Exception)
}
"""The errors and warnings of topgap. Others are for its own use, and no user sees their texts."""

_BEGIN = re.compile(r"[A-Z0-9{\"'`(\-]|[kLε]\b|(?:topgap|pip)\b|_?([a-z]\w+)")
_END = re.compile(r"(?:[.?]|\})[\"')]?$", re.DOTALL)


class Message(NamedTuple):
    """A message: where it stands, of which error, and its text with {} for what is put in."""

    file: str
    line: int
    error: str
    text: str

    def find_fault(self, names: set[str]) -> str | None:
        """What is wrong with its form, or None; it may begin with one of these names."""
        begin = _BEGIN.match(self.text)
        if not begin or (begin[1] and begin[1] not in names):
            return "begins with a small letter"
        return None if _END.search(self.text) else "does not end with a full stop"


def find_messages(package: Path = PACKAGE) -> Iterator[Message]:
    """The messages of all modules, in the order of the files."""
    for path in sorted(package.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args)
        for call in sorted(calls, key=lambda call: call.lineno):
            name = ast.unparse(call.func).rpartition(".")[2]
            text = _text(call.args[0]) if name in ERRORS else None
            if text:
                yield Message(path.relative_to(package).as_posix(), call.lineno, name, text)


def find_names(package: Path = PACKAGE) -> set[str]:
    """The parameters, attributes, functions and keys that a message may begin with."""
    names: set[str] = set()
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.arg(arg=name) | ast.FunctionDef(name=name):
                    names.add(name)
                case ast.AnnAssign(target=ast.Name(id=name)):
                    names.add(name)
                case ast.Subscript(slice=ast.Constant(value=str(name))):
                    names.add(name)
    return names


def _text(node: ast.expr) -> str | None:
    """A string with its placeholders; None for what is no string here."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) or f"{{{_name(part)}}}" for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return (_text(left) or "{…}") + (_text(right) or "{…}")
    return None


def _name(node: ast.expr) -> str:
    return ast.unparse(node.value) if isinstance(node, ast.FormattedValue) else "…"


def main() -> int:
    """Print all of them, by error, and after them those of another form."""
    messages = sorted(find_messages(), key=lambda each: (each.error, each.file, each.line))
    for each in messages:
        print(f"{each.error:20} {each.file}:{each.line}: {each.text}")
    names = find_names()
    faults = [(each, fault) for each in messages if (fault := each.find_fault(names))]
    for each, fault in faults:
        print(f"{each.file}:{each.line} {fault}: {each.text}", file=sys.stderr)
    print(f"messages: {len(messages)}, of which {len(faults)} have another form")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
