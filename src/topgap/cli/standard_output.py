"""What goes to standard output."""

import sys

from topgap.errors import OutputError


def check() -> None:
    """See that it is there, before any work is done for it.

    Raises:
        OutputError: It is closed.
    """
    if sys.stdout is None:
        raise OutputError("Standard output is closed.")


def write(content: bytes) -> None:
    """Write these bytes and no others.

    Raises:
        OutputError: They cannot be written.
    """
    check()
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"Standard output cannot be written: {error.strerror}.") from None
