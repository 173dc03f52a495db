"""What the driver does with the pools, or the lists, of all partitions that it has collected."""

from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topgap import errors
from topgap.domains import Domain, GroupedCounts
from topgap.estimates.grouped import GroupedEstimates
from topgap.estimates.noise import Noise
from topgap.grouped_parameters import TopKByGroup
from topgap.parameters import TopK
from topgap.release import GroupedRelease, Lists, Release
from topgap.release.construction import PackedUnits, pack_units
from topgap.selection.arrow_groups import Columns, read_lists, split_lists, write_list
from topgap.selection.candidate_arrow import fill_from_arrow
from topgap.selection.candidate_columns import combine
from topgap.selection.candidate_pool import CandidatePool, Ranking
from topgap.selection.candidate_ranks import fill_from_ranks, find_ranked
from topgap.selection.column_names import ITEM, VALUE
from topgap.selection.grouped_answers import prepare_counts
from topgap.selection.measurement import GroupedShares, Shares
from topgap.selection.top_k_by_group import draw_groups, list_winners
from topgap.spark.listing import UNLISTED, Listing

Find = Callable[[list[Any]], Collection[Any]]
"""Says which of a few members of the domain occur."""


def release_pools(
    collected: pa.Table, parameters: TopK, *, gaps: bool, listed: Listing = UNLISTED
) -> Release:
    """Release the winners of all partitions."""
    return listed.name(_merge_pools(collected, parameters).rank()).release(gaps=gaps)


def measure_pools(
    collected: pa.Table, shares: Shares, listed: Listing = UNLISTED
) -> tuple[Release, tuple[Fraction, ...]]:
    """Release the winners of all partitions, and measure the answers that came with them."""
    pool = _merge_pools(collected, shares.selection, keep_answers=True)
    return _measure(pool.rank(), pool, shares, listed)


def release_members(
    collected: pa.Table, parameters: TopK, domain: Domain, find: Find, *, gaps: bool
) -> Release:
    """Release the winners of all partitions and of all other members of the domain.

    These are drawn here, once, and the few of them that may win are looked up in the data.
    """
    pool = _merge_members(collected, parameters, domain, find)
    return pool.rank().release(gaps=gaps)


def measure_members(
    collected: pa.Table, shares: Shares, domain: Domain, find: Find
) -> tuple[Release, tuple[Fraction, ...]]:
    """Release the same, and measure the answers that came with the winners; others have 0."""
    pool = _merge_members(collected, shares.selection, domain, find, keep_answers=True)
    return _measure(pool.rank(), pool, shares)


def _merge_pools(
    collected: pa.Table, parameters: TopK, *, keep_answers: bool = False
) -> CandidatePool:
    pool = CandidatePool(parameters, keep_answers=keep_answers)
    fill_from_arrow(pool, raise_reported_error(collected))
    return pool


def _merge_members(
    collected: pa.Table,
    parameters: TopK,
    domain: Domain,
    find: Find,
    *,
    keep_answers: bool = False,
) -> CandidatePool:
    raise_reported_error(collected)
    is_count = pc.is_null(collected[ITEM])
    held = collected.filter(pc.invert(is_count))
    size = sum(map(int, collected.filter(is_count)[VALUE].to_pylist()))

    def find_listed(names: list[Any]) -> set[Any]:
        # A candidate occurs, whatever a data frame says that is not the same a second time.
        known = find_ranked(held, domain, names)
        others = [name for name in names if name not in known]
        return known.union(find(others)) if others else known

    pool = CandidatePool(
        parameters, domain=domain, find_listed=find_listed, keep_answers=keep_answers
    )
    fill_from_ranks(pool, domain, held, size)
    return pool


def _measure(
    ranking: Ranking, pool: CandidatePool, shares: Shares, listed: Listing | None = None
) -> tuple[Release, tuple[Fraction, ...]]:
    named = ranking if listed is None else listed.name(ranking)
    return named.release(), shares.measure(pool.take_answers(ranking.items))


def release_lists(
    collected: pa.Table,
    parameters: TopKByGroup,
    public: Domain,
    domain: Domain,
    *,
    gaps: bool,
    from_data: bool = False,
) -> GroupedRelease:
    """Release the lists of all groups: those that the tasks drew, and those without a row.

    The latter are drawn here, with a key of their own. The tasks drew a list for every group of
    which they had a row, and a group's rows are in one partition.

    Args:
        collected: The number of each group, and its list as text.
        parameters: Of the release.
        public: The public groups.
        domain: The domain of the items.
        gaps: Whether the gaps are released.
        from_data: Whether the items were taken from the data.

    Raises:
        TopgapError: A partition reported it.
        SparkError: A group was in two partitions.
    """
    read = _read_lists(collected, parameters, public, domain)
    return _release_lists(read, parameters, public, domain, gaps=gaps, from_data=from_data)


def measure_lists(
    collected: pa.Table,
    shares: GroupedShares,
    public: Domain,
    domain: Domain,
    noise: Noise,
    *,
    from_data: bool = False,
) -> GroupedEstimates:
    """Release the same, and measure the answers that came with the winners.

    Args:
        collected: As of `release_lists`.
        shares: How ε is shared.
        public: The public groups.
        domain: The domain of the items.
        noise: That of a single measurement.
        from_data: Whether the items were taken from the data.

    Raises:
        TopgapError, SparkError: As of `release_lists`.
    """
    read = _read_lists(collected, shares.selection, public, domain)
    measured = pack_units(shares.each.add_noise(read.answer_units.tolist()))
    release = _release_lists(read, shares.selection, public, domain, gaps=True, from_data=from_data)
    return GroupedEstimates.from_mechanism(release, measured, noise)


def _read_lists(
    collected: pa.Table, parameters: TopKByGroup, public: Domain, domain: Domain
) -> Columns:
    """The lists of all groups, in their public order."""
    table = raise_reported_error(collected)
    drawn = [*map(int, table[ITEM].to_pylist())]
    if len({*drawn}) < len(drawn):
        raise errors.SparkError(
            "Spark had a group in two partitions, which is a defect of topgap; please report it."
        )
    others = sorted({*range(public.size)}.difference(drawn))
    texts = combine(table[VALUE])
    empty = pa.array(_draw_empty(parameters, others, domain), texts.type)
    texts = pa.concat_arrays([texts, empty])
    return read_lists(texts.take(pa.array(np.argsort(np.array([*drawn, *others], np.int64)))))


def _release_lists(
    read: Columns,
    parameters: TopKByGroup,
    public: Domain,
    domain: Domain,
    *,
    gaps: bool,
    from_data: bool,
) -> GroupedRelease:
    is_laplace = parameters.each.noise == "laplace"
    lists = Lists(
        tuple(read.sizes.tolist()),
        None,
        tuple(domain.unrank_all(read.ranks.tolist())),
        _pack(read.gap_units) if gaps else None,
        _pack(read.value_units) if gaps and is_laplace else None,
    )
    described = None if from_data else domain.description
    return GroupedRelease.from_mechanism(
        parameters, [*public], lists, domain=described, domain_from_data=from_data
    )


def _pack(units: Any) -> PackedUnits:
    is_packed = units.dtype == np.int64
    return units.tobytes() if is_packed else pack_units(units.tolist())


def _draw_empty(parameters: TopKByGroup, groups: Sequence[int], domain: Domain) -> list[str]:
    """Draw the lists of so many groups of which there is no row: everything has 0."""
    if not groups:
        return []
    none = np.array([], dtype=np.int64)
    ends = np.zeros(len(groups), dtype=np.int64)
    counts = GroupedCounts(groups, domain, [], ends=ends, places=none, counts=none)
    data = prepare_counts(parameters, counts, 0)
    lists = split_lists(list_winners(data, draw_groups(parameters, data)), domain)
    return [write_list(each._replace(answer_units=[0] * len(each.ranks))) for each in lists]


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
