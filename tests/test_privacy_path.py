"""No float and no foreign randomness in the modules that lead from answers to gaps."""

import ast
import inspect
from types import ModuleType

import pytest

from topgap import answers, exact, parameters
from topgap.reference import bits, samplers, secure, without_gap

PRIVACY_PATH = [answers, exact, parameters, bits, samplers, secure, without_gap]
ALLOWED_IMPORTS = {
    "collections", "collections.abc", "dataclasses", "decimal", "fractions", "itertools",
    "numbers", "reprlib", "secrets", "typing", "numpy",
}  # fmt: skip


def offences(source: str) -> list[str]:
    """Float literals, calls of float(), and imports that could bring floats or other randomness."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            found.append(f"the literal {node.value}")
        if isinstance(node, ast.Call) and ast.unparse(node.func) in (
            "float",
            "round",
            "pow",
            "eval",
        ):
            found.append(f"a call of {ast.unparse(node.func)}")
        if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("np.random"):
            found.append("NumPy's random numbers")
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module]
            found += [f"an import of {name}" for name in names if not _allowed(str(name), node)]
    return found


def _allowed(name: str, node: ast.Import | ast.ImportFrom) -> bool:
    if name == "math":  # whose functions are floats, but for the integer ones
        return isinstance(node, ast.ImportFrom) and {a.name for a in node.names} <= {"gcd", "lcm"}
    return name in ALLOWED_IMPORTS or name in {module.__name__ for module in PRIVACY_PATH} | {
        "topgap.errors"
    }


@pytest.mark.parametrize("module", PRIVACY_PATH, ids=lambda module: module.__name__)
def test_a_module_on_the_privacy_path_is_free_of_them(module: ModuleType) -> None:
    assert offences(inspect.getsource(module)) == []


@pytest.mark.parametrize(
    "source",
    [
        "x = 0.5",
        "x = float(3)",
        "import random",
        "from random import random",
        "import numpy as np\nnp.random.default_rng()",
        "import numpy.random",
        "import math",
        "from math import exp",
        "from topgap.reference.insecure_tape import Tape",
        "from topgap.reference import insecure_floats",
    ],
)
def test_the_check_sees_them(source: str) -> None:
    assert offences(source) != []
