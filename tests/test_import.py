"""What `import topgap` brings: its dependencies, its types, and what it exports."""

import importlib.metadata
import importlib.resources
import subprocess
import sys

import pytest

import topgap


def test_numpy_is_the_only_dependency_of_the_core() -> None:
    requirements = importlib.metadata.requires("topgap") or []
    assert [each.split(">")[0] for each in requirements if "extra ==" not in each] == ["numpy"]
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, topgap; topgap.top_k; topgap.plan; "
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


def test_what_not_everyone_needs_is_there_when_it_is_asked_for() -> None:
    code = "import topgap; print(topgap.counting.FORMATS, topgap.report.to_html, topgap.datasets)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = topgap.nothing


def test_what_is_public_is_listed_before_it_is_loaded() -> None:
    code = "import topgap; print(*dir(topgap))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert sorted(run.stdout.split()) == sorted(topgap.__all__)
