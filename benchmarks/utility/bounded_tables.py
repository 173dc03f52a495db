"""What a bound on the items of one person does, as it is shown: tables and a CSV file."""

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import NamedTuple

from benchmarks.pages import describe_machine, fill_places, format_table, write_csv
from benchmarks.utility.results import MEASURED
from benchmarks.utility.tables import significant
from benchmarks.utility.thresholds import DELTA

TOPGAP = "topgap, L"
TOP_K = "topgap, no L"
ESTIMATES = "topgap, no L, counts too"
LAPLACE_ON_ALL = "OpenDP, Laplace on all"
THRESHOLD = "OpenDP, Laplace threshold"
JOINT = "joint exponential"


class Accuracy(NamedTuple):
    """How right lists were, and how far off their counts.

    Attributes:
        data: The data set.
        epsilon: What a list costs, as it is written.
        k: How many are named.
        who: Who made the lists, or by which law.
        kind: Whether they were measured or simulated.
        bound: L, or 0 if there is none.
        lists: How many there were.
        share: The mean share of the true k largest that were named.
        share_error: Its standard error.
        error: The mean of the lists' median errors of a count; NaN without counts.
        error_error: Its standard error.
    """

    data: str
    epsilon: str
    k: int
    who: str
    kind: str
    bound: int
    lists: int
    share: float
    share_error: float
    error: float
    error_error: float


class Truncation(NamedTuple):
    """What is left where each person keeps at most so many items.

    Attributes:
        data: The data set.
        bound: L.
        cut: The share of persons that have more.
        events: The share of events that are kept.
        middle: By which part the largest counts fall, the median of them.
        lowest: The least of them.
        highest: The most of them.
    """

    data: str
    bound: int
    cut: float
    events: float
    middle: float
    lowest: float
    highest: float


class Cell(NamedTuple):
    """A row and column of a table: which lists, with which bound."""

    who: str
    best: bool
    """Whether the bound is the one that names the most, and else 1, or none."""


COLUMNS = {
    "topgap, L = 1": Cell(TOPGAP, best=False),
    "topgap, best L": Cell(TOPGAP, best=True),
    "topgap, no L": Cell(TOP_K, best=False),
    "topgap, no L, counts too": Cell(ESTIMATES, best=False),
    "OpenDP, Laplace on all, best L": Cell(LAPLACE_ON_ALL, best=True),
    f"OpenDP, Laplace threshold, δ = {DELTA:g}, best L": Cell(THRESHOLD, best=True),
    "joint exponential, *simulated*": Cell(JOINT, best=False),
}


def write(
    found: Sequence[Accuracy],
    cuts: Sequence[Truncation],
    plotted: Sequence[Accuracy],
    docs: Path,
) -> None:
    """Fill the marked places of docs/utility.md, and write the CSV files of docs/utility."""
    fill_places(docs / "utility.md", places(found, cuts))
    write_csv(docs / "utility" / "bounded.csv", Accuracy._fields, found)
    write_csv(docs / "utility" / "bounded_map.csv", Accuracy._fields, plotted)
    write_csv(docs / "utility" / "truncation.csv", Truncation._fields, cuts)


def places(found: Sequence[Accuracy], cuts: Sequence[Truncation]) -> dict[str, str]:
    """The tables of the page, by the name of their place."""
    return {
        "bounded run": run_table(),
        "bounded, names": accuracy_table(found, counts=False),
        "bounded, counts": accuracy_table(found, counts=True),
        "truncation": truncation_table(cuts),
    }


def run_table() -> str:
    """What was run, on what machine."""
    rows = [
        ["command", "`python -m benchmarks.utility.bounded`"],
        ["machine", describe_machine("topgap", "opendp", "numpy")],
    ]
    return format_table(["setting", "value"], rows, text_columns=2)


def accuracy_table(found: Sequence[Accuracy], *, counts: bool) -> str:
    """A row for each data set, ε and k; who has no counts is left out of those of counts."""
    columns = {
        name: cell for name, cell in COLUMNS.items() if not counts or cell.who not in (TOP_K, JOINT)
    }
    settings = dict.fromkeys((each.data, each.k, each.epsilon) for each in found)
    rows = []
    for setting in settings:
        here = [each for each in found if (each.data, each.k, each.epsilon) == setting]
        show = error_cell if counts else share_cell
        shown = [show(choose(here, cell), cell.best) for cell in columns.values()]
        rows.append([*setting, *shown])
    return format_table(["data", "k", "ε", *columns], rows)


def choose(here: Sequence[Accuracy], cell: Cell) -> Accuracy | None:
    """The figures of a cell; of topgap's bounds those below k, with which it takes this noise."""
    own = [each for each in here if each.who == cell.who]
    if cell.who == TOPGAP:
        own = [each for each in own if each.bound < each.k]
    if cell.who == THRESHOLD:
        own = [each for each in own if each.kind == MEASURED]
    if not cell.best:
        own = [each for each in own if each.bound <= 1]
    return max(own, key=lambda each: (each.share, -each.bound), default=None)


def share_cell(figures: Accuracy | None, with_bound: bool) -> str:
    """As 98.1% ± 0.2, with L if it was chosen."""
    if figures is None:
        return "–"
    shown = f"{figures.share:.1%} ± {100 * figures.share_error:.1f}"
    return f"{shown}, L = {figures.bound:,}" if with_bound else shown


def error_cell(figures: Accuracy | None, with_bound: bool) -> str:
    """As 28.3 ± 0.2, with L if it was chosen; a dash without counts."""
    if figures is None or isnan(figures.error):
        return "–"
    shown = f"{significant(figures.error)} ± {significant(figures.error_error, 1)}"
    return f"{shown}, L = {figures.bound:,}" if with_bound else shown


def truncation_table(cuts: Sequence[Truncation]) -> str:
    """A row for each data set and L."""
    header = ["data", "L", "people who have more", "events kept"]
    header += ["decrease of the 25 largest counts, median", "least", "most"]
    rows = [[each.data, each.bound, *(f"{value:.1%}" for value in each[2:])] for each in cuts]
    return format_table(header, rows)
