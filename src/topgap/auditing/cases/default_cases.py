"""The default cases: a grid of neighbours and parameters, small enough for the exact law."""

from itertools import cycle, product

from topgap.auditing.cases.neighbours import Neighbours
from topgap.parameters import TopK

_SHAPES = ((1, 2), (2, 3), (1, 5), (3, 4), (2, 4), (1, 3), (3, 5))
"""k and n."""
_FEW_ITEMS = ((2, 3, 1), (3, 5, 2), (2, 4, 1), (3, 4, 1), (4, 5, 3))
"""k, n and L, which is less than k, so that the noise is Laplace."""
_THRESHOLD_SHAPES = ((1, 2, 0), (2, 3, 1), (3, 3, 2), (1, 1, 0), (2, 4, 2), (2, 2, 0), (3, 4, 1))
"""k, n and the number of winners for which the case is to be tight."""
_EPSILONS = ("1/10", "1", "3")
_RESOLUTIONS = ("1", "1/2", "1/10")
_SENSITIVITIES = (1, 1, 2, 1, 2)


def _make_case(k: int, n: int, parameters: TopK, *, tight: bool) -> Neighbours:
    """Make neighbours with n answers.

    In a tight case all answers are equal. A person moves the first k up, and the others down unless
    the answers are monotonic. That those k win by enough is then e^ε times as likely. In other
    cases the answers differ, and a person moves every second one.
    """
    most = int(parameters.sensitivity)
    others = 0 if parameters.monotonic else -most
    if tight:
        return Neighbours((0,) * n, (most,) * k + (others,) * (n - k), parameters)
    answers = tuple((n - i) // 2 for i in range(n))
    moved = [answer + (others if i % 2 else most) for i, answer in enumerate(answers)]
    return Neighbours(answers, tuple(moved), parameters)


def _make_cases() -> tuple[Neighbours, ...]:
    """Every shape with every ε, monotonic and not; the rest alternates with periods 3, 5 and 4."""
    turns = zip(cycle(_RESOLUTIONS), cycle(_SENSITIVITIES), cycle((True, True, False, True)))
    made = []
    for ((k, n), epsilon, monotonic), (resolution, sensitivity, tight) in zip(
        product(_SHAPES, _EPSILONS, (True, False)), turns, strict=False
    ):
        parameters = TopK(
            k, epsilon, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic
        )
        made.append(_make_case(k, n, parameters, tight=tight))
    return tuple(made)


def _make_case_of_few_items(n: int, parameters: TopK, *, tight: bool) -> Neighbours:
    """Make neighbours with n answers that differ in as many as a person can move.

    In a tight case all answers are equal. L of them go up, and unless the answers are monotonic,
    L others go down if there are so many: a person is replaced. That those that go up win by enough
    is then e^ε times as likely. In other cases the answers differ.
    """
    most, bound = int(parameters.sensitivity), parameters.items_per_person
    assert bound is not None  # noqa: S101 - as they are made below
    down = 0 if parameters.monotonic else min(bound, n - bound)
    moves = (most,) * bound + (-most,) * down + (0,) * (n - bound - down)
    if tight:
        return Neighbours((0,) * n, moves, parameters)
    answers = tuple((n - i) // 2 for i in range(n))
    return Neighbours(answers, tuple(map(sum, zip(answers, moves, strict=True))), parameters)


def _make_cases_of_few_items() -> tuple[Neighbours, ...]:
    """Every shape with every ε, monotonic and not; the rest alternates as above."""
    turns = zip(cycle(("1", "1", "1/2")), cycle(_SENSITIVITIES), cycle((True, True, False, True)))
    made = []
    for ((k, n, bound), epsilon, monotonic), (resolution, sensitivity, tight) in zip(
        product(_FEW_ITEMS, _EPSILONS, (True, False)), turns, strict=False
    ):
        parameters = TopK(
            k, epsilon, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic,
            items_per_person=bound,
        )  # fmt: skip
        made.append(_make_case_of_few_items(n, parameters, tight=tight))
    return tuple(made)


def _make_case_with_threshold(winners: int, n: int, parameters: TopK, *, tight: bool) -> Neighbours:
    """Make neighbours with n answers around the threshold.

    In a tight case all answers are about as large as the threshold. A person moves all but the
    first few up, and these down unless the answers are monotonic. That exactly these win, by
    enough, is then likelier by what such an output costs. In other cases the answers differ.
    """
    most = int(parameters.sensitivity)
    down = 0 if parameters.monotonic else -most
    threshold = parameters.threshold
    assert threshold is not None  # noqa: S101 - as they are made below
    at = int(threshold)
    answers = (at,) * n if tight else tuple(at + (n - 2 * i) // 2 for i in range(n))
    moved = [answer + (down if i < winners else most) for i, answer in enumerate(answers)]
    return Neighbours(answers, tuple(moved), parameters)


def _make_cases_with_threshold() -> tuple[Neighbours, ...]:
    """Every shape with every ε, monotonic and not; the rest alternates as above."""
    turns = zip(
        cycle(_RESOLUTIONS),
        cycle(_SENSITIVITIES),
        cycle((True, True, False, True)),
        cycle(("500", "0", "-5/2")),
    )
    made = []
    for ((k, n, winners), epsilon, monotonic), (resolution, sensitivity, tight, threshold) in zip(
        product(_THRESHOLD_SHAPES, _EPSILONS, (True, False)), turns, strict=False
    ):
        parameters = TopK(
            k, epsilon, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic,
            threshold=threshold,
        )  # fmt: skip
        made.append(_make_case_with_threshold(winners, n, parameters, tight=tight))
    return tuple(made)


FULL_CASES = (
    *_make_cases(),
    _make_case(2, 12, TopK(2, 1, resolution=1, monotonic=True), tight=True),
    _make_case(5, 9, TopK(5, 2, resolution="1/2"), tight=True),
)
"""The cases of a full audit; the last two are too large for the exact law."""

QUICK_CASES = FULL_CASES[1:-2:7]
"""The cases of a quick audit: every ε, monotonic and not."""

FEW_ITEMS_CASES = (
    *_make_cases_of_few_items(),
    _make_case_of_few_items(12, TopK(3, 1, monotonic=True, items_per_person=2), tight=True),
)
"""The cases of a full audit with a bound on the items of one person, and so with Laplace noise."""

QUICK_FEW_ITEMS_CASES = FEW_ITEMS_CASES[:-1:5]
"""Those of a quick audit: every ε, monotonic and not."""

THRESHOLD_CASES = (
    *_make_cases_with_threshold(),
    _make_case_with_threshold(2, 9, TopK(5, 2, resolution="1/2", threshold=20), tight=False),
)
"""The cases of a full audit with a threshold; the last one is too large for the exact law."""

QUICK_THRESHOLD_CASES = THRESHOLD_CASES[:-1:7]
"""Those of a quick audit: every ε, monotonic and not."""
