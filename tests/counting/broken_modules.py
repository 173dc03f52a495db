"""A module of `topgap.counting` with a defect, in the place of the sound one."""

import sys
from types import ModuleType

import pytest

from tests.checking.mutants import Mutant, mutated


def break_module(monkeypatch: pytest.MonkeyPatch, module: ModuleType, mutant: Mutant) -> None:
    """Let all of `topgap.counting` use what the broken module has, until the test is over."""
    broken = mutated(module, mutant)
    for name in [name for name in sys.modules if name.startswith("topgap.counting")]:
        for attribute, value in [*vars(sys.modules[name]).items()]:
            if getattr(value, "__module__", None) == module.__name__ and hasattr(broken, attribute):
                monkeypatch.setattr(sys.modules[name], attribute, getattr(broken, attribute))
