"""How cost grows: an exponent by least squares on log axes, or the slope between the last cells."""

import math
from typing import NamedTuple

OFF = 1.25  # a cell lies on a line if it is at most this factor off
LEAST = 4  # cells on a line; with three, a single one would tell how sure the exponent is


class Growth(NamedTuple):
    """Cost grows as x^exponent, from the first to the last x of so many cells.

    Attributes:
        standard_error: None for a slope between two cells, which cannot tell it.
    """

    exponent: float
    standard_error: float | None
    first: int
    last: int
    cells: int


def fit(cells: dict[int, float]) -> Growth | None:
    """The growth over the largest x: the smallest are dropped until the others lie on a line.

    None if fewer than four would be left.
    """
    xs = sorted(cells)
    while len(xs) >= LEAST:
        logs = [(math.log(x), math.log(cells[x])) for x in xs]
        exponent, offset = _line(logs)
        residuals = [y - offset - exponent * x for x, y in logs]
        if max(map(abs, residuals)) <= math.log(OFF):
            mean = sum(x for x, _ in logs) / len(logs)
            spread = sum((x - mean) ** 2 for x, _ in logs)
            variance = sum(r * r for r in residuals) / (len(logs) - 2)
            return Growth(exponent, math.sqrt(variance / spread), xs[0], xs[-1], len(xs))
        xs = xs[1:]
    return None


def local(cells: dict[int, float]) -> Growth | None:
    """The slope between the largest x and the largest that is a tenth of it, or less.

    None if there is no such x.
    """
    last = max(cells, default=0)
    first = max((x for x in cells if 9 * x <= last), default=None)  # half decades are rounded
    if first is None:
        return None
    slope = math.log(cells[last] / cells[first]) / math.log(last / first)
    return Growth(slope, None, first, last, 2)


def _line(points: list[tuple[float, float]]) -> tuple[float, float]:
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum(
        (x - mean_x) ** 2 for x, _ in points
    )
    return slope, mean_y - slope * mean_x
