"""The errors that topgap raises: typed, one sentence each, and never an answer in the text."""

from fractions import Fraction


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
    """The kernel stopped early, because of a defect or a lack of randomness."""


class SelectorError(TopgapError, RuntimeError):
    """A selector cannot be used in this way, because its noise is drawn once and released once."""


class MonitorError(TopgapError, RuntimeError):
    """A monitor cannot be used in this way; its noise is drawn once and its gaps are counted."""


class ReleaseError(TopgapError, ValueError):
    """A release cannot be read, or not be written in the form that was asked for."""


class EstimatesError(TopgapError, ValueError):
    """Measurements do not fit the release, or estimates cannot be read."""


class MissingExtraError(TopgapError, ImportError):
    """An optional library that is needed for this is not installed."""


class SourceError(TopgapError, ValueError):
    """The data to be counted cannot be read, or are missing."""


class DatasetError(TopgapError, RuntimeError):
    """A public data set is missing, cannot be fetched or read, or is not what its name says."""


class DomainError(TopgapError, ValueError):
    """The public list of items cannot be used."""


class OutputError(TopgapError, OSError):
    """What was asked for cannot be written."""


class SparkError(TopgapError, RuntimeError):
    """A Spark job failed; what Spark says of it may show data and is left to its own log."""


class LedgerError(TopgapError, RuntimeError):
    """A ledger cannot be read or written, or was modified outside topgap."""


class ChargeMissingError(LedgerError):
    """A result was to be recorded for a charge that the ledger does not have."""


class AuditError(TopgapError, RuntimeError):
    """The audited function raised an error, or its process ended."""


class BudgetExceeded(LedgerError):  # noqa: N818 - it is no error that there is an end
    """A charge is refused, because the sum of all would be more than the total.

    Attributes:
        dataset: The data set that would have been charged.
        epsilon: What it would have cost.
        left: What is left of the total.
        total: The total.
        stated: The ε that was asked for; less than what it would have cost, if it was true for one
            person added or removed, and the total is for one who is replaced.
    """

    def __init__(
        self,
        sentence: str,
        dataset: str,
        epsilon: Fraction,
        left: Fraction,
        total: Fraction,
        stated: Fraction,
    ) -> None:
        super().__init__(sentence, dataset, epsilon, left, total, stated)
        self.dataset, self.epsilon, self.left, self.total = dataset, epsilon, left, total
        self.stated = stated

    def __str__(self) -> str:
        return str(self.args[0])


class LedgerWarning(UserWarning):
    """A release was charged and made, but its result could not be recorded in the ledger.

    It says so if the ledger has lost the charge since.

    Attributes:
        result: The release, which has been charged; for those who turn warnings into errors.
    """

    result: object = None


class LargeEpsilonWarning(UserWarning):
    """A release has so large an ε that it is hardly private."""


class DomainWarning(UserWarning):
    """The items seem to be taken from the data, where a public list is needed."""
