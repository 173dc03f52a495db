"""The package says one version everywhere, holds what it should, and is tried where it says so.

`python -m tools.package` builds it and tries it; here is what can be seen without that.
"""

import re
import sys
import tarfile
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.checking.systems import needs_of
from tools import package
from tools.package_contents import ROOT, find_misfits, read_version
from topgap import _core
from topgap.cli.app import app

WORKFLOWS = {path.name: path.read_text(encoding="utf-8") for path in ROOT.glob(".github/*/*.yml")}
TESTS = "./.github/workflows/test.yml"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RUST = tomllib.loads((ROOT / "rust/Cargo.toml").read_text(encoding="utf-8"))


def test_one_version_is_told_everywhere() -> None:
    told = CliRunner().invoke(app, ["--version"])
    assert (told.exit_code, told.stdout) == (0, f"topgap {read_version()}\n")
    assert metadata.version("topgap") == _core.__version__ == read_version()
    assert "version" in PROJECT["project"]["dynamic"]


FILES = ["LICENSE", "README.md", "Makefile", "pyproject.toml", "rust/Cargo.toml",
         "rust/Cargo.lock", "rust/kernel/src/lib.rs", "rust/probe/src/main.rs",
         "rust/python/src/lib.rs", "src/topgap/__init__.py", "src/topgap/py.typed",
         "src/topgap/report/page.html", "tests/tools/test_package.py"]  # fmt: skip
SDIST = [f"topgap-1.0/{each}" for each in FILES if not re.match("Makefile|rust/probe|tests", each)]
SDIST += ["topgap-1.0/PKG-INFO"]
WHEEL = ["topgap/__init__.py", "topgap/py.typed", "topgap/report/page.html", "topgap/_core.abi3.so",
         "topgap-1.0.dist-info/METADATA", "topgap-1.0.dist-info/WHEEL",
         "topgap-1.0.dist-info/RECORD", "topgap-1.0.dist-info/entry_points.txt",
         "topgap-1.0.dist-info/licenses/LICENSE", "topgap-1.0.dist-info/sboms/x.json"]  # fmt: skip
HELD = {"topgap-1.0.tar.gz": SDIST, "topgap-1.0-cp311-abi3-linux_x86_64.whl": WHEEL}


@pytest.mark.parametrize("name", HELD)
def test_what_is_missing_or_too_much_is_found(name: str) -> None:
    held = HELD[name]
    assert find_misfits(name, held, FILES, "1.0") == []
    for each in held:
        if "sboms" not in each:
            assert len(find_misfits(name, [m for m in held if m != each], FILES, "1.0")) == 1, each
    prefix = held[0].partition("/")[0]
    for more in (f"{prefix}/.venv/bin/python", f"{prefix}/tests/tools/test_package.py", "target/x"):
        (said,) = find_misfits(name, [*held, more], FILES, "1.0")
        assert said.endswith("which has no place in it.")
    assert len(find_misfits(name, held, FILES, "1.1")) == 1
    assert len(find_misfits(name.replace("abi3", "cp311"), held, FILES, "1.0")) == ("abi3" in name)


def test_who_cannot_be_installed_or_says_another_version_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tarfile.open(tmp_path / "topgap-9.tar.gz", "w:gz"):
        pass
    (tmp_path / f"topgap-{read_version()}.tar.gz").write_bytes(b"no archive")
    for path in (*tmp_path.iterdir(), tmp_path / "none.whl"):
        assert package.main(["--look", str(path)]) == 1
    with pytest.raises(package.PackageError, match="fails:\ntold"):
        package.run([sys.executable, "-c", "print('told'); exit(3)"], "It fails")
    with pytest.raises(package.PackageError, match=r"says '1', and rust/Cargo\.toml '2'"):
        package.require_version("It", "1", "2")
    said = capsys.readouterr().out
    assert said.count("cannot be opened: ") == 2
    assert f"package: topgap-9.tar.gz is not called topgap-{read_version()}.tar.gz." in said


def supported() -> list[str]:
    """The versions of Python that the package says it supports."""
    classifiers = PROJECT["project"]["classifiers"]
    return re.findall(r"Python :: (3\.\d+)", "\n".join(classifiers))


def test_every_python_that_is_supported_is_tried() -> None:
    tried = re.search(r"python: \[(.*)\]", WORKFLOWS["test.yml"])
    assert tried is not None
    assert tried[1].replace('"', "").split(", ") == supported()
    oldest, newest = supported()[0], supported()[-1]
    assert PROJECT["project"]["requires-python"] == f">={oldest}"
    shim = tomllib.loads((ROOT / "rust/python/Cargo.toml").read_text(encoding="utf-8"))
    assert f"abi3-py{oldest.replace('.', '')}" in shim["dependencies"]["pyo3"]["features"]
    built = {*re.findall(r'python-version: "([\d.]+)"', WORKFLOWS["wheels.yml"])}
    assert built == {oldest, newest}


def test_the_oldest_rust_is_tried() -> None:
    promised = RUST["workspace"]["package"]["rust-version"]
    for text in WORKFLOWS.values():
        assert f"rustup toolchain install {promised} " in text
        assert f"rustup default {promised}\n" in text


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_trusts_no_name_that_can_move_and_no_job_with_more_than_it_needs(
    name: str,
) -> None:
    text = WORKFLOWS[name]
    called = text.count(f"    uses: {TESTS} ")
    used = [each for each in re.findall(r"uses: (.*)", text) if not each.startswith(f"{TESTS} ")]
    assert used
    for each in used:
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each), each
    assert text.count("persist-credentials: false") == text.count("actions/checkout@")
    assert "\npermissions: {}\n" in text
    jobs = len(re.findall(r"^    runs-on: ", text, re.MULTILINE))
    assert jobs == text.count("timeout-minutes: ") == text.count("    permissions:\n") - called
    assert "secrets." not in text


def test_nothing_is_published_that_was_not_tested() -> None:
    _, _, jobs = WORKFLOWS["wheels.yml"].partition("\njobs:\n")
    job = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", jobs, re.MULTILINE))
    needed = re.search(r"^    needs: \[(.*)\]$", job["publish"], re.MULTILINE)
    assert needed is not None
    assert {*needed[1].split(", "), "publish"} == {*job}
    assert f"    uses: {TESTS} " in job["test"]
    assert "\n  workflow_call:\n" in WORKFLOWS["test.yml"]
    # It is tested whenever it is published, and a need that was skipped is one that was not met.
    (when,) = re.findall(r"^    if: (.*)", job["publish"], re.MULTILINE)
    assert re.findall(r"^    if: (.*)", job["test"], re.MULTILINE) == [when]
    assert "always()" not in when
    # Of one commit, it may be tested for itself and for the wheels: neither stops the other.
    assert "group: test-${{ github.workflow }}-${{ github.ref }}" in WORKFLOWS["test.yml"]


def test_what_cannot_be_imported_on_windows_is_left_out_there() -> None:
    for path in (ROOT / "tests").glob("**/*.py"):
        text = path.read_text(encoding="utf-8")
        needs = re.search(r"^(import|from) (fcntl|pty|pwd|resource|termios)\b", text, re.MULTILINE)
        assert not needs or needs_of(path), path
