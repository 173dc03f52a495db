"""What the suite leaves open: the tapes not walked, and the false alarms that chance may cause.

Both are declared test by test, bounded here or there, and printed at the end of each run; before
them, what the ledger went through.
"""

import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest
from hypothesis import settings

sys.path.append(str(Path(__file__).parent))  # for the scripts that stand in tests/

SUITE_FALSE_ALARM = 1e-6
README_FALSE_ALARM = 1e-10  # derived in a comment there

pytest_plugins = ["pytester"]

# These are begun first, the longest before all, so that none is left to one core at the end.
LONGEST = [
    "ledger/test_faults.py",
    "cli/test_terminal.py",
    "reference/test_law.py",
    "spark/test_cluster.py",
    "spark/test_law.py",
    "cli/test_command.py",
    "ledger/test_kills.py",
    "estimates/test_coverage.py",
    "report/test_in_chromium.py",
    "kernel/test_law.py",
    "ledger/test_writers.py",
    "tools/test_documents.py",
    "selection/test_measurement.py",
]

# A slow machine is no failure.
settings.register_profile("topgap", deadline=None)
settings.load_profile("topgap")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what this system cannot run; the summary names it."""
    return _name(collection_path) in _left_out() or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a suite whose statistical tests together fail by chance too often; put it in order."""
    items.sort(key=lambda item: (*LONGEST, _name(item.path)).index(_name(item.path)))
    for item in items:
        if item.path.name == "README.md":
            item.add_marker(pytest.mark.statistical(false_alarm=README_FALSE_ALARM))
        if item.get_closest_marker("statistical"):
            item.user_properties.append(("false_alarm", _declared(item)))
        if "mutant" in getattr(item, "fixturenames", []):
            item.user_properties.append(("mutant", 1))
    total = sum(float(str(v)) for i in items for n, v in i.user_properties if n == "false_alarm")
    if total > SUITE_FALSE_ALARM:
        raise pytest.UsageError(
            f"The statistical tests may fail by chance with probability {total}; "
            f"the suite allows {SUITE_FALSE_ALARM}."
        )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with events, as a CSV file, and their domain, for the command."""
    from tests.cli.command import write_visits  # which the suites that tests make do not have

    write_visits(tmp_path)
    return tmp_path


@pytest.fixture
def false_alarm(request: pytest.FixtureRequest) -> float:
    """The probability with which this test may fail by chance, as its marker declares."""
    return _declared(request.node)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left open, in the words with which the tests recorded it."""
    recorded: defaultdict[str, list[float]] = defaultdict(list)
    figures: list[str] = []
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "figure":
                figures.append(str(value))
            else:
                recorded[name].append(float(str(value)))
    if faults := recorded.pop("faults", []):
        figures.append(f"faults injected: {sum(faults):,.0f} in all")
    if figures:
        terminalreporter.section("what the ledger went through")
    for figure in sorted(figures):
        terminalreporter.write_line(figure)
    if elsewhere := _left_out():
        terminalreporter.section("what is not run on this system")
    for module, why in elsewhere.items():
        terminalreporter.write_line(f"{module}: {why}")
    mutants, alarms = recorded.pop("mutant", []), recorded.pop("false_alarm", [])
    terminalreporter.section("what is left open")
    for walks, rests in recorded.items():
        terminalreporter.write_line(
            f"{walks}: {len(rests)} walks; mass of the tapes not walked: "
            f"at most {max(rests):.2g}, median {median(rests):.2g}"
        )
    terminalreporter.write_line(f"broken on purpose: {len(mutants)} times, each found")
    terminalreporter.write_line(
        f"statistical tests: {len(alarms)}; probability that any of them fails by chance: "
        f"at most {sum(alarms):.2g}"
    )


def _name(path: Path) -> str:
    return "/".join(path.parts[-2:])


def _left_out() -> dict[str, str]:
    try:
        from tests.checking.systems import left_out
    except ModuleNotFoundError:  # as in the suites that tests make
        return {}
    return left_out()


def _declared(item: pytest.Item) -> float:
    marker = item.get_closest_marker("statistical")
    if marker is None or set(marker.kwargs) != {"false_alarm"}:
        raise pytest.UsageError(f"{item.nodeid} must be marked statistical(false_alarm=…).")
    return float(marker.kwargs["false_alarm"])
