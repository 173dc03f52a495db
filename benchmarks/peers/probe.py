"""How many random bits the kernel takes: `rust/probe` runs it as a release does, and counts."""

import shutil
import subprocess
from functools import cache
from pathlib import Path

from benchmarks.data import Counts
from topgap import TopK

RUST = Path(__file__).parents[2] / "rust"


@cache
def program() -> Path:
    """Where the probe is, built from the sources as they are."""
    subprocess.run(
        [
            shutil.which("cargo") or "cargo",
            "build",
            "--quiet",
            "--release",
            "--locked",
            "--package",
            "topgap-probe",
        ],
        cwd=RUST,
        check=True,
    )
    return RUST / "target" / "release" / "probe"


def bits_of_releases(counts: Counts, parameters: TopK, runs: int) -> list[int]:
    """The bits that each of some releases asks for, by one thread, each with a key of its own."""
    kernel, rate = parameters.kernel, parameters.rate
    if kernel is None:
        raise ValueError("The kernel does not take these parameters.")
    question = (
        f"bits units={','.join(map(str, counts.tolist()))} k={parameters.k} parts=1 times={runs} "
        f"per_unit={parameters.resolution.denominator} rate={rate.numerator}/{rate.denominator} "
        f"refinement={kernel.refinement}\n"
    )
    run = subprocess.run([program()], input=question, capture_output=True, text=True, check=True)
    return [int(asked) for asked in run.stdout.split(",")]
