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


class ItemsError(TopgapError, ValueError):
    """The items' names do not fit the answers."""


class KernelError(TopgapError, RuntimeError):
    """The kernel stopped before its end: by a defect, or for want of randomness."""


class SelectorError(TopgapError, RuntimeError):
    """A selector cannot be used so, because its noise is drawn once and released once."""


class ReleaseError(TopgapError, ValueError):
    """A release cannot be read, or not be written in the form that was asked for."""


class EstimatesError(TopgapError, ValueError):
    """Measurements do not fit the release, or estimates cannot be read."""


class MissingExtraError(TopgapError, ImportError):
    """A library that topgap needs for this, and for nothing else, is not installed."""


class SourceError(TopgapError, ValueError):
    """The data to be counted cannot be read, or are not there."""


class DomainError(TopgapError, ValueError):
    """The public list of items cannot be used."""


class OutputError(TopgapError, OSError):
    """What was asked for cannot be written."""


class SparkError(TopgapError, RuntimeError):
    """A Spark job failed; what Spark says of it may show data and is left to its own log."""
