"""Noisy Top-k with Gap on answers that come in parts: `Selector`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from threading import RLock
from typing import TYPE_CHECKING, Any, NoReturn

from topgap.domains import Counts, Domain
from topgap.errors import (
    DomainError,
    ItemsError,
    KernelError,
    ParameterError,
    ParameterTypeError,
    SelectorError,
)
from topgap.estimates.noise import Noise
from topgap.estimates.result import Estimates
from topgap.ledger.charging import LedgerLike, PendingCharge, open_ledger, prepare_charge
from topgap.numbers.parse import Number, read_flag, read_threads
from topgap.parameters import TopK
from topgap.release import Release
from topgap.selection import candidate_arrow
from topgap.selection.candidate_pool import CandidatePool, Part, Ranking
from topgap.selection.item_names import TWICE
from topgap.selection.measurement import Shares
from topgap.selection.participants import check_bound, read_part
from topgap.selection.top_k_with_estimates import prepare_charge_for_estimates
from topgap.selection.unlisted import to_domain

if TYPE_CHECKING:
    import pyarrow as pa

_RELEASED, _MERGED = "released", "merged into another"
_INTERRUPTED = "interrupted while it was changed"


class Selector:
    """Takes answers part by part and keeps only what can still win.

    Every item gets its noise when its answer is added. The parts may come in any order, in one
    selector or in several that are merged: the release has the law of `topgap.top_k` on all
    answers at once.

    An item must be given once. Names are compared within each part, with the names of earlier parts
    as long as these are at most 262,144 with at most 16,777,216 characters (`MOST_REMEMBERED`,
    `MOST_TEXT`), and with the items that can still win; beyond that you must make sure of it.

    With a domain, all its members can be named, each with 0 unless an answer is added. Those
    without an answer are drawn once, at the release, and the names of all others are remembered for
    that.

    What it holds is as secret as the answers, and its copies hold the same noise: release only one.
    It belongs to the process that made it, whose threads may use it together; send it to another
    process by pickle or as Arrow. An interruption loses nothing, unless it comes in the short
    moment in which what was drawn is put in: then the selector cannot be used any more.

    Args:
        parameters: What is released and how private it is.
        domain: The domain, a `topgap.Domain` or a list; without one, the items that are added are
            the public list.
        selection_share: The part of ε that selects, if the winners are to be measured with the rest
            of it, as by `topgap.top_k_with_estimates`; between 0 and 1. The plain answers of what
            can still win are kept then, and `release_with_estimates` takes the place of `release`.

    Raises:
        ParameterTypeError: `parameters` is not a `TopK`.
        ParameterError: The share cannot be used, or the winners cannot be measured with these
            parameters: with a threshold or Laplace noise a release already has counts.
        DomainError: The domain cannot be used, or has no more than k members.

    >>> selector = Selector(TopK(k=2, epsilon=1))
    >>> selector.add({"ash": 10**9, "elm": 0})
    >>> selector.add([5, 10**6], items=["fir", "oak"])
    >>> selector.release().items
    ('ash', 'oak')
    >>> selector = Selector(TopK(k=1, epsilon=1), selection_share="1/2")
    >>> selector.add({"ash": 10**9, "elm": 0})
    >>> [(tree, round(count, -3)) for tree, count in selector.release_with_estimates()]
    [('ash', 1000000000.0)]
    >>> selector = Selector(TopK(k=1, epsilon=1), domain=["elm", "fir", "oak"])
    >>> selector.add({"ash": 10**9, "oak": 10**6})
    >>> selector.release().items
    ('oak',)
    """

    __slots__ = (
        "_bound",
        "_busy",
        "_charged",
        "_domain_from_data",
        "_estimates",
        "_lock",
        "_parameters",
        "_pool",
        "_ranking",
        "_releases",
        "_shares",
        "_used_up",
    )

    def __init__(
        self,
        parameters: TopK,
        *,
        domain: object = None,
        selection_share: "Number | None" = None,
    ) -> None:
        if not isinstance(parameters, TopK):
            raise ParameterTypeError(
                f"parameters must be a TopK, as in TopK(k=10, epsilon=1), "
                f"not {type(parameters).__name__}."
            )
        self._parameters = parameters
        self._shares = None if selection_share is None else _share(parameters, selection_share)
        self._lock = RLock()
        self._busy = False
        self._pool = self._make_pool(to_domain(domain))
        # How many items of each person are known to be in the counts that were added, at most.
        self._bound = 0
        # Whether any of them are of a list that was taken from the data.
        self._domain_from_data = False
        self._ranking: Ranking | None = None
        self._releases: dict[bool, Release] = {}
        self._estimates: Estimates | None = None
        self._charged: tuple[Any, str] | None = None  # the ledger's path, and the data set
        self._used_up: str | None = None

    @property
    def parameters(self) -> TopK:
        """What is released and how private it is."""
        return self._parameters

    @property
    def domain(self) -> Domain | None:
        """The domain, if there is one."""
        return self._pool.domain

    @property
    def selection_share(self) -> Fraction | None:
        """The part of ε that selects; None if the winners are not measured."""
        shares = self._shares
        return None if shares is None else shares.selection.epsilon / shares.epsilon

    def add(self, answers: object, items: object = None, *, threads: int | None = None) -> None:
        """Add the answers of some more items; none, if they are empty.

        Args:
            answers: One number per item; see `topgap.top_k` for what may hold them.
            items: Their names, in the same order, if the answers have none of their own. Without
                names items go by their position, counted from 0 through all parts; with a domain
                they must have names, and those that are not members are left out.
            threads: How many look at the answers at once; see `topgap.top_k`.

        Raises:
            AnswersError, AnswersTypeError: The answers cannot be used; see `topgap.top_k`.
            ParameterError: They are counts of more items of each person than the noise is for,
                together with the counts that were added before: a person may be in all of them.
            DomainError: They are counts of what occurs in a domain that is not the selector's.
            ItemsError: There is not one name per answer, an item was given twice, or some parts
                have names and others do not.
            SelectorError: It has been released, or merged into another.
            KernelError: The system gave no randomness. Nothing is added on an error.
        """
        threads = read_threads(threads)
        check_bound(answers, self.parameters)  # before any answer is looked at
        if isinstance(answers, Counts) and answers.domain not in (None, self.domain):
            raise DomainError(
                "These counts are of another domain than the selector's; create the selector with "
                "domain=counts.domain."
            )
        from_data = isinstance(answers, Counts) and answers.domain_from_data
        numbers, names = read_part(answers, items, self.domain)
        with self._in_use():
            self._check_open()
            bound = check_bound(answers, self.parameters, self._bound)
            self._domain_from_data |= from_data and self.domain is None
            if len(numbers) == 0:
                self._bound = bound  # whether there is any count is not public
                return
            part = self._pool.draw(numbers, names, threads=threads)
            self._used_up = _INTERRUPTED
            self._pool.keep(part)
            self._bound = bound
            self._used_up = None

    def merge(self, other: "Selector") -> None:
        """Take over what another selector has, of other items; it cannot be used any more.

        Args:
            other: A selector with equal parameters, which has not been released.

        Raises:
            ParameterTypeError: `other` is not a selector.
            ParameterError: Together they have counts of more items of each person than the noise is
                for: a person may be in both.
            ItemsError: An item is in both, or items go by their position in either.
            SelectorError: `other` is this selector, has other parameters or another domain, or one
                of the two has been released or merged into another. Nothing is merged on an error.

        >>> parameters = TopK(k=1, epsilon=1)
        >>> east, west = Selector(parameters), Selector(parameters)
        >>> east.add({"ash": 10**9, "elm": 0})
        >>> west.add({"oak": 5})
        >>> east.merge(west)
        >>> east.release().items
        ('ash',)
        """
        if not isinstance(other, Selector):
            raise ParameterTypeError(f"Only a Selector can be merged, not {type(other).__name__}.")
        if other is self:
            raise SelectorError("A selector cannot be merged with itself.")
        if (other._parameters, other._shares) != (self._parameters, self._shares):
            raise SelectorError("Selectors can be merged only if their parameters are equal.")
        if other.domain != self.domain:
            raise SelectorError("Selectors can be merged only if their domains are equal.")
        first, second = sorted((self, other), key=id)  # one way round, or two may wait
        with first._in_use(), second._in_use():
            self._check_open()
            other._check_open()
            ours, theirs = self._pool, other._pool
            if theirs.named is False or (theirs.named and ours.named is False):
                raise ItemsError("Items without names cannot be merged; name them.")
            if ours.shares_items_with(theirs):
                raise ItemsError(TWICE)
            both = Counts(items_per_person=other._bound) if other._bound > 0 else {}
            bound = check_bound(both, self._parameters, self._bound)
            self._used_up = other._used_up = _INTERRUPTED
            if theirs.count > 0:
                ours.keep(theirs.as_part())
            self._bound = bound
            self._domain_from_data |= other._domain_from_data
            other._use_up(_MERGED)
            self._used_up = None

    def release(
        self,
        *,
        gaps: bool = True,
        ledger: "LedgerLike | None" = None,
        dataset: str | None = None,
    ) -> Release:
        """Name the k largest of all answers, and the gap from each to the next.

        The winners are drawn once: asked again, it gives the same release, and charges nothing.

        Args:
            gaps: Whether the gaps are released; they cost no privacy.
            ledger: The budget ledger to charge; see `topgap.top_k`. The noise of the answers was
                drawn when they were added and is secret; the ledger is charged before the winners
                are drawn.
            dataset: The data set in it.

        Raises:
            AnswersError: There are not more answers than winners; more can be added.
            SelectorError: It has been merged into another, or released and not by this ledger.
            BudgetExceeded, LedgerError: The ledger has less left, or cannot be written.
            KernelError: The system gave no randomness; it can be released later. Nothing is
                released on an error, and but for this one nothing is charged.
        """
        gaps = read_flag(gaps, "gaps")
        if self._shares is not None:
            raise SelectorError(
                "This selector measures its named items; use release_with_estimates()."
            )
        with self._in_use():
            if self._used_up != _RELEASED:
                self._charge_and_rank(ledger, dataset, gaps=gaps)
            else:
                self._check_account(ledger, dataset)
            if gaps not in self._releases:
                assert self._ranking is not None  # noqa: S101 - for the reader of types
                self._releases[gaps] = self._ranking.release(gaps=gaps)
            return self._releases[gaps]

    def release_with_estimates(
        self, *, ledger: "LedgerLike | None" = None, dataset: str | None = None
    ) -> Estimates:
        """Name the k largest of all answers, the gaps between them, and how many.

        It needs a selector that was made with `selection_share`, and has the law of
        `topgap.top_k_with_estimates` on all answers at once. Asked again, it gives the same.

        Args:
            ledger: The budget ledger to charge with all of ε; see `release`.
            dataset: The data set in it.

        Raises:
            AnswersError, SelectorError, BudgetExceeded, LedgerError, KernelError: As of `release`.
        """
        shares = self._shares
        if shares is None:
            raise SelectorError(
                "This selector does not measure its named items; create it with selection_share, "
                "as in Selector(parameters, selection_share='1/2')."
            )
        with self._in_use():
            if self._used_up != _RELEASED:
                self._charge_and_measure(shares, ledger, dataset)
            else:
                self._check_account(ledger, dataset)
            assert self._estimates is not None  # noqa: S101 - for the reader of types
            return self._estimates

    def _charge_and_measure(
        self, shares: Shares, ledger: "LedgerLike | None", dataset: str | None
    ) -> None:
        pending = prepare_charge_for_estimates(
            ledger, dataset, "topgap.Selector", self._parameters, shares
        )
        noise = Noise.for_one_winner(shares.selection, shares.measurement_epsilon)
        noise = noise.repeat(self._parameters.k)

        def draw() -> Estimates:
            pool, ranking = self._pool, self._rank()
            self._used_up = _INTERRUPTED  # until all is measured
            measured = shares.measure(pool.take_answers(ranking.items))
            self._estimates = Estimates(ranking.release(), measured, noise)
            self._used_up = _RELEASED
            return self._estimates

        self._charge_and_draw(pending, _account(ledger, dataset), draw)

    def _charge_and_rank(
        self, ledger: "LedgerLike | None", dataset: str | None, *, gaps: bool
    ) -> None:
        pending = prepare_charge(ledger, dataset, "topgap.Selector", self._parameters, gaps=gaps)

        def draw() -> Release:
            ranking = self._rank()
            self._releases[gaps] = ranking.release(gaps=gaps)
            return self._releases[gaps]

        self._charge_and_draw(pending, _account(ledger, dataset), draw)

    def _charge_and_draw(
        self,
        pending: PendingCharge,
        account: tuple[Any, str] | None,
        draw: Callable[[], Release | Estimates],
    ) -> None:
        self._check_open()
        self._pool.check_enough()

        def draw_charged() -> Release | Estimates:
            self._charged = account
            return draw()

        pending.charge_then_run(draw_charged)

    def _check_account(self, ledger: "LedgerLike | None", dataset: str | None) -> None:
        """See whether what has been released was charged there, or is to be charged nowhere."""
        if _account(ledger, dataset) not in (None, self._charged):
            raise SelectorError(
                "This selector was released already, but not with this ledger and data set; if "
                "it costs there too, use Ledger.charge."
            )

    def _rank(self) -> Ranking:
        """Rank the pool, once, and forget what is secret."""
        self._used_up = _INTERRUPTED
        try:
            ranking = self._pool.rank()._replace(domain_from_data=self._domain_from_data)
            self._ranking = ranking
        except KernelError:  # nothing of it is known, and it may be tried again
            self._used_up = None
            raise
        self._use_up(_RELEASED)
        return ranking

    def to_arrow(self) -> "pa.Table":
        """What it holds as an Arrow table of `item` and `value`, for another to take over.

        A value is a noisy answer, in fractions of the resolution, and a secret; its last 32 bits
        tell the parameters, so that tables of others are not mistaken for these. It is a
        decimal(38), or hexadecimal text if one is longer. There are hardly more than k + 1 rows;
        with a domain, every other item that was added has a row, too, without a value.
        The rows of several selectors with equal parameters and different items, put together, are
        what all of them hold. If the winners are to be measured there is a column `answer`, too,
        with the plain answers in steps of the resolution.

        Raises:
            MissingExtraError: pyarrow is not installed.
            ItemsError: Items go by their position, or the names of those that can still win do not
                fit in one column.
            SelectorError: It has been released, or merged into another.
        """
        with self._in_use():
            self._check_open()
            return candidate_arrow.to_arrow(self._pool)

    @classmethod
    def from_arrow(
        cls,
        parameters: TopK,
        table: Any,
        *,
        domain: object = None,
        selection_share: "Number | None" = None,
    ) -> "Selector":
        """Take over what `to_arrow` wrote, of one selector or of several put together.

        Args:
            parameters: Those of the selectors that wrote it.
            table: The Arrow table, or what Arrow can make one of. It does not know how many items
                of each person were counted: you state it then.
            domain: Theirs, if they have one.
            selection_share: Theirs, if their winners are to be measured.

        Raises:
            MissingExtraError: pyarrow is not installed.
            ItemsError: An item is there twice, or missing.
            SelectorError: It is no such table, or was written with other parameters.

        >>> parameters = TopK(k=1, epsilon=1)
        >>> selector = Selector(parameters)
        >>> selector.add({"ash": 10**9, "elm": 0})
        >>> Selector.from_arrow(parameters, selector.to_arrow()).release().items
        ('ash',)
        """
        selector = cls(parameters, domain=domain, selection_share=selection_share)
        candidate_arrow.fill_from_arrow(selector._pool, table)
        return selector

    def __repr__(self) -> str:
        return f"<Selector of {self._parameters}, {self._used_up or 'open'}>"

    def __copy__(self) -> NoReturn:
        raise SelectorError("A selector cannot be copied, because its noise is released only once.")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        with self._in_use():
            self._check_open()
            part, tag, share = self._pool.as_part(), self._pool.tag, self.selection_share
            known = self._bound, self._domain_from_data
            return _restore, (self._parameters, part, self.domain, known, tag, share)

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Have it for oneself.

        Raises:
            SelectorError: It came here by a fork, with the noise of another process, or is in use
                by what this thread was interrupted in.
        """
        self._pool.check_process()
        with self._lock:
            if self._busy:
                raise SelectorError(
                    "This selector is in use by the code that this call interrupted."
                )
            self._busy = True
            try:
                yield
            finally:
                self._busy = False

    def _check_open(self) -> None:
        if self._used_up is not None:
            raise SelectorError(f"This selector has been {self._used_up}; create a new one.")

    def _use_up(self, how: str) -> None:
        """Forget what is secret, and say from now on what became of it."""
        self._used_up = how
        self._pool = self._make_pool(self.domain)

    def _make_pool(self, domain: Domain | None) -> CandidatePool:
        shares = self._shares
        drawn = self._parameters if shares is None else shares.selection
        return CandidatePool(drawn, domain=domain, keep_answers=shares is not None)


def _restore(
    parameters: TopK,
    part: Part,
    domain: Domain | None,
    known: tuple[int, bool],
    tag: int,
    share: Fraction | None,
) -> Selector:
    selector = Selector(parameters, domain=domain, selection_share=share)
    selector._bound, selector._domain_from_data = known
    if tag != selector._pool.tag:
        raise SelectorError("The selector was pickled by another version.")
    if part.size > 0:
        selector._pool.keep(part)
    return selector


def _share(parameters: TopK, selection_share: "Number") -> Shares:
    if parameters.threshold is not None or parameters.noise != "exponential":
        raise ParameterError(
            "selection_share is for a plain top k: with a threshold, or with Laplace noise, the "
            "release already has counts."
        )
    return Shares.of(parameters, selection_share)


def _account(ledger: "LedgerLike | None", dataset: str | None) -> tuple[Any, str] | None:
    charged = open_ledger(ledger, dataset)
    return None if charged is None else (charged[0].path, charged[1])
