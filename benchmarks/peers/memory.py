"""How much memory a call takes beyond its input, at its peak: each call in a process of its own.

Linux tells the peak of the resident memory since it was last reset. The process prints it:

    python -m benchmarks.peers.memory 'topgap, one thread' 100000 10
"""

import ctypes
import gc
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.data import zipf
from benchmarks.peers.contenders import ALL, Answers, Contender
from benchmarks.peers.times import Timing

K = 10
WARM = 2_000  # items of the call before, which loads and sets up what all calls share
ROOT = Path(__file__).parents[2]
LEAST = 256  # KiB; Linux counts pages in batches, one for each core, and tells no less
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Memory(NamedTuple):
    """KiB beyond the input at the peak of one call."""

    contender: str
    n: int
    k: int
    kib: int | None
    left_out: str = ""


def measure(
    contenders: tuple[Contender, ...], timings: list[Timing], ns: Sequence[int], limit: float
) -> list[Memory]:
    """The peak of each contender at each n and k = 10, or the most that it can."""
    found = []
    for contender in contenders:
        k = min(K, contender.most or K)
        print(f"memory: {contender.name}", file=sys.stderr)
        for n in ns:
            (timing,) = [t for t in timings if (t.contender, t.n, t.k) == (contender.name, n, k)]
            reason = timing.left_out
            if not reason and timing.median > limit:
                reason = f"a call takes more than {limit:g} s"
            if not RESET.exists():
                reason = "only Linux tells the peak"
            if reason:
                found.append(Memory(contender.name, n, k, None, reason))
            else:
                found.append(Memory(contender.name, n, k, _apart(contender, n, k)))
    return found


def _apart(contender: Contender, n: int, k: int) -> int:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.peers.memory", contender.name, str(n), str(k)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return int(run.stdout)


def _here(contender: Contender, n: int, k: int) -> int:
    contender.prepare(Answers(zipf(WARM)), k)()
    run = contender.prepare(Answers(zipf(n)), k)
    give_back()
    RESET.write_text("5")
    before = _peak()
    run()
    return _peak() - before


def give_back() -> None:
    """Give freed memory back to the system.

    What making the input has freed stays in the heap, and is counted. A call that takes it again
    would seem to need less than it does. Only glibc has the function.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _peak() -> int:
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    (asked,) = [contender for contender in ALL if contender.name == sys.argv[1]]
    print(_here(asked, int(sys.argv[2]), int(sys.argv[3])))
