"""What can be reached from an object: does it hold a secret?"""

import gc
from collections.abc import Set as AbstractSet
from types import FunctionType, ModuleType
from typing import Any

import numpy as np


def secrets_held(thing: object, secrets: AbstractSet[object]) -> set[object]:
    """Those of the secrets that can be reached, as they are or as bytes of int64."""
    held: list[Any] = []
    waiting: list[Any] = [thing]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, type | ModuleType | FunctionType) or id(each) in seen:
            continue  # the program, not the data
        seen.add(id(each))
        held.append(each)
        if isinstance(each, bytes) and len(each) % 8 == 0:
            held += np.frombuffer(each, dtype=np.int64).tolist()
        if isinstance(each, dict):
            waiting += each  # the collector leaves out keys that are strings
        if not isinstance(each, str | int | bytes):
            waiting += gc.get_referents(each)
    return {secret for secret in secrets if any(_are_equal(each, secret) for each in held)}


def _are_equal(each: Any, secret: object) -> bool:
    equal = each == secret
    return bool(equal.any()) if isinstance(equal, np.ndarray) else bool(equal)
