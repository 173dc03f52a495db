"""Answers as the paper's algorithms take them: whole steps, for exponential noise alone."""

from topgap.errors import ParameterError
from topgap.parameters import TopK
from topgap.selection.answers import in_steps


def read_steps(answers: object, parameters: TopK) -> list[int]:
    """Round every answer down to a multiple of the resolution and count it in such steps.

    Raises:
        AnswersError, AnswersTypeError, ParameterTypeError: As of `in_steps`.
        ParameterError: The parameters have Laplace noise or a threshold, which the paper has not.

    >>> read_steps([3, 0.3, -0.05], TopK(k=1, epsilon=1))
    [30, 2, -1]
    """
    steps = in_steps(answers, parameters)
    if parameters.noise != "exponential" or parameters.threshold is not None:
        raise ParameterError(
            "The paper's algorithms have exponential noise and no threshold; use topgap.select "
            "for these parameters."
        )
    return steps
