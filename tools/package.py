"""Whether the package can be built, holds what it should, and works where nothing else is.

    python -m tools.package              builds wheel and sdist, and tries both
    python -m tools.package FILE…        tries wheels and sdists that were built elsewhere
    python -m tools.package --look FILE… looks at what they hold, and no more

Each is installed into a virtual environment of its own, and run outside of this tree.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.package_contents import ROOT, find_misfits, list_members, list_tracked, read_version

# Half a million apart: noise of mean 4 changes the order with probability below e^-100000.
TRY = """
import importlib.metadata, sys
from os.path import realpath
import topgap
release = topgap.top_k({"flu": 1_000_000, "cold": 500_000, "gout": 0}, 2, 1)
assert release.items == ("flu", "cold"), release.items
from topgap.report import to_html
assert "flu" in to_html(release)
assert realpath(topgap.__file__).startswith(realpath(sys.prefix)), topgap.__file__
there = {each.name.lower() for each in importlib.metadata.distributions()}
assert there - {"pip", "setuptools"} == {"numpy", "topgap"}, there
print(importlib.metadata.version("topgap"))
"""


class PackageError(Exception):
    """The package is not as expected."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is asked; return 0 if all is well, and 1 if not."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.package", description="Build the package, and try what was built."
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--look", action="store_true", help="look at the files, and no more")
    asked = parser.parse_args(arguments)
    begun = time.monotonic()
    try:
        with TemporaryDirectory(prefix="topgap-package-") as directory:
            folder = Path(directory)
            for number, path in enumerate(asked.files or build(folder)):
                check(path)
                if not asked.look:
                    install_and_use(path.resolve(), folder / f"outside-{number}")
    except PackageError as error:
        print(f"package: {error}")
        return 1
    print(f"package: all is as it should be ({time.monotonic() - begun:.0f} s)")
    return 0


def build(folder: Path) -> list[Path]:
    """Build the sdist, and the wheel from the sdist; their paths."""
    built = folder / "dist"
    # Its own target, or what was built in the tree would hide what the sdist lacks.
    os.environ["CARGO_TARGET_DIR"] = str(folder / "target")
    with step("python -m build (the sdist, and the wheel from it)"):
        run([sys.executable, "-m", "build", "--outdir", built, ROOT], "The package cannot be built")
    paths = sorted(built.iterdir())
    kinds = sorted(each.name.rpartition(".")[2] for each in paths)
    if kinds != ["gz", "whl"]:
        raise PackageError(f"Not one sdist and one wheel were built, but {kinds}.")
    with step("twine check --strict"):
        run(
            [sys.executable, "-m", "twine", "check", "--strict", *paths],
            "The description cannot be shown",
        )
    return paths


def check(path: Path) -> None:
    """See what is in it."""
    with step(f"what {path.name} holds"):
        try:
            found = list_members(path)
        except (OSError, tarfile.TarError, zipfile.BadZipFile) as error:
            raise PackageError(f"{path} cannot be opened: {error}") from None
        if problems := find_misfits(path.name, found, list_tracked(), read_version()):
            raise PackageError("\n".join(problems))
    print(f"   {len(found)} files, {path.stat().st_size:,} bytes")


def install_and_use(path: Path, folder: Path) -> None:
    """Install it where nothing else is, and use it: first without any extra, then the command."""
    folder.mkdir()
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    number = read_version()
    with step(f"installing {path.name} into a clean virtual environment"):
        run([sys.executable, "-m", "venv", folder / "venv"], "There is no virtual environment")
        # Without pip's cache, which would have the wheel that it made of an sdist before.
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*install, "--no-cache-dir", path], f"{path.name} cannot be installed", folder)
    with step("a release, with NumPy alone"):
        told = run([python, "-I", "-c", TRY], "A release cannot be made", folder)
        require_version("The metadata", told.strip(), number)
    with step("topgap --version and topgap demo, with the extra cli"):
        run([*install, f"topgap[cli]=={number}"], "The extra cli cannot be installed", folder)
        told = run([programs / "topgap", "--version"], "topgap --version fails", folder)
        require_version("topgap --version", told.strip(), f"topgap {number}")
        told = run([programs / "topgap", "demo", "--baskets", 2_000], "topgap demo fails", folder)
        if "rank  item" not in told:
            raise PackageError("topgap demo shows no list.")


def require_version(who: str, told: str, expected: str) -> None:
    """See that this is the version."""
    if told != expected:
        raise PackageError(f"{who} says {told!r}, and rust/Cargo.toml {expected!r}.")


def run(command: Sequence[object], or_else: str, folder: Path | None = None) -> str:
    """Run it, outside of the tree if a folder is given; what it printed."""
    # What leads Python or pip elsewhere would make the environment another's.
    ours = {n: v for n, v in os.environ.items() if not n.startswith(("PYTHON", "VIRTUAL_ENV"))}
    ended = subprocess.run(
        [str(each) for each in command],
        cwd=folder,
        env={**ours, "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    if ended.returncode != 0:
        raise PackageError(f"{or_else}:\n{ended.stdout.strip()}")
    return ended.stdout


@contextmanager
def step(doing: str) -> Iterator[None]:
    """Say what is done, and how long it took."""
    print(f"== package: {doing}", flush=True)
    begun = time.monotonic()
    yield
    print(f"   {time.monotonic() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
