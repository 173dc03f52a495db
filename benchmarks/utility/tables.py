"""The comparison of utility as it is shown: tables, sentences, CSV files and plots."""

from collections.abc import Iterator
from math import ceil, floor
from pathlib import Path

from benchmarks.pages import fill, machine, table, write_csv
from benchmarks.utility.libraries import MEASURES, WAYS
from benchmarks.utility.plots import draw_errors, draw_lists
from benchmarks.utility.results import Case, Chance, Error, Figures, Small, peer_error

SHOWN = 0.01, 0.99  # a row of lists is shown if some chance in it lies between
COMMAND = "python -m benchmarks.utility"


def write(found: Figures, docs: Path) -> None:
    """Write the files of docs/utility and the marked places of docs/utility.md."""
    found = found.in_order()
    folder = docs / "utility"
    folder.mkdir(exist_ok=True)
    fill(docs / "utility.md", texts(found))
    draw_lists(found, folder / "lists.svg")
    draw_errors(found, folder / "errors.svg")
    for name, kind, figures in (
        ("lists.csv", Chance, found.chances),
        ("errors.csv", Error, found.errors),
    ):
        header = [*Case._fields, *kind._fields[1:]]
        write_csv(folder / name, header, [(*each[0], *each[1:]) for each in figures])
    write_csv(folder / "few.csv", Small._fields, found.small)


def texts(found: Figures) -> dict[str, str]:
    """What belongs into each marked place."""
    ks = found.ks()
    return {
        "few items": few_table(found),
        **{f"lists of {k}": list_table(found, k) for k in ks},
        "lists in words": list_words(found),
        **{f"errors of {k}": error_table(found, k) for k in ks},
        "errors in words": error_words(found),
        "machine": f"`{COMMAND}` on {machine('topgap', 'opendp', 'diffprivlib', 'numpy')}.",
    }


def few_table(found: Figures) -> str:
    header = ["who", "selects by", "right, exact law", "right, measured", "lists"]
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
    return table(header, rows, text_columns=2)


def list_table(found: Figures, k: int) -> str:
    """A row for each data set and ε at which some list is neither always right nor always wrong."""
    header = ["data", "ε", "topgap", "peeled permute and flip, *simulated*", "OpenDP"]
    header += ["diffprivlib, permute and flip", "peeled exponential, *simulated*"]
    header += ["diffprivlib, exponential"]
    columns = ["topgap", "permute and flip", "OpenDP", "diffprivlib, permute and flip"]
    columns += ["exponential", "diffprivlib, exponential"]
    rows = []
    for case in found.cases(k):
        chances = found.chances_of(case)
        cells = [chances.get(who) for who in columns]
        if any(each and SHOWN[0] < each.right < SHOWN[1] for each in cells):
            rows.append([case.data, case.epsilon, *map(chance_cell, cells)])
    return table(header, rows, text_columns=2)


def chance_cell(chance: Chance | None) -> str:
    """As 61.5% (60.4–62.5) of 10,000; the ends are rounded outwards."""
    if chance is None:
        return "–"
    low, high = floor(1000 * chance.low) / 10, ceil(1000 * chance.high) / 10
    return f"{chance.right:.1%} ({low}–{high}) of {chance.runs:,}"


def error_table(found: Figures, k: int) -> str:
    """A row for each data set and ε; for k = 1, for those that peers were run at."""
    header = ["data", "ε", "topgap's list right", "topgap, measured alone", "topgap, with gaps"]
    header += ["peers, formula", *MEASURES, "gaps take off", "less than peers"]
    rows = []
    for case in found.cases(k):
        errors = found.errors_of(case)
        if k == 1 and not any(peer in errors for peer in MEASURES):
            continue  # there are no gaps to combine, and nothing to compare
        alone, combined = errors["topgap, measured alone"], errors["topgap, with gaps"]
        rows.append(
            [
                case.data,
                case.epsilon,
                f"{found.chances_of(case)['topgap, counts too'].right:.1%}",
                error_cell(alone),
                error_cell(combined),
                significant(peer_error(case)),
                *(error_cell(errors.get(peer), releases=True) for peer in MEASURES),
                percent(1 - combined.error / alone.error),
                percent(1 - combined.error / peer_error(case)),
            ]
        )
    return table(header, rows, text_columns=2)


def error_cell(error: Error | None, *, releases: bool = False) -> str:
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


def list_words(found: Figures) -> str:
    """How often topgap's lists differ from the laws, and whether peers keep to those."""
    lines = []
    for way in dict.fromkeys(WAYS.values()):
        for k in found.ks():
            pairs = [(found.chances_of(case), case) for case in found.cases(k)]
            more = sum(each["topgap"].low > each[way].high for each, _ in pairs)
            less = sum(each["topgap"].high < each[way].low for each, _ in pairs)
            most, case = max((each["topgap"].right - each[way].right, case) for each, case in pairs)
            lines.append(
                f"- k = {k}, against peeled {way}, simulated: of {len(pairs)} settings topgap is "
                f"right more often in {more} and less often in {less}, the intervals lying apart; "
                f"the largest difference is {100 * most:.1f} points "
                f"({case.data}, ε = {case.epsilon})."
            )
    lines += [f"- {each}" for each in _kept_to_their_laws(found)]
    return "\n".join(lines)


def _kept_to_their_laws(found: Figures) -> Iterator[str]:
    for peer, way in WAYS.items():
        held = [
            each.low <= found.chances_of(each.case)[way].right <= each.high
            for each in found.chances
            if each.who == peer
        ]
        yield (
            f"{peer}, measured: the simulated law lies within {sum(held)} of its {len(held)} "
            "intervals."
        )


def error_words(found: Figures) -> str:
    """Where the gaps help, and where they do harm."""
    lines = []
    for k in found.ks():
        ratios = [
            (found.errors_of(case)["topgap, with gaps"].error / peer_error(case), case)
            for case in found.cases(k)
        ]
        least, best = min(ratios)
        worse = [
            f"{case.data} at ε = {case.epsilon}" for case in found.cases(k) if harm(found, case)
        ]
        where = f": {', '.join(worse)}" if worse else ""
        lines.append(
            f"- k = {k}: of {len(ratios)} settings, topgap's error is larger than the peers' "
            f"formula by more than three standard errors in {len(worse)}{where}. "
            f"At best it is {least:.3f} of it ({best.data}, ε = {best.epsilon})."
        )
    return "\n".join(lines)


def harm(found: Figures, case: Case) -> bool:
    """Whether topgap's estimates are clearly worse than what peers tell."""
    ours = found.errors_of(case)["topgap, with gaps"]
    return ours.error - 3 * ours.standard_error > peer_error(case)
