"""What `topgap.streams` costs beside reading alone, and how much memory it takes.

`make bench` runs it. Ready counts are written to a temporary directory, as Parquet and as an Arrow
stream: a Zipf-like law in random order, items as text such as item-00012345 or as int64, and one
more column that is not asked for. Processes of their own then read them in turn within one run:

    reading   pyarrow with the settings of topgap, both columns, max() of the counts
    topgap    streams.top_k, k = 100, ε = 1

Seconds are those of the call, without the start of Python; memory is the most that the whole
process ever had. If that is more than --limit anywhere, it says so and ends with code 1.
"""

import argparse
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

LIMIT = 300
WRITTEN_AT_ONCE = 1_000_000
READ = """
import sys, time
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
begin = time.perf_counter()
columns = ["item", "count"]
if sys.argv[1].endswith(".parquet"):
    file = pq.ParquetFile(sys.argv[1], buffer_size=2**20, pre_buffer=False)
    batches = file.iter_batches(2**15, columns=columns, use_threads=False)
else:
    batches = pa.ipc.open_stream(pa.OSFile(sys.argv[1]), options=pa.ipc.IpcReadOptions(
        included_fields=[0, 1]))
largest = max(pc.max(batch.column("count")).as_py() for batch in batches if len(batch))
"""
RELEASE = """
import sys, time
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
from topgap import streams
begin = time.perf_counter()
streams.top_k(sys.argv[1], 100, 1, item="item", count="count", monotonic=True)
"""
MEASURE = """
seconds = time.perf_counter() - begin
status = open("/proc/self/status").read().splitlines()
print(seconds, next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024)
"""
FORMS = {
    "Parquet, text": ("text.parquet", WRITTEN_AT_ONCE),
    "Parquet, text, one row group": ("one.parquet", None),
    "Parquet, int64": ("numbers.parquet", WRITTEN_AT_ONCE),
    "Arrow stream, text": ("text.arrow", WRITTEN_AT_ONCE),
}


def made_up(rows: int, text: bool) -> Iterator[pa.RecordBatch]:
    """The counts, part by part."""
    random_numbers = np.random.default_rng(1)
    for start in range(0, rows, WRITTEN_AT_ONCE):
        places = np.arange(start, min(start + WRITTEN_AT_ONCE, rows))
        items = pa.array(places)
        if text:
            digits = pc.utf8_lpad(items.cast(pa.string()), 8, "0")
            items = pc.binary_join_element_wise("item-", digits, "")
        ranks = random_numbers.integers(1, rows, len(places), endpoint=True)
        other = random_numbers.random(len(places))
        yield pa.record_batch({"item": items, "count": 15 * rows // ranks, "other": other})


def write(path: Path, rows: int, group: int | None) -> None:
    batches = made_up(rows, text="numbers" not in path.name)
    first = next(batches)
    if path.suffix == ".arrow":
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, first.schema) as stream:
            stream.write_batch(first)
            for batch in batches:
                stream.write_batch(batch)
    elif group is None:  # all rows must lie in memory for it
        table = pa.Table.from_batches([first, *batches])
        pq.write_table(table, path, row_group_size=rows)
    else:
        with pq.ParquetWriter(path, first.schema) as file:
            file.write_batch(first, group)
            for batch in batches:
                file.write_batch(batch, group)


def run(code: str, path: Path) -> tuple[float, float]:
    """Seconds and MiB of a process."""
    ended = subprocess.run(
        [sys.executable, "-c", code + MEASURE, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds, most = map(float, ended.stdout.split())
    return seconds, most


def compare(form: str, rows: int, rounds: int, folder: Path) -> float:
    """Print a row, and return the most memory in MiB that topgap had."""
    name, group = FORMS[form]
    path = folder / name
    write(path, rows, group)
    seen: dict[str, list[tuple[float, float]]] = {READ: [], RELEASE: []}
    for _ in range(rounds):
        order = [*seen]
        random.shuffle(order)
        for code in order:
            seen[code].append(run(code, path))
    path.unlink()
    reading, ours = (statistics.median(each for each, _ in seen[who]) for who in (READ, RELEASE))
    most = max(each for _, each in seen[RELEASE])
    print(
        f"{form:<30}{rows:>12,}{reading:>9.2f} s{ours:>9.2f} s{ours / reading:>8.2f}"
        f"{rows / ours / 1e6:>9.1f}{most:>8.0f} MiB",
        flush=True,
    )
    return most


def main() -> int:
    """Print all rows; 1 if any took too much memory."""
    parser = argparse.ArgumentParser(description="Measure topgap.streams.")
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--rows-of-one-group", type=int, default=30_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=int, default=LIMIT, help="MiB of the whole process")
    asked = parser.parse_args()
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"PyArrow {pa.__version__}, topgap {version('topgap')}"
    )
    print(f"\nk = 100, medians of {asked.rounds} rounds; at most {asked.limit} MiB for a process")
    print(
        f"{'':<30}{'rows':>12}{'reading':>11}{'topgap':>11}{'ratio':>8}{'10⁶/s':>9}{'memory':>12}"
    )
    most: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="topgap-bench-") as name:
        for form, (_, group) in FORMS.items():
            rows = asked.rows if group else min(asked.rows, asked.rows_of_one_group)
            most[form] = compare(form, rows, asked.rounds, Path(name))
    above = [form for form, each in most.items() if each > asked.limit]
    if above:
        print(f"FAILED: more than {asked.limit} MiB for {'; '.join(above)}.", file=sys.stderr)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
