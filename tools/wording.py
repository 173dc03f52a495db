"""Find words that the project replaces: in pages, help, messages and docstrings.

    python -m tools.wording [path …]

`REPLACED` is the list: a term for which CONTRIBUTING has another one. Code, quotations and HTML
comments are exempt, so a page can still name a word. Spelling is for codespell, whose few
exceptions are in `pyproject.toml`.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
READ = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "docs/**/*.md", "src/topgap/**/*.py",
        "src/topgap/report/*.html")  # fmt: skip
"""What is checked where no path is named. A glob that matches nothing is an error."""

REPLACED = {
    r"(?<!\bby\s)chances?": "probability",
    r"what is told": "release",
    r"(?:who|what) takes? part": "domain",
    r"candidates? lists?": "domain",
    r"(?:counts that exist already|ready counts)": "precomputed counts",
    r"off by(?! one\b)": "standard error, or the size of the error",
    r"lean(?:s|ing)?(?! on\b)": "biased",
    r"calls? (?:it |them )?violated": "false-positive probability",
    r"paid(?: for)?": "charged",
    r"neighbor(?:s|ing)?": "neighbour",
    r"laplacian": "Laplace",
    r"telling on": "revealing",
}
"""A word or phrase as a regular expression, without regard to case, and what to say instead."""

_PATTERNS = {
    re.compile(rf"\b(?:{word})\b".replace(" ", r"\s+"), re.IGNORECASE): instead
    for word, instead in REPLACED.items()
}
_EXEMPT = re.compile(
    r"^ *(`{3,})[^\n]*\n.*?^ *\1 *$"  # fenced code
    r"|<!--.*?-->|<(?:pre|code|script|style)\b.*?</(?:pre|code|script|style)>|<[^<>\n]*>"
    r"|(`+)[^`].*?\2"  # a code span
    r"|^ *>(?!>)[^\n]*$|^ *>>> .*?(?=^ *$|\Z)"  # a quoted line, a doctest
    r"|“[^”]*”|\"[^\"\n]{1,200}\"|(?<=\]\()[^)\s]+",  # a quotation, the target of a link
    re.DOTALL | re.MULTILINE,
)


class Hit(NamedTuple):
    """A word that has another one: its line, itself, and what to say instead."""

    line: int
    word: str
    instead: str


def find_words(text: str) -> list[Hit]:
    r"""The words of a text that the project replaces, in the order of the text.

    >>> find_words("The chance is `chance`.\nIt happens by chance.")
    [Hit(line=1, word='chance', instead='probability')]
    """
    prose = _EXEMPT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    found = [
        (match.start(), " ".join(match[0].split()), instead)
        for pattern, instead in _PATTERNS.items()
        for match in pattern.finditer(prose)
    ]
    return [Hit(prose.count("\n", 0, at) + 1, word, instead) for at, word, instead in sorted(found)]


def find_words_of_file(path: Path) -> list[Hit]:
    """The same of a page, a template, or the strings and docstrings of a module."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return find_words(text)
    return [
        hit._replace(line=line + hit.line - 1)
        for line, prose in _strings(ast.parse(text))
        for hit in find_words(prose)
    ]


def _strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The strings of a module that are sentences or a part of one, with their first lines."""
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    for node in sorted(strings, key=lambda node: (node.lineno, node.col_offset)):
        if isinstance(node.value, str) and re.search(r"\w \w", node.value):
            yield node.lineno, node.value


def find_files(root: Path = ROOT) -> list[Path]:
    """All that is checked.

    Raises:
        FileNotFoundError: A part of it is not there, and would be passed over.
    """
    found: list[Path] = []
    for pattern in READ:
        files = sorted(root.glob(pattern))
        if not files:
            raise FileNotFoundError(f"{pattern} matches no file: correct READ in {__file__}.")
        found += files
    return found


def main() -> int:
    """Print each hit as file:line, and the number of hits."""
    paths = [Path(each).resolve() for each in sys.argv[1:]] or find_files()
    hits = [(path, hit) for path in paths for hit in find_words_of_file(path)]
    for path, hit in hits:
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        print(f'{name}:{hit.line}: "{hit.word}": say "{hit.instead}"')
    files = len({path for path, _ in hits})
    print(
        f"wording: {len(hits)} words to replace in {files} of {len(paths)} files"
        if hits
        else f"wording: {len(paths)} files use the project's words"
    )
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main())
