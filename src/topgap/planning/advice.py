"""What a plan says of contribution bounds, in sentences."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from topgap.numbers.format import format_short
from topgap.planning.formatting import LONGEST, format_error, format_items, format_overlap
from topgap.planning.rows import BoundRow, ReleasedErrors, Row

_CLOSE = Fraction(1, 100)
"""Lists are equally good if this part of k, or less, lies between how many of them are right."""


class _Choice(NamedTuple):
    """A bound with Laplace noise, and whether it is as good as none."""

    bound: BoundRow
    errors: ReleasedErrors
    is_as_good: bool

    @classmethod
    def of(cls, row: Row, bound: BoundRow, errors: ReleasedErrors, k: int) -> "_Choice":
        """Compare a bound with none: it names fewer right, or both names and counts are worse."""
        overlap = bound.lists.overlap.value
        names_fewer = overlap < row.names.overlap.value - k * _CLOSE
        is_worse = (
            overlap <= row.estimates.overlap.value
            and errors.median.value > row.estimate_errors.median.value
        )
        return cls(bound, errors, not names_fewer and not is_worse)


def advise(rows: Sequence[Row], k: int, *, is_truncated: bool) -> tuple[str, ...]:
    """Say which bound is worth having, in one sentence for neighbouring values of ε that agree.

    Where the figures have what a bound leaves out, that is the bound with Laplace noise that names
    most of the k largest; of those that are close, the one whose counts have the least error. Where
    they do not, the smallest bound would always be it. So it is the largest bound then that is as
    good as none.

    Args:
        rows: What to expect at each ε, from the smallest up.
        k: How many winners are named.
        is_truncated: Whether the figures have what a bound leaves out.

    >>> from topgap.planning import plan
    >>> counts = [10**6, 10**5, 10, 5]
    >>> print(*plan(counts, 2, 1, releases=20, items_per_person=[2, 3], monotonic=True).advice)
    No bound is less than k = 2, so all have the noise of a release without a bound.
    """
    planned = [row for row in rows if row.bounds]
    choices = [_choose(row, k, is_truncated=is_truncated) for row in planned]
    if None in choices:
        return (
            f"No bound is less than k = {k}, so all have the noise of a release without a bound.",
        )
    pairs = [(row, each) for row, each in zip(planned, choices, strict=True) if each is not None]
    groups = [[*group] for _, group in groupby(pairs, lambda pair: _key(pair[1]))]
    sentences = []
    for group in groups:
        ends = [group[0]] if len(group) == 1 else [group[0], group[-1]]
        where = " to ".join(format_short(row.epsilon, LONGEST) for row, _ in ends)
        text = _format_sentence(ends, k, is_truncated=is_truncated)
        sentences.append(
            f"{text[0].upper()}{text[1:]}." if len(groups) == 1 else f"ε = {where}: {text}."
        )
    return tuple(sentences)


def _key(choice: _Choice) -> tuple[int, bool]:
    return choice.bound.items_per_person, choice.is_as_good


def _choose(row: Row, k: int, *, is_truncated: bool) -> _Choice | None:
    """The choice at one ε; None if no bound has Laplace noise."""
    candidates = [
        _Choice.of(row, bound, bound.errors, k) for bound in row.bounds if bound.errors is not None
    ]
    if not candidates:
        return None
    if not is_truncated:
        good = [each for each in candidates if each.is_as_good]
        return good[-1] if good else candidates[0]
    most = max(each.bound.lists.overlap.value for each in candidates)
    close = [each for each in candidates if each.bound.lists.overlap.value >= most - k * _CLOSE]
    return min(close, key=lambda each: each.errors.median.value)


def _format_sentence(ends: Sequence[tuple[Row, _Choice]], k: int, *, is_truncated: bool) -> str:
    """The sentence for one ε, or for the first and the last of several."""

    def join(values: list[str]) -> str:
        return " to ".join(dict.fromkeys(values))

    def format_errors(errors: list[ReleasedErrors]) -> str:
        return join([format_error(each.median.value) for each in errors])

    choices = [choice for _, choice in ends]
    items = format_items(choices[0].bound.items_per_person)
    right = join([format_overlap(each.bound.lists.overlap.value, k) for each in choices])
    off = format_errors([each.errors for each in choices])
    names = join([format_overlap(row.names.overlap.value, k) for row, _ in ends])
    estimates = join([format_overlap(row.estimates.overlap.value, k) for row, _ in ends])
    estimates_off = format_errors([row.estimate_errors for row, _ in ends])
    bounded = (
        f"with at most {items} per person{'' if is_truncated else ', if that leaves out little'}, "
        f"Laplace noise names {right} of {k} right and counts have an error of {off}"
    )
    unbounded = (
        f"without a bound {names} are right, or {estimates} with counts that have an error of "
        f"{estimates_off}"
    )
    first, second = (bounded, unbounded) if choices[0].is_as_good else (unbounded, bounded)
    return f"{first}; {second}"
