"""Tasks of Spark that fail, hang or lose their machine once, and a record of what each one made."""

import os
import pickle
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import TaskContext

from tests.spark.cluster import end_own_executor

Batches = Iterator[pa.RecordBatch]
Work = Callable[[Batches], Batches]
TROUBLED = 1


class Attempts:
    """A folder in which each attempt at a partition writes down its rows.

    Args:
        folder: An empty one.
        trouble: What befalls the first attempt at partition 1, after it has made its rows.
    """

    def __init__(self, folder: Path, trouble: Callable[["Attempts"], None] | None = None) -> None:
        self.folder = folder
        self.trouble = trouble

    def of(self, work: Work) -> Work:
        """The same work, written down."""

        def written_down(batches: Batches) -> Batches:
            context = TaskContext.get()
            assert context is not None
            partition = context.partitionId()
            rows = [*work(batches)]
            self._write(partition, [batch.to_pydict() for batch in rows])
            if partition == TROUBLED and self.trouble is not None and self._is_first():
                self.trouble(self)
            yield from rows

        return written_down

    def made(self) -> dict[int, list[Any]]:
        """What the attempts at each partition made."""
        found = defaultdict(list)
        for path in self.folder.glob("* *"):
            found[int(path.name.split()[0])].append(pickle.loads(path.read_bytes()))  # noqa: S301
        return found

    def _write(self, partition: int, rows: list[Any]) -> None:
        unfinished = self.folder / f"{uuid.uuid4()}"
        unfinished.write_bytes(pickle.dumps(rows))
        unfinished.rename(self.folder / f"{partition} {unfinished.name}")

    def _is_first(self) -> bool:
        try:
            (self.folder / "troubled").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def fails(_: Attempts) -> None:
    raise RuntimeError("Zaphod")


def dies(_: Attempts) -> None:
    os._exit(1)


def loses_its_executor(_: Attempts) -> None:
    end_own_executor()


def hangs(attempts: Attempts) -> None:
    """Until another attempt at the same partition has made its rows."""
    deadline = time.monotonic() + 120
    while len(attempts.made()[TROUBLED]) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(5)  # so that the other is the one that Spark takes
