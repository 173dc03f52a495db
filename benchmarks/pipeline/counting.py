"""What `topgap release` costs beside the plain DuckDB query, and how much memory it takes.

`make bench` runs it. Both are whole processes, from their start to their end, in turn within one
run: the command, and Python with the query

    select item, count(distinct person) from FILE group by item

as DuckDB runs it if nothing is said: all memory, the types that it finds in a CSV file. topgap
takes each cell of a CSV file as text; the last row lets DuckDB do so too. Then `count_events`
without and with a contribution bound, `items_per_person`, are compared in turn.
The events are made up: persons at random, items of a Zipf-like law, 41,270 of them as in Kosarak.
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
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import duckdb

ITEMS = 41_270
QUERY = "select item, count(distinct person) from {} group by item"
PLAIN = f"import duckdb, sys; duckdb.sql({QUERY!r}.format(sys.argv[1])).fetchall()"
ASKED = ["--person", "person", "--item", "item", "-k", "25", "--epsilon", "1", "--quiet"]
MADE_UP = (
    "select cast(floor(random() * {persons}) as integer) as person, "
    "cast(floor({items} * power(random(), 4)) as integer) as item from range({events})"
)
AS_TEXT = "select 'p' || person as person, 'item ' || item as item from made_up"
FORMS = {
    "Parquet, numbers": ("numbers.parquet", "from made_up"),
    "Parquet, text": ("text.parquet", AS_TEXT),
    "CSV, text": ("text.csv", AS_TEXT),
    "CSV, numbers": ("numbers.csv", "from made_up"),
}
COUNTING = """
import sys
from topgap.counting import count_events
path, domain, bound = sys.argv[1:]
count_events(
    path, person="person", item="item", domain=domain, items_per_person=int(bound) or None
)
"""
BOUNDS = [1, 5]
AS_IT_FINDS, ALL_TEXT = "'{}'", "read_csv('{}', all_varchar = true)"


def make(folder: Path, events: int, forms: list[str]) -> None:
    """Write the events in these forms, and the domains for them.

    In a process of its own: what a process starts with counts as memory of its children.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        pool.submit(write, folder, events, forms).result()


def write(folder: Path, events: int, forms: list[str]) -> None:
    with duckdb.connect() as database:
        database.execute("set enable_progress_bar = false")
        query = MADE_UP.format(persons=events // 10, items=ITEMS, events=events)
        database.execute(f"create table made_up as {query}")
        for form in forms:
            name, rows = FORMS[form]
            database.execute(f"copy ({rows}) to '{folder / name}'")
    for name, text in (("numbers.txt", "{}\n"), ("text.txt", "item {}\n")):
        (folder / name).write_text("".join(text.format(item) for item in range(ITEMS)))


def commands(path: Path, read: str = AS_IT_FINDS) -> dict[str, list[str]]:
    """The plain query and the command on this file."""
    release = [str(Path(sys.executable).with_name("topgap")), "release", str(path), *ASKED]
    return {
        "DuckDB": [sys.executable, "-c", PLAIN, read.format(path)],
        "topgap": [*release, "--domain", str(path.with_suffix(".txt"))],
    }


def run(command: list[str]) -> tuple[float, float, float]:
    """Seconds and MiB of a process, from its start to its end, and seconds of CPU."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command} failed")
    cpu = used.ru_utime + used.ru_stime
    return time.perf_counter() - start, used.ru_maxrss / 1024, cpu


def compare(events: int, rounds: int) -> None:
    print(f"\n{events:,} events, {rounds} rounds, medians of whole processes")
    print(f"{'':<18}{'DuckDB':>10}{'topgap':>10}{'ratio':>8}{'quarters of the ratio':>24}")
    with tempfile.TemporaryDirectory(prefix="topgap-bench-") as name:
        folder = Path(name)
        make(folder, events, [*FORMS])
        rows = [(form, file, AS_IT_FINDS) for form, (file, _) in FORMS.items()]
        rows.append(("the same as text", "numbers.csv", ALL_TEXT))
        for form, file, read in rows:
            seconds: dict[str, list[float]] = {"DuckDB": [], "topgap": []}
            for _ in range(rounds):
                order = [*commands(folder / file, read).items()]
                random.shuffle(order)
                for who, command in order:
                    seconds[who].append(run(command)[0])
            plain, ours = (statistics.median(seconds[who]) for who in ("DuckDB", "topgap"))
            pairs = zip(seconds["topgap"], seconds["DuckDB"], strict=True)
            low, middle, high = statistics.quantiles([a / b for a, b in pairs], n=4)
            spread = f"{low:.2f}  {middle:.2f}  {high:.2f}"
            print(
                f"{form:<18}{plain:>8.2f} s{ours:>8.2f} s{ours / plain:>8.2f}{spread:>24}",
                flush=True,
            )


def bound(events: int, rounds: int) -> None:
    """Compare counting with a contribution bound to counting without one.

    By the CPU, too, because that says more on a machine that has other work.
    """
    print(f"\n{events:,} events, at most L items a person, {rounds} rounds, medians of processes")
    print(f"{'':<18}{'L':>5}{'time':>10}{'ratio':>7}{'CPU':>10}{'ratio':>7}{'memory':>12}")
    with tempfile.TemporaryDirectory(prefix="topgap-bench-") as name:
        folder = Path(name)
        make(folder, events, [*FORMS])
        for form, (file, _) in FORMS.items():
            path = folder / file
            given = [sys.executable, "-c", COUNTING, str(path), str(path.with_suffix(".txt"))]
            used: dict[int, list[tuple[float, float, float]]] = {each: [] for each in (0, *BOUNDS)}
            for _ in range(rounds):
                for each in random.sample([*used], len(used)):
                    used[each].append(run([*given, str(each)]))
            medians = {
                each: [*map(statistics.median, zip(*rows, strict=True))]
                for each, rows in used.items()
            }
            for each, (seconds, most, cpu) in medians.items():
                of_time, of_cpu = seconds / medians[0][0], cpu / medians[0][2]
                print(
                    f"{form:<18}{each or 'none':>5}{seconds:>8.2f} s{of_time:>7.2f}"
                    f"{cpu:>8.2f} s{of_cpu:>7.2f}{most:>8.0f} MiB",
                    flush=True,
                )


def memory(events: int) -> None:
    print(f"\n{events:,} events: the most memory that the process had, and its time")
    with tempfile.TemporaryDirectory(prefix="topgap-bench-") as name:
        folder = Path(name)
        for form, (file, _) in FORMS.items():
            make(folder, events, [form])
            seconds, most, _ = run(commands(folder / file)["topgap"])
            print(f"{form:<18}{most:>8.0f} MiB{seconds:>8.1f} s", flush=True)
            (folder / file).unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure topgap release.")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--bound-rounds", type=int, default=5)
    parser.add_argument("--memory-events", type=int, default=50_000_000)
    asked = parser.parse_args()
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()},",
        end=" ",
    )
    print(f"DuckDB {version('duckdb')}, topgap {version('topgap')}")
    if asked.rounds:
        compare(asked.events, asked.rounds)
    if asked.bound_rounds:
        bound(asked.events, asked.bound_rounds)
    if asked.memory_events:
        memory(asked.memory_events)


if __name__ == "__main__":
    main()
