"""Run a module of the tests in an interpreter of its own, which may fork and be killed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[2]


def with_tests() -> dict[str, str]:
    """The environment of a process that imports from the tests, and else what this one does."""
    found = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(found)}


def run_apart(module: str, *, preload: Path | None = None, **given: Any) -> dict[str, Any]:
    """What the module writes to its standard output, as JSON, when it is given this."""
    environment = with_tests()
    if preload is not None:
        environment["LD_PRELOAD"] = str(preload)
    run = subprocess.run(
        [sys.executable, "-m", module, json.dumps(given)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=1800,
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def given() -> dict[str, Any]:
    """What the module was given."""
    found: dict[str, Any] = json.loads(sys.argv[1])
    return found
