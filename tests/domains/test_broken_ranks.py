"""Ranks that are broken on purpose are found by the comparison with itertools."""

from itertools import combinations, product
from types import ModuleType
from typing import Any

import pytest

from tests.checking.mutants import Mutant, mutated
from topgap.domains import ABSENT, products, ranges, subsets
from topgap.domains.kind import Kind


def check_places(kind: Kind, members: list[Any]) -> None:
    """The members in their order are those of the kind, by unrank, rank and find."""
    assert kind.size == len(members)
    assert [*map(kind.unrank, range(kind.size))] == members
    assert [*map(kind.rank, members)] == [*range(kind.size)]
    assert kind.find([*members]) == members


def check_kinds(products_: Any, subsets_: Any, ranges_: Any) -> None:
    numbers = [ranges_.WholeNumbers(start, stop) for start, stop in ((-1, 2), (0, 5), (3, 7))]
    lists = [range(-1, 2), range(5), range(3, 7)]
    check_places(products_.Product(numbers), [*product(*lists)])
    for count in (1, 2, 3):
        check_places(subsets_.Subsets(numbers[1], count), [*combinations(range(5), count)])
    check_places(subsets_.Subsets(numbers[2], 4), [(3, 4, 5, 6)])
    assert subsets_.Subsets(numbers[1], 2).find([(3, 3)]) == [ABSENT]


def test_ranks_are_places() -> None:
    check_kinds(products, subsets, ranges)


MUTANTS = [
    (products, Mutant("the first part is the lowest", "reversed(self.parts)", "iter(self.parts)")),
    (products, Mutant("a part's size is one less", "place * part.size", "place * (part.size - 1)")),
    (subsets, Mutant("sets in the other order", "return self.size - 1 - after", "return after")),
    (subsets, Mutant("a digit too small", "<= value:", "< value:")),
    (subsets, Mutant("a root too short", "low + chosen, above)", "low + chosen - 1, above)")),
    (subsets, Mutant("doubles are sets", "or len(different) < self.count", "or False")),
    (ranges, Mutant("the end takes part", "check_size(end - first", "check_size(end - first + 1")),
    (ranges, Mutant("ranks start at 1", "return self.numbers.start + rank",
                    "return self.numbers.start + rank + 1")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("module", "mutant"), MUTANTS, ids=lambda value: getattr(value, "name", "")
)
def test_a_broken_rank_is_found(module: ModuleType, mutant: Mutant) -> None:
    modules: dict[ModuleType, Any] = {each: each for each in (products, subsets, ranges)}
    modules[module] = mutated(module, mutant)
    broken = [modules[each] for each in (products, subsets, ranges)]
    with pytest.raises((AssertionError, ValueError, IndexError)):
        check_kinds(*broken)
