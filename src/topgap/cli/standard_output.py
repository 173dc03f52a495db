"""What goes to standard output."""

import sys

from topgap.errors import OutputError


def write(content: bytes) -> None:
    """Write these bytes and no others.

    Raises:
        OutputError: They cannot be written.
    """
    if sys.stdout is None:
        raise OutputError("Standard output is closed.")
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"Standard output cannot be written: {error.strerror}.") from None
