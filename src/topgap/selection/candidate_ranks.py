"""The candidates of a pool by their ranks in a domain, as text, for another machine, and back.

Members can be of any type, or tuples; their ranks are whole numbers, and the domain is public.
"""

from collections.abc import Sequence

from topgap.domains import Domain
from topgap.errors import ItemsError
from topgap.selection.candidate_pool import Candidate, CandidatePool, Part
from topgap.selection.item_names import TWICE


def to_ranks(pool: CandidatePool, domain: Domain) -> tuple[list[str], list[str]]:
    """Write the rank of each candidate, which is a member of the domain, and its ticks."""
    candidates = pool.as_part().candidates
    ranks = [format(domain.rank(candidate.item), "x") for candidate in candidates]
    return ranks, [format(candidate.ticks, "x") for candidate in candidates]


def fill_from_ranks(
    pool: CandidatePool, domain: Domain, ranks: Sequence[str], ticks: Sequence[str], size: int
) -> set[object]:
    """Put into a pool what `to_ranks` wrote, of one pool or of several put together.

    Args:
        pool: The pool.
        domain: The domain of the ranks.
        ranks: What was written.
        ticks: What was written with it.
        size: How many members these pools had in all.

    Returns:
        The names of the candidates.

    Raises:
        ItemsError: An item is there twice.

    >>> from topgap.parameters import TopK
    >>> domain, parameters = Domain.range(7, 100), TopK(k=1, epsilon=1)
    >>> part = CandidatePool(parameters)
    >>> part.add([10**9, 0], [99, 8])
    >>> whole = CandidatePool(parameters, domain=domain, find_listed={8, 99}.intersection)
    >>> fill_from_ranks(whole, domain, *to_ranks(part, domain), part.count) == {8, 99}
    True
    >>> whole.rank().release().items
    (99,)
    """
    names = [domain.unrank(int(rank, 16)) for rank in ranks]
    distinct = {*names}
    if len(distinct) < len(names):
        raise ItemsError(TWICE)
    candidates = [Candidate(int(tick, 16), name) for tick, name in zip(ticks, names, strict=True)]
    pool.keep(Part(candidates, None, None, size, named=True))
    return distinct
