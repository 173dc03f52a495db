"""The command, sent a signal at a random moment of its life, and how it ended."""

import random
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.cli.command import TOPGAP, surroundings

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Signalled(NamedTuple):
    """How a run ended, and after which signal."""

    number: int
    code: int
    out: str
    err: str
    left: tuple[str, ...]

    @property
    def is_told(self) -> bool:
        """Whether the exit code tells of the signal, as a shell sees it."""
        return self.code in (128 + self.number, -self.number)


def signalled(
    arguments: Sequence[object], folder: Path, times: int, seed: int
) -> Iterator[Signalled]:
    """Run the command so many times, and send each a signal between its first line and its end."""
    generator = random.Random(seed)
    temporary = folder / "temporary"
    temporary.mkdir()
    longest = 0.5
    for _ in range(times):
        number = generator.choice(SIGNALS)
        run = subprocess.Popen(
            [*TOPGAP, *map(str, arguments)], cwd=folder, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=surroundings({"TMPDIR": str(temporary)}),
        )  # fmt: skip
        while not _handles(run.pid, signal.SIGTERM) and run.poll() is None:
            time.sleep(0.001)
        begun = time.monotonic()
        time.sleep(generator.uniform(0, longest))
        run.send_signal(number)
        out, err = run.communicate(timeout=100)
        if run.returncode == 0:  # it was over, so this is how long it takes
            longest = time.monotonic() - begun
        else:
            longest *= 1.05
        left = tuple(sorted(each.name for each in temporary.iterdir()))
        yield Signalled(number, run.returncode, out, err, left)


def _handles(process: int, number: int) -> bool:
    """Whether the process has a handler for the signal, so that the command's first line was run.

    Before that, Python itself starts, and what a signal does then is Python's.
    """
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return False
    [caught] = [line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")]
    return bool(int(caught, 16) >> (number - 1) & 1)
