"""A release with so large an ε that it is hardly private says so, and nothing else does."""

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import release as release_by_command
from tests.cli.command import write_visits
from topgap import (
    LargeEpsilonWarning,
    Ledger,
    Monitor,
    Selector,
    TopK,
    top_k,
    top_k_by_group,
    top_k_with_estimates,
)

COUNTS = {"flu": 30, "cold": 20, "cough": 10}


def with_ledger(folder: Path) -> object:
    ledger = Ledger(folder / "l.db")
    ledger.add_dataset("visits", 1_000)
    return top_k(COUNTS, 1, 11, ledger=ledger, dataset="visits")


def selected(_: Path) -> object:
    selector = Selector(TopK(1, 11))
    selector.add(COUNTS)
    return selector.release()


RELEASES: dict[str, Callable[[Path], object]] = {
    "a list": lambda _: top_k(COUNTS, 1, "10.1"),
    "a charged list": with_ledger,
    "estimates": lambda _: top_k_with_estimates(COUNTS, 1, 11),
    "groups": lambda _: top_k_by_group({"North": COUNTS}, 1, 11),
    "a selector": selected,
    "a monitor": lambda _: Monitor(threshold=5, answers=1, epsilon=11),
}


@pytest.mark.parametrize("name", RELEASES)
def test_it_is_said_once_and_of_the_line_of_the_user(tmp_path: Path, name: str) -> None:
    with pytest.warns(LargeEpsilonWarning, match="more than 10 and hardly private") as caught:
        RELEASES[name](tmp_path)
    assert [Path(each.filename) for each in caught] == [Path(__file__)]


def test_what_is_charged_counts(tmp_path: Path) -> None:
    """Of persons who are replaced, twice what was stated for one more or less."""
    ledger = Ledger(tmp_path / "l.db")
    ledger.add_dataset("stays", 100, neighbours="replace")
    with pytest.warns(LargeEpsilonWarning, match="^ε = 12 is more") as caught:
        top_k(COUNTS, 1, 6, monotonic=True, ledger=ledger, dataset="stays")
    assert [Path(each.filename) for each in caught] == [Path(__file__)]


def test_nothing_is_said_of_10_or_of_what_releases_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        top_k(COUNTS, 1, 10)
        TopK(1, 100)


@pytest.mark.slow
def test_the_command_says_it_in_one_line_and_that_no_ledger_was_charged(tmp_path: Path) -> None:
    write_visits(tmp_path)
    asked = ["--person", "who", "--item", "what", "--domain", "domain.txt", "-k", 2]
    ended = release_by_command(tmp_path, "--epsilon", 20, asked=asked)
    said = [line for line in ended.err.splitlines() if "hardly private" in line]
    assert said == [
        "topgap: ε = 20 is more than 10 and hardly private: one person can make an output e^20 "
        "times as likely."
    ]
    assert ended.err.count("No ledger was charged") == 1
    quiet = release_by_command(tmp_path, "--epsilon", 1, "--quiet", asked=asked)
    assert quiet.err == ""
