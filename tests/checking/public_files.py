"""Public files that some tests read where they are; the repository does not hold them.

They are looked for in the folder `shared` beside the repository. Without one, a test is skipped,
and the summary says which file it lacks.
"""

from pathlib import Path

import pytest

from benchmarks.data import SHARED


def public_file(name: str, folder: Path = SHARED) -> Path:
    """The path of a public file; without it the test is skipped."""
    path = folder / name
    if not path.exists():
        pytest.skip(f"The public file {name} is not in {folder}.")
    return path
