"""What the suite leaves open: the tapes not walked, and the false alarms that chance may cause.

Both are declared test by test, bounded here or there, and printed at the end of each run; before
them, what the ledger went through, and what this system cannot run. The markers that choose what
is run are declared in pyproject.toml, and the Makefile says what chooses which.
"""

import os
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from selenium.webdriver.remote.webdriver import WebDriver

    from tests.checking.postgresql_server import PostgresServer

SUITE_FALSE_ALARM = 1e-6
README_FALSE_ALARM = 1e-10  # derived in a comment there

pytest_plugins = ["pytester"]

# Who takes one of these, as a fixture or a parameter, is marked so.
MARKED_BY_ARGUMENT = {
    "driver": "browser", "mutant": "mutant", "postgresql": "postgresql", "spark": "spark",
}  # fmt: skip
# These are begun first: what needs Java, then Chromium, then what is long, so that none is left to
# one core at the end. Those that share a cluster or a browser stay together.
BEGUN_FIRST = ("spark", "browser", "crash", "deep", "slow")

# A slow machine is no failure.
settings.register_profile("topgap", deadline=None)
settings.load_profile("topgap")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out modules that this system cannot run; the summary names them."""
    return any(collection_path.match(f"tests/{name}") for name in _left_out()) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark, refuse a suite that fails by chance too often, and put it in order.

    This comes before tests are left out by `-m`, so the bound is one for the whole suite.
    """
    for item in items:
        for argument, marker in MARKED_BY_ARGUMENT.items():
            if argument in getattr(item, "fixturenames", []):
                item.add_marker(marker)
        for system, reason in _missing().items():
            if item.get_closest_marker(system):
                item.add_marker(pytest.mark.skip(reason=reason))
        if item.path.name == "README.md":
            item.add_marker(pytest.mark.statistical(false_alarm=README_FALSE_ALARM))
        if item.get_closest_marker("statistical"):
            item.user_properties.append(("false_alarm", _declared(item)))
        if item.get_closest_marker("mutant"):
            item.user_properties.append(("mutant", 1))
    total = sum(float(str(v)) for i in items for n, v in i.user_properties if n == "false_alarm")
    if total > SUITE_FALSE_ALARM:
        raise pytest.UsageError(
            f"The statistical tests may fail by chance with probability {total}; "
            f"the suite allows {SUITE_FALSE_ALARM}."
        )
    items.sort(key=lambda item: [not item.get_closest_marker(each) for each in BEGUN_FIRST])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with events, as a CSV file, and their domain, for the command."""
    from tests.cli.command import write_visits  # which the suites that tests make do not have

    write_visits(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def driver() -> Iterator["WebDriver"]:
    """One Chromium for all tests of pages in a process; without one they are skipped.

    With TOPGAP_NEEDS_CHROMIUM=1 they fail.
    """
    from tools.chromium import NEEDED, find_programs, open_chromium

    programs = find_programs()
    there = {name: path for name, path in programs.items() if path is not None}
    if missing := [" or ".join(NEEDED[name]) for name in programs if name not in there]:
        refuse = pytest.fail if os.environ.get("TOPGAP_NEEDS_CHROMIUM") == "1" else pytest.skip
        refuse(f"There is no {' and no '.join(missing)} here.")
    with open_chromium(there) as driver:
        yield driver


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator["PostgresServer"]:
    """A server of PostgreSQL; each worker starts its own, in a second or two."""
    from tests.checking.postgresql_server import serve_postgresql

    with serve_postgresql() as server:
        yield server


@pytest.fixture
def postgresql(postgresql_server: "PostgresServer") -> "PostgresServer":
    """The same server, without tables."""
    postgresql_server.clear()
    return postgresql_server


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
    if elsewhere := {**_left_out(), **_missing()}:
        terminalreporter.section("what is not run on this system")
    for tests, why in elsewhere.items():
        terminalreporter.write_line(f"{tests}: {why}")
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
        f"at most {sum(alarms):.2g} (of the whole suite: at most {SUITE_FALSE_ALARM:.2g})"
    )


@cache
def _left_out() -> dict[str, str]:
    """The modules that are not run on this system, and why."""
    try:
        from tests.checking.systems import left_out
    except ModuleNotFoundError:  # as in the suites that tests make
        return {}
    return left_out(_missing())


@cache
def _missing() -> dict[str, str]:
    """The marks of what cannot be run on this system, and why."""
    try:
        from tests.checking.systems import REASONS, missing_systems
    except ModuleNotFoundError:
        return {}
    return {name: REASONS[name] for name in sorted(missing_systems())}


def _declared(item: pytest.Item) -> float:
    marker = item.get_closest_marker("statistical")
    if marker is None or set(marker.kwargs) != {"false_alarm"}:
        raise pytest.UsageError(f"{item.nodeid} must be marked statistical(false_alarm=…).")
    return float(marker.kwargs["false_alarm"])
