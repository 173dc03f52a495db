"""Broken kernels are found by the checks of rust/oracles: a part of `make fuzz`, for minutes.

They are built with one place changed, without a fuzzer, and get inputs that nothing guides.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.checking.mutants import Mutant
from tests.kernel.probe import RUST

pytestmark = pytest.mark.posix(reason="builds broken kernels with a lock that only POSIX has")

TARGETS = (
    "select",
    "constant_work",
    "noisy_answers",
    "noisy_candidates",
    "ranking",
    "geometric",
    "enclosures",
    "fast_log2",
    "floats",
)
INPUTS = 20_000
MUTANTS = [
    ("select", "candidates.rs", Mutant(
        "found twice", "self.0.binary_search(&index).is_err()", "true")),
    ("select", "candidates.rs", Mutant(
        "not raised", "let rise = TickCount((before - self.threshold).0.cast_unsigned())",
        "let rise = TickCount((before - self.threshold).0.cast_unsigned() / 2)")),
    ("select", "lib.rs", Mutant(
        "a floor above the sentinel",
        "reaching(answers, runs, needed, sentinel, noise, plan, workers)",
        "reaching(answers, runs, needed, sentinel.map(|floor| floor + Ticks(1 << 40)), noise, "
        "plan, workers)")),
    ("select", "ranking.rs", Mutant("gaps not rounded down", "- remainder_is_smaller)", ")")),
    ("constant_work", "constant_work.rs", Mutant(
        "wrong way round", "u8::from(self.height < other.height)",
        "u8::from(self.height > other.height)")),
    ("noisy_answers", "ranking.rs", Mutant(
        "the noisy answer of the one before", "threshold + ranked.height.signed()",
        "threshold + candidates[ranked.place.saturating_sub(1)].excess.signed()")),
    ("noisy_answers", "constant_work.rs", Mutant(
        "one-sided noise", "k.saturating_add(1), Laplace(rate), sampler)",
        "k.saturating_add(1), Exponential(rate), sampler)")),
    ("noisy_candidates", "lib.rs", Mutant(
        "floor rounded up",
        "let target = Target { needed, anchor: anchor(&blocks, all_runs, needed), floor };",
        "let per_unit = noise.rate().ticks_per_unit(answers.steps_per_unit);\n"
        "    let up = |floor| per_unit.round_down(floor) + per_unit.ticks(Units(2));\n"
        "    let floor = floor.map(up);\n"
        "    let target = Target { needed, anchor: anchor(&blocks, all_runs, needed), floor };")),
    ("ranking", "ranking.rs", Mutant(
        "of equal values, as it comes", "(last - place) as u64", "place as u64")),
    ("geometric", "rate.rs", Mutant(
        "no error allowed for", "(middle.saturating_sub(error) >> self.shift, (middle + error)",
        "(middle >> self.shift, (middle)")),
    ("enclosures", "enclosures.rs", Mutant(
        "what is left out is forgotten", "let high = &low + 2_u8;", "let high = low.clone();")),
    ("fast_log2", "fast_log2.rs", Mutant(
        "a term less", "c3.wrapping_add(high_product(c4, r))", "0")),
    ("floats", "floats.rs", Mutant(
        "rounded towards 0", "i64::try_from(product >> exponent.unsigned_abs().min(127)).ok()",
        "i64::try_from(product / (1_i128 << exponent.unsigned_abs().min(126))).ok()")),
]  # fmt: skip


def blind(file: str | None = None, mutant: Mutant | None = None) -> Path:
    """Build the program that checks without a fuzzer, of these sources."""
    # All in one place, one after the other, so that what they depend on is built once.
    target = RUST / "fuzz" / "target" / "mutants"
    sources = target / "sources"
    shutil.rmtree(sources, ignore_errors=True)
    ignored = shutil.ignore_patterns("target", "found")
    shutil.copytree(RUST, sources, ignore=ignored, copy_function=shutil.copyfile)
    if file is not None and mutant is not None:
        changed = sources / "kernel" / "src" / file
        source = changed.read_text()
        assert source.count(mutant.old) == 1, f"'{mutant.old}' does not stand once in {file}"
        changed.write_text(source.replace(mutant.old, mutant.new))
    where = ["--manifest-path", sources / "fuzz" / "Cargo.toml", "--target-dir", target]
    command = ["cargo", "build", "--quiet", "--profile", "mutant", "--bin", "blind", *where]
    run = subprocess.run([*map(str, command)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return target / "mutant" / "blind"


def test_what_is_whole_is_not_found() -> None:
    program = blind()
    for target in TARGETS:
        run = subprocess.run([program, target, "2000"], capture_output=True, text=True)
        assert run.returncode == 0, f"{target}: {run.stderr}"


@pytest.mark.parametrize(
    ("target", "file", "mutant"), MUTANTS, ids=[each[2].name for each in MUTANTS]
)
def test_what_is_broken_is_found(target: str, file: str, mutant: Mutant) -> None:
    program = blind(file, mutant)
    run = subprocess.run(
        [program, target, str(INPUTS)], capture_output=True, text=True, timeout=600
    )
    assert "panicked" in run.stderr
    assert run.returncode != 0
