"""The code blocks of the README and the pages in docs, and a folder in which their commands work.

A block says what it is: ```python is run, ```sh is what a reader types, and ```text is what comes
of it, or is no code. Another kind, or code that is merely indented, would escape, and is refused.
"""

import re
import shlex
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
LANGUAGES = {"python", "sh", "text"}

_FENCE = re.compile(r"^ *```(.*)$")
_ESCAPES = re.compile(r"^\s*(?:~~~|>\s*```|<pre\b)|^ *\t|^ {8}")  # code that is no fenced block
_LIST = re.compile(r"^ *(?:[-*]|\d+\.) ")


class Block(NamedTuple):
    """A fenced block, with the line on which its fence opens."""

    line: int
    language: str
    text: str


def pages() -> list[Path]:
    """All that people read."""
    return [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]


def name(page: Path) -> str:
    """The page as it is called in the tree."""
    return page.relative_to(ROOT).as_posix()


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page.

    Raises:
        ValueError: A block is not closed, is of an unknown kind, or is merely indented.
    """
    found: list[Block] = []
    opened: tuple[int, str] | None = None
    inside: list[str] = []
    before = ""  # the last line that is not blank
    after_blank = True
    for number, line in enumerate(text.splitlines(), start=1):
        fence = _FENCE.match(line)
        if fence and opened:
            found.append(Block(*opened, "\n".join(inside) + "\n"))
            opened, inside = None, []
        elif fence:
            if fence[1] not in LANGUAGES:
                raise ValueError(f"line {number}: a block of {fence[1] or 'no language'}")
            opened = number, fence[1]
        elif opened:
            inside.append(line)
        elif _ESCAPES.match(line) or (
            line.startswith("    ") and after_blank and not _in_a_list(before)
        ):
            raise ValueError(f"line {number}: code that is not fenced")
        after_blank = not line.strip()
        before = before if after_blank else line
    if opened:
        raise ValueError(f"line {opened[0]}: a block that is not closed")
    return found


def not_run(block: Block) -> list[str]:
    """Lines of a doctest that begin a paragraph and no command: nobody would run them."""
    paragraphs = re.split(r"\n\s*\n", block.text.strip("\n"))
    return [each for each in paragraphs if not each.startswith(">>> ")]


def _in_a_list(line: str) -> bool:
    return bool(_LIST.match(line)) or line.startswith(("  ", ":::"))


def check_pip(arguments: list[str]) -> None:
    """Look whether it installs, and names extras that there are, of this package."""
    if arguments[0] != "install":
        raise ValueError(f"pip {arguments[0]} is not what a page should ask for")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for argument in arguments:
        for extra in re.findall(r"\[(.+)\]", argument):
            unknown = set(extra.split(",")) - set(extras)
            if unknown:
                raise ValueError(f"no extra is called {', '.join(sorted(unknown))}")


# What takes long, installs, or changes the tree is not done but looked at: whether make has such a
# target, the package such an extra, the tree such a file, and an audit such options.
PREAMBLE = f"""
set -eu -o pipefail
ROOT={shlex.quote(str(ROOT))}
make() {{ command make --dry-run --directory "$ROOT" "$@" > /dev/null; }}
pip() {{ PYTHONPATH="$ROOT" command python -c \\
    'import sys; from tests.tools.documents import check_pip; check_pip(sys.argv[1:])' "$@"; }}
source() {{ test "$1" = .venv/bin/activate; }}
git() {{ test "$1" = clone; }}
cd() {{ test "$1" = topgap; }}
python() {{ case "$1 ${{2-}}" in
    "-m benchmarks."*|"-m tools."*) program "$ROOT/${{2//.//}}" && shift 2 && options "$@" ;;
    docs/*) program "$ROOT/$1" && shift && options "$@" ;;
    *) command python "$@" ;; esac; }}
program() {{ file="$1"; test -e "$file" || {{ file="$1.py"; test -e "$file"; }}; }}
options() {{ for each in "$@"; do case "$each" in
    --*) grep --quiet --recursive --fixed-strings -e "\"$each\"" "$file" ;; esac; done; }}
topgap() {{ case "$1" in
    audit) command topgap "$@" --help > /dev/null ;;
    *) command topgap "$@" ;; esac; }}
"""


def write_examples(folder: Path) -> None:
    """Write the files that pages speak of, small."""
    import openpyxl
    import pyarrow as pa
    import pyarrow.parquet as pq

    codes = [f"{letter}{number:02}" for letter in "ABCDEFGHIJ" for number in range(4)]
    people = [
        (person, code) for rank, code in enumerate(codes) for person in range(2000 // (rank + 1))
    ]
    patients, diagnoses = zip(*people, strict=True)
    regions = ["North", "South", "West"]
    homes = [regions[person % 3] for person in patients]
    visits = pa.table({"patient": patients, "diagnosis": diagnoses, "region": homes})
    pq.write_table(visits, folder / "visits.parquet")
    (folder / "icd10.txt").write_text("\n".join(codes) + "\n")
    (folder / "regions.txt").write_text("\n".join(regions) + "\n")
    names = [
        f"{code}," + f"{'AT' if child % 2 else 'DE'},{child % 12 + 1}" for child, code in people
    ]
    births = "".join(f"{child},{row}\n" for child, row in enumerate(names))
    (folder / "births.csv").write_text(f"child,name,country,month\n{births}")
    (folder / "names.txt").write_text("\n".join(codes) + "\n")
    (folder / "countries.txt").write_text("AT\nDE\n")
    counts = [2000 // (rank + 1) for rank in range(40)]
    pages_counted = pa.table({"page": codes, "people": counts})
    pq.write_table(pages_counted, folder / "counts.parquet")
    rows = "".join(f"{code},{count}\n" for code, count in zip(codes, counts, strict=True))
    (folder / "published.csv").write_text("diagnosis,patients\n" + rows)
    baskets = (" ".join(str(n * step % 151) for step in range(1, 8)) for n in range(300))
    (folder / "retail.dat").write_text("\n".join(baskets) + "\n")
    clinic = openpyxl.Workbook()
    clinic.active.title = "visits"
    clinic["visits"].append(["Patient", "Diagnosis"])
    for patient, code in people[:3000]:
        clinic["visits"].append([patient, code if patient % 2 else code.lower()])
    clinic.create_sheet("codes").append(["Code"])
    for code in codes:
        clinic["codes"].append([code])
    clinic.save(folder / "clinic.xlsx")
