"""A progress bar: on standard error, on a terminal only, and only if it takes a while."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from topgap.cli.errors import raise_lost_signal

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_AFTER = 0.5


class Bar:
    """A progress bar that is called with what is being done and the share of it that is done."""

    def __init__(self, *, shown: bool = True) -> None:
        self._wanted = shown and sys.stderr is not None and sys.stderr.isatty()
        self._begin = time.monotonic() + _AFTER
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __call__(self, doing: str, share: float | None) -> None:
        """Show the share that is done, from 0 to 1; None if it is not known.

        Raises:
            KeyboardInterrupt, SystemExit: A signal came, and the exception of its handler was lost.
        """
        raise_lost_signal()
        if not self._wanted or time.monotonic() < self._begin:
            return
        if self._bar is None or self._task is None:
            self._bar, self._task = _make_bar()
            self._bar.start()
        if share is None:
            self._bar.update(self._task, description=doing, total=None)
        else:
            self._bar.update(self._task, description=doing, total=1, completed=share)

    def pause(self) -> None:
        """Clear the terminal until there is more to show."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __enter__(self) -> "Bar":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.pause()


def _make_bar() -> tuple["Progress", "TaskID"]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    return bar, bar.add_task("", total=None)
