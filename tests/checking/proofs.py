"""The tie between the proofs in docs/proofs and the code that they speak of.

Each page ends with a table of the code that it speaks of, piece by piece, and of the hash that each
had when the proof was last looked at. This module finds what has changed since, and what of the
code that must be proven has no proof.
"""

import os
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from checking.code_items import Item, UnreadableError, items_of

PAGES = Path("docs/proofs")
INDEX = PAGES / "README.md"

PROVEN = (
    "rust/kernel/src/**/*.rs",
    "rust/python/src/**/*.rs",
    "src/topgap/parameters.py",
    "src/topgap/exact.py",
    "src/topgap/answers.py",
    "src/topgap/pools.py",
    "src/topgap/selector.py",
    "src/topgap/mechanism.py",
    "src/topgap/measurement.py",
    "src/topgap/reference/*.py",
    "src/topgap/opendp/privacy_map.py",
    "src/topgap/spark/partitions.py",
)
"""All that these files do is proven in some page, or named in the index with the reason why not."""

_TIE = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| `([0-9a-f]{12}|-)` \|$", re.MULTILINE)
_REASON = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| ([^`|\s][^|\n]*) \|$", re.MULTILINE)
_LINK = re.compile(r"\]\(([\w-]+\.md)\)")


class Tie(NamedTuple):
    """That a page speaks of a piece of code, and the hash of it that was seen, or "-"."""

    path: str
    item: str
    digest: str


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

    def to_be_proven(self) -> list[tuple[str, str]]:
        """The file and name of each item that does something in the files of `PROVEN`."""
        files = {file for pattern in PROVEN for file in self.root.glob(pattern)}
        paths = sorted(file.relative_to(self.root).as_posix() for file in files)
        return [
            (path, item.name) for path in paths for item in self.items(path).values() if item.does
        ]


def check(root: Path) -> Outcome:
    """Hold the pages below this folder against the code below it.

    Raises:
        UnreadableError: A source cannot be taken to pieces.
    """
    code = Code(root)
    pages = sorted((root / PAGES).glob("*.md"))
    texts = {page.relative_to(root): page.read_text(encoding="utf-8") for page in pages}
    index = texts.get(INDEX, "")
    complaints = _of_index(index, [page.name for page in texts])
    covered = set()
    ties = [(page, tie) for page, text in texts.items() for tie in _ties(text)]
    for page, tie in ties:
        covered.add((tie.path, tie.item))
        item = code.items(tie.path).get(tie.item)
        if item is None:
            complaints.append(
                f"{page}: `{tie.item}` is not in {tie.path} any more; look at the proof again and "
                "name what stands there now."
            )
        elif item.digest != tie.digest:
            what = "has no hash yet" if tie.digest == "-" else "has changed"
            complaints.append(
                f"{page}: `{tie.item}` in {tie.path} {what}; look at the proof again, and then run "
                f"python tests/proofs.py --seen {page}"
            )
    reasons = [(path, item) for path, item, _ in _REASON.findall(index)]
    unproven = [each for each in code.to_be_proven() if each not in covered]
    for path, name in unproven:
        if not any(path == file and fnmatchcase(name, named) for file, named in reasons):
            complaints.append(
                f"{path}: no proof speaks of `{name}`; name it in the page that proves it, or in "
                f"{INDEX} with the reason why it needs none."
            )
    for path, named in reasons:
        if not any(fnmatchcase(name, named) for name in code.items(path)):
            complaints.append(f"{INDEX}: there is no `{named}` in {path} any more; leave it out.")
    return Outcome(complaints, len(texts), len(ties), len(unproven))


def _of_index(index: str, pages: list[str]) -> list[str]:
    linked = set(_LINK.findall(index))
    missing = [f"{PAGES / page}: the index {INDEX} has no link to it." for page in pages
               if page not in linked | {INDEX.name}]  # fmt: skip
    return missing + [
        f"{INDEX}: there is no {page}, to which it has a link."
        for page in sorted(linked.difference(pages))
    ]


def _ties(text: str) -> list[Tie]:
    return [Tie(*found) for found in _TIE.findall(text)]


def see(root: Path, page: Path) -> int:
    """Write into one page the present hashes of its code; return how many are new.

    Raises:
        LookupError: It is no page with such a table, or speaks of code that is not there.
    """
    if page.resolve().parent != (root / PAGES).resolve() or not page.is_file():
        raise LookupError(f"{page} is no page of {PAGES}.")
    code = Code(root)
    text = page.read_text(encoding="utf-8")
    if not _ties(text):
        raise LookupError(f"{page} has no table of the code that it speaks of.")

    def present(found: re.Match[str]) -> str:
        tie = Tie(*found.groups())
        item = code.items(tie.path).get(tie.item)
        if item is None:
            raise LookupError(f"`{tie.item}` is not in {tie.path}; name what stands there now.")
        return f"| `{tie.path}` | `{tie.item}` | `{item.digest}` |"

    seen = _TIE.sub(present, text)
    beside = page.with_suffix(".md.new")
    beside.write_text(seen, encoding="utf-8")
    os.replace(beside, page)  # whole, or not at all
    return sum(old != new for old, new in zip(_ties(text), _ties(seen), strict=True))
