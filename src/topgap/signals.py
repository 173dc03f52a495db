"""Signals that wait: for code in C that aborts, or goes wrong, if a handler raises inside it."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def defer_signals() -> Iterator[None]:
    """Let SIGINT and SIGTERM wait until the end of the block; then their handlers run.

    This concerns handlers written in Python, which run in the main thread: Ctrl-C raises a
    `KeyboardInterrupt` after the block and not within it. What the system does with a signal
    itself, it does at once. In other threads nothing changes, for no handler runs there.

    >>> seen = []
    >>> before = signal.signal(signal.SIGTERM, lambda *_: seen.append("handled"))
    >>> with defer_signals():
    ...     signal.raise_signal(signal.SIGTERM)
    ...     seen.append("in the block")
    >>> _ = signal.signal(signal.SIGTERM, before)
    >>> seen
    ['in the block', 'handled']
    """
    if current_thread() is not main_thread():
        yield
        return
    handlers: dict[int, Any] = {
        number: handler for number in SIGNALS if callable(handler := signal.getsignal(number))
    }
    came: list[int] = []
    waits = True

    def wait(number: int, frame: FrameType | None) -> None:
        if waits:
            came.append(number)
        else:  # one that comes while handlers are put back
            handlers[number](number, frame)

    try:
        for number in handlers:
            signal.signal(number, wait)
        yield
    finally:
        waits = False
        for number, handler in handlers.items():
            if signal.getsignal(number) is wait:
                signal.signal(number, handler)
        # Called, not raised again: whoever listens at the wake-up descriptor has heard of it.
        for number in came:
            handlers[number](number, sys._getframe())
