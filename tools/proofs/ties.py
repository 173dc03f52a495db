"""The tie between the proofs in docs/proofs and the code that they speak of.

Each page ends with a table of the code that it speaks of, piece by piece, and of the hash that each
had when the proof was last looked at. The index ends with one of the code that needs no proof, each
piece with the reason, and its hash too: the reason may not hold of other code. This module finds
what has changed since, and what of the code that must be proven is in no table.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tools.proofs.code_items import ALL, REST, Item, UnreadableError, items_of

PAGES = Path("docs/proofs")
INDEX = PAGES / "README.md"

PROVEN = (
    "src/topgap/__init__.py",
    "rust/kernel/src/**/*.rs",
    "rust/python/src/**/*.rs",
    "src/topgap/parameters.py",
    "src/topgap/grouped_parameters.py",
    "src/topgap/numbers/parse.py",
    "src/topgap/selection/*.py",
    "src/topgap/sampling/*.py",
    "src/topgap/reference/*.py",
    "src/topgap/opendp/privacy_map.py",
    "src/topgap/spark/partitions.py",
)
"""All that these files do is proven in some page, or named in the index with the reason why not.

Of other files pages may speak, too; then some page has to speak of the rest of the file, which says
what the names in it mean.
"""

_HEAD = "| file | item | seen |\n|---|---|---|\n"
_HEAD_OF_INDEX = "| file | item | reason | seen |\n|---|---|---|---|\n"
_TIE = re.compile(r"(\| `([^`]+)` \| `([^`]+)` \|) `([0-9a-f]{12}|-)` \|")
_TIE_OF_INDEX = re.compile(r"(\| `([^`]+)` \| `([^`]+)` \| [^`|\s][^|]* \|) `([0-9a-f]{12}|-)` \|")
_LINK = re.compile(r"\]\(([\w-]+\.md)\)")


class Tie(NamedTuple):
    """That a page speaks of a piece of code, and the hash of it that was seen, or "-"."""

    begins: str
    path: str
    item: str
    digest: str

    def line(self, digest: str) -> str:
        """The line of the table, with this hash."""
        return f"{self.begins} `{digest}` |"


class Page(NamedTuple):
    """What stands before the lines of a page's table, the lines, and those that are none."""

    text: str
    ties: list[Tie]
    strange: list[str]


def read_page(name: Path, text: str) -> Page:
    """Take a page to pieces; all that comes below the head of its table belongs to that."""
    head, tie = (_HEAD_OF_INDEX, _TIE_OF_INDEX) if name == INDEX else (_HEAD, _TIE)
    before, found, table = text.partition(head)
    lines = [line for line in table.splitlines() if line]
    read = [tie.fullmatch(line) for line in lines]
    return Page(
        before + found,
        [Tie(*each.groups()) for each in read if each],
        [line for line, each in zip(lines, read, strict=True) if not each],
    )


class Outcome(NamedTuple):
    """What a check found."""

    complaints: list[str]
    pages: int
    ties: int
    unproven: int


class Code:
    """The code below a folder, read as far as it is asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[str, dict[str, Item]] = {}

    def items(self, path: str) -> dict[str, Item]:
        """The items of a file; none if there is no such file."""
        if path not in self._read:
            file = self.root / path
            there = file.is_file() and file.suffix in (".rs", ".py")
            try:
                self._read[path] = (
                    items_of(file.read_text(encoding="utf-8"), file.suffix[1:]) if there else {}
                )
            except (SyntaxError, UnreadableError) as error:
                raise UnreadableError(f"{path} cannot be read: {error}") from error
        return self._read[path]

    def to_be_proven(self, spoken_of: Iterable[str]) -> list[tuple[str, str]]:
        """File and name of each item that does something in `PROVEN`, and of the rest of others."""
        proven = {file for pattern in PROVEN for file in self.root.glob(pattern)}
        paths = {file.relative_to(self.root).as_posix() for file in proven}
        return [
            (path, item.name)
            for path in sorted(paths.union(spoken_of))
            for item in self.items(path).values()
            if item.does and (path in paths or item.name == REST)
        ]


def check(root: Path) -> Outcome:
    """Hold the pages below this folder against the code below it.

    Raises:
        UnreadableError: A source cannot be taken to pieces.
    """
    code = Code(root)
    texts = {
        file.relative_to(root): file.read_text(encoding="utf-8")
        for file in sorted((root / PAGES).glob("*.md"))
    }
    pages = {name: read_page(name, text) for name, text in texts.items()}
    complaints = _of_index(texts.get(INDEX, ""), [name.name for name in pages])
    for name, page in pages.items():
        complaints += [f"{name}: this is no line of its table: {line}" for line in page.strange]
        if not page.ties:
            complaints.append(f"{name}: it does not end with a table of code.")
        complaints += [said for tie in page.ties if (said := _of_tie(name, tie, code))]
    ties = [(tie.path, tie.item) for page in pages.values() for tie in page.ties]
    for path, item in code.to_be_proven(path for path, _ in ties):
        if (path, item) not in ties and (path, ALL) not in ties:
            complaints.append(
                f"{path}: no proof speaks of `{item}`; name it in the page that proves it, or in "
                f"{INDEX} with the reason why it needs none."
            )
    unproven = len(pages[INDEX].ties) if INDEX in pages else 0
    return Outcome(complaints, len(pages), len(ties) - unproven, unproven)


def _of_tie(page: Path, tie: Tie, code: Code) -> str | None:
    item = code.items(tie.path).get(tie.item)
    if item is None:
        return (
            f"{page}: `{tie.item}` is not in {tie.path} any more; look at the proof again and "
            "name what stands there now."
        )
    if item.digest == tie.digest:
        return None
    what = "has no hash yet" if tie.digest == "-" else "has changed"
    again = "see whether it needs no proof" if page == INDEX else "look at the proof again"
    return (
        f"{page}: `{tie.item}` in {tie.path} {what}; {again}, and then run "
        f"python -m tools.proofs --seen {page}"
    )


def _of_index(index: str, pages: list[str]) -> list[str]:
    linked = set(_LINK.findall(index))
    missing = [f"{PAGES / page}: the index {INDEX} has no link to it." for page in pages
               if page not in linked | {INDEX.name}]  # fmt: skip
    return missing + [
        f"{INDEX}: there is no {page}, to which it has a link."
        for page in sorted(linked.difference(pages))
    ]


def mark_seen(root: Path, page: Path) -> int:
    """Write into one page the present hashes of its code; return how many are new.

    Raises:
        LookupError: It is no page with such a table, or speaks of code that is not there.
    """
    if page.resolve().parent != (root / PAGES).resolve() or not page.is_file():
        raise LookupError(f"{page} is no page of {PAGES}.")
    code = Code(root)
    text, ties, strange = read_page(PAGES / page.name, page.read_text(encoding="utf-8"))
    if strange:
        raise LookupError(f"{page}: this is no line of its table: {strange[0]}")
    if not ties:
        raise LookupError(f"{page} has no table of the code that it speaks of.")
    lines, new = [], 0
    for tie in ties:
        item = code.items(tie.path).get(tie.item)
        if item is None:
            raise LookupError(f"`{tie.item}` is not in {tie.path}; name what stands there now.")
        lines.append(tie.line(item.digest))
        new += item.digest != tie.digest
    beside = page.with_suffix(".md.new")
    beside.write_text("\n".join([text.rstrip("\n"), *lines, ""]), encoding="utf-8")
    os.replace(beside, page)  # whole, or not at all
    return new
