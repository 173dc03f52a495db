"""A table fits a terminal, and what it leaves out it names."""

from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from topgap import Ledger
from topgap.cli.budget.output import format_budgets, format_charges
from topgap.display.fitted_table import format_fitted_table
from topgap.display.text import width

HEAD = ["entry", "data set", "left", "note"]
ROWS = [["1", "visits of the year 2026 in all hospitals", "0.7", ""], ["2", "stays", "1/3", ""]]


@pytest.mark.parametrize("columns", [30, 40, 60, 80])
def test_it_fits(columns: int) -> None:
    table, left_out = format_fitted_table(HEAD, ROWS, {1, 3}, columns=columns, dispensable=[3, 2])
    assert max(map(width, table.splitlines())) <= columns
    assert "note" not in table + str(left_out)  # it is empty
    assert ("left" in left_out) == (columns == 30)
    assert "hospitals" in table


def test_without_a_width_nothing_is_left_out() -> None:
    table, left_out = format_fitted_table(HEAD, ROWS, {1, 3}, columns=None, dispensable=[3, 2])
    assert table.splitlines()[0].split() == ["entry", "data", "set", "left", "note"]
    assert left_out == []


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Two data sets for one kind of neighbours, and one for another."""
    made = Ledger(tmp_path / "b.db", who="ann")
    made.add_dataset("visits", 3)
    made.add_dataset("stays", "2/3")
    made.add_dataset("replaced", 5, neighbours="replace")
    made.charge("visits", "0.7", mechanism="mean age of all patients, for the yearly report")
    made.charge("stays", "1/3", mechanism="mean age of all patients, for the yearly report")
    return made


def test_epsilon_is_added_up_where_that_means_something(ledger: Ledger) -> None:
    text = format_budgets(ledger.budgets(), ledger.history())
    (line,) = (line for line in text.splitlines() if line.startswith("sum for"))
    assert line.split() == [
        "sum", "for", "add-remove", "add-remove", "11/3", "31/30", "31/30", "79/30", "2", "0",
    ]  # fmt: skip
    assert "a person who is in all data sets with these neighbours; data sets with other" in text
    one = format_budgets([ledger.budget("visits")], [])
    assert "sum for" not in one
    assert "The sum" not in one


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_budgets_and_charges_fit(ledger: Ledger, columns: int) -> None:
    budgets = format_budgets(ledger.budgets(), [], columns)
    charges = format_charges(ledger.history(), columns)
    assert max(map(width, f"{budgets}{charges}".splitlines())) <= columns
    for text in (budgets, charges):
        assert ("Left out at this width" in text) == (columns < 100)
    assert "≈" not in budgets + charges
    assert str(datetime.now(UTC).year) in format_charges(ledger.history(), 200)
    assert Fraction(79, 30) == sum(each.left for each in ledger.budgets()[:2])
