"""At most c groups of each person: which are kept.

Of a person's rows those count whose group is one of the public groups and whose item is in the
domain. If they are in more than c groups, the groups are ordered by a hash of the group and the
person, and the rows of the first c are kept. So what is kept is a function of that person's rows
alone, as a set, and of what is public. The order of rows, files and threads does not matter, and a
person who comes or goes moves nothing that is kept of others: the counts of at most c groups
change, each by at most 1. Groups in which a person has no item of the domain take no place of
another. Persons in at most c groups keep all of them, so that only the others are hashed.

The hash is that of `topgap.counting.contribution_bound`, of the group in place of the item, and so
is what decides between two that are equal: the groups as they are written. `topgap.spark` keeps the
same. The contribution bound is then applied in each group that is kept, by that rule.
"""

from collections.abc import Sequence

from topgap.counting.contribution_bound import build_hash_sql, to_limit
from topgap.counting.engine import Engine


def create_kept_view(
    engine: Engine, label: str, events: str, *, person_text: str, most: int
) -> None:
    """Create the view `kept` of the rows that count.

    It has the columns person, whatever else `person_text` needs, grp and place: the places of the
    group and of the item. A row may be there more than once.

    Args:
        engine: Does the counting.
        label: What an error calls the source.
        events: SQL for such rows, of public groups and items of the domain alone. Those without a
            person are left out here, where that is cheap to see. The table `group_marks` has the
            marks of the groups.
        person_text: SQL for the text of a person.
        most: c, how many groups are kept of a person.
    """

    def run(table: str) -> None:
        engine.run(f"CREATE TEMP TABLE {table}", label=label, doing=f"counting {label}")

    run(f"had AS {events}")
    engine.trust_statistics()
    # Whether there is a second group is far cheaper to see than how many there are.
    several = "SELECT person FROM had GROUP BY person HAVING min(grp) < max(grp)"
    run(f"several AS {several}")
    run("seen AS SELECT DISTINCT * EXCLUDE (place) FROM had SEMI JOIN several USING (person)")
    many = f"SELECT person FROM seen GROUP BY person HAVING count(*) > {to_limit(most)}"
    marked = f"SELECT * FROM seen SEMI JOIN ({many}) USING (person) JOIN group_marks AS marks "
    marked += "ON marks.place = grp"
    number = number_by_hash("person", ["mark"], person_text)
    run(f"dropped AS SELECT person, grp FROM ({marked}) QUALIFY {number} > {to_limit(most)}")
    engine.run("DROP TABLE several; DROP TABLE seen", label=label)
    kept = "SELECT * FROM had ANTI JOIN dropped USING (person, grp) WHERE person IS NOT NULL"
    engine.run(f"CREATE TEMP VIEW kept AS {kept}", label=label)


def number_by_hash(partition: str, marks: Sequence[str], person_text: str) -> str:
    """Build SQL for the number of a row among those of a person, from 1, in the order of the hash.

    Args:
        partition: SQL for what such rows have in common.
        marks: SQL for what is hashed, in parts.
        person_text: SQL for the text of the person.
    """
    hashed = build_hash_sql(marks, person_text)
    order = ", ".join([hashed, *marks])
    return f"row_number() OVER (PARTITION BY {partition} ORDER BY {order})"
