"""Selectors to test, and answers so far apart that noise does not matter."""

from typing import Any

from topgap import Selector, TopK

ONE, TWO = TopK(1, 1), TopK(2, 1)
FAR = 10**9  # noise of mean 2 reaches half of it with probability e^−250,000,000


def holding(parameters: TopK, *parts: Any) -> Selector:
    """A selector to which these parts have been added."""
    made = Selector(parameters)
    for part in parts:
        made.add(part)
    return made
