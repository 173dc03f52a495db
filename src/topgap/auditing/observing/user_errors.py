"""What an audited function raised, and where: in a sentence."""

import os
import sysconfig
import traceback
from pathlib import Path

from topgap.display.text import to_line

_OURS = str(Path(__file__).parents[2])
_INSTALLED = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
_NOT_THEIRS = ("<frozen ", *(os.path.join(each, "") for each in (_OURS, *_INSTALLED)))


def describe_error(error: BaseException) -> str:
    """What was raised, with the last line on the way to it that is the user's own.

    >>> print(describe_error(KeyError("b")))
    The audited function raised KeyError: 'b'.
    """
    try:
        text = to_line(error)
    except Exception:  # an error may fail to say what it is
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
