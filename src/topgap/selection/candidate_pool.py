"""The items that can still win, with their noisy answers: `CandidatePool`.

Noise is drawn on *ticks*: 2^refinement of them make a step of the resolution, and one does where
it is Laplace noise, which is whole steps. A pool of some items
holds their noisy answers, rounded down to a tick, but for those that have k + 1 larger ones above
them, which can neither win nor come next. So pools of disjoint items, put together in any order,
are a pool of all of these; and a pool stays one if all below its (k+1)-th largest are cut off.

A threshold and exponential noise: the *sentinel* is one more candidate, with the threshold as its
answer. It is drawn once, when the pool is ranked, and what comes after it is not named. Until then
nothing below the threshold is kept, for the noise of the sentinel is never negative.
"""

from functools import partial
from itertools import pairwise, takewhile
from typing import Any, NamedTuple, NoReturn, TypeAlias
from zlib import crc32

import numpy as np

from topgap._core import Stream
from topgap.domains import Domain, DomainDescription
from topgap.errors import ItemsError, SelectorError
from topgap.parameters import TopK
from topgap.release import Release
from topgap.sampling.sampler import Sampler
from topgap.selection.answers import check_enough, floor_answers, to_kernel_array
from topgap.selection.item_names import TWICE, SeenNames, look_up
from topgap.selection.process import this_process
from topgap.selection.unlisted import FindListed, Unlisted, check_domain


class Candidate(NamedTuple):
    """An item and its noisy answer, rounded down to a tick."""

    ticks: int
    item: Any


Candidates: TypeAlias = "list[Candidate]"


class _Sentinel:
    """The public threshold, as an item."""


SENTINEL = _Sentinel()


class Part(NamedTuple):
    """The candidates of some more items, drawn and not yet in a pool.

    Attributes:
        candidates: Those that can still win.
        answers: Their plain answers, if the pool keeps them.
        names: The names of all items of the part that are to be remembered.
        size: How many items the part has.
        named: Whether they have names.
    """

    candidates: Candidates
    answers: list[Any] | None
    names: Any
    size: int
    named: bool


class Ranking(NamedTuple):
    """The winners from the largest down, and the gap from each to the next in steps.

    With Laplace noise, their noisy answers in steps, too.
    """

    parameters: TopK
    items: list[Any]
    gap_units: list[int]
    value_units: list[int] | None
    named: bool
    domain: DomainDescription | None = None
    domain_from_data: bool = False

    def release(self, *, gaps: bool = True) -> Release:
        """The release of these winners."""
        units, values = (self.gap_units, self.value_units) if gaps else (None, None)
        if self.named:
            return Release(
                self.parameters, None, units, self.items, value_units=values, domain=self.domain,
                domain_from_data=self.domain_from_data,
            )  # fmt: skip
        return Release(self.parameters, self.items, units, value_units=values)


class CandidatePool:
    """Takes answers part by part, draws their noise, and keeps only what can still win.

    It has no lock: `topgap.Selector` is the same for users. Each ranking of the same noise would
    tell more of it, so a pool is ranked once, not copied or pickled, and belongs to its process.

    Args:
        parameters: What is released and how private it is.
        stream: Where all noise comes from; a fresh key for each part unless given.
        remember_names: Whether names of earlier parts are remembered, to find an item that is given
            twice. If not, the caller knows that none is.
        keep_answers: Whether the plain answers of the candidates are kept, so that the winners can
            be measured. They go nowhere else.
        domain: The domain that all items are members of, as it names them. Those that are never
            added have the answer 0 and are drawn as a run, once, when the pool is ranked.
        find_listed: Says which of a few members were added. Without it the pool remembers the names
            of all items, and says so itself.

    Attributes:
        candidates: The items that can still win, and sometimes a few more.
        count: How many items were added.
        keeps_answers: Whether the plain answers are kept.
        named: Whether items have names; None before the first.
        seen: The names that are remembered.

    >>> pool = CandidatePool(TopK(k=1, epsilon=1))
    >>> pool.add([10**9, 0], ["ash", "elm"])
    >>> pool.add([5], ["oak"])
    >>> pool.rank().release().items
    ('ash',)
    """

    __slots__ = (
        "_answers",
        "_find_listed",
        "_floor",
        "_process",
        "_stream",
        "candidates",
        "count",
        "domain",
        "keeps_answers",
        "named",
        "parameters",
        "seen",
    )

    def __init__(
        self,
        parameters: TopK,
        *,
        stream: Stream | None = None,
        remember_names: bool = True,
        keep_answers: bool = False,
        domain: Domain | None = None,
        find_listed: FindListed | None = None,
    ) -> None:
        if domain is not None:
            check_domain(domain, parameters)
            remember_names = find_listed is None
        self.parameters = parameters
        self.domain = domain
        self.candidates: Candidates = []
        self.count = 0
        self.named: bool | None = None if domain is None else True
        self.seen = SeenNames(() if remember_names else None, forget=domain is None)
        self._find_listed = find_listed
        self._process = this_process()
        self._stream = stream
        self.keeps_answers = keep_answers
        # The items of the candidates, each with its answer if these are kept, and else with None.
        self._answers: dict[Any, Any] = {}
        # Ticks that k + 1 items have or exceed, or that a winner must reach.
        units = parameters.threshold_units
        self._floor: int | None = None if units is None else units << self.refinement

    @property
    def refinement(self) -> int:
        """A step of the resolution has 2^refinement ticks."""
        kernel = self.parameters.kernel
        return 0 if kernel is None else kernel.refinement

    @property
    def tag(self) -> int:
        """A checksum of 32 bits that differs where ticks cannot be compared."""
        of = "" if self.domain is None else f", of {self.domain.checksum}"
        beside = ", with answers" if self.keeps_answers else ""
        return crc32(f"{self.parameters}, refinement {self.refinement}{of}{beside}".encode())

    def add(self, numbers: Any, names: Any, *, threads: int = 0) -> None:
        """Draw the noise of some more items, and keep those that can still win.

        Raises:
            AnswersError, AnswersTypeError, ItemsError, KernelError: As of `draw`.
        """
        if len(numbers) > 0:
            self.keep(self.draw(numbers, names, threads=threads))

    def draw(self, numbers: Any, names: Any, *, threads: int = 0) -> Part:
        """Draw the noise of at least one more item; the pool does not change.

        Args:
            numbers: The answers, as `topgap.selection.answers.read` gives them.
            names: Their names, checked by `choose_names`; None if items go by their position.
            threads: How many threads look at the answers; 0 for as many as fit.

        Raises:
            AnswersError, AnswersTypeError: The answers cannot be used.
            ItemsError: An item was given twice, or some parts have names and others do not.
            KernelError: The system gave no randomness.
        """
        self.check_process()
        named = names is not None
        if self.named not in (None, named):
            raise ItemsError("Some parts name their items and others do not; name all or none.")
        unseen = self.seen.check(names) if named else None
        places, ticks = self._draw_ticks(numbers, threads)
        items = look_up(names, places) if named else [self.count + place for place in places]
        if not self._answers.keys().isdisjoint(items):
            raise ItemsError(TWICE)
        answers = [numbers[place] for place in places] if self.keeps_answers else None
        return Part([*map(Candidate, ticks, items)], answers, unseen, len(numbers), named)

    def keep(self, part: Part) -> None:
        """Put the candidates of a part into the pool, and its names to those remembered."""
        self.seen.add(part.names)
        items = [candidate.item for candidate in part.candidates]
        self._answers.update(zip(items, part.answers or [None] * len(items), strict=True))
        self.candidates += part.candidates
        self.named = part.named
        self.count += part.size
        needed = self.parameters.k + 1
        # Rarely, for a cut takes a look at all of it.
        if len(self.candidates) >= needed * (1 if self._floor is None else 2):
            self.candidates = cut(self.candidates, needed)
            floor = min(candidate.ticks for candidate in self.candidates)
            self._floor = floor if self._floor is None else max(floor, self._floor)
            kept = [candidate.item for candidate in self.candidates]
            self._answers = {item: self._answers[item] for item in kept}

    def as_part(self) -> Part:
        """All that the pool holds, for another pool with equal parameters and other items."""
        self.check_process()
        candidates = cut(self.candidates, self.parameters.k + 1)
        names = None if self.seen.names is None else {*self.seen.names}
        answers = [self._answers[each.item] for each in candidates] if self.keeps_answers else None
        return Part([*candidates], answers, names, self.count, bool(self.named))

    def shares_items_with(self, other: "CandidatePool") -> bool:
        """Whether an item is known to be in both."""
        ours, theirs = (
            pool._answers.keys() if pool.seen.names is None else pool.seen.names
            for pool in (self, other)
        )
        return not ours.isdisjoint(theirs)

    def check_process(self) -> None:
        """See whether this is the process that made it.

        Raises:
            SelectorError: It came here by a fork, with the noise of another process.
        """
        if this_process() != self._process:
            raise SelectorError(
                "This selector belongs to another process; send it by pickle or as Arrow."
            )

    def __copy__(self) -> NoReturn:
        raise SelectorError("A selector cannot be copied, because its noise is released only once.")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce__(self) -> NoReturn:
        raise SelectorError("A pool of candidates cannot be sent; send a Selector.")

    def check_enough(self) -> None:
        """See whether there are more candidates than winners, as there are with a domain.

        Raises:
            AnswersError: There are not.
        """
        if self.domain is None and self.parameters.threshold is None:
            check_enough(len(self.candidates), self.parameters.k)

    def rank(self) -> Ranking:
        """Rank the candidates; they are used up then, and their noise forgotten.

        Raises:
            AnswersError: There are not more items than winners.
            KernelError: The system gave no randomness; nothing is used up.
        """
        self.check_process()
        self.check_enough()
        k, domain, sampler = self.parameters.k, self.domain, Sampler()
        candidates = self.candidates
        if self.parameters.has_sentinel:
            candidates = [*candidates, self._draw_sentinel(sampler)]
        candidates = cut(candidates, k + 1)
        if domain is not None:
            candidates = cut([*candidates, *self._draw_unlisted(domain, candidates)], k + 1)
        if self.parameters.noise == "laplace":
            ranked, noisy = rank_noisy_answers(candidates, k, sampler)
            value_units, gap_units = cut_noisy_answers(self.parameters, noisy)
            items = ranked[: len(value_units)]
        else:
            ranked, gap_units = rank(candidates, k, self.refinement, sampler)
            items = [*takewhile(lambda item: item is not SENTINEL, ranked)]
            gap_units, value_units = gap_units[: len(items)], None
        self.candidates, self._floor, self.seen = [], None, SeenNames(None)
        description = None if domain is None else domain.description
        return Ranking(
            self.parameters, items, gap_units, value_units, bool(self.named), description
        )

    def take_answers(self, items: list[Any]) -> list[Any]:
        """The plain answers of these items, which were kept; all are forgotten then.

        Members of the domain that were never added have the answer 0.
        """
        self.check_process()
        answers, self._answers = self._answers, {}
        if self.domain is not None:
            return [answers.get(item, 0) for item in items]
        return [answers[item] for item in items]

    def _draw_sentinel(self, sampler: Sampler) -> Candidate:
        """The sentinel with its noisy answer."""
        parameters, refinement = self.parameters, self.refinement
        units = parameters.threshold_units
        assert units is not None  # noqa: S101 - there is no sentinel otherwise
        noise = sampler.geometric(parameters.rate / 2**refinement)
        return Candidate((units << refinement) + noise, SENTINEL)

    def _find_floor(self, candidates: Candidates) -> int | None:
        """Ticks that what is drawn later must reach to be named, or to come next."""
        if len(candidates) > self.parameters.k:
            return min(each.ticks for each in candidates)
        if self.parameters.has_sentinel:
            return next(each.ticks for each in candidates if each.item is SENTINEL)
        return self.parameters.threshold_units

    def _draw_unlisted(self, domain: Domain, candidates: Candidates) -> Candidates:
        """Those members of the domain that were never added and can still win."""
        kernel = self.parameters.kernel
        assert kernel is not None  # noqa: S101 - a domain was refused otherwise
        find_listed = self._find_listed or (self.seen.names or set()).intersection
        unlisted = Unlisted(domain, min(self.count, domain.size), find_listed)
        asked: list[Any] = []
        places, ticks = kernel.run_candidates(
            [unlisted.as_run()],
            find_listed=partial(unlisted.find_places, asked),
            in_steps=False,
            floor=self._find_floor(candidates),
        )
        names = map(asked.__getitem__, np.frombuffer(places, dtype=np.int64).tolist())
        return [*map(Candidate, ticks, names)]

    def _draw_ticks(self, numbers: Any, threads: int) -> tuple[list[int], list[int]]:
        """Places among the numbers of those that can still win, and their noisy answers."""
        parameters, refinement = self.parameters, self.refinement
        kernel = parameters.kernel
        steps_per_unit = parameters.resolution.denominator
        taken = to_kernel_array(numbers, steps_per_unit)
        if kernel is not None and taken is not None:
            shift = taken.shift * (1 if taken.in_steps else steps_per_unit) << refinement
            floor = None if self._floor is None else self._floor - shift
            places, ticks = kernel.candidates(
                taken.numbers,
                in_steps=taken.in_steps,
                floor=floor,
                stream=self._stream,
                threads=threads,
            )
            return np.frombuffer(places, dtype=np.int64).tolist(), [t + shift for t in ticks]
        # Numbers too large for the kernel: Python has the same law, and takes its time.
        sampler = Sampler(self._stream)
        rate = parameters.rate / 2**refinement
        draw = sampler.discrete_laplace if parameters.noise == "laplace" else sampler.geometric
        steps = floor_answers(numbers, steps_per_unit)
        noisy = [(step << refinement) + draw(rate) for step in steps]
        return [*range(len(noisy))], noisy


def cut(candidates: Candidates, needed: int) -> Candidates:
    """All that are at least the `needed`-th largest: that many, and what ties with it.

    >>> cut([Candidate(5, "ash"), Candidate(9, "elm"), Candidate(2, "fir"), Candidate(5, "oak")], 2)
    [Candidate(ticks=5, item='ash'), Candidate(ticks=9, item='elm'), Candidate(ticks=5, item='oak')]
    """
    if len(candidates) <= needed:
        return candidates
    least = sorted(candidate.ticks for candidate in candidates)[-needed]
    return [candidate for candidate in candidates if candidate.ticks >= least]


def rank(
    candidates: Candidates, k: int, refinement: int, sampler: Sampler
) -> tuple[list[Any], list[int]]:
    """The k items with the largest noisy answers, and the gap from each to the next, in steps.

    The real noisy answers are the ticks plus remainders below one. These are independent of the
    ticks and all alike, so their order is a uniform one, and nothing else of them matters: the
    same order breaks ties and corrects the gaps (docs/paper.md, "One order is enough").

    >>> rank([Candidate(2**32, "ash"), Candidate(2**30, "oak")], 1, 20, Sampler())[0]
    ['ash']
    """
    order = sampler.shuffle(len(candidates))
    by_size = sorted(
        range(len(candidates)), key=lambda i: (candidates[i].ticks, order[i]), reverse=True
    )
    gaps = [
        (candidates[a].ticks - candidates[b].ticks - (order[a] < order[b])) >> refinement
        for a, b in pairwise(by_size[: k + 1])
    ]
    return [candidates[i].item for i in by_size[:k]], gaps


def rank_noisy_answers(
    candidates: Candidates, k: int, sampler: Sampler
) -> tuple[list[Any], list[int]]:
    """The k items with the largest noisy answers, and these, and that of the next item.

    Laplace noise is whole ticks, and items that tie come in a uniform order.

    >>> rank_noisy_answers([Candidate(5, "ash"), Candidate(-2, "oak")], 1, Sampler())
    (['ash'], [5, -2])
    """
    order = sampler.shuffle(len(candidates))
    by_size = sorted(
        range(len(candidates)), key=lambda i: (candidates[i].ticks, order[i]), reverse=True
    )
    noisy = [candidates[i].ticks for i in by_size[: k + 1]]
    return [candidates[i].item for i in by_size[:k]], noisy


def cut_noisy_answers(parameters: TopK, noisy: list[int]) -> tuple[list[int], list[int]]:
    """The noisy answers of the winners, and the gap from each to the next, in steps.

    Those below the threshold are cut off. The threshold then stands for all of them: the last gap
    is the lead over what is larger, the next noisy answer or the threshold.

    Args:
        parameters: k, and the threshold in steps if there is one.
        noisy: The noisy answers in steps, from the largest down; k + 1, or fewer if a threshold has
            cut them already.

    >>> cut_noisy_answers(TopK(2, 1, items_per_person=1, threshold=4), [9, 5, 3])
    ([9, 5], [4, 1])
    >>> cut_noisy_answers(TopK(2, 1, items_per_person=1), [9, 5, 3])
    ([9, 5], [4, 2])
    """
    threshold, next_ones = parameters.threshold_units, noisy
    if threshold is not None:
        next_ones = [*(each for each in noisy if each >= threshold), threshold]
    gaps = [a - b for a, b in pairwise(next_ones[: parameters.k + 1])]
    return next_ones[: len(gaps)], gaps
