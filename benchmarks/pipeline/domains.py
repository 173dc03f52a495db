"""What `topgap release` costs with domains that are not written out, beside DuckDB alone.

`make bench` runs it. Both are whole processes, from their start to their end, in turn within one
run, with the same limit of memory and the same number of threads:

    free text   events with made-up phrases in the item column, in a Parquet file: of a thousand
                words, a million different ones; of 20,000 words, four million. DuckDB runs
                    select item, count(distinct person) from FILE group by item
                and its rows are fetched, as in benchmarks.pipeline.counting; or they stay in a
                temporary table, and nothing is told of them. The command counts the same, finds
                the members of --domain-strings among the phrases, and draws.
    pairs       T40I10D100K, --together 2. DuckDB reads the lines, splits them, and joins who had
                what with itself; its own time for the join stands beside it.

If the command takes more than --most-times DuckDB's time with the rows of a million phrases, or a
process of it more than --limit MiB, it says so and ends with code 1.
"""

import argparse
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from benchmarks.data import SHARED
from topgap.counting import MEMORY

MOST_TIMES, LIMIT = 1.3, 1024
WORDS, MORE_WORDS = 1_000, 20_000
# Phrases of one or two words of a Zipf-like law; of five, one has capitals or a question mark.
MADE_UP = """
    create table words as
        select row_number() over () as place, substr(md5(cast(r as varchar)), 1, 3 + r % 7) as word
        from range({words}) t(r);
    create table made_up as
        select 'person ' || cast(floor(random() * {persons}) as integer) as person,
            1 + floor({words} * power(random(), 6)) as a,
            1 + floor({words} * power(random(), 6)) as b,
            floor(random() * 5) as form
        from range({events});
    copy (
        select person, case form when 0 then x.word
            when 1 then upper(x.word) || ' ' || y.word || '?' else x.word || ' ' || y.word
            end as item
        from made_up join words x on x.place = a join words y on y.place = b
    ) to '{path}';
"""
DATABASE = """
import duckdb, sys, time
database = duckdb.connect(config={{
    "memory_limit": "{memory}", "threads": {threads}, "temp_directory": sys.argv[2]}})
database.execute("set enable_progress_bar = false")
"""
GROUP = """
database.execute(
    f"{sys.argv[3]} select item, count(distinct person) as n from '{sys.argv[1]}' group by item"
).fetchall()
"""
JOIN = """
lines = f"read_csv('{sys.argv[1]}', header = false, delim = '|', columns = {{'line': 'VARCHAR'}})"
database.execute(
    f"create temp table had as select distinct person, cast(item as integer) as item from ("
    f"select row_number() over () as person, unnest(string_split(trim(line), ' ')) as item "
    f"from {lines})").fetchall()
begin = time.perf_counter()
database.execute(
    "create temp table pairs as select a.item as one, b.item as other, count(*) as n "
    "from had a join had b on a.person = b.person and a.item < b.item group by all").fetchall()
print(time.perf_counter() - begin)
"""


def write(path: Path, events: int, words: int) -> None:
    """Write the events, in a process of its own, whose memory does not count as another's."""
    query = MADE_UP.format(words=words, persons=events // 10, events=events, path=path)
    code = (
        "import duckdb, sys\nwith duckdb.connect() as database:\n"
        "    database.execute('set enable_progress_bar = false')\n"
        "    database.execute(sys.argv[1])\n"
        '    print(*database.execute(f"select count(distinct item), count(distinct person) '
        "from '{sys.argv[2]}'\").fetchone())"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, query, str(path)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    items, persons = map(int, ended.stdout.split())
    print(f"\n{events:,} events, {items:,} different phrases, {persons:,} persons")


def duckdb_alone(code: str, path: Path, folder: Path, *more: str) -> list[str]:
    """The command that runs this with DuckDB, within the same limits."""
    threads = min(os.cpu_count() or 1, 7)  # of 100 MB each, as topgap takes them
    start = DATABASE.format(memory=MEMORY, threads=threads)
    return [sys.executable, "-c", start + code, str(path), str(folder / "spilled"), *more]


def topgap(path: Path, *options: str) -> list[str]:
    """The command of topgap."""
    command = str(Path(sys.executable).with_name("topgap"))
    return [command, "release", str(path), *options, "--epsilon", "1", "--quiet"]


class Run(NamedTuple):
    """What a process took, from its start to its end."""

    seconds: float
    cpu_seconds: float
    mebibytes: float


def run(command: list[str]) -> Run:
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command} failed")
    taken = time.perf_counter() - start
    return Run(taken, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def measure(commands: dict[str, list[str]], rounds: int) -> dict[str, list[Run]]:
    """What each command takes, in turn, after one that compiles Python's modules."""
    subprocess.run(topgap(Path("none.csv"), "--help"), check=True, stdout=subprocess.DEVNULL)
    found: dict[str, list[Run]] = {who: [] for who in commands}
    for _ in range(rounds):
        order = [*commands]
        random.shuffle(order)
        for who in order:
            found[who].append(run(commands[who]))
    return found


def report(found: dict[str, list[Run]]) -> tuple[float, float]:
    """Print a row for each, topgap last; return how many times the first's time it takes, and MiB.

    Times are of the medians, and of the single rounds.
    """
    medians = {
        who: Run(*map(statistics.median, zip(*runs, strict=True))) for who, runs in found.items()
    }
    *others, ours = found
    for who, took in medians.items():
        most = max(run.mebibytes for run in found[who])
        line = f"{who:<30}{took.seconds:>9.2f} s{took.cpu_seconds:>9.2f} s{most:>9.0f} MiB"
        if who != ours:
            times = [a.seconds / b.seconds for a, b in zip(found[ours], found[who], strict=True)]
            middle = medians[ours].seconds / took.seconds
            line += f"   topgap: {middle:.2f} times, {min(times):.2f} to {max(times):.2f}"
        print(line, flush=True)
    most = max(run.mebibytes for run in found[ours])
    return medians[ours].seconds / medians[others[0]].seconds, most


def compare_free_text(events: int, words: int, rounds: int, folder: Path) -> tuple[float, float]:
    path = folder / "free.parquet"
    write(path, events, words)
    members = ["--domain-strings", "a-z0-9 ", "--max-length", "40", "-k", "25"]
    commands = {
        "DuckDB, GROUP BY, rows": duckdb_alone(GROUP, path, folder, ""),
        "DuckDB, GROUP BY, a table": duckdb_alone(
            GROUP, path, folder, "create temp table counted as"
        ),
        "topgap, --domain-strings": topgap(path, "--person", "person", "--item", "item", *members),
    }
    return report(measure(commands, rounds))


def compare_pairs(rounds: int, folder: Path) -> float:
    path = SHARED / "t40i10d100k.dat.gz"
    if not path.exists():
        print(f"\nPairs are left out: {path.name} is not in {SHARED.name}.")
        return 0.0
    print("\nPairs of T40I10D100K, k = 100")
    join = duckdb_alone(JOIN, path, folder)
    options = ("--domain-range", "0:999", "--together", "2", "-k", "100")
    commands = {"DuckDB, lines and join": join, "topgap, --together 2": topgap(path, *options)}
    _, most = report(measure(commands, rounds))
    alone = [
        float(subprocess.run(join, check=True, stdout=subprocess.PIPE, text=True).stdout)
        for _ in range(rounds)
    ]
    print(f"{'DuckDB, the join alone':<30}{statistics.median(alone):>9.2f} s")
    return most


def main() -> int:
    """Print all figures; 1 if topgap took too long, or too much memory."""
    parser = argparse.ArgumentParser(description="Measure topgap release with large domains.")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a million events, one round")
    parser.add_argument("--most-times", type=float, default=MOST_TIMES, help="DuckDB's time")
    parser.add_argument("--limit", type=int, default=LIMIT, help="MiB of a process")
    asked = parser.parse_args()
    events, rounds = (1_000_000, 1) if asked.quick else (asked.events, asked.rounds)
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, DuckDB "
        f"{version('duckdb')}, topgap {version('topgap')}; medians of {rounds}, {MEMORY} for DuckDB"
    )
    print(f"{'':<30}{'time':>11}{'CPU':>11}{'memory':>13}")
    with tempfile.TemporaryDirectory(prefix="topgap-bench-") as name:
        # As if installed: nothing is compiled anew in each process.
        os.environ |= {"PYTHONPYCACHEPREFIX": name, "PYTHONDONTWRITEBYTECODE": ""}
        times, *most = compare_free_text(events, WORDS, rounds, Path(name))
        most += compare_free_text(events, MORE_WORDS, rounds, Path(name))[1:]
        most.append(compare_pairs(rounds, Path(name)))
    too_slow = times > asked.most_times and not asked.quick
    if too_slow:
        print(f"FAILED: {times:.2f} times DuckDB's time.", file=sys.stderr)
    if max(most) > asked.limit:
        print(f"FAILED: {max(most):.0f} MiB of memory.", file=sys.stderr)
    return 1 if too_slow or max(most) > asked.limit else 0


if __name__ == "__main__":
    sys.exit(main())
