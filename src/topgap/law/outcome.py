"""Outcomes whose probability is asked for: read, checked, and matched with the answers."""

from collections.abc import Sequence
from fractions import Fraction

from topgap.errors import AnswersError, ParameterError, ParameterTypeError
from topgap.numbers.parse import is_whole
from topgap.parameters import NoiseKind, TopK
from topgap.selection.answers import in_steps

MOST_STEPS = 1_000
"""How many steps answers may lie apart, and from a threshold, and how many a gap may have."""


def require_noise(parameters: TopK, noise: NoiseKind) -> None:
    """Refuse parameters that ask for other noise.

    Raises:
        ParameterTypeError: `parameters` is not a `TopK`.
        ParameterError: The noise of the parameters is another one.
    """
    if not isinstance(parameters, TopK):
        raise ParameterTypeError(f"parameters must be a TopK, not {type(parameters).__name__}.")
    if parameters.noise != noise:
        raise ParameterError(
            f"This is the law of {noise} noise; that of {parameters.noise} noise is "
            + ("laplace_top_k." if parameters.noise == "laplace" else "gap_top_k.")
        )


def read_pairs(
    outcome: Sequence[tuple[int, Fraction | int]], what: str
) -> tuple[list[int], list[Fraction]]:
    """Read a list of pairs of an index and a number, which is `what`: a gap or a value.

    Raises:
        ParameterTypeError: They are no such pairs.
    """
    require_list(outcome)
    try:
        indices, numbers = [index for index, _ in outcome], [number for _, number in outcome]
    except (TypeError, ValueError):
        raise ParameterTypeError(f"The outcome must be a list of pairs (index, {what}).") from None
    return indices, [read_number(number, f"Each {what} of the outcome") for number in numbers]


def read_number(number: Fraction | int, what: str) -> Fraction:
    """Read an exact number.

    Raises:
        ParameterTypeError: It is neither a Fraction nor an int.
    """
    if not (is_whole(number) or isinstance(number, Fraction)):
        raise ParameterTypeError(f"{what} must be a Fraction or an int.")
    return Fraction(number)


def require_list(outcome: object) -> None:
    """Refuse an outcome that is not a list or tuple.

    Raises:
        ParameterTypeError: It is neither.
    """
    if not isinstance(outcome, list | tuple):
        raise ParameterTypeError("The outcome must be a list or a tuple, from the largest down.")


def split_answers(
    answers: object, parameters: TopK, indices: Sequence[int]
) -> tuple[list[int], list[int]]:
    """The winners' answers in the order of the outcome, and those of all others, in steps.

    Raises:
        AnswersError, AnswersTypeError: The answers cannot be used, or spread too far.
        ParameterError, ParameterTypeError: `indices` does not name k different answers, or with a
            threshold at most k.
    """
    steps = in_steps(answers, parameters)
    threshold = parameters.threshold_units
    levels = steps if threshold is None else [*steps, threshold]
    if max(levels) - min(levels) > MOST_STEPS:
        raise AnswersError(
            f"The exact law is computed for answers at most {MOST_STEPS} steps of the resolution "
            f"apart{' and from the threshold' * (threshold is not None)}; use answers that lie "
            "closer together or a coarser resolution."
        )
    if not all(is_whole(index) for index in indices):
        raise ParameterTypeError("The outcome must name items by their index, an int.")
    fits = parameters.fewest_winners <= len(indices) <= parameters.k
    if not fits or len(set(indices)) != len(indices):
        most = "at most " * (parameters.threshold is not None)
        raise ParameterError(f"The outcome must name {most}k = {parameters.k} different items.")
    if not set(indices) <= set(range(len(steps))):
        raise ParameterError("The outcome names an item that has no answer.")
    losers = [steps[i] for i in range(len(steps)) if i not in indices]
    return [steps[i] for i in indices], losers
