"""The exact law, of which each probability is computed once and then known.

The same few outcomes are asked for again and again: for each mutant, for each way to run the
kernel, and for each neighbour of the same answers.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from topgap import TopK, law
from topgap.law import Bounds


@cache
def exp_minus(rate: Fraction, bits: int) -> Bounds:
    """As `topgap.law.exp_minus`."""
    return law.exp_minus(rate, bits)


def gap_top_k(answers: Sequence[Any], parameters: TopK, outcome: Sequence[Any]) -> Bounds:
    """As `topgap.law.gap_top_k`."""
    return _gap_top_k(tuple(answers), parameters, tuple(outcome))


def top_k(answers: Sequence[Any], parameters: TopK, outcome: Sequence[int]) -> Bounds:
    """As `topgap.law.top_k`."""
    return _top_k(tuple(answers), parameters, tuple(outcome))


def laplace_top_k(
    answers: Sequence[Any], parameters: TopK, outcome: Sequence[Any], last_gap: int | None
) -> Bounds:
    """As `topgap.law.laplace_top_k`."""
    return _laplace_top_k(tuple(answers), parameters, tuple(outcome), last_gap)


@cache
def _gap_top_k(answers: tuple[Any, ...], parameters: TopK, outcome: tuple[Any, ...]) -> Bounds:
    return law.gap_top_k(answers, parameters, outcome)


@cache
def _top_k(answers: tuple[Any, ...], parameters: TopK, outcome: tuple[int, ...]) -> Bounds:
    return law.top_k(answers, parameters, outcome)


@cache
def _laplace_top_k(
    answers: tuple[Any, ...], parameters: TopK, outcome: tuple[Any, ...], last_gap: int | None
) -> Bounds:
    return law.laplace_top_k(answers, parameters, outcome, last_gap=last_gap)
