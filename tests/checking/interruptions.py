"""A call that is interrupted, as by Ctrl-C, at a line of one's choice."""

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any


def interrupted(
    at: int, call: Callable[[], object], is_counted: Callable[[CodeType], bool]
) -> bool:
    """Whether the call was interrupted, at this of the lines of the code that is counted."""
    lines = 0

    def look(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        if not is_counted(frame.f_code):
            return None
        lines += event == "line"
        if event == "line" and lines == at:
            raise KeyboardInterrupt
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False
