"""How cost grows: an exponent by least squares on log axes, where the cells lie on a line."""

import math
from typing import NamedTuple

OFF = 1.25  # a cell lies on a line if it is at most this factor off
LEAST = 3  # cells on a line; with two there would be no telling how sure the exponent is


class Growth(NamedTuple):
    """Cost grows as x^exponent, from the first to the last x of so many cells."""

    exponent: float
    standard_error: float
    first: int
    last: int
    cells: int


def fit(cells: dict[int, float]) -> Growth | None:
    """The growth over the largest x: the smallest are dropped until the others lie on a line.

    None if fewer than three would be left.
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


def _line(points: list[tuple[float, float]]) -> tuple[float, float]:
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum(
        (x - mean_x) ** 2 for x, _ in points
    )
    return slope, mean_y - slope * mean_x
