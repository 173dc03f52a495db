"""What `import topgap` brings: its dependencies, its types, and what it exports."""

import importlib.metadata
import importlib.resources
import subprocess
import sys
from pathlib import Path

import pytest

import topgap


def test_numpy_is_the_only_dependency_of_the_core() -> None:
    requirements = importlib.metadata.requires("topgap") or []
    assert [each.split(">")[0] for each in requirements if "extra ==" not in each] == ["numpy"]
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, topgap; topgap.top_k; topgap.plan\n"
            "print(*{m.split('.')[0] for m in sys.modules})",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert {"topgap", "numpy"} <= set(loaded)
    assert not {"scipy", "hypothesis", "pytest", "pandas", "polars", "pyarrow"} & set(loaded)
    assert not {"duckdb", "typer", "rich", "matplotlib", "selenium"} & set(loaded)


def test_it_is_typed_and_exports_what_it_lists() -> None:
    assert (importlib.resources.files("topgap") / "py.typed").is_file()
    for module in (topgap, topgap.reference):
        assert sorted(module.__all__) == sorted(set(module.__all__))
        assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.slow
def test_what_not_everyone_needs_is_there_when_it_is_asked_for() -> None:
    code = "import topgap; print(topgap.counting.FORMATS, topgap.report.to_html, topgap.datasets)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = topgap.nothing


def test_what_is_public_is_listed_before_it_is_loaded() -> None:
    code = "import topgap; print(*dir(topgap))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert sorted(run.stdout.split()) == sorted(topgap.__all__)


def test_it_is_quick_because_it_loads_nothing_but_errors() -> None:
    """The command cannot handle a signal before."""
    code = "import sys, topgap.cli.main; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = {name for name in run.stdout.split() if name.startswith(("topgap", "numpy"))}
    assert loaded == {
        "topgap",
        "topgap.cli",
        "topgap.cli.errors",
        "topgap.cli.main",
        "topgap.errors",
        "topgap.signals",
    }


@pytest.mark.parametrize(("times", "said"), [(1, "KeyboardInterrupt"), (9, "ImportError")])
def test_an_interrupt_while_the_kernel_is_loaded_is_no_panic(times: int, said: str) -> None:
    """It fetches NumPy's C API then, and the crate that does runs this class of NumPy's."""
    code = (
        "import numpy.lib\n"
        f"left = {times}\n"
        "class Version(numpy.lib.NumpyVersion):\n"
        "    def __init__(self, text):\n"
        "        global left\n"
        "        left -= 1\n"
        "        if left >= 0: raise KeyboardInterrupt\n"
        "        super().__init__(text)\n"
        "numpy.lib.NumpyVersion = Version\n"
        "try:\n"
        "    import topgap._core\n"
        "except BaseException as error:\n"
        "    print(type(error).__name__)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == (f"{said}\n", "")


# pydantic is what Typer would convert values with, and Rich what it would format help with.
NEVER = {"rich", "pydantic", "pyarrow", "matplotlib", "pandas", "pyspark", "topgap.auditing"}
ASKED = [
    *("--person", "who", "--item", "what", "--domain-range", "1:9", "-k", "2", "--epsilon", "1"),
]


@pytest.mark.parametrize(
    ("words", "most", "never"),
    [
        (["--version"], 220, {"numpy", "duckdb", *NEVER}),
        (["--help"], 170, {"numpy", "duckdb", *NEVER}),
        (["release", "--help"], 480, {"duckdb", *NEVER}),
        (["release", "v.csv", *ASKED], 545, {*NEVER}),
    ],
)
def test_a_command_imports_what_it_needs(
    tmp_path: Path, words: list[str], most: int, never: set[str]
) -> None:
    """How many modules are imported, because how long it takes depends on the machine."""
    (tmp_path / "v.csv").write_text("who,what\n1,flu\n2,cold\n")
    code = (
        "import sys\n"
        "from topgap.cli.main import main\n"
        f"sys.argv = ['topgap', *{words}]\n"
        "try:\n    main()\n"
        "finally:\n    print(*sys.modules, file=sys.stderr)\n"
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    loaded = {*run.stderr.splitlines()[-1].split()}
    assert run.returncode == 0
    assert "topgap.cli.app" in loaded
    assert not never & loaded
    assert len(loaded) <= most
