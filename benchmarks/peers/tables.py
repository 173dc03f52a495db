"""The measured figures as tables: Markdown for the page, rows for the CSV files."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from benchmarks.pages import Row, format_table
from benchmarks.peers.contenders import ALL, OPENDP, opendp_measurement
from benchmarks.peers.growth import fit, local
from benchmarks.peers.memory import LEAST, Memory
from benchmarks.peers.random_bits import Bits
from benchmarks.peers.times import Sizes, Timing

Cell = TypeVar("Cell", Timing, Bits, Memory)
NOTHING = "–"
TIMES_HEADER = (
    *("contender", "n", "k", "median_s", "fastest_s", "slowest_s", "rounds", "calls", "left_out"),
)


def duration(seconds: float) -> str:
    """Three significant digits, in the unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{significant(seconds / size)} {unit}"
    return f"{significant(seconds * 1e9)} ns"


def significant(number: float) -> str:
    """Three significant digits, without an exponent.

    >>> significant(1234.5), significant(1.2345), significant(0.00012345)
    ('1,230', '1.23', '0.000123')
    """
    rounded = float(f"{number:.3g}")
    if rounded >= 100:
        return f"{rounded:,.0f}"
    decimals = 2
    while rounded and rounded < 10 ** (2 - decimals):
        decimals += 1
    return f"{rounded:.{decimals if rounded < 10 else 1}f}"


def times(timings: list[Timing], sizes: Sizes) -> str:
    """A table for each k: contenders by n."""
    return _for_each_k(timings, sizes.ns, sizes.ks, _time)


def left_out(timings: Iterable[Timing]) -> str:
    """Which calls were not made, and why: of each contender and k the smallest n."""
    smallest: dict[tuple[str, int], Timing] = {}
    for each in sorted(timings, key=lambda timing: timing.n):
        if each.left_out:
            smallest.setdefault((each.contender, each.k), each)
    rows = [
        (name, f"{k:,}", f"{each.n:,}", each.left_out)
        for (name, k), each in sorted(smallest.items())
    ]
    return format_table(["", "k", "from n", "one call takes"], rows)


def bits(counted: list[Bits], sizes: Sizes) -> str:
    """Random bits per item, for k = 1 and the largest k that all n allow."""
    ks = (1, max(k for k in sizes.ks if k < min(sizes.ns)))
    return _for_each_k(counted, sizes.ns, ks, _per_item)


def memory(measured: list[Memory]) -> str:
    """Peak memory beyond the input, and the input's form."""
    ns = sorted({each.n for each in measured})
    rows = []
    for contender in ALL:
        cells = [each for each in measured if each.contender == contender.name]
        row = [contender.name, contender.takes, str(cells[0].k)]
        rows.append(row + [_written({each.n: each for each in cells}, n, _kib) for n in ns])
    return format_table(["", "input", "k", *map(_n, ns)], rows, text_columns=2)


def growth(timings: list[Timing], n: int, k: int) -> str:
    """The exponents over n at this k, and over k at this n."""
    rows = []
    for contender in ALL:
        own = [each for each in timings if each.contender == contender.name and each.rounds]
        over_n = {each.n: each.median for each in own if each.k == k}
        over_k = {each.k: each.median for each in own if each.n == n}
        rows.append([contender.name, *_exponent(over_n, "n"), *_exponent(over_k, "k")])
    header = ["", f"in n, at k = {k:,}", "cells", f"in k, at n = {n:,}", "cells"]
    return format_table(header, rows)


def spent(sizes: Sizes) -> list[Row]:
    """What OpenDP says that its calls cost, a row for each k."""
    return [
        (f"ε of {OPENDP.name} by its own map, k = {k:,}", repr(opendp_measurement(k).map(1)))  # type: ignore[no-untyped-call]
        for k in sizes.ks
    ]


def time_rows(timings: Iterable[Timing]) -> list[Row]:
    """For the CSV file: who was left out has no numbers."""
    return [
        (each.contender, each.n, each.k)
        + (
            (each.median, min(each.rounds), max(each.rounds), len(each.rounds), each.calls)
            if each.rounds
            else ("",) * 5
        )
        + (each.left_out,)
        for each in timings
    ]


def _for_each_k(
    cells: Sequence[Cell], ns: Sequence[int], ks: Sequence[int], write: Callable[[Cell], str]
) -> str:
    parts = []
    for k in ks:
        rows = []
        for contender in ALL:
            own = {e.n: e for e in cells if (e.contender, e.k) == (contender.name, k)}
            if own:
                rows.append([contender.name] + [_written(own, n, write) for n in ns])
        parts.append(f"k = {k:,}:\n\n{format_table(['', *map(_n, ns)], rows)}")
    return "\n\n".join(parts)


def _written(cells: dict[int, Cell], n: int, write: Callable[[Cell], str]) -> str:
    return write(cells[n]) if n in cells else NOTHING


def _n(n: int) -> str:
    return f"n = {n:,}"


def _time(timing: Timing) -> str:
    return NOTHING if timing.left_out else duration(timing.median)


def _per_item(counted: Bits) -> str:
    return NOTHING if counted.per_item is None else significant(counted.per_item)


def _kib(measured: Memory) -> str:
    if measured.kib is None:
        return NOTHING
    if measured.kib < LEAST:
        return f"< {LEAST} KiB"
    if measured.kib < 1024:
        return f"{measured.kib} KiB"
    return f"{significant(measured.kib / 1024)} MiB"


def _exponent(cells: dict[int, float], over: str) -> tuple[str, str]:
    found = fit(cells) or local(cells)
    if found is None:
        return NOTHING, NOTHING
    sure = "(local)" if found.standard_error is None else f"± {found.standard_error:.2f}"
    written = f"{found.exponent:.2f} {sure}".replace("-", "−")
    return written, f"{found.cells}, {over} = {found.first:,} to {found.last:,}"
