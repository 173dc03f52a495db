"""Whether the notebooks in docs/notebooks run, and are stored as they should be.

    python -m tools.notebooks           runs each in a scratch folder, and looks at what is stored
    python -m tools.notebooks --write   stores what a new run shows

Their noise is drawn anew each time, so what is stored is compared by its kinds of outputs, and by
a hash of the code that made them.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = Path("docs", "notebooks")
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
MOST_OUTPUT = 150_000
"""So many characters of outputs a notebook may have, figures included."""

_SECONDS = 120  # for one cell; what takes longer hangs
_PATHS = re.compile(r"(?<![\w./])/(home|root|tmp|work|var|usr|opt|Users|private)/|\b[A-Z]:\\")
_ELSEWHERE = re.compile(r"<(script|iframe|link)\b|\bsrc\s*=|@import|url\(\s*['\"]?(?!#)", re.I)
_SVG_METADATA = re.compile(r" *<metadata>.*?</metadata>\n", re.S)  # a date, Matplotlib's version

Notebook = dict[str, Any]


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Do what is asked; return 0 if all notebooks run and are as they should be, and 1 if not."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.notebooks", description="Run the notebooks in docs/notebooks."
    )
    parser.add_argument("--write", action="store_true", help="store what the run shows")
    write = parser.parse_args(arguments).write
    paths = sorted((root / FOLDER).glob("*.ipynb"))
    complaints = [] if paths else [f"{FOLDER} has no notebook."]
    for path in paths:
        started = time.perf_counter()
        try:
            fresh = clean(execute(path), path.stem)
        except RuntimeError as error:
            complaints.append(f"{path.name}: {error}")
            continue
        print(f"notebooks: {path.name} ran in {time.perf_counter() - started:.1f} s")
        if write:
            path.write_text(format_notebook(fresh), encoding="utf-8", newline="\n")
        stored = path.read_text(encoding="utf-8")
        found = [*find_faults(stored, path.stem), *find_differences(json.loads(stored), fresh)]
        complaints += [f"{path.name}: {each}" for each in found]
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


def execute(path: Path) -> Notebook:
    """The notebook with what it shows when it runs in an empty folder, of which nothing stays.

    Raises:
        RuntimeError: A cell failed; the text has its traceback.
    """
    # Not above, so that pytest can look for doctests here where these are not installed.
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as settings:
        client = NotebookClient(
            notebook,
            timeout=_SECONDS,
            kernel_name=KERNEL["name"],
            record_timing=False,
            resources={"metadata": {"path": scratch}},
            extra_arguments=["--log-level=ERROR"],
        )
        try:
            client.execute(env={**os.environ, "IPYTHONDIR": settings})  # nobody's own settings
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            raise RuntimeError(str(error)) from None
        left = sorted(each.name for each in Path(scratch).iterdir())
    if left:
        raise RuntimeError(f"it leaves {', '.join(left)} in the folder where it runs.")
    read: Notebook = json.loads(nbformat.writes(notebook))  # type: ignore[no-untyped-call]
    return read


def clean(notebook: Notebook, stem: str) -> Notebook:
    """The notebook without what another machine or another day would change in it.

    >>> cell = {"cell_type": "markdown", "id": "7f", "metadata": {"scrolled": 1}, "source": []}
    >>> clean({"cells": [cell], "metadata": {"authors": []}}, "trees")["cells"]
    [{'cell_type': 'markdown', 'id': 'trees-01', 'metadata': {}, 'source': []}]
    """
    cells = []
    for number, cell in enumerate(notebook["cells"], 1):
        alt = cell["metadata"].get("alt")
        new = {
            **cell,
            "id": f"{stem}-{number:02}",
            "metadata": {} if alt is None else {"alt": alt},
        }
        if "outputs" in cell:
            new["outputs"] = [_without_dates(output) for output in cell["outputs"]]
        cells.append(new)
    metadata = {
        "executed": hash_code(notebook),
        "kernelspec": KERNEL,
        "language_info": {"name": "python"},
    }
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def hash_code(notebook: Notebook) -> str:
    """A hash of the code of all cells.

    >>> hash_code({"cells": []})[:8]
    'e3b0c442'
    """
    code = [_joined(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return sha256("\0".join(code).encode()).hexdigest()


def format_notebook(notebook: Notebook) -> str:
    """The notebook as it is stored: always in the same order, so that changes can be read."""
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def find_faults(stored: str, stem: str) -> list[str]:
    """What is wrong with a notebook as it is stored."""
    notebook = json.loads(stored)
    found = []
    if stored != format_notebook(clean(notebook, stem)):
        what = "the code is newer than what it shows, or something stands there that should not"
        found.append(f"{what}; store a new run with --write.")
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    if [cell["execution_count"] for cell in code] != [*range(1, len(code) + 1)]:
        found.append("its cells did not run once, from the first to the last.")
    shown = [(cell, output) for cell in code for output in cell["outputs"]]
    if not shown:
        found.append("it shows nothing.")
    for cell, output in shown:
        if output["output_type"] == "error" or output.get("name") == "stderr":
            found.append(f"{cell['id']} shows an error or warning.")
        if _is_figure(output) and not cell["metadata"].get("alt"):
            found.append(f'{cell["id"]} has a figure; say what it shows in its metadata, "alt".')
        if _ELSEWHERE.search("\n".join(_texts(output))):
            found.append(f"{cell['id']} shows something that may load from elsewhere.")
    if _PATHS.search(stored):
        found.append("it has the path of a folder of some machine.")
    length = sum(len(text) for _, output in shown for text in _texts(output))
    if length > MOST_OUTPUT:
        found.append(f"its outputs have {length:,} characters, more than {MOST_OUTPUT:,}.")
    return found


def find_differences(stored: Notebook, fresh: Notebook) -> list[str]:
    """Which cells showed other kinds of things than what is stored."""
    return [
        f"{cell['id']} shows something else now; store a new run with --write."
        for cell, new in zip(stored["cells"], fresh["cells"], strict=True)
        if _kinds(cell) != _kinds(new)
    ]


def _kinds(cell: Notebook) -> list[list[str]]:
    return [
        [output["output_type"], *sorted(output.get("data", {})), output.get("name", "")]
        for output in cell.get("outputs", [])
    ]


def _without_dates(output: Notebook) -> Notebook:
    if "image/svg+xml" not in output.get("data", {}):
        return output
    drawn = _SVG_METADATA.sub("", _joined(output["data"]["image/svg+xml"]))
    return {**output, "data": {**output["data"], "image/svg+xml": drawn.splitlines(keepends=True)}}


def _is_figure(output: Notebook) -> bool:
    return any(kind.startswith("image/") for kind in output.get("data", {}))


def _texts(output: Notebook) -> list[str]:
    return [_joined(each) for each in [output.get("text", ""), *output.get("data", {}).values()]]


def _joined(lines: list[str] | str) -> str:
    return "".join(lines)


if __name__ == "__main__":
    sys.exit(main())
