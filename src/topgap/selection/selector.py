"""Noisy Top-k with Gap on answers that come in parts: `Selector`."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from threading import RLock
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from zlib import crc32

import numpy as np

from topgap._core import Stream
from topgap.errors import (
    ItemsError,
    KernelError,
    MissingExtraError,
    ParameterTypeError,
    SelectorError,
)
from topgap.ledger.charging import LedgerLike, charge_for, open_account
from topgap.numbers.parse import read_flag, read_threads
from topgap.parameters import TopK
from topgap.release import Release
from topgap.sampling.sampler import Sampler
from topgap.sealing import seal_errors
from topgap.selection.answers import check_enough, floor_answers, read, to_kernel_array
from topgap.selection.candidate_pool import Noisy, Pool, cut, rank
from topgap.selection.item_names import choose_names, look_up, to_list

if TYPE_CHECKING:
    import pyarrow as pa

_Measured = TypeVar("_Measured")

MOST_REMEMBERED = 2**18
"""So many names are remembered, to find an item that is given twice."""

MOST_TEXT = 2**24
"""And so many characters of them."""

TWICE = "An item was given twice; its noise is drawn once, so give each item once."

_TAG_BITS = 32
_LONGEST_DECIMAL = 38
_WHOLE = re.compile(r"-?(0x[0-9a-f]+|[0-9]+)")
_RELEASED, _MERGED = "released", "merged into another"
_INTERRUPTED = "interrupted while it was changed"


class Selector:
    """Takes answers part by part and keeps only what can still win.

    Every item gets its noise when its answer is added. The parts may come in any order, in one
    selector or in several that are merged: the release has the law of `topgap.top_k` on all
    answers at once.

    An item must be given once. Names are compared within each part, with the names of earlier parts
    as long as these are at most 262,144 with at most 16,777,216 characters (`MOST_REMEMBERED`,
    `MOST_TEXT`), and with the items that can still win; beyond that it is for you to make sure.

    What it holds is as secret as the answers, and its copies hold the same noise: release only one.
    It belongs to the process that made it, whose threads may use it together; to another process it
    goes by pickle or as Arrow. An interruption loses nothing, unless it comes in the short moment
    in which what was drawn is put in: then the selector cannot be used any more.

    Args:
        parameters: What is released and how private it is.

    Raises:
        ParameterTypeError: `parameters` is no `TopK`.

    >>> selector = Selector(TopK(k=2, epsilon=1))
    >>> selector.add({"ash": 10**9, "elm": 0})
    >>> selector.add([5, 10**6], items=["fir", "oak"])
    >>> selector.release().items
    ('ash', 'oak')
    """

    __slots__ = (
        "_added",
        "_busy",
        "_charged",
        "_floor",
        "_held",
        "_lock",
        "_named",
        "_parameters",
        "_pool",
        "_process",
        "_ranked",
        "_releases",
        "_remembers",
        "_seen",
        "_stream",
        "_text",
        "_used_up",
    )

    def __init__(self, parameters: TopK) -> None:
        if not isinstance(parameters, TopK):
            raise ParameterTypeError(
                f"parameters must be a TopK, as in TopK(k=10, epsilon=1), "
                f"not {type(parameters).__name__}."
            )
        self._parameters = parameters
        self._process = os.getpid()
        self._lock = RLock()
        self._busy = False
        self._stream: Stream | None = None
        self._pool: Pool = []
        # The items of the pool, each with its answer if these are remembered, and else with None.
        self._held: dict[Any, Any] = {}
        self._remembers = False
        self._floor: int | None = None  # a value that k + 1 items have or exceed
        self._added = 0
        self._named: bool | None = None
        self._seen: set[Any] | None = set()  # the names that are remembered, if not too many
        self._text = 0  # how many characters they have
        self._ranked: tuple[list[Any], list[int]] | None = None
        self._releases: dict[bool, Release] = {}
        self._charged: tuple[Any, str] | None = None  # the ledger's path, and the data set
        self._used_up: str | None = None

    @classmethod
    def _on(cls, parameters: TopK, stream: Stream) -> "Selector":
        """A selector that takes the noise of its items from this stream and from nowhere else.

        That no item comes twice is for the caller to know, who has all of them.
        """
        selector = cls(parameters)
        selector._stream = stream
        selector._seen = None
        return selector

    @classmethod
    def _remembering(cls, parameters: TopK) -> "Selector":
        """A selector that keeps the plain answers of the items that can still win.

        So the winners can be measured when they are known. The answers go nowhere else.
        """
        selector = cls(parameters)
        selector._remembers = True
        return selector

    @property
    def parameters(self) -> TopK:
        """What is released and how private it is."""
        return self._parameters

    def add(self, answers: object, items: object = None, *, threads: int | None = None) -> None:
        """Add the answers of some more items; none, if they are empty.

        Args:
            answers: One number per item; see `topgap.top_k` for what may hold them.
            items: Their names, in the same order, if the answers have none of their own. Without
                names items go by their position, counted from 0 through all parts.
            threads: How many look at the answers at once; see `topgap.top_k`.

        Raises:
            AnswersError, AnswersTypeError: The answers cannot be used; see `topgap.top_k`.
            ItemsError: There is not one name per answer, an item was given twice, or some parts
                have names and others do not.
            SelectorError: It has been released, or merged into another.
            KernelError: The system gave no randomness. Nothing is added on an error.
        """
        threads = read_threads(threads)
        numbers, names = read(answers)
        names = choose_names(answers, names, items, len(numbers))
        with self._in_use():
            self._check_open()
            if len(numbers) == 0:
                return
            self._check_naming(names is not None)
            new_names = self._unseen(names)
            places, values = self._draw(numbers, threads)
            if names is None:
                items_found: list[Any] = [self._added + place for place in places]
            else:
                items_found = look_up(names, places)
            found = [*map(Noisy, values, items_found)]
            if not self._held.keys().isdisjoint(items_found):
                raise ItemsError(TWICE)
            remembered = [numbers[place] for place in places] if self._remembers else None
            self._used_up = _INTERRUPTED
            self._keep(found, new_names, remembered)
            self._named = names is not None
            self._added += len(numbers)
            self._used_up = None

    def merge(self, other: "Selector") -> None:
        """Take over what another selector has, of other items; it cannot be used any more.

        Args:
            other: A selector with equal parameters, which has not been released.

        Raises:
            ParameterTypeError: `other` is no selector.
            ItemsError: An item is in both, or items go by their position in either.
            SelectorError: `other` is this selector, has other parameters, or one of the two has
                been released or merged into another. Nothing is merged on an error.

        >>> parameters = TopK(k=1, epsilon=1)
        >>> east, west = Selector(parameters), Selector(parameters)
        >>> east.add({"ash": 10**9, "elm": 0})
        >>> west.add({"oak": 5})
        >>> east.merge(west)
        >>> east.release().items
        ('ash',)
        """
        if not isinstance(other, Selector):
            raise ParameterTypeError(f"Only a Selector is merged, not {type(other).__name__}.")
        if other is self:
            raise SelectorError("A selector cannot be merged with itself.")
        if other._parameters != self._parameters:
            raise SelectorError("Selectors are merged only if their parameters are equal.")
        first, second = sorted((self, other), key=id)  # one way round, or two may wait
        with first._in_use(), second._in_use():
            self._check_open()
            other._check_open()
            self._check_movable()
            other._check_movable()
            if other._named is False or (other._named and self._named is False):
                raise ItemsError("Items that go by their position cannot be merged; name them.")
            ours, theirs = (
                each._held.keys() if each._seen is None else each._seen for each in (self, other)
            )
            if not ours.isdisjoint(theirs):
                raise ItemsError(TWICE)
            self._used_up = other._used_up = _INTERRUPTED
            self._keep(other._pool, other._seen)
            self._named = self._named if other._named is None else True
            self._added += other._added
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
        with self._in_use():
            if self._used_up != _RELEASED:
                self._pay_and_draw(gaps, ledger, dataset)
            elif _account(ledger, dataset) not in (None, self._charged):
                raise SelectorError(
                    "This selector has been released, and not by this ledger and data set; charge "
                    "it by Ledger.charge if it costs there, too."
                )
            if gaps not in self._releases:
                self._releases[gaps] = self._release(gaps)
            return self._releases[gaps]

    def _pay_and_draw(self, gaps: bool, ledger: "LedgerLike | None", dataset: str | None) -> None:
        payment = charge_for(ledger, dataset, "topgap.Selector", self._parameters, gaps=gaps)
        charged = _account(ledger, dataset)
        self._check_ready()

        def draw() -> Release:
            self._charged = charged
            self._draw_winners()
            self._releases[gaps] = self._release(gaps)
            return self._releases[gaps]

        payment.charge_then_run(draw)

    def _release_and_measure(
        self, measure: Callable[[list[Any]], _Measured]
    ) -> tuple[Release, _Measured]:
        """The release, and what is measured of the winners' answers, which are then forgotten.

        Raises:
            AnswersError, SelectorError: As of `release`; and it has been released.
        """
        with self._in_use():
            remembered = self._held  # of which the winners are known in a moment
            self._draw_winners()
            release = self._release(gaps=True)
            return release, measure([remembered[item] for item in release.items])

    @seal_errors
    def to_arrow(self) -> "pa.Table":
        """What it holds as an Arrow table of `item` and `value`, for another to take over.

        A value is a noisy answer, in fractions of the resolution, and a secret; its last 32 bits
        tell the parameters, so that tables of others are not mistaken for these. It is a
        decimal(38), or hexadecimal text if one is longer. There are hardly more than k + 1 rows.
        The rows of several selectors with equal parameters and different items, put together, are
        what all of them hold.

        Raises:
            MissingExtraError: pyarrow is not installed.
            ItemsError: Items go by their position, or the names of those that can still win do not
                fit in one column.
            SelectorError: It has been released, or merged into another.
        """
        pa = _pyarrow()
        with self._in_use():
            self._check_open()
            self._check_movable()
            if self._named is False:
                raise ItemsError("Items that go by their position cannot go elsewhere; name them.")
            pool = [*cut(self._pool, self._parameters.k + 1)]
        try:
            items = pa.array([noisy.item for noisy in pool])
            if pa.types.is_nested(items.type):
                raise TypeError
        except (pa.ArrowException, OverflowError, TypeError, ValueError):  # Unicode's is of these
            raise ItemsError(
                "The items' names do not fit in one Arrow column; let all be strings, or integers."
            ) from None
        numbers = [noisy.value << _TAG_BITS | self._tag for noisy in pool]
        if all(abs(number) < 10**_LONGEST_DECIMAL for number in numbers):
            values = pa.array(numbers, type=pa.decimal128(_LONGEST_DECIMAL, 0))
        else:
            values = pa.array([*map(hex, numbers)], type=pa.string())
        return pa.table({"item": items, "value": values})

    @classmethod
    @seal_errors
    def from_arrow(cls, parameters: TopK, table: Any) -> "Selector":
        """Take over what `to_arrow` wrote, of one selector or of several put together.

        Args:
            parameters: Those of the selectors that wrote it.
            table: The Arrow table, or what Arrow can make one of.

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
        pa = _pyarrow()
        selector = cls(parameters)
        try:
            table = table if isinstance(table, pa.Table) else pa.table(table)
            items, values = table["item"].to_pylist(), table["value"].to_pylist()
            numbers = [*map(_whole, values)]
            is_twice = len({*items}) < len(items)
        except Exception:  # it is no table, or has no such columns
            raise SelectorError(
                "A selector is read from an Arrow table with the columns item and value."
            ) from None
        if any(number % 2**_TAG_BITS != selector._tag for number in numbers):
            raise SelectorError(
                "The table was written by a selector with other parameters, or another version."
            )
        if any(item is None for item in items):
            raise ItemsError("An item of the table has no name.")
        if is_twice:
            raise ItemsError(TWICE)
        if items:
            # Of what was cut off nothing is known.
            selector._keep([*map(Noisy, (n >> _TAG_BITS for n in numbers), items)], None)
            selector._named, selector._added = True, len(items)
        return selector

    def __repr__(self) -> str:
        return f"<Selector of {self._parameters}, {self._used_up or 'open'}>"

    def __copy__(self) -> NoReturn:
        raise SelectorError("A selector is not copied, for its noise is released once.")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        with self._in_use():
            self._check_open()
            self._check_movable()
            if self._stream is not None:
                raise SelectorError("This selector draws from a stream and stays where it is.")
            pool = [*cut(self._pool, self._parameters.k + 1)]
            seen = None if self._seen is None else {*self._seen}
            state = (self._parameters, pool, seen, self._named, self._added)
        return _restored, (*state, self._tag)

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        """Have it for oneself.

        Raises:
            SelectorError: It came here by a fork, with the noise of another process, or is in use
                by what this thread was interrupted in.
        """
        if os.getpid() != self._process:
            raise SelectorError(
                "This selector belongs to another process; send it by pickle or as Arrow."
            )
        with self._lock:
            if self._busy:
                raise SelectorError("This selector is in use by what was interrupted to call it.")
            self._busy = True
            try:
                yield
            finally:
                self._busy = False

    @property
    def _refinement(self) -> int:
        """Of a step, 2^refinement values are made."""
        kernel = self._parameters.kernel
        return 0 if kernel is None else kernel.refinement

    @property
    def _tag(self) -> int:
        """Tells apart whose values cannot be put together."""
        return crc32(f"{self._parameters}, refinement {self._refinement}".encode())

    def _draw(self, numbers: Any, threads: int) -> tuple[list[int], list[int]]:
        """Places among the numbers that can still win, and their values."""
        parameters, refinement = self._parameters, self._refinement
        kernel = parameters.kernel
        steps_per_unit = parameters.resolution.denominator
        taken = to_kernel_array(numbers, steps_per_unit)
        if kernel is not None and taken is not None:
            counted, in_steps, shift = taken
            shift = shift * (1 if in_steps else steps_per_unit) << refinement
            floor = None if self._floor is None else self._floor - shift
            places, values = kernel.candidates(
                counted, in_steps=in_steps, floor=floor, stream=self._stream, threads=threads
            )
            return np.frombuffer(places, dtype=np.int64).tolist(), [v + shift for v in values]
        # Numbers too large for the kernel: the reference has the same law, and takes its time.
        sampler = Sampler(self._stream)
        rate = parameters.rate / 2**refinement
        steps = floor_answers(numbers, steps_per_unit)
        noisy = [(step << refinement) + sampler.geometric(rate) for step in steps]
        return [*range(len(noisy))], noisy

    def _keep(self, more: Pool, names: Any, answers: list[Any] | None = None) -> None:
        """Put these into the pool, and the names of their part to what is remembered.

        Their answers, if they are given, stay for as long as the items are in the pool.
        """
        if names is None or self._seen is None or self._are_too_many(names):
            self._seen = None
        else:
            self._seen.update(names)
            self._text += characters(names)
        items = [noisy.item for noisy in more]
        self._held.update(zip(items, answers or [None] * len(items), strict=True))
        self._pool += more
        needed = self._parameters.k + 1
        # Rarely, for a cut takes a look at all of it.
        if len(self._pool) >= needed * (1 if self._floor is None else 2):
            self._pool = cut(self._pool, needed)
            self._floor = min(noisy.value for noisy in self._pool)
            self._held = {noisy.item: self._held[noisy.item] for noisy in self._pool}

    def _draw_winners(self) -> None:
        """Rank the pool, once, and forget what is secret."""
        self._check_ready()
        k = self._parameters.k
        pool = cut(self._pool, k + 1)
        self._used_up = _INTERRUPTED
        try:
            self._ranked = rank(pool, k, self._refinement, Sampler())
        except KernelError:  # nothing of it is known, and it may be tried again
            self._used_up = None
            raise
        self._use_up(_RELEASED)

    def _are_too_many(self, names: Any) -> bool:
        assert self._seen is not None  # noqa: S101 - for the reader of types
        more = len(self._seen) + len(names) > MOST_REMEMBERED
        return more or self._text + characters(names) > MOST_TEXT

    def _unseen(self, names: Any) -> Any:
        """The names as they are remembered, if none of them was given before."""
        if names is None or self._seen is None:
            return None
        if not self._seen and len(names) > MOST_REMEMBERED:
            return None  # there is nothing to compare with, and nothing will be remembered
        new = to_list(names)
        try:
            is_odd = any(name != name for name in new)
        except Exception:  # of a name of somebody's own
            is_odd = True
        if is_odd:
            raise ItemsError("A name is not equal to itself, as NaN is not; give it another.")
        if not self._seen.isdisjoint(new):
            raise ItemsError(TWICE)
        return new

    def _check_naming(self, named: bool) -> None:
        if self._named not in (None, named):
            raise ItemsError("Some parts name their items and others do not; name all or none.")

    def _check_open(self) -> None:
        if self._used_up is not None:
            raise SelectorError(f"This selector has been {self._used_up}; make a new one.")

    def _check_ready(self) -> None:
        self._check_open()
        check_enough(len(self._pool), self._parameters.k)

    def _check_movable(self) -> None:
        if self._remembers:
            raise SelectorError("This selector remembers plain answers and stays where it is.")

    def _use_up(self, how: str) -> None:
        """Forget what is secret, and say from now on what became of it."""
        self._used_up = how
        self._pool, self._held, self._floor = [], {}, None
        self._seen = None

    def _release(self, gaps: bool) -> Release:
        assert self._ranked is not None  # noqa: S101 - for the reader of types
        winners, leads = self._ranked
        shown = leads if gaps else None
        if self._named:
            return Release(self._parameters, None, shown, winners)
        return Release(self._parameters, winners, shown)


def _restored(
    parameters: TopK,
    pool: Pool,
    seen: set[Any] | None,
    named: bool | None,
    added: int,
    tag: int,
) -> Selector:
    selector = Selector(parameters)
    if tag != selector._tag:
        raise SelectorError("The selector was pickled by another version.")
    selector._keep(pool, seen)
    selector._named, selector._added = named, added
    return selector


def _account(ledger: "LedgerLike | None", dataset: str | None) -> tuple[Any, str] | None:
    charged = open_account(ledger, dataset)
    return None if charged is None else (charged[0].path, charged[1])


def characters(names: Any) -> int:
    """How many characters names of text have."""
    return sum(len(name) for name in names if isinstance(name, str | bytes))


def _whole(value: object) -> int:
    """The whole number that was written.

    Raises:
        TypeError: It is none.
    """
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value, 16 if "x" in value else 10)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        number, denominator = value.as_integer_ratio()
        if denominator == 1:
            return number
    raise TypeError


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("Arrow tables need pyarrow: pip install pyarrow.") from None
    return pa
