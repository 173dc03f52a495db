"""What the README and the pages in docs show can be done as it is shown."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.documents import (
    PREAMBLE,
    ROOT,
    Block,
    blocks,
    name,
    not_run,
    pages,
    write_examples,
)
from tests.tools.tutorials import tutorials

pytestmark = pytest.mark.posix(reason="runs the pages' lines of shell")

# By tests/spark/test_cluster.py and tests/cli/test_database_page.py; the commands of tutorials by
# tests/tools/test_tutorials.py.
RUN_WITH_A_SERVER = {"docs/spark.md", "docs/databases.md"}
PAGES = {name(page): page for page in pages()}


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_is_and_is_run(page: str) -> None:
    for block in blocks(PAGES[page].read_text(encoding="utf-8")):
        if block.language == "python" and page not in RUN_WITH_A_SERVER:
            assert not_run(block) == [], f"line {block.line} is not run"


def test_pages_with_python_are_collected_as_doctests(request: pytest.FixtureRequest) -> None:
    collected = {str(each) for each in request.config.getini("testpaths")}
    for page, path in PAGES.items():
        if any(block.language == "python" for block in blocks(path.read_text(encoding="utf-8"))):
            assert page.partition("/")[0] in collected, page


WITH_COMMANDS = {
    page: "\n".join(block.text for block in found)
    for page, path in PAGES.items()
    if page != "docs/databases.md" and path not in tutorials()
    if (found := [each for each in blocks(path.read_text("utf-8")) if each.language == "sh"])
}


def run(commands: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Type the commands in a folder, with the command `topgap` of these tests."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", PREAMBLE + commands],  # noqa: S607
        cwd=folder,
        env=os.environ | {"PATH": path, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [pytest.param(e, marks=() if e == "README.md" else pytest.mark.deep) for e in WITH_COMMANDS],
)
def test_the_commands_of_a_page_run(page: str, tmp_path: Path) -> None:
    write_examples(tmp_path)
    done = run(WITH_COMMANDS[page], tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        "topgap release nothing.csv -k 1 --epsilon 1",
        "topgap release visits.parquet --person patient --item diagnosis --top 3",
        "topgap audit --nothing",
        "make nothing",
        "pip install '.[nothing]'",
        "python -m benchmarks.nothing",
        "python -m benchmarks.peers --nothing",
        "pip instal topgap",
        "git frobnicate",
        "false | cat",
        "topgap demo --save nowhere/baskets.dat\ntrue",
    ],
)
def test_a_command_that_does_not_work_is_seen(wrong: str, tmp_path: Path) -> None:
    write_examples(tmp_path)
    assert run(wrong, tmp_path).returncode != 0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```\ncode\n```\n", "line 1: a block of no language"),
        ("```python\n>>> 1\n", "line 1: a block that is not closed"),
        ("Words.\n\n    topgap demo\n", "line 3: code that is not fenced"),
        ("Words.\n\n\ttopgap demo\n", "line 3: code that is not fenced"),
        ("- Words.\n\n        topgap demo\n", "line 3: code that is not fenced"),
        ("~~~python\ncode\n~~~\n", "line 1: code that is not fenced"),
        ("> ```python\n> code\n> ```\n", "line 1: code that is not fenced"),
        ("<pre>code</pre>\n", "line 1: code that is not fenced"),
        ("```bash\ntopgap\n```\n", "line 1: a block of bash"),
    ],
)
def test_code_that_would_escape_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        blocks(text)


def test_a_doctest_that_ends_too_early_is_seen() -> None:
    assert not_run(Block(1, "python", ">>> 1\n1\n\n>>> 2\n2\n\n")) == []
    assert not_run(Block(1, "python", ">>> 1\n1\n\nunnoticed()\n")) == ["unnoticed()"]
    assert not_run(Block(1, "python", "unnoticed()\n")) == ["unnoticed()"]


def test_a_page_is_a_page_of_this_tree() -> None:
    assert {"README.md", "CONTRIBUTING.md", "docs/kernel.md", "docs/proofs/privacy.md"} <= set(
        PAGES
    )
    assert ROOT.joinpath("pyproject.toml").exists()
