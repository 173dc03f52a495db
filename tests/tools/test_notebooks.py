"""Whether the notebooks are stored as they should be, and whether it is seen if one is not.

That they run is for `python -m tools.notebooks`, which needs a kernel and half a minute.
"""

import copy
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.notebooks import (
    FOLDER,
    ROOT,
    Notebook,
    clean,
    find_differences,
    find_faults,
    format_notebook,
)

STORED = sorted((ROOT / FOLDER).glob("*.ipynb"))
PATH = STORED[0]
NOTEBOOK = json.loads(PATH.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_a_notebook_is_stored_as_it_should_be(path: Path) -> None:
    stored = path.read_text(encoding="utf-8")
    assert find_faults(stored, path.stem) == []
    assert find_differences(json.loads(stored), json.loads(stored)) == []


def of_kind(notebook: Notebook, kind: str) -> tuple[Notebook, Notebook]:
    """The first cell with such an output, and that output."""
    return next(
        (cell, output)
        for cell in notebook["cells"]
        for output in cell.get("outputs", [])
        if kind in (output.get("name"), *output.get("data", {}))
    )


def edit_code(notebook: Notebook) -> None:
    of_kind(notebook, "stdout")[0]["source"].append("\n1 + 1")


def drop_a_count(notebook: Notebook) -> None:
    of_kind(notebook, "stdout")[0]["execution_count"] = None


def drop_outputs(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        if "outputs" in cell:
            cell["outputs"] = []


def warn(notebook: Notebook) -> None:
    of_kind(notebook, "stdout")[1]["name"] = "stderr"


def fail(notebook: Notebook) -> None:
    cell = of_kind(notebook, "stdout")[0]
    cell["outputs"] = [{"output_type": "error", "ename": "E", "evalue": "", "traceback": []}]


def drop_alt(notebook: Notebook) -> None:
    of_kind(notebook, "image/svg+xml")[0]["metadata"] = {}


def load_a_script(notebook: Notebook) -> None:
    of_kind(notebook, "text/html")[1]["data"]["text/html"] = ["<script></script>"]


def load_a_picture(notebook: Notebook) -> None:
    of_kind(notebook, "text/html")[1]["data"]["text/html"] = ['<img src="https://a.example/b">']


def show_a_path(notebook: Notebook) -> None:
    of_kind(notebook, "stdout")[1]["text"] = ["/home/ana/budget.db\n"]


def show_too_much(notebook: Notebook) -> None:
    of_kind(notebook, "stdout")[1]["text"] = ["x" * 150_000]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (edit_code, "the code is newer"),
        (drop_a_count, "did not run once"),
        (drop_outputs, "shows nothing"),
        (warn, "error or warning"),
        (fail, "error or warning"),
        (drop_alt, "say what it shows"),
        (load_a_script, "from elsewhere"),
        (load_a_picture, "from elsewhere"),
        (show_a_path, "path of a folder"),
        (show_too_much, "more than 150,000"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_should_not_be_stored_is_seen(change: Callable[[Notebook], None], words: str) -> None:
    notebook = copy.deepcopy(NOTEBOOK)
    change(notebook)
    (found,) = find_faults(format_notebook(notebook), PATH.stem)
    assert words in found


@pytest.mark.parametrize("place", ["notebook", "cell", "id", "figure"])
def test_what_another_machine_or_day_would_change_is_seen_and_cleaned(place: str) -> None:
    notebook = copy.deepcopy(NOTEBOOK)
    cell, output = of_kind(notebook, "image/svg+xml")
    if place == "notebook":
        notebook["metadata"]["language_info"]["version"] = "3.11.7"
    elif place == "cell":
        cell["metadata"]["execution"] = {"iopub.execute_input": "2026-01-31T12:00:00Z"}
    elif place == "id":
        cell["id"] = "7f3a"
    else:
        output["data"]["image/svg+xml"].insert(2, "<metadata>2026-01-31</metadata>\n")
    (found,) = find_faults(format_notebook(notebook), PATH.stem)
    assert "should not" in found
    assert clean(notebook, PATH.stem) == NOTEBOOK


def test_outputs_of_other_kinds_are_seen() -> None:
    notebook = copy.deepcopy(NOTEBOOK)
    cell = of_kind(notebook, "stdout")[0]
    cell["outputs"] = []
    (found,) = find_differences(notebook, NOTEBOOK)
    assert cell["id"] in found
