"""Sparse vector with gap, for queries that come one at a time: `Monitor`."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from threading import RLock
from typing import TYPE_CHECKING, NoReturn

from topgap.errors import AnswersTypeError, MonitorError
from topgap.ledger.charging import LedgerLike, note_charge, open_ledger, warn_of_large_epsilon
from topgap.numbers.parse import Number
from topgap.sampling.sampler import Sampler
from topgap.sealing import seal_errors
from topgap.selection.answers import floor_answers, read
from topgap.selection.process import this_process
from topgap.selection.sparse_vector import SparseVector

if TYPE_CHECKING:
    from topgap.ledger import Charge


class Monitor:
    """Decides for answers that come one at a time which are above a threshold, and by how much.

    The threshold gets noise once, which is kept for the whole run; each answer gets fresh noise.
    Noise is geometric: never negative, and in whole steps of the resolution. `ask` gives the gap
    between the two if the noisy answer reaches the noisy threshold. It stops after a fixed number
    of gaps. The whole run costs ε, however many answers are below the threshold.

    The next query may depend on what was given for those before. All of them are about the same
    people: one person may move each of the answers, by at most `sensitivity`.

    Where all answers are there already, `topgap.top_k` with a threshold does better: it names the
    largest, and is charged only for what it names.

    A monitor belongs to the process that made it, whose threads may use it together. It cannot be
    copied, pickled or started again, because each use of the same noise reveals more of it.

    Args:
        threshold: The threshold, a public number; rounded down to a multiple of the resolution.
        answers: How many answers above the threshold are given before it stops, at most.
        epsilon: The privacy loss ε of the whole run.
        resolution: Gaps are multiples of it; one divided by an integer. Unless given 1, or 1/10 if
            the sensitivity is not whole.
        sensitivity: How far one person can move any one answer, a multiple of the resolution.
        monotonic: Whether one person's arrival moves all answers the same way, as it does for
            counts when data sets differ by adding or removing a person. Half the noise of answers
            suffices then.
        threshold_share: The part of ε that the noise of the threshold gets, between 0 and 1; unless
            given, the one for which a gap has the smallest variance.
        ledger: The budget ledger to charge, or its path; see `topgap.top_k`. All of ε is charged
            before the first random bit is drawn, and stays charged, however few gaps are given.
        dataset: The data set in it.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used.
        BudgetExceeded, LedgerError: The ledger has less left, or cannot be written; nothing was
            drawn.
        KernelError: The system gave no randomness; what was charged stays charged.

    >>> # Noise of mean 2 reaches 480 with a probability below e^−200.
    >>> monitor = Monitor(threshold=500, answers=1, epsilon=1, monotonic=True)
    >>> monitor.ask(20) is None
    True
    >>> 8_000 < monitor.ask(9_000) < 9_000
    True
    >>> monitor.ask(9_000)
    Traceback (most recent call last):
    topgap.errors.MonitorError: This monitor has given all the gaps that it was created for; \
create a new one, which costs its own epsilon.
    """

    __slots__ = ("_answered", "_busy", "_lock", "_noisy_threshold", "_parameters", "_process")

    def __init__(
        self,
        threshold: "Number",
        answers: int,
        epsilon: "Number",
        *,
        resolution: "Number | None" = None,
        sensitivity: "Number" = 1,
        monotonic: bool = False,
        threshold_share: "Number | None" = None,
        ledger: "LedgerLike | None" = None,
        dataset: str | None = None,
    ) -> None:
        if hasattr(self, "_parameters"):
            raise MonitorError("A monitor cannot be started again; create a new one.")
        parameters = SparseVector(
            threshold,
            answers,
            epsilon,
            resolution=resolution,
            sensitivity=sensitivity,
            monotonic=monotonic,
            threshold_share=threshold_share,
        )
        self._parameters = parameters
        self._lock = RLock()
        self._busy = False
        self._process = this_process()
        self._answered = 0
        charge = _charge(parameters, ledger, dataset)
        try:
            noise = Sampler().geometric(parameters.threshold_rate)
        except BaseException as error:
            if charge is not None:
                note_charge(error, charge)
            raise
        self._noisy_threshold = parameters.threshold_units + noise  # in steps

    @property
    def parameters(self) -> SparseVector:
        """What is released and how private it is."""
        return self._parameters

    @property
    def answered(self) -> int:
        """How many gaps it has given."""
        return self._answered

    @property
    def left(self) -> int:
        """How many gaps it can still give."""
        return self._parameters.answers - self._answered

    def ask(self, answer: object) -> Fraction | None:
        """Say by how much an answer is above the threshold, if it is.

        Args:
            answer: The answer to the query: an int, Fraction, Decimal, float or NumPy scalar, read
                as `topgap.top_k` reads its answers, and rounded down to the resolution.

        Returns:
            The gap from the noisy threshold up to the noisy answer, at least 0 and a multiple of
            the resolution; None if the noisy answer is below.

        Raises:
            AnswersError, AnswersTypeError: The answer cannot be used; nothing was drawn.
            MonitorError: It has given all its gaps, or belongs to another process.
            KernelError: The system gave no randomness; nothing was released.
        """
        parameters = self._parameters
        (steps,) = floor_answers([_read_number(answer)], parameters.resolution.denominator)
        with self._in_use():
            if self.left == 0:
                raise MonitorError(
                    "This monitor has given all the gaps that it was created for; create a new "
                    "one, which costs its own epsilon."
                )
            noise = Sampler().geometric(parameters.answer_rate)
            lead = steps + noise - self._noisy_threshold
            if lead < 0:
                return None
            self._answered += 1
            if self.left == 0:
                self._noisy_threshold = 0  # forget what is secret
            return lead * parameters.resolution

    def __repr__(self) -> str:
        answered = f"{self._answered} of {self._parameters.answers} gaps given"
        return f"<Monitor of {self._parameters}, {answered}>"

    def __copy__(self) -> NoReturn:
        raise MonitorError("A monitor cannot be copied, because its noise is used only once.")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce__(self) -> NoReturn:
        raise MonitorError("A monitor cannot be pickled, because it must stay in its process.")

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Have it for oneself.

        Raises:
            MonitorError: It came here by a fork, with the noise of another process, or is in use by
                what this thread was interrupted in.
        """
        if this_process() != self._process:
            raise MonitorError("This monitor belongs to another process; use it there.")
        with self._lock:
            if self._busy:
                raise MonitorError("This monitor is in use by the code that this call interrupted.")
            self._busy = True
            try:
                yield
            finally:
                self._busy = False


@seal_errors
def _read_number(answer: object) -> object:
    """Return the answer as `topgap.top_k` reads one.

    Raises:
        AnswersTypeError: It is not a number, but a list or nothing, for instance.
    """
    is_many = isinstance(answer, list | tuple | dict | set) or getattr(answer, "ndim", 0) != 0
    if answer is None or is_many:
        raise AnswersTypeError(
            f"An answer must be one number, such as 12, not {type(answer).__name__}."
        )
    return read([answer])[0][0]


def _charge(
    parameters: SparseVector, ledger: "LedgerLike | None", dataset: str | None
) -> "Charge | None":
    """Charge the whole run, if there is a ledger.

    Raises:
        BudgetExceeded, LedgerError, ParameterError, ParameterTypeError: It cannot be charged.
    """
    warn_of_large_epsilon(parameters.epsilon)
    account = open_ledger(ledger, dataset)
    if account is None:
        return None
    book, name = account
    return book.charge(
        name,
        parameters.epsilon,
        mechanism="topgap.Monitor",
        parameters=parameters.to_dict(),
        # Half the noise is right only where one person is added or removed.
        neighbours="add-remove" if parameters.monotonic else None,
    )
