"""File operations that fail, in this process: what `faults.c` does, if it was loaded before."""

import ctypes
import errno
import shutil
import subprocess
from enum import IntEnum, IntFlag
from pathlib import Path
from typing import NamedTuple

COMPILER = shutil.which("cc")


class Operation(IntFlag):
    """What a process does with a file, as in `faults.c`."""

    OPEN = 1
    WRITE = 2
    SYNC = 4
    CUT = 8
    UNLINK = 16
    READ = 32
    LOCK = 64
    STAT = 128
    CLOSE = 256


class Action(IntEnum):
    """What befalls it."""

    FAIL = 1
    SHORT = 2
    TORN = 3
    KILL_BEFORE = 4
    KILL_WITHIN = 5
    KILL_AFTER = 6


class Fault(NamedTuple):
    """Something that befalls the n-th of some operations, or all from there on."""

    action: Action
    operations: Operation
    error: int = 0
    from_there_on: bool = False


ALL = ~Operation(0)
CHANGES = Operation.OPEN | Operation.WRITE | Operation.SYNC | Operation.CUT | Operation.UNLINK
GROWS = Operation.OPEN | Operation.WRITE | Operation.SYNC | Operation.CUT

FAULTS = {
    "an error of the disk": Fault(Action.FAIL, ALL, errno.EIO),
    "a disk that is gone": Fault(Action.FAIL, ALL, errno.EIO, True),
    "no space": Fault(Action.FAIL, GROWS, errno.ENOSPC),
    "a full disk": Fault(Action.FAIL, GROWS, errno.ENOSPC, True),
    "a disk that cannot be written": Fault(Action.FAIL, CHANGES, errno.EROFS, True),
    "a write of a part": Fault(Action.SHORT, Operation.WRITE),
    "a torn write, then no space": Fault(Action.TORN, Operation.WRITE, errno.ENOSPC),
    "a torn write on a full disk": Fault(Action.TORN, Operation.WRITE, errno.ENOSPC, True),
    "a torn write, then an error": Fault(Action.TORN, Operation.WRITE, errno.EIO),
    # Between those that change something, every moment leaves the same.
    "killed before": Fault(Action.KILL_BEFORE, CHANGES),
    "killed within a write": Fault(Action.KILL_WITHIN, Operation.WRITE),
    "killed after": Fault(Action.KILL_AFTER, CHANGES),
}


def compiled(folder: Path) -> Path:
    """The library that is to be loaded before."""
    assert COMPILER is not None
    library = folder / "faults.so"
    source = Path(__file__).with_name("injected_faults.c")
    options = ["-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC"]
    subprocess.run([COMPILER, *options, "-o", library, source, "-ldl"], check=True)
    return library


class Faults:
    """What befalls the paths that begin with this one."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(None)
        self._library.faults_watch(bytes(path))
        self._library.faults_counted.restype = ctypes.c_long
        self._library.faults_struck.restype = ctypes.c_long

    def arm(self, fault: Fault, number: int) -> None:
        """Let it befall this of the operations that come now."""
        self._library.faults_arm(
            int(fault.operations) & 0xFFFF,
            ctypes.c_long(number),
            int(fault.action),
            fault.error,
            int(fault.from_there_on),
        )

    def disarm(self) -> None:
        """Let nothing befall them any more."""
        self._library.faults_arm(0, ctypes.c_long(0), 0, 0, 0)

    def counted(self) -> int:
        """How many operations there were that it could befall."""
        return int(self._library.faults_counted())

    def struck(self) -> int:
        """How many of them it befell."""
        return int(self._library.faults_struck())

    def log(self, file: int) -> None:
        """Write down all that changes the disk from here on."""
        self._library.faults_log(file)

    def mark(self, text: str) -> None:
        """Write this down between."""
        self._library.faults_mark(text.encode())
