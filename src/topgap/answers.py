"""From the answers as a user holds them to whole steps of the resolution, rounded down exactly."""

from collections.abc import Sequence

import numpy as np

from topgap.errors import AnswersError, AnswersTypeError, ParameterTypeError
from topgap.exact import floor_answer
from topgap.parameters import TopK


def in_steps(answers: object, parameters: TopK) -> list[int]:
    """Round every answer down to a multiple of the resolution and count it in such steps.

    Args:
        answers: One number per item: a list, tuple or other sequence, a one-dimensional NumPy
            array, or what converts itself to one. A float is the dyadic number that it stores.
            Items go by their position, counted from 0, whatever labels a data frame gives them.
        parameters: Their resolution gives the step; their k, the least number of answers.

    Returns:
        ⌊q_i / γ*⌋ for each answer q_i, as Python integers of any size.

    Raises:
        AnswersTypeError: `answers` is no sequence of real numbers.
        AnswersError: There are fewer than k + 1 answers, they are not one-dimensional, or one is
            masked, NaN or infinite. No error text contains an answer or tells which one it was.
        ParameterTypeError: `parameters` is no `TopK`.

    >>> in_steps([], TopK(k=1, epsilon=1))
    Traceback (most recent call last):
    topgap.errors.AnswersError: The answers are empty; give one number per item.
    >>> in_steps([3, 0.3, -0.05], TopK(k=1, epsilon=1))
    [30, 2, -1]
    """
    if not isinstance(parameters, TopK):
        raise ParameterTypeError(
            f"parameters must be a TopK, as in TopK(k=10, epsilon=1), "
            f"not {type(parameters).__name__}."
        )
    values = _listed(answers)
    if not values:
        raise AnswersError("The answers are empty; give one number per item.")
    if len(values) < parameters.k + 1:
        raise AnswersError(
            f"k = {parameters.k} winners need at least {parameters.k + 1} answers; "
            f"there are {len(values)}: give more answers or take a smaller k."
        )
    steps_per_unit = parameters.resolution.denominator
    return [floor_answer(value, steps_per_unit) for value in values]


def _listed(answers: object) -> list[object]:
    if np.ma.is_masked(answers):
        raise _masked()
    if hasattr(answers, "__array__"):
        try:
            array = np.asarray(answers)
        except Exception:  # whose text is not ours and may show anything
            raise AnswersTypeError("The answers do not convert themselves to an array.") from None
        return _listed_array(array)
    if isinstance(answers, Sequence) and not isinstance(
        answers, str | bytes | bytearray | memoryview
    ):
        if any(value is np.ma.masked for value in answers):
            raise _masked()
        if any(isinstance(value, list | tuple | np.ndarray) for value in answers):
            raise AnswersError("The answers must be one-dimensional: one number per item.")
        return list(answers)
    raise AnswersTypeError(
        f"The answers must be a list, a tuple or a one-dimensional array of numbers, "
        f"not {type(answers).__name__}; make a list of them."
    )


def _masked() -> AnswersError:
    return AnswersError("The answers have masked entries; fill them in, such as with 0 for nobody.")


def _listed_array(array: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]") -> list[object]:
    if array.ndim != 1:
        raise AnswersError(
            f"The answers must be one-dimensional: one number per item, not {array.ndim} axes."
        )
    if array.dtype.kind not in "iufO":
        kind = array.dtype.type.__name__  # not the dtype, which tells how long the longest text is
        raise AnswersTypeError(f"The answers must be numbers, not of NumPy's type {kind}.")
    # Exact: Python's int and float hold every NumPy one, and longdouble stays as it is.
    return list(array.tolist())
