"""The members of a domain that have no answer: they have 0, and are drawn as a run."""

from collections.abc import Callable, Collection
from fractions import Fraction
from typing import Any, NamedTuple

from topgap.domains import MOST_ITEMS, Domain, FromData
from topgap.errors import DomainError, ParameterError
from topgap.parameters import TopK

_MANY = 1_000_000

FindListed = Callable[[list[Any]], Collection[Any]]
"""Which of these few members have an answer."""


class Unlisted(NamedTuple):
    """The members of a domain without those that have an answer.

    The kernel draws them as a run: of their ranks in the domain, only those that may win. A rank
    whose member has an answer is drawn as well, and then looked up and thrown away.

    Attributes:
        domain: The domain.
        listed: How many of its members have an answer.
        find_listed: Says which of some members have one.
    """

    domain: Domain
    listed: int
    find_listed: FindListed

    def as_run(self, answer: int = 0) -> tuple[int, int, int]:
        """The run as the kernel takes it; its items have this answer."""
        return answer, self.domain.size, self.listed

    def find_places(self, asked: list[Any], _run: int, ranks: list[bytes]) -> list[int]:
        """The places of those ranks whose members have an answer; all members go into `asked`."""
        names = self.domain.unrank_all(map(int.from_bytes, ranks))
        asked += names
        listed = self.find_listed(names)
        return [place for place, name in enumerate(names) if name in listed] if listed else []


def to_domain(domain: object) -> Domain | None:
    """The domain of answers that come in parts, as a user gives it.

    Raises:
        DomainError: It is none.

    >>> to_domain(["ash", "oak"])
    <Domain of 2 items>
    """
    if domain is None or isinstance(domain, Domain):
        return domain
    if isinstance(domain, FromData):
        raise DomainError(
            "Answers that come in parts do not take FROM_DATA; leave domain out to use their own "
            "items."
        )
    return Domain(domain)  # type: ignore[arg-type]  # which it checks


def check_domain(domain: Domain, parameters: TopK) -> None:
    """See whether k winners can be drawn from a domain, by public facts alone.

    Raises:
        DomainError: It has no more than k members.
        ParameterError: k is too large to be listed, the noise too large for the kernel, or so small
            that too many members tie.
    """
    check_domain_size(domain.size, parameters.fewest_winners)
    if parameters.k > MOST_ITEMS:
        raise ParameterError(
            f"k must be at most {MOST_ITEMS:,}, the most items that can be listed."
        )
    if parameters.kernel is None:
        raise ParameterError(
            "Drawing the members of a domain that have no answer needs noise that the kernel's "
            "integers can hold; use a larger epsilon or a coarser resolution."
        )
    threshold = parameters.threshold_units
    reaching = domain.size
    if threshold is not None:
        reaching = _count_reaching(domain, parameters.rate, threshold)
    has_many = reaching > _MANY  # and fewer can all be drawn, if they are equal
    if has_many and leaves_ties(parameters):
        raise ParameterError(
            "With such small noise too many items of the domain would be equal; use a smaller "
            "epsilon."
        )
    if has_many and threshold is not None and parameters.k > _MANY:
        raise ParameterError(
            "Noise alone would lift more than a million items of the domain over the threshold; "
            "use a higher threshold, or a smaller k."
        )


def check_found(items: int, k: int) -> None:
    """Refuse data with too few items, where they are the domain: of any other the size is public.

    Raises:
        DomainError: They have no more than so many.
    """
    if items <= k:
        if not k:
            raise DomainError("The data have no items.")
        raise DomainError(f"The data have too few different items for k = {k}.")


def leaves_ties(parameters: TopK) -> bool:
    """Whether the noise is so small that too many members of a domain lie on the same tick.

    A tick holds up to e^rate times as many members as are needed, and all of them are drawn. So
    rates up to 1 a tick are let through, and others if that is hardly more than can be listed.

    >>> leaves_ties(TopK(k=1, epsilon=10**9)), leaves_ties(TopK(k=1, epsilon=10**40))
    (False, True)
    >>> leaves_ties(TopK(k=100, epsilon=5, monotonic=True, items_per_person=1))
    False
    """
    kernel = parameters.kernel
    if kernel is None or parameters.rate <= 2**kernel.refinement:
        return False
    bits = parameters.rate * 3 // 2 ** (kernel.refinement + 1) + 1  # of e^rate, or more
    return bits > 64 or min(parameters.k + 1, _MANY) << int(bits) > 2**24


def _count_reaching(domain: Domain, rate: Fraction, steps: int) -> int:
    """How many members that nobody has may reach a threshold, about and hardly more.

    Each reaches t ≥ 0 steps with a probability of at most e^−(rate·t), less than 2^−(10/7·rate·t).
    """
    zeros = max(0, steps * rate * 10 // 7)  # 10/7 is just below log₂e
    return domain.size >> int(zeros) if zeros < domain.size.bit_length() else 0


def check_domain_size(domain_size: int, k: int) -> None:
    """Refuse a domain of no more than k members.

    Raises:
        DomainError: It has no more.
    """
    if domain_size <= k:
        raise DomainError(
            f"With k = {k} the domain must have at least {k + 1} items; it has {domain_size}."
        )
