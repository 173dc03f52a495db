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
    "fuzz_kernel.py": "builds broken kernels with a lock that only POSIX has",
    "test_cli_all_rows.py": _ON_A_TERMINAL,
    "test_cli_estimate.py": _ON_A_TERMINAL,
    "test_documents.py": "runs the pages' lines of shell",
    "test_fuzz.py": "stops a call that hangs by an alarm",
    "test_ledger_interrupts.py": "sends itself signals, and looks at a lock that only POSIX has",
    "test_ledger_kills.py": "forks, and kills",
}
NEED_LINUX: Mapping[str, str] = {
    "test_cli_surroundings.py": f"{_ON_A_TERMINAL}, and fills /dev/full",
    "test_hostile_files.py": "limits files and rights as Linux does, and has names that are bytes",
    "test_ledger_faults.py": _PRELOADS,
    "test_ledger_files.py": "becomes another user, and has names that are bytes",
    "test_ledger_power.py": _PRELOADS,
    "test_soak.py": _READS_MEMORY,
    "test_spark.py": "finds the processes of a cluster in /proc, and kills them",
    "test_streams_memory.py": _READS_MEMORY,
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
    >>> left_out(posix=True, linux=False)["test_soak.py"]
    'reads from /proc how much memory is in use'
    """
    return {**({} if posix else NEED_POSIX), **({} if linux else NEED_LINUX)}
