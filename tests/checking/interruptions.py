"""A call that is interrupted, as by Ctrl-C, at a line or a step of one's choice."""

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Literal


def interrupted(
    at: int,
    call: Callable[[], object],
    is_counted: Callable[[CodeType], bool],
    unit: Literal["line", "opcode"] = "line",
) -> KeyboardInterrupt | None:
    """What interrupted the call, at this of the lines or steps of the code that is counted."""
    units = 0

    def look(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal units
        if not is_counted(frame.f_code):
            return None
        frame.f_trace_opcodes = unit == "opcode"
        units += event == unit
        if event == unit and units == at:
            raise KeyboardInterrupt
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        call()
    except KeyboardInterrupt as interrupt:
        return interrupt
    finally:
        sys.settrace(before)
    return None
