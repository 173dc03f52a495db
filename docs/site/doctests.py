"""Shows the doctests of docstrings as code: a paragraph that begins with >>> is one block.

Griffe, which reads the docstrings for the site, loads this.
"""

import re
from typing import Any

import griffe

_DOCTEST = re.compile(r"^([ \t]*)>>> .*(?:\n(?![ \t]*$).*)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Fences the doctests of everything that has a docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fence those of one object, when all of it has been read."""
        if obj.docstring is not None:
            obj.docstring.value = _DOCTEST.sub(_fenced, obj.docstring.value)


def _fenced(found: re.Match[str]) -> str:
    return f"{found[1]}```pycon\n{found[0]}\n{found[1]}```"
