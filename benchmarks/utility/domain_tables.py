"""The comparison of a domain with OpenDP's thresholds as it is shown: tables and a CSV file."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.pages import describe_machine, fill_places, format_table, write_csv
from benchmarks.utility.results import MEASURED
from benchmarks.utility.thresholds import DELTA, GAUSSIAN, LAPLACE

MEMBERS = 10**12
SHOWN = 0.99  # a row is shown if some share is less
TOPGAP = "topgap"
OPENDP = {"OpenDP, Laplace": LAPLACE, "OpenDP, Gaussian": GAUSSIAN}
"""Who uses a threshold, and with which noise."""


class Share(NamedTuple):
    """Which share of the true k largest was found.

    Attributes:
        data: The data set.
        epsilon: What a list costs, as it is written.
        k: How many are named.
        who: `TOPGAP`, or one of `OPENDP`.
        kind: `MEASURED` or `SIMULATED`.
        bound: L, or 0 if there is none.
        threshold: The least noisy count that comes out, or 0 if there is none.
        lists: How many there were.
        share: The mean share of the k largest that were named.
        standard_error: Its standard error.
    """

    data: str
    epsilon: str
    k: int
    who: str
    kind: str
    bound: int
    threshold: int
    lists: int
    share: float
    standard_error: float


def write(found: Sequence[Share], docs: Path) -> None:
    """Fill the marked places of docs/utility.md, and write docs/utility/domains.csv."""
    fill_places(docs / "utility.md", places(found))
    write_csv(docs / "utility" / "domains.csv", Share._fields, found)


def places(found: Sequence[Share]) -> dict[str, str]:
    """The tables of the page, by the name of their place."""
    measured = [each for each in found if each.kind == MEASURED]
    ks = sorted({each.k for each in measured})
    return {
        "domains run": run_table(),
        **{f"domains, {k}": share_table(measured, k) for k in ks},
        "domains compared": comparison_table(measured),
    }


def run_table() -> str:
    """What was run, on what machine."""
    rows = [
        ["command", "`python -m benchmarks.utility.domains`"],
        ["machine", describe_machine("topgap", "opendp", "numpy")],
        ["members of the domain", f"{MEMBERS:,}"],
        ["δ of OpenDP", f"{DELTA:g}"],
    ]
    return format_table(["setting", "value"], rows, text_columns=2)


def share_table(measured: Sequence[Share], k: int) -> str:
    """A row for each data set and ε at which some list misses more than a few items."""
    cells: dict[tuple[str, str], dict[str, Share]] = {}
    for each in (each for each in measured if each.k == k):
        cells.setdefault((each.data, each.epsilon), {})[each.who] = each
    columns = [TOPGAP, *OPENDP]
    rows = [
        [*setting, *(share_cell(found[who]) for who in columns)]
        for setting, found in cells.items()
        if any(each.share < SHOWN for each in found.values())
    ]
    return format_table(["data", "ε", *columns], rows, text_columns=2)


def share_cell(share: Share) -> str:
    """As 98.1% ± 0.2 of 100, with L if there is one."""
    shown = f"{share.share:.1%} ± {100 * share.standard_error:.1f} of {share.lists:,}"
    return f"{shown}, L = {share.bound:,}" if share.bound else shown


def comparison_table(measured: Sequence[Share]) -> str:
    """Who finds more, by more than three standard errors of the difference."""
    ours = {each[:3]: each for each in measured if each.who == TOPGAP}
    rows: dict[tuple[object, ...], list[int]] = {}
    for their in (each for each in measured if each.who in OPENDP):
        own = ours[their[:3]]
        more = own.share - their.share
        error = (own.standard_error**2 + their.standard_error**2) ** 0.5
        place = 1 if abs(more) <= 3 * error else 0 if more > 0 else 2
        rows.setdefault((their.who, their.data, their.k), [0, 0, 0])[place] += 1
    header = ["topgap against", "data", "k", "finds more", "neither", "finds less"]
    return format_table(header, [[*key, *row] for key, row in sorted(rows.items())], text_columns=2)
