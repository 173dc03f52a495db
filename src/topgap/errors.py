"""The errors that topgap raises: typed, one sentence each, and never an answer in the text."""


class TopgapError(Exception):
    """Any error that topgap raises on purpose."""


class ParameterError(TopgapError, ValueError):
    """A parameter has a value that the mechanism cannot use."""


class ParameterTypeError(TopgapError, TypeError):
    """A parameter is of a type that does not stand for an exact number."""


class AnswersError(TopgapError, ValueError):
    """The answers have the wrong shape or number, or are not all finite."""


class AnswersTypeError(TopgapError, TypeError):
    """The answers, or one of them, are of a type that does not stand for a number."""
