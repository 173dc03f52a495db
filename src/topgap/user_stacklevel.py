"""Where a warning points to: the user's line that called topgap."""

import sys


def find_user_stacklevel() -> int:
    """Return the `stacklevel` with which `warnings.warn` names the line that called topgap.

    It is counted from the function that calls this one and then `warnings.warn`.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("topgap."):
        frame, level = frame.f_back, level + 1
    return level
