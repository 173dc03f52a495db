"""Which tests need which system. On Linux all of them run; elsewhere these are left out, and named.

A module that holds many such tests, or cannot even be imported elsewhere, stands here with its
reason; a single test is marked `posix_only` or `linux_only`.
"""

import os
import sys
from collections.abc import Mapping

import pytest

_ON_A_TERMINAL = "runs the command on a terminal of its own, and sends it signals"
_PRELOADS = "lets a library of ours stand between SQLite and the disk, which Linux loads"
_READS_MEMORY = "reads from /proc how much memory is in use"

NEED_POSIX: Mapping[str, str] = {
    "kernel/fuzz_kernel.py": "builds broken kernels with a lock that only POSIX has",
    "cli/test_all_rows.py": _ON_A_TERMINAL,
    "cli/test_estimate.py": _ON_A_TERMINAL,
    "tools/test_documents.py": "runs the pages' lines of shell",
    "fuzz/test_fuzz.py": "stops a call that hangs by an alarm",
    "ledger/test_interrupts.py": "sends itself signals, and looks at a lock that only POSIX has",
    "ledger/test_kills.py": "forks, and kills",
}
NEED_LINUX: Mapping[str, str] = {
    "cli/test_terminal.py": f"{_ON_A_TERMINAL}, and fills /dev/full",
    "cli/test_hostile_files.py": "limits files and rights as Linux does, and has odd names",
    "ledger/test_faults.py": _PRELOADS,
    "ledger/test_files.py": "becomes another user, and has names that are bytes",
    "ledger/test_power_cuts.py": _PRELOADS,
    "soak/test_soak.py": _READS_MEMORY,
    "spark/test_cluster.py": "finds the processes of a cluster in /proc, and kills them",
    "streams/test_memory.py": _READS_MEMORY,
}

IS_POSIX, IS_LINUX = os.name == "posix", sys.platform == "linux"
posix_only = pytest.mark.skipif(
    not IS_POSIX, reason="needs POSIX: its forks, signals, links, or pipes that have names"
)
linux_only = pytest.mark.skipif(not IS_LINUX, reason="needs Linux: its /dev/full, or odd names")


def left_out(*, posix: bool = IS_POSIX, linux: bool = IS_LINUX) -> dict[str, str]:
    """The modules that are not run on such a system, and why.

    >>> left_out(posix=True, linux=True)
    {}
    >>> left_out(posix=True, linux=False)["soak/test_soak.py"]
    'reads from /proc how much memory is in use'
    """
    return {**({} if posix else NEED_POSIX), **({} if linux else NEED_LINUX)}
