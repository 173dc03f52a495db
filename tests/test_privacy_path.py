"""No float, no foreign randomness and no answer in an error in the folders that see answers.

`selection` sees answers, `sampling` draws noise, and `reference` is the paper's way from one to the
other. Every module of these folders is looked at, and so is what they import to read numbers.
"""

import ast
import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy as np
import pytest

import topgap
from topgap import TopK
from topgap.reference import gap_top_k, gap_top_k_pruned, noisy_max, top_k
from topgap.sampling import sampler
from topgap.selection import measurement, preparation

SOURCE = Path(topgap.__file__).parent
FOLDERS = ("selection", "sampling", "reference")
BESIDE = ("grouped_parameters", "numbers.parse", "parameters", "sealing", "spark.partitions")
INSECURE = {"topgap.reference.insecure_floats", "topgap.reference.insecure_tape"}


def modules_of(folder: str) -> Iterator[str]:
    for path in sorted((SOURCE / folder).rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        yield ".".join(("topgap", *parts)).removesuffix(".__init__")


PRIVACY_PATH = [
    import_module(name)
    for name in [
        *(f"topgap.{name}" for name in BESIDE),
        *(m for f in FOLDERS for m in modules_of(f)),
    ]
    if name not in INSECURE
]
LIBRARIES = {
    "collections", "collections.abc", "contextlib", "dataclasses", "decimal", "fractions",
    "functools", "heapq", "itertools", "numbers", "numpy", "os", "pickle", "pyarrow",
    "pyarrow.compute", "pyspark", "re", "reprlib", "secrets", "threading", "typing", "warnings",
    "zlib",
}  # fmt: skip
# What these modules may import besides each other; none of it draws, and none sees an answer.
MODULES = {module.__name__ for module in PRIVACY_PATH} - {"topgap.reference"} | {
    "topgap._core", "topgap.display.text", "topgap.domains", "topgap.domains.groups",
    "topgap.domains.structure",
    "topgap.errors", "topgap.estimates.grouped", "topgap.estimates.noise",
    "topgap.estimates.result", "topgap.ledger", "topgap.ledger.charging",
    "topgap.numbers.format", "topgap.release", "topgap.release.construction", "topgap.selection",
    "topgap.sources.columns", "topgap.spark.executors", "topgap.user_stacklevel",
}  # fmt: skip
# Types and conversions of NumPy, none of its arithmetic; and of secrets, fresh bits alone.
OS = {"getpid", "register_at_fork"}
NUMPY = {
    "array",
    "ascontiguousarray",
    "asarray",
    "bool_",
    "dtype",
    "float64",
    "floating",
    "format_float_scientific",
    "frombuffer",
    "generic",
    "int64",
    "integer",
    "ma",
    "ndarray",
    "timedelta64",
    "uint64",
    "zeros",
    # Whole numbers alone: where the answers of each group lie.
    "arange",
    "concatenate",
    "count_nonzero",
    "cumsum",
    "diff",
    "repeat",
    # Of int64 alone: which values are the largest, and which items come twice.
    "empty",
    "flatnonzero",
    "partition",
    "sort",
}
QUOTIENTS_OF_FRACTIONS = {
    "self.resolution / self.scale",
    "sides * moved * self.sensitivity / self.epsilon",
    "rate / m",
    "gap / parameters.resolution",
    "parameters.rate / 2 ** refinement",
    "parameters.epsilon * (1 - share) / parameters.k",
    "self.measurement_epsilon * parameters.resolution / parameters.sensitivity",
    "self.sensitivity / (self.epsilon * self.threshold_share)",
    "sides * self.answers * self.sensitivity / (self.epsilon * share)",
    "self.resolution / self.threshold_scale",
    "self.resolution / self.answer_scale",
    "self.epsilon / self.groups_per_person",
    "rest / parameters.measurements_per_person",
    "shares.selection.epsilon / shares.epsilon",
}


def offences(source: str) -> list[str]:
    """Whatever could bring a float, or randomness that is not the system's, into the source."""
    return [offence for node in ast.walk(ast.parse(source)) for offence in _offences_of(node)]


def _offences_of(node: ast.AST) -> Iterator[str]:
    text = ast.unparse(node) if isinstance(node, ast.expr) else ""
    match node:
        case ast.Constant(value=float() | complex()):
            yield f"the literal {text}"
        case ast.BinOp(op=ast.Div()) if text not in QUOTIENTS_OF_FRACTIONS:
            yield f"the quotient {text}"
        case ast.AugAssign(op=ast.Div()):
            yield f"the quotient {ast.unparse(node)}"
        case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="float" | "complex"), *_]):
            yield f"the call {text}"
        case ast.Call(func=ast.Attribute(attr="astype" | "view"), args=[ast.Name(id="float"), *_]):
            yield f"the call {text}"
        case ast.Attribute(attr="__float__" | "__truediv__"):
            yield f"the use of {text}"
        case ast.BinOp(op=ast.Pow(), right=ast.UnaryOp()):
            yield f"the power {text}"
        case ast.Call(func=ast.Name(id="float" | "complex" | "round" | "pow" | "eval" | "exec")):
            yield f"the call {text}"
        case ast.Attribute(value=ast.Name(id="np"), attr=name) if name not in NUMPY:
            yield f"the use of {text}"
        case ast.Attribute(value=ast.Name(id="secrets"), attr=name) if name != "randbits":
            yield f"the use of {text}"
        case ast.Attribute(value=ast.Name(id="os"), attr=name) if name not in OS:
            yield f"the use of {text}"
        case ast.Import(names=names):
            yield from (f"import {a.name}" for a in names if a.name not in LIBRARIES)
        case ast.ImportFrom(module="inspect", names=names):
            yield from (f"inspect.{a.name}" for a in names if a.name != "signature")
        case ast.ImportFrom(module="math", names=names):
            yield from (f"math.{a.name}" for a in names if a.name not in {"gcd", "lcm"})
        case ast.ImportFrom(module=name) if (
            name not in LIBRARIES - {"numpy", "os", "secrets"} | MODULES
        ):
            yield f"from {name} import"


def test_the_folders_are_found() -> None:
    names = {module.__name__ for module in PRIVACY_PATH}
    assert {f"topgap.{name}" for name in ("selection.mechanism", "sampling.sampler")} <= names
    assert len(names) > 18


@pytest.mark.parametrize("module", PRIVACY_PATH, ids=lambda module: module.__name__)
def test_a_module_on_the_privacy_path_is_free_of_them(module: ModuleType) -> None:
    assert offences(inspect.getsource(module)) == []


@pytest.mark.parametrize(
    "source",
    [
        "x = 0.5",
        "x = float(3)",
        "x = 1 / 3",
        "x = n / 3",
        "x = 2 ** -1",
        "x /= 3",
        "x = [*map(float, y)]",
        "x = y.astype(float)",
        "x = y.__float__()",
        "import random",
        "from random import random",
        "import numpy as np\nnp.random.default_rng()",
        "import numpy as np\nx = np.exp(-1)",
        "import numpy as np\nx = np.float32(3)",
        "import numpy.random",
        "from numpy import random",
        "import secrets\nsecrets.SystemRandom().random()",
        "from secrets import SystemRandom",
        "import os\nos.getrandom(8)",
        "from os import urandom",
        "import math",
        "from math import exp",
        "import inspect",
        "from inspect import currentframe",
        "from topgap.reference.insecure_tape import Tape",
        "from topgap.reference import insecure_floats",
    ],
)
def test_the_reading_sees_them(source: str) -> None:
    assert offences(source) != []


# All that a sentence of these folders may hold besides its own words: types, shapes and parameters.
PUBLIC_FACTS = {
    "domain_size",
    "bound", "counted",  # of items of each person
    "known", "most", "rows",  # of groups
    "subject", "told", "_count_columns(width)", "_count_columns(len(columns))",  # of a frame
    "type(answer).__name__", "type(answers).__name__", "type(domain).__name__",
    "name_type(domain)",
    "type(names).__name__",
    "type(other).__name__",
    "type(parameters).__name__", "type(sampler).__name__", "MOST_ITEMS", "array.ndim", "count",
    "k", "k + 1",
    "kind", "label", "len(members)", "len(names)", "part.label", "quote(name)",
    "quote(self.item)", "self._used_up", "self.selection.k",
    "_NO_COUNTS.format(quote(self.count))",
}  # fmt: skip


def facts_in_errors(source: str) -> set[str]:
    """What is put into the sentences of errors."""
    return {
        ast.unparse(part.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Error")
        for part in ast.walk(node)
        if isinstance(part, ast.FormattedValue)
    }


SEES_ANSWERS = [m for m in PRIVACY_PATH if m.__name__.startswith(("topgap.se", "topgap.sa"))]


@pytest.mark.parametrize("module", SEES_ANSWERS, ids=lambda module: module.__name__)
def test_no_error_has_an_answer_in_it(module: ModuleType) -> None:
    assert facts_in_errors(inspect.getsource(module)) <= PUBLIC_FACTS


def test_an_answer_in_an_error_is_seen() -> None:
    source = 'raise AnswersError(f"The answer {answer} of {k} is too large.")'
    assert facts_in_errors(source) == {"answer", "k"}


KERNEL = Path(__file__).parents[1] / "rust" / "kernel"
FLOATS = re.compile(r"\bf(32|64)\b|(?<![\d.])\d+\.\d|\d_f(32|64)|\be[+-]?\d")
FOREIGN_RANDOMNESS = re.compile(r"\brand::|thread_rng|SmallRng|StdRng|SystemTime|Instant")


def kernel_offences(source: str) -> list[str]:
    code = re.sub(r"//.*", "", source)
    return [found[0] for kind in (FLOATS, FOREIGN_RANDOMNESS) for found in kind.finditer(code)]


def test_the_kernel_has_no_floats_but_those_that_it_reads_the_bits_of() -> None:
    sources = {path.name: path.read_text() for path in (KERNEL / "src").glob("*.rs")}
    assert len(sources) > 10
    offending = {name: kernel_offences(source) for name, source in sources.items()}
    assert {*offending.pop("floats.rs")} == {"f64"}
    assert {name: found for name, found in offending.items() if found} == {}
    # The bits are all that is taken of a float: its sign, and whether it is finite, are in them.
    taken = re.findall(r"number\.(\w+)", sources["floats.rs"])
    assert {*taken} == {"is_finite", "to_bits", "is_sign_negative"}


@pytest.mark.parametrize(
    "source", ["let x = 0.5;", "let x: f64 = y;", "x as f32", "1_f64", "rand::rng()", "StdRng::x()"]
)
def test_the_reading_of_the_kernel_sees_them(source: str) -> None:
    assert kernel_offences(source) != []


def test_the_kernel_draws_from_a_cipher_keyed_by_the_system_and_forbids_unsafe_code() -> None:
    manifest = tomllib.loads((KERNEL / "Cargo.toml").read_text())
    assert {*manifest["dependencies"]} == {"chacha20", "getrandom", "num-bigint", "pulp", "subtle"}
    source = (KERNEL / "src" / "bit_source.rs").read_text()
    assert source.count("from_seed") == 1
    assert "getrandom::fill(&mut key)" in source
    assert "#![forbid(unsafe_code)]" in (KERNEL / "src" / "lib.rs").read_text()
    workspace = tomllib.loads((KERNEL.parent / "Cargo.toml").read_text())
    assert workspace["profile"]["release"]["overflow-checks"] is True


def _has_float(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    if type(value) in (list, tuple, set):
        return any(map(_has_float, value))
    return isinstance(value, float | complex | np.inexact)


def floats_in_variables(run: Any, *arguments: Any) -> set[str]:
    """Run it, and look at every variable and result in the modules of the privacy path."""
    files = {module.__file__ for module in PRIVACY_PATH}
    found: set[str] = set()

    def look(frame: FrameType, event: str, result: Any) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        values = {**frame.f_locals, "result": result if event == "return" else None}
        found.update(
            f"{name} in {frame.f_code.co_name}"
            for name, value in values.items()
            if _has_float(value)
        )
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        run(*arguments)
    finally:
        sys.settrace(before)
    return found


@pytest.mark.parametrize("run", [gap_top_k, gap_top_k_pruned, top_k, noisy_max])
@pytest.mark.parametrize(
    "given", [[3, 1, 2], [Fraction(1, 3), Decimal("0.3"), 10**30], np.array([5, 5, 5])]
)
def test_no_variable_on_the_privacy_path_ever_is_a_float(run: Any, given: Any) -> None:
    for _ in range(5):
        assert floats_in_variables(run, given, TopK(1, "1/3")) == set()


def test_nor_is_one_where_laplace_noise_is_drawn() -> None:
    for rate in (Fraction(3, 7), Fraction(1, 10**40), 2):
        assert floats_in_variables(sampler.Sampler().discrete_laplace, rate) == set()


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(1, 10**40)], ids=str)
def test_nor_is_one_where_winners_are_measured(epsilon: Fraction) -> None:
    """With the kernel's noise, and with the reference's where that is too large for the kernel."""
    shares = measurement.Shares.of(TopK(2, epsilon), "1/3")
    for numbers in ([3, 1, 2], np.array([5, 5, 5]), [Fraction(1, 3), Decimal("0.3"), 10**30]):
        data = preparation.prepare(shares.selection, numbers)
        assert floats_in_variables(shares.select_and_measure, data) == set()


def test_nor_is_one_where_a_monitor_is_asked() -> None:
    monitor = topgap.Monitor(2, 9, "1/3", monotonic=True)
    for answer in (3, Fraction(1, 3), Decimal("0.3"), 10**30, np.int64(5)):
        assert floats_in_variables(monitor.ask, answer) == set()


def test_the_kernels_laplace_noise_has_a_fresh_key_for_every_call() -> None:
    shim = (KERNEL.parent / "python" / "src" / "lib.rs").read_text()
    (draw,) = re.findall(r"fn draw\(&self.*?\n    }\n", shim, re.DOTALL)
    assert re.findall(r"let source = (.*);", draw) == ["&mut fresh(check_signals)?"]
    assert re.findall(r"\w+\(&self\.rate, .*?\)", draw) == ["laplace(&self.rate, 0, source)"]


def test_each_thread_has_a_fresh_key_and_streams_of_one_key_have_numbers() -> None:
    shim = (KERNEL.parent / "python" / "src" / "lib.rs").read_text()
    (threads,) = re.findall(r"\nfn in_threads\(.*?\n}\n", shim, re.DOTALL)
    assert threads.count("fresh::<Checkpoint>(") == 1
    assert threads.count("Cipher") == 1  # the type of what it gives
    assert re.findall(r"Cipher::of\(.*", shim) == [
        "Cipher::of(&self.0, number, Box::new(check_signals)))"
    ]


def test_a_float_answer_is_seen_only_until_it_is_rounded() -> None:
    """That the look finds it here shows that it would find others."""
    found = floats_in_variables(gap_top_k, [0.3, 1, 2], TopK(1, 1))
    assert {"answer in floor_answer", "answer in ratio"} <= found
    as_given = {"answer", "answers", "args", "numbers", "value", "values"}
    # The answers, taken out and not yet rounded; `call` is what seals their errors.
    results = {
        f"result in {name}" for name in ("read", "_unwrap", "_to_numbers", "_check_list", "call")
    }
    assert not any(place.startswith("args in") for place in found - {"args in call"})
    assert {place.split(" in ")[0] for place in found - results} == as_given
