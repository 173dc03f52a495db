"""Break a module on purpose: the same source with one place changed, as a module of its own."""

import inspect
import linecache
from types import ModuleType
from typing import Any, NamedTuple


class Mutant(NamedTuple):
    """A named defect: what stands in the source, and what stands there instead."""

    name: str
    old: str
    new: str


def mutated(module: ModuleType, mutant: Mutant) -> Any:
    """Return `module` with the mutant's defect; the text to change must stand there once."""
    source = inspect.getsource(module)
    if source.count(mutant.old) != 1:
        raise LookupError(f"'{mutant.old}' does not stand exactly once in {module.__name__}")
    broken = source.replace(mutant.old, mutant.new)
    filename = f"<{module.__name__}: {mutant.name}>"
    # Lets inspect and tracebacks show the changed source.
    linecache.cache[filename] = (len(broken), None, broken.splitlines(keepends=True), filename)
    result = ModuleType(module.__name__)
    exec(compile(broken, filename, "exec"), result.__dict__)
    return result
