"""Four ways to release the items above a threshold, as they are shown: tables and a CSV file."""

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import NamedTuple

from benchmarks.pages import describe_machine, fill_places, format_table, write_csv
from benchmarks.utility.tables import significant

THRESHOLD = "threshold"
ESTIMATES = "counts too"
LAPLACE = "Laplace, L"
LAPLACE_N = "Laplace, n"
ALL = THRESHOLD, ESTIMATES, LAPLACE, LAPLACE_N
SHOWN = ALL[:3]  # the last is so far off that a sentence says it


class Accuracy(NamedTuple):
    """How right outputs were, and how far off their counts; each mean with its standard error.

    Attributes:
        data: The data set.
        epsilon: The privacy loss ε of each, as it is written.
        k: How many items are named at most.
        rank: How many have counts above the threshold.
        threshold: t.
        who: One of `ALL`.
        bound: How many items a person may have, for Laplace noise; 0 if that does not matter.
        lists: How many outputs there were.
        counted: How many of them had counts.
        found: The mean share that was named of the items that should be.
        false: How many others were named, on average.
        error: The root of the mean square of how far off counts were; NaN without counts.
        last_error: By how much the last item's count was too large, on average; or NaN.
        spent: The mean cost, as a part of ε.
    """

    data: str
    epsilon: str
    k: int
    rank: int
    threshold: int
    who: str
    bound: int
    lists: int
    counted: int
    found: float
    found_error: float
    false: float
    false_error: float
    error: float
    error_error: float
    last_error: float
    last_error_error: float
    spent: float
    spent_error: float

    @property
    def setting(self) -> tuple[str, int, str, int]:
        """What was asked."""
        return self.data, self.k, self.epsilon, self.rank


class Combination(NamedTuple):
    """Standard deviations of a count if so many are named, in units of k/ε.

    Attributes:
        named: How many are named.
        free: By the gaps down to the threshold alone, with all of ε for the names.
        half: With half of ε for measurements, combined with the gaps.
        share: The share of ε for the names at which the combination has the least deviation.
        best: With that share.
    """

    named: int
    free: float
    half: float
    share: float
    best: float


def write(found: Sequence[Accuracy], combinations: Sequence[Combination], docs: Path) -> None:
    """Fill the marked places of docs/threshold.md, and write docs/utility/threshold.csv."""
    fill_places(docs / "threshold.md", places(found, combinations))
    write_csv(docs / "utility" / "threshold.csv", Accuracy._fields, found)


def places(found: Sequence[Accuracy], combinations: Sequence[Combination]) -> dict[str, str]:
    """The tables of the page, by the name of their place."""
    return {
        "threshold run": run_table(found),
        "threshold, names": name_table(found),
        "threshold, counts": count_table(found),
        "threshold, combined": combination_table(combinations),
    }


def run_table(found: Sequence[Accuracy]) -> str:
    """What was run, on what machine."""
    bounds = {each.data: each.bound for each in found if each.who == LAPLACE}
    sizes = {each.data: each.bound for each in found if each.who == LAPLACE_N}
    rows = [
        ["command", "`python -m benchmarks.utility.threshold`"],
        ["machine", describe_machine("topgap", "numpy")],
        ["outputs of each", ", ".join(f"{lists:,}" for lists in sorted({e.lists for e in found}))],
        ["n", ", ".join(f"{size:,} ({data})" for data, size in sizes.items())],
        ["L", ", ".join(f"{bound} ({data})" for data, bound in bounds.items())],
    ]
    return format_table(["setting", "value"], rows, text_columns=2)


def name_table(found: Sequence[Accuracy]) -> str:
    """A row for each question: what each found, and how many false ones it named."""
    header = ["data", "k", "ε", "above t", "threshold: found, false", "cost, of ε"]
    header += [f"{who}: found, false" for who in SHOWN[1:]]
    rows = []
    for setting, here in _by_setting(found).items():
        shown = [name_cell(here.get(who)) for who in SHOWN]
        rows.append([*setting, shown[0], f"{here[THRESHOLD].spent:.1%}", *shown[1:]])
    return format_table(header, rows)


def name_cell(figures: Accuracy | None) -> str:
    """As 98.1%, 0.2."""
    return "–" if figures is None else f"{figures.found:.1%}, {figures.false:.1f}"


def count_table(found: Sequence[Accuracy]) -> str:
    """A row for each question: how far off counts are."""
    header = ["data", "k", "ε", "above t", "threshold", "lists with counts", "the last, bias"]
    header += SHOWN[1:]
    rows = []
    for setting, here in _by_setting(found).items():
        free = here[THRESHOLD]
        row = [*setting, error_cell(free), f"{free.counted / free.lists:.1%}", bias_cell(free)]
        rows.append([*row, *(error_cell(here.get(who)) for who in SHOWN[1:])])
    return format_table(header, rows)


def error_cell(figures: Accuracy | None) -> str:
    """As 28.3 ± 0.2; a dash without counts."""
    if figures is None or isnan(figures.error):
        return "–"
    return f"{significant(figures.error)} ± {significant(figures.error_error, 1)}"


def bias_cell(figures: Accuracy) -> str:
    """As −250 ± 30; a dash without counts."""
    if isnan(figures.last_error):
        return "–"
    size, error = significant(abs(figures.last_error), 2), figures.last_error_error
    return f"{'−' * (figures.last_error < 0)}{size} ± {significant(error, 1)}"


def combination_table(combinations: Sequence[Combination]) -> str:
    """A row for each number of items that are named; deviations in units of k/ε."""
    header = ["named", "gaps alone", "with measurements, half of ε", "with measurements, at best"]
    rows = [
        [
            each.named,
            f"{each.free:.3f}",
            f"{each.half:.3f}",
            "no share is better"
            if each.share == 1
            else f"{each.best:.3f}, with {1 - each.share:.0%} of ε",
        ]
        for each in combinations
    ]
    return format_table(header, rows)


def _by_setting(
    found: Sequence[Accuracy],
) -> dict[tuple[str, int, str, int], dict[str, Accuracy]]:
    rows: dict[tuple[str, int, str, int], dict[str, Accuracy]] = {}
    for each in found:
        rows.setdefault(each.setting, {})[each.who] = each
    return rows
