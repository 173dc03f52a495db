"""The table `counted`: what occurs in a source, each with its texts and its count."""

from collections.abc import Callable

from topgap.counting.engine import Engine
from topgap.counting.tally import Tally
from topgap.errors import SourceError

HasMember = Callable[[str], bool]
"""Whether any of the items whose texts this SQL selects, as text0 …, is in the domain."""


def create_counted_table(engine: Engine, tally: Tally, has_member: HasMember) -> Tally:
    """Create the table `counted`, in which no two rows mean the same item of the domain.

    It has columns item0 …, their texts text0 …, and n. A text is NULL if it is missing; items that
    are not in the domain may be there, more than once.

    Args:
        engine: Does the counting.
        tally: How it is done.
        has_member: Looks items up in the domain.

    Returns:
        The tally, with the types of the columns item0 … of the table.

    Raises:
        SourceError: The source cannot be read; or precomputed counts are missing, or there twice,
            of items of the domain.
    """
    label = tally.opened.label
    _count(engine, tally, tally.by_cell)
    if tally.by_text is None and has_member(f"{_select_present(tally)} AND n IS NULL"):
        raise missing_counts(label)
    if not has_member(_select_repeated(tally)):
        return tally
    if tally.by_text is None:
        raise SourceError(
            f"{label} has an item more than once; add up its counts or, if these are "
            f"events, name the column of the persons."
        )
    by_texts = tally.of_texts()
    _count(engine, by_texts, tally.by_text)
    return by_texts


def missing_counts(label: str) -> SourceError:
    """The error for precomputed counts that are not counts."""
    return SourceError(
        f"{label} has counts that are missing, or no whole numbers from 0 to below "
        f"2^63; other numbers are read from Parquet and Arrow files with --all-rows "
        f"(topgap.streams)."
    )


def list_texts(tally: Tally, table: str = "") -> str:
    """Write the names of the columns text0 …, of a table if it is named."""
    before = f"{table}." if table else ""
    return ", ".join(f"{before}text{n}" for n in range(tally.width))


def are_present(tally: Tally) -> str:
    """Write the condition that no text of an item is missing."""
    return " AND ".join(f"text{n} IS NOT NULL" for n in range(tally.width))


def _count(engine: Engine, tally: Tally, counting: str) -> None:
    texts = tally.build_texts_sql()
    engine.ignore_row_order()
    engine.run(
        f"CREATE OR REPLACE TEMP TABLE counted AS SELECT {texts}, * FROM ({counting})",
        label=tally.opened.label,
        doing=f"counting {tally.opened.label}",
    )


def _select_present(tally: Tally) -> str:
    return f"SELECT {list_texts(tally)} FROM counted WHERE {are_present(tally)}"


def _select_repeated(tally: Tally) -> str:
    """Select the texts that are in more than one row."""
    rows = _select_present(tally)
    if tally.by_text is not None and tally.are_texts:
        # Cells differ from each other, so that two texts are equal only if one is not its cell.
        changed = " OR ".join(f"text{n} <> item{n}" for n in range(tally.width))
        texts = list_texts(tally)
        rows = f"SELECT {texts} FROM ({rows}) SEMI JOIN ({rows} AND ({changed})) USING ({texts})"
    return f"SELECT {list_texts(tally)} FROM ({rows}) GROUP BY ALL HAVING count(*) > 1"
