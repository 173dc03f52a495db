"""What a check says of a release with Laplace noise, and of others as before."""

import pytest

import topgap
from topgap import TopK
from topgap.selection.check import Check

ANSWERS = {"ash": 100, "oak": 50, "elm": 0, "yew": 0}
FEW = {"monotonic": True, "items_per_person": 1, "check": True}
NOISE = "Every answer would get Laplace noise of scale 1, for at most 1 item per person."


@pytest.mark.parametrize(("k", "threshold", "released"), [
    (3, None, "the 3 largest of the items with their values and the gaps between them"),
    (3, 50, "the items whose values reach 50, at most 3 of them, with their values and the gaps "
            "between them"),
    (None, 50, "the items whose values reach 50 with their values and the gaps between them"),
])  # fmt: skip
def test_a_check_names_noise_bound_and_threshold(
    k: int | None, threshold: int | None, released: str
) -> None:
    check = topgap.top_k(ANSWERS, k, 1, threshold=threshold, **FEW)  # type: ignore[call-overload]
    assert check.lines() == [
        "Nothing was drawn or charged.",
        f"Would be released: {released}, at ε = 1, sensitivity 1, monotonic.",
        NOISE,
        "For the data holder only, never to be published: of 4 items, 2 have an answer "
        "other than 0.",
    ]


@pytest.mark.parametrize(("groups", "said"), [
    (["N"], "The only group would get such a list, which costs ε = 1."),
    (["N", "S"], "Each of 2 groups would get such a list; with each person in at most 1 of them, "
     "all together cost ε = 1."),
])  # fmt: skip
def test_one_group_is_not_called_each(groups: list[str], said: str) -> None:
    answers = {group: {"flu": 3, "cold": 1} for group in groups}
    assert said in topgap.top_k_by_group(answers, 1, 1, check=True).lines()


def test_one_winner_and_exponential_noise() -> None:
    one = TopK(1, "1/2", items_per_person=2, noise="laplace")
    assert Check(one, False, 3, 2).lines()[1:3] == [
        "Would be released: the largest of the items with its value and its gap to the next, at "
        "ε = 0.5, sensitivity 1.",
        "Every answer would get Laplace noise of scale 8, for at most 2 items per person.",
    ]
    assert Check(TopK(2, 1, items_per_person=5), True, 3, 2).lines()[1:3] == [
        "Would be released: the 2 largest of the items with the gaps between them and their "
        "measurements, at ε = 1, sensitivity 1.",
        "For the data holder only, never to be published: of 3 items, 2 have an answer "
        "other than 0.",
    ]


@pytest.mark.parametrize(("k", "gaps", "released", "follows"), [
    (4, True, ", at most 4 of them, with the gaps between them", " If fewer than 4 are named, "
     "their counts come with them, and the release costs less: 0.125 if there is none."),
    (4, False, ", at most 4 of them,", " If fewer than 4 are named, the release costs less: 0.125 "
     "if there is none."),
    (1, True, ", at most 1 of them, with its gap to the next", " If it names no item, the release "
     "costs 0.5."),
])  # fmt: skip
def test_a_sentinel_has_noise_and_an_early_end_costs_less(
    k: int, gaps: bool, released: str, follows: str
) -> None:
    check = topgap.top_k(ANSWERS, k, 1, threshold=50, gaps=gaps, check=True)
    said = released.rstrip(",")
    assert check.lines()[1:3] == [
        f"Would be released: the items above 50{said}, at ε = 1, sensitivity 1.",
        f"The threshold would get noise, too.{follows}",
    ]
