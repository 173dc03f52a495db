"""The proofs are tied to the code: they fit it now, and whatever changes it is seen.

That changes are seen is tried on a small tree, which is made here.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.proofs import command
from tools.proofs.code_items import REST, UnreadableError, items_of
from tools.proofs.ties import PAGES, check, mark_seen

Change = Callable[[str, str, str], list[str]]


@pytest.mark.slow
def test_every_proof_was_looked_at_since_its_code_changed_and_nothing_lacks_one() -> None:
    outcome = check(command.ROOT)
    assert outcome.complaints == []
    assert outcome.pages > 10
    assert outcome.ties > 200


LIB, COINS, NOISE, TAPE = (f"rust/kernel/src/{name}.rs" for name in ("lib", "coins", "noise", "t"))
PARAMETERS, ROWS = "src/topgap/parameters.py", "src/topgap/streams/rows.py"
SOURCES = {
    LIB: """
#![forbid(unsafe_code)]
pub mod coins;
pub mod noise;
""",
    COINS: """
//! Shared coins.
use crate::noise::first_head;

/// How many are few.
const FEW: usize = 1 << 20;
pub(crate) const ERROR: u64 = 32;

/// Whether `items` coins show tails.
pub fn all_tails<S: Source>(items: u64, zeros: u32, source: &mut S) -> bool {
    // A guess, and then the table.
    let last = first_head(items);
    assert!(last > 0, "somebody must do the work");
    zeros >= last
}

pub fn shuffle(items: &mut [u8]) {
    for i in (1..items.len()).rev() {
        items.swap(i, 0);
    }
}
""",
    NOISE: """
use crate::bits::Source;

pub struct Geometric {
    prefix: BigUint,
}

pub struct Draws<S> {
    floor: Option<i64>,
    source: S,
}

#[pymethods]
impl<S: Source> Draws<S> {
    #[cold]
    pub fn draw(&mut self) -> u64 {
        const GUARD: u64 = 8;
        self.source.take(GUARD)
    }

    pub fn checkpoint(&mut self) {
        (self.checkpoint)()
    }
}

fn signed(value: u64) -> i64 {
    value as i64
}
""",
    TAPE: "pub const BITS: u64 = 7;\n",
    PARAMETERS: '''
"""Parameters."""

from typing import TYPE_CHECKING

from topgap.sampling import Sampler

if TYPE_CHECKING:
    from topgap.release import Release

TAG_BITS = 32
"""So many bits."""


class TopK:
    """What is asked for."""

    k: int

    @classmethod
    def of(cls, k: int) -> "TopK":
        return cls(k)

    def release(self, counts: list[int]) -> "Release":
        from topgap.selection.mechanism import release

        return release(self, counts)

    def calls(self) -> int:
        return self.counted["shuffle"]


def cut(pool: list[int], least: int) -> list[int]:
    """Every value that is at least so large."""
    # Rarely, for a cut.
    for _ in range(2):
        pool = sorted(pool)
        pool.reverse()
    return [value for value in pool if value >= least]
''',
    ROWS: """
from topgap.numbers.parse import read_threads


def feed(rows: object) -> int:
    return read_threads(rows)


def show(rows: object) -> str:
    return repr(rows)
""",
}
PROVED = {
    "coins.md": {COINS: [REST, "ERROR", "all_tails", "shuffle"], LIB: [REST]},
    "noise.md": {
        NOISE: [REST, "Draws", "Draws::draw", "signed"],
        COINS: ["shuffle"],
        PARAMETERS: [REST, "TAG_BITS", "TopK.of", "TopK.release", "TopK.calls", "cut"],
        ROWS: [REST, "feed"],
    },
}
NEED_NONE = {COINS: "FEW", NOISE: "Draws::checkpoint", TAPE: "(all)"}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some code, and pages that prove it."""
    tree = tmp_path_factory.mktemp("tree")
    for name, source in SOURCES.items():
        write(tree / name, source)
    for page, spoken_of in PROVED.items():
        lines = [f"| `{path}` | `{i}` | `-` |" for path, items in spoken_of.items() for i in items]
        text = ["# Proof", "", "## Code", "", "| file | item | seen |", "|---|---|---|", *lines]
        write(tree / PAGES / page, "\n".join(text) + "\n")
    lines = [f"| `{path}` | `{i}` | speed | `-` |" for path, i in NEED_NONE.items()]
    head = ["| file | item | reason | seen |", "|---|---|---|---|"]
    links = [f"[{page}]({page})" for page in PROVED]
    write(tree / PAGES / "README.md", "\n".join([*links, "", *head, *lines]) + "\n")
    for path in (tree / PAGES).glob("*.md"):
        mark_seen(tree, path)
    assert check(tree).complaints == []
    return tree


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def complaints_after(tree: Path) -> Change:
    """Put one text in the place of another, which must stand there once, and check."""

    def change(path: str, old: str, new: str) -> list[str]:
        file = tree / path
        before = file.read_text(encoding="utf-8")
        assert before.count(old) == 1
        try:
            file.write_text(before.replace(old, new), encoding="utf-8")
            return check(tree).complaints
        finally:
            file.write_text(before, encoding="utf-8")

    return change


CHANGES = {
    "an operator": (COINS, "zeros >= last", "zeros > last"),
    "a constant": (COINS, "ERROR: u64 = 32", "ERROR: u64 = 16"),
    "a constant in a function": (NOISE, "GUARD: u64 = 8", "GUARD: u64 = 9"),
    "a type": (NOISE, "floor: Option<i64>,", "floor: Option<i32>,"),
    "a type that no page names": (NOISE, "prefix: BigUint,", "prefix: u64,"),
    "an attribute": (NOISE, "#[cold]", "#[cfg(test)]"),
    "a bound of an impl": (NOISE, "impl<S: Source> Draws", "impl<S: Any> Draws"),
    "an attribute of an impl": (NOISE, "#[pymethods]\n", ""),
    "an attribute of the crate": (LIB, "#![forbid(unsafe_code)]\n", ""),
    "an impl without methods": (NOISE, "fn signed(", "impl Source for T {}\n\nfn signed("),
    "a text": (COINS, '"somebody must do the work"', '"// nobody"'),
    "a function renamed": (COINS, "fn all_tails<", "fn no_heads<"),
    "a new function": (NOISE, "fn signed(", "fn new() {}\n\nfn signed("),
    "a new method": (NOISE, "pub fn checkpoint(", "fn old(&self) {}\n    pub fn checkpoint("),
    "a new constant": (NOISE, "fn signed(", "static ONE: u8 = 1;\n\nfn signed("),
    "another function used": (COINS, "use crate::noise::", "use crate::guess::"),
    "another name for what is used": (NOISE, "bits::Source", "bits::{Other as Source}"),
    "a module from another file": (LIB, "pub mod noise;", '#[path = "other.rs"]\npub mod noise;'),
    "what needs no proof": (NOISE, "(self.checkpoint)()", "self.x = 0; (self.checkpoint)()"),
    "a constant that needs no proof": (COINS, "1 << 20", "1_000_000"),
    "a file that needs no proof": (TAPE, "BITS: u64 = 7", "BITS: u64 = 8"),
    "an operator in Python": (PARAMETERS, "value >= least", "value > least"),
    "a constant in Python": (PARAMETERS, "TAG_BITS = 32", "TAG_BITS = 16"),
    "a level of indentation": (PARAMETERS, "        pool.rev", "    pool.rev"),
    "a decorator": (PARAMETERS, "    @classmethod\n", "    @staticmethod\n"),
    "a default": (PARAMETERS, "least: int)", "least: int = 2)"),
    "a new function in Python": (PARAMETERS, "def cut(", "def new(): ...\n\n\ndef cut("),
    "a renamed method": (PARAMETERS, "def of(", "def made_of("),
    "a new function under a condition": (
        PARAMETERS, "def cut(", "if True:\n\n    def new(): ...\n\n\ndef cut(",
    ),
    "another class imported": (
        PARAMETERS, "from topgap.sampling import Sampler", "from insecure import Sampler",
    ),
    "another class of the same name imported": (
        PARAMETERS, "import Sampler", "import Tape as Sampler",
    ),
    "an import in a file that need not be proven": (ROWS, "topgap.numbers.parse", "elsewhere"),
    "an import within a function": (PARAMETERS, "topgap.selection.mechanism", "insecure"),
    "a method put in from outside": (
        PARAMETERS, "def cut(", "TopK.release = lambda self, n: 0\n\n\ndef cut(",
    ),
    "an attribute of a constant": (PARAMETERS, "class TopK:", "TAG_BITS.x = 1\n\n\nclass TopK:"),
    "a call": (PARAMETERS, "def cut(", 'setattr(TopK, "of", None)\n\n\ndef cut('),
    "a loop": (PARAMETERS, "def cut(", "for name in NAMES:\n    del name\n\n\ndef cut("),
    "something added to a constant": (
        PARAMETERS, "TAG_BITS = 32", "TAG_BITS = 32\nTAG_BITS += 1",
    ),
    "the head of a class": (PARAMETERS, "class TopK:", "class TopK(metaclass=Other):"),
    "a constant of a class": (PARAMETERS, "    k: int\n", "    k: int\n    of = None\n"),
    "an import behind what it replaces": (
        PARAMETERS, "    return [value", "    return []\n\n\nfrom x import cut\n\n\n[value",
    ),
    "a condition": (PARAMETERS, "\nif TYPE_CHECKING:\n", "\nif True:\n"),
    "a reason without code": ("docs/proofs/README.md", f"`{COINS}` | `FEW`", "`c.rs` | `FEW`"),
    "a page that the index lacks": ("docs/proofs/README.md", "[coins.md](coins.md)", "coins"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(change: str, complaints_after: Change) -> None:
    assert complaints_after(*CHANGES[change]) != []


LINES = {
    "of a file that must be proven": ("coins.md", f"| `{COINS}` | `all", "| coins | `all"),
    "of another file": ("noise.md", f"| `{ROWS}` | `feed` |", f"| `{ROWS}`| `feed` |"),
    "without its first bar": ("noise.md", f"| `{ROWS}` | `feed` |", f"`{ROWS}` | `feed` |"),
    "of the index": ("README.md", "| `FEW` | speed", "| FEW | speed"),
    "of the index without a reason": ("README.md", "| `FEW` | speed |", "| `FEW` |"),
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_a_table_that_cannot_be_read_is_named(
    line: str, complaints_after: Change
) -> None:
    page, old, new = LINES[line]
    complaints = complaints_after(f"docs/proofs/{page}", old, new)
    said = f"docs/proofs/{page}: this is no line of its table: "
    assert [each for each in complaints if each.startswith(said) and new in each] != []


def test_a_table_without_its_head_is_missed(complaints_after: Change) -> None:
    complaints = complaints_after("docs/proofs/coins.md", "| file | item | seen |", "| file |")
    assert "docs/proofs/coins.md: it does not end with a table of code." in complaints


LOOKS = {
    "a comment": (COINS, "// A guess, and then the table", "// A look"),
    "a comment in a line": (COINS, "let last", "/* a /* b */ c */ let last"),
    "a doc comment": (COINS, "/// Whether `items` coins", "/// If these"),
    "a doc comment of the file": (COINS, "//! Shared coins.", "//! Coins."),
    "line breaks": (COINS, "(items: u64, zeros: u32, source: &mut S)",
                    "(\n    items: u64,\n    zeros: u32,\n    source: &mut S,\n)"),
    "a docstring": (PARAMETERS, '"""Every value that is at least', '"""All of at least'),
    "a docstring of a class": (PARAMETERS, '"""What is asked', '"""All that is asked'),
    "a docstring of a constant": (PARAMETERS, '"""So many', '"""Just so many'),
    "a comment in Python": (PARAMETERS, "# Rarely, for a cut", "# A cut"),
    "brackets and commas in Python": (
        PARAMETERS, "return [value for value in pool if value >= least]",
        "return [\n        value\n        for value in pool if (value >= least)\n    ]",
    ),
    "quotes in Python": (PARAMETERS, 'self.counted["shuffle"]', "self.counted['shuffle']"),
    "a function that no page speaks of": (ROWS, "return repr(rows)", "return str(rows)"),
}  # fmt: skip


@pytest.mark.parametrize("look", LOOKS)
def test_what_only_looks_different_disturbs_nothing(look: str, complaints_after: Change) -> None:
    assert complaints_after(*LOOKS[look]) == []


@pytest.mark.parametrize("page", ["coins.md", "noise.md", "README.md"])
def test_a_page_that_is_gone_is_missed(page: str, tree: Path) -> None:
    away = (tree / PAGES / page).rename(tree / page)
    try:
        assert check(tree).complaints != []
    finally:
        away.rename(tree / PAGES / page)


def test_a_new_file_of_the_kernel_needs_a_proof(tree: Path) -> None:
    file = tree / "rust/kernel/src/deeper/new.rs"
    file.parent.mkdir()
    file.write_text("pub fn new() {}")
    try:
        (complaint,) = check(tree).complaints
        assert complaint.startswith("rust/kernel/src/deeper/new.rs: no proof speaks of `new`;")
    finally:
        shutil.rmtree(file.parent)


def test_to_say_that_a_page_was_seen_says_it_of_that_page_alone(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two pages speak of `shuffle`; each has to be looked at."""
    file, pages = tree / COINS, tree / PAGES
    before = {path: path.read_text(encoding="utf-8") for path in (file, *pages.glob("*.md"))}
    try:
        changed = before[file].replace("(1..items.len()).rev()", "1..items.len()")
        file.write_text(changed, encoding="utf-8")
        assert command.main([], tree) == 1
        said = capsys.readouterr().out.splitlines()
        assert len(said) == 2
        assert said[0].endswith("--seen docs/proofs/coins.md")
        assert said[1].endswith("--seen docs/proofs/noise.md")
        assert command.main(["--seen", str(pages / "coins.md")], tree) == 0
        assert command.main([], tree) == 1
        assert command.main(["--seen", str(pages / "noise.md")], tree) == 0
        assert command.main([], tree) == 0
        assert "pieces of code, all as they were" in capsys.readouterr().out
        assert {*pages.iterdir()} == before.keys() - {file}
    finally:
        for path, text in before.items():
            path.write_text(text, encoding="utf-8")


def test_nothing_is_seen_that_is_not_there(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tree / PAGES / "coins.md"
    before = page.read_text(encoding="utf-8")
    for given in (tree / PAGES, tree / "coins.md"):
        assert command.main(["--seen", str(given)], tree) == 1
    try:
        page.write_text(before.replace("`all_tails` | `", "all_tails | `"), encoding="utf-8")
        with pytest.raises(LookupError, match=r"no line of its table: .* all_tails"):
            mark_seen(tree, page)
        page.write_text(before.partition("## Code")[0], encoding="utf-8")
        with pytest.raises(LookupError, match="has no table"):
            mark_seen(tree, page)
        page.write_text(before.replace("`all_tails` | `", "`some_heads` | `"), encoding="utf-8")
        with pytest.raises(LookupError, match="name what stands there now"):
            mark_seen(tree, page)
    finally:
        page.write_text(before, encoding="utf-8")
    with pytest.raises(SystemExit):
        command.main(["--seen", str(page), str(page)], tree)
    assert "unrecognized" in capsys.readouterr().err


def test_without_pages_everything_lacks_its_proof(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / LIB, "fn f() {}")
    assert command.main([], tmp_path) == 1
    write(tmp_path / LIB, "fn g() {}\nfn f() {")
    assert command.main([], tmp_path) == 1
    assert "lib.rs cannot be read: It is not valid Rust, from line 2 on." in capsys.readouterr().out


def test_rust_is_taken_to_pieces() -> None:
    source = """
        #![forbid(unsafe_code)]
        use a::{b, c};
        pub(crate) const fn f<'a, T>(x: &'a [T; { 2 + 1 }]) -> char where T: Fn() -> u8 { '{' }
        unsafe extern "C" fn g() { let _ = r#"} " fn no() {"#; let _ = b'\\''; let _ = "\\"}"; }
        const C: [u8; 2] = { [1, 2] };
        pub static mut S: u8 = 1;
        struct T(u8);
        enum E { A { x: u8 }, B }
        trait R { fn without(&self); fn with(&self) { } }
        impl<F: Fn() -> Vec<u8>, const N: usize> m::R<N> for m::T<F> where F: Copy {
            type Output = u8;
            const N: u8 = 1;
            fn without(&self) { macro!{ fn no() } }
        }
        mod inner { pub fn h() {} }
        macro_rules! made { () => { fn no() {} } }
        pyo3::called!(a, b);
    """
    doing = {item.name for item in items_of(source, "rs").values() if item.does}
    assert doing == {
        "f", "g", "C", "S", "R::with", "T::N", "T::without", "inner::h", "made!", "called!", REST,
    }  # fmt: skip
    with pytest.raises(UnreadableError, match="let"):
        items_of("let x = 1;", "rs")
    unclosed = ("fn f() { ( }", "/* /* */ fn f() {}", "const X: u8 = 1")
    for broken in (*unclosed, "fn f() { let = 1; }", "#[alone]"):
        with pytest.raises(UnreadableError):
            items_of(broken, "rs")


PLAIN = "import a\nX = 1\nclass A(B):\n    y = 1\n    def m(self): ...\ndef f(): ...\n"


def test_python_is_taken_to_pieces() -> None:
    doing = {item.name for item in items_of(PLAIN, "py").values() if item.does}
    assert doing == {"X", "A.m", "f", REST}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import a", "import b"),
        ("A(B)", "A(C)"),
        ("A(B)", "A(B, k=1)"),
        ("y = 1", "y = 2"),
        ("class", "@made\nclass"),
        ("X = 1", "X = 1\nf.x = 1"),
        ("X = 1", "X = 1\nX.x = 1"),
        ("X = 1", "X = 1\nX += 1"),
        ("X = 1", "X = 1\nX[0], x = 1, 2"),
        ("X = 1", "X = 1\nif X: pass"),
        ("X = 1", "X = 1\nwhile X: pass"),
        ("X = 1", "X = 1\nmatch X:\n    case _: pass"),
        ("X = 1", "X = 1\nassert X"),
        ("X = 1", "X = 1\ndel a"),
        ("X = 1", "X = 1\nX(1)"),
        ("import a\nX = 1\n", "X = 1\nimport a\nfrom b import f\n"),
    ],
)
def test_what_is_in_no_function_is_in_the_rest(old: str, new: str) -> None:
    before, after = items_of(PLAIN, "py"), items_of(PLAIN.replace(old, new, 1), "py")
    assert before[REST] != after[REST]
    assert (before["X"], before["A.m"], before["f"]) == (after["X"], after["A.m"], after["f"])


def test_what_is_in_a_function_is_not_in_the_rest() -> None:
    for old, new in (("f(): ...", "f(): a"), ("(self): ...", "(self): a"), ("X = 1", "X = 2")):
        assert items_of(PLAIN, "py")[REST] == items_of(PLAIN.replace(old, new), "py")[REST]
