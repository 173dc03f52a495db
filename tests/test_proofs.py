"""The proofs are tied to the code: they fit it now, and whatever changes it is seen."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import proofs
from checking.code_items import REST, UnreadableError, items_of
from checking.proofs import PAGES, check, see

ROOT = Path(__file__).parents[1]
Change = Callable[[str, str, str], list[str]]


def test_every_proof_was_looked_at_since_its_code_changed_and_nothing_lacks_one() -> None:
    outcome = check(ROOT)
    assert outcome.complaints == []
    assert outcome.pages > 10
    assert outcome.ties > 200


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the pages and of the code that they speak of."""
    tree = tmp_path_factory.mktemp("tree")
    for pattern in ("rust/*/src/*.rs", "src/topgap/**/*.py", f"{PAGES.as_posix()}/*.md"):
        for file in ROOT.glob(pattern):
            copy = tree / file.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
    return tree


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


KERNEL, PACKAGE = "rust/kernel/src", "src/topgap"
CHANGES = {
    "an operator": (f"{KERNEL}/shared_coins.rs", "if v >= last {", "if v > last {"),
    "a constant": (f"{KERNEL}/fast_log2.rs", "MAX_ERROR: u64 = 32", "MAX_ERROR: u64 = 16"),
    "a constant in a function": (
        f"{KERNEL}/geometric.rs", "GUARD_BITS: u64 = 8", "GUARD_BITS: u64 = 9",
    ),
    "a type": (f"{KERNEL}/candidates.rs", "floor: Option<Units>,", "floor: Option<u32>,"),
    "an attribute": (f"{KERNEL}/geometric.rs", "#[cold]", "#[cfg(test)]"),
    "a bound of an impl": (
        f"{KERNEL}/sampler.rs", "impl<S: BitSource> Sampler", "impl<S: Any> Sampler",
    ),
    "a text": (f"{KERNEL}/workers.rs", '"there must be a worker"', '"// nobody"'),
    "a function renamed": (f"{KERNEL}/shared_coins.rs", "fn all_tails<", "fn no_heads<"),
    "a new function": (f"{KERNEL}/laplace.rs", "pub fn laplace<", "fn new() {}\n\npub fn laplace<"),
    "a new method": (
        f"{KERNEL}/bit_source.rs", "fn to_send(", "fn old(&self) {}\n    pub fn to_send(",
    ),
    "a new constant": (
        f"{KERNEL}/laplace.rs", "pub fn laplace<", "static A: u8 = 1;\n\npub fn laplace<",
    ),
    "an operator in Python": (f"{PACKAGE}/pools.py", "noisy.value >= least", "noisy.value > least"),
    "a constant in Python": (f"{PACKAGE}/selector.py", "_TAG_BITS = 32", "_TAG_BITS = 16"),
    "a level of indentation": (
        f"{PACKAGE}/reference/secure.py", "        j = _largest(k + 2", "    j = _largest(k + 2",
    ),
    "a decorator": (f"{PACKAGE}/measurement.py", "    @classmethod\n", "    @staticmethod\n"),
    "a default": (
        f"{PACKAGE}/reference/samplers.py", "uniform(self, n: int)", "uniform(self, n: int = 2)",
    ),
    "a new function in Python": (f"{PACKAGE}/pools.py", "def cut(", "def new(): ...\n\n\ndef cut("),
    "a renamed method": (f"{PACKAGE}/measurement.py", "def measure(", "def measured("),
    "a new function under a condition": (
        f"{PACKAGE}/pools.py", "def cut(", "if True:\n\n    def new(): ...\n\n\ndef cut(",
    ),
    "another function of the same name imported": (
        f"{PACKAGE}/mechanism.py", "from topgap.reference.secure import gap_top_k_pruned",
        "from topgap.reference.insecure_floats import gap_top_k_ideal as gap_top_k_pruned",
    ),
    "another class imported": (
        f"{PACKAGE}/pools.py", "from topgap.sampling.sampler import Sampler",
        "from topgap.reference.insecure_tape import Sampler",
    ),
    "another function imported for users": (
        f"{PACKAGE}/__init__.py", '"top_k": "mechanism"', '"top_k": "reference"',
    ),
    "an import in a file that need not be proven": (
        f"{PACKAGE}/streams/rows.py", "from topgap.numbers.parse import read_threads",
        "from topgap.elsewhere import read_threads",
    ),
    "an import within a function": (
        f"{PACKAGE}/parameters.py",
        "    from topgap.selection.mechanism import release\n\n    return",
        "    from topgap.reference.insecure_floats import release\n\n    return",
    ),
    "another function used": (
        f"{KERNEL}/sampler.rs", "use crate::shared_coins::first_head;",
        "use crate::threshold_plan::first_head;",
    ),
    "a module from another file": (
        f"{KERNEL}/lib.rs", "pub mod sampler;", '#[path = "other.rs"]\npub mod sampler;',
    ),
    "another class for Python": (
        "rust/python/src/lib.rs", "use super::{Kernel,", "use super::{Other as Kernel,",
    ),
    "an attribute of an impl": (
        "rust/python/src/lib.rs", "#[pymethods]\nimpl Streams {", "impl Streams {",
    ),
    "an attribute of the crate": (f"{KERNEL}/lib.rs", "#![forbid(unsafe_code)]\n", ""),
    "an impl without methods": (
        f"{KERNEL}/laplace.rs", "pub fn laplace<",
        "impl BitSource for Tape {}\n\npub fn laplace<",
    ),
    "a type that no page names": (f"{KERNEL}/geometric.rs", "prefix: BigUint,", "prefix: u64,"),
    "a method put in from outside": (
        f"{PACKAGE}/reference/samplers.py", "def given_or_fresh(",
        "Sampler.uniform = lambda self, n: 0\n\n\ndef given_or_fresh(",
    ),
    "an attribute of a constant": (f"{PACKAGE}/selector.py", "class Selector:",
                                   "TWICE.x = 1\n\n\nclass Selector:"),
    "a call": (
        f"{PACKAGE}/reference/samplers.py", "def given_or_fresh(",
        'setattr(Sampler, "uniform", lambda self, n: 0)\n\n\ndef given_or_fresh(',
    ),
    "a loop": (
        f"{PACKAGE}/reference/samplers.py", "def given_or_fresh(",
        "for name in NAMES:\n    del name\n\n\ndef given_or_fresh(",
    ),
    "something added to a constant": (
        f"{PACKAGE}/selector.py", "_TAG_BITS = 32", "_TAG_BITS = 32\n_TAG_BITS += 1",
    ),
    "the head of a class": (
        f"{PACKAGE}/reference/samplers.py", "class Sampler:", "class Sampler(metaclass=Other):",
    ),
    "a constant of a class": (
        f"{PACKAGE}/reference/samplers.py", "    def uniform(self",
        "    shuffle = None\n\n    def uniform(self",
    ),
    "an import behind what it replaces": (
        f"{PACKAGE}/pools.py", "\n\ndef rank(", "\n\nfrom elsewhere import cut\n\n\ndef rank(",
    ),
    "a condition": (f"{PACKAGE}/parameters.py", "\nif TYPE_CHECKING:\n", "\nif True:\n"),
    "a power of two that is none": (
        f"{KERNEL}/answers.rs", "CHECKPOINT: usize = 1 << 20", "CHECKPOINT: usize = 1_000_000",
    ),
    "a constant on which a plan rests": (
        f"{KERNEL}/threshold_plan.rs", "FALL_PER_BIN: u64 = 215", "FALL_PER_BIN: u64 = 21",
    ),
    "how a float is read": (f"{PACKAGE}/exact.py", "unique=True", "unique=False"),
    "how a decimal is read": (
        f"{PACKAGE}/exact.py", "else Fraction(value)", "else Fraction(float(value))",
    ),
    "what needs no proof": (
        f"{KERNEL}/bit_source.rs", "(self.checkpoint)()", "self.spares = 0; (self.checkpoint)()",
    ),
    "a file that needs no proof": (
        f"{PACKAGE}/reference/insecure_floats.py", "import numpy as np", "import numpy as nq",
    ),
    "a reason without code": (
        "docs/proofs/README.md", "`rust/kernel/src/answers.rs` | `FEW_BLOCKS`",
        "`answers.rs` | `FEW_BLOCKS`",
    ),
    "a page that the index lacks": (
        "docs/proofs/README.md", "[shared_coins.md](shared_coins.md)", "coins",
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(change: str, complaints_after: Change) -> None:
    assert complaints_after(*CHANGES[change]) != []


LINES = {
    "of a file that must be proven": (
        "shared_coins.md", "| `rust/kernel/src/shared_coins.rs` | `all_tails` | `",
        "| shared_coins | `all_tails` | `",
    ),
    "of another file": (
        "parts.md", "| `src/topgap/streams/rows.py` | `Rows.put_in` |",
        "| `src/topgap/streams/rows.py`| `Rows.put_in` |",
    ),
    "without its first bar": (
        "parts.md", "| `src/topgap/streams/rows.py` | `Rows.put_in` |",
        "`src/topgap/streams/rows.py` | `Rows.put_in` |",
    ),
    "of the index": ("README.md", "| `FEW` | speed", "| FEW | speed"),
    "of the index without a reason": (
        "README.md", "| `PATIENCE` | how often to look for Ctrl-C; any number from 1 on is right |",
        "| `PATIENCE` |",
    ),
}  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_a_table_that_cannot_be_read_is_named(
    line: str, complaints_after: Change
) -> None:
    page, old, new = LINES[line]
    complaints = complaints_after(f"docs/proofs/{page}", old, new)
    said = f"docs/proofs/{page}: this is no line of its table: "
    assert [each for each in complaints if each.startswith(said) and new in each] != []


def test_a_table_without_its_head_is_missed(complaints_after: Change) -> None:
    complaints = complaints_after(
        "docs/proofs/shared_coins.md", "| file | item | seen |", "| file |"
    )
    assert "docs/proofs/shared_coins.md: it does not end with a table of code." in complaints


LOOKS = {
    "a comment": (f"{KERNEL}/candidates.rs", "// One bit more is not", "// This is not"),
    "a comment in a line": (
        f"{KERNEL}/shared_coins.rs", "let mut last", "/* a /* b */ c */ let mut last",
    ),
    "a doc comment": (f"{KERNEL}/shared_coins.rs", "/// Whether `items` coins", "/// If these"),
    "line breaks": (
        f"{KERNEL}/shared_coins.rs",
        "fn first_head<S: BitSource>(\n    mut from: u64,\n    end: u64,",
        "fn first_head<S: BitSource>(mut from: u64, end: u64,",
    ),
    "a docstring": (f"{PACKAGE}/pools.py", '"""Every value that is at least', '"""All of at least'),
    "a docstring of a constant": (f"{PACKAGE}/selector.py", '"""And so many', '"""So many'),
    "a comment in Python": (f"{PACKAGE}/selector.py", "# Rarely, for a cut", "# A cut"),
    "brackets and commas in Python": (
        f"{PACKAGE}/pools.py", "return [noisy for noisy in pool if noisy.value >= least]",
        "return [\n        noisy\n        for noisy in pool if (noisy.value >= least)\n    ]",
    ),
    "quotes in Python": (
        f"{PACKAGE}/reference/samplers.py", 'self.calls["shuffle"]', "self.calls['shuffle']",
    ),
}  # fmt: skip


@pytest.mark.parametrize("look", LOOKS)
def test_what_only_looks_different_disturbs_nothing(look: str, complaints_after: Change) -> None:
    assert complaints_after(*LOOKS[look]) == []


@pytest.mark.parametrize("page", ["shared_coins.md", "constant_work.md", "README.md"])
def test_a_page_that_is_gone_is_missed(page: str, tree: Path) -> None:
    away = (tree / PAGES / page).rename(tree / page)
    try:
        assert check(tree).complaints != []
    finally:
        away.rename(tree / PAGES / page)


def test_a_new_file_of_the_kernel_needs_a_proof(tree: Path) -> None:
    file = tree / KERNEL / "deeper" / "new.rs"
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
    """`shuffle` is spoken of by two pages; each has to be looked at."""
    file, pages = tree / KERNEL / "ranking.rs", tree / PAGES
    before = {path: path.read_text(encoding="utf-8") for path in (file, *pages.glob("*.md"))}
    try:
        changed = before[file].replace("(1..items.len()).rev()", "1..items.len()")
        file.write_text(changed, encoding="utf-8")
        assert proofs.main([], tree) == 1
        said = capsys.readouterr().out.splitlines()
        assert len(said) == 2
        assert said[0].endswith("--seen docs/proofs/ranking.md")
        assert said[1].endswith("--seen docs/proofs/uniform.md")
        assert proofs.main(["--seen", str(pages / "ranking.md")], tree) == 0
        assert proofs.main([], tree) == 1
        assert proofs.main(["--seen", str(pages / "uniform.md")], tree) == 0
        assert proofs.main([], tree) == 0
        assert "pieces of code, all as they were" in capsys.readouterr().out
        assert {*pages.iterdir()} == before.keys() - {file}
    finally:
        for path, text in before.items():
            path.write_text(text, encoding="utf-8")


def test_nothing_is_seen_that_is_not_there(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tree / PAGES / "shared_coins.md"
    before = page.read_text(encoding="utf-8")
    for given in (tree / PAGES, tree / "shared_coins.md"):
        assert proofs.main(["--seen", str(given)], tree) == 1
    try:
        page.write_text(before.replace("`all_tails` | `", "all_tails | `"), encoding="utf-8")
        with pytest.raises(LookupError, match=r"no line of its table: .* all_tails"):
            see(tree, page)
        page.write_text(before.partition("## Code")[0], encoding="utf-8")
        with pytest.raises(LookupError, match="has no table"):
            see(tree, page)
        page.write_text(before.replace("`all_tails` | `", "`some_heads` | `"), encoding="utf-8")
        with pytest.raises(LookupError, match="name what stands there now"):
            see(tree, page)
    finally:
        page.write_text(before, encoding="utf-8")
    with pytest.raises(SystemExit):
        proofs.main(["--seen", str(page), str(page)], tree)
    assert "unrecognized" in capsys.readouterr().err


def test_without_pages_everything_lacks_its_proof(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / KERNEL).mkdir(parents=True)
    (tmp_path / KERNEL / "lib.rs").write_text("fn f() {}")
    assert proofs.main([], tmp_path) == 1
    (tmp_path / KERNEL / "lib.rs").write_text("fn f() {")
    assert proofs.main([], tmp_path) == 1
    assert "lib.rs cannot be read: A bracket is not closed." in capsys.readouterr().out


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
    for broken in ("fn f() { ( }", "/* /* */ fn f() {}", "const X: u8 = 1"):
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
