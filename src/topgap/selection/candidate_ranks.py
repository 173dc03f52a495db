"""The candidates of a pool by their ranks in a domain, as text, for another machine, and back.

Members can be of any type, or tuples; their ranks are whole numbers, and the domain is public.
"""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from topgap.domains import Domain
from topgap.errors import ItemsError
from topgap.selection.candidate_columns import (
    combine,
    find_largest,
    has_repeated,
    read_answers,
    read_ticks,
    take,
    write_answers,
    write_numbers,
    write_ticks,
)
from topgap.selection.candidate_pool import Candidate, CandidatePool, Part
from topgap.selection.column_names import ANSWER, ITEM, VALUE
from topgap.selection.item_names import TWICE


def to_ranks(pool: CandidatePool, domain: Domain) -> pa.Table:
    """The candidates, which are members of the domain, as `to_arrow`, by their ranks."""
    part = pool.as_part()
    ranks = [_write_rank(domain, candidate.item) for candidate in part.candidates]
    columns = {ITEM: pa.array(ranks, pa.string()), VALUE: write_numbers(write_ticks(pool, part))}
    if pool.keeps_answers:
        columns[ANSWER] = write_numbers(write_answers(pool, part))
    return pa.table(columns)


def fill_from_ranks(pool: CandidatePool, domain: Domain, table: pa.Table, size: int) -> None:
    """Put into a pool what `to_ranks` wrote, of one pool or of several put together.

    Args:
        pool: The pool.
        domain: The domain of the ranks.
        table: What was written; numbers can be text.
        size: How many members these pools had in all.

    Raises:
        ItemsError: An item is there twice.

    >>> from topgap.parameters import TopK
    >>> domain, parameters = Domain.range(7, 100), TopK(k=1, epsilon=1)
    >>> part = CandidatePool(parameters)
    >>> part.add([10**9, 0], [99, 8])
    >>> whole = CandidatePool(parameters, domain=domain, find_listed={8, 99}.intersection)
    >>> fill_from_ranks(whole, domain, to_ranks(part, domain), part.count)
    >>> whole.rank().release().items
    (99,)
    """
    ranks = combine(table[ITEM])
    if has_repeated(ranks):
        raise ItemsError(TWICE)
    # The pools that wrote it had no domain: they drew what occurs, and nothing else.
    writer = CandidatePool(pool.parameters, keep_answers=pool.keeps_answers)
    ticks = read_ticks(combine(table[VALUE]), writer.tag)
    places = find_largest(ticks, pool.parameters.k + 1)
    answers = read_answers(pool, table[ANSWER].take(places)) if pool.keeps_answers else None
    names = [domain.unrank(int(rank, 16)) for rank in ranks.take(places).to_pylist()]
    candidates = [*map(Candidate, take(ticks, places), names)]
    pool.keep(Part(candidates, answers, None, size, named=True))


def find_ranked(table: pa.Table, domain: Domain, names: Iterable[Any]) -> set[Any]:
    """Those of a few members that are in a table of `to_ranks`."""
    asked = {_write_rank(domain, name): name for name in names}
    ranks = table[ITEM]
    found = ranks.filter(pc.is_in(ranks, value_set=pa.array([*asked], ranks.type)))
    return {asked[rank] for rank in found.to_pylist()}


def _write_rank(domain: Domain, name: Any) -> str:
    return format(domain.rank(name), "x")
