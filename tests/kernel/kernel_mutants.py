"""Broken kernels: one place of the sources changed, and the cases of a law that must show it."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tests.checking.depths import MODERATE
from tests.checking.mutants import Mutant
from tests.kernel.group_cases import Groups
from tests.kernel.laplace_cases import LaplaceCase
from tests.kernel.law_cases import Case, Select
from tests.kernel.probe import Probe

AnyCase = TypeVar("AnyCase", bound=Case | LaplaceCase | Groups)


class KernelMutant(NamedTuple):
    """A defect in one of the kernel's files, and the cases that must show it."""

    file: str
    name: str
    old: str
    new: str
    cases: Sequence[Case | LaplaceCase | Groups]

    def is_found(self, directory: Path) -> bool:
        """Whether a kernel with this defect, built in the directory, contradicts a case."""
        defect = Mutant(self.name, self.old, self.new)
        broken = Probe.build_mutant(defect, self.file, directory)
        try:
            # What is found less deep is found sooner.
            cases = chain(map(moderate, self.cases), self.cases)
            return any(_violations(case, broken)[0] for case in cases)
        except (
            RuntimeError
        ):  # stopped by an overflow check, an index out of bounds, or an assertion
            return True


def moderate(case: AnyCase) -> AnyCase:
    """The same, less deep."""
    changes: dict[str, Any] = {"depth": min(case.depth, 14)}
    if isinstance(case, Select | Groups):
        changes["smallest"] = max(case.smallest, Fraction(1, 2**18))
    return replace(case, **changes)


def at_depth(case: AnyCase, depth: str) -> AnyCase:
    """The case as deep as this depth of the tests wants it."""
    return moderate(case) if depth == MODERATE else case


def leaves_open(case: Case | LaplaceCase | Groups, probe: Probe) -> Fraction:
    """See that a walk of the kernel contradicts the law nowhere; the mass that it leaves open."""
    violations, rest = _violations(case, probe)
    assert violations == [], violations
    return rest


def _violations(case: Any, probe: Probe) -> tuple[list[str], Fraction]:
    walk = case.walk(probe)
    return walk.violations(case.law), walk.rest
