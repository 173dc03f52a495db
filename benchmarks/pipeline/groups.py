"""What `topgap release --by` costs beside DuckDB's own count by region and item, and its memory.

`make bench` runs it. Both are whole processes, from their start to their end, in turn within one
run: the command, with a list for each region, and Python with the query

    select region, item, count(distinct person) from FILE group by region, item

as DuckDB runs it if nothing is said, with all memory. Its rows are fetched once as tuples, as in
benchmarks.pipeline.counting, and once as NumPy arrays, which is as quick as it can be; a third time
with the memory that the command gives to DuckDB. The events are made up: 3,000 regions, 70,000
codes of a Zipf-like law, ten events a person, of which some are in another region than the others.

If the command takes more than --most-times DuckDB's time with the rows, it says so and ends with
code 1.
"""

import argparse
import os
import platform
import random
import statistics
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import duckdb

from benchmarks.pipeline.counting import run
from topgap.counting import MEMORY

REGIONS, CODES, MOST_TIMES = 3_000, 70_000, 1.5
MADE_UP = """
    select person, case when random() < 0.03 then cast(floor(random() * {regions}) as integer)
            else cast(hash(person) % {regions} as integer) end as region,
        cast(floor({codes} * power(random(), 4)) as integer) as item
    from (select cast(floor(random() * {persons}) as integer) as person from range({events}))
"""
NAMES = "'region ' || region as region, 'code ' || item as item from made_up"
FORMS = {
    "numbers": f"select person, {NAMES}",
    "text": f"select 'p' || person as person, {NAMES}",
}
QUERY = "select region, item, count(distinct person) from '{}' group by region, item"
PLAIN = f"""
import duckdb, sys
path, memory, fetch = sys.argv[1:]
database = duckdb.connect(config={{"memory_limit": memory}} if memory else {{}})
database.execute("set enable_progress_bar = false")
getattr(database.execute({QUERY!r}.format(path)), fetch)()
"""
WAYS = {
    "DuckDB, rows": ("", "fetchall"),
    "DuckDB, arrays": ("", "fetchnumpy"),
    f"DuckDB, {MEMORY}": (MEMORY, "fetchall"),
}
BOUNDS = (1, 2)


def write(folder: Path, events: int) -> None:
    """Write the events, and the public lists."""
    with duckdb.connect() as database:
        database.execute("set enable_progress_bar = false")
        made_up = MADE_UP.format(persons=events // 10, events=events, regions=REGIONS, codes=CODES)
        database.execute(f"create table made_up as {made_up}")
        for form, rows in FORMS.items():
            database.execute(f"copy ({rows}) to '{folder / form}.parquet'")
    (folder / "regions.txt").write_text("".join(f"region {n}\n" for n in range(REGIONS)))
    (folder / "codes.txt").write_text("".join(f"code {n}\n" for n in range(CODES)))


def list_commands(folder: Path, form: str) -> dict[str, list[str]]:
    """DuckDB alone in several ways, and the command with several bounds, on one file."""
    path = folder / f"{form}.parquet"
    commands = {
        name: [sys.executable, "-c", PLAIN, str(path), memory, fetch]
        for name, (memory, fetch) in WAYS.items()
    }
    for bound in BOUNDS:
        commands[f"topgap, c = {bound}"] = [
            str(Path(sys.executable).with_name("topgap")), "release", str(path),
            "--person", "person", "--item", "item", "--domain", str(folder / "codes.txt"),
            "--by", "region", "--groups", str(folder / "regions.txt"),
            "--groups-per-person", str(bound), "-k", "10", "--epsilon", "1", "--quiet",
        ]  # fmt: skip
    return commands


def compare(folder: Path, form: str, rounds: int) -> float:
    """Measure all ways in turn, print them, and return the ratio of the command to the rows."""
    commands = list_commands(folder, form)
    used: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name in random.sample([*commands], len(commands)):
            used[name].append(run(commands[name]))
    medians = {
        name: [*map(statistics.median, zip(*rows, strict=True))] for name, rows in used.items()
    }
    plain, _, plain_cpu = medians["DuckDB, rows"]
    for name, (seconds, most, cpu) in medians.items():
        print(
            f"{form:<9}{name:<16}{seconds:>8.2f} s{seconds / plain:>7.2f}"
            f"{cpu:>8.2f} s{cpu / plain_cpu:>7.2f}{most:>8.0f} MiB",
            flush=True,
        )
    ratio: float = medians["topgap, c = 1"][0] / plain
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure topgap release --by.")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most-times", type=float, default=MOST_TIMES)
    asked = parser.parse_args()
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"DuckDB {version('duckdb')}, topgap {version('topgap')}"
    )
    print(
        f"{asked.events:,} events, {REGIONS:,} regions, {CODES:,} codes; {asked.rounds} rounds, "
        f"medians of whole processes"
    )
    print(f"{'persons':<9}{'':<16}{'time':>10}{'ratio':>7}{'CPU':>10}{'ratio':>7}{'memory':>12}")
    with tempfile.TemporaryDirectory(prefix="topgap-bench-") as name:
        write(Path(name), asked.events)
        ratios = [compare(Path(name), form, asked.rounds) for form in FORMS]
    if max(ratios) > asked.most_times:
        sys.exit(f"The command takes {max(ratios):.2f} times as long as DuckDB.")


if __name__ == "__main__":
    main()
