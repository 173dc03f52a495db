"""What the driver does with the pools, or the lists, of all partitions that it has collected."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topgap import errors
from topgap.domains import Domain, DomainDescription, GroupedCounts
from topgap.grouped_parameters import TopKByGroup
from topgap.parameters import TopK
from topgap.release import GroupedRelease, Lists, Release
from topgap.release.construction import pack_units
from topgap.selection.arrow_groups import Winners, read_list, split_lists
from topgap.selection.arrow_partition import ITEM, VALUE
from topgap.selection.candidate_arrow import fill_from_arrow
from topgap.selection.candidate_pool import CandidatePool
from topgap.selection.candidate_ranks import fill_from_ranks
from topgap.selection.grouped_answers import prepare_counts
from topgap.selection.top_k_by_group import draw_groups, list_winners


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


def release_lists(
    collected: pa.Table, parameters: TopKByGroup, public: Domain, domain: Domain, *, gaps: bool
) -> GroupedRelease:
    """Release the lists of all groups: those that the tasks drew, and those without a row.

    The latter are drawn here, with a key of their own. The tasks drew a list for every group of
    which they had a row, and a group's rows lie in one partition.

    Args:
        collected: The number of each group, and its list as text.
        parameters: Of the release.
        public: The public groups.
        domain: The domain of the items.
        gaps: Whether the gaps are released.

    Raises:
        TopgapError: A partition reported it.
        SparkError: A group was in two partitions.
    """
    table = raise_reported_error(collected)
    drawn = [*map(int, table[ITEM].to_pylist())]
    found = dict(zip(drawn, map(read_list, table[VALUE].to_pylist()), strict=True))
    if len(found) < len(drawn):
        raise errors.SparkError(
            "Spark had a group in two partitions, which is a defect of topgap; please report it."
        )
    others = [number for number in range(public.size) if number not in found]
    found |= zip(others, _draw_empty(parameters, others, domain), strict=True)
    winners = [found[number] for number in range(public.size)]
    ranks = (rank for each in winners for rank in each.ranks)
    is_laplace = parameters.each.noise == "laplace"
    lists = Lists(
        tuple(len(each.ranks) for each in winners),
        None,
        tuple(domain.unrank_all(ranks)),
        pack_units([unit for each in winners for unit in each.gap_units]) if gaps else None,
        pack_units([unit for each in winners for unit in each.value_units])
        if gaps and is_laplace
        else None,
    )
    return GroupedRelease.from_mechanism(parameters, [*public], lists, domain=domain.description)


def _draw_empty(
    parameters: TopKByGroup, groups: Sequence[int], domain: Domain
) -> Collection[Winners]:
    """Draw the lists of so many groups of which there is no row: everything has 0."""
    if not groups:
        return []
    none = np.array([], dtype=np.int64)
    ends = np.zeros(len(groups), dtype=np.int64)
    counts = GroupedCounts(groups, domain, [], ends=ends, places=none, counts=none)
    data = prepare_counts(parameters, counts, 0)
    return [*split_lists(list_winners(data, draw_groups(parameters, data)), domain)]


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
