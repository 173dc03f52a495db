"""The compiled kernel on given random bits: a program of ours, built from its sources, runs it.

A broken kernel is the same sources with one place changed, built for itself.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import pytest

from tests.checking.mutants import Mutant
from tests.checking.walks import Walk

try:
    from fcntl import LOCK_EX, flock
except ImportError:  # as on Windows
    _HAS_LOCKS = False
else:
    _HAS_LOCKS = True

TIME_LIMIT = 300  # seconds; no question takes more than a few
RUST = Path(__file__).parents[2] / "rust"
Selection = tuple[tuple[int, ...], tuple[int, ...]]


class Probe:
    """Asks the kernel; many questions at once are answered at the cost of one start."""

    def __init__(self, program: Path) -> None:
        self._program = program

    @classmethod
    def build(cls) -> "Probe":
        """Build the program from the sources as they are."""
        return cls(_build(RUST, RUST / "target", "release"))

    @classmethod
    def build_mutant(cls, mutant: Mutant, file: str, directory: Path) -> "Probe":
        """Build the program from sources with the mutant's defect in `file`."""
        if not _HAS_LOCKS:
            pytest.skip("needs POSIX: broken kernels are built one after the other, by a lock")
        source = (RUST / "kernel" / "src" / file).read_text()
        if source.count(mutant.old) != 1:
            raise LookupError(f"'{mutant.old}' does not stand exactly once in {file}")
        # All are built in one place, one after the other: what they depend on is the same, and of
        # the kernel only what the defect changes is compiled anew.
        target = RUST / "target" / "mutants"
        target.mkdir(parents=True, exist_ok=True)
        with (target / "lock").open("w") as lock:
            flock(lock, LOCK_EX)
            sources = target / "sources"
            shutil.rmtree(sources, ignore_errors=True)
            # Files of now, so that Cargo looks at them all.
            ignored = shutil.ignore_patterns("target")
            shutil.copytree(RUST, sources, ignore=ignored, copy_function=shutil.copyfile)
            changed = sources / "kernel" / "src" / file
            changed.write_text(source.replace(mutant.old, mutant.new))
            built = _build(sources, target, "mutant").rename(directory / "probe")
        return cls(built)

    def ask(self, lines: Iterable[str]) -> list[str]:
        """The answer to each line; see rust/probe/src/main.rs for what can be asked."""
        asked = "\n".join(lines) + "\n"
        run = subprocess.run(
            [self._program], input=asked, capture_output=True, text=True, timeout=TIME_LIMIT
        )
        if run.returncode != 0:
            raise RuntimeError(run.stderr.strip())
        return run.stdout.splitlines()

    def walk_scripts(
        self, question: str, reached: list[int], digits: list[int], smallest: Fraction
    ) -> Walk[Selection]:
        """Walk the results of the draws of `select …`.

        The law of the noise is given in units of 2^−60, rounded down: the chances that it reaches
        grid steps 0, 1, 2, …, and those of the digits below.
        """
        noise = f"reached={','.join(map(str, reached))} digits={','.join(map(str, digits))}"
        asked = f"scripts {question} {noise} smallest={int(smallest * 2**60)}"
        return _walk(_masses(self.ask([asked]), 2**60))

    def walk(self, question: str, depth: int) -> dict[str, Fraction]:
        """The mass of each outcome, in the program's words."""
        return _masses(self.ask([f"{question} depth={depth}"]), 2**depth)

    def walk_selection(self, question: str, depth: int) -> Walk[Selection]:
        """Walk `select …`: outcomes are the winners and their gaps in steps."""
        return _walk(self.walk(f"select {question}", depth))

    def walk_groups(
        self, question: str, law: tuple[list[int], list[int]], smallest: Fraction
    ) -> Walk[tuple[Selection, ...]]:
        """Walk the results of the draws of `groups …`, as `walk_scripts` does for one."""
        noise = f"reached={','.join(map(str, law[0]))} digits={','.join(map(str, law[1]))}"
        asked = f"groups_scripts {question} {noise} smallest={int(smallest * 2**60)}"
        return _walk_of_groups(_masses(self.ask([asked]), 2**60))

    def walk_tapes_of_groups(self, question: str, depth: int) -> Walk[tuple[Selection, ...]]:
        """Walk `groups …`: outcomes are those of each group."""
        return _walk_of_groups(self.walk(f"groups {question}", depth))


def _masses(answers: list[str], one: int) -> dict[str, Fraction]:
    (answer,) = answers
    outcomes = (outcome.rsplit(":", 1) for outcome in answer.split(" ") if outcome)
    return {outcome: Fraction(int(mass), one) for outcome, mass in outcomes}


def _walk(masses: dict[str, Fraction]) -> Walk[Selection]:
    rest = 1 - sum(masses.values(), Fraction(0))
    return Walk({_selection(outcome): mass for outcome, mass in masses.items()}, rest)


def _walk_of_groups(masses: dict[str, Fraction]) -> Walk[tuple[Selection, ...]]:
    rest = 1 - sum(masses.values(), Fraction(0))
    parts = {each: [part for part in each.split("|") if part] for each in masses}
    return Walk({tuple(map(_selection, parts[each])): masses[each] for each in masses}, rest)


def _selection(outcome: str) -> Selection:
    indices, numbers = outcome.split(";")
    return _whole(indices), _whole(numbers)


def _whole(numbers: str) -> tuple[int, ...]:
    return tuple(int(number) for number in numbers.split(",") if number)


def _build(sources: Path, target: Path, profile: str) -> Path:
    command = ["cargo", "build", "--quiet", "--locked", "--package", "topgap-probe"]
    where = ["--manifest-path", str(sources / "Cargo.toml"), "--target-dir", str(target)]
    if profile == "mutant":  # which is built for a few questions: to optimise it takes longer
        where += ["--config", "profile.mutant.opt-level=0"]
    run = subprocess.run([*command, "--profile", profile, *where], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"The probe cannot be built:\n{run.stderr}")
    return target / profile / ("probe.exe" if os.name == "nt" else "probe")
