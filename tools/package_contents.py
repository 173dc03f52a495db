"""What must be in the package, as wheel and as sdist, and nothing else."""

import re
import subprocess
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
_TO_BUILD = ("LICENSE", "README.md", "pyproject.toml", "rust/Cargo.lock", "rust/Cargo.toml")
_CRATES = ("rust/domains/", "rust/kernel/", "rust/python/")
_MODULES = "src/topgap/"
_KERNEL = re.compile(r"topgap/_core\.(abi3\.so|pyd)")
_ABOUT = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")


def read_version() -> str:
    """The version, from the only place that states it."""
    manifest = tomllib.loads((ROOT / "rust/Cargo.toml").read_text(encoding="utf-8"))
    return str(manifest["workspace"]["package"]["version"])


def list_tracked() -> list[str]:
    """The files of the repository, as Git has them."""
    told = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    return told.stdout.rstrip("\0").split("\0")


def list_members(path: Path) -> list[str]:
    """The names of the files in a wheel or sdist."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return [each for each in wheel.namelist() if not each.endswith("/")]
    with tarfile.open(path) as sdist:
        return [each.name for each in sdist if not each.isdir()]


def find_misfits(name: str, found: Iterable[str], files: Iterable[str], number: str) -> list[str]:
    """What is wrong with what a wheel or sdist holds, in sentences.

    Args:
        name: Its file name.
        found: The names of the files in it.
        files: Those of the repository.
        number: The version.

    >>> find_misfits("topgap-1.tar.gz", ["topgap-1/PKG-INFO", "topgap-1/.venv/x"], ["LICENSE"], "1")
    ['topgap-1.tar.gz lacks LICENSE.', 'topgap-1.tar.gz holds .venv/x, which has no place in it.']
    """
    if name.endswith(".whl"):
        return _of_wheel(name, {*found}, files, number)
    if name != f"topgap-{number}.tar.gz":
        return [f"{name} is not called topgap-{number}.tar.gz."]
    prefix = f"topgap-{number}/"
    inside = {each.removeprefix(prefix) for each in found}
    needed = {each for each in files if each in _TO_BUILD or each.startswith((*_CRATES, _MODULES))}
    return _differences(name, inside, {*needed, "PKG-INFO"})


def _of_wheel(name: str, found: set[str], files: Iterable[str], number: str) -> list[str]:
    # One for all versions of Python from the first that it supports.
    if not re.fullmatch(rf"topgap-{re.escape(number)}-cp311-abi3-\w+\.whl", name):
        return [f"{name} is not called topgap-{number}-cp311-abi3-….whl."]
    kernels = {each for each in found if _KERNEL.fullmatch(each)}
    problems = [] if len(kernels) == 1 else [f"{name} holds {len(kernels)} kernels."]
    about = f"topgap-{number}.dist-info/"
    # Maturin says there what the kernel is made of.
    inside = {each for each in found - kernels if not each.startswith(f"{about}sboms/")}
    needed = {each.removeprefix("src/") for each in files if each.startswith(_MODULES)}
    return problems + _differences(name, inside, needed | {about + each for each in _ABOUT})


def _differences(name: str, inside: set[str], needed: set[str]) -> list[str]:
    return [
        *(f"{name} lacks {each}." for each in sorted(needed - inside)),
        *(f"{name} holds {each}, which has no place in it." for each in sorted(inside - needed)),
    ]
