"""Errors that an audited function raises, described in a sentence with the place."""

import os
import sysconfig
import traceback
from pathlib import Path

from topgap.display.text import to_line

_OURS = str(Path(__file__).parents[2])
_INSTALLED = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
_NOT_THEIRS = ("<frozen ", *(os.path.join(each, "") for each in (_OURS, *_INSTALLED)))


def describe_error(error: BaseException) -> str:
    """Describe an error, with the last line of the traceback that is in the user's own code.

    >>> print(describe_error(KeyError("b")))
    The audited function raised KeyError: 'b'.
    """
    try:
        text = to_line(error)
    except Exception:  # its own __str__ may fail
        text = ""
    said = f"The audited function raised {type(error).__name__}{f': {text}' * bool(text)}"
    return f"{said.removesuffix('.')}{_where(error)}."


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [each for each in frames if not each.filename.startswith(_NOT_THEIRS)]
    if not theirs:
        return ""
    file, line = theirs[-1].filename, theirs[-1].lineno
    return f" ({to_line(file.removeprefix(os.path.join(os.getcwd(), '')))}, line {line})"
