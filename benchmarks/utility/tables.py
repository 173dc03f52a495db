"""The comparison of utility as it is shown: tables, CSV files and plots."""

from math import ceil, floor
from pathlib import Path

from benchmarks.pages import describe_machine, fill_places, format_table, write_csv
from benchmarks.utility.comparisons import error_differences, law_coverage, list_differences
from benchmarks.utility.libraries import MEASURES, WAYS
from benchmarks.utility.plots import draw_errors, draw_lists
from benchmarks.utility.results import Case, CountError, FewItems, Figures, ListAccuracy, peer_error

SHOWN = 0.01, 0.99  # a row of lists is shown if some probability in it lies between


def write(found: Figures, docs: Path) -> None:
    """Write the files of docs/utility and the marked places of docs/utility.md."""
    found = found.in_order()
    folder = docs / "utility"
    folder.mkdir(exist_ok=True)
    fill_places(docs / "utility.md", places(found))
    draw_lists(found, folder / "lists.svg")
    draw_errors(found, folder / "errors.svg")
    for name, kind, figures in (
        ("lists.csv", ListAccuracy, found.lists),
        ("errors.csv", CountError, found.errors),
    ):
        header = [*Case._fields, *kind._fields[1:]]
        write_csv(folder / name, header, [(*each[0], *each[1:]) for each in figures])
    write_csv(folder / "few.csv", FewItems._fields, found.small)


def places(found: Figures) -> dict[str, str]:
    """The tables of the page, by the name of their place."""
    ks = found.ks()
    return {
        "run": run_table(),
        "few items": few_table(found),
        **{f"lists of {k}": list_table(found, k) for k in ks},
        "lists compared": list_differences(found),
        "libraries and laws": law_coverage(found),
        **{f"errors of {k}": error_table(found, k) for k in ks if k > 1},  # there are gaps
        "errors compared": error_differences(found),
    }


def run_table() -> str:
    """What was run, on what machine."""
    rows = [
        ["command", "`python -m benchmarks.utility`"],
        ["machine", describe_machine("topgap", "opendp", "diffprivlib", "numpy")],
    ]
    return format_table(["setting", "value"], rows, text_columns=2)


def few_table(found: Figures) -> str:
    header = ["library", "selection by", "right, exact law", "right, measured", "lists"]
    rows = [
        [
            each.who,
            each.way,
            f"{each.exact:.2%}",
            f"{each.right:.2%} ({each.low:.2%}–{each.high:.2%})",
            f"{each.runs:,}",
        ]
        for each in found.small
    ]
    return format_table(header, rows, text_columns=2)


def list_table(found: Figures, k: int) -> str:
    """A row for each data set and ε at which some list is neither always right nor always wrong."""
    header = ["data", "ε", "topgap", "peeled permute and flip, *simulated*", "OpenDP"]
    header += ["diffprivlib, permute and flip", "peeled exponential, *simulated*"]
    header += ["diffprivlib, exponential"]
    columns = ["topgap", "permute and flip", "OpenDP", "diffprivlib, permute and flip"]
    columns += ["exponential", "diffprivlib, exponential"]
    rows = []
    for case in found.cases(k):
        accuracies = found.lists_of(case)
        cells = {who: accuracies.get(who) for who in columns}
        if any(each and SHOWN[0] < each.right < SHOWN[1] for each in cells.values()):
            shown = [list_cell(each, runs=who in WAYS) for who, each in cells.items()]
            rows.append([case.data, case.epsilon, *shown])
    return format_table(header, rows, text_columns=2)


def list_cell(accuracy: ListAccuracy | None, *, runs: bool) -> str:
    """As 61.5% (60.4–62.5) of 112, the runs if asked for; the ends are rounded outwards."""
    if accuracy is None:
        return "–"
    low, high = floor(1000 * accuracy.low) / 10, ceil(1000 * accuracy.high) / 10
    shown = f"{accuracy.right:.1%} ({low}–{high})"
    return f"{shown} of {accuracy.runs:,}" if runs else shown


def error_table(found: Figures, k: int) -> str:
    """A row for each data set and ε."""
    header = ["data", "ε", "topgap's list right", "topgap, with gaps", "peers, formula"]
    header += [*MEASURES, "reduction from formula"]
    rows = []
    for case in found.cases(k):
        errors = found.errors_of(case)
        combined = errors["topgap, with gaps"]
        rows.append(
            [
                case.data,
                case.epsilon,
                f"{found.lists_of(case)['topgap, counts too'].right:.1%}",
                error_cell(combined),
                significant(peer_error(case)),
                *(error_cell(errors.get(peer), releases=True) for peer in MEASURES),
                percent(1 - combined.error / peer_error(case)),
            ]
        )
    return format_table(header, rows, text_columns=2)


def error_cell(error: CountError | None, *, releases: bool = False) -> str:
    """As 28.3 ± 0.2, with how many releases where they are few."""
    if error is None:
        return "–"
    shown = f"{significant(error.error)} ± {significant(error.standard_error, 1)}"
    return f"{shown} of {error.releases:,}" if releases else shown


def percent(part: float) -> str:
    """In whole percent, with a minus sign where it is below 0.

    >>> percent(0.366), percent(-1.13), percent(-0.001)
    ('37%', '−113%', '0%')
    """
    return f"{round(100 * part)}%".replace("-", "−")


def significant(number: float, digits: int = 3) -> str:
    """So many digits that count, and no powers of ten.

    >>> significant(12345.6), significant(0.012345), significant(28.29, 1)
    ('12,300', '0.0123', '30')
    """
    rounded = float(f"{number:.{digits}g}")
    if rounded >= 10 ** (digits - 1):
        return f"{rounded:,.0f}"
    return f"{number:#.{digits}g}".rstrip(".")
