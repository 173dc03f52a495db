"""What the driver does with the pools of all partitions, once it has collected them."""

from collections.abc import Callable, Collection
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from topgap import errors
from topgap.domains import Domain, DomainDescription
from topgap.parameters import TopK
from topgap.release import Release
from topgap.selection.arrow_partition import ITEM, VALUE
from topgap.selection.candidate_arrow import fill_from_arrow
from topgap.selection.candidate_pool import CandidatePool
from topgap.selection.candidate_ranks import fill_from_ranks


def release_pools(
    collected: pa.Table, parameters: TopK, *, gaps: bool, listed: DomainDescription | None = None
) -> Release:
    """Release the winners of all partitions."""
    pools = raise_reported_error(collected)
    pool = CandidatePool(parameters)
    fill_from_arrow(pool, pools)
    # Named also where a threshold has left nothing.
    return pool.rank()._replace(named=True, domain=listed).release(gaps=gaps)


def release_members(
    collected: pa.Table,
    parameters: TopK,
    domain: Domain,
    find: Callable[[list[Any]], Collection[Any]],
    *,
    gaps: bool,
) -> Release:
    """Release the winners of all partitions and of all other members of the domain.

    These are drawn here, once, and the few of them that may win are looked up in the data.
    """
    raise_reported_error(collected)
    candidates: set[Any] = set()

    def find_listed(names: list[Any]) -> set[Any]:
        # A candidate occurs, whatever a data frame says that is not the same a second time.
        known = candidates.intersection(names)
        others = [name for name in names if name not in known]
        return known.union(find(others)) if others else known

    pool = CandidatePool(parameters, domain=domain, find_listed=find_listed)
    is_count = pc.is_null(collected[ITEM])
    held = collected.filter(pc.invert(is_count))
    size = sum(map(int, collected.filter(is_count)[VALUE].to_pylist()))
    ranks, ticks = held[ITEM].to_pylist(), held[VALUE].to_pylist()
    candidates |= fill_from_ranks(pool, domain, ranks, ticks, size)
    return pool.rank().release(gaps=gaps)


def raise_reported_error(collected: pa.Table) -> pa.Table:
    """Raise the error that a partition reported; return what was collected if there is none.

    Raises:
        TopgapError: A partition reported it.
    """
    reports = collected.filter(pc.is_null(collected[ITEM]))[VALUE].to_pylist()
    reported = [each for each in reports if not each.isdecimal()]
    if reported:
        kind, _, sentence = min(reported).partition(": ")
        raise getattr(errors, kind)(sentence)
    return collected
