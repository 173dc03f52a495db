"""The tutorials work as printed, and their commands print what the pages show.

Noise would have to bridge 38 times its mean to change a name, an order or a remark: that is the
least distance, in regions.md, where noise has the mean 12, the third of a list has 500 patients
more than the next, and a gap below 36 is uncertain. With fewer than 1,000 pairs of items that
has a probability below 10^-13; 10^-10 is declared. In pages.md the distance is 740 means even
for 10^38 items.
"""

from pathlib import Path

import pytest

from tests.checking.postgresql_server import PASSWORD, PostgresServer
from tests.tools.documents import name
from tests.tools.tutorials import (
    WITH_SERVERS,
    Ran,
    Step,
    is_shown,
    postgresql_steps,
    run_steps,
    spark_steps,
    steps,
    store,
    tutorials,
)

pytestmark = pytest.mark.posix(reason="runs the pages' lines of shell")
may_fail_by_chance = pytest.mark.statistical(false_alarm=1e-10)

PAGES = {name(page): page for page in tutorials()}


def check(given: list[Step], folder: Path) -> None:
    """Run the steps, and compare what they print."""
    for step, ran in zip(given, run_steps(given, folder), strict=True):
        assert is_shown(ran.printed, step.shown), f"{step.commands}prints\n{ran.printed}"


@pytest.mark.slow
@may_fail_by_chance
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(each, marks=pytest.mark.smoke if each == "docs/start.md" else ())
        for each, path in PAGES.items()
        if path != WITH_SERVERS
    ],
)
def test_a_tutorial_prints_what_it_shows(page: str, tmp_path: Path) -> None:
    check(steps(PAGES[page].read_text(encoding="utf-8")), tmp_path)


@pytest.mark.slow
@may_fail_by_chance
def test_the_part_on_postgresql(postgresql: PostgresServer, tmp_path: Path) -> None:
    page = WITH_SERVERS.read_text(encoding="utf-8")
    assert f"PGPORT=5432 PGDATABASE=clinic PGUSER=owner PGPASSWORD={PASSWORD}\n" in page
    check(postgresql_steps(steps(page), postgresql.port), tmp_path)


@pytest.mark.spark
@may_fail_by_chance
def test_the_part_on_spark(tmp_path: Path) -> None:
    from tests.spark.cluster import require_java

    require_java()
    check(spark_steps(steps(WITH_SERVERS.read_text(encoding="utf-8"))), tmp_path)


def test_every_step_of_the_page_with_servers_belongs_to_a_part() -> None:
    given = steps(WITH_SERVERS.read_text(encoding="utf-8"))
    assert {step.section for step in given} == {"1. Make the visits", "On PostgreSQL", "On Spark"}


@pytest.mark.slow
def test_a_step_that_fails_is_seen(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="step 2 failed:\nthen this"):
        run_steps([Step("true\n"), Step("echo then this\nfalse\n")], tmp_path)


@pytest.mark.slow
def test_steps_share_a_shell_and_have_outputs_of_their_own(tmp_path: Path) -> None:
    ran = run_steps([Step("a=3\n"), Step("echo $a\necho e >&2\n")], tmp_path)
    assert [each.printed for each in ran] == ["", "3\ne\n"]


@pytest.mark.parametrize(
    ("printed", "shown", "same"),
    [
        ("flu  12.5\n", "flu   9,000.1\n", True),
        ("ε = 1/4\n", "ε = 0.25\n", True),
        ("flu\n", "cold\n", False),
        ("flu 1\ncold 2\n", "flu 1\n", False),
        ("flu 1\n", "flu 1\ncold 2\n", False),
        ("flu 1\n", "", False),
        ("", "", True),
        ("a\nb\nc\n", "a\n...\n", True),
        ("a\nb\nc\n", "...\nb\n", False),
        (f"Receipt 2:{'ab' * 32}\n", f"Receipt 3:{'cd' * 32}\n", True),
        ("██░░ 50%\n", "█░░░ 25%\n", True),
        ("a.c\n", "abc\n", False),
    ],
)
def test_outputs_are_compared_by_their_words(printed: str, shown: str, same: bool) -> None:
    assert is_shown(printed, shown) is same


def test_a_new_output_is_stored_where_the_old_one_was() -> None:
    page = "```sh\na\n```\n\n```text\n1\n```\n\nWords.\n\n```sh\nb\n```\n\n```text\n```\n\nEnd.\n"
    stored = store(page, steps(page), [Ran("2\n3\n", 1), Ran("4\n", 1)])
    assert [step.shown for step in steps(stored)] == ["2\n3\n", "4\n"]
    assert stored.endswith("```\n\nEnd.\n")
    shortened = page.replace("1\n", "1\n...\n")
    stored = store(shortened, steps(shortened), [Ran("2\n", 1), Ran("4\n", 1)])
    assert [step.shown for step in steps(stored)] == ["1\n...\n", "4\n"]


def test_an_output_without_a_command_is_refused() -> None:
    with pytest.raises(ValueError, match="line 1: an output that follows no command"):
        steps("```text\n1\n```\n")
