"""Which tests need which system: those marked `posix` or `linux`. On Linux all of them run.

A module may need a system to be imported at all. Its mark is therefore read from its source:

    pytestmark = pytest.mark.linux(reason="reads from /proc how much memory is in use")
"""

import ast
import os
import sys
from collections.abc import Iterable
from pathlib import Path

IS_POSIX, IS_LINUX = os.name == "posix", sys.platform == "linux"
TESTS = Path(__file__).parents[1]
REASONS = {
    "posix": "needs POSIX: its forks, signals, links, or pipes that have names",
    "linux": "needs Linux: its /proc, /dev/full, or odd names",
}


def missing_systems(*, posix: bool = IS_POSIX, linux: bool = IS_LINUX) -> set[str]:
    """The marks of tests that cannot run here.

    >>> missing_systems(posix=True, linux=False)
    {'linux'}
    """
    return {name for name, is_there in (("posix", posix), ("linux", linux)) if not is_there}


def needs_of(path: Path) -> dict[str, str]:
    """The systems that a module needs, each with its reason, as its source says.

    >>> needs_of(TESTS / "soak" / "test_soak.py")
    {'linux': 'reads from /proc how much memory is in use'}
    """
    found: dict[str, str] = {}
    source = path.read_text(encoding="utf-8")
    if "pytestmark = " not in source:
        return found
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark":
            for each in ast.walk(statement.value):
                if isinstance(each, ast.Attribute) and each.attr in REASONS:
                    found.setdefault(each.attr, REASONS[each.attr])
                if isinstance(each, ast.Call) and ast.unparse(each.func) in _MARKS:
                    (reason,) = each.keywords
                    found[_MARKS[ast.unparse(each.func)]] = ast.literal_eval(reason.value)
    return found


def left_out(missing: Iterable[str]) -> dict[str, str]:
    """The modules that cannot run without these systems, and why.

    >>> left_out([])
    {}
    >>> left_out(["linux"])["soak/test_soak.py"]
    'reads from /proc how much memory is in use'
    """
    missing = {*missing}
    return {
        path.relative_to(TESTS).as_posix(): reason
        for path in (sorted(TESTS.rglob("*.py")) if missing else ())
        for system, reason in needs_of(path).items()
        if system in missing
    }


_MARKS = {f"pytest.mark.{name}": name for name in REASONS}
