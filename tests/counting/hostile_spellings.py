"""Texts that mean the same by the rule of equal cells, or nearly, and rows of persons with them."""

from itertools import chain
from random import Random

from topgap.domains.cell_text import INVISIBLE_RANGES

_RANDOM = Random(25)
_ENDS = [chr(code) for code in chain(*INVISIBLE_RANGES) if code] + [""] * 40
_CORES = [
    "flu", "Flu", "caf\u00e9", "cafe\u0301", "\u00c5", "\u212b", "A\u030a", "7", "7.0", "07", "x y",
    "\ufb01", "fi", "\ud55c", "\u1112\u1161\u11ab", "a\u0323\u0307", "a\u0307\u0323", "\U0001d160",
    "\U0001f600", "\u0344", "a\u200bb", "'", "\\", "%", "",
]  # fmt: skip


def _spell(core: str) -> str:
    return _RANDOM.choice(_ENDS) + core + _RANDOM.choice(_ENDS)


SPELLINGS = [_spell(core) for core in _CORES for _ in range(8)]
_NAMES = ("Ann", "Bob", "Zo\u00eb", "\u00e9", "1", "2")
PERSONS = [[_spell(name) for _ in range(4)] for name in _NAMES]
"""The spellings of some persons, who are all different."""
ROWS = [
    (_RANDOM.choice(names), text) for names in PERSONS for text in _RANDOM.sample(SPELLINGS, 25)
]
