"""The blocks of docs/databases.md, run one after the other against a real PostgreSQL.

Without PostgreSQL these tests are skipped; with TOPGAP_NEEDS_POSTGRESQL=1 they fail.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.checking.postgresql_server import PASSWORD, PostgresServer
from tests.cli.command import shell

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "databases.md"
COUNTS = {"J45": 3_000, "I10": 2_000, "E11": 1_000, "M54": 3}


@pytest.mark.deep
def test_the_blocks_of_the_page_run(
    postgresql: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = " UNION ALL ".join(
        f"SELECT 'p' || n AS patient, '{code}' AS diagnosis, "
        f"CASE WHEN n % 2 = 0 THEN 'north' ELSE 'south' END AS ward "
        f"FROM generate_series(1, {most}) AS n"
        for code, most in COUNTS.items()
    )
    postgresql.execute(f"CREATE TABLE visits AS {rows}")
    (tmp_path / "icd10.txt").write_text("".join(f"{code}\n" for code in [*COUNTS, "A00"]))
    _, _, steps = PAGE.read_text(encoding="utf-8").partition("## PostgreSQL, step by step")
    steps, _, _ = steps.partition("\n## ")
    blocks = re.findall(r"```(sh|python)\n(.*?)```", steps, re.DOTALL)
    assert [kind for kind, _ in blocks] == ["sh"] * 5 + ["python"]
    where = {"HOST": "127.0.0.1", "PORT": str(postgresql.port), "PASSWORD": PASSWORD}
    for kind, block in blocks:
        if kind == "sh":
            # Of two commands in a block each is run by itself: `shell` finds one.
            exports = "".join(line + "\n" for line in block.splitlines() if "export" in line)
            for command in re.split(r"\n(?=topgap )", block):
                ended = shell(exports + command, tmp_path, **where)
                assert ended.code == 0, ended.err
                assert PASSWORD not in ended.out + ended.err
    assert ended.out.split().index("J45") < ended.out.split().index("I10")
    assert (tmp_path / "diagnoses.html").exists()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGSERVICEFILE", "clinic.conf")
    names: dict[str, Any] = {}
    exec(blocks[-1][1], names)
    assert names["release"].items == ("J45", "I10", "E11")
