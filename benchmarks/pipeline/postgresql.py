"""What counting a table of PostgreSQL costs beside `COPY` of the same columns into DuckDB.

`make bench` runs it, if there is a PostgreSQL. All are whole processes, in turn within one run:

    psql -c "COPY (SELECT person, item FROM visits) TO STDOUT (FORMAT csv)" | DuckDB's read_csv,
        and there count(DISTINCT person) for each item
    topgap release ADDRESS --table visits
    count_events in Python, and the command with --count-in-database

The server is one of its own, with settings as Debian's package has them. Its memory is not
counted: that of the client is.
"""

import argparse
import os
import platform
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from tests.checking.postgresql_server import PASSWORD, PostgresServer, serve_postgresql

ITEMS = 41_270
COPY = "COPY (SELECT person, item FROM visits) TO STDOUT (FORMAT csv)"
PLAIN = (
    'import duckdb; duckdb.sql("SELECT item, count(DISTINCT person) FROM '
    "read_csv('/dev/stdin', header = false, "
    'columns = {types}, auto_detect = false) GROUP BY item").fetchall()'
)
TYPES = {"numbers": "{'person': 'INTEGER', 'item': 'INTEGER'}",
         "text": "{'person': 'VARCHAR', 'item': 'VARCHAR'}"}  # fmt: skip
ROWS = {
    "numbers": "SELECT floor(random() * {persons})::int AS person, "
    "floor({items} * power(random(), 4))::int AS item FROM generate_series(1, {events})",
    "text": "SELECT 'p' || person AS person, 'item ' || item AS item FROM numbers",
}
COUNTING = (
    "import sys; from topgap.counting import count_events; count_events(sys.argv[1], "
    "table='visits', person='person', item='item', domain=sys.argv[2])"
)


def commands(server: PostgresServer, kind: str, domain: Path) -> dict[str, str]:
    """Lines of shell, each of which counts the table."""
    program = str(Path(sys.executable).with_name("topgap"))
    address = server.public_address
    python = PLAIN.replace("{types}", TYPES[kind])
    release = [
        program, "release", address, "--table", "visits", "--person", "person", "--item", "item",
        "-k", "25", "--epsilon", "1", "--quiet", "--domain", str(domain),
    ]  # fmt: skip
    counting = [sys.executable, "-c", COUNTING, address, str(domain)]
    return {
        "COPY, DuckDB": f"{shlex.join(['psql', address, '-qc', COPY])} | "
        f"{shlex.join([sys.executable, '-c', python])}",
        "topgap release": shlex.join(release),
        "count_events": shlex.join(counting),
        "--count-in-database": shlex.join([*release, "--count-in-database"]),
    }


def run(command: str) -> tuple[float, float]:
    """Seconds of a command, from its start to its end, and MiB of its largest process."""
    measured = (
        "import resource, subprocess, sys; "
        "code = subprocess.run(['/bin/sh', '-c', sys.argv[1]], stdout=subprocess.DEVNULL)"
        ".returncode; print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); "
        "sys.exit(code)"
    )
    environment = {**os.environ, "PGPASSWORD": PASSWORD}
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", measured, command],
        env=environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return time.perf_counter() - start, int(done.stdout) / 1024


def measure(server: PostgresServer, kind: str, folder: Path, rounds: int) -> None:
    domain = folder / f"{kind}.txt"
    text = "item {}\n" if kind == "text" else "{}\n"
    domain.write_text("".join(text.format(item) for item in range(ITEMS)))
    found: dict[str, list[tuple[float, float]]] = {}
    asked = commands(server, kind, domain)
    for _ in range(rounds):
        for name, command in asked.items():
            found.setdefault(name, []).append(run(command))
    first = next(iter(found))
    for name, runs in found.items():
        seconds = statistics.median(each for each, _ in runs)
        ratios = [each / base for (each, _), (base, _) in zip(runs, found[first], strict=True)]
        print(
            f"{kind:8} {name:20} {seconds:7.2f} s {statistics.median(ratios):6.2f} "
            f"({min(ratios):.2f} to {max(ratios):.2f}) {max(mib for _, mib in runs):8.0f} MiB",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with serve_postgresql() as server, tempfile.TemporaryDirectory() as folder:
        ((server_version,),) = server.ask("SELECT current_setting('server_version')")
        print(
            f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
            f"PostgreSQL {server_version.split()[0]}, DuckDB {version('duckdb')}, "
            f"topgap {version('topgap')}, load {os.getloadavg()[0]:.1f}; {given.events:,} rows"
        )
        numbers = ROWS["numbers"].format(
            persons=given.events // 10, items=ITEMS, events=given.events
        )
        server.clear()
        server.execute(f"CREATE TABLE numbers AS {numbers}")
        for kind in ROWS:
            rows = ROWS[kind] if kind == "text" else "TABLE numbers"
            server.execute(
                f"DROP TABLE IF EXISTS visits; CREATE TABLE visits AS {rows}; ANALYZE visits"
            )
            server.execute("VACUUM visits")
            measure(server, kind, Path(folder), given.rounds)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
