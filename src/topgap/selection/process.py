"""Which process this is: `this_process`, for noise that must not be used in two of them."""

import os

_process = object()


def _renew() -> None:
    global _process
    _process = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def this_process() -> tuple[int, object]:
    """What a forked process does not share: the process's number, and an object made anew by fork.

    A number alone can be that of a process that has ended, or of one in another namespace.
    """
    return os.getpid(), _process
