"""The counts of a written list, or of whatever is in the data: all of them in memory."""

import numpy as np

from topgap.counting.cells import build_person_sql, is_integer
from topgap.counting.contribution_bound import create_bounded_table
from topgap.counting.counted import are_present, create_counted_table, list_texts
from topgap.counting.engine import Engine
from topgap.counting.occurring import register_texts
from topgap.counting.tally import Tally
from topgap.domains import Counts, Domain
from topgap.errors import DomainError


def count_list(engine: Engine, public: Domain, tally: Tally, bound: int | None = None) -> Counts:
    """Count the items of a list, with 0 for those that do not occur.

    Raises:
        SourceError: The source cannot be read; see `create_counted_table`.
        DomainError: Two items of the list are the same to DuckDB.
    """
    label = tally.opened.label
    create_domain_table(engine, public)
    texts = list_texts(tally)
    matched = f"FROM ({{}}) JOIN domain USING ({texts})"
    if bound is None:
        create_counted_table(
            engine,
            tally,
            lambda texts: _query_flag(engine, f"SELECT count(*) > 0 {matched}", texts),
        )
    else:
        members = f"SELECT {texts} FROM ({{}}) SEMI JOIN domain USING ({texts})"
        create_bounded_table(engine, tally, members.format, bound)
    found_counts = engine.run(
        f"SELECT place, n {matched.format('FROM counted')}", label=label, fetch="fetchnumpy"
    )
    counts = np.zeros(len(public), dtype=np.int64)
    counts[found_counts["place"]] = found_counts["n"]
    return Counts(zip(public.names, counts.tolist(), strict=True), items_per_person=bound)


def count_all(engine: Engine, tally: Tally, bound: int | None = None) -> Counts:
    """Count all items of the data, which are then the domain.

    Raises:
        SourceError: The source cannot be read; see `create_counted_table`.
    """
    if bound is None:
        tally = create_counted_table(
            engine, tally, lambda texts: _query_flag(engine, "SELECT count(*) > 0 FROM ({})", texts)
        )
    else:
        tally = create_bounded_table(engine, tally, "{}".format, bound)
    names = ", ".join(
        f"item{n}" if is_integer(kind) else f"text{n}" for n, kind in enumerate(tally.kinds)
    )
    rows = engine.run(
        f"SELECT {names}, n FROM counted WHERE {are_present(tally)} ORDER BY ALL",
        label=tally.opened.label,
    )
    counts = ((row[0] if tally.width == 1 else row[:-1], row[-1]) for row in rows)
    return Counts(counts, domain_from_data=True, items_per_person=bound)


def create_domain_table(engine: Engine, public: Domain) -> None:
    """Create the table `domain`: the items' texts and their positions in the public list."""
    columns = [public.texts] if public.columns == 1 else [*zip(*public.texts, strict=True)]
    register_texts(engine, "public", columns)
    names = [f"text{n}" for n in range(public.columns)]
    # Normalized once more, by DuckDB's own tables of Unicode.
    texts = ", ".join(f"{build_person_sql(name, 'VARCHAR')} AS {name}" for name in names)
    engine.run(
        f"CREATE TEMP TABLE domain AS SELECT {texts}, place FROM public",
        label="The domain",
    )
    engine.connection.unregister("public")
    distinct = f"SELECT DISTINCT {', '.join(names)} FROM domain"
    repeated = f"SELECT count(*) > (SELECT count(*) FROM ({distinct})) FROM {{}}"
    if _query_flag(engine, repeated, "domain"):
        raise DomainError("The domain has two items that are the same.")


def _query_flag(engine: Engine, query: str, relation: str) -> bool:
    ((flag,),) = engine.run(query.format(relation), label="The source")
    return bool(flag)
