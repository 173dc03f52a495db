"""The lock of a ledger's directory, held for one transaction: `Holding`.

SQLite's own locks are not enough: the system drops them if the same process opens and closes the
file by other means, as a backup does. The lock of the directory stays.
"""

import os
from contextlib import suppress

from topgap.errors import LedgerError

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # as on Windows, where SQLite's locks are not dropped
    HAS_LOCKS = False
else:
    HAS_LOCKS = True


class Holding:
    """Is there for as long as this process uses a ledger's file.

    Raises:
        LedgerError: This process was forked amid one.

    Attributes:
        is_locked: Whether it has the lock.
    """

    def __init__(self) -> None:
        if _inherited:
            raise LedgerError(
                "This process was forked while a thread used a ledger, and cannot use one; start "
                "it before the threads, or with the method spawn."
            )
        self.is_locked = False
        self._descriptor: int | None = None
        _held.add(self)

    def lock(self, directory: str) -> None:
        """Lock the directory, if its file system has such locks; if not, SQLite's must do.

        Raises:
            BlockingIOError: Another has it.
            OSError: The directory cannot be opened.
        """
        if self._descriptor is None:
            self._descriptor = os.open(directory, os.O_RDONLY)
        try:
            flock(self._descriptor, LOCK_EX | LOCK_NB)
            self.is_locked = True
        except BlockingIOError:
            raise
        except OSError:
            pass

    def close(self) -> None:
        """Let others have it."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None
        _held.discard(self)


_held: set[Holding] = set()
"""What this process uses."""
_inherited: set[Holding] = set()
"""What was used by the one that it is a fork of: SQLite takes its locks for those of this one."""


def _inherit() -> None:
    _inherited.update(_held)
    for each in _inherited:
        each.close()  # or it would be held for as long as this process lives


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_inherit)
