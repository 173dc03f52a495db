"""What an observer may look at: functions from outcomes to labels, the same for all mechanisms.

Whatever is made of a private output is private, so each of these must keep the promise of ε; and
what breaks it shows in one of them at least, if the audit is to find it.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from topgap.auditing.outcomes import Gap, OffGrid, Outcome, impossible

Labels = Counter[Hashable]
WHOLE, ITEMS = "items and gaps", "items"
_FARTHEST = 128
_LISTED = 3


class Tally(NamedTuple):
    """How often each label came, for each feature.

    Attributes:
        releases: How many outcomes were looked at.
        counts: For each feature, how often it had each label.
        impossible: How often something came that no answers can give.
    """

    releases: int
    counts: tuple[Labels, ...]
    impossible: Counter[str]

    def __add__(self, other: "Tally") -> "Tally":  # type: ignore[override]
        return Tally(
            self.releases + other.releases,
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
            self.impossible + other.impossible,
        )


def names(k: int, *, gaps: bool) -> tuple[str, ...]:
    """The features of an outcome, by name.

    >>> names(1, gaps=True)
    ('items and gaps', 'items', 'items and size of gap 1', 'low bits of gap 1')
    """
    if not gaps:
        return (ITEMS,)
    sizes = [f"items and size of gap {i + 1}" for i in range(k)]
    return (WHOLE, ITEMS, *sizes, *(f"low bits of gap {i + 1}" for i in range(k)))


def tally(outcomes: Mapping[Outcome, int], items: int, cap: int) -> Tally:
    """Count the labels of these outcomes.

    Args:
        outcomes: How often each came.
        items: How many items there are.
        cap: Gaps of so many steps and more are one label of the whole outcome.
    """
    counts: list[Labels] = []
    wrong: Counter[str] = Counter()
    for outcome, times in outcomes.items():
        labels = _labels(outcome, cap)
        counts = counts or [Counter() for _ in labels]
        for count, label in zip(counts, labels, strict=True):
            count[label] += times
        why = impossible(outcome, items)
        if why is not None:
            wrong[why] += times
    return Tally(sum(outcomes.values()), tuple(counts), wrong)


def _labels(outcome: Outcome, cap: int) -> list[Hashable]:
    indices, gaps = outcome
    if gaps is None:
        return [indices]
    steps = [gap if type(gap) is int else _below(gap) for gap in gaps]
    whole = (indices, tuple([each if -1 <= each < cap else _capped(each, cap) for each in steps]))
    return [whole, indices, *[(indices, _size(each)) for each in steps], *map(_low_bits, gaps)]


def _below(gap: Gap) -> int:
    return gap.steps if isinstance(gap, OffGrid) else gap


def _capped(steps: int, cap: int) -> int:
    return cap if steps >= cap else -1


def _size(steps: int) -> int:
    """Where a size begins: sizes below 16 are told apart, larger ones by their first four bits."""
    if steps < 16:
        return max(steps, -1)
    beyond = steps.bit_length() - 4
    return steps >> beyond << beyond


def _size_end(size: int) -> int:
    return size + (1 << max(0, size.bit_length() - 4))


def _low_bits(gap: Gap) -> Hashable:
    """The lowest bit that is set, in steps, or in units where the gap is not a multiple of them."""
    if isinstance(gap, OffGrid):
        far = gap.lowest_bit
        return ("off", None if far is None else max(far, -_FARTHEST))
    if gap == 0:
        return ("zero",)
    return ("on", min((gap & -gap).bit_length() - 1, _FARTHEST))


def in_words(feature: str, event: Iterable[Hashable], cap: int) -> str:
    """An event, which is a set of labels, as a person would say it.

    >>> in_words("items and size of gap 1", [((2, 0), 1), ((2, 0), 2)], 9)
    'items 2, 0 with gap 1 of 1 to 2 steps'
    """
    labels = list(event)
    if feature == ITEMS:
        said = sorted(_items(each) for each in labels)
    elif feature == WHOLE:
        said = [_said_whole(each, cap) for each in sorted(labels)]  # type: ignore[type-var]
    elif feature.startswith("low bits"):
        said = sorted(_said_bits(each) for each in labels)
        said[0] = f"{feature.removeprefix('low bits of ')} being {said[0]}"
    else:
        said = _said_sizes(feature.rpartition("of ")[2], labels)
    more = len(said) - _LISTED
    return " or ".join(said[:_LISTED]) + (f" or {more} more" if more > 0 else "")


def _items(indices: object) -> str:
    assert isinstance(indices, tuple)  # noqa: S101 - as `_labels` makes them
    return f"item{'s' * (len(indices) > 1)} {', '.join(map(str, indices))}"


def _said_whole(label: object, cap: int) -> str:
    assert isinstance(label, tuple)  # noqa: S101 - as `_labels` makes them
    indices, gaps = label
    steps = ", ".join(f"{gap} or more" if gap == cap else str(gap) for gap in gaps)
    return f"{_items(indices)} with gap{'s' * (len(gaps) > 1)} of {steps} {_unit(steps)}"


def _said_bits(label: object) -> str:
    match label:
        case ("zero",):
            return "0"
        case ("on", power):
            return f"an odd multiple of 2^{power} steps"
        case ("off", None):
            return "no binary fraction"
        case _:
            assert isinstance(label, tuple)  # noqa: S101 - as `_low_bits` makes them
            return f"an odd multiple of 2^{label[1]}"


def _said_sizes(gap: str, labels: list[Hashable]) -> list[str]:
    """Sizes that follow each other are said as one range."""
    by_items: dict[object, list[int]] = {}
    for label in labels:
        assert isinstance(label, tuple)  # noqa: S101 - as `_labels` makes them
        by_items.setdefault(label[0], []).append(label[1])
    said = []
    for indices, sizes in sorted(by_items.items(), key=str):
        ranges: list[tuple[int, int]] = []
        for size in sorted(sizes):
            if ranges and ranges[-1][1] == size:
                ranges[-1] = ranges[-1][0], _size_end(size)
            else:
                ranges.append((size, _size_end(size)))
        each = ", ".join(str(a) if b == a + 1 else f"{a} to {b - 1}" for a, b in ranges[:_LISTED])
        others = f" and {len(ranges) - _LISTED} ranges more" * (len(ranges) > _LISTED)
        said.append(f"{_items(indices)} with {gap} of {each}{others} {_unit(each)}")
    return said


def _unit(steps: str) -> str:
    return "step" if steps == "1" else "steps"
