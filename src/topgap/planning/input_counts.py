"""The public counts that a plan is simulated from: of all items, and with each bound."""

from typing import Any, NamedTuple

import numpy as np

from topgap.domains import Counts
from topgap.errors import DomainError
from topgap.numbers.parse import is_whole
from topgap.parameters import TopK
from topgap.planning.bounded_counts import BoundedCounts, Numbers, match_counts
from topgap.planning.public_counts import PublicCounts
from topgap.planning.validation import read_size
from topgap.selection.answers import check_enough, read
from topgap.selection.participants import find_participants
from topgap.selection.unlisted import check_domain_size


class InputCounts(NamedTuple):
    """Public counts, read and checked.

    Attributes:
        numbers: The counts that take part.
        names: The names of their items, or None.
        domain: The domain of the plan, or else that of the counts; None without one.
        domain_size: How many items it has; None without one.
        by_bound: The counts with each contribution bound, not yet read; None if there are none.
    """

    numbers: Numbers
    names: Any
    domain: object
    domain_size: int | None
    by_bound: dict[int, object] | None

    @classmethod
    def read(
        cls,
        counts: object,
        domain: object,
        by_bound: dict[int, object] | None,
        parameters: TopK,
    ) -> "InputCounts":
        """Read the counts of all items.

        Raises:
            AnswersError, AnswersTypeError, ItemsError: The counts cannot be used.
            DomainError: The domain cannot be used, or is smaller than there are counts.

        >>> InputCounts.read([5, 2], 10, None, TopK(k=1, epsilon=1)).unlisted
        8
        """
        if domain is None and isinstance(counts, Counts):
            domain = counts.domain
        if domain is not None and not is_whole(domain):
            found = find_participants(counts, None, domain, parameters)
            size = None if found.domain is None else found.domain.size
            return cls(found.numbers, found.names, domain, size, by_bound)
        size = None if domain is None else read_size(domain)  # type: ignore[arg-type]
        if size is not None:
            check_domain_size(size, parameters.fewest_winners)
        numbers, names = read(counts)
        if size is None:
            check_enough(len(numbers), parameters.fewest_winners)
        elif len(numbers) > size:
            raise DomainError(
                "The domain has fewer items than there are counts; give its whole size."
            )
        return cls(numbers, names, domain, size, by_bound)

    @property
    def unlisted(self) -> int:
        """How many items of the domain have no count."""
        return 0 if self.domain_size is None else self.domain_size - len(self.numbers)

    def shuffle(self) -> Numbers:
        """The counts shuffled: no probability changes, and the kernel is slower on sorted ones."""
        return _shuffle(self.numbers)

    def prepare_bound(
        self, bound: int, all_of_them: PublicCounts, parameters: TopK
    ) -> tuple[Numbers, BoundedCounts]:
        """The counts with a bound, in the same order; those of all items, if there are no others.

        Args:
            bound: The contribution bound.
            all_of_them: The shuffled counts of all items.
            parameters: The parameters of a release with the bound.

        Raises:
            AnswersError, AnswersTypeError, ItemsError: They cannot be used, or are of other items.
        """
        numbers = self.numbers
        if self.by_bound is not None:
            own = self.by_bound[bound]
            numbers = match_counts(own, self.domain, self.names, len(self.numbers))
        shuffled = _shuffle(numbers)
        return shuffled, BoundedCounts.of(shuffled, all_of_them, parameters)


def _shuffle(numbers: Numbers) -> Numbers:
    order = np.random.default_rng(0).permutation(len(numbers))
    return numbers[order] if isinstance(numbers, np.ndarray) else [numbers[i] for i in order]
