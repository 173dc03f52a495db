"""Memory does not grow with the rows, nor with the size of a row group."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

pytestmark = [
    pytest.mark.linux(reason="reads from /proc how much memory is in use"),
    pytest.mark.deep,
]

MEASURED = """
import sys
import pytest

from topgap import streams
call = getattr(streams, sys.argv[1])
source = sys.argv[2] if len(sys.argv) > 2 else sys.stdin.buffer
call(source, 25, 1, item="item", count="count")
status = open("/proc/self/status").read().splitlines()
print(next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024)
"""


def counts_of(rows: int, at_once: int) -> Iterator[pa.Table]:
    for start in range(0, rows, at_once):
        places = np.arange(start, start + at_once)
        items = pc.binary_join_element_wise("item", pa.array(places).cast(pa.string()), "-")
        yield pa.table({"item": items, "count": places * 7919 % 1_000_003})


def peak(*arguments: str, **how: Any) -> int:
    command = [sys.executable, "-c", MEASURED, *arguments]
    run = subprocess.run(command, capture_output=True, check=True, **how)
    return int(run.stdout)


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    few, many = 500_000, 3_000_000
    peaks: dict[tuple[str, int], int] = {}
    for rows in (few, many):
        tables = [*counts_of(rows, 100_000)]
        one, groups, arrow = (str(tmp_path / name) for name in ("one", "groups", "arrow"))
        whole = pa.concat_tables(tables).combine_chunks()
        pq.write_table(whole, one, row_group_size=rows, compression="none")
        pq.write_table(whole, groups, row_group_size=250_000)
        with pa.OSFile(arrow, "wb") as sink, pa.ipc.new_stream(sink, whole.schema) as writer:
            writer.write_table(whole, max_chunksize=250_000)
        assert pq.ParquetFile(one).num_row_groups == 1
        for path in (one, groups, arrow):
            peaks[path, rows] = peak("top_k", path)
        with open(arrow, "rb") as stream:
            peaks["-", rows] = peak("top_k", stdin=stream)
        peaks["estimates", rows] = peak("top_k_with_estimates", groups)
    assert max(peaks.values()) < 300
    for path in {path for path, _ in peaks}:
        assert peaks[path, many] - peaks[path, few] < 20, peaks
